"""A question about a served history: every type in every form is solved, and twins are the same game."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from trials import failures, solve, truth

from mesocosm.errors import UsageError
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.generators.puzzle_history import Expected
from mesocosm.kits.rollouts.dataset import DatasetPlan, make
from mesocosm.kits.rollouts.questions import TYPES
from mesocosm.kits.rollouts.transcript import FORMATS
from mesocosm.kits.rollouts.twins import SETTINGS

FAMILY = load_family("puzzle_history")
FORMS = [(kind, *list(product(SETTINGS, FORMATS))[at % 4]) for at, kind in enumerate(TYPES)]


@pytest.mark.parametrize(("kind", "setting", "format"), FORMS)
def test_every_type_is_solved(tmp_path: Path, kind: str, setting: str, format: str) -> None:
    chosen = {"question": kind, "setting": setting, "format": format, "items": 80}
    built = build_instance(FAMILY, 3, tmp_path / "x", parameters=chosen)
    episode = Episode.create(tmp_path / "episode", built.path, FAMILY)
    solve(FAMILY, episode)
    assert failures(episode) == set()
    assert truth(FAMILY, episode).type == kind
    episode.close()


def test_the_twin_of_a_seed_is_the_same_game(tmp_path: Path) -> None:
    ki, kf = (
        build_instance(
            FAMILY,
            0,
            tmp_path / setting,
            parameters={"setting": setting, "question": "weighted_summation_env"},
        ).expected
        for setting in SETTINGS
    )
    assert ki.model_dump(include={"answer", "rounds", "evidence"}) == kf.model_dump(
        include={"answer", "rounds", "evidence"}
    )
    assert ki.public["question"] != kf.public["question"]


def test_a_bucket_is_a_trajectory_of_the_dataset_with_its_question(tmp_path: Path) -> None:
    chosen = {"bucket": "16k", "format": "v", "setting": "kf"}
    built = build_instance(FAMILY, 9, tmp_path / "x", parameters=chosen)
    plan = DatasetPlan(settings=("kf",), formats=("v",), lengths=(16_000,))
    ((trajectory, rows),) = make(plan, ("v", 16_000, 1))
    row = rows[1]
    expected = built.expected
    assert isinstance(expected, Expected)
    assert (
        (expected.question, expected.answer)
        == (row.id, row.answer)
        == (f"kf-v-16k-001-{TYPES[1]}", row.answer)
    )
    assert built.expected.public["question"] == row.question
    assert expected.rounds == trajectory.rounds
    with pytest.raises(UsageError, match="at least 16k"):
        build_instance(FAMILY, 0, tmp_path / "y", parameters={"bucket": "1k"})
    with pytest.raises(UsageError, match="leave --length"):
        build_instance(FAMILY, 0, tmp_path / "z", target=32_000, parameters={"bucket": "16k"})


def test_an_unknown_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="question"):
        build_instance(FAMILY, 0, tmp_path / "x", parameters={"question": "why"})
