"""The API that the routes register with, and the envelope of its errors and lists."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import orjson

from mesocosm.doors.partial_answers import FILE, PartialApi
from mesocosm.doors.request import Request
from mesocosm.doors.rest import Route, bearer
from mesocosm.errors import Invalid, Refusal
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Json
from mesocosm.services.service import Reply
from mesocosm.services.values import Kinds, Reader

_REASONS = {
    400: "badRequest",
    401: "authError",
    403: "forbidden",
    404: "notFound",
    405: "httpMethodNotAllowed",
    409: "duplicate",
    410: "deleted",
    412: "conditionNotMet",
    413: "uploadTooLarge",
    429: "rateLimitExceeded",
    500: "backendError",
    503: "backendError",
    504: "deadlineExceeded",
}


class PreconditionFailed(Refusal):
    """The object is not the one that the client has seen (``If-Match``)."""

    status = 412


def _error(status: int, message: str, code: str | None) -> Json:
    reason = code or _REASONS.get(status, "badRequest")
    one: Json = {"domain": "global", "reason": reason, "message": message}
    if status == 401:
        one |= {"locationType": "header", "location": "Authorization"}
    return {"error": {"code": status, "message": message, "errors": [one]}}


class _CalendarApi(PartialApi):
    """Events are shown with as many attendees as ``maxAttendees`` says, or with oneself alone."""

    def _reply(self, result: Any, route: Route, request: Request) -> Reply:
        most = request.asked.get("maxAttendees")
        if most is not None and isinstance(result, dict):
            if not str(most).isdecimal() or not int(most):
                raise Invalid("Invalid value for maxAttendees: at least 1 is expected.", code="invalid")
            if "items" in result:
                result = result | {"items": [_few_attendees(one, int(most)) for one in result["items"]]}
            result = _few_attendees(result, int(most))
        return super()._reply(result, route, request)


def _few_attendees(event: Json, most: int) -> Json:
    attendees = event.get("attendees", ())
    if len(attendees) <= most:
        return event
    return event | {"attendeesOmitted": True, "attendees": [one for one in attendees if one.get("self")]}


WITHOUT_EFFECT = (
    # Nobody is told of changes, attachments are not kept (a body with some is refused), addresses are
    # always there, no invitation is hidden, and colours go by their numbers.
    *("sendUpdates", "sendNotifications", "supportsAttachments"),
    "conferenceDataVersion",  # what writes events reads it
    *("alwaysIncludeEmail", "showHiddenInvitations", "colorRgbFormat"),
)
"""Documented parameters that change nothing here."""

api = _CalendarApi(
    "calendar",
    "/calendar/v3",
    answers=Path(__file__).with_name(FILE),
    authenticate=bearer("Bearer", parameter="access_token"),
    credentials=("access_token",),
    error=_error,
    challenge='Bearer realm="https://accounts.google.com/", error="invalid_token"',
    conventions=("alt", "prettyPrint", "quotaUser", "userIp", "key", "$.xgafv", *WITHOUT_EFFECT),
    read_only=(
        "kind",
        "etag",
        "id",
        "htmlLink",
        "created",
        "updated",
        "creator",
        "organizer",
        "sequence",
        "iCalUID",
        "hangoutLink",
    ),
    unknown_method=404,
)


def body_of(request: Request) -> Fields:
    """The resource that a request brings: a JSON object, without what is ``null``."""
    if not isinstance(request.json, Fields):
        raise Invalid("Parse Error: the body must be a JSON object.", code="parseError")
    return request.json


def check_etag(request: Request, etag: str) -> None:
    """Refuse to change an object that is not the one the client has seen."""
    wanted = request.headers.get("if-match")
    if wanted and wanted != "*" and etag not in wanted:
        raise PreconditionFailed("Precondition Failed", code="conditionNotMet")


def etag_of(value: Any) -> str:
    """The entity tag of something that has none of its own."""
    return f'"{hashlib.sha256(orjson.dumps(value)).hexdigest()[:16]}"'


def _wrong(name: str, value: Any, expected: str) -> Invalid:
    return Invalid(f"Invalid value for {name}: {expected} is expected.", code="invalid")


read = Reader(Kinds(_wrong))


def listing(kind: str, items: list[Json], next_token: str | None = None, **more: Any) -> Json:
    """A page of a list."""
    page: Json = {"kind": f"calendar#{kind}", "etag": etag_of(items), **more, "items": items}
    return page | ({"nextPageToken": next_token} if next_token else {})
