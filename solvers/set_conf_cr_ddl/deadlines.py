"""Finds deadlines in what people write."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY = (
    r"\d{4}-\d\d-\d\d"
    r"|(?:[A-Z][a-z]+day, )?[A-Z][a-z]{2,8} \d{1,2}, \d{4}"
    r"|(?:[A-Z][a-z]{2,8},? )?\d{1,2} [A-Z][a-z]{2,8} \d{4}"
)
_CLOCK = r"\d{1,2}:\d\d(?: ?(?:[AP]M|[ap]\.m\.))?"
_ZONE = (
    r"AoE \(UTC-12\)|AoE|Anywhere on Earth|[A-Z]\w+(?: [A-Z]\w+)? time \(UTC[+-]\d{1,2}(?::\d\d)?\)"
    r"|UTC-12|UTC|GMT"
)
DEADLINE = re.compile(
    rf"(?:(?P<clock1>{_CLOCK})(?: (?P<zone1>{_ZONE}))? on )?(?P<day>{_DAY})"
    rf"(?:(?:, | at )(?P<clock2>{_CLOCK})(?: (?P<zone2>{_ZONE}))?)?(?: \((?P<zone3>{_ZONE})\))?"
)


def deadlines(text: str) -> Iterator[dt.datetime]:
    """The moments that a text states: no time is the end of the day, no zone is AoE."""
    for found in DEADLINE.finditer(text):
        clock = found["clock1"] or found["clock2"]
        zone = found["zone1"] or found["zone2"] or found["zone3"]
        time = _time(clock) if clock else dt.time(23, 59)
        yield dt.datetime.combine(_day(found["day"]), time, dt.UTC) - _offset(zone)


def _day(text: str) -> dt.date:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return dt.date.fromisoformat(text)
    words = [word for word in re.findall(r"\w+", text) if not word.endswith("day")]
    numbers = [int(word) for word in words if word.isdigit()]
    # A weekday may be short ("Wed"), and then stands before the month.
    month = [word[:3].lower() for word in words if word[:3].lower() in _MONTHS][-1]
    return dt.date(numbers[1], 1 + _MONTHS.index(month), numbers[0])


def _time(text: str) -> dt.time:
    found = re.fullmatch(r"(\d{1,2}):(\d\d) ?([APap]?)[.Mm]*", text)
    assert found
    hour = int(found[1])
    if found[3]:
        hour = hour % 12 + (12 if found[3].lower() == "p" else 0)
    return dt.time(hour, int(found[2]))


def _offset(zone: str | None) -> dt.timedelta:
    if zone in ("UTC", "GMT"):
        return dt.timedelta()
    found = re.search(r"UTC([+-])(\d{1,2})(?::(\d\d))?", zone or "")
    if not found:
        return dt.timedelta(hours=-12)
    sign = -1 if found[1] == "-" else 1
    return sign * dt.timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
