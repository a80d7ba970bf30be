"""Judges the reminders: which there are, when they stand, and that nothing else was touched."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, func, select

from mesocosm.checkers.set_conf_cr_ddl.mutants import MUTANTS
from mesocosm.families.verdict import Check, finding, told
from mesocosm.generators.set_conf_cr_ddl.expected import Expected, Reminder
from mesocosm.kits.damage import touched_files, touched_tables
from mesocosm.kits.moments import utc_stamp
from mesocosm.servers.calendar.models import Attendee, Calendar, Event
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.services.words import load_words
from mesocosm.services.world import World
from mesocosm.worlds.changes import Changes

# The calendars as the agent left them.


@dataclass(frozen=True)
class Held:
    """An event that has not been deleted."""

    number: int
    id: str
    title: str
    """Without blanks around it and repeated inside."""
    start: str
    """UTC text, or a date."""
    end: str
    primary: bool
    """In the account's primary calendar."""
    oddity: str
    """Why it is not a single confirmed event without guests."""


_GUESTS = (
    select(func.count())
    .select_from(Attendee)
    .where(Attendee.event == Event.number)
    .correlate(Event)
    .scalar_subquery()
)
_HELD = (
    select(
        Event.number,
        Event.id,
        Event.summary,
        Event.start_at,
        Event.end_at,
        Event.status,
        Event.all_day,
        Event.recurrence,
        Event.series,
        _GUESTS.label("guests"),
        ((Calendar.id == bindparam("account")) & Calendar.primary).label("primary"),
    )
    .join(Calendar, Calendar.number == Event.calendar)
    .where(Event.status != "cancelled", Calendar.deleted.is_(False))
    .order_by(Event.number)
)


def held_events(world: World, account: str) -> list[Held]:
    """Every event that has not been deleted, in the order in which they were made."""
    return [
        Held(
            number=row["number"],
            id=row["id"],
            title=" ".join((row["summary"] or "").split()),
            start=row["start_at"],
            end=row["end_at"],
            primary=bool(row["primary"]),
            oddity=_oddity(row["status"], row["all_day"], row["recurrence"] or row["series"], row["guests"]),
        )
        for row in world.store(CalendarStore).fetch(_HELD, account=account)
    ]


def _oddity(status: str, all_day: bool, repeated: object, guests: int) -> str:
    if status != "confirmed":
        return status
    if all_day:
        return "it lasts whole days"
    if repeated:
        return "it is repeated"
    return f"it has {guests} guests" if guests else ""


__all__ = ["MUTANTS", "check"]

_EVENT_TABLES = {"events": "number", "entries": "id", "attendees": "id"}
"""Tables about events, and their keys."""


def check(world: World, expected: Expected) -> list[Check]:
    """Findings about the reminders, and about everything around them."""
    changes = world.changes()
    touched = _touched_numbers(world, changes)
    events = held_events(world, expected.account)
    by_title: dict[str, list[Held]] = {}
    for event in events:
        if event.primary:
            by_title.setdefault(event.title, []).append(event)
    return [
        _missing(expected, by_title),
        _repeated(expected, by_title),
        _not_due(expected, events, by_title),
        finding("start_time", _wrong_ends(expected, by_title, "start")),
        finding("end_time", _wrong_ends(expected, by_title, "end")),
        _form(expected, by_title),
        _kept(expected, events, touched),
        _unasked(expected, events, changes),
        _other_events(expected, events, changes, touched),
        finding("calendars", touched_tables(world, changes, "calendar", _EVENT_TABLES)),
        finding("mailbox", touched_tables(world, changes, "email")),
        finding("files", touched_files(changes)),
        finding("other_services", _others(changes)),
    ]


# -- reminders ---------------------------------------------------------------------------------------------


def _missing(expected: Expected, by_title: dict[str, list[Held]]) -> Check:
    wanted = (reminder.title for reminder in expected.reminders)
    return finding("reminders_missing", [title for title in wanted if title not in by_title])


def _repeated(expected: Expected, by_title: dict[str, list[Held]]) -> Check:
    counts = {reminder.title: len(by_title.get(reminder.title, ())) for reminder in expected.reminders}
    return finding(
        "reminders_repeated", [f"{title}: {count} events" for title, count in counts.items() if count > 1]
    )


