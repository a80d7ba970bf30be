"""Recurring events: RRULE, RDATE and EXDATE lines, and the instances that they give.

A rule is expanded by python-dateutil in the local time of its series, so that nine o'clock stays nine
o'clock when clocks change. All datetimes here are naive; names say whether they are local or UTC.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from heapq import merge
from itertools import islice
from typing import Any, Literal, NamedTuple

from dateutil.rrule import DAILY, MONTHLY, WEEKLY, YEARLY, rrule, weekday

from mesocosm.errors import Invalid
from mesocosm.servers.calendar.store.times import FIRST, LAST, known_zone, show, to_local, to_utc
from mesocosm.worlds import deadlines

MAX_COUNT = 10_000
_MAX_LINES = 100
_MAX_DATES = 2_000
_LATEST = 9_599
_PATIENCE = timedelta(days=40 * 366)
"""A rule must give something within this time: 29 February of a common century's end is 8 years off."""

Frequency = Literal[0, 1, 2, 3]
"""Of dateutil: yearly, monthly, weekly, daily."""
_FREQUENCIES: dict[str, Frequency] = {"DAILY": DAILY, "WEEKLY": WEEKLY, "MONTHLY": MONTHLY, "YEARLY": YEARLY}
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_NUMBERS = {
    "BYMONTH": (1, 12),
    "BYMONTHDAY": (1, 31),
    "BYYEARDAY": (1, 366),
    "BYWEEKNO": (1, 53),
    "BYSETPOS": (1, 366),
}
_LARGEST_SET = {"DAILY": 1, "WEEKLY": 7, "MONTHLY": 31, "YEARLY": 366}
_BYDAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_LINE = re.compile(r"(RRULE|RDATE|EXDATE)((?:;[A-Z-]+=[^:;]+)*):(.+)", re.ASCII)
_STAMP = re.compile(r"(\d{8})(?:T(\d{6})(Z)?)?", re.ASCII)


@dataclass(frozen=True)
class Rule:
    """An RRULE line."""

    frequency: Frequency
    interval: int
    count: int | None
    until: str | None
    """As written: whether it is UTC, local or a date."""
    by: tuple[tuple[str, Any], ...]
    """Further keyword arguments of dateutil's ``rrule``."""


class Lines(NamedTuple):
    """The recurrence of one event, with its dates in local time."""

    rule: Rule | None
    until: datetime | None
    added: tuple[datetime, ...]
    removed: frozenset[datetime]


class Instance(NamedTuple):
    """One occurrence of a series."""

    start: datetime
    end: datetime
    """Naive UTC, like the start."""
    local: datetime


def _invalid(why: str) -> Invalid:
    return Invalid(f"Invalid recurrence rule: {why}.", code="invalid")


# -- reading the lines ----------------------------------------------------------------------------------


@lru_cache(1024)
def _read_rule(text: str) -> Rule:
    parts: dict[str, str] = {}
    for part in text.split(";"):
        name, _, value = part.partition("=")
        if not value or name in parts:
            raise _invalid(f"{part[:40]!r} in the RRULE")
        parts[name] = value
    frequency = parts.pop("FREQ", "")
    if frequency not in _FREQUENCIES:
        raise _invalid(f"FREQ must be one of {', '.join(_FREQUENCIES)}")
    interval = _whole("INTERVAL", parts.pop("INTERVAL", "1"), 1, 1000)
    count, until = parts.pop("COUNT", None), parts.pop("UNTIL", None)
    if count is not None and until is not None:
        raise _invalid("COUNT and UNTIL exclude each other")
    by = dict(_selectors(frequency, parts))
    _refuse_impossible(frequency, by)
    return Rule(
        frequency=_FREQUENCIES[frequency],
        interval=interval,
        count=None if count is None else _whole("COUNT", count, 1, MAX_COUNT),
        until=until,
        by=tuple(by.items()),
    )


def _selectors(frequency: str, parts: dict[str, str]) -> Iterator[tuple[str, Any]]:
    """The WKST and BY... parts as dateutil takes them."""
    for name, value in parts.items():
        if name == "WKST" and value in _WEEKDAYS:
            yield "wkst", _WEEKDAYS.index(value)
        elif name == "BYDAY":
            yield "byweekday", tuple(_weekday(frequency, day) for day in value.split(","))
        elif name in _NUMBERS and _allowed(frequency, name):
            low, high = _NUMBERS[name]
            numbers = tuple(
                _whole(name, n, -high if name != "BYMONTH" else 1, high) for n in value.split(",")
            )
            if low == 1 and 0 in numbers:
                raise _invalid(f"{name} cannot be 0")
            yield name.lower(), numbers
        else:
            raise _invalid(f"{name[:20]}={value[:20]} is not supported with FREQ={frequency}")
    if "BYSETPOS" in parts and not any(n.startswith("BY") and n != "BYSETPOS" for n in parts):
        raise _invalid("BYSETPOS needs another BY part")


