"""Contract checks that every family has to pass, usable for your own families."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from mesocosm.errors import UsageError
from mesocosm.families.family import Family, load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.length import TOLERANCE
from mesocosm.families.proofs import prove_one

SMALLEST = 8_000
"""A length, in tokens, that every family must be able to have with each of its seeds."""


def complaints(
    task: str, *, lengths: Sequence[int] = (SMALLEST,), seeds: Sequence[int] = (0,)
) -> Iterator[str]:
    """Everything that a family should promise and does not; proofs are made at these lengths and seeds."""
    family = load_family(task)
    yield from too_few_mutants(family)
    with tempfile.TemporaryDirectory(prefix="mesocosm-check-") as folder:
        yield from wrong_at_the_least(family, Path(folder), family.task.seeds)
    for length in lengths:
        for seed in seeds:
            yield from (
                f"{task} {length:,} seed {seed}: {line}" for line in prove_one(task, length, seed).problems
            )


def too_few_mutants(family: Family) -> Iterator[str]:
    """At least eight near misses of different names."""
    names = [mutant.name for mutant in family.mutants]
    if len(set(names)) < 8:
        yield f"{family.name}: {len(set(names))} kinds of mutant; at least 8 are expected"
    yield from (
        f"{family.name}: two mutants are called {name!r}"
        for name in sorted(set(names))
        if names.count(name) > 1
    )


def wrong_at_the_least(family: Family, folder: Path, seeds: Sequence[int]) -> Iterator[str]:
    """The smallest length is there for these seeds, what the agent must not find lies outside the world, and
    a length below the minimum is refused with the minimum."""
    for seed in seeds:
        try:
            instance = build_instance(family, seed, folder / str(seed), target=SMALLEST)
        except UsageError as error:
            yield f"{family.name}: seed {seed} cannot be had at {SMALLEST:,} tokens: {error}"
            continue
        if abs(instance.survey.tokens / SMALLEST - 1) > TOLERANCE:
            yield f"{family.name}: seed {seed} has {instance.survey.tokens:,} tokens instead of {SMALLEST:,}"
        yield from _told(family, instance.path / "world")
    try:
        build_instance(family, 0, folder / "short", target=300)
    except UsageError as error:
        if "below the minimum" not in str(error):
            yield f"{family.name}: a length below the minimum is refused without the minimum: {error}"
    else:
        yield f"{family.name}: a length of 300 tokens should be refused with the minimum"


def _told(family: Family, world: Path) -> Iterator[str]:
    inside = {file.name for file in world.rglob("*")}
    if "expected.json" in inside or "expected" in (world / "world.json").read_text():
        yield f"{family.name}: the world holds what is expected"
