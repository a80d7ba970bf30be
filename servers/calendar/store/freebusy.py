"""Free and busy times of calendars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from sqlalchemy import and_, bindparam, or_, select, text

from mesocosm.errors import Invalid, NotFound, Refusal
from mesocosm.servers.calendar.models import Attendee, Entry, Event
from mesocosm.servers.calendar.store.calendars import Access, CalendarPart
from mesocosm.servers.calendar.store.event_lists import KEY_COLUMNS
from mesocosm.servers.calendar.store.times import show
from mesocosm.servers.calendar.store.windows import Window, series_of, span

_MAX_CALENDARS = 50
_MAX_FREE_BUSY = timedelta(days=93)

_BUSY = (
    select(
        Entry.event.label("number"),
        Entry.recurring,
        Entry.starts,
        Entry.ends,
        *(Event.__table__.c[name] for name in KEY_COLUMNS),
    )
    .join(Event, Event.number == Entry.event)
    .outerjoin(Attendee, and_(Attendee.event == Entry.event, Attendee.email == bindparam("me")))
    .where(
        Entry.calendar == bindparam("calendar"),
        text("entries.recurring IN (0, 1)"),
        Entry.starts < bindparam("until"),
        Entry.ends > bindparam("since"),
        Entry.cancelled.is_(False),
        Event.transparency == "opaque",
        or_(Attendee.response_status.is_(None), Attendee.response_status != "declined"),
    )
    .order_by(Entry.starts, Entry.event)
)


class FreeBusy(CalendarPart):
    """Free and busy times of calendars."""

    def free_busy(
        self, calendar_ids: Sequence[str], since: datetime, until: datetime
    ) -> dict[str, list[tuple[str, str]] | Refusal]:
        """For each calendar its busy times in a window, merged, as pairs of instants; or why not."""
        if since >= until:
            raise Invalid("The specified time range is empty.", code="timeRangeEmpty")
        if until - since > _MAX_FREE_BUSY:
            raise Invalid("The requested time range is too long.", code="timeRangeTooLong")
        if len(calendar_ids) > _MAX_CALENDARS:
            raise Invalid(f"Give up to {_MAX_CALENDARS} calendars.", code="tooManyCalendarsRequested")
        found: dict[str, list[tuple[str, str]] | Refusal] = {}
        for calendar_id in calendar_ids:
            try:
                access = self.calendar(calendar_id)
            except NotFound as refusal:
                found[calendar_id] = refusal
            else:
                found[calendar_id] = list(self._busy(access, Window(since, until)))
        return found

    def _busy(self, access: Access, window: Window) -> Iterator[tuple[str, str]]:
        spans: list[tuple[str, str]] = []
        first, last = show(window.since), show(window.until)
        rows = self.fetch(_BUSY, me=access.id, calendar=access.number, since=first, until=last)
        own = self.store.lists.exceptions([row for row in rows if row["recurring"]])
        for row in rows:
            if row["recurring"]:
                series = series_of(row, access.time_zone)
                spans += [
                    (show(i.start), show(i.end))
                    for i in series.between(window.since, window.until)
                    if (row["number"], span(i, series)[0]) not in own
                ]
            else:
                spans.append((row["starts"], row["ends"]))
        return _merged(spans, first, last)


def _merged(spans: list[tuple[str, str]], since: str, until: str) -> Iterator[tuple[str, str]]:
    """Overlapping and touching spans as one, cut to the window."""
    current: tuple[str, str] | None = None
    for start, end in sorted((max(start, since), min(end, until)) for start, end in spans):
        if start >= end:
            continue
        if current and start <= current[1]:
            current = (current[0], max(current[1], end))
            continue
        if current:
            yield current
        current = (start, end)
    if current:
        yield current
