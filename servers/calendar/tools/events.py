"""Tools for events."""

# ruff: noqa: N803 - the names of parameters and fields are Google's
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict, Unpack

from mesocosm.errors import Invalid
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.store.times import FIRST, LAST, day_after, known_zone, window_bound
from mesocosm.servers.calendar.store.windows import Window
from mesocosm.servers.calendar.tools.service import CalendarId, MaxResults, PageToken, ShownZone, server
from mesocosm.servers.calendar.tools.views import event_view, page_view
from mesocosm.services.schema import Json, Number, Words

Status = Literal["confirmed", "tentative", "cancelled"]
Visibility = Literal["default", "public", "private", "confidential"]
Transparency = Literal["opaque", "transparent"]
Response = Literal["needsAction", "declined", "tentative", "accepted"]


class DateTime(TypedDict):
    """A point in time."""

    dateTime: str
    timeZone: NotRequired[str]


class Attendee(TypedDict):
    """A guest."""

    email: str
    displayName: NotRequired[str]
    optional: NotRequired[bool]
    responseStatus: NotRequired[Response]
    comment: NotRequired[str]


class Override(TypedDict):
    """A reminder."""

    method: Literal["email", "popup"]
    minutes: int


class Reminders(TypedDict):
    """The reminders of an event."""

    useDefault: NotRequired[bool]
    overrides: NotRequired[list[Override]]


class NewAllDay(TypedDict, total=False):
    """What may be said of a new event besides its title and when it is."""

    description: str
    location: str
    attendees: list[Attendee]
    recurrence: list[str]
    reminders: Reminders
    visibility: Visibility
    transparency: Transparency
    colorId: str


class NewTimed(NewAllDay, total=False):
    """The same of an event with times."""

    status: Literal["confirmed", "tentative"]
    guestsCanModify: bool


class Changes(NewAllDay, total=False):
    """What may be said anew, besides when it is."""

    summary: str
    status: Status
    guestsCanModify: bool


@server.writes
def create_event(
    store: CalendarStore,
    summary: str,
    start: DateTime,
    end: DateTime,
    calendarId: str = "primary",
    eventId: str | None = None,
    **more: Unpack[NewTimed],
) -> Json:
    """Create an event with a start and an end time, and return it. Guests with an account see it at once.

    For an event that lasts whole days use create_all_day_event.

    Args:
        summary: Title of the event.
        start: Start as {dateTime, timeZone}. dateTime is RFC 3339, such as 2025-06-03T10:00:00-07:00; without
            an offset, timeZone (an IANA name such as America/New_York) is required.
        end: End, exclusive, in the same form as start.
        description: Longer text.
        location: Where it takes place, as free text.
        calendarId: The calendar; 'primary' is your own.
        attendees: Guests to invite, each with an email.
        recurrence: RRULE, RDATE and EXDATE lines of RFC 5545, such as RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=10.
            Needs start.timeZone.
        reminders: {useDefault: true}, or {useDefault: false, overrides: [{method, minutes}]} with up to 5.
        status: confirmed (the default) or tentative.
        visibility: Who may see the details.
        transparency: opaque (the default) blocks time in free/busy, transparent does not.
        colorId: Colour of the event, 1 to 11 (see list_colors).
        guestsCanModify: Whether guests may change the event.
        eventId: An id of your own: 5 to 1024 characters out of a-v and 0-9.
    """
    fields: Any = {"summary": summary, "start": start, "end": end, **more}
    return event_view(*store.create_event(calendarId, fields, eventId))


@server.writes
def create_all_day_event(
    store: CalendarStore,
    summary: str,
    startDate: str,
    endDate: str | None = None,
    calendarId: str = "primary",
    **more: Unpack[NewAllDay],
) -> Json:
    """Create an event that lasts one or more whole days, and return it.

    Args:
        summary: Title of the event.
        startDate: First day, as YYYY-MM-DD.
        endDate: The day after the last day; left out, the event lasts one day.
        description: Longer text.
        location: Where it takes place, as free text.
        calendarId: The calendar; 'primary' is your own.
        attendees: Guests to invite, each with an email.
        recurrence: RRULE, RDATE and EXDATE lines of RFC 5545, such as RRULE:FREQ=YEARLY; their dates have
            no time.
        reminders: {useDefault: true}, or {useDefault: false, overrides: [{method, minutes}]}.
        visibility: Who may see the details.
        transparency: opaque (the default) blocks time in free/busy, transparent does not.
        colorId: Colour of the event, 1 to 11 (see list_colors).
    """
    days = {"start": {"date": startDate}, "end": {"date": endDate or _next_day(startDate)}}
    fields: Any = {"summary": summary, **days, **more}
    return event_view(*store.create_event(calendarId, fields))


