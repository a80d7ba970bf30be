"""The calendars as the agent left them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, func, select

from mesocosm.servers.calendar.models import Attendee, Calendar, Event
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.services.world import World


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
