"""Google Calendar's error responses for disturbances."""

from __future__ import annotations

import random

from sqlalchemy import select

from mesocosm.servers.calendar.models import Attendee, Calendar, Entry, Event, SignIn
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.services.troubles import Touched, began, google_troubles

TROUBLES = google_troubles(
    "Google Calendar",
    "Rate Limit Exceeded: the quota of queries per minute and user is used up; retry with exponential "
    "backoff.",
    status=403,
)


_UNANSWERED = (
    select(Attendee.id)
    .join(Event, Event.number == Attendee.event)
    .where(
        Attendee.response_status == "needsAction",
        Attendee.email.not_in(select(SignIn.email)),
        Event.status != "cancelled",
    )
    .order_by(Attendee.id)
)
_MINE = (
    select(Entry.id, Entry.color_id)
    .join(Event, Event.number == Entry.event)
    .join(Calendar, Calendar.number == Entry.calendar)
    .where(Calendar.owner.in_(select(SignIn.email)), ~Entry.cancelled)
    .order_by(Entry.id)
)
_COLORS = 11


def touch(store: CalendarStore, dice: random.Random) -> Touched | None:
    """Make an invited guest respond; without one, change the colour of an event."""
    early = Event.created <= began(store)
    if unanswered := store.session.scalars(_UNANSWERED.where(early)).all():
        answer = dice.choice(["accepted", "tentative"])
        return Touched("attendees", {"id": dice.choice(unanswered)}, {"response_status": answer})
    if not (mine := store.session.execute(_MINE.where(early)).all()):
        return None
    number, color = dice.choice(mine)
    return Touched("entries", {"id": number}, {"color_id": str(int(color or 0) % _COLORS + 1)})