@server.reads
def get_event(
    store: CalendarStore, eventId: str, calendarId: CalendarId = "primary", timeZone: ShownZone | None = None
) -> Json:
    """Read one event, recurring event or instance in full. A deleted one has the status 'cancelled'.

    Args:
        eventId: The id of the event; for an instance, the id that list_events returns for it.
    """
    return event_view(*store.lists.event(calendarId, eventId), _zone(timeZone))


@server.writes(destructive=True, idempotent=True)
def update_event(
    store: CalendarStore,
    eventId: str,
    start: DateTime | None = None,
    end: DateTime | None = None,
    calendarId: str = "primary",
    startDate: str | None = None,
    endDate: str | None = None,
    **changes: Unpack[Changes],
) -> Json:
    """Change an event: only what is given changes. Returns the event as it is now.

    The id of a recurring event changes the whole series, the id of an instance that instance alone.

    Args:
        eventId: The id of the event or instance.
        summary: New title.
        start: New start as {dateTime, timeZone}; give end too when the event moves.
        end: New end, exclusive.
        description: New text; an empty text removes it.
        location: New place; an empty text removes it.
        calendarId: The calendar; 'primary' is your own.
        startDate: For an all-day event: new first day, as YYYY-MM-DD.
        endDate: For an all-day event: the day after the last day.
        attendees: The complete new list of guests; those who stay keep their answer.
        recurrence: The complete new recurrence lines; an empty list makes it a single event.
        reminders: New reminders of yours for this event.
        status: cancelled deletes the event; confirmed or tentative restores a deleted one.
        visibility: Who may see the details.
        transparency: opaque blocks time in free/busy, transparent does not.
        colorId: Colour of the event, 1 to 11.
        guestsCanModify: Whether guests may change the event.
    """
    moved = {"start": _end_of_event(start, startDate, "start"), "end": _end_of_event(end, endDate, "end")}
    given: Any = {**changes, **{name: time for name, time in moved.items() if time is not None}}
    return event_view(*store.update_event(calendarId, eventId, given))


@server.writes(destructive=True)
def delete_event(store: CalendarStore, eventId: str, calendarId: CalendarId = "primary") -> str:
    """Delete an event, a whole recurring event, or one instance; as a guest, from your calendar only.

    Args:
        eventId: The id of the event; the id of an instance deletes that instance alone.
    """
    store.delete_event(calendarId, eventId)
    return f"Event {eventId} deleted successfully"


@server.reads(long=True)
def list_events(
    store: CalendarStore,
    timeMin: str,
    timeMax: str,
    maxResults: MaxResults | None = None,
    orderBy: Literal["startTime", "updated"] | None = None,
    calendarId: CalendarId = "primary",
    q: Words | None = None,
    singleEvents: bool = True,
    showDeleted: bool = False,
    timeZone: ShownZone | None = None,
    pageToken: PageToken | None = None,
) -> Json:
    """List the events of a calendar that overlap a time range, recurring events as their instances.

    While the answer has a nextPageToken there are more: call again with it as pageToken, all else the same.

    Args:
        timeMin: Events that end after this RFC 3339 timestamp with an offset, such as 2025-06-03T00:00:00Z.
        timeMax: Events that start before this timestamp.
        orderBy: startTime (the default) or updated, oldest change first.
        q: Only events with all these words in title, description, location or guests; quotes hold a phrase.
        singleEvents: false lists recurring events as such; orderBy startTime is not available then.
        showDeleted: Include deleted events, which have the status 'cancelled'.
    """
    window = Window(
        since=window_bound(timeMin, "timeMin"),
        until=window_bound(timeMax, "timeMax"),
        text=q or None,
        order=orderBy or ("startTime" if singleEvents else "none"),
        single=singleEvents,
        deleted=showDeleted,
        limit=maxResults,
        token=pageToken,
    )
    return page_view(store.lists.list_events(calendarId, window), _zone(timeZone))


