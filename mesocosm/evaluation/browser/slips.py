"""Slips: how a wrong value came from the right one, where that shows in the two."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any

_FACTORS = {
    0.01: "a hundredth of",
    100: "a hundred times",
    0.001: "a thousandth of",
    1_000: "a thousand times",
    -1: "the negative of",
    60: "sixty times",
    1 / 60: "a sixtieth of",
}
_GOT = re.compile(r"got '?(-?\d+(?:\.\d+)?)'?, expected '?(-?\d+(?:\.\d+)?)'?(?![\w.])")
_PAIR = re.compile(r"^(?:(?P<of>[^;]*?): )?got (?P<got>[^;]{1,120}), expected (?P<expected>[^;]{1,120})$")
_MANY = 3
"""Numbers from which on a factor that all have in common says something."""
_FEWEST = 3
"""Letters of a text, at least, that a slip of the hand can be seen in."""
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)


def common_factor(details: Iterable[str]) -> str:
    """Say by which factor all wrong numbers are off, if it is one that a wrong unit or sign explains."""
    pairs = [(float(got), float(expected)) for detail in details for got, expected in _GOT.findall(detail)]
    pairs = [(got, expected) for got, expected in pairs if got != expected]
    factor = _factor(pairs) if len(pairs) >= _MANY else ""
    return f"Each of the {len(pairs)} numbers that the findings show is {factor} the one expected." * bool(
        factor
    )


def _factor(pairs: Sequence[tuple[float, float]]) -> str:
    for factor, words in _FACTORS.items():
        # What is written with few digits is rounded.
        if all(
            abs(got - factor * expected) <= max(0.005 * abs(factor * expected), 0.000_06)
            for got, expected in pairs
        ):
            return words
    return ""


def slips_in(details: Iterable[str]) -> list[str]:
    """Say of the values that findings show beside those expected how each came from the other."""
    found = []
    for detail in details:
        for part in detail.split("; "):
            if (pair := _PAIR.match(part.strip())) and (how := slip_of(pair["got"], pair["expected"])):
                of = f"{pair['of']}: " if pair["of"] else ""
                found.append(f"{of}“{pair['got']}” for “{pair['expected']}”: {how}")
    return found


def slip_of(got: Any, expected: Any, others: Mapping[str, Any] | None = None) -> str:
    """Say how a wrong value came from the right one; empty if nothing shows it.

    ``others``: what would be right elsewhere, such as in the neighbouring row, by what it belongs to.
    """
    mine, right = (str(value).strip().strip("'") for value in (got, expected))
    if mine == right or not mine or not right:
        return ""
    if of := [name for name, value in (others or {}).items() if str(value).strip() == mine]:
        return f"which is right for {of[0]}" if len(set(of)) == 1 else ""
    cells = [one for one in zip(mine.split(","), right.split(","), strict=False) if one[0] != one[1]]
    if mine.count(",") == right.count(",") and len(cells) == 1 and "," in mine:
        return slip_of(*cells[0])
    return _of_moments(mine, right) or _of_numbers(mine, right) or _of_letters(mine, right)


def _of_moments(got: str, expected: str) -> str:
    with suppress(ValueError, TypeError):
        one, other = _moment(got), _moment(expected)
        if (one.year, one.month, one.day) == (other.year, other.day, other.month) != _day_of(other):
            return "day and month are exchanged"
        off = one - other
        times = abs(off)
        how = "late" if off > timedelta() else "early"
        if times % _DAY == timedelta():
            return f"{_counted(times // _DAY, 'day')} {how}" if times <= 7 * _DAY else _of_years(one, other)
        if times < _DAY:
            hours, rest = divmod(times, _HOUR)
            return f"{_counted(hours, 'hour')} {how}" if not rest else ""
    return ""


def _of_years(one: datetime, other: datetime) -> str:
    same = one.replace(year=other.year, month=other.month) == other
    months = 12 * (one.year - other.year) + one.month - other.month
    if not same or abs(months) not in (1, 12):
        return ""
    return f"one {'month' if abs(months) == 1 else 'year'} {'late' if months > 0 else 'early'}"


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _day_of(moment: date) -> tuple[int, int, int]:
    return moment.year, moment.month, moment.day


def _counted(number: int, what: str) -> str:
    return f"one {what}" if number == 1 else f"{number} {what}s"


def _of_numbers(got: str, expected: str) -> str:
    with suppress(ValueError):
        one, other = float(got), float(expected)
        if _swapped(got, expected):
            return "two digits stand in each other's place"
        if abs(one - other) == 1:
            return f"one too {'many' if one > other else 'few'}"
        if factor := _factor([(one, other)]):
            return f"{factor} it"
    return ""


def _of_letters(got: str, expected: str) -> str:
    if min(len(got), len(expected)) < _FEWEST:
        return ""
    if got.casefold() == expected.casefold():
        return "in other capitals"
    if " ".join(got.split()) == " ".join(expected.split()):
        return "with other blanks"
    if _swapped(got, expected):
        return "two characters stand in each other's place"
    apart = [(one, other) for one, other in zip(got, expected, strict=False) if one != other]
    if len(got) == len(expected) and len(apart) == 1:
        return f"“{apart[0][0]}” for “{apart[0][1]}”"
    longer, shorter = (got, expected) if len(got) > len(expected) else (expected, got)
    if len(longer) - len(shorter) == 1 and any(
        longer[:place] + longer[place + 1 :] == shorter for place in range(len(longer))
    ):
        return "one character too many" if longer is got else "one character is missing"
    return ""


def _swapped(got: str, expected: str) -> bool:
    """True if two neighbouring characters are exchanged, and nothing else."""
    apart = [place for place, pair in enumerate(zip(got, expected, strict=False)) if pair[0] != pair[1]]
    return (
        len(got) == len(expected)
        and len(apart) == 2
        and apart[1] == apart[0] + 1
        and got[apart[0]] == expected[apart[1]]
        and got[apart[1]] == expected[apart[0]]
    )
