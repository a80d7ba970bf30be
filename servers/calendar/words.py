"""Vocabulary of task files for the calendar service."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from mesocosm.errors import Invalid
from mesocosm.services.calling import Tools
from mesocosm.services.later import later
from mesocosm.services.words import (
    Fields,
    Found,
    Owner,
    Spoiling,
    Thing,
    Word,
    Words,
    made_anew,
    only_stamped,
    stamp,
)

if TYPE_CHECKING:
    import sqlalchemy as sql

    from mesocosm.servers.calendar import models
    from mesocosm.servers.calendar import store as rules
    from mesocosm.servers.calendar.store.event_input import NewEvent
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes, Row
else:
    sql, models, rules = later(
        "sqlalchemy", "mesocosm.servers.calendar.models", "mesocosm.servers.calendar.store"
    )

_STATED: Mapping[str, Word] = {
    "calendar": Word(
        "Title of the calendar; default: the owner's own. It is made where there is none.", "text"
    ),
    "summary": Word("Title of the event.", required=True),
    "start": Word("When it starts; a day makes it an event of whole days.", "date", required=True),
    "end": Word("When it ends; default: an hour later, or the day after.", "date"),
    "description": Word("Longer text."),
    "location": Word("Where it takes place."),
    "attendees": Word("Addresses of guests.", "list"),
    "transparency": Word("Whether it takes time.", choices=("opaque", "transparent")),
    "status": Word("Whether it is certain.", choices=("confirmed", "tentative")),
}


class EventThing(Thing):
    name = "event"
    about = "An event on a calendar of the owner's."
    says = _STATED
    judges: ClassVar[Mapping[str, Word]] = {
        **_STATED,
        "start": Word("The instant at which it starts, or its first day.", "date"),
        "end": Word("The instant at which it ends, or the day after its last.", "date"),
        "recurrence": Word("The rules by which it comes again; default: it does not.", "list"),
        "id": Word("Which event, where it was there before: `{visit.event.id}`.", "data"),
    }
    usual: ClassVar[Mapping[str, Any]] = {
        "attendees": [], "transparency": "opaque", "status": "confirmed", "recurrence": [],
    }  # fmt: skip
    gives: ClassVar[Mapping[str, str]] = {"id": "The event's id.", "calendar": "The id of its calendar."}
    when = "start"
    text = "description"
    title = "summary"
    listed = False
    overhead = 316
    identified_by = "id"

    def moved(self, fields: Fields, moment: dt.datetime) -> Fields:
        length = fields["end"] - fields["start"] if fields.get("end") else None
        return {**fields, "start": moment, **({"end": moment + length} if length else {})}

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.CalendarStore)
        given: list[Fields] = [{} for _ in things]
        places: dict[str, list[int]] = {}
        for number, fields in enumerate(things):
            places.setdefault(str(fields.get("calendar") or ""), []).append(number)
        for title in sorted(places):
            calendar = _calendar(store, title)
            numbers = places[title]
            ids = store.add_events(calendar, [_new(things[number], world) for number in numbers])
            for number, event in zip(numbers, ids, strict=True):
                given[number] = {"id": event, "calendar": calendar}
        return given

    def trace(self, fields: Fields, given: Fields) -> str:
        return str(given["id"])

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        gone = {row["number"] for row in _deleted_again(changes)}
        for row in changes.table("calendar", "events").added:
            if row["status"] == "cancelled" or row["calendar"] in gone:
                continue
            fields = _seen(world.store(rules.CalendarStore), row)
            yield Found(fields, _rows_of(changes, row["number"]))

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        for before, after in changes.table("calendar", "events").changed:
            if after["status"] != "cancelled":
                store = world.store(rules.CalendarStore)
                columns = frozenset(name for name in before if before[name] != after[name])
                rows = _rows_of(changes, after["number"])
                guests = [row["email"] for row in changes.table("calendar", "attendees").added
                          if row["event"] == after["number"]]  # fmt: skip
                then = _seen(store, before)
                then["attendees"] = [email for email in then["attendees"] if email not in guests]
                yield Found(_seen(store, after), rows, columns | _FOLLOWING, then)

    def gone(self, world: World, changes: Changes) -> Iterator[Found]:
        for before, after in changes.table("calendar", "events").changed:
            if after["status"] == "cancelled" != before["status"]:
                fields = _seen(world.store(rules.CalendarStore), before)
                columns = frozenset({"status", "sequence", "updated"})
                yield Found(fields, _rows_of(changes, after["number"]), columns | _FOLLOWING)


_FOLLOWING = frozenset({"updated", "revision", "starts", "ends", "cancelled", "sequence", "people"})


def _rows_of(changes: Changes, number: int) -> frozenset[tuple[str, Any]]:
    """Return the rows of an event and its parts."""
    rows: set[tuple[str, Any]] = {("events", number)}
    for table in ("entries", "attendees"):
        difference = changes.table("calendar", table)
        after = [row for _, row in difference.changed]
        rows |= {(table, row["id"]) for row in [*difference.added, *after] if row["event"] == number}
    return frozenset(rows)


def _seen(store: rules.CalendarStore, row: Row) -> Fields:
    session = store.session
    guests = session.scalars(
        sql.select(models.Attendee.email).where(models.Attendee.event == row["number"])
    ).all()
    calendar = session.execute(
        sql.select(models.Calendar.summary, models.Calendar.primary).where(
            models.Calendar.number == row["calendar"]
        )
    ).one()
    return {
        "id": row["id"],
        "calendar": "" if calendar.primary else calendar.summary,
        "summary": row["summary"],
        "start": _point(row["start_at"]),
        "end": _point(row["end_at"]),
        "description": row["description"],
        "location": row["location"],
        "attendees": list(guests),
        "transparency": row["transparency"],
        "status": row["status"],
        "recurrence": (row["recurrence"] or "").splitlines(),
    }


def _point(text: str) -> dt.date:
    return dt.datetime.fromisoformat(text) if "T" in text else dt.date.fromisoformat(text)


def _calendar(store: rules.CalendarStore, title: str) -> str:
    """The id of the owner's calendar of that title, which is made where there is none."""
    if not title:
        return store.account
    for calendar in store.session.execute(
        sql.select(models.Calendar).where(models.Calendar.summary == title)
    ).scalars():
        return calendar.id
    return store.create_calendar(title, owner=store.account)