def _not_due(expected: Expected, events: Sequence[Held], by_title: dict[str, list[Held]]) -> Check:
    wrong = [f"{one.title} ({one.reason})" for one in expected.not_due if one.title in by_title]
    held = {event.id: event.title for event in events}
    renamed = [
        f"{one.title} ({one.reason}), renamed to {held[one.needless]!r:.100}"
        for one in expected.not_due
        if one.needless in held and held[one.needless] != one.title
    ]
    return finding("reminders_not_due", wrong + renamed)


def _wrong_ends(expected: Expected, by_title: dict[str, list[Held]], end: str) -> Iterable[str]:
    """Reminders that start or end at another moment than they should, to the second."""
    present = list(_present(expected, by_title))
    if expected.reminders and not present:
        return ["there is no reminder to look at"]
    wrong = []
    for reminder, event in present:
        truth = utc_stamp(reminder.start if end == "start" else reminder.deadline)
        found = event.start if end == "start" else event.end
        if found != truth:  # nor is a date alone right
            wrong.append(f"{reminder.title}: {told(found, truth)}")
    return wrong


def _form(expected: Expected, by_title: dict[str, list[Held]]) -> Check:
    present = list(_present(expected, by_title))
    wrong = [f"{reminder.title}: {event.oddity}" for reminder, event in present if event.oddity]
    nothing = ["there is no reminder to look at"] if expected.reminders and not present else []
    return finding("reminder_form", wrong or nothing)


def _present(expected: Expected, by_title: dict[str, list[Held]]) -> Iterator[tuple[Reminder, Held]]:
    for reminder in expected.reminders:
        for event in by_title.get(reminder.title, ()):
            yield reminder, event


# -- other events ------------------------------------------------------------------------------------------


def _kept(expected: Expected, events: Sequence[Held], touched: Collection[int]) -> Check:
    """The events that were right from the start are as they were."""
    right = {reminder.existing: reminder.title for reminder in expected.reminders if reminder.existing}
    gone = right.keys() - {event.id for event in events}
    other = {event.id for event in events if event.number in touched}
    return finding("right_events_kept", [right[id_] for id_ in sorted(gone | (right.keys() & other))])


def _unasked(expected: Expected, events: Sequence[Held], changes: Changes) -> Check:
    """New events, and outdated ones, with other titles or in other calendars."""
    new = _new_numbers(changes)
    outdated = {reminder.outdated for reminder in expected.reminders if reminder.outdated}
    known = {reminder.title for reminder in expected.reminders}
    known |= {one.title for one in expected.not_due}
    wrong = [
        f"{event.title!r:.100}" + ("" if event.primary else " in another calendar")
        for event in events
        if (event.number in new or event.id in outdated) and not (event.primary and event.title in known)
    ]
    return finding("events_unasked_for", wrong)


def _other_events(
    expected: Expected, events: Sequence[Held], changes: Changes, touched: Collection[int]
) -> Check:
    """Events that were there before and are not ones to be corrected, deleted or kept."""
    ours = {reminder.existing for reminder in expected.reminders}
    ours |= {reminder.outdated for reminder in expected.reminders}
    ours |= {one.needless for one in expected.not_due}
    new = _new_numbers(changes)
    before = changes.table("calendar", "events")
    ids = {row["number"]: row["id"] for row in before.removed}
    ids |= {new_row["number"]: new_row["id"] for _, new_row in before.changed}
    ids |= {event.number: event.id for event in events}
    wrong = [
        ids.get(number, f"number {number}")
        for number in sorted(set(touched) - new)
        if ids.get(number) not in ours
    ]
    return finding("other_events", wrong)


def _new_numbers(changes: Changes) -> set[int]:
    return {row["number"] for row in changes.table("calendar", "events").added}


def _touched_numbers(world: World, changes: Changes) -> set[int]:
    """Numbers of events of which any row differs from what was built, in more than how it was saved."""
    words = load_words("calendar")
    same = words.excuses(world, changes) if words else ()
    numbers: set[int] = set()
    for table, key in _EVENT_TABLES.items():
        difference = changes.table("calendar", table)
        event = "number" if table == "events" else "event"
        rows = [*difference.added, *difference.removed, *(after for _, after in difference.changed)]
        numbers |= {row[event] for row in rows if (table, row[key]) not in same}
    return numbers


# -- everything else ---------------------------------------------------------------------------------------


def _others(changes: Changes) -> list[str]:
    """Services that have nothing to do with the task."""
    return sorted(changes.services() - {"calendar", "email", "claim_done"})
