"""Conversion of a caller's event into stored form, with all checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import orjson

from mesocosm.errors import Invalid
from mesocosm.servers.calendar.store.calendars import address, clean
from mesocosm.servers.calendar.store.recurrence import check, end_of, joined
from mesocosm.servers.calendar.store.times import FOREVER, midnight, point
from mesocosm.servers.calendar.store.windows import series_of

RESPONSES = ("needsAction", "declined", "tentative", "accepted")
MAX_ATTENDEES = 200
MAX_REMINDERS = 5
MAX_REMINDER_MINUTES = 40_320
EVENT_COLORS = 11
MAX_PROPERTIES = 300
MAX_PROPERTY_NAME = 44
MAX_PROPERTY = 1024
MAX_UID = 1024

_CHOICES = {
    "status": ("confirmed", "tentative", "cancelled"),
    "visibility": ("default", "public", "private", "confidential"),
    "transparency": ("opaque", "transparent"),
}
_TEXTS = {"summary": 1024, "description": 8192, "location": 1024}
_GUESTS = {
    "guestsCanModify": "guests_can_modify",
    "guestsCanInviteOthers": "guests_can_invite_others",
    "guestsCanSeeOtherGuests": "guests_can_see_other_guests",
}

DEFAULTS: Mapping[str, Any] = {
    "status": "confirmed",
    "summary": None,
    "description": None,
    "location": None,
    "visibility": "default",
    "transparency": "opaque",
    "guests_can_modify": False,
    "guests_can_invite_others": True,
    "guests_can_see_other_guests": True,
    "shared_properties": None,
    "ical_uid": None,
    "foreign_organizer": None,
    "foreign_organizer_name": None,
    "event_type": "default",
    "type_properties": None,
    "conference": None,
}


class Guest(TypedDict, total=False):
    """A person invited to an event; only ``email`` is required."""

    email: str
    displayName: str
    optional: bool
    responseStatus: str
    comment: str


class EventFields(TypedDict, total=False):
    """Fields of an event; its ends are Google's: ``{dateTime, timeZone}`` or ``{date}``."""

    start: Mapping[str, Any]
    end: Mapping[str, Any]
    summary: str
    description: str
    location: str
    status: str
    visibility: str
    transparency: str
    recurrence: Sequence[str]
    """RRULE, RDATE and EXDATE lines."""
    attendees: Sequence[Guest]
    reminders: Mapping[str, Any] | None
    """``{useDefault, overrides: [{method, minutes}]}``."""
    colorId: str
    guestsCanModify: bool
    guestsCanInviteOthers: bool
    guestsCanSeeOtherGuests: bool
    shared_properties: Mapping[str, str]
    """Extended properties that all calendars see."""
    private_properties: Mapping[str, str]
    """Extended properties of the event on one calendar."""
    conferenceData: Mapping[str, Any] | None
    eventType: str
    birthdayProperties: Mapping[str, Any]
    focusTimeProperties: Mapping[str, Any]
    outOfOfficeProperties: Mapping[str, Any]
    workingLocationProperties: Mapping[str, Any]


class NewEvent(EventFields, total=False):
    """An event to be put on a calendar as if it had always been there."""

    id: str
    """5 to 1024 characters of base32hex (a to v, 0 to 9); one is made where none is given."""
    created: str
    """An instant such as ``2025-01-15T09:00:00Z``; ``updated`` likewise. The world's clock if left out."""
    updated: str
    creator: str
    """An address; the owner of the calendar if left out."""
    ical_uid: str
    """Of an event that is from elsewhere."""
    organizer: Mapping[str, str]
    """``{email, displayName}`` of whom such an event is."""
    copied: bool
    """It is on this calendar alone, whoever its guests are."""


