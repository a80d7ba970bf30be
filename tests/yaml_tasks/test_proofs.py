"""What `mesocosm prove` says of tasks that are true, and of the same with one thing in them that is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from samples import every, sampled
from typer.testing import CliRunner, Result

from mesocosm.cli.commands import app
from mesocosm.kits.yaml_tasks.expressions import bare
from mesocosm.kits.yaml_tasks.language import missing
from mesocosm.kits.yaml_tasks.numerals import says_number, says_span

FOLDER = Path(__file__).with_name("proofs")
FALSE: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "false.yaml").read_text())
ISSUE = [name for name, one in FALSE.items() if one.get("proven before")]


@pytest.fixture(autouse=True)
def _nothing_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_TRUST", "")


def mesocosm(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def written(name: str, folder: Path) -> Path:
    """A true task with something else in it."""
    text = (FOLDER / f"{FALSE[name]['of']}.yaml").read_text()
    for old, new in FALSE[name]["with"]:
        assert text.count(old) >= 1, old
        text = text.replace(old, new)
    # What is drawn follows from the file's name, which stays.
    path = folder / name.replace(" ", "_") / f"{FALSE[name]['of']}.yaml"
    path.parent.mkdir()
    path.write_text(text)
    if code := FALSE[name].get("python"):
        path.with_suffix(".py").write_text(code)
    return path


@pytest.mark.parametrize("name", sampled(FALSE, every(3)))
def test_lint_says_why_a_false_task_cannot_be_solved(name: str, tmp_path: Path) -> None:
    path = written(name, tmp_path)
    complaints = json.loads(mesocosm("lint", path, "--trust", "--json").stdout)
    assert all(one["line"] > 1 for one in complaints)
    found = "\n".join(f"{one['key']}: {one['message']}" for one in complaints)
    for reason in FALSE[name]["because"]:
        # The sample that lint draws has other values than the instance that is proven.
        assert reason.partition(": ")[0] in found, found


def test_prove_calls_false_tasks_unproven_and_says_where_and_why(tmp_path: Path) -> None:
    paths = {name: written(name, tmp_path) for name in ISSUE}
    done = mesocosm("prove", *paths.values(), "--trust", "--json", "--workers", "1")
    assert done.exit_code == 1
    proofs = {proof["task"]: proof for proof in json.loads(done.stdout)}
    for name, path in paths.items():
        proof = proofs[str(path)]
        assert (proof["verdict"], proof["proven"]) == ("unproven", ""), proof["problems"]
        found = "\n".join(proof["problems"])
        for reason in FALSE[name]["because"]:
            assert reason in found, found
        assert proof["lacking"] == [one for one in [FALSE[name].get("lacking")] if one]
        assert all(problem.startswith(f"unproven: {path}, line ") for problem in proof["problems"])


def test_a_true_task_is_proven_by_derivation_with_what_an_agent_must_know() -> None:
    path = FOLDER / "returns.yaml"
    [proof] = json.loads(mesocosm("prove", path, "--report", "--json", "--workers", "1").stdout)
    assert (proof["verdict"], proof["problems"]) == ("proven by derivation", [])
    known = proof["derivations"]
    assert "policy.late = 40: documents.document tells it: 'Refunds. What comes back within 21 days" in str(
        known
    )
    [near] = proof["near_misses"]
    assert near.startswith("claim elsewhere (")
    assert ": store is Dunmore (what counts: Carlow); email.mail says 'Claim " in near
    [late] = [line for line in known if line.startswith("claim 0 (late): refund")]
    assert late.endswith("follows from claim 0 (late): age, claim 0 (late): price, policy.days, policy.late")


def test_a_lock_counts_and_a_misreading_that_no_step_makes_names_the_goal(tmp_path: Path) -> None:
    text = (FOLDER / "appointments.yaml").read_text()
    for old, new in [
        ("servers: {", "servers: {codehost: all, "),
        ("\nnoise:\n", '''
  - codehost.file: {repo: diary, path: README.md, content: "Who called it off.", date: "{now - 90d}"}
  - for: appointment
    as: entry
    calendar.event: {summary: "{name}, {room}", start: "{begins}"}
noise:
'''),
        ("      practice: {", "      room: {number: {from: 100, to: 999}, unique: true}\n      practice: {"),
        ("that is not called off,", "that is not called off, about: it was called off,"),
        ("expect: not wanted}", "expect: wanted}"),
        ("\nsolution:\n", '''
  - for: appointment
    cases: [off]
    how: remove
    calendar.event: {id: "{entry.id}", summary: "{name}, {room}"}
  - for: appointment
    cases: [off]
    codehost.issue: {repo: diary, title: "Off: {name}"}
solution:
  - for: appointment
    cases: [off]
    calendar.delete_event: {eventId: "{entry.id}"}
  - for: appointment
    cases: [off]
    codehost.issue_write:
      {method: create, owner: "{me.email.login()}", repo: diary, title: "Off: {name}"}
'''),
        ("prompt: |\n", "prompt: |\n  What is called off is deleted, and an issue 'Off: NAME' in diary.\n"),
    ]:  # fmt: skip
        assert old in text, old
        text = text.replace(old, new, 1)
    path = tmp_path / "appointments.yaml"
    path.write_text(text)
    [proof] = json.loads(mesocosm("prove", path, "--lengths", "8k", "--json", "--workers", "1").stdout)
    assert "codehost: an issue locked" in proof["applied"], proof["problems"]
    assert not any("locked" in one for one in proof["problems"])
    problem, other = proof["problems"]
    assert problem.startswith("mutant 'the room of a appointment taken from another' should break ")
    assert other.startswith("mutant 'the room of a appointment off by 1' should break ")
    assert f"{path}, line " in problem
    assert "goal.1.calendar.event.summary: " in problem
    assert "let a step write summary, or leave it out of the goal" in problem


def test_numbers_are_said_in_figures_in_words_and_as_percentages() -> None:
    for text, number in [
        ("within 30 days", 30), ("of thirty-five pieces", 35), ("10 percent less", 0.9), ("90 %", 0.9),
        ("7.7 % more", 1.077), ("$1,200.00", 1200), ("twice", 2), ("10% off", 90),
    ]:  # fmt: skip
        assert says_number(text, number), (text, number)
    for text, number in [
        ("130 days", 30),
        ("30.5 days", 30),
        ("1.30", 30),
        ("a part", 0.9),
        ("ten days", 90),
    ]:
        assert not says_number(text, number), (text, number)
    for text, span in [
        ("two weeks overdue", "14d"), ("14 working days", "14d"), ("a fortnight", "14d"),
        ("lasts one hour", "1h"),
        ("of half an hour", "30min"), ("90 minutes", "90min"), ("48-hour notice", "2d"),
    ]:  # fmt: skip
        assert says_span(text, bare(span).value(lambda name: missing)), (text, span)
    for text, span in [("2 percent, ten days", "14d"), ("14 pieces a week", "14d"), ("30 hours", "30min")]:
        assert not says_span(text, bare(span).value(lambda name: missing)), (text, span)
