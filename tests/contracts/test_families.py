"""What every family promises, on a fixed sample that fits CI; `mesocosm suite prove` proves all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mesocosm.errors import UsageError
from mesocosm.families.building import build_instance
from mesocosm.families.family import family_names, load_family
from mesocosm.families.length import TOLERANCE
from mesocosm.families.proving import prove_one

SAMPLE = [(8_000, 1), (32_000, 0)]


@pytest.mark.parametrize("family", family_names())
@pytest.mark.parametrize(("length", "seed"), SAMPLE)
def test_an_instance_is_proven(family: str, length: int, seed: int) -> None:
    proof = prove_one(family, length, seed)
    assert not proof.problems, "\n".join(proof.problems)
    assert proof.mutants >= 5


@pytest.mark.parametrize("family", family_names())
def test_a_family_has_at_least_eight_kinds_of_mutants(family: str) -> None:
    mutants = load_family(family).mutants
    assert len({mutant.name for mutant in mutants}) == len(mutants) >= 8


@pytest.mark.parametrize("family", family_names())
def test_the_smallest_length_is_at_most_8k_for_every_seed(family: str, tmp_path: Path) -> None:
    for seed in load_family(family).task.seeds:
        instance = build_instance(load_family(family), seed, tmp_path / str(seed), target=8_000)
        assert abs(instance.survey.tokens / 8_000 - 1) <= TOLERANCE


@pytest.mark.parametrize("family", family_names())
def test_a_length_below_the_minimum_is_refused_with_the_minimum(family: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"below the minimum .* which is \d"):
        build_instance(load_family(family), 0, tmp_path / "x", target=300)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("family", family_names())
def test_the_world_does_not_tell_the_answer(family: str, tmp_path: Path) -> None:
    instance = build_instance(load_family(family), 0, tmp_path / "x", target=8_000)
    inside = {path.name for path in (instance.path / "world").rglob("*")}
    assert "expected.json" not in inside
    manifest = (instance.path / "world" / "world.json").read_text()
    assert "expected" not in manifest