@server.reads(long=True)
def search_events(
    store: CalendarStore,
    query: Words,
    timeMin: str | None = None,
    timeMax: str | None = None,
    maxResults: MaxResults | None = None,
    calendarId: CalendarId = "primary",
    timeZone: ShownZone | None = None,
    pageToken: PageToken | None = None,
) -> Json:
    """Find events by words in their title, description, location or guests, at any time or in a range.

    While the answer has a nextPageToken there are more: call again with it as pageToken, all else the same.

    Args:
        query: Words that must all occur; a phrase goes in quotes.
        timeMin: Only events that end after this RFC 3339 timestamp with an offset.
        timeMax: Only events that start before this timestamp. Without it recurring events go on very long.
    """
    window = Window(
        since=_bound(timeMin, "timeMin"),
        until=_bound(timeMax, "timeMax"),
        text=query,
        limit=maxResults,
        token=pageToken,
    )
    return page_view(store.lists.list_events(calendarId, window), _zone(timeZone))


@server.reads(long=True)
def list_event_instances(
    store: CalendarStore,
    eventId: str,
    timeMin: str | None = None,
    timeMax: str | None = None,
    maxResults: Number | None = None,
    calendarId: CalendarId = "primary",
    showDeleted: bool = False,
    timeZone: ShownZone | None = None,
    pageToken: PageToken | None = None,
) -> Json:
    """List the instances of one recurring event, in the order of their start.

    While the answer has a nextPageToken there are more: call again with it as pageToken, all else the same.

    Args:
        eventId: The id of the recurring event (recurringEventId of its instances).
        timeMin: Only instances that end after this RFC 3339 timestamp with an offset.
        timeMax: Only instances that start before this timestamp.
        maxResults: Most instances on a page; 250 is the default and the most a page holds.
        showDeleted: Include deleted instances, which have the status 'cancelled'.
    """
    window = Window(
        since=_bound(timeMin, "timeMin"),
        until=_bound(timeMax, "timeMax"),
        deleted=showDeleted,
        limit=maxResults,
        token=pageToken,
    )
    return page_view(store.lists.instances(calendarId, eventId, window), _zone(timeZone))


@server.reads(long=True)
def list_changed_events(
    store: CalendarStore,
    syncToken: str,
    maxResults: MaxResults | None = None,
    calendarId: CalendarId = "primary",
) -> Json:
    """List the events that were added, changed or deleted since a listing, oldest change first.

    Deleted ones have the status 'cancelled'; recurring events come as such, not as instances. With a
    nextPageToken there are more: pass it as the syncToken of the next call.

    Args:
        syncToken: The nextSyncToken of an earlier answer of list_events or of this tool.
    """
    return page_view(store.lists.changed_events(calendarId, syncToken, maxResults))


@server.writes(idempotent=True)
def respond_to_event(
    store: CalendarStore,
    eventId: str,
    response: Literal["accepted", "declined", "tentative"],
    comment: str | None = None,
    calendarId: str = "primary",
) -> Json:
    """Answer an invitation: to an event, to a whole recurring event, or to one instance of it.

    Args:
        eventId: The id of the event or instance.
        response: Your answer.
        comment: A note to the organizer.
        calendarId: The calendar that was invited; 'primary' is your own.
    """
    return event_view(*store.respond(calendarId, eventId, response, comment))


@server.writes
def move_event(store: CalendarStore, eventId: str, destination: str, calendarId: str = "primary") -> Json:
    """Move an event to another calendar, which becomes its organizer.

    Args:
        eventId: The id of the event; a recurring event moves as a whole.
        destination: The calendar to move it to.
        calendarId: The calendar it is on now; 'primary' is your own.
    """
    return event_view(*store.move_event(calendarId, eventId, destination))


def _end_of_event(time: DateTime | None, day: str | None, end: str) -> Json | None:
    if time is not None and day is not None:
        raise Invalid(f"Give either {end} or {end}Date.", code="invalid")
    return {"date": day} if day is not None else None if time is None else {**time}


def _next_day(day: str) -> str:
    try:
        return day_after(day)
    except (ValueError, OverflowError):
        return day  # which is refused as the start already


def _bound(text: str | None, name: str) -> Any:
    if text is None:
        return FIRST if name == "timeMin" else LAST
    return window_bound(text, name)


def _zone(name: str | None) -> str | None:
    return None if name is None else known_zone(name)
