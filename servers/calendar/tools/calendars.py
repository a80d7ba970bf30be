"""Tools for calendars and the list of calendars."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.tools.service import CalendarId, PageToken, server
from mesocosm.servers.calendar.tools.views import calendar_view
from mesocosm.services.schema import Json


@server.reads
def list_calendars(
    store: CalendarStore, maxResults: int | None = None, pageToken: PageToken | None = None
) -> Json:
    """List your calendars: your own, and those of others on your list, each with your accessRole.

    Args:
        maxResults: Most calendars on a page; 100 is the default, 250 the most.
    """
    calendars, next_token = store.list_calendars(maxResults, pageToken)
    view: Json = {"items": [calendar_view(calendar) for calendar in calendars]}
    return view | ({"nextPageToken": next_token} if next_token else {})


@server.reads
def get_calendar(store: CalendarStore, calendarId: CalendarId = "primary") -> Json:
    """Read title, description, time zone and your role of one calendar."""
    return calendar_view(store.calendar(calendarId))


@server.writes
def create_calendar(
    store: CalendarStore,
    summary: str,
    description: str | None = None,
    location: str | None = None,
    timeZone: str | None = None,
) -> Json:
    """Create a secondary calendar that you own, and return it.

    Args:
        summary: Title of the calendar.
        description: What it is for.
        location: Where its events take place, as free text.
        timeZone: IANA time zone such as Europe/Zurich; your primary calendar's if left out.
    """
    made = store.create_calendar(summary, timeZone, description=description, location=location)
    return calendar_view(store.calendar(made))


@server.writes(destructive=True, idempotent=True)
def update_calendar(
    store: CalendarStore,
    calendarId: CalendarId,
    summary: str | None = None,
    description: str | None = None,
    location: str | None = None,
    timeZone: str | None = None,
) -> Json:
    """Change a calendar that you own: only what is given changes.

    Args:
        summary: New title.
        description: New description; an empty text removes it.
        location: New location; an empty text removes it.
        timeZone: New IANA time zone.
    """
    given = {"summary": summary, "description": description, "location": location, "time_zone": timeZone}
    changes = {name: value for name, value in given.items() if value is not None}
    return calendar_view(store.update_calendar(calendarId, changes))


@server.writes(destructive=True)
def delete_calendar(store: CalendarStore, calendarId: str) -> str:
    """Delete a secondary calendar that you own, with all its events.

    Args:
        calendarId: The calendar; your primary calendar cannot be deleted.
    """
    store.delete_calendar(calendarId)
    return f"Calendar {calendarId} deleted successfully"


@server.writes(idempotent=True)
def subscribe_calendar(store: CalendarStore, calendarId: str, summaryOverride: str | None = None) -> Json:
    """Add a calendar that others share with you to your list of calendars.

    Args:
        calendarId: The calendar.
        summaryOverride: A title of your own for it.
    """
    return calendar_view(store.subscribe(calendarId, summaryOverride))


@server.writes(destructive=True)
def unsubscribe_calendar(store: CalendarStore, calendarId: str) -> str:
    """Remove somebody else's calendar from your list of calendars.

    Args:
        calendarId: The calendar.
    """
    store.unsubscribe(calendarId)
    return f"Calendar {calendarId} removed from your list"
