"""Long procedures as tasks: the same case in every form, and what is judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.errors import UsageError
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.length import Survey
from mesocosm.generators.longproc import Expected
from mesocosm.kits.procedures import make_instance


def new_episode(folder: Path, task: str, **parameters: Any) -> tuple[Episode, Expected, Survey]:
    family = load_family(task)
    instance = build_instance(family, 2, folder / "instance", parameters=parameters)
    assert isinstance(instance.expected, Expected)
    return Episode.create(folder / "episode", instance.path, family), instance.expected, instance.survey


def solve(episode: Episode, expected: Expected) -> None:
    with McpTools(world_server(episode.world)) as tools:
        episode.family.solve(tools, episode.prompt, expected)


@pytest.mark.parametrize(
    ("task", "procedure"),
    [("longproc_steps", "tables"), ("longproc_files", "routes"), ("longproc_steps", "travel")],
)
def test_every_procedure_can_be_handed_in_in_every_way(tmp_path: Path, task: str, procedure: str) -> None:
    episode, expected, _ = new_episode(
        tmp_path, task, procedure=procedure, output_tokens=300, distractor_cases=1
    )
    assert expected.gold == make_instance(procedure, 300, 2).gold, "the case of the dataset's row"
    solve(episode, expected)
    verdict = episode.grade()
    assert verdict.verdict == "passed", verdict


def test_a_right_result_by_a_wrong_search_fails_by_its_text_alone(tmp_path: Path) -> None:
    episode, expected, _ = new_episode(tmp_path, "longproc_countdown", output_tokens=300)
    lines = expected.gold.split("\n")
    answer = "\n".join(line for line in lines if line != lines[2])
    episode.world.call("submit_answer", "submit_answer", {"answer": answer})
    verdict = episode.grade()
    assert [check.name for check in verdict.findings if not check.passed] == ["text"]


def test_distractors_are_cases_that_nothing_but_their_reference_tells_apart(tmp_path: Path) -> None:
    _, expected, survey = new_episode(tmp_path, "longproc_beliefs", output_tokens=500, distractor_cases=30)
    sizes = {True: [], False: []}  # type: ignore[var-annotated]
    for result in survey.results:
        if result.tool == "read_document":
            sizes[bool(result.evidence)].append(result.tokens)
    assert 0.8 * min(sizes[False]) <= min(sizes[True])
    assert 1.2 * max(sizes[False]) >= max(sizes[True])
    own = [expected.sheets.index(name) for name in expected.own_sheets]
    assert expected.sheets == sorted(expected.sheets), "names are random, and so is the order"
    assert own


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"procedure": "sorting"}, "there is no procedure 'sorting'"),
        ({"delivery": "mail"}, "delivery"),
        ({"output_tokens": 0}, "output_tokens"),
        ({"output_tokens": 20}, "nearest level is"),
    ],
)
def test_bad_parameters_are_refused(tmp_path: Path, given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        new_episode(tmp_path, "longproc_routes", **given)
