"""Moments and spans of time as people write them, and what a reader makes of the words.

What is written here is read back here: each expression has exactly one meaning for whoever knows when it was
written, by two rules that prompts state. A weekday without a date is the next one after the day of writing;
an hour without a.m. or p.m. lies between eight in the morning and seven in the evening.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Literal

Level = Literal["explicit", "described", "referring", "spread"]

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
NUMBERS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_DAWN, _DUSK = 8, 19
"""Hours that are written without a.m. or p.m."""
_DAY, _HOUR, _MINUTE = dt.timedelta(days=1), dt.timedelta(hours=1), dt.timedelta(minutes=1)
_NEAR = 6
"""So many days ahead a weekday is enough."""


class UnreadableMoment(ValueError):
    """Words that name no moment, or no span of time."""


def moment_in_words(moment: dt.datetime, written: dt.datetime, level: Level) -> str:
    """Return a moment as the level has it: "Friday, March 13, at 5 p.m." or "Friday at 5"."""
    day = day_in_words(moment.date(), written, level)
    comma = "," if "," in day else ""
    return f"{day}{comma} at {time_in_words(moment.time(), level)}"


def day_in_words(day: dt.date, written: dt.datetime, level: Level) -> str:
    """Return a day as the level has it; far ones with their date at any level."""
    ahead = (day - written.date()).days
    name = DAYS[day.weekday()]
    if level != "explicit":
        if ahead in (0, 1):
            return ("today", "tomorrow")[ahead]
        if 1 < ahead <= _NEAR:
            return name
    return f"{name}, {MONTHS[day.month - 1]} {day.day}"


def time_in_words(time: dt.time, level: Level) -> str:
    """Return a time of day: "5 p.m.", or "5" where that can only be one."""
    if (time.hour, time.minute) == (12, 0):
        return "noon"
    minutes = f":{time.minute:02}" if time.minute else ""
    clock = f"{time.hour % 12 or 12}{minutes}"
    if level != "explicit" and (_DAWN, 0) <= (time.hour, time.minute) <= (_DUSK, 0):
        return clock
    return f"{clock} {'a.m.' if time.hour < 12 else 'p.m.'}"


_TIME = re.compile(r"(?P<noon>noon)|(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?: (?P<part>[ap])\.m\.)?")
_DATE = re.compile(r"(?P<name>[A-Z][a-z]+day), (?P<month>[A-Z][a-z]+) (?P<day>\d+)")


def read_time(text: str) -> dt.time:
    """Return the time of day that some words mean."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise UnreadableMoment(f"{text!r} is no time of day")
    if found["noon"]:
        return dt.time(12)
    hour, minute = int(found["hour"]) % 12, int(found["minute"] or 0)
    if found["part"]:
        return dt.time(hour + (12 if found["part"] == "p" else 0), minute)
    return dt.time(hour if hour >= _DAWN else hour + 12, minute)


def read_day(text: str, written: dt.datetime) -> dt.date:
    """Resolve words for a day, relative to when they were written."""
    today = written.date()
    lowered = text.lower()
    if lowered in ("today", "tomorrow"):
        return today + (lowered == "tomorrow") * _DAY
    capital = text[:1].upper() + text[1:]
    if capital in DAYS:
        return today + ((DAYS.index(capital) - today.weekday() - 1) % 7 + 1) * _DAY
    found = _DATE.fullmatch(capital)
    if found is None or found["name"] not in DAYS:
        raise UnreadableMoment(f"{text!r} is no day")
    for ahead in range(400):
        day = today + ahead * _DAY
        fits = MONTHS[day.month - 1] == found["month"] and day.day == int(found["day"])
        if fits:
            if DAYS[day.weekday()] != found["name"]:
                raise UnreadableMoment(f"{text!r} is a {DAYS[day.weekday()]}")
            return day
    raise UnreadableMoment(f"{text!r} does not come within a year")


def read_moment(text: str, written: dt.datetime) -> dt.datetime:
    """Resolve words for a moment, relative to when they were written."""
    day, parted, time = text.rpartition(" at ")
    if not parted:
        raise UnreadableMoment(f"{text!r} is no moment")
    return dt.datetime.combine(read_day(day.removesuffix(","), written), read_time(time))


# -- spans ----------------------------------------------------------------------------------------------


def can_be_said(span: dt.timedelta) -> bool:
    """True if a span is whole days, or at most six hours in halves."""
    size = abs(span)
    return size > 0 * _DAY and (
        size % _DAY == 0 * _DAY or (size <= 6 * _HOUR and size % (30 * _MINUTE) == 0 * _DAY)
    )


def span_in_words(span: dt.timedelta) -> str:
    """Return a span without its direction: "two days", "an hour and a half"."""
    size = abs(span)
    if size % _DAY == 0 * _DAY:
        days = size // _DAY
        if days % 7 == 0:
            return "a week" if days == 7 else f"{_number(days // 7)} weeks"
        return "a day" if days == 1 else f"{_number(days)} days"
    hours, halves = size // _HOUR, (size % _HOUR) // (30 * _MINUTE)
    if not hours:
        return "half an hour"
    whole = "an hour" if hours == 1 else f"{_number(hours)} hours"
    if not halves:
        return whole
    return "an hour and a half" if hours == 1 else f"{_number(hours)} and a half hours"


def shift_in_words(span: dt.timedelta) -> str:
    """Return a span with its direction: "two days later", "an hour earlier"."""
    return f"{span_in_words(span)} {'later' if span > 0 * _DAY else 'earlier'}"


def _number(number: int) -> str:
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


_SPAN = re.compile(
    r"(?P<half>half an hour)"
    r"|(?P<many>an?|[a-z]+|\d+)(?P<and> and a half)? (?P<unit>hour|day|week)s?(?P<after> and a half)?"
)


def read_span(text: str) -> dt.timedelta:
    """Return the span that some words mean, as a positive one."""
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise UnreadableMoment(f"{text!r} is no span of time")
    if found["half"]:
        return 30 * _MINUTE
    many = found["many"]
    number = 1 if many in ("a", "an") else int(many) if many.isdigit() else NUMBERS.index(many)
    unit = {"hour": _HOUR, "day": _DAY, "week": 7 * _DAY}[found["unit"]]
    return number * unit + (unit / 2 if found["and"] or found["after"] else 0 * _DAY)


def read_shift(text: str) -> dt.timedelta:
    """Return the span that some words with a direction mean."""
    size, _, direction = text.strip().rpartition(" ")
    if direction not in ("later", "earlier"):
        raise UnreadableMoment(f"{text!r} has no direction")
    return read_span(size) * (1 if direction == "later" else -1)


def length_in_words(minutes: int) -> str:
    """Return a length of an exam: "90 minutes", "two hours", "two and a half hours"."""
    spoken = minutes % 60 == 0 or (minutes > 120 and minutes % 30 == 0)
    return span_in_words(minutes * _MINUTE) if spoken else f"{minutes} minutes"


def read_length(text: str) -> int:
    """Return the minutes that some words mean."""
    if found := re.fullmatch(r"(\d+) minutes", text.strip()):
        return int(found[1])
    return int(read_span(text) / _MINUTE)
