"""How events and calendars are shown: the resources of Google's Calendar API."""

from __future__ import annotations

import base64

import orjson

from mesocosm.servers.calendar.store.calendars import Access
from mesocosm.servers.calendar.store.event_lists import OWN_UID
from mesocosm.servers.calendar.store.event_types import MEET, PROPERTIES_OF_TYPES
from mesocosm.servers.calendar.store.times import in_zone, read
from mesocosm.servers.calendar.store.windows import EventPage, Occurrence
from mesocosm.services.schema import Json
from mesocosm.services.service import Row, same


def event_view(access: Access, event: Occurrence, zone: str | None = None) -> Json:
    """An event as somebody with this access may see it, its times in a time zone (the calendar's)."""
    row, zone = event.row, zone or access.time_zone
    start_zone, end_zone = row["start_time_zone"], row["end_time_zone"]
    view: Json = {
        "id": event.id,
        "status": "cancelled" if row["cancelled"] else row["status"],
        "etag": _etag(row),
        "start": point_view(event.start, start_zone, zone),
        "end": point_view(event.end, end_zone, zone),
    }
    if event.is_instance or row["series_id"]:
        view["recurringEventId"] = row["id"] if event.is_instance else row["series_id"]
        view["originalStartTime"] = point_view(event.original or event.start, start_zone, zone)
    if not access.may("reader") or (
        row["visibility"] in ("private", "confidential") and not access.may("writer")
    ):
        return view | {"visibility": "private"}
    return view | _details(access, event)


def _details(access: Access, event: Occurrence) -> Json:
    row = event.row
    details: Json = {
        **same(row, "summary", "description", "location"),
        "colorId": row["color_id"],
        "recurrence": row["recurrence"].split("\n") if row["recurrence"] and not event.is_instance else None,
        "creator": _person(row["creator"], row["creator_name"], access),
        "organizer": _person(row["organizer"], row["organizer_name"], access),
        "attendees": _attendees(access, event) or None,
        "visibility": row["visibility"] if row["visibility"] != "default" else None,
        "transparency": row["transparency"] if row["transparency"] != "opaque" else None,
        "guestsCanModify": row["guests_can_modify"] or None,
        "guestsCanInviteOthers": None if row["guests_can_invite_others"] else False,
        "guestsCanSeeOtherGuests": None if row["guests_can_see_other_guests"] else False,
        "reminders": _reminders(row),
        "created": row["created"][:-1] + ".000Z",
        "updated": row["updated"][:-1] + ".000Z",
        "sequence": row["sequence"],
        "iCalUID": row["ical_uid"] or f"{row['series_id'] or row['id']}{OWN_UID}",
        "htmlLink": f"https://www.google.com/calendar/event?eid={_eid(event.id, access.id)}",
        "eventType": row["event_type"],
        **_type_and_conference(row),
    }
    return {name: value for name, value in details.items() if value is not None}


def _type_and_conference(row: Row) -> Json:
    found: Json = {}
    if row["type_properties"]:
        found[PROPERTIES_OF_TYPES[row["event_type"]]] = orjson.loads(row["type_properties"])
    if row["conference"]:
        conference = orjson.loads(row["conference"])
        found["conferenceData"] = conference
        if conference["conferenceSolution"]["key"]["type"] == MEET:
            found["hangoutLink"] = conference["entryPoints"][0]["uri"]
    return found


def point_view(at: str, own_zone: str | None, zone: str) -> Json:
    """One end of an event: a date, or a date-time with the offset of ``zone``."""
    if len(at) == 10:
        return {"date": at}
    return {"dateTime": in_zone(at, zone), "timeZone": own_zone or zone}


def page_view(page: EventPage, zone: str | None = None) -> Json:
    """One page of events."""
    view: Json = {
        "summary": page.calendar.summary,
        "timeZone": zone or page.calendar.time_zone,
        "accessRole": page.calendar.role,
        "defaultReminders": page.calendar.default_reminders,
        "items": [event_view(page.calendar, item, zone) for item in page.items],
        "count": len(page.items),
    }
    if page.next_token:
        view["nextPageToken"] = page.next_token
    elif page.sync_token:
        view["nextSyncToken"] = page.sync_token
    return view


def calendar_view(access: Access) -> Json:
    """A calendar of the account's list."""
    view: Json = {
        "id": access.id,
        "summary": access.summary,
        "summaryOverride": access.summary_override,
        "description": access.description,
        "location": access.location,
        "timeZone": access.time_zone,
        "colorId": access.color_id,
        "accessRole": access.role,
        "dataOwner": None if access.primary else access.owner,
        "defaultReminders": access.default_reminders,
        "primary": access.primary or None,
    }
    return {name: value for name, value in view.items() if value is not None}


def rule_view(scope: str, role: str) -> Json:
    """An access rule."""
    kind, _, value = scope.partition(":")
    return {"id": scope, "scope": {"type": kind} | ({"value": value} if value else {}), "role": role}


def _person(email: str, name: str | None, access: Access) -> Json:
    person: Json = {"email": email}
    if name and name != email:
        person["displayName"] = name
    return person | ({"self": True} if email == access.id else {})


def _attendees(access: Access, event: Occurrence) -> list[Json]:
    organizer = event.row["organizer"]
    hidden = not event.row["guests_can_see_other_guests"] and access.id != organizer
    shown = [row for row in event.attendees if not hidden or row["email"] in (access.id, organizer)]
    return [_attendee(row, organizer, access) for row in shown]


def _attendee(row: Row, organizer: str, access: Access) -> Json:
    view = {
        "email": row["email"],
        "displayName": row["display_name"],
        "organizer": row["email"] == organizer or None,
        "self": row["email"] == access.id or None,
        "optional": row["optional"] or None,
        "responseStatus": row["response_status"],
        "comment": row["comment"],
    }
    return {name: value for name, value in view.items() if value is not None}


def _reminders(row: Row) -> Json:
    if row["reminders"] is None:
        return {"useDefault": True}
    overrides = orjson.loads(row["reminders"])
    return {"useDefault": False} | ({"overrides": overrides} if overrides else {})


def _etag(row: Row) -> str:
    """Twice the microseconds of the last change, as Google's, plus the revision to tell changes apart."""
    changed = read(row["updated"])
    seconds = (changed - _EPOCH).total_seconds()
    return f'"{int(seconds) * 2_000_000 + row["revision"]}"'


_EPOCH = read("1970-01-01T00:00:00Z")


def _eid(event_id: str, calendar_id: str) -> str:
    return base64.b64encode(f"{event_id} {calendar_id}".encode()).decode().rstrip("=")
