"""From shares of a whole to whole numbers: counts of edge cases, and items that fill a number of tokens."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar


def apportion(shares: Mapping[str, float], total: int) -> dict[str, int]:
    """Whole numbers in proportion to shares that sum to 1: at least one for each above 0, ``total`` together.

    Where there are fewer than shares above 0, the largest shares get one each.

    >>> apportion({"a": 0.7, "b": 0.2, "c": 0.1}, 15)
    {'a': 11, 'b': 3, 'c': 1}
    >>> apportion({"a": 0.7, "b": 0.1, "c": 0.2}, 2)
    {'a': 1, 'b': 0, 'c': 1}
    """
    numbers = dict.fromkeys(shares, 0)
    for name in sorted((name for name in shares if shares[name] > 0), key=lambda name: -shares[name])[:total]:
        numbers[name] = 1
    for _ in range(total - sum(numbers.values())):
        neediest = max(numbers, key=lambda name: shares[name] * total - numbers[name])
        numbers[neediest] += 1
    return numbers


def drawn_numbers(shares: Mapping[str, float], total: int, rng: random.Random) -> dict[str, int]:
    """Whole numbers drawn one by one with these chances: at least one for each above 0, as far as there
    are any.

    They differ from instance to instance, so that none of them tells another.
    """
    names = [name for name in shares if shares[name] > 0]
    numbers = dict.fromkeys(shares, 0)
    for name in rng.choices(names, [shares[name] for name in names], k=total):
        numbers[name] += 1
    for name in names:
        if not numbers[name] and shares[name] * total >= 1:
            richest = max(numbers, key=lambda one: numbers[one])
            numbers[richest] -= 1
            numbers[name] += 1
    return numbers


def share_of(rate: float, total: int) -> int:
    """Return ``rate`` of ``total``, rounded, but at least 1 if both are positive."""
    return min(total, max(int(rate > 0), round(rate * total)))


def require_whole(rates: Mapping[str, float], counted: str, total: int) -> None:
    """Complain of rates (by the names of their parameters) that share out a whole and do not sum to 1.

    ``total`` is how many there are to share out, ``counted`` the name of the parameter that says so: one for
    each rate above 0 is needed. Raises ``ValueError``.
    """
    together = sum(rates.values())
    if abs(together - 1) > 1e-6:
        raise ValueError(f"{', '.join(rates)} must sum to 1, not {together:g}")
    used = sum(rate > 0 for rate in rates.values())
    if total < used:
        raise ValueError(f"{counted} must be at least {used}, one for each rate above 0")


def tangled(share: float, plain: str, edges: Mapping[str, float], weight: float) -> dict[str, float]:
    """A share of a whole split among edge cases, each its part of it times ``weight``, and the plain case.

    >>> tangled(0.5, "plain", {"late": 0.1, "void": 0.3}, 1.5)
    {'plain': 0.2, 'late': 0.075, 'void': 0.225}
    """
    parts = {name: part * weight for name, part in edges.items()}
    return {plain: share * round(1 - sum(parts.values()), 9)} | {
        name: share * round(part, 9) for name, part in parts.items()
    }


Item = TypeVar("Item")

_LARGEST = 1500
"""Tokens that no item, be it a thread of mails, exceeds."""


def spend(
    budget: int,
    weights: Mapping[str, float],
    items: Callable[[str], Sequence[Item]],
    cost: Callable[[Item], int],
    last: Callable[[int], Item],
    *,
    piece: int,
    least: int,
) -> list[Item]:
    """Items that cost ``budget`` tokens together, up to less than ``least``.

    Kinds are drawn (``items(kind)``) so that what each cost keeps to the ``weights``. The rest goes into
    even pieces of about ``piece`` tokens, ``last(tokens)`` each, so that the very last one is as large as it
    has to be.
    """
    found: list[Item] = []
    spent = dict.fromkeys(weights, 0)
    while (left := budget - sum(spent.values())) > _LARGEST:
        kind = min(weights, key=lambda name: spent[name] / weights[name])
        some = items(kind)
        spent[kind] += sum(map(cost, some))
        found += some
    while left > least:
        item = last(left // (1 + left // piece))
        left -= cost(item)
        found.append(item)
    return found
