"""Pages of events: selection, positions, and page tokens."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

import orjson

from mesocosm.errors import Invalid
from mesocosm.servers.calendar.store.calendars import Access, storable
from mesocosm.servers.calendar.store.recurrence import Instance, Series
from mesocosm.servers.calendar.store.times import FIRST, LAST, read, read_date, show, to_local
from mesocosm.services.service import Row

Order = Literal["startTime", "updated", "none"]

_CHARACTERS_OF_A_PAGE = 100_000


@dataclass(frozen=True)
class Window:
    """Range and page size of a listing."""

    since: datetime = FIRST
    until: datetime = LAST
    text: str | None = None
    order: Order = "startTime"
    single: bool = True
    """Expand recurring events into their instances."""
    deleted: bool = False
    limit: int | None = None
    token: str | None = None
    updated_min: str = ""
    series: int | None = None
    private: Sequence[tuple[str, str]] = ()
    """Extended properties (name and value) that are wanted, all of them; ``shared`` likewise."""
    shared: Sequence[tuple[str, str]] = ()
    types: Sequence[str] = ()
    """The types of events that are wanted; without any, all."""


class Key(NamedTuple):
    """Position of an event in a listing, with its id."""

    order: str
    number: int
    start: str
    end: str = ""
    original: str | None = None


START = Key("", 0, "")


@dataclass(frozen=True)
class Occurrence:
    """An event, or an instance of a recurring one, as it stands on a calendar."""

    row: Row
    start: str
    """An instant or a date, like ``end`` and ``original``."""
    end: str
    original: str | None
    is_instance: bool
    """True if it was expanded from the recurring event that ``row`` is."""
    attendees: Sequence[Row]

    @property
    def id(self) -> str:
        """The event's id, with the original start for an instance."""
        if not self.is_instance:
            return str(self.row["id"])
        return instance_id(self.row["id"], self.start)


@dataclass(frozen=True)
class EventPage:
    """One page of events of a calendar."""

    calendar: Access
    items: Sequence[Occurrence]
    next_token: str | None
    sync_token: str | None = None


def instance_id(series: str, original_start: str) -> str:
    """Google's id for an instance of a recurring event."""
    return f"{series}_{original_start.replace('-', '').replace(':', '')}"


def series_of(event: Any, calendar_zone: str) -> Series:
    """The series that a recurring event's row (or ``Event``) describes, as one calendar shows it."""
    last = event["last_start"]
    last_start = None if last is None else datetime.fromisoformat(last)
    if event["all_day"]:
        start, end = read_date(event["start_at"]), read_date(event["end_at"])
        return Series(start, end - start, True, calendar_zone, event["recurrence"], last_start)
    zone = event["start_time_zone"]
    start, end = read(event["start_at"]), read(event["end_at"])
    return Series(to_local(start, zone), end - start, False, zone, event["recurrence"], last_start)


def span(instance: Instance, series: Series) -> tuple[str, str]:
    """Start and end of an instance as the tables would keep them."""
    if series.all_day:
        return instance.local.date().isoformat(), (instance.local + series.length).date().isoformat()
    return show(instance.start), show(instance.end)


def key_of(row: Row) -> Key:
    return Key(row["order"], row["number"], row["start_at"], row["end_at"], row["original_start"])


def occurrence(key: Key, row: Row, attendees: Iterable[Row]) -> Occurrence:
    is_instance = row["recurrence"] is not None and key.original is not None
    return Occurrence(row, key.start, key.end, key.original, is_instance, list(attendees))


def as_fits(items: Sequence[Occurrence]) -> int:
    """Return how many of the events fit on a page of acceptable size; at least one."""
    size = 0
    for count, item in enumerate(items):
        size += 600 + len(item.row["description"] or "") + 120 * len(item.attendees)
        if size > _CHARACTERS_OF_A_PAGE and count:
            return count
    return len(items)


def instance_at(series: Series, original: str) -> Instance | None:
    """The instance that the end of its id speaks of, if the series gives it."""
    form = r"\d{8}" if series.all_day else r"\d{8}T\d{6}Z"
    if not re.fullmatch(form, original, re.ASCII):
        return None
    try:
        moment = datetime.fromisoformat(original.removesuffix("Z"))
    except ValueError:
        return None
    if not FIRST <= moment <= LAST:
        return None
    return next(series.at(moment if series.all_day else to_local(moment, series.zone)), None)


def words(query: str) -> str:
    """Google's free text search: all words (or beginnings of words), in any field; quotes hold a phrase."""
    if not storable(query) or len(query) > 1000:
        raise Invalid("Invalid value for q.", code="invalid")
    terms = [phrase or word for phrase, word in re.findall(r'"([^"]+)"|([^\s"]+)', query)]
    terms = [term for term in terms if re.search(r"\w", term)]
    if not terms:
        raise Invalid("Invalid value for q: it contains no word.", code="invalid")
    return " AND ".join(f'"{term}" *' for term in terms)


def page_token(key: Key) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([key.order, key.number, key.start])).decode().rstrip("=")


def cursor_of(window: Window) -> Key:
    """The first key of the page."""
    if window.token is None:
        return START
    try:
        raw = orjson.loads(
            base64.b64decode(window.token + "=" * (-len(window.token) % 4), b"-_", validate=True)
        )
        order, number, start = raw
        if not (isinstance(order, str) and isinstance(number, int) and isinstance(start, str)):
            raise ValueError
        if (order or window.order != "none") and show(read(order)) != order:
            raise ValueError
        return Key(order, min(number, 2**62), start)
    except (ValueError, TypeError, binascii.Error):
        raise Invalid("Invalid page token value.", code="invalid") from None


def read_sync_token(token: str) -> int:
    if not re.fullmatch(r"s\d{1,15}", token, re.ASCII):
        raise Invalid("Invalid sync token value.", code="invalid")
    return int(token[1:])
