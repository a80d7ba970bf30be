"""Reading events: one, a window of a calendar, the instances of a series, what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import cache
from heapq import merge
from itertools import islice
from typing import Any

from sqlalchemy import Integer, Select, bindparam, case, func, literal_column, select, text, tuple_
from sqlalchemy.orm import aliased

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.calendar.models import Account, Attendee, Calendar, Entry, Event
from mesocosm.servers.calendar.store.calendars import (
    Access,
    CalendarPart,
    as_list,
    one_of,
    page_limit,
    storable,
)
from mesocosm.servers.calendar.store.times import FIRST, midnight, read, show
from mesocosm.servers.calendar.store.windows import (
    START,
    EventPage,
    Key,
    Occurrence,
    Order,
    Window,
    as_fits,
    cursor_of,
    instance_at,
    instance_id,
    key_of,
    occurrence,
    page_token,
    read_sync_token,
    series_of,
    span,
    words,
)
from mesocosm.services.service import Row

_Organizer, _Owner, _Creator, _Master = aliased(Calendar), aliased(Account), aliased(Account), aliased(Event)
_FULL = (
    select(
        *[column for column in Event.__table__.c if column.name != "people"],
        Entry.cancelled,
        Entry.color_id,
        Entry.reminders,
        Entry.private_properties,
        Entry.updated,
        Entry.revision,
        func.coalesce(Event.foreign_organizer, _Organizer.id).label("organizer"),
        case(
            (Event.foreign_organizer.is_not(None), Event.foreign_organizer_name),
            (_Organizer.primary, _Owner.name),
            else_=_Organizer.summary,
        ).label("organizer_name"),
        _Creator.name.label("creator_name"),
        _Master.id.label("series_id"),
    )
    .join(Entry, Entry.event == Event.number)
    .join(_Organizer, _Organizer.number == Event.calendar)
    .join(_Owner, _Owner.email == _Organizer.owner)
    .outerjoin(_Creator, _Creator.email == Event.creator)
    .outerjoin(_Master, _Master.number == Event.series)
    .where(Entry.calendar == bindparam("calendar"))
)
_BY_ID = _FULL.where(Event.id == bindparam("id"))
_OF_UID = select(Event.id).where(
    Event.ical_uid == bindparam("uid"),
    Event.series.is_(None),
    Event.number == Entry.event,
    Entry.calendar == bindparam("calendar"),
)
_BY_NUMBERS = _FULL.where(Event.number.in_(one_of("numbers")))
_ATTENDEES = (
    select(*Attendee.__table__.c)
    .where(Attendee.event.in_(one_of("events")))
    .order_by(Attendee.event, Attendee.id)
)
_EXCEPTIONS = select(Event.series, Event.original_start).where(Event.series.in_(one_of("masters")))
_MATCHING = text("SELECT rowid FROM events_text WHERE events_text MATCH :words").columns(rowid=Integer)
_REVISION = select(func.coalesce(func.max(Entry.revision), 0).label("last")).where(
    Entry.calendar == bindparam("calendar")
)
_CHANGED = (
    select(Entry.event, Entry.revision)
    .where(Entry.calendar == bindparam("calendar"), Entry.revision > bindparam("after"))
    .order_by(Entry.revision)
    .limit(bindparam("limit"))
)


_HAVING = [
    text(
        f"NOT EXISTS (SELECT 1 FROM json_each(:{kind}) AS wanted WHERE NOT EXISTS (SELECT 1 FROM"
        f" json_each({table}.{kind}_properties) AS own"
        " WHERE own.key = wanted.value ->> 0 AND own.value = wanted.value ->> 1))"
    )
    for kind, table in (("private", "entries"), ("shared", "events"))
]
"""All wanted properties, which are pairs in a JSON list, are among the event's own."""


