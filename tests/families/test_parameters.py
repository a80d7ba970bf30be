"""Parameters of the task families: presets of difficulty, given sizes, and that all are described."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from samples import sampled

from mesocosm.errors import UsageError
from mesocosm.families.family import family_names, load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.length import TOLERANCE

GRADED = [name for name in family_names() if load_family(name).task.presets]


@pytest.mark.parametrize("name", GRADED)
def test_every_parameter_is_described(name: str) -> None:
    for parameter, field in load_family(name).params_type.model_fields.items():
        assert re.match(r"[A-Z].{9,}\.$", field.description or "", re.DOTALL), parameter


@pytest.mark.parametrize("name", GRADED)
def test_there_are_three_presets_and_the_middle_one_is_the_task_itself(name: str) -> None:
    family = load_family(name)
    assert list(family.task.presets) == ["easy", "medium", "hard"]
    easy, medium, hard = (family.params(difficulty=preset) for preset in family.task.presets)
    assert medium == family.params()
    assert len({easy, medium, hard}) == 3


@pytest.mark.parametrize("name", GRADED)
def test_what_is_given_counts_more_than_a_preset(name: str) -> None:
    family = load_family(name)
    for parameter, value in family.task.presets["hard"].items():
        other = family.task.presets["easy"].get(parameter, value)
        params = family.params(difficulty="hard", **{parameter: other})
        assert getattr(params, parameter) == other


def test_an_unknown_difficulty_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="difficulty: 'extreme' is none of easy, medium, hard"):
        load_family("canvas_list_test").params(difficulty="extreme")
    with pytest.raises(UsageError, match=r"difficulty: \[1\] is none of"):
        load_family("canvas_list_test").params(difficulty=[1])
    with pytest.raises(UsageError, match="difficulty: Input should be 'easy', 'medium', 'hard' or 'expert'"):
        load_family("course_assistant").params(difficulty="extreme")


@pytest.mark.parametrize(
    ("name", "difficulty", "seed"),
    sampled(product(GRADED, ("easy", "hard"), (1, 3)), lambda case: case[1:] == ("hard", 1)),
)
def test_every_difficulty_has_the_lengths_of_the_task(
    name: str, difficulty: str, seed: int, tmp_path: Path
) -> None:
    parameters: dict[str, Any] = {"difficulty": difficulty}
    instance = build_instance(load_family(name), seed, tmp_path / "x", target=8_000, parameters=parameters)
    assert abs(instance.survey.tokens / 8_000 - 1) <= TOLERANCE


def test_a_size_that_is_given_is_kept_at_every_length(tmp_path: Path) -> None:
    family = load_family("course_assistant")
    parameters: dict[str, Any] = {"num_students": 18}
    instance = build_instance(family, 0, tmp_path / "x", target=24_000, parameters=parameters)
    assert abs(instance.survey.tokens / 24_000 - 1) <= TOLERANCE
    entities = [one for one in instance.expected.truth["entities"] if one["fact"] == "student"]
    assert len(entities) == 18
    with pytest.raises(UsageError, match="below the minimum"):
        build_instance(family, 0, tmp_path / "y", target=8_000, parameters={"num_students": 60})


@pytest.mark.parametrize(
    ("name", "parameters", "complaint"),
    [
        ("canvas_arrange_exam", {"canvas_exam_rate": 0.8, "email_exam_rate": 0.2}, "must sum to 1, not 1.4"),
        ("canvas_list_test", {"quiz_prob": 0}, "quiz_prob: Input should be greater than 0"),
        ("course_assistant", {"dropout_rate": 2}, "dropout_rate: between 0 and 0.9"),
        ("apply_phd_email", {"structure": "zip"}, "structure: Input should be 'merged'"),
        ("set_conf_cr_ddl", {"base_date": "2025-13-45"}, "base_date: Input should be a valid date"),
        (
            "excel_market_research",
            {"num_raw_categories": 4, "num_internal_categories": 4},
            "must be less than",
        ),
        ("filter_low_selling_products", {"num_low_selling": 0}, "num_low_selling: Input should be greater"),
        ("recall_campaign", {"num_customers": 15}, "num_customers: Input should be greater than or equal"),
    ],
)
def test_values_out_of_range_are_refused_by_name(
    name: str, parameters: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(UsageError) as refused:
        load_family(name).params(**parameters)
    assert complaint in str(refused.value)
