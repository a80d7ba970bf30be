"""Lengths and seeds as people write them."""

from __future__ import annotations

import pytest

from mesocosm.errors import UsageError
from mesocosm.families.quantities import parse_length, parse_lengths, parse_seeds, show_length


@pytest.mark.parametrize(
    ("text", "tokens"), [("8k", 8000), ("64000", 64000), ("1m", 1_000_000), ("1.5K", 1500), ("4M", 4_000_000)]
)
def test_lengths_are_read_and_shown(text: str, tokens: int) -> None:
    assert parse_length(text) == tokens
    assert parse_length(show_length(tokens)) == tokens


@pytest.mark.parametrize("text", ["", "k", "8kb", "-8k", "0", "5m", "eight"])
def test_what_is_no_length_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="length"):
        parse_length(text)


def test_several_lengths_are_separated_by_commas() -> None:
    assert parse_lengths("8k, 32k,128k") == [8000, 32000, 128000]


@pytest.mark.parametrize(
    ("text", "seeds"), [("0", [0]), ("0-4", [0, 1, 2, 3, 4]), ("1,7", [1, 7]), ("1,3-4", [1, 3, 4]), (5, [5])]
)
def test_seeds_are_one_or_a_range_or_a_list(text: str | int, seeds: list[int]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "4-0", "-1", "1,,2"])
def test_what_is_no_seed_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="seed"):
        parse_seeds(text)
