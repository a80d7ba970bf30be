"""Pages of the calendars: by month and week, and each event with its guests."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from zoneinfo import ZoneInfo

import sqlalchemy as sql

from mesocosm.errors import Refusal
from mesocosm.servers.calendar.models import Account, Attendee, Calendar, Entry, Event
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.store.recurrence import Series
from mesocosm.services.views import (
    Asked,
    Block,
    Fields,
    Happening,
    Item,
    Link,
    Message,
    Month,
    Page,
    Row,
    Table,
    View,
    found_in,
)

view = View()


def _places(store: CalendarStore) -> list[Link]:
    counted = store.session.execute(
        sql.select(Calendar.number, Calendar.summary, Calendar.owner, sql.func.count(Entry.id))
        .outerjoin(Entry, sql.and_(Entry.calendar == Calendar.number, ~Entry.cancelled))
        .where(~Calendar.deleted)
        .group_by(Calendar.number)
        .order_by(Calendar.number)
    )
    return [Link(summary or owner, f"calendar/{number}", count) for number, summary, owner, count in counted]


@view.page("")
def first(store: CalendarStore, asked: Asked) -> Page:
    """The calendar with most in it."""
    places = _places(store)
    if not places:
        return Page("Calendar", [Table(["Calendar"], [])])
    fullest = max(places, key=lambda one: one.count or 0)
    return calendar(store, asked, fullest.path.partition("/")[2])


@view.page("calendar/{number}")
def calendar(store: CalendarStore, asked: Asked, number: str) -> Page:
    """A month or a week of a calendar; at first the month in which most happens."""
    found = found_in(store, Calendar, number, "calendar")
    week = asked.options.get("week") == "1"
    day = asked.day("on") or _busiest(store, found.number)
    first = day - dt.timedelta(days=day.weekday()) if week else day.replace(day=1)
    last = first + dt.timedelta(days=7 if week else 38)
    shown = Month(first, list(_between(store, found, first, last)), week, f"calendar/{found.number}")
    return Page(found.summary or found.owner, [shown], _places(store))


def _busiest(store: CalendarStore, calendar: int) -> dt.date:
    month = sql.func.substr(Entry.starts, 1, 7)
    found = store.session.scalar(
        sql.select(month)
        .where(Entry.calendar == calendar, ~Entry.cancelled)
        .group_by(month)
        .order_by(sql.func.count().desc(), month)
        .limit(1)
    )
    return dt.date.fromisoformat(f"{found}-01") if found else dt.date(2025, 1, 1)


def _between(store: CalendarStore, calendar: Calendar, first: dt.date, last: dt.date) -> Iterator[Happening]:
    """Yield the events of these days, recurring ones by instance."""
    zone = ZoneInfo(calendar.time_zone)
    since = dt.datetime.combine(first - dt.timedelta(days=7), dt.time(), zone).astimezone(dt.UTC)
    until = dt.datetime.combine(last, dt.time(), zone).astimezone(dt.UTC)
    found = store.session.execute(
        sql.select(Event, Entry)
        .join(Entry, Entry.event == Event.number)
        .where(
            Entry.calendar == calendar.number,
            ~Entry.cancelled,
            Entry.starts < until.isoformat(),
            Entry.ends >= since.isoformat()[:19],
        )
        .order_by(Entry.starts, Entry.id)
    )
    for event, _ in found.all():
        for start in _starts(event, calendar, since, until):
            yield Happening(
                start,
                event.summary or "(no title)",
                f"event/{event.number}",
                f"events:{event.number}",
                all_day=event.all_day,
            )


def _starts(
    event: Event, calendar: Calendar, since: dt.datetime, until: dt.datetime
) -> Iterator[dt.datetime]:
    zone = ZoneInfo(calendar.time_zone)
    start, end = _moment(event.start_at), _moment(event.end_at)
    if not event.recurrence:
        yield start if event.all_day else start.replace(tzinfo=dt.UTC).astimezone(zone).replace(tzinfo=None)
        return
    name = event.start_time_zone or calendar.time_zone
    local = (
        start
        if event.all_day
        else start.replace(tzinfo=dt.UTC).astimezone(ZoneInfo(name)).replace(tzinfo=None)
    )
    try:
        series = Series(local, end - start, event.all_day, name, event.recurrence)
        found = list(series.between(since.replace(tzinfo=None), until.replace(tzinfo=None)))
    except Refusal:
        yield local
        return
    for one in found:
        yield (
            one.local
            if event.all_day
            else one.start.replace(tzinfo=dt.UTC).astimezone(zone).replace(tzinfo=None)
        )


def _moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=None)


@view.page("event/{number}")
def event(store: CalendarStore, asked: Asked, number: str) -> Page:
    """An event with who is invited."""
    found = found_in(store, Event, number, "event")
    guests = store.session.scalars(
        sql.select(Attendee).where(Attendee.event == found.number).order_by(Attendee.id)
    )
    facts = Fields(
        {
            "From": _told(found.start_at, found),
            "Until": _told(found.end_at, found),
            "Time zone": found.start_time_zone,
            "Where": found.location,
            "Recurs": found.recurrence,
            "Status": found.status,
            "Created by": found.creator,
            "Seen by": found.visibility if found.visibility != "default" else "",
        },
        ref=f"events:{found.number}",
    )
    rows = [
        Row(
            [
                one.display_name or one.email,
                one.email,
                one.response_status,
                "optional" if one.optional else "",
            ],
            ref=f"attendees:{one.id}",
        )
        for one in guests
    ]
    blocks: list[Block] = [facts]
    if found.description:
        blocks.append(Message(found.creator, found.description, source=found.description))
    if rows:
        blocks.append(Table(["Guest", "Address", "Answer", ""], rows, title="Guests"))
    up = Link("The calendar", f"calendar/{found.calendar}")
    return Page(found.summary or "(no title)", blocks, _places(store), up)


def _told(moment: str, event: Event) -> str:
    return moment if event.all_day else f"{moment[:16].replace('T', ' ')} UTC"


@view.page("people")
def people(store: CalendarStore, asked: Asked) -> Page:
    """Page of all accounts."""
    rows = [
        Row([one.name, one.email])
        for one in store.session.scalars(sql.select(Account).order_by(Account.email))
    ]
    return Page("People", [Table(["Name", "Address"], rows)], _places(store))


@view.items
def items(store: CalendarStore) -> Iterator[Item]:
    """All events that were not cancelled, or were and stay."""
    for one in store.session.scalars(sql.select(Event).order_by(Event.number)):
        text = "\n".join(filter(None, [one.description, one.location, one.people, one.id]))
        yield Item(
            "event",
            one.summary or "",
            text,
            f"event/{one.number}",
            f"events:{one.number}",
            one.start_at,
            (one.creator,),
        )
