"""The API that the routes register with, the envelope of its errors, and what bodies are read with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from mesocosm.doors.fields import Fields
from mesocosm.doors.request import Request
from mesocosm.doors.rest import Api
from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.storage import Condition

Json = dict[str, Any]

_REASONS = {
    400: ("invalid", "INVALID_ARGUMENT"),
    401: ("authError", "UNAUTHENTICATED"),
    403: ("forbidden", "PERMISSION_DENIED"),
    404: ("notFound", "NOT_FOUND"),
    405: ("httpMethodNotAllowed", "UNIMPLEMENTED"),
    409: ("conflict", "ALREADY_EXISTS"),
    412: ("conditionNotMet", "FAILED_PRECONDITION"),
    413: ("uploadTooLarge", "OUT_OF_RANGE"),
    500: ("backendError", "INTERNAL"),
}


def _error(status: int, message: str, code: str | None) -> Json:
    reason, name = _REASONS.get(status, ("invalid", "UNKNOWN"))
    one: Json = {"domain": "global", "reason": code or reason, "message": message}
    if status == 401:
        one |= {"locationType": "header", "location": "Authorization"}
    return {"error": {"code": status, "message": message, "errors": [one], "status": name}}


def _known(request: Request, headers: Mapping[str, str], token: str) -> bool:
    """Whether a token is the right one. A client without credentials sends none: then it is the address,
    which nobody guesses, that opens the episode."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme:
        return scheme.lower() == "bearer" and given.strip() == token
    return dict(request.pairs).get("access_token", token) == token


api = Api(
    "google_cloud",
    authenticate=_known,
    credentials=("access_token",),
    error=_error,
    challenge='Bearer realm="https://accounts.google.com/", error="invalid_token"',
    conventions=(
        *("alt", "prettyPrint", "quotaUser", "userIp", "key", "fields", "$.xgafv", "projection", "project"),
        *("userProject", "timeoutMs", "location", "uploadType", "formatOptions.useInt64Timestamp"),
        *("enableObjectRetention", "includeTrailingDelimiter", "provisional_user_project", "prettyprint"),
    ),
    read_only=(
        *("kind", "etag", "id", "selfLink", "mediaLink", "timeCreated", "updated", "metageneration"),
        *("generation", "size", "md5Hash", "crc32c", "projectNumber", "creationTime", "lastModifiedTime"),
        *("numRows", "numBytes", "numLongTermBytes", "numTotalLogicalBytes", "access", "type"),
        *("timeStorageClassUpdated", "locationType", "bucket", "owner", "iamConfiguration", "acl"),
        *("defaultObjectAcl", "numActiveLogicalBytes", "createTime", "updateTime", "writerIdentity"),
    ),
    unknown_method=404,
)


def body_of(request: Request) -> Fields:
    """The resource that a request brings: a JSON object."""
    if not isinstance(request.json, Fields):
        raise Invalid("Parse Error: the body must be a JSON object.", code="parseError")
    return request.json


def inner(body: Mapping[str, Any], name: str) -> Fields:
    """An object inside of a resource; an empty one where there is none."""
    value = body.get(name)
    if value is None:
        return Fields({})
    if not isinstance(value, Fields):
        raise Invalid(f"Invalid value for {name}: an object is expected.", code="invalid")
    return value


def items(body: Mapping[str, Any], name: str) -> list[Any]:
    """A list inside of a resource; an empty one where there is none."""
    value = body.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Invalid(f"Invalid value for {name}: a list is expected.", code="invalid")
    return value


def objects_in(body: Mapping[str, Any], name: str) -> list[Fields]:
    """A list of objects inside of a resource."""
    found = items(body, name)
    if not all(isinstance(one, Fields) for one in found):
        raise Invalid(f"Invalid value for {name}: a list of objects is expected.", code="invalid")
    return found


def text(body: Mapping[str, Any], name: str) -> str | None:
    """A text inside of a resource; ``None`` where there is none."""
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise Invalid(f"Invalid value for {name}: a text is expected.", code="invalid")
    return value


def flag(body: Mapping[str, Any], name: str, usual: bool = False) -> bool:
    """A truth value inside of a resource."""
    value = body.get(name, usual)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if value is not None and not isinstance(value, bool):
        raise Invalid(f"Invalid value for {name}: true or false is expected.", code="invalid")
    return usual if value is None else value


def number(body: Mapping[str, Any], name: str) -> int | None:
    """A whole number inside of a resource, which the APIs also write as text."""
    value = body.get(name)
    if value is None:
        return None
    try:
        if isinstance(value, bool) or abs(made := int(value)) >= 2**63:
            raise ValueError
    except (ValueError, TypeError, OverflowError):
        raise Invalid(f"Invalid value for {name}: a whole number is expected.", code="invalid") from None
    return made


def texts(body: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """Texts by name (labels, metadata); ``None`` where there are none."""
    if body.get(name) is None:
        return None
    found = inner(body, name)
    return dict(found.items())


def condition(
    generation: int | None, not_generation: int | None, meta: int | None, not_meta: int | None
) -> Condition:
    """The preconditions of a request."""
    return Condition(generation, not_generation, meta, not_meta)


def check_project(store: GoogleCloudStore, project: str) -> None:
    """Refuse a project that is not the one that there is."""
    known = store.project
    if project not in (known.id, str(known.number)):
        raise NotFound(f"Not found: Project {project[:100]}; the project is {known.id}.", code="notFound")


def etag_of(value: Any) -> str:
    """The entity tag of something."""
    return hashlib.sha256(orjson.dumps(value)).hexdigest()[:16]


def instant(moment: str) -> str:
    """A time of the tables as the APIs write it."""
    return moment.removesuffix("Z") + ".000Z"