@cache
def _keys(
    order: Order,
    recurring: bool | None,
    searching: bool,
    hiding: bool,
    of_series: bool,
    properties: bool,
    of_types: bool,
) -> Select[Any]:
    """Events of a calendar in a window, after a cursor; recurring ones, others or (``None``) both."""
    by = {"startTime": Entry.starts, "updated": Entry.updated, "none": literal_column("''")}[order]
    statement = (
        select(
            by.label("order"),
            Entry.event.label("number"),
            Entry.recurring,
            *(Event.__table__.c[name] for name in KEY_COLUMNS),
        )
        .join(Event, Event.number == Entry.event)
        .where(
            Entry.calendar == bindparam("calendar"),
            Entry.starts < bindparam("until"),
            Entry.ends > bindparam("since"),
            Entry.cancelled <= bindparam("deleted"),
            Entry.updated >= bindparam("updated_min"),
            tuple_(by, Entry.event) >= tuple_(bindparam("order"), bindparam("number")),
        )
        .order_by(by, Entry.event)
        .limit(bindparam("limit"))
    )
    if recurring is not None:
        statement = statement.where(Entry.recurring.is_(recurring))
    if searching:
        statement = statement.where(Entry.event.in_(_MATCHING))
    if hiding:
        statement = statement.where(Event.visibility.in_(("default", "public")))
    if properties:
        statement = statement.where(*_HAVING)
    if of_types:
        statement = statement.where(Event.event_type.in_(one_of("types")))
    return statement.where(Event.series == bindparam("series")) if of_series else statement


OWN_UID = "@google.com"
"""Suffix of the ``iCalUID`` of events made here, after their id."""

KEY_COLUMNS = (
    "start_at",
    "end_at",
    "all_day",
    "start_time_zone",
    "recurrence",
    "last_start",
    "original_start",
)


