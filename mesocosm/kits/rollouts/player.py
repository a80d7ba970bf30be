"""Playing the puzzle well: what feedback leaves open, and the guess that will leave the least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

Value = int | str
Profile = Mapping[str, Sequence[Value]]
"""What is said of a creature, by section."""
Marks = tuple[tuple[str, ...], ...]

_MOST_GUESSES, _MOST_OPEN = 40, 400
"""Guesses that are weighed, and creatures over which they are, where there are more: evenly spread."""


def marks(guess: Profile, target: Profile) -> Marks:
    """What feedback on a guess says, section by section and value by value."""
    return tuple(
        tuple(_mark(value, target[section]) for value in values) for section, values in guess.items()
    )


def _mark(value: Value, right: Sequence[Value]) -> str:
    if value in right:
        return "correct"
    if isinstance(value, int) and isinstance(right[0], int):
        return "low" if value < right[0] else "high"
    return "wrong"


def still_open(names: Sequence[str], profiles: Mapping[str, Profile], guess: str, said: Marks) -> list[str]:
    """Those of the names for which feedback on the guess would say just that."""
    return [name for name in names if name != guess and marks(profiles[guess], profiles[name]) == said]


def best_guess(names: Sequence[str], profiles: Mapping[str, Profile]) -> str:
    """Of these names the guess that leaves the fewest of them open on average; the first of the best."""
    against = _spread(names, _MOST_OPEN)

    def left(guess: str) -> int:
        told = Counter(marks(profiles[guess], profiles[name]) for name in against if name != guess)
        return sum(count * count for count in told.values())

    return min(_spread(names, _MOST_GUESSES), key=left)


def _spread(names: Sequence[str], most: int) -> Sequence[str]:
    if len(names) <= most:
        return names
    return [names[at * len(names) // most] for at in range(most)]
