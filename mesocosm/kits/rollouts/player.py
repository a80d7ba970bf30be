"""Playing the puzzle well: what feedback leaves open, and the guess that will leave the least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

TraitValue = int | str
Profile = Mapping[str, Sequence[TraitValue]]
"""A creature's description, by section."""
Marks = tuple[tuple[str, ...], ...]

_MOST_GUESSES, _MOST_OPEN = 40, 400
"""Guesses that are weighed, and creatures over which they are, where there are more: evenly spread."""


def marks(guess: Profile, target: Profile, *, by_section: bool = False) -> Marks:
    """Compute the feedback on a guess, by section and value, or for each section as a whole."""
    if by_section:
        return tuple(
            (section_mark(tuple(values), tuple(target[section])),) for section, values in guess.items()
        )
    return tuple(
        tuple(_mark(value, target[section]) for value in values) for section, values in guess.items()
    )


@lru_cache(maxsize=1 << 16)
def section_mark(values: tuple[TraitValue, ...], right: tuple[TraitValue, ...]) -> str:
    """Word the feedback on a section as a whole."""
    return "correct" if set(values) == set(right) else "wrong"


def _mark(value: TraitValue, right: Sequence[TraitValue]) -> str:
    if value in right:
        return "correct"
    if isinstance(value, int) and isinstance(right[0], int):
        return "low" if value < right[0] else "high"
    return "wrong"


def still_open(
    names: Sequence[str],
    profiles: Mapping[str, Profile],
    guess: str,
    said: Marks,
    *,
    by_section: bool = False,
) -> list[str]:
    """Those of the names for which feedback on the guess would say just that."""
    return [
        name
        for name in names
        if name != guess and marks(profiles[guess], profiles[name], by_section=by_section) == said
    ]


def best_guess(names: Sequence[str], profiles: Mapping[str, Profile], *, by_section: bool = False) -> str:
    """Of these names the guess that leaves the fewest of them open on average; the first of the best."""
    against = _spread(names, _MOST_OPEN)

    def left(guess: str) -> int:
        told = Counter(
            marks(profiles[guess], profiles[name], by_section=by_section) for name in against if name != guess
        )
        return sum(count * count for count in told.values())

    return min(_spread(names, _MOST_GUESSES), key=left)


def _spread(names: Sequence[str], most: int) -> Sequence[str]:
    if len(names) <= most:
        return names
    return [names[at * len(names) // most] for at in range(most)]