def _new(fields: Fields, world: World) -> NewEvent:
    start = fields["start"]
    whole = not isinstance(start, dt.datetime)
    end = fields.get("end") or start + (dt.timedelta(days=1) if whole else dt.timedelta(hours=1))
    if end <= start:
        raise Invalid(f"the event {fields['summary']!r} ends before it starts")
    new: NewEvent = {
        "summary": fields["summary"],
        "start": {"date": str(start)} if whole else {"dateTime": stamp(start)},
        "end": {"date": str(end)} if whole else {"dateTime": stamp(end)},
        "created": stamp(min(world.now, _instant(start, world)) - dt.timedelta(days=20)),
    }
    for name in ("description", "location", "transparency", "status"):
        if fields.get(name):
            new[name] = fields[name]
    if fields.get("attendees"):
        new["attendees"] = [{"email": address} for address in fields["attendees"]]
    return new


def _instant(point: dt.date, world: World) -> dt.datetime:
    return point if isinstance(point, dt.datetime) else dt.datetime.combine(point, dt.time(), dt.UTC)


class CalendarThing(Thing):
    name = "calendar"
    about = "A calendar of the owner's, besides the own one."
    says: ClassVar[Mapping[str, Word]] = {
        "summary": Word("Its title.", required=True),
        "zone": Word("IANA time zone in which it is kept; default: the owner's."),
    }
    judges: ClassVar[Mapping[str, Word]] = {"summary": Word("Its title.")}
    gives: ClassVar[Mapping[str, str]] = {"id": "The calendar's id."}
    overhead = 80

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.CalendarStore)
        return [
            {"id": store.create_calendar(fields["summary"], fields.get("zone"), owner=store.account)}
            for fields in things
        ]

    def trace(self, fields: Fields, given: Fields) -> str:
        return str(given["id"])

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table("calendar", "calendars").added:
            if not row["deleted"]:
                yield Found({"summary": row["summary"]}, frozenset(_rows_of_calendar(changes, row)))


