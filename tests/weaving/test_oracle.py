"""The oracle of chains: at any step it knows what is known, and what it says is next leads to the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm

from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.families.episode import Episode
from mesocosm.families.evidence_coverage import read_journal
from mesocosm.families.family import Family, load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.oracle import Call, Made, Oracle, history_of
from mesocosm.generators.lore_documents import Expected, Params, compose
from mesocosm.worlds.randomness import Dice

STANDARD, HARD = load_family("lore_documents"), load_family("lore_documents_hard")


def new_episode(folder: Path, family: Family = STANDARD, seed: int = 1, **parameters: Any) -> Episode:
    instance = build_instance(family, seed, folder / "instance", parameters=parameters)
    return Episode.create(folder / "episode", instance.path, family)


def solve(episode: Episode) -> Episode:
    with McpTools(world_server(episode.world)) as tools:
        episode.family.solve(tools, episode.prompt)
    return episode


def history(episode: Episode) -> list[Made]:
    return history_of(episode.world.journal.entries())


def make(episode: Episode, call: Call) -> Made:
    outcome = episode.world.call(call.service, call.tool, call.arguments)
    return Made(
        service=call.service,
        tool=call.tool,
        arguments=call.arguments,
        ok=outcome.status == "ok",
        result=outcome.text,
    )


def follow(oracle: Oracle, episode: Episode, made: list[Made]) -> list[Made]:
    """Do the first thing that the oracle says is next, until nothing is."""
    while subtasks := oracle.plan(episode.world, made):
        made += [make(episode, call) for call in subtasks[0].calls]
    return made


def follow_all(oracle: Oracle, episode: Episode, made: list[Made]) -> list[Made]:
    """Do all that the oracle says is next, the last thing first, until nothing is."""
    while subtasks := oracle.plan(episode.world, made):
        made += [make(episode, call) for subtask in reversed(subtasks) for call in subtask.calls]
    return made


@pytest.mark.parametrize(
    ("family", "operations", "distractors", "go_on"),
    [
        pytest.param(STANDARD, 350, 0, follow_all, marks=pytest.mark.long),
        (STANDARD, 50, 0, follow_all),
        (HARD, 25, 60, follow),
    ],
    ids=["at once, N=350", "at once, N=50", "one by one, hard"],
)
def test_whoever_follows_the_plan_from_any_step_of_the_solver_gets_there(
    tmp_path: Path, family: Family, operations: int, distractors: int, go_on: Callable[..., list[Made]]
) -> None:
    fresh = new_episode(tmp_path, family, operations=operations, distractor_documents=distractors)
    oracle, start = fresh.oracle, fresh.fork(tmp_path / "start")
    calls = history(solve(fresh))
    assert oracle.plan(fresh.world, calls) == []
    for cut in (0, len(calls) // 2, len(calls) - 1):
        episode = start.fork(tmp_path / f"fork-{cut}")
        made = go_on(oracle, episode, [make(episode, call) for call in calls[:cut]])
        assert all(one.ok for one in made), "nothing is read whose identifier is not known"
        assert episode.grade().verdict == "passed"
        episode.close()


def test_only_what_is_needed_is_in_the_plan(tmp_path: Path) -> None:
    episode = new_episode(tmp_path, operations=10, distractor_documents=100)
    expected = episode.family.read_expected((episode.path / "expected.json").read_bytes())
    assert isinstance(expected, Expected)
    made = follow(episode.oracle, episode, [])
    read = [one.arguments["file_id"] for one in made if one.tool == "read_document"]
    assert set(read) == {piece.document for piece in expected.pieces}
    assert len(read) < len(expected.documents) - 80
    assert episode.grade().verdict == "passed"


def test_the_state_holds_what_was_read_and_nothing_else(tmp_path: Path) -> None:
    episode = new_episode(tmp_path, operations=2, collection_probability=0)
    oracle, made = episode.oracle, list[Made]()
    begun = oracle.state(episode.world, made).facts
    assert (begun["values"], begun["read"], begun["submitted"]) == ({}, [], False)
    assert sorted(begun["to_read"]) == sorted(
        call.arguments["file_id"] for subtask in oracle.plan(episode.world, made) for call in subtask.calls
    )
    texts = ""
    while "v0" not in (state := oracle.state(episode.world, made)).facts["values"]:
        assert all(f"{name} = {value}" in state.text for name, value in state.facts["values"].items())
        assert all(name in texts and str(value) in texts for name, value in state.facts["values"].items())
        made.append(make(episode, oracle.plan(episode.world, made)[0].calls[0]))
        texts += made[-1].result
    (last,) = oracle.plan(episode.world, made)
    assert last.calls[0].arguments == {"answer": state.facts["values"]["v0"]}
    assert "submitted" in oracle.state(episode.world, [*made, make(episode, last.calls[0])]).text


def test_calls_in_vain_and_distractors_change_nothing(tmp_path: Path) -> None:
    episode = new_episode(tmp_path, operations=3, distractor_documents=20)
    oracle = episode.oracle
    expected = episode.family.read_expected((episode.path / "expected.json").read_bytes())
    assert isinstance(expected, Expected)
    distractor = next(iter(set(expected.documents) - {piece.document for piece in expected.pieces}))
    made = [
        make(episode, Call(service="documents", tool="read_document", arguments={"file_id": file_id}))
        for file_id in ("v1%nowhere", distractor)
    ]
    assert [one.ok for one in made] == [False, True]
    assert oracle.state(episode.world, made) == oracle.state(episode.world, [])
    assert oracle.plan(episode.world, made) == oracle.plan(episode.world, [])


def test_a_long_list_counts_when_it_was_read_to_its_end(tmp_path: Path) -> None:
    parameters = {
        "operations": 2,
        "distractor_documents": 800,
        "remark_tokens": 0,
        "collection_probability": 0,
    }
    episode = new_episode(tmp_path, **parameters)
    made = follow(episode.oracle, episode, [])
    offsets = [one.arguments["offset"] for one in made if one.tool == "read_document"]
    assert any(offsets), "the list is longer than one reading"
    assert episode.grade().verdict == "passed"


def test_in_vain_is_what_leaves_a_gap(tmp_path: Path) -> None:
    parameters = {
        "operations": 2,
        "distractor_documents": 800,
        "remark_tokens": 0,
        "collection_probability": 0,
    }
    episode = new_episode(tmp_path, **parameters)
    oracle = episode.oracle
    made = follow(oracle, episode, [])
    onward = next(one for one in made if one.arguments.get("offset"))
    assert onward.arguments["file_id"] in oracle.state(episode.world, [onward]).facts["to_read"]


def test_the_command_line_asks_about_any_step(tmp_path: Path) -> None:
    episode = solve(new_episode(tmp_path, operations=4))
    last = len(history(episode))
    episode.close()

    def ask(*words: str) -> Any:
        done = mesocosm("oracle", tmp_path / "episode", *words)
        return json.loads(done.stdout) if "--json" in words else done.stdout

    (subtask,) = ask("--show", "plan", "--after", str(last - 1), "--json")
    assert subtask["goal"] == "Submit the value of v0."
    assert ask("--after", "0").startswith("Values known: none.")


def test_pieces_are_those_of_the_tree() -> None:
    chain = compose(Dice("lore_documents", 5), Params(operations=25))
    expected = Expected.of(chain)
    files = {file.id for file in chain.files}
    assert {piece.document for piece in expected.pieces} == files
    assert [piece.values for piece in expected.pieces][-1] == {"v0": chain.answer}


def test_no_tool_of_the_agent_and_no_file_of_its_world_leads_to_the_oracle(tmp_path: Path) -> None:
    episode = new_episode(tmp_path, operations=3)
    expected = episode.family.read_expected((episode.path / "expected.json").read_bytes())
    assert isinstance(expected, Expected)
    tools = {name for service in episode.world.services.values() for name in service.tools}
    assert tools == {"read_document", "submit_answer"}
    rules = [piece.says.encode() for piece in expected.pieces if not piece.values]
    episode.close()
    for path in (episode.path / "world").rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not any(rule in data for rule in rules), path


@pytest.mark.parametrize("task", ["lore_documents", pytest.param("lore_code", marks=pytest.mark.long)])
def test_failures_are_told_apart_as_the_papers_figure_5_does(task: str, tmp_path: Path) -> None:
    episode = new_episode(tmp_path, load_family(task), operations=25)
    oracle = episode.oracle

    def read(skipped: str = "", steps: int = 10**6) -> list[Made]:
        """Reads what the oracle says, but for one document, and submits nothing."""
        made: list[Made] = []
        while steps > 0:
            plan = [one.calls[0] for one in oracle.plan(episode.world, made)]
            plan = [call for call in plan if call.arguments.get("file_id") not in ("", None, skipped)]
            if not plan:
                break
            made.append(make(episode, plan[0]))
            steps -= 1
        return made

    assert oracle.lapse([]) == "halted_early", "nothing was read"
    assert oracle.lapse(read(steps=1)) == "halted_early"
    everything = read()
    assert oracle.lapse(everything) == "reasoned_wrongly"
    lapses = {oracle.lapse(read(str(made.arguments["file_id"]))) for made in everything[:-1]}
    assert "lead_lost" in lapses
    assert "reasoned_wrongly" in lapses or task == "lore_code", "a computed document was not read"
    answer = Call(service="submit_answer", tool="submit_answer", arguments={"answer": "x"})
    wrong = [*everything, make(episode, answer)]
    assert oracle.lapse(wrong) == "reasoned_wrongly"
    assert read_journal(episode).lapse is not None
