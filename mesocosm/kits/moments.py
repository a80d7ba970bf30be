"""Moments: as prompts write them, as stores keep them, and as texts state them; and days without work."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Container
from functools import cache

_STATED = re.compile(
    r"(?<!\d)(?P<moment>\d{4}-\d\d-\d\d \d\d:\d\d)(?!\d)(?P<seconds>:\d\d(?:[.,]\d+)?)?"
    r"(?P<behind> ?\(?(?:[+\u2212-]\d\d?(?::?\d\d)?(?!\d)|Z\b|(?i:[ap]\.? ?m\b\.?)"
    r"|[A-Z]{2,5}\b(?: ?[+\u2212-]\d\d?(?::?\d\d)?)?|[A-Z][a-z]+/[A-Z]\w+(?:/[A-Z]\w+)?))?"
)
"""``2025-03-03 09:05`` with what may make it another moment behind it."""


def stated_moments(text: str, zone: dt.tzinfo) -> list[str]:
    """The moments that a text states as ``YYYY-MM-DD HH:MM`` by the clocks of a zone, each once, in order.

    Seconds of 00, the zone itself behind it (its name, its offset then, its abbreviation then) and the time
    until which something lasts (``09:05-09:35``) say nothing else; other seconds, other zones and halves of
    the day stay with the moment, which is then another.
    """
    found = []
    for match in _STATED.finditer(" ".join(text.split())):
        moment, seconds, behind = match["moment"], match["seconds"] or "", match["behind"] or ""
        said = behind.strip(" ()")
        if seconds.strip(":0.,"):
            moment += seconds
        until = re.fullmatch(r"-\d\d:\d\d", said) and said[1:] > moment[11:16]
        if said and not until and said not in _names(moment[:16], zone):
            moment = f"{moment} {said}"
        found.append(moment)
    return sorted(set(found))


def _names(moment: str, zone: dt.tzinfo) -> set[str]:
    """Return the names of a zone's time at a moment."""
    try:
        local = dt.datetime.fromisoformat(moment).replace(tzinfo=zone)
    except ValueError:
        return set()
    offset = local.strftime("%z")
    sign, hours, minutes = offset[0], offset[1:3], offset[3:5]
    offsets = {offset, f"{sign}{hours}:{minutes}", f"{sign}{int(hours)}:{minutes}"}
    if minutes == "00":
        offsets |= {f"{sign}{hours}", f"{sign}{int(hours)}"}
    said = {f"{start}{one}" for start in ("", "UTC", "GMT", "UTC ", "GMT ") for one in offsets}
    return said | {str(zone), local.tzname() or ""} | ({"UTC", "GMT", "Z"} if offset == "+0000" else set())


def in_words(moment: dt.datetime) -> str:
    """``Monday, March 3, 2025, 09:05``, by the clock that the moment is given in."""
    return f"{moment:%A}, {moment:%B} {moment.day}, {moment.year}, {moment:%H:%M}"


def shown_offset(moment: dt.datetime) -> str:
    """Format a moment's UTC offset: ``UTC+01:00``."""
    offset = moment.strftime("%z")
    return f"UTC{offset[:3]}:{offset[3:]}"


def utc_stamp(moment: dt.datetime) -> str:
    """ISO 8601 in UTC to the second, ending in ``Z``."""
    return f"{moment.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"


_WHERE = (("CH", "ZH"), ("FI", None), ("SG", None), ("US", None))
"""Countries in which worlds have offices, and a part of one with days of its own, by ISO 3166."""


def is_holiday(day: dt.date) -> bool:
    """True if a day is a public holiday in a country where worlds have offices."""
    return any(day in calendar for calendar in _calendars())


@cache
def _calendars() -> list[Container[dt.date]]:
    from holidays import country_holidays  # takes a while, and few tasks need it

    return [country_holidays(country, subdiv=part) for country, part in _WHERE]
