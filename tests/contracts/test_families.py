"""What every family promises, on a fixed sample that fits CI; `mesocosm suite prove` proves all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mesocosm.families import contracts
from mesocosm.families.family import family_names, load_family
from mesocosm.families.proving import prove_one

SHORT, LONG = (8_000, 1), (16_000, 0)


def sample() -> list[tuple[str, int, int]]:
    """Every task at a short length, but of those with Python beside the file every other one (their own tests
    solve them); and every third generator in Python at a longer one."""
    tasks = {name: load_family(name).task for name in family_names()}
    own = [name for name, task in tasks.items() if task.family == name and not task.is_written]
    aided = [name for name in tasks if load_family(name).path.with_suffix(".py").exists()]
    short = [name for name in tasks if name not in aided[::2]]
    return [*((name, *SHORT) for name in short), *((name, *LONG) for name in own[::3])]


@pytest.mark.parametrize(("family", "length", "seed"), sample())
def test_an_instance_is_proven(family: str, length: int, seed: int) -> None:
    proof = prove_one(family, length, seed)
    assert not proof.problems, "\n".join(proof.problems)
    assert proof.mutants >= 5


@pytest.mark.parametrize("family", family_names())
def test_a_family_has_enough_kinds_of_mutants(family: str) -> None:
    assert not list(contracts.too_few_mutants(load_family(family)))


@pytest.mark.parametrize("family", family_names())
def test_the_smallest_length_is_there_without_the_answer_and_the_minimum_is_told(
    family: str, tmp_path: Path
) -> None:
    assert not list(contracts.wrong_at_the_least(load_family(family), tmp_path, seeds=[0, 4]))
