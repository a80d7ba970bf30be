"""Released configurations: other benchmarks' numbers for our tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from mesocosm.errors import UsageError
from mesocosm.families.configurations import configurations, released
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance

EVERY = [
    (preset, task, length)
    for preset, configuration in configurations().items()
    for task, found in configuration.tasks.items()
    for length in found.lengths
]


@pytest.mark.parametrize(("preset", "task", "length"), EVERY)
def test_the_numbers_are_parameters_of_the_task(preset: str, task: str, length: int) -> None:
    given = released(task, preset, length)
    params = load_family(task).params(**given).model_dump(mode="json")
    assert {name: params[name] for name in given} == given


@pytest.mark.parametrize(
    ("task", "seed", "over"), [("course_assistant", 42, False), ("filter_low_selling_products", 123, True)]
)
def test_numbers_win_and_what_is_left_is_filled(task: str, seed: int, over: bool, tmp_path: Path) -> None:
    parameters = {"preset": "loca"}
    instance = build_instance(load_family(task), seed, tmp_path / "x", target=8000, parameters=parameters)
    error = instance.survey.tokens / 8000 - 1
    assert error > 0.05 if over else abs(error) <= 0.01


def test_a_world_of_two_courses_can_be_built(tmp_path: Path) -> None:
    """What LOCA has for 8K is smaller than what the task itself begins with."""
    parameters = {"preset": "loca"}
    instance = build_instance(
        load_family("canvas_arrange_exam"), 42, tmp_path / "x", target=8000, parameters=parameters
    )
    assert abs(instance.survey.tokens / 8000 - 1) <= 0.01


@pytest.mark.parametrize(
    ("task", "preset", "length", "complaint"),
    [
        ("course_assistant", "loco", 8000, "there are: loca"),
        ("course_assistant", ["loca"], 8000, "there are: loca"),
        ("recall_campaign", "loca", 8000, "there are for: .*apply_phd_email"),
        ("course_assistant", "loca", 9000, "8k, 16k, 32k, 64k, 96k, 128k, 256k"),
        ("course_assistant", "loca", None, "8k, 16k, 32k"),
    ],
)
def test_what_there_is_not_is_refused(task: str, preset: object, length: int | None, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        released(task, preset, length)