def _refuse_impossible(frequency: str, by: dict[str, Any]) -> None:
    """dateutil would look for a date of an impossible rule up to the year 9999, which takes seconds."""
    longest = max(monthrange(2024, month)[1] for month in by.get("bymonth", range(1, 13)))
    if all(abs(day) > longest for day in by.get("bymonthday", (1,))):
        raise _invalid("no month has such a day")
    if all(abs(position) > _LARGEST_SET[frequency] for position in by.get("bysetpos", (1,))):
        raise _invalid(f"BYSETPOS is too large for FREQ={frequency}")
    in_months = frequency == "MONTHLY" or "bymonth" in by
    if in_months and any(abs(day.n or 1) > 5 for day in by.get("byweekday", ())):
        raise _invalid("no month has so many of a weekday")


def _allowed(frequency: str, name: str) -> bool:
    if name in ("BYYEARDAY", "BYWEEKNO"):
        return frequency == "YEARLY"
    return not (name == "BYMONTHDAY" and frequency == "WEEKLY")


def _weekday(frequency: str, text: str) -> weekday:
    found = _BYDAY.fullmatch(text)
    if not found:
        raise _invalid(f"{text[:20]!r} in BYDAY")
    if not found[1]:
        return weekday(_WEEKDAYS.index(found[2]))
    if frequency not in ("MONTHLY", "YEARLY") or not 1 <= abs(int(found[1])) <= 53:
        raise _invalid(f"{text!r} in BYDAY of FREQ={frequency}")
    return weekday(_WEEKDAYS.index(found[2]), int(found[1]))


def _whole(name: str, text: str, low: int, high: int) -> int:
    if not re.fullmatch(r"[+-]?\d{1,5}", text, re.ASCII) or not low <= int(text) <= high:
        raise _invalid(f"{name}={text[:20]} must be a number from {low} to {high}")
    return int(text)


@lru_cache(2048)
def _read_lines(text: str, all_day: bool, zone: str) -> Lines:
    rule, until = None, None
    added: list[datetime] = []
    removed: list[datetime] = []
    for line in text.split("\n"):
        found = _LINE.fullmatch(line)
        if not found:
            raise _invalid(f"{line[:60]!r} is not an RRULE, RDATE or EXDATE line of RFC 5545")
        kind, parameters, value = found.groups()
        if kind != "RRULE":
            dates = _dates(parameters, value, all_day, zone)
            (added if kind == "RDATE" else removed).extend(dates)
        elif rule is not None or parameters:
            raise _invalid("one RRULE line without parameters is supported")
        else:
            rule = _read_rule(value.removesuffix(";"))
            until = _until(rule.until, all_day, zone) if rule.until else None
    if len(added) + len(removed) > _MAX_DATES:
        raise _invalid(f"at most {_MAX_DATES} dates")
    return Lines(rule, until, tuple(sorted(set(added))), frozenset(removed))


def _dates(parameters: str, value: str, all_day: bool, zone: str) -> Iterator[datetime]:
    given = dict(part.split("=", 1) for part in parameters.split(";")[1:])
    if given.pop("VALUE", "DATE" if all_day else "DATE-TIME") != ("DATE" if all_day else "DATE-TIME"):
        raise _invalid("dates and date-times of the event and its recurrence must match")
    written_in = known_zone(given.pop("TZID", zone))
    if given:
        raise _invalid(f"the parameter {next(iter(given))[:20]}")
    for text in value.split(","):
        local, is_date, is_utc = _stamp(text)
        if is_date != all_day:
            raise _invalid("dates and date-times of the event and its recurrence must match")
        if not is_date and (is_utc or written_in != zone):
            local = to_local(local if is_utc else to_utc(local, written_in), zone)
        yield local


def _stamp(text: str) -> tuple[datetime, bool, bool]:
    found = _STAMP.fullmatch(text)
    try:
        if not found:
            raise ValueError
        moment = datetime.fromisoformat(f"{found[1]}T{found[2] or '000000'}")
    except ValueError:
        raise _invalid(f"{text[:30]!r} is not a date or date-time such as 20250120T090000Z") from None
    if not FIRST + timedelta(days=2) <= moment <= LAST - timedelta(days=2):
        moment = LAST - timedelta(days=2) if moment > FIRST + timedelta(days=2) else FIRST + timedelta(days=2)
    return moment, found[2] is None, found[3] is not None


def _until(text: str, all_day: bool, zone: str) -> datetime:
    """The last local moment that a rule's UNTIL allows."""
    moment, is_date, is_utc = _stamp(text)
    if is_date:
        return moment if all_day else moment + timedelta(days=1, seconds=-1)
    if all_day:
        raise _invalid("UNTIL of an all-day event must be a date")
    return to_local(moment, zone) if is_utc else moment


