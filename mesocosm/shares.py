"""From shares of a whole to whole numbers: how rates become counts of edge cases."""

from __future__ import annotations

from collections.abc import Mapping


def apportion(shares: Mapping[str, float], total: int) -> dict[str, int]:
    """Whole numbers in proportion to shares that sum to 1: at least one for each above 0, ``total`` together.

    >>> apportion({"a": 0.7, "b": 0.2, "c": 0.1}, 15)
    {'a': 10, 'b': 3, 'c': 2}
    """
    numbers = {name: int(share > 0) for name, share in shares.items()}
    for _ in range(total - sum(numbers.values())):
        neediest = max(numbers, key=lambda name: shares[name] * total - numbers[name])
        numbers[neediest] += 1
    return numbers


def share_of(rate: float, total: int) -> int:
    """How many of ``total`` a share is: rounded, and at least one if it is above 0 and there are any."""
    return min(total, max(int(rate > 0), round(rate * total)))
