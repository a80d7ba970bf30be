"""Oracles for every family that has a reference solver: followed, and after mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.length import evidence_finders
from mesocosm.families.oracle import Call
from mesocosm.families.solver_oracle import SolverOracle

# All families are tried by benchmarks/oracles.py; these are a sample of what can be done wrong and mended.
ERRING = ["canvas_list_test", "excel_market_research", "set_conf_cr_ddl"]
Open = Callable[..., Episode]


@pytest.fixture
def open_episode(tmp_path: Path) -> Iterator[Open]:
    """``open_episode(task, seed=0)``: a fresh episode at 8k."""
    opened = []

    def start(task: str, seed: int = 0) -> Episode:
        family, folder = load_family(task), tmp_path / str(len(opened))
        instance = build_instance(family, seed, folder / "instance", target=8_000)
        opened.append(Episode.create(folder / "episode", instance.path, family))
        return opened[-1]

    yield start
    for episode in opened:
        episode.close()


def plan(episode: Episode) -> list[Call]:
    subtasks = episode.oracle.plan(episode.world, episode.history())
    return [call for subtask in subtasks for call in subtask.calls]


def make(episode: Episode, call: Call) -> str:
    outcome = episode.world.call(call.service, call.tool, call.arguments)
    assert outcome.status == "ok", (call, outcome.text)
    return outcome.text


def mistakes(episode: Episode) -> list[Call]:
    """Wrong calls that can be mended, for each service that the task offers."""
    at = {"dateTime": "2025-03-03T10:00:00Z"}
    known = {
        "calendar": ("create_event", {"summary": "Lunch", "start": at, "end": at}),
        "email": ("save_draft", {"subject": "Later", "body": "To be written."}),
        "memory": (
            "create_entities",
            {"entities": [{"name": "Slip", "entityType": "x", "observations": ["y"]}]},
        ),
    }
    return [
        Call(service=service, tool=tool, arguments=arguments)
        for service, (tool, arguments) in known.items()
        if service in episode.world.services
    ]


def clobber(episode: Episode) -> Call | None:
    """Overwrite a file that the solver writes."""
    assert isinstance(episode.oracle, SolverOracle)
    for step in episode.oracle.script:
        if (step.call.service, step.call.tool) == ("filesystem", "write_file"):
            return step.call.model_copy(
                update={"arguments": {"path": step.call.arguments["path"], "content": "nonsense"}}
            )
        if step.call.tool == "write_data_to_excel":
            spoilt = {**step.call.arguments, "data": [["nonsense"] * 3] * 2}
            return step.call.model_copy(update={"arguments": spoilt})
    return None


def test_who_follows_the_plan_passes(open_episode: Open) -> None:
    episode = open_episode("canvas_list_test")
    calls = 0
    while todo := plan(episode):
        make(episode, todo[0])
        calls += 1
    assert episode.world.calls.ended
    verdict = episode.family.check(episode.world, episode.expected())
    assert [check.name for check in verdict if not check.passed] == []
    assert isinstance(episode.oracle, SolverOracle)
    assert calls <= len(episode.oracle.script)


@pytest.mark.parametrize("task", ERRING)
def test_who_errs_at_every_third_step_and_follows_the_plan_passes(open_episode: Open, task: str) -> None:
    episode = open_episode(task, 1)
    wrong = [*mistakes(episode), *filter(None, [clobber(episode)])]
    assert wrong, "this task has nothing that can be done wrong and mended"
    made, erred = 0, 0
    while todo := plan(episode):
        made += 1
        assert made < 600, "the plan leads nowhere"
        spoils = made % 3 == 0 and erred < 9
        call = wrong[erred % len(wrong)] if spoils else todo[0]
        if spoils and episode.world.call(call.service, call.tool, call.arguments).status == "ok":
            erred += 1
        elif not spoils:
            make(episode, call)
    assert erred
    found = episode.family.check(episode.world, episode.expected())
    assert [(check.name, check.detail) for check in found if not check.passed] == []


def test_what_cannot_be_mended_is_named(open_episode: Open) -> None:
    episode = open_episode("course_assistant")
    wrong = {"to": "somebody@example.org", "subject": "Oops", "body": "Wrong."}
    make(episode, Call(service="email", tool="send_email", arguments=wrong))
    goals: list[str] = []
    while subtasks := episode.oracle.plan(episode.world, episode.history()):
        goals.append(subtasks[0].goal)
        make(episode, subtasks[0].calls[0])
    assert "cannot be mended any more: email.send_email(to='somebody@example.org'" in goals[-1]


def test_nothing_is_told_before_it_could_be_read(open_episode: Open) -> None:
    """Whatever evidence the state shows stands in a result; the plan writes nothing before it was read."""
    episode = open_episode("course_assistant")
    begun = episode.oracle.state(episode.world, episode.history())
    assert begun.facts["relevant"] == []
    texts = ""
    while todo := plan(episode):
        state = episode.oracle.state(episode.world, episode.history())
        for shown in state.facts["relevant"]:
            service, _, record = shown.partition(": ")
            assert service in episode.world.services
            assert all(part in texts for part in _values(record)), shown
        tool = episode.world.tool(todo[0].service, todo[0].tool)
        if tool.writes:
            break
        texts += make(episode, todo[0])


@pytest.mark.parametrize("task", ["visit_calendar", "bug_triage"])
def test_what_a_walk_is_told_is_read_before_anything_is_written(open_episode: Open, task: str) -> None:
    """The walk of a task in YAML knows the truth. Its oracle reads first, after mistakes too."""
    episode = open_episode(task)
    expected = episode.expected()
    finders = evidence_finders(expected.evidence)
    held: set[int] = set()
    slip = {"owner": "", "repo": "", "issue_number": 1, "method": "update", "title": "Something else"}
    erred = False
    while todo := plan(episode):
        (call,) = todo
        if episode.world.tool(call.service, call.tool).writes:
            assert held == set(range(len(expected.evidence))), "all that is told has been read"
            if not erred and task == "bug_triage":
                slip |= {name: call.arguments[name] for name in ("owner", "repo")}
                make(episode, Call(service="codehost", tool="issue_write", arguments=slip))
            elif not erred:
                make(episode, mistakes(episode)[0])
            erred, todo = True, plan(episode)
        text = make(episode, todo[0])
        held |= set(finders[call.service].held_by(text)) if call.service in finders else set()
    found = episode.family.check(episode.world, expected)
    assert [(check.name, check.detail) for check in found if not check.passed] == []


def _values(record: str) -> list[str]:
    try:
        fields: dict[str, Any] = orjson.loads(record)
    except orjson.JSONDecodeError:
        return [record.partition(": ")[2] or record]
    return [orjson.dumps(value).decode() for value in fields.values()]
