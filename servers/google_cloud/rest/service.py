"""The API that the routes register with, the envelope of its errors, and what bodies are read with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from mesocosm.doors.partial_answers import FILE, PartialApi
from mesocosm.doors.request import Request
from mesocosm.doors.rest import Route
from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.storage import Condition
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Json
from mesocosm.services.service import Reply
from mesocosm.services.values import Kinds, Reader

_REASONS = {
    400: ("invalid", "INVALID_ARGUMENT"),
    401: ("authError", "UNAUTHENTICATED"),
    403: ("forbidden", "PERMISSION_DENIED"),
    404: ("notFound", "NOT_FOUND"),
    405: ("httpMethodNotAllowed", "UNIMPLEMENTED"),
    409: ("conflict", "ALREADY_EXISTS"),
    412: ("conditionNotMet", "FAILED_PRECONDITION"),
    413: ("uploadTooLarge", "OUT_OF_RANGE"),
    429: ("rateLimitExceeded", "RESOURCE_EXHAUSTED"),
    500: ("backendError", "INTERNAL"),
    503: ("backendError", "UNAVAILABLE"),
    504: ("deadlineExceeded", "DEADLINE_EXCEEDED"),
}


def _error(status: int, message: str, code: str | None) -> Json:
    reason, name = _REASONS.get(status, ("invalid", "UNKNOWN"))
    one: Json = {"domain": "global", "reason": code or reason, "message": message}
    if status == 401:
        one |= {"locationType": "header", "location": "Authorization"}
    return {"error": {"code": status, "message": message, "errors": [one], "status": name}}


def _known(request: Request, headers: Mapping[str, str], token: str) -> bool:
    """True for the episode's token. A client without credentials sends none; the episode's secret address
    then authorises it.
    """
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme:
        return scheme.lower() == "bearer" and given.strip() == token
    return dict(request.pairs).get("access_token", token) == token


_OF_OBJECTS = frozenset(
    {
        *("authenticatedRead", "bucketOwnerFullControl", "bucketOwnerRead", "private", "projectPrivate"),
        "publicRead",
    }
)
_LISTS = {
    "predefinedAcl": _OF_OBJECTS | {"publicReadWrite"},
    "predefinedDefaultObjectAcl": _OF_OBJECTS,
    "destinationPredefinedAcl": _OF_OBJECTS,
}
"""The vendor's own access control lists, by the parameters that name one."""


class _Google(PartialApi):
    """APIs of which only a part is offered, of the one project that there is."""

    def _answer(self, store: Any, route: Route, bound: dict[str, Any]) -> Reply:
        if (project := bound["request"].params.get("project")) is not None:
            check_project(store, project)
        return super()._answer(store, route, bound)

    def _reply(self, result: Any, route: Route, request: Request) -> Reply:
        for name, value in request.pairs:
            if name in _LISTS and value not in _LISTS[name]:
                raise Invalid(f"Invalid argument: {name} {value[:100]!r}.", code="invalid")
        return super()._reply(result, route, request)

    def nothing(self, method: str, path: str) -> str:
        """Return the error for an unknown path."""
        return f"{method} {path[:200]} is not offered here. {_OFFERED}"


_OFFERED = (
    "Of Google's APIs there are Cloud Storage (v1: buckets with IAM policies, objects, uploads), BigQuery"
    " (v2: datasets, tables, rows, jobs, queries) and Cloud Logging (v2)."
)


api = _Google(
    "google_cloud",
    answers=Path(__file__).with_name(FILE),
    authenticate=_known,
    credentials=("access_token",),
    error=_error,
    challenge='Bearer realm="https://accounts.google.com/", error="invalid_token"',
    conventions=(
        *("alt", "prettyPrint", "quotaUser", "userIp", "key", "fields", "$.xgafv", "projection", "project"),
        *("userProject", "timeoutMs", "location", "uploadType", "formatOptions.useInt64Timestamp"),
        *("enableObjectRetention", "includeTrailingDelimiter", "provisional_user_project", "prettyprint"),
        # Access control lists are not kept: a bucket's policy says who may do what.
        *("predefinedAcl", "predefinedDefaultObjectAcl", "destinationPredefinedAcl", "force"),
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


class _Kinds(Kinds):
    """Numbers and truth values, which the APIs also write as text."""

    def flag(self, value: Any, name: str) -> bool:
        written = value.lower() if isinstance(value, str) else None
        return written == "true" if written in ("true", "false") else super().flag(value, name)

    def whole(self, value: Any, name: str) -> int:
        try:
            if isinstance(value, bool) or abs(made := int(value)) >= 2**63:
                raise ValueError
        except (ValueError, TypeError, OverflowError):
            raise self.wrong("whole", value, name) from None
        return made

    def objects(self, value: Any, name: str) -> list[dict[str, Any]]:
        return super().objects(self.items(value, name), name)


def _wrong(name: str, value: Any, expected: str) -> Invalid:
    return Invalid(f"Invalid value for {name}: {expected} is expected.", code="invalid")


read = Reader(_Kinds(_wrong))


def texts(body: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """Texts by name (labels, metadata); ``None`` where there are none."""
    return None if body.get(name) is None else dict(read.inner(body, name).items())


def plain(value: Any) -> Any:
    """A value of a body without its memory of what was read, all of which is taken notice of."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


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