def plain_columns(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that need no conversion; an empty text means none."""
    columns: dict[str, Any] = {}
    for name, longest in _TEXTS.items():
        if name in given:
            columns[name] = clean(given[name] or "", name, longest) or None
    for name, choices in _CHOICES.items():
        if name in given:
            if given[name] not in choices:
                raise Invalid(
                    f"Invalid value for {name}: one of {', '.join(choices)} is expected.", code="invalid"
                )
            columns[name] = given[name]
    if "shared_properties" in given:
        columns["shared_properties"] = properties_column(given["shared_properties"])
    return columns | {column: given[name] for name, column in _GUESTS.items() if name in given}


def foreign_columns(given: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """Return the columns of an imported event: its foreign id and organizer."""
    columns: dict[str, Any] = {}
    if "ical_uid" in given:
        columns["ical_uid"] = clean(given["ical_uid"], "iCalUID", MAX_UID)
    whose = given.get("organizer") or {}
    if whose.get("email") and address(whose["email"]) != owner:
        columns["foreign_organizer"] = address(whose["email"])
        name = clean(whose.get("displayName") or "", "organizer.displayName", 200)
        columns["foreign_organizer_name"] = name or None
    return columns


def time_columns(given: Mapping[str, Any], calendar_zone: str) -> dict[str, Any]:
    """The columns that say when an event is, from its ``start``, ``end`` and ``recurrence``."""
    for name in ("start", "end"):
        if not given.get(name):
            raise Invalid(f"Missing {name} time.", code="required")
    start, end = point(given["start"], "start"), point(given["end"], "end")
    if start.is_date != end.is_date:
        raise Invalid("Start and end times must either both be date or both be dateTime.", code="invalid")
    if end.at < start.at or (start.is_date and end.at == start.at):
        hint = "; the end of whole days is the day after the last" if start.is_date else ""
        raise Invalid(
            f"The specified time range is empty: it would start at {start.at} and end at {end.at}. An event"
            f" that is moved needs both its start and its end{hint}.",
            code="timeRangeEmpty",
        )
    columns = {
        "all_day": start.is_date,
        "start_at": start.at,
        "end_at": end.at,
        "start_time_zone": None if start.is_date else start.zone or calendar_zone,
        "end_time_zone": None if start.is_date else end.zone or start.zone or calendar_zone,
        "recurrence": None,
        "last_start": None,
    }
    if given.get("recurrence"):
        if not start.is_date and start.zone is None:
            raise Invalid(
                "Missing time zone definition for start time: a series needs the timeZone of its start and"
                " end, such as 'America/New_York'.",
                code="required",
            )
        columns["recurrence"] = joined(given["recurrence"])
        last = check(series_of(columns, calendar_zone))
        columns["last_start"] = None if last is None else last.isoformat()
    return columns


def span_on(columns: Mapping[str, Any], calendar_zone: str) -> dict[str, Any]:
    """The columns of an entry that say when the event is on a calendar of that time zone."""
    starts, ends = columns["start_at"], columns["end_at"]
    if columns["all_day"]:
        starts, ends = midnight(starts, calendar_zone), midnight(ends, calendar_zone)
    recurring = columns["recurrence"] is not None
    if recurring:
        ends = end_of(series_of(columns, calendar_zone)) or FOREVER
    return {"starts": starts, "ends": ends, "recurring": recurring}


def reminder_column(given: Mapping[str, Any] | None) -> str | None:
    """The reminders of an entry; ``None`` stands for the calendar's default ones."""
    overrides = (given or {}).get("overrides") or []
    if given is None or given.get("useDefault", not overrides):
        if overrides:
            raise Invalid(
                "Cannot specify both default reminders and overrides at the same time.",
                code="cannotUseDefaultRemindersAndSpecifyOverride",
            )
        return None
    if len(overrides) > MAX_REMINDERS:
        raise Invalid(f"At most {MAX_REMINDERS} reminder overrides.", code="invalid")
    for override in overrides:
        if override.get("method") not in ("email", "popup"):
            raise Invalid("Invalid reminder method: email or popup is expected.", code="invalid")
        minutes = override.get("minutes")
        if not isinstance(minutes, int) or not 0 <= minutes <= MAX_REMINDER_MINUTES:
            raise Invalid(f"Reminder minutes must be from 0 to {MAX_REMINDER_MINUTES}.", code="invalid")
    return orjson.dumps([{"method": o["method"], "minutes": o["minutes"]} for o in overrides]).decode()


def properties_column(given: Mapping[str, str] | None) -> str | None:
    """Extended properties, ``None`` without any."""
    if not given:
        return None
    if len(given) > MAX_PROPERTIES:
        raise Invalid(f"At most {MAX_PROPERTIES} extended properties.", code="invalid")
    for name, value in given.items():
        clean(name, "the name of an extended property", MAX_PROPERTY_NAME)
        clean(value, "an extended property", MAX_PROPERTY)
    return orjson.dumps(dict(given)).decode()


def color_column(given: str | None) -> str | None:
    """The colour of an entry, ``None`` for the calendar's own."""
    if given and given not in {str(number) for number in range(1, EVENT_COLORS + 1)}:
        raise Invalid(f"Invalid value for colorId: 1 to {EVENT_COLORS} is expected.", code="invalid")
    return given or None


def attendee_rows(guests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of invited people, without their event; one who is named twice is invited once."""
    if len(guests) > MAX_ATTENDEES:
        raise Invalid(f"The number of attendees exceeds the limit of {MAX_ATTENDEES}.", code="invalid")
    rows: dict[str, dict[str, Any]] = {}
    for guest in guests:
        email = address(guest.get("email", ""), "Invalid attendee email")
        response = guest.get("responseStatus") or "needsAction"
        if response not in RESPONSES:
            raise Invalid(
                f"Invalid responseStatus: one of {', '.join(RESPONSES)} is expected.", code="invalid"
            )
        rows.setdefault(
            email,
            {
                "email": email,
                "display_name": clean(guest.get("displayName") or "", "displayName", 200) or None,
                "optional": bool(guest.get("optional")),
                "response_status": response,
                "comment": clean(guest.get("comment") or "", "comment", 1024) or None,
            },
        )
    return list(rows.values())


def people(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the text that a search for people matches."""
    return " ".join(f"{row['display_name'] or ''} {row['email']}".strip() for row in rows)
