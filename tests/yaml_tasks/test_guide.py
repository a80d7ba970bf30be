"""The pages on task files, as somebody goes through them who has never written one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel
from samples import sampled
from typer.testing import CliRunner

from mesocosm.cli.commands import app
from mesocosm.families.proofs import prove_one
from mesocosm.families.task import Growth, Limits, Task
from mesocosm.families.trust import trust
from mesocosm.kits.yaml_tasks import definition
from mesocosm.kits.yaml_tasks.draws import DRAWS, Period, Span
from mesocosm.kits.yaml_tasks.grading import WAYS
from mesocosm.kits.yaml_tasks.lint import lint

GUIDES = Path(__file__).parents[2] / "docs/guides"


def page(name: str) -> str:
    return (GUIDES / f"{name}.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


TUTORIAL = "".join(blocks(page("write-a-task"), "yaml"))
RECIPES = re.split(r"^## (?=\d)", page("task-cookbook"), flags=re.M)[1:]
REFERENCE = blocks(page("task-reference"), "yaml")
PARTS = Path(__file__).with_name("proofs").joinpath("parts.yaml").read_text()


def merged(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: merged(old.get(key), value) for key, value in new.items()}
    return new


def with_the_tutorial(block: str, folder: Path) -> Path:
    """The tutorial's file with what a block shows; a list that it repeats by name is there already."""
    block = block.replace("*courses", "[Algebra, Botany]")
    path = folder / "office_hours.yaml"
    path.write_text(
        yaml.safe_dump(merged(yaml.safe_load(TUTORIAL), yaml.safe_load(block)), sort_keys=False, width=1000)
    )
    return path


def with_a_recipe(recipe: str, folder: Path) -> Path:
    """The tutorial's file with what a recipe shows, and the functions beside it, which are trusted."""
    path = with_the_tutorial(*blocks(recipe, "yaml"), folder)
    for code in blocks(recipe, "python"):
        path.with_suffix(".py").write_text(code)
        trust(str(path))
    return path


@pytest.fixture(autouse=True)
def _nothing_is_trusted_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_TRUST", "")


def run(command: str) -> Any:
    words = command.partition("#")[0].split()
    assert words.pop(0) == "mesocosm"
    return CliRunner().invoke(app, words)


def test_the_tutorial_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("office_hours.yaml")
    path.write_text(TUTORIAL)
    commands = "".join(blocks(page("write-a-task"), "sh")).splitlines()
    assert [command.split()[1] for command in commands] == ["lint", "build", "describe", "run", "prove"]
    for command in commands:
        done = run(command.replace("0-1", "0"))
        assert done.exit_code == 0, (command, done.output)
    assert "1 of 1 instances proven by derivation" in done.stdout
    assert "See you" not in Path("instance/prompt.md").read_text()
    path.write_text(TUTORIAL.replace("quote: who still wants one, ", ""))
    [complaint] = lint(path)
    assert "the goal decides by cases, and leaves out student gone" in complaint.message


@pytest.mark.parametrize(
    "recipe", sampled(RECIPES[:-1], RECIPES[1:-1:3]), ids=lambda one: one.partition("\n")[0]
)
def test_a_recipe_is_a_task_without_complaints(recipe: str, tmp_path: Path) -> None:
    assert [str(one) for one in lint(with_a_recipe(recipe, tmp_path))] == []


def test_a_wrong_function_is_found_by_the_solver_that_reads(tmp_path: Path) -> None:
    path = with_a_recipe(next(one for one in RECIPES if blocks(one, "python")), tmp_path)
    code = path.with_suffix(".py").read_text()
    assert "len(places) < most" in code
    path.with_suffix(".py").write_text(code.replace("len(places) < most", "len(places) <= most"))
    proof = prove_one(str(path), 8000, 0)
    assert proof.verdict == "failed"
    [problem] = proof.problems
    assert problem.startswith("reference solver: failed  filesystem_csv_rows_missing: ")


