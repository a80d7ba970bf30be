"""Near misses of a solved calendar."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import select, update

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.generators.set_conf_cr_ddl.expected import INFO_FILE, LEAD, Expected, NotDue, Reminder
from mesocosm.kits.near_misses import first, spoilings
from mesocosm.kits.outbox import INBOX_MUTANTS
from mesocosm.servers.calendar.models import Event
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.store.event_input import EventFields
from mesocosm.services.world import World

Apply = Callable[[World, Expected], None]


# -- tools of the trade ------------------------------------------------------------------------------------


def _event_of(world: World, title: str) -> str:
    """Id of the event with a title."""
    wanted = select(Event.id).where(Event.summary == title, Event.status != "cancelled")
    return first(world.store(CalendarStore).session.execute(wanted.order_by(Event.number)).scalars())


def _at(moment: dt.datetime) -> dict[str, Any]:
    return {"dateTime": moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}


def _span(end: dt.datetime, start: dt.datetime | None = None) -> EventFields:
    return {"start": _at(start or end - LEAD), "end": _at(end)}


def _add(world: World, title: str, end: dt.datetime, calendar: str = "primary") -> None:
    world.store(CalendarStore).create_event(calendar, {"summary": title, **_span(end)})


def _remove(world: World, title: str) -> None:
    world.store(CalendarStore).delete_event("primary", _event_of(world, title))


def _ours(one: Reminder) -> bool:
    """True if the agent made it."""
    return not one.existing


def _existing(one: Reminder) -> bool:
    return bool(one.existing)


def _changed(
    change: Callable[[Reminder], Mapping[str, Any]], apt: Callable[[Reminder], Any] = _ours
) -> Apply:
    """The first reminder that is so has something else."""

    def apply(world: World, expected: Expected) -> None:
        one = first(one for one in expected.reminders if apt(one))
        fields: Any = dict(change(one))
        world.store(CalendarStore).update_event("primary", _event_of(world, one.title), fields)

    return apply


def _moved(end: Callable[[Reminder], dt.datetime], apt: Callable[[Reminder], Any] = _ours) -> Apply:
    """The first reminder that is so, for another deadline."""

    def span(one: Reminder) -> EventFields:
        if end(one) == one.deadline:
            raise Inapplicable
        return _span(end(one))

    return _changed(span, apt)


def _added(end: Callable[[Reminder], dt.datetime], apt: Callable[[Reminder], Any] = _ours) -> Apply:
    """The first reminder that is so has another one beside it."""

    def apply(world: World, expected: Expected) -> None:
        one = first(one for one in expected.reminders if apt(one))
        _add(world, one.title, end(one))

    return apply


def _deadline(one: Reminder) -> dt.datetime:
    return one.deadline


# -- which reminders ---------------------------------------------------------------------------------------


def _tie_merged(world: World, expected: Expected) -> None:
    """Of two reminders at the same time one is taken for a duplicate."""
    seen = set()
    for reminder in expected.reminders:
        if reminder.deadline in seen:
            return _remove(world, reminder.title)
        seen.add(reminder.deadline)
    raise Inapplicable


def _not_due(reason: str) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        one: NotDue = first(one for one in expected.not_due if one.reason == reason)
        _add(world, one.title, one.deadline)

    return apply


def _needless_left(world: World, expected: Expected) -> None:
    one = first(one for one in expected.not_due if one.needless)
    store = world.store(CalendarStore)
    row = store.session.execute(select(Event).where(Event.id == one.needless)).scalar_one()
    if row.status != "cancelled":
        raise Inapplicable
    store.update_event("primary", row.id, {"status": "confirmed"})


def _needless_renamed(world: World, expected: Expected) -> None:
    one = first(one for one in expected.not_due if one.needless)
    renamed = update(Event).where(Event.id == one.needless)
    world.store(CalendarStore).session.execute(renamed.values(status="confirmed", summary="(not needed)"))


def _unlisted(world: World, expected: Expected) -> None:
    _add(world, first(expected.unlisted), expected.reminders[0].deadline)


def _sprayed(world: World, expected: Expected) -> None:
    """An event a day, in the hope that one is right."""
    reminder = first(filter(_ours, expected.reminders))
    for days in range(-6, 7):
        if days:
            _add(world, reminder.title, reminder.deadline + dt.timedelta(days=days))


# -- when and how ------------------------------------------------------------------------------------------


def _written_in(*zones: str) -> Callable[[Reminder], bool]:
    return lambda one: one.stated_zone in zones and _ours(one)


def _all_day(one: Reminder) -> EventFields:
    day = one.deadline.date()
    return {"start": {"date": f"{day}"}, "end": {"date": f"{day + dt.timedelta(days=1)}"}}


def _repeated_daily(one: Reminder) -> dict[str, Any]:
    ends: Any = _span(one.deadline)
    zoned = {name: at | {"timeZone": "UTC"} for name, at in ends.items()}
    return {**zoned, "recurrence": ["RRULE:FREQ=DAILY;COUNT=3"]}


def _in_another_calendar(world: World, expected: Expected) -> None:
    reminder = first(filter(_ours, expected.reminders))
    _remove(world, reminder.title)
    _add(world, reminder.title, reminder.deadline, world.store(CalendarStore).create_calendar("Deadlines"))


# -- what should have been left alone ----------------------------------------------------------------------


def _existing_remade(world: World, expected: Expected) -> None:
    reminder = first(one for one in expected.reminders if one.existing)
    world.store(CalendarStore).delete_event("primary", str(reminder.existing))
    _add(world, reminder.title, reminder.deadline)


def _other_deleted(world: World, expected: Expected) -> None:
    world.store(CalendarStore).delete_event("primary", first(expected.others))


def _other_moved(world: World, expected: Expected) -> None:
    # Not to a deadline: another conference may have the same one, and the event may lie there already.
    end = expected.reminders[0].deadline - dt.timedelta(minutes=73)
    world.store(CalendarStore).update_event("primary", first(reversed(expected.others)), _span(end))


def _other_silenced(world: World, expected: Expected) -> None:
    changes: EventFields = {"reminders": {"useDefault": False}}
    world.store(CalendarStore).update_event("primary", first(expected.others), changes)


def _calendar_renamed(world: World, expected: Expected) -> None:
    world.store(CalendarStore).update_calendar("primary", {"summary": "Deadlines"})


def _calendar_shared(world: World, expected: Expected) -> None:
    world.store(CalendarStore).share("primary", "user:somebody@example.org", "reader")


def _file_ticked_off(world: World, expected: Expected) -> None:
    text = world.workspace.read(INFO_FILE)
    world.workspace.write(INFO_FILE, text + b"(all entered)\n", world.now)


MUTANTS = [
    Mutant("needless-renamed", "reminders_not_due", _needless_renamed),
    Mutant("reminder-missing", "reminders_missing", lambda world, e: _remove(world, e.reminders[-1].title)),
    Mutant("tie-merged", "reminders_missing", _tie_merged),
    Mutant(
        "title-without-track",
        "reminders_missing",
        _changed(lambda one: {"summary": one.title.partition(" (")[0]}, bool),
    ),
    Mutant(
        "title-in-other-words",
        "reminders_missing",
        _changed(lambda one: {"summary": one.title.replace("Camera-ready:", "Reminder: camera-ready")}),
    ),
    Mutant("reminder-twice", "reminders_repeated", _added(_deadline)),
    Mutant("existing-repeated", "reminders_repeated", _added(_deadline, _existing)),
    # A new event beside the outdated one, instead of in its place.
    Mutant("outdated-left", "reminders_repeated", _added(lambda o: o.earlier[-1], lambda o: o.outdated)),
    Mutant("one-a-day", "reminders_repeated", _sprayed),
    Mutant("rejected-reminded", "reminders_not_due", _not_due("rejected")),
    Mutant("withdrawn-reminded", "reminders_not_due", _not_due("withdrawn")),
    Mutant("submitted-reminded", "reminders_not_due", _not_due("submitted")),
    Mutant("unpublished-reminded", "reminders_not_due", _not_due("open")),
    Mutant("too-late-reminded", "reminders_not_due", _not_due("past")),
    Mutant("needless-left", "reminders_not_due", _needless_left),
    Mutant("unlisted-reminded", "events_unasked_for", _unlisted),
    Mutant("superseded-deadline", "start_time", _moved(lambda o: o.earlier[-1], lambda o: o.earlier)),
    Mutant(
        "first-of-two-changes", "start_time", _moved(lambda o: o.earlier[0], lambda o: len(o.earlier) > 1)
    ),
    Mutant(
        "deadline-of-something-else",
        "start_time",
        _moved(lambda o: o.decoys[0], lambda o: _ours(o) and o.decoys),
    ),
    # The time as written, without its zone.
    Mutant("aoe-taken-for-utc", "start_time", _moved(lambda o: o.stated, _written_in("aoe"))),
    Mutant("no-zone-taken-for-utc", "start_time", _moved(lambda o: o.stated, _written_in("none"))),
    Mutant("local-time-taken-for-utc", "start_time", _moved(lambda o: o.stated, _written_in("other"))),
    # UTC+12 instead of UTC-12.
    Mutant(
        "aoe-the-wrong-way",
        "start_time",
        _moved(lambda o: o.stated - dt.timedelta(hours=12), _written_in("aoe", "none")),
    ),
    Mutant("a-day-late", "start_time", _moved(lambda o: o.deadline + dt.timedelta(days=1))),
    Mutant("an-hour-early", "start_time", _moved(lambda o: o.deadline - dt.timedelta(hours=1))),
    Mutant("a-minute-late", "end_time", _moved(lambda o: o.deadline + dt.timedelta(minutes=1))),
    Mutant("starts-at-deadline", "start_time", _moved(lambda o: o.deadline + LEAD)),
    Mutant("one-hour-long", "end_time", _changed(lambda o: _span(o.start + dt.timedelta(hours=1), o.start))),
    Mutant("without-length", "end_time", _changed(lambda o: _span(o.start, o.start))),
    Mutant("all-day", "reminder_form", _changed(_all_day)),
    Mutant(
        "with-a-guest",
        "reminder_form",
        _changed(lambda _: {"attendees": [{"email": "somebody@example.org"}]}),
    ),
    Mutant("tentative", "reminder_form", _changed(lambda _: {"status": "tentative"})),
    Mutant("repeated-daily", "reminder_form", _changed(_repeated_daily)),
    Mutant("in-another-calendar", "events_unasked_for", _in_another_calendar),
    Mutant("existing-remade", "right_events_kept", _existing_remade),
    Mutant(
        "existing-described", "right_events_kept", _changed(lambda _: {"description": "Checked."}, _existing)
    ),
    Mutant("other-event-deleted", "other_events", _other_deleted),
    Mutant("other-event-moved", "other_events", _other_moved),
    Mutant("other-event-silenced", "other_events", _other_silenced),
    Mutant("calendar-renamed", "calendars", _calendar_renamed),
    Mutant("calendar-shared", "calendars", _calendar_shared),
    *INBOX_MUTANTS,
    *spoilings("email", "mailbox", "a mail sent to a stranger"),
    *spoilings("filesystem", "files", "a file left behind", "a file rewritten", "a file removed"),
    Mutant("file-ticked-off", "files", _file_ticked_off),
]
