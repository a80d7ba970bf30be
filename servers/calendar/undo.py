"""Undoing changes to calendars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mesocosm.services.undo import Done, ToolCall

_TIMES = {"start": "start", "end": "end", "startDate": "start", "endDate": "end"}
_ABSENT = {"attendees": [], "recurrence": [], "visibility": "default", "transparency": "opaque",
           "guestsCanModify": False}  # fmt: skip
"""Values of fields that an event does not show; "" for the others."""
_GUEST = ("email", "displayName", "optional", "responseStatus", "comment")
_ALWAYS = {"timeMin": "0001-01-02T00:00:00Z", "timeMax": "9999-12-30T00:00:00Z"}


def _delete(done: Done) -> list[ToolCall]:
    return [("delete_event", {"eventId": done.value["id"], **_calendar(done)})]


def _update(done: Done) -> list[ToolCall]:
    event = done.earlier("get_event", eventId=done.arguments["eventId"], **_calendar(done))
    if not isinstance(event, dict) or _left_as_a_guest(done, event):
        return []
    # Instances that had been changed followed their series, or went with it.
    return [_restored(done, one) for one in (event, *_changed_instances(done, event))]


def _left_as_a_guest(done: Done, event: dict[str, Any]) -> bool:
    """True if somebody else's event was deleted from the own calendar. Only its organizer can restore it."""
    return done.arguments.get("status") == "cancelled" and not event.get("organizer", {}).get("self")


def _restored(done: Done, event: dict[str, Any]) -> ToolCall:
    given = {name for name, value in done.arguments.items() if value is not None}
    changed = given - {"eventId", "calendarId"}
    fields = {_TIMES.get(name, name) for name in changed}
    if "recurringEventId" in event and event["id"] != done.arguments["eventId"]:
        fields = (fields - {"recurrence"}) | {"status"}
    before = dict(_before(event, sorted(fields)))
    return "update_event", {"eventId": event["id"], **before, **_calendar(done)}


def _before(event: dict[str, Any], fields: list[str]) -> Iterator[tuple[str, Any]]:
    for name in fields:
        value = event.get(name, _ABSENT.get(name, ""))
        if name in ("start", "end"):
            yield (f"{name}Date", value["date"]) if "date" in value else (name, value)
        elif name == "attendees":
            yield name, [{part: guest[part] for part in _GUEST if part in guest} for guest in value]
        else:
            yield name, value


def _changed_instances(done: Done, event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The instances of a series that had been changed by themselves, as they were."""
    token: dict[str, str] | None = {} if "recurrence" in event else None
    while token is not None:
        page = done.earlier("list_events", **_ALWAYS, singleEvents=False, **token, **_calendar(done))
        if not isinstance(page, dict):
            return
        yield from (one for one in page["items"] if one.get("recurringEventId") == event["id"])
        token = {"pageToken": page["nextPageToken"]} if "nextPageToken" in page else None


def _calendar(done: Done) -> dict[str, str]:
    return {"calendarId": done.arguments["calendarId"]} if "calendarId" in done.arguments else {}


UNDO = {"create_event": _delete, "create_all_day_event": _delete, "update_event": _update}