# -- giving the instances -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Series:
    """Recurrence of an event: everything that determines its instances."""

    start: datetime
    """Local start of the first."""
    length: timedelta
    all_day: bool
    zone: str
    """Zone: the event's, or that of the calendar that shows an all-day event."""
    lines: str
    last: datetime | None = None
    """Local start of the last that the rule gives, once known."""
    parsed: Lines = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parsed", _read_lines(self.lines, self.all_day, self.zone))

    def between(self, since: datetime, until: datetime) -> Iterator[Instance]:
        """Instances that overlap a window of UTC moments (both ends exclusive), by start."""
        # Local time may be ahead or behind by most of a day; what is too early is dropped below.
        margin = timedelta(days=1)
        frm, to = since - self.length - margin, until + margin
        for local in self._local(frm, to):
            start = to_utc(local, self.zone)
            # Days are counted by the calendar, hours by the clock: that differs when clocks change.
            end = to_utc(local + self.length, self.zone) if self.all_day else start + self.length
            if start >= until:
                return
            if end > since:
                yield Instance(start, end, local)

    def at(self, local: datetime) -> Iterator[Instance]:
        """The instance that starts at this local time, if there is one."""
        for found in self._local(local, local):
            start = to_utc(found, self.zone)
            end = to_utc(found + self.length, self.zone) if self.all_day else start + self.length
            yield Instance(start, end, found)

    def _local(self, frm: datetime, to: datetime) -> Iterator[datetime]:
        lines = self.parsed
        extra = [d for d in lines.added if frm <= d <= to]
        if lines.rule is None and frm <= self.start <= to:
            extra.append(self.start)
        given = self._ruled(lines.rule, frm, to) if lines.rule else iter(())
        previous = None
        for local in merge(given, sorted(extra)):
            if local != previous and local not in lines.removed:
                yield local
            previous = local

    def _ruled(self, rule: Rule, frm: datetime, to: datetime) -> Iterator[datetime]:
        """Yield the rule's dates in a closed range of local time, without counting from the first."""
        return self._dated(rule, frm, min(to, self.last or LAST, self.parsed.until or LAST))

    def _dated(self, rule: Rule, frm: datetime, end: datetime | None) -> Iterator[datetime]:
        by = dict(rule.by)
        anchor = self.start
        if rule.frequency == WEEKLY:
            by.setdefault("byweekday", self.start.weekday())
            step = timedelta(weeks=rule.interval)
            anchor += step * max(0, (frm - self.start) // step - 1)
        elif rule.frequency == DAILY:
            step = timedelta(days=rule.interval)
            anchor += step * max(0, (frm - self.start) // step - 1)
        elif rule.frequency == MONTHLY:
            if "byweekday" not in by and "bymonthday" not in by:
                by["bymonthday"] = self.start.day
            months = (frm.year - self.start.year) * 12 + frm.month - self.start.month
            months = self.start.month - 1 + rule.interval * max(0, months // rule.interval - 1)
            anchor = self.start.replace(year=self.start.year + months // 12, month=months % 12 + 1, day=1)
        for local in rrule(rule.frequency, dtstart=anchor, interval=rule.interval, until=end, **by):
            deadlines.check()
            if local >= self.start and local >= frm:
                yield local

    def gives_nothing(self) -> bool:
        """True if the rule gives no date in 400 years, after which calendars repeat.

        dateutil looks for the first date up to the year 9999, all in one go: so it is asked from a year on
        from which that is not far.
        """
        rule = self.parsed.rule
        later = (_LATEST - self.start.year) // 400 * 400
        if rule is None:
            return False
        if later > 0 and (rule.frequency != YEARLY or 400 % rule.interval == 0):
            start = self.start.replace(year=self.start.year + later)
            soon = Series(start, self.length, self.all_day, self.zone, self.lines)
            return next(soon._dated(rule, start, None), None) is None
        return next(self._dated(rule, self.start, None), None) is None


def check(series: Series) -> datetime | None:
    """The local start of the last instance by the rule, ``None`` if it goes on for ever.

    Raises ``Invalid`` if the rule gives no instance at all.
    """
    lines = series.parsed
    if series.gives_nothing():
        raise _invalid("it gives no instance")
    last = lines.until
    if lines.rule and lines.rule.count is not None:
        *_, last = [series.start, *islice(series._ruled(lines.rule, series.start, LAST), lines.rule.count)]
    whole = Series(series.start, series.length, series.all_day, series.zone, series.lines, last)
    patience = LAST if lines.rule and lines.rule.frequency == YEARLY else series.start + _PATIENCE
    if next(whole._local(FIRST, min(patience, LAST)), None) is None:
        raise _invalid("it gives no instance")
    return last if lines.rule else series.start


def end_of(series: Series) -> str | None:
    """The instant at which the last instance ends, ``None`` if there is no last."""
    if series.last is None:
        return None
    last = max(series.last, *series.parsed.added, series.start)
    return show(to_utc(last, series.zone) + series.length)


def joined(lines: Sequence[str]) -> str:
    """Recurrence lines as one text, each checked for its size only."""
    if len(lines) > _MAX_LINES or sum(map(len, lines)) > 50_000:
        raise _invalid("too many lines")
    if any("\n" in line for line in lines):
        raise _invalid("a line contains a line break")
    return "\n".join(line.strip() for line in lines)
