"""Spending a filler: items of several kinds that cost a number of tokens together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

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