class EventLists(CalendarPart):
    """Listing and reading of events."""

    # -- one event --------------------------------------------------------------------------------------

    def event(self, calendar_id: str, event_id: str) -> tuple[Access, Occurrence]:
        """An event or an instance by id; deleted ones stay, with the status ``cancelled``."""
        access = self.calendar(calendar_id)
        row = self.event_row(access, event_id)
        if row is not None:
            key = Key("", row["number"], row["start_at"], row["end_at"], row["original_start"])
        else:
            key = self._instance(access, event_id)
        return access, self._load(access, [key])[0]

    def event_row(self, access: Access, event_id: str) -> Row | None:
        """The row of an event that is no mere instance."""
        rows = self.fetch(_BY_ID, calendar=access.number, id=event_id) if storable(event_id) else []
        return rows[0] if rows else None

    def event_of_uid(self, access: Access, uid: str) -> str | None:
        """The id of the event that calendars call ``uid`` among themselves, if this one has it."""
        rows = self.fetch(_OF_UID, calendar=access.number, uid=uid) if storable(uid) else []
        if rows:
            return str(rows[0]["id"])
        row = self.event_row(access, uid.removesuffix(OWN_UID)) if uid.endswith(OWN_UID) else None
        return None if row is None or row["ical_uid"] else str(row["id"])

    def _instance(self, access: Access, event_id: str) -> Key:
        base, _, original = event_id.rpartition("_")
        row = self.event_row(access, base) if base else None
        if row is not None and row["recurrence"]:
            series = series_of(row, access.time_zone)
            found = instance_at(series, original)
            if found:
                return Key("", row["number"], *span(found, series), span(found, series)[0])
        raise NotFound(f"Not Found: no event {event_id[:100]!r} on this calendar.", code="notFound")

    def is_instance(self, access: Access, row: Row, original: str) -> bool:
        """True if the series has an instance that starts at the time in an instance's id."""
        return instance_at(series_of(row, access.time_zone), original) is not None

    # -- a window ---------------------------------------------------------------------------------------

    def list_events(self, calendar_id: str, window: Window) -> EventPage:
        """One page of the events of a calendar that overlap a window."""
        access = self.calendar(calendar_id)
        if window.since >= window.until:
            raise Invalid("The specified time range is empty.", code="timeRangeEmpty")
        if window.order == "startTime" and not window.single:
            raise Invalid(
                "The requested ordering is not available for the particular query.", code="badRequest"
            )
        limit, cursor = page_limit(window.limit), cursor_of(window)
        keys = list(islice(self._ordered(access, window, cursor, limit), limit + 1))
        items = self._load(access, keys[:limit])
        kept = as_fits(items)
        next_token = page_token(keys[kept]) if kept < len(keys) else None
        return EventPage(access, items[:kept], next_token, None if next_token else self._sync_token(access))

    def instances(self, calendar_id: str, event_id: str, window: Window) -> EventPage:
        """One page of the instances of a recurring event that overlap a window."""
        access, row = self._series(calendar_id, event_id, window)
        limit, cursor = page_limit(window.limit), cursor_of(window)
        changed = self._singles(access, window, cursor, limit, series=row["number"])
        given = iter(()) if row["cancelled"] else self._expanded(access, [row], window, cursor)
        keys = list(islice(merge(changed, given), limit + 1))
        items = self._load(access, keys[:limit])
        kept = as_fits(items)
        return EventPage(access, items[:kept], page_token(keys[kept]) if kept < len(keys) else None)

    def instance(self, calendar_id: str, event_id: str, original: str, window: Window) -> EventPage:
        """The instance of a recurring event that starts by the rule at ``original``, if it is in a window.

        ``original`` is an instant or, of all-day events, a date, as the tables would keep it.
        """
        access, row = self._series(calendar_id, event_id, window)
        try:
            _, found = self.event(access.id, instance_id(row["id"], original))
        except NotFound:
            return EventPage(access, [], None)
        starts, ends = (
            midnight(at, access.time_zone) if found.row["all_day"] else at for at in (found.start, found.end)
        )
        inside = starts < show(window.until) and ends > show(window.since)
        kept = inside and (window.deleted or not found.row["cancelled"])
        return EventPage(access, [found] if kept else [], None)

    def _series(self, calendar_id: str, event_id: str, window: Window) -> tuple[Access, Row]:
        """A recurring event of which a window is wanted."""
        access = self.calendar(calendar_id)
        row = self.event_row(access, event_id)
        if row is None:
            raise NotFound(f"Not Found: no event {event_id[:100]!r} on this calendar.", code="notFound")
        if not row["recurrence"]:
            raise Invalid(f"Event {event_id} is not a recurring event.", code="invalid")
        if window.since >= window.until:
            raise Invalid("The specified time range is empty.", code="timeRangeEmpty")
        return access, row

    def _ordered(self, access: Access, window: Window, cursor: Key, limit: int) -> Iterator[Key]:
        if (window.text is not None or window.private or window.shared) and not access.may("reader"):
            return iter(())
        if not window.single:
            return self._singles(access, window, cursor, limit, recurring=None)
        if window.order == "startTime":
            masters = self._select(access, window, START, -1, recurring=True)
            return merge(
                self._singles(access, window, cursor, limit), self._expanded(access, masters, window, cursor)
            )
        return self._by_change(access, window, cursor)

    def _singles(
        self,
        access: Access,
        window: Window,
        cursor: Key,
        limit: int,
        *,
        recurring: bool | None = False,
        series: int | None = None,
    ) -> Iterator[Key]:
        """Events as they stand in the tables."""
        for row in self._select(access, window, cursor, limit + 2, recurring=recurring, series=series):
            key = key_of(row)
            if key >= cursor:
                yield key

    def _expanded(self, access: Access, masters: Sequence[Row], window: Window, cursor: Key) -> Iterator[Key]:
        """The instances of recurring events, except those that have rows of their own, by start."""
        own = self.exceptions(masters)
        # What starts before the cursor was on an earlier page.
        first = read(cursor.order) if cursor.order else FIRST
        return merge(*(self._instances(access, m, window, own, first, cursor) for m in masters))

    def _instances(
        self,
        access: Access,
        master: Row,
        window: Window,
        own: frozenset[tuple[int, str]],
        first: datetime = FIRST,
        cursor: Key = START,
        order: str | None = None,
    ) -> Iterator[Key]:
        series = series_of(master, access.time_zone)
        since = max(window.since, first - timedelta(seconds=1)) if first > FIRST else window.since
        for instance in series.between(since, window.until):
            start, end = span(instance, series)
            key = Key(order or show(instance.start), master["number"], start, end, start)
            if key >= cursor and (master["number"], start) not in own:
                yield key

    def _by_change(self, access: Access, window: Window, cursor: Key) -> Iterator[Key]:
        """Single events and instances in the order of their last change."""
        chunk, position = 500, cursor
        while True:
            rows = self._select(access, window, position, chunk, recurring=None)
            own = self.exceptions([row for row in rows if row["recurring"]])
            for row in rows:
                if not row["recurring"]:
                    yield from (key for key in (key_of(row),) if key >= cursor)
                else:
                    yield from self._instances(access, row, window, own, cursor=cursor, order=row["order"])
            if len(rows) < chunk:
                return
            position = Key(rows[-1]["order"], rows[-1]["number"] + 1, "")

    def exceptions(self, masters: Sequence[Row]) -> frozenset[tuple[int, str]]:
        """(series, original start) of the instances that have rows of their own."""
        numbers = [master["number"] for master in masters]
        rows = self.fetch(_EXCEPTIONS, masters=as_list(numbers)) if numbers else []
        return frozenset((row["series"], row["original_start"]) for row in rows)

    def _select(
        self,
        access: Access,
        window: Window,
        cursor: Key,
        limit: int,
        *,
        recurring: bool | None,
        series: int | None = None,
    ) -> Sequence[Row]:
        parameters: dict[str, Any] = {} if series is None else {"series": series}
        if window.text is not None:
            parameters["words"] = words(window.text)
        properties = bool(window.private or window.shared)
        if properties:
            parameters |= {"private": as_list(window.private), "shared": as_list(window.shared)}
        if window.types:
            parameters["types"] = as_list(window.types)
        hiding = (properties or window.text is not None) and not access.may("writer")
        return self.fetch(
            _keys(
                window.order,
                recurring,
                window.text is not None,
                hiding,
                series is not None,
                properties,
                bool(window.types),
            ),
            calendar=access.number,
            since=show(window.since),
            until=show(window.until),
            deleted=window.deleted,
            updated_min=window.updated_min,
            order=cursor.order,
            number=cursor.number,
            limit=limit,
            **parameters,
        )

    def _load(self, access: Access, keys: Sequence[Key]) -> list[Occurrence]:
        numbers = sorted({key.number for key in keys})
        if not numbers:
            return []
        found = self.fetch(_BY_NUMBERS, calendar=access.number, numbers=as_list(numbers))
        rows = {row["number"]: row for row in found}
        attendees: dict[int, list[Row]] = {}
        for attendee in self.fetch(_ATTENDEES, events=as_list(numbers)):
            attendees.setdefault(attendee["event"], []).append(attendee)
        return [occurrence(key, rows[key.number], attendees.get(key.number, ())) for key in keys]

    # -- what changed -----------------------------------------------------------------------------------

    def changed_events(self, calendar_id: str, sync_token: str, limit: int | None = None) -> EventPage:
        """Events (recurring ones as such, deleted ones as ``cancelled``) that changed since a sync token.

        While there is a ``next_token``, it is the sync token to go on with.
        """
        access = self.calendar(calendar_id)
        size, after = page_limit(limit), read_sync_token(sync_token)
        rows = self.fetch(_CHANGED, calendar=access.number, after=after, limit=size + 1)
        numbers = [row["event"] for row in rows[:size]]
        found = self.fetch(_BY_NUMBERS, calendar=access.number, numbers=as_list(numbers)) if numbers else []
        events = {row["number"]: row for row in found}
        keys = [
            Key("", n, events[n]["start_at"], events[n]["end_at"], events[n]["original_start"])
            for n in numbers
        ]
        more = len(rows) > size
        next_token = f"s{rows[size - 1]['revision']}" if more else None
        return EventPage(
            access, self._load(access, keys), next_token, None if more else self._sync_token(access)
        )

    def _sync_token(self, access: Access) -> str:
        return f"s{self.fetch(_REVISION, calendar=access.number)[0]['last']}"