def test_there_are_seventeen_recipes_and_the_last_has_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [int(one.partition(".")[0]) for one in RECIPES] == [*range(1, 18)]
    monkeypatch.chdir(tmp_path)
    [code], [lines], [commands] = (blocks(RECIPES[-1], language) for language in ("python", "yaml", "sh"))
    Path("office_hours.py").write_text(code)
    with_the_tutorial(lines, Path())
    refused = run("mesocosm describe office_hours.yaml --length 8k")
    assert "office_hours.py, which is a program" in str(refused.exception)
    assert "is not run without --trust" in run("mesocosm lint office_hours.yaml").stdout
    for command in commands.splitlines():
        done = run(command)
        assert done.exit_code == 0, (command, done.output)
    assert "0 warnings" in run("mesocosm lint office_hours.yaml --trust").stdout


@pytest.mark.parametrize("block", sampled(REFERENCE, REFERENCE[::3]), ids=lambda one: one.partition(":")[0])
def test_an_example_of_the_reference_is_right(block: str, tmp_path: Path) -> None:
    assert [str(one) for one in lint(with_the_tutorial(block, tmp_path))] == []


def test_the_reference_names_every_key_and_most_have_an_example() -> None:
    models: list[type[BaseModel]] = [Task, Growth, Limits, Period, Span, *DRAWS.values()]
    models += [
        one for one in vars(definition).values() if isinstance(one, type) and issubclass(one, BaseModel)
    ]
    keys = {
        field.alias or name
        for model in models
        for name, field in model.model_fields.items()
        if model not in (definition.Definition, BaseModel)
    }
    text = page("task-reference")
    named = set(re.findall(r"`(\w+)", text))
    assert keys | {*WAYS} <= named, sorted((keys | {*WAYS}) - named)
    shown = set(re.findall(r"(\w+):", "".join([TUTORIAL, *REFERENCE, *RECIPES])))
    # Of families in Python and of tasks with a domain, or shown in words.
    without = {"family", "checker", "domain", "given", "asked", "answered", "course", "python", "contains"}
    without |= {"all_lines", "matches", "survey"}
    assert keys | {*WAYS} <= shown | without, sorted((keys | {*WAYS}) - shown - without)


def test_a_part_with_a_number_of_its_own_is_not_doubtful_because_of_whose_it_is(tmp_path: Path) -> None:
    assert [str(one) for one in lint(with_the_tutorial(PARTS, tmp_path))] == []
    # Without the list of numbers, nothing says whose question it is.
    without = PARTS.replace('Number: "{number}", Student', "Student").replace(
        "{student.course}", "{student.course.upper()}"
    )
    found = "\n".join(map(str, lint(with_the_tutorial(without, tmp_path))))
    assert "evidence.1: nothing says whether it is about student " in found


def test_a_case_of_parts_that_many_instances_lack_is_named(tmp_path: Path) -> None:
    rare = PARTS.replace("calm: {share: 1", "calm: {share: 0.05")
    [complaint] = lint(with_the_tutorial(rare, tmp_path))
    assert complaint.key == "entities.question.cases.calm"
    assert re.match(r"at a length of 8k no question is calm in \d+ of 24 instances: raise", complaint.message)


def test_a_length_that_has_no_room_for_what_counts_is_named_with_a_number_that_has(tmp_path: Path) -> None:
    path = with_the_tutorial("growth: {points: {8k: 60}}", tmp_path)
    [complaint] = lint(path)
    assert complaint.key == "growth.points"
    assert "60 of what counts take about" in complaint.message
    found = re.search(r"lower that: growth: \{points: \{8k: (\d+)\}\}", complaint.message)
    assert found
    assert lint(with_the_tutorial(f"growth: {{points: {{8k: {found[1]}}}}}", tmp_path)) == []
    assert 6 < int(found[1]) < 60