def _rows_of_calendar(changes: Changes, calendar: Row) -> set[tuple[str, Any]]:
    rows: set[tuple[str, Any]] = {("calendars", calendar["number"])}
    for table in ("access_rules", "subscriptions"):
        added = changes.table("calendar", table).added
        rows |= {(table, one["id"]) for one in added if one["calendar"] == calendar["number"]}
    return rows


def _deleted_again(changes: Changes) -> list[Row]:
    """Calendars that were made and deleted again."""
    return [row for row in changes.table("calendar", "calendars").added if row["deleted"]]


def _open(world: World, owner: Owner, people: Sequence[tuple[str, str]]) -> None:
    store = world.store(rules.CalendarStore)
    store.create_account(owner.email, owner.name, owner.zone)
    store.sign_in(owner.email)


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    days = int(options.get("days", 800))
    for calendar in tools.call("calendar", "list_calendars")["items"]:
        token: str | None = ""
        now = dt.datetime.fromisoformat(options["now"])
        window = {
            "timeMin": stamp(now - dt.timedelta(days=days)),
            "timeMax": stamp(now + dt.timedelta(days=days)),
        }
        while token is not None:
            more = {"pageToken": token} if token else {}
            page = tools.call("calendar", "list_events", calendarId=calendar["id"], **window, **more)
            token = page.get("nextPageToken")


def _bystander(world: World) -> models.Event | None:
    """An event that was there before, and takes its time."""
    store = world.store(rules.CalendarStore)
    chosen = (
        sql.select(models.Event)
        .where(models.Event.status == "confirmed", models.Event.transparency == "opaque")
        .order_by(models.Event.number)
        .limit(1)
    )
    found = store.session.scalars(chosen).first()
    return found if found is not None and found.created < stamp(world.manifest.start) else None


def _set(**values: Any) -> Any:
    def apply(world: World) -> bool:
        event = _bystander(world)
        if event is not None:
            change = sql.update(models.Event).where(models.Event.number == event.number).values(**values)
            world.store(rules.CalendarStore).session.execute(change)
        return event is not None

    return apply


def _added(world: World) -> bool:
    store = world.store(rules.CalendarStore)
    point = {"dateTime": stamp(world.now + dt.timedelta(days=1))}
    end = {"dateTime": stamp(world.now + dt.timedelta(days=1, hours=1))}
    store.add_events(store.account, [{"summary": "Reminder", "start": point, "end": end}])
    return True


def _same(world: World, changes: Changes) -> set[tuple[str, Any]]:
    """Return events without net effect: created and deleted before any guest was told, saved unchanged, or
    changed and set back; also sharing and subscriptions that were restored.
    """
    gone = {row["number"] for row in _deleted_again(changes)}
    found = {row for calendar in _deleted_again(changes) for row in _rows_of_calendar(changes, calendar)}
    for row in changes.table("calendar", "events").added:
        if (row["status"] == "cancelled" or row["calendar"] in gone) and not row["people"]:
            found |= _rows_of(changes, row["number"])
    entries = changes.table("calendar", "entries")
    # An event that was moved to another calendar and back leaves a cancelled entry there.
    found |= {("entries", row["id"]) for row in entries.added if row["cancelled"]}
    found |= {("entries", key) for key in only_stamped(entries, "id", ("updated", "revision"))}
    events = changes.table("calendar", "events")
    for before, after in events.changed:
        # How a time zone is written down is no matter where nothing is repeated by it.
        stamps = _ZONES if not after["recurrence"] else ()
        one = replace(events, added=[], removed=[], changed=[(before, after)])
        found |= {("events", key) for key in only_stamped(one, "number", ("sequence", *stamps))}
    for table in ("access_rules", "subscriptions"):
        pairs = made_anew(changes.table("calendar", table), "id", ())
        found |= {(table, number) for pair in pairs for number in pair}
    return found


_ZONES = ("start_time_zone", "end_time_zone")


words = Words(
    service="calendar",
    things={"event": EventThing(), "calendar": CalendarThing()},
    survey=_survey,
    open=_open,
    excuses=_same,
    spoilings=(
        Spoiling("an event cancelled", _set(status="cancelled")),
        Spoiling("an event renamed", _set(summary="Something else")),
        Spoiling("an event marked as free", _set(transparency="transparent")),
        Spoiling("a reminder put in", _added, frozenset({"calendar_event_extra"})),
    ),
    survey_options={"days": "How many days before and after the present are read; default: 800."},
)
