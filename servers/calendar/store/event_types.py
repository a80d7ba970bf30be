"""Events that are no meetings: focus time, time out of office, places of work, birthdays; and conferences."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import orjson

from mesocosm.errors import Invalid
from mesocosm.servers.calendar.store.calendars import clean

EVENT_TYPES = ("birthday", "default", "focusTime", "fromGmail", "outOfOffice", "workingLocation")
PROPERTIES_OF_TYPES = {
    name: f"{name}Properties" for name in EVENT_TYPES if name not in ("default", "fromGmail")
}
MEET = "hangoutsMeet"
"""The one solution that conferences are made with; others are kept as an add-on brings them."""
MAX_CONFERENCE = 8192

_MUST_BE: Mapping[str, Mapping[str, Any]] = {
    "birthday": {"visibility": "private", "transparency": "transparent", "all_day": True},
    "focusTime": {"transparency": "opaque", "all_day": False},
    "outOfOffice": {"transparency": "opaque", "all_day": False},
    "workingLocation": {"visibility": "public", "transparency": "transparent"},
}
_CHOICES = {
    "autoDeclineMode": (
        "declineNone",
        "declineAllConflictingInvitations",
        "declineOnlyNewConflictingInvitations",
    ),
    "chatStatus": ("available", "doNotDisturb"),
}
_LOCATIONS = {
    "homeOffice": "homeOffice",
    "officeLocation": "officeLocation",
    "customLocation": "customLocation",
}


def type_columns(
    given: Mapping[str, Any], before: str = "default", kept: str | None = None
) -> dict[str, Any]:
    """Return the columns of an event's type and its properties, from the request and the previous values."""
    kind = given.get("eventType", before)
    if kind not in EVENT_TYPES or kind == "fromGmail":
        known = ", ".join(name for name in EVENT_TYPES if name != "fromGmail")
        raise Invalid(f"Invalid value for eventType: one of {known} is expected.", code="invalid")
    own: dict[str, Any] = {}
    for name in PROPERTIES_OF_TYPES.values():
        if given.get(name) is None:
            continue
        if name != PROPERTIES_OF_TYPES.get(kind):
            raise Invalid(f"Invalid value for {name}: the event's type is {kind}.", code="invalid")
        own = {**(orjson.loads(kept) if kept else {}), **given[name]}
        _check(name, own)
    columns = {"event_type": kind}
    return columns | ({"type_properties": orjson.dumps(own).decode()} if own else {})


def _check(name: str, own: Mapping[str, Any]) -> None:
    for field, choices in _CHOICES.items():
        if field in own and own[field] not in choices:
            raise Invalid(
                f"Invalid value for {name}.{field}: one of {', '.join(choices)} is expected.", code="invalid"
            )
    if own.get("autoDeclineMode", "declineNone") != "declineNone":
        raise Invalid(
            f"{name}.autoDeclineMode {own['autoDeclineMode']} is not supported here: nothing is declined by"
            " itself, so declineNone is expected.",
            code="invalid",
        )
    if name == "birthdayProperties" and own.get("type", "birthday") != "birthday":
        raise Invalid("Invalid value for birthdayProperties.type: birthday is expected.", code="invalid")
    if name == "workingLocationProperties" and own.get("type") not in _LOCATIONS:
        raise Invalid(
            f"Invalid value for {name}.type: one of {', '.join(_LOCATIONS)} is expected.", code="invalid"
        )


def check_type(columns: Mapping[str, Any], primary: bool, guests: int) -> None:
    """Refuse an event whose type does not go with the rest of it."""
    kind = columns["event_type"]
    if kind == "default":
        return
    reason = f"malformed{kind[0].upper()}{kind[1:]}Event"
    if not primary:
        raise Invalid(
            f"Events of the type {kind} are on primary calendars only.", code="eventTypeRestriction"
        )
    if guests:
        raise Invalid(f"Events of the type {kind} have no attendees.", code="eventTypeRestriction")
    if kind == "workingLocation" and columns["type_properties"] is None:
        raise Invalid("A working location needs its workingLocationProperties.", code=reason)
    if kind == "birthday" and "FREQ=YEARLY" not in (columns["recurrence"] or ""):
        raise Invalid("A birthday recurs each year.", code=reason)
    for column, value in _MUST_BE[kind].items():
        if columns[column] == value:
            continue
        if column == "all_day":
            form = "whole days (date)" if value else "times (dateTime)"
            raise Invalid(f"An event of the type {kind} is of {form}.", code=reason)
        raise Invalid(f"An event of the type {kind} has the {column} {value}.", code=reason)


def conference_column(given: Mapping[str, Any] | None, event_id: str, before: str | None) -> str | None:
    """Return the stored conference of an event: the one from an add-on, or a new one on request."""
    if not given:
        return None
    wanted = given.get("createRequest")
    if wanted is not None and "conferenceId" not in given:
        request_id = clean(wanted.get("requestId") or "", "conferenceData.createRequest.requestId", 1024)
        if not request_id:
            raise Invalid("Missing conferenceData.createRequest.requestId.", code="required")
        if (wanted.get("conferenceSolutionKey") or {}).get("type", MEET) != MEET:
            raise Invalid("Invalid conference type value.", code="invalid")
        if before and orjson.loads(before).get("createRequest", {}).get("requestId") == request_id:
            return before
        return orjson.dumps(_meeting(event_id, request_id)).decode()
    if not given.get("entryPoints") or not given.get("conferenceSolution"):
        raise Invalid(
            "Invalid conference data: a createRequest, or conferenceSolution and entryPoints, are expected.",
            code="invalid",
        )
    return clean(orjson.dumps(given).decode(), "conferenceData", MAX_CONFERENCE)


def _meeting(event_id: str, request_id: str) -> dict[str, Any]:
    number = int.from_bytes(hashlib.sha256(f"{event_id}:{request_id}".encode()).digest())
    letters = ""
    for _ in range(10):
        number, letter = divmod(number, 26)
        letters += chr(ord("a") + letter)
    name = re.sub("(...)(....)(...)", r"\1-\2-\3", letters)
    key = {"type": MEET}
    return {
        "createRequest": {
            "requestId": request_id,
            "conferenceSolutionKey": key,
            "status": {"statusCode": "success"},
        },
        "entryPoints": [
            {
                "entryPointType": "video",
                "uri": f"https://meet.google.com/{name}",
                "label": f"meet.google.com/{name}",
            }
        ],
        "conferenceSolution": {"key": key, "name": "Google Meet"},
        "conferenceId": name,
    }
