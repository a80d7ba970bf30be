"""The API that the routes register with: its errors, bodies and partial answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mesocosm.doors.partial_answers import FILE, PartialApi
from mesocosm.doors.request import Request
from mesocosm.doors.rest import bearer
from mesocosm.errors import Invalid
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Json
from mesocosm.services.values import Kinds, Reader

_STATUSES = {
    400: ("INVALID_ARGUMENT", "badRequest"),
    401: ("UNAUTHENTICATED", "authError"),
    403: ("PERMISSION_DENIED", "forbidden"),
    404: ("NOT_FOUND", "notFound"),
    405: ("UNIMPLEMENTED", "httpMethodNotAllowed"),
    409: ("ABORTED", "conflict"),
    413: ("INVALID_ARGUMENT", "uploadTooLarge"),
    429: ("RESOURCE_EXHAUSTED", "rateLimitExceeded"),
    500: ("INTERNAL", "backendError"),
    503: ("UNAVAILABLE", "backendError"),
    504: ("DEADLINE_EXCEEDED", "deadlineExceeded"),
}


def _error(status: int, message: str, code: str | None) -> Json:
    known, reason = _STATUSES.get(status, ("UNKNOWN", "badRequest"))
    if code and code.isupper():
        known = code
    elif code:
        reason = code
    one: Json = {"domain": "global", "reason": reason, "message": message}
    if status == 401:
        one |= {"locationType": "header", "location": "Authorization"}
    return {"error": {"code": status, "message": message, "status": known, "errors": [one]}}


api = PartialApi(
    "google_sheet",
    "",
    answers=Path(__file__).with_name(FILE),
    authenticate=bearer("Bearer", parameter="access_token"),
    credentials=("access_token",),
    error=_error,
    challenge='Bearer realm="https://accounts.google.com/", error="invalid_token"',
    conventions=(
        *("alt", "prettyPrint", "quotaUser", "userIp", "key", "$.xgafv", "callback", "upload_protocol"),
        *("supportsAllDrives", "supportsTeamDrives", "includeItemsFromAllDrives", "corpora", "spaces"),
        *(
            "includeTeamDriveItems",
            "includePermissionsForView",
            "enforceSingleParent",
            "useDomainAdminAccess",
        ),
        "includeLabels",
    ),
    read_only=("kind", "id", "spreadsheetId", "spreadsheetUrl", "webViewLink", "createdTime", "modifiedTime"),
    unknown_method=404,
)


def body_of(request: Request) -> Fields:
    """Parse the body as a JSON object; empty without a body."""
    if request.json is None:
        return Fields({})
    if not isinstance(request.json, Fields):
        raise Invalid("Invalid JSON payload received. An object is expected.", code="INVALID_ARGUMENT")
    return request.json


def all_of(request: Request, name: str) -> list[str]:
    """Every value that the query gives to a name, in order."""
    request.asked.get(name)
    return [value for key, value in request.pairs if key == name]


def _wrong(name: str, value: Any, expected: str) -> Invalid:
    return Invalid(f"Invalid value at '{name}': {expected} is expected.", code="INVALID_ARGUMENT")


read = Reader(Kinds(_wrong))


def plain(value: Any) -> Any:
    """Data of a request, all of which is taken notice of."""
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value
