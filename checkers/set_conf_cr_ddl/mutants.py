"""Near misses of a solved calendar."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sqlalchemy import select, update

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.generators.set_conf_cr_ddl.expected import INFO_FILE, LEAD, Expected, NotDue, Reminder
from mesocosm.kits.outbox import INBOX_MUTANTS, send
from mesocosm.servers.calendar.models import Event
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.store.composing import EventFields
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.services.world import World

Apply = Callable[[World, Expected], None]
T = TypeVar("T")


# -- tools of the trade ------------------------------------------------------------------------------------


def _first(some: Iterable[T]) -> T:
    for one in some:
        return one
    raise Inapplicable


def _event_of(world: World, title: str) -> str:
    """Id of the event with a title."""
    wanted = select(Event.id).where(Event.summary == title, Event.status != "cancelled")
    return _first(world.store(CalendarStore).session.execute(wanted.order_by(Event.number)).scalars())


def _at(moment: dt.datetime) -> dict[str, Any]:
    return {"dateTime": moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}


def _span(end: dt.datetime, start: dt.datetime | None = None) -> EventFields:
    return {"start": _at(start or end - LEAD), "end": _at(end)}


def _add(world: World, title: str, end: dt.datetime, calendar: str = "primary") -> None:
    world.store(CalendarStore).create_event(calendar, {"summary": title, **_span(end)})


def _set(world: World, title: str, **changes: Any) -> None:
    store = world.store(CalendarStore)
    store.update_event("primary", _event_of(world, title), EventFields(**changes))  # type: ignore[typeddict-item]


def _move(world: World, reminder: Reminder, end: dt.datetime) -> None:
    if end == reminder.deadline:
        raise Inapplicable
    _set(world, reminder.title, **_span(end))


def _ours(expected: Expected) -> Reminder:
    """A reminder that the agent made."""
    return _first(one for one in expected.reminders if not one.existing)


# -- which reminders ---------------------------------------------------------------------------------------


def _remove(world: World, expected: Expected) -> None:
    world.store(CalendarStore).delete_event("primary", _event_of(world, expected.reminders[-1].title))


def _tie_merged(world: World, expected: Expected) -> None:
    """Of two reminders at the same time one is taken for a duplicate."""
    seen = set()
    for reminder in expected.reminders:
        if reminder.deadline in seen:
            world.store(CalendarStore).delete_event("primary", _event_of(world, reminder.title))
            return
        seen.add(reminder.deadline)
    raise Inapplicable


def _without_track(world: World, expected: Expected) -> None:
    title = expected.reminders[0].title
    _set(world, title, summary=title.partition(" (")[0])


def _other_words(world: World, expected: Expected) -> None:
    title = _ours(expected).title
    _set(world, title, summary=title.replace("Camera-ready:", "Reminder: camera-ready"))


def _twice(world: World, expected: Expected) -> None:
    reminder = _ours(expected)
    _add(world, reminder.title, reminder.deadline)


def _existing_repeated(world: World, expected: Expected) -> None:
    reminder = _first(one for one in expected.reminders if one.existing)
    _add(world, reminder.title, reminder.deadline)


def _outdated_left(world: World, expected: Expected) -> None:
    """A new event beside the outdated one, instead of in its place."""
    reminder = _first(one for one in expected.reminders if one.outdated)
    _add(world, reminder.title, reminder.earlier[-1])


def _not_due(reason: str) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        one: NotDue = _first(one for one in expected.not_due if one.reason == reason)
        _add(world, one.title, one.deadline)

    return apply


def _needless_left(world: World, expected: Expected) -> None:
    one = _first(one for one in expected.not_due if one.needless)
    store = world.store(CalendarStore)
    row = store.session.execute(select(Event).where(Event.id == one.needless)).scalar_one()
    if row.status != "cancelled":
        raise Inapplicable
    store.update_event("primary", row.id, {"status": "confirmed"})


def _needless_renamed(world: World, expected: Expected) -> None:
    one = _first(one for one in expected.not_due if one.needless)
    renamed = update(Event).where(Event.id == one.needless)
    world.store(CalendarStore).session.execute(renamed.values(status="confirmed", summary="(not needed)"))


def _unlisted(world: World, expected: Expected) -> None:
    _add(world, _first(expected.unlisted), expected.reminders[0].deadline)


def _sprayed(world: World, expected: Expected) -> None:
    """An event a day, in the hope that one is right."""
    reminder = _ours(expected)
    for days in range(-6, 7):
        if days:
            _add(world, reminder.title, reminder.deadline + dt.timedelta(days=days))


# -- when --------------------------------------------------------------------------------------------------


def _superseded(world: World, expected: Expected) -> None:
    reminder = _first(one for one in expected.reminders if one.earlier)
    _move(world, reminder, reminder.earlier[-1])


def _announced_first(world: World, expected: Expected) -> None:
    reminder = _first(one for one in expected.reminders if len(one.earlier) > 1)
    _move(world, reminder, reminder.earlier[0])


def _decoy(world: World, expected: Expected) -> None:
    reminder = _first(one for one in expected.reminders if one.decoys and not one.existing)
    _move(world, reminder, reminder.decoys[0])


def _as_utc(zone: str) -> Apply:
    """The time as written, without its zone."""

    def apply(world: World, expected: Expected) -> None:
        reminder = _first(one for one in expected.reminders if one.stated_zone == zone and not one.existing)
        _move(world, reminder, reminder.stated)

    return apply


def _aoe_the_wrong_way(world: World, expected: Expected) -> None:
    """UTC+12 instead of UTC-12."""
    reminder = _first(
        one for one in expected.reminders if one.stated_zone in ("aoe", "none") and not one.existing
    )
    _move(world, reminder, reminder.stated - dt.timedelta(hours=12))


def _shifted(**by: float) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        reminder = _ours(expected)
        _move(world, reminder, reminder.deadline + dt.timedelta(**by))

    return apply


def _starts_at_deadline(world: World, expected: Expected) -> None:
    reminder = _ours(expected)
    _set(world, reminder.title, **_span(reminder.deadline + LEAD))


def _one_hour_long(world: World, expected: Expected) -> None:
    reminder = _ours(expected)
    _set(world, reminder.title, **_span(reminder.start + dt.timedelta(hours=1), reminder.start))


def _without_length(world: World, expected: Expected) -> None:
    reminder = _ours(expected)
    _set(world, reminder.title, **_span(reminder.start, reminder.start))


# -- how ---------------------------------------------------------------------------------------------------


def _all_day(world: World, expected: Expected) -> None:
    reminder = _ours(expected)
    day = reminder.deadline.date()
    _set(
        world,
        reminder.title,
        start={"date": day.isoformat()},
        end={"date": (day + dt.timedelta(days=1)).isoformat()},
    )


def _with_guest(world: World, expected: Expected) -> None:
    _set(world, _ours(expected).title, attendees=[{"email": "somebody@example.org"}])


def _tentative(world: World, expected: Expected) -> None:
    _set(world, _ours(expected).title, status="tentative")


def _repeated_daily(world: World, expected: Expected) -> None:
    reminder = _ours(expected)
    zoned = {name: at | {"timeZone": "UTC"} for name, at in _span(reminder.deadline).items()}  # type: ignore[operator]
    _set(world, reminder.title, **zoned, recurrence=["RRULE:FREQ=DAILY;COUNT=3"])


def _in_another_calendar(world: World, expected: Expected) -> None:
    store = world.store(CalendarStore)
    reminder = _ours(expected)
    store.delete_event("primary", _event_of(world, reminder.title))
    _add(world, reminder.title, reminder.deadline, store.create_calendar("Deadlines"))


# -- what should have been left alone ----------------------------------------------------------------------


def _existing_remade(world: World, expected: Expected) -> None:
    reminder = _first(one for one in expected.reminders if one.existing)
    world.store(CalendarStore).delete_event("primary", str(reminder.existing))
    _add(world, reminder.title, reminder.deadline)


def _existing_described(world: World, expected: Expected) -> None:
    reminder = _first(one for one in expected.reminders if one.existing)
    _set(world, reminder.title, description="Checked.")


def _other_deleted(world: World, expected: Expected) -> None:
    world.store(CalendarStore).delete_event("primary", _first(expected.others))


def _other_moved(world: World, expected: Expected) -> None:
    end = expected.reminders[0].deadline
    world.store(CalendarStore).update_event("primary", _first(reversed(expected.others)), _span(end))


def _other_silenced(world: World, expected: Expected) -> None:
    changes: EventFields = {"reminders": {"useDefault": False}}
    world.store(CalendarStore).update_event("primary", _first(expected.others), changes)


def _calendar_renamed(world: World, expected: Expected) -> None:
    world.store(CalendarStore).update_calendar("primary", {"summary": "Deadlines"})


def _calendar_shared(world: World, expected: Expected) -> None:
    world.store(CalendarStore).share("primary", "user:somebody@example.org", "reader")


def _mail_sent(world: World, expected: Expected) -> None:
    own = expected.account
    mail: NewEmail = {
        "sender": own,
        "to": own,
        "subject": "Deadlines",
        "body": "See the calendar.",
        "date": world.now,
    }
    send(world.store(EmailStore), own, mail)


def _file_left(world: World, expected: Expected) -> None:
    world.workspace.write("deadlines.csv", b"done\n", world.now)


def _file_ticked_off(world: World, expected: Expected) -> None:
    text = world.workspace.read(INFO_FILE)
    world.workspace.write(INFO_FILE, text + b"(all entered)\n", world.now)


MUTANTS = [
    Mutant("needless-renamed", "reminders_not_due", _needless_renamed),
    Mutant("reminder-missing", "reminders_missing", _remove),
    Mutant("tie-merged", "reminders_missing", _tie_merged),
    Mutant("title-without-track", "reminders_missing", _without_track),
    Mutant("title-in-other-words", "reminders_missing", _other_words),
    Mutant("reminder-twice", "reminders_repeated", _twice),
    Mutant("existing-repeated", "reminders_repeated", _existing_repeated),
    Mutant("outdated-left", "reminders_repeated", _outdated_left),
    Mutant("one-a-day", "reminders_repeated", _sprayed),
    Mutant("rejected-reminded", "reminders_not_due", _not_due("rejected")),
    Mutant("withdrawn-reminded", "reminders_not_due", _not_due("withdrawn")),
    Mutant("submitted-reminded", "reminders_not_due", _not_due("submitted")),
    Mutant("unpublished-reminded", "reminders_not_due", _not_due("open")),
    Mutant("too-late-reminded", "reminders_not_due", _not_due("past")),
    Mutant("needless-left", "reminders_not_due", _needless_left),
    Mutant("unlisted-reminded", "events_unasked_for", _unlisted),
    Mutant("superseded-deadline", "start_time", _superseded),
    Mutant("first-of-two-changes", "start_time", _announced_first),
    Mutant("deadline-of-something-else", "start_time", _decoy),
    Mutant("aoe-taken-for-utc", "start_time", _as_utc("aoe")),
    Mutant("no-zone-taken-for-utc", "start_time", _as_utc("none")),
    Mutant("local-time-taken-for-utc", "start_time", _as_utc("other")),
    Mutant("aoe-the-wrong-way", "start_time", _aoe_the_wrong_way),
    Mutant("a-day-late", "start_time", _shifted(days=1)),
    Mutant("an-hour-early", "start_time", _shifted(hours=-1)),
    Mutant("a-minute-late", "end_time", _shifted(minutes=1)),
    Mutant("starts-at-deadline", "start_time", _starts_at_deadline),
    Mutant("one-hour-long", "end_time", _one_hour_long),
    Mutant("without-length", "end_time", _without_length),
    Mutant("all-day", "reminder_form", _all_day),
    Mutant("with-a-guest", "reminder_form", _with_guest),
    Mutant("tentative", "reminder_form", _tentative),
    Mutant("repeated-daily", "reminder_form", _repeated_daily),
    Mutant("in-another-calendar", "events_unasked_for", _in_another_calendar),
    Mutant("existing-remade", "right_events_kept", _existing_remade),
    Mutant("existing-described", "right_events_kept", _existing_described),
    Mutant("other-event-deleted", "other_events", _other_deleted),
    Mutant("other-event-moved", "other_events", _other_moved),
    Mutant("other-event-silenced", "other_events", _other_silenced),
    Mutant("calendar-renamed", "calendars", _calendar_renamed),
    Mutant("calendar-shared", "calendars", _calendar_shared),
    *INBOX_MUTANTS,
    Mutant("mail-sent", "mailbox", _mail_sent),
    Mutant("file-left-behind", "files", _file_left),
    Mutant("file-ticked-off", "files", _file_ticked_off),
]
