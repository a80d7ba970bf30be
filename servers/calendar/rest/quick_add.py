"""An event out of a sentence: ``Lunch with Bob tomorrow 12-1pm``."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from typing import Any

from mesocosm.errors import Invalid

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS)
_WEEKDAY = "|".join(f"{day[:3]}(?:{day[3:]})?" for day in _DAYS)
_CLOCK = r"(\d{1,2})(?::(\d\d))?\s*(am|pm)?"
_RANGE = re.compile(rf"\b(?:from |at )?{_CLOCK}\s*(?:-|–|to|until)\s*{_CLOCK}(?!\w)", re.IGNORECASE)
_AT = re.compile(r"\b(?:at )(\d{1,2})(?::(\d\d))?\s*(am|pm)?(?!\w)", re.IGNORECASE)
_BARE = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s*(am|pm)\b|\b(\d{1,2}):(\d\d)\b", re.IGNORECASE)
_DATES = (
    re.compile(r"\b(?:on )?(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)\b"),
    re.compile(
        rf"\b(?:on )?(?P<name>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<year>\d{{4}}))?\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:on )?(?P<month>\d{1,2})/(?P<day>\d{1,2})(?:/(?P<year>\d{4}))?\b"),
    re.compile(r"\b(?P<word>today|tonight|tomorrow)\b", re.IGNORECASE),
    re.compile(rf"\b(?:on |next |this )?(?P<weekday>{_WEEKDAY})\b", re.IGNORECASE),
)


def event_of(text: str, now: datetime) -> dict[str, Any]:
    """The title and the times of an event that a sentence tells of, by the clock of its calendar.

    Without a time it lasts the whole day, without a day it is today, or tomorrow where the time is over;
    without both it begins now and lasts an hour.
    """
    rest, clock = _taken_times(text)
    rest, day = _taken_day(rest, now.date())
    summary = " ".join(rest.split()).strip(" ,") or text.strip()
    if clock is None and day is None:
        start = now.replace(second=0, microsecond=0)
        return {"summary": summary, **_timed(start, start + timedelta(hours=1))}
    if clock is None:
        assert day
        return {
            "summary": summary,
            "start": {"date": f"{day}"},
            "end": {"date": f"{day + timedelta(days=1)}"},
        }
    start = datetime.combine(day or now.date(), clock[0])
    if day is None and start <= now:
        start += timedelta(days=1)
    end = datetime.combine(start.date(), clock[1]) if clock[1] else start + timedelta(hours=1)
    return {"summary": summary, **_timed(start, end if end > start else end + timedelta(days=1))}


def _timed(start: datetime, end: datetime) -> dict[str, Any]:
    return {"start": {"dateTime": start.isoformat()}, "end": {"dateTime": end.isoformat()}}


def _taken_times(text: str) -> tuple[str, tuple[time, time | None] | None]:
    # A date in digits looks like a range of times.
    without = re.sub(r"\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}(/\d{4})?", lambda found: "x" * len(found[0]), text)
    if found := _RANGE.search(without):
        half = found[3] or found[6]
        first = _clock(found[1], found[2], half if found[3] or int(found[1]) <= int(found[4]) else None)
        times: tuple[time, time | None] = first, _clock(found[4], found[5], found[6] or half)
    elif found := _AT.search(without):
        times = _clock(found[1], found[2], found[3]), None
    elif found := _BARE.search(without):
        times = _clock(found[1] or found[4], found[2] or found[5], found[3]), None
    else:
        return text, None
    return text[: found.start()] + text[found.end() :], times


def _clock(hour: str, minute: str | None, half: str | None) -> time:
    number = int(hour) % 12 + 12 * (half.lower() == "pm") if half else int(hour)
    try:
        return time(number, int(minute or 0))
    except ValueError:
        raise Invalid(
            f"Invalid value for text: {hour}:{minute or '00'} is no time.", code="invalid"
        ) from None


def _taken_day(text: str, today: date) -> tuple[str, date | None]:
    for pattern in _DATES:
        if found := pattern.search(text):
            return text[: found.start()] + text[found.end() :], _day(found.groupdict(), today)
    return text, None


def _day(parts: dict[str, str | None], today: date) -> date:
    if word := parts.get("word"):
        return today + timedelta(days=word.lower() == "tomorrow")
    if weekday := parts.get("weekday"):
        number = next(n for n, day in enumerate(_DAYS) if day.startswith(weekday.lower()[:3]))
        return today + timedelta(days=(number - today.weekday()) % 7 or 7)
    named = parts.get("name")
    month = (
        next(n for n, one in enumerate(_MONTHS, 1) if one.startswith(named.lower()[:3]))
        if named
        else int(parts["month"] or 0)
    )
    try:
        found = date(int(parts["year"] or today.year), month, int(parts["day"] or 0))
        return found if parts["year"] or found >= today else found.replace(year=today.year + 1)
    except ValueError:
        raise Invalid("Invalid value for text: there is no such day.", code="invalid") from None
