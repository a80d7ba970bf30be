"""Instants, dates and time zones: as callers write them, and as the tables keep them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from importlib import resources
from typing import Any
from zoneinfo import ZoneInfo

from mesocosm.errors import Invalid

FIRST = datetime(1900, 1, 1)  # noqa: DTZ001 - naive datetimes in this package are UTC or local, as named
LAST = datetime(2200, 1, 1)  # noqa: DTZ001
"""Events lie between these, which leaves room for every arithmetic of dates; windows are cut to them."""
FOREVER = "9999-12-31T00:00:00Z"

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATE_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(?P<offset>[Zz]|[+-]\d\d:\d\d)?", re.ASCII
)


@cache
def _zones() -> frozenset[str]:
    return frozenset(resources.files("tzdata").joinpath("zones").read_text().split())


@cache
def zone(name: str) -> ZoneInfo:
    """A time zone by its IANA name; ``KeyError`` if there is none.

    Always from the tzdata package: what the machine has installed may differ from one to the next.
    """
    if name not in _zones():
        raise KeyError(name)
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def known_zone(name: str) -> str:
    """The name itself if it is one of a time zone."""
    if name not in _zones():
        raise Invalid(f"Invalid time zone: {name[:60]!r} is not an IANA name such as 'Europe/Zurich'.")
    return name


@lru_cache(4096)
def show(moment: datetime) -> str:
    """A UTC moment as the tables keep it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@lru_cache(4096)
def read(text: str) -> datetime:
    """The naive UTC moment of an instant in the tables."""
    return datetime.fromisoformat(text[:-1])


def read_date(text: str) -> datetime:
    """Midnight of a date in the tables."""
    return datetime.fromisoformat(text)


def to_utc(local: datetime, zone_name: str) -> datetime:
    """The naive UTC moment of a local time; within a gap, as if the clocks had not jumped."""
    return local.replace(tzinfo=zone(zone_name)).astimezone(UTC).replace(tzinfo=None)


def to_local(moment: datetime, zone_name: str) -> datetime:
    """Convert a naive UTC moment to the zone's local time."""
    return moment.replace(tzinfo=UTC).astimezone(zone(zone_name)).replace(tzinfo=None)


@lru_cache(8192)
def in_zone(instant: str, zone_name: str) -> str:
    """An instant of the tables in RFC 3339 with the offset of a zone."""
    text = read(instant).replace(tzinfo=UTC).astimezone(zone(zone_name)).isoformat()
    return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text


def midnight(day: str, zone_name: str) -> str:
    """The instant at which a date begins in a zone."""
    return show(to_utc(read_date(day), zone_name))


def window_bound(text: str, name: str) -> datetime:
    """A naive UTC moment from an RFC 3339 timestamp with offset, cut to the range that events lie in."""
    found = _DATE_TIME.fullmatch(text)
    if not found:
        raise Invalid(
            f"Invalid value for {name}: {text[:60]!r} is not an RFC 3339 timestamp with its offset from UTC,"
            " such as 2025-06-03T10:00:00-07:00 or 2025-06-03T10:00:00Z.",
            code="invalid",
        )
    if not found["offset"]:
        raise Invalid(
            f"Invalid value for {name}: {text!r} lacks the mandatory time zone offset"
            " (for example 2025-06-03T10:00:00-07:00 or 2025-06-03T10:00:00Z).",
            code="invalid",
        )
    try:
        return min(max(_utc(text), FIRST), LAST)
    except ValueError:
        raise Invalid(f"Invalid value for {name}: {text!r} does not exist.", code="invalid") from None
    except OverflowError:
        return FIRST if text.startswith("0001") else LAST


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text.upper()).astimezone(UTC).replace(tzinfo=None, microsecond=0)


@dataclass(frozen=True)
class Point:
    """One end of an event."""

    at: str
    """An instant, or a date."""
    zone: str | None
    """The time zone it was given in, if any."""

    @property
    def is_date(self) -> bool:
        """True if the event lasts whole days."""
        return len(self.at) == 10


def point(given: Mapping[str, Any], end: str) -> Point:
    """One end (``start`` or ``end``) of an event, from Google's ``{dateTime, timeZone}`` or ``{date}``."""
    if given.get("date") is not None and given.get("dateTime") is not None:
        raise Invalid(f"Invalid {end} time: give either date or dateTime.", code="invalid")
    if given.get("date") is not None:
        return Point(_date(given["date"], end), None)
    text, zone_name = given.get("dateTime"), given.get("timeZone") or None
    if not isinstance(text, str):
        raise Invalid(f"Missing {end} time.", code="required")
    if zone_name is not None and zone_name not in _zones():
        raise Invalid(f"Invalid time zone definition for {end} time.", code="invalid")
    return Point(_instant(text, zone_name, end), zone_name)


def _date(text: str, end: str) -> str:
    try:
        found = isinstance(text, str) and _DATE.fullmatch(text) and date.fromisoformat(text)
        if found and FIRST.date() <= found <= LAST.date():
            return text
    except ValueError:
        pass
    raise Invalid(
        f"Invalid value for {end}: {str(text)[:60]!r} is not a date (YYYY-MM-DD) between 1900 and 2200.",
        code="invalid",
    )


def _instant(text: str, zone_name: str | None, end: str) -> str:
    found = _DATE_TIME.fullmatch(text)
    if not found:
        hint = " For an all-day event give a date instead." if _DATE.fullmatch(text) else ""
        raise Invalid(
            f"Invalid value for {end}: {text[:60]!r} is not an RFC 3339 date-time such as"
            f" 2025-06-03T10:00:00-07:00.{hint}",
            code="invalid",
        )
    if not found["offset"] and zone_name is None:
        raise Invalid(
            f"Missing time zone definition for {end} time: write {text}-05:00 (with its offset from UTC) or"
            f" {text}Z, or give timeZone, such as 'America/New_York'.",
            code="required",
        )
    try:
        local = datetime.fromisoformat(text.upper()).replace(microsecond=0)
        moment = _utc(text) if found["offset"] else to_utc(local, str(zone_name))
    except (ValueError, OverflowError):
        moment = None
    if moment is None or not FIRST <= moment <= LAST:
        raise Invalid(f"Invalid value for {end}: {text!r} does not exist.", code="invalid")
    return show(moment)


def day_after(day: str) -> str:
    """The date one day later."""
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()
