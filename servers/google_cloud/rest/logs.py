"""Cloud Logging: entries, logs, sinks and log buckets."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.models import LogBucket, LogSink
from mesocosm.servers.google_cloud.rest.service import api, body_of, plain, read, texts
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.logs import NewEntry
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Json

_DETAILS = ("httpRequest", "operation", "trace", "spanId", "traceSampled", "sourceLocation", "split")


@api.post("/v2/entries:write")
def write_entries(store: GoogleCloudStore, request: Request) -> Json:
    """Write entries; fields missing in one come from the common ones."""
    body = body_of(request)
    usual = (read.text(body, "logName"), read.inner(body, "resource"), texts(body, "labels") or {})
    entries = [_entry(one, *usual) for one in read.objects(body, "entries")]
    if not entries:
        raise Invalid("There must be at least one log entry to write.", code="INVALID_ARGUMENT")
    dry = read.flag(body, "dryRun") or read.flag(body, "dry_run")  # Google's own SDK writes it so
    read.flag(body, "partialSuccess")
    read.flag(body, "partial_success")
    if not dry:
        store.logs.entries.write(entries)
    return {}


def _entry(one: Fields, log: str | None, resource: Fields, labels: dict[str, Any]) -> NewEntry:
    name = read.text(one, "logName") or log
    if not name:
        raise Invalid("Log entry is missing a log name.", code="INVALID_ARGUMENT")
    own = read.inner(one, "resource") or resource
    payload: Any = read.text(one, "textPayload")
    for kind in ("jsonPayload", "protoPayload"):
        if kind in one:
            payload = plain(read.inner(one, kind))
    severity = one.get("severity") or "DEFAULT"
    if not isinstance(severity, str | int) or isinstance(severity, bool):
        raise Invalid("Invalid value for severity.", code="INVALID_ARGUMENT")
    return NewEntry(
        name,
        payload,
        str(severity),
        read.text(one, "timestamp"),
        {**labels, **(texts(one, "labels") or {})},
        read.text(own, "type") or "global",
        texts(own, "labels") or {},
        read.text(one, "insertId") or None,
        {name: plain(one[name]) for name in _DETAILS if name in one and one[name] is not None},
    )


@api.route("POST", "/v2/entries:list", writes=False)
def list_entries(store: GoogleCloudStore, request: Request) -> Json:
    """Entries that a filter asks for."""
    body = body_of(request)
    order = read.text(body, "orderBy") or "timestamp asc"
    if order not in ("timestamp asc", "timestamp desc", "timestamp"):
        raise Invalid(f"Invalid orderBy: {order[:100]!r}", code="INVALID_ARGUMENT")
    resources = [str(one) for one in read.items(body, "resourceNames")]
    resources += [f"projects/{one}" for one in read.items(body, "projectIds")]
    if not resources:
        raise Invalid("At least one resource name is required.", code="INVALID_ARGUMENT")
    page = store.logs.entries.list_entries(
        read.text(body, "filter") or "",
        oldest_first=order != "timestamp desc",
        limit=min(read.number(body, "pageSize") or 50, 1000),
        token=read.text(body, "pageToken"),
        resources=resources,
    )
    return {"entries": page.items} | ({"nextPageToken": page.next_token} if page.next_token else {})


@api.get("/v2/projects/{project}/logs")
def list_logs(
    store: GoogleCloudStore, project: str, pageSize: int | None = None, pageToken: str | None = None
) -> Json:
    """The logs that have entries."""
    found, token = store.logs.entries.logs(pageSize or None, pageToken)
    names = [f"projects/{project}/logs/{log.replace('/', '%2F')}" for log in found]
    return {"logNames": names} | ({"nextPageToken": token} if token else {})


@api.delete("/v2/projects/{project}/logs/{log}")
def delete_log(store: GoogleCloudStore, log: str) -> Json:
    store.logs.entries.delete_log(log)
    return {}


# -- sinks --------------------------------------------------------------------------------------------------


def _sink(sink: LogSink) -> Json:
    view: Json = {
        "name": sink.name,
        "destination": sink.destination,
        "filter": sink.filter,
        "description": sink.description,
        "disabled": sink.disabled,
        "writerIdentity": sink.writer_identity,
        "createTime": sink.created,
        "updateTime": sink.updated,
    }
    if sink.partitioned:
        view["bigqueryOptions"] = {"usePartitionedTables": True}
    return view


@api.get("/v2/projects/{project}/sinks")
def list_sinks(store: GoogleCloudStore, pageSize: int | None = None, pageToken: str | None = None) -> Json:
    found, token = store.logs.sinks.list_sinks(pageSize or None, pageToken)
    return {"sinks": [_sink(one) for one in found]} | ({"nextPageToken": token} if token else {})


@api.post("/v2/projects/{project}/sinks")
def create_sink(store: GoogleCloudStore, request: Request, uniqueWriterIdentity: bool = False) -> Json:
    """A new sink."""
    body = body_of(request)
    sink = store.logs.sinks.create(
        read.text(body, "name") or "",
        read.text(body, "destination") or "",
        read.text(body, "filter") or "",
        description=read.text(body, "description") or "",
        disabled=read.flag(body, "disabled"),
        partitioned=read.flag(read.inner(body, "bigqueryOptions"), "usePartitionedTables"),
    )
    return _sink(sink)


@api.get("/v2/projects/{project}/sinks/{sink}")
def get_sink(store: GoogleCloudStore, sink: str) -> Json:
    return _sink(store.logs.sinks.sink(sink))


def _change_sink(
    store: GoogleCloudStore,
    request: Request,
    sink: str,
    uniqueWriterIdentity: bool = False,
    updateMask: str | None = None,
) -> Json:
    body = body_of(request)
    if read.text(body, "name") not in (None, "", sink):
        raise Invalid("The name of a sink cannot be changed.", code="INVALID_ARGUMENT")
    given: dict[str, Any] = {name: read.text(body, name) for name in ("destination", "filter", "description")}
    given["disabled"] = read.flag(body, "disabled") if "disabled" in body else None
    empty = {"destination": "", "filter": "", "description": "", "disabled": False}
    return _sink(store.logs.sinks.update(sink, _masked(given, updateMask, empty)))


def _masked(given: Mapping[str, Any], mask: str | None, empty: Mapping[str, Any]) -> dict[str, Any]:
    """Apply an update mask. A field that it names and the body lacks is cleared."""
    if not mask:
        return dict(given)
    named = [name.strip() for name in mask.split(",")]
    if (unknown := next((name for name in named if name not in empty), None)) is not None:
        raise Invalid(
            f"Invalid update mask: {unknown[:60]!r} is no field that can be changed here; there are "
            f"{', '.join(empty)}.",
            code="INVALID_ARGUMENT",
        )
    return {name: empty[name] if given[name] is None else given[name] for name in named}


api.put("/v2/projects/{project}/sinks/{sink}")(_change_sink)
api.patch("/v2/projects/{project}/sinks/{sink}")(_change_sink)


@api.delete("/v2/projects/{project}/sinks/{sink}")
def delete_sink(store: GoogleCloudStore, sink: str) -> Json:
    """Remove a sink."""
    store.logs.sinks.delete(sink)
    return {}


# -- log buckets --------------------------------------------------------------------------------------------

_PLACE = "/v2/projects/{project}/locations/{place}/buckets"


def _bucket(project: str, bucket: LogBucket) -> Json:
    return {
        "name": f"projects/{project}/locations/{bucket.location}/buckets/{bucket.id}",
        "description": bucket.description,
        "retentionDays": bucket.retention_days,
        "lifecycleState": "ACTIVE",
        **({"locked": True} if bucket.locked else {}),
        **({"createTime": bucket.created, "updateTime": bucket.updated} if bucket.created else {}),
    }


@api.get(_PLACE)
def list_log_buckets(
    store: GoogleCloudStore,
    project: str,
    place: str,
    pageSize: int | None = None,
    pageToken: str | None = None,
) -> Json:
    """The log buckets of a location; ``-`` stands for all."""
    found, token = store.logs.buckets.list_buckets(pageSize or None, pageToken, place)
    view: Json = {"buckets": [_bucket(project, one) for one in found]}
    return view | ({"nextPageToken": token} if token else {})


@api.post(_PLACE)
def create_log_bucket(
    store: GoogleCloudStore, request: Request, project: str, place: str, bucketId: str
) -> Json:
    """A new log bucket."""
    body = body_of(request)
    days = read.number(body, "retentionDays")
    made = store.logs.buckets.create(
        bucketId, place, 30 if days is None else days, read.text(body, "description") or ""
    )
    return _bucket(project, made)


@api.get(_PLACE + "/{bucket}")
def get_log_bucket(store: GoogleCloudStore, project: str, place: str, bucket: str) -> Json:
    return _bucket(project, store.logs.buckets.bucket(bucket, place))


@api.patch(_PLACE + "/{bucket}")
def update_log_bucket(
    store: GoogleCloudStore,
    request: Request,
    project: str,
    place: str,
    bucket: str,
    updateMask: str | None = None,
) -> Json:
    """A log bucket with other retention or description."""
    body = body_of(request)
    given = {
        "retentionDays": read.number(body, "retentionDays"),
        "description": read.text(body, "description"),
    }
    changes = _masked(given, updateMask, {"retentionDays": 30, "description": ""})
    changed = store.logs.buckets.update(
        bucket, place, retention_days=changes.get("retentionDays"), description=changes.get("description")
    )
    return _bucket(project, changed)


@api.delete(_PLACE + "/{bucket}")
def delete_log_bucket(store: GoogleCloudStore, place: str, bucket: str) -> Json:
    """Remove a log bucket."""
    store.logs.buckets.delete(bucket, place)
    return {}
