"""Objects of Cloud Storage."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.models import StorageObject
from mesocosm.servers.google_cloud.rest.service import api, body_of, condition, etag_of, instant, read, texts
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.storage import NewObject
from mesocosm.servers.google_cloud.store.storage.buckets import checked_class
from mesocosm.servers.google_cloud.store.storage.object_lists import Wanted
from mesocosm.services.schema import Json
from mesocosm.services.service import Reply

FIELDS = {
    "contentType": "content_type",
    "contentEncoding": "content_encoding",
    "contentDisposition": "content_disposition",
    "contentLanguage": "content_language",
    "cacheControl": "cache_control",
}
"""The fields of an object that a client sets, and their names in the tables."""


def shown(bucket: str, found: StorageObject) -> Json:
    """An object as the API answers it."""
    path = f"b/{bucket}/o/{quote(found.name, safe='')}"
    view: Json = {
        "kind": "storage#object",
        "id": f"{bucket}/{found.name}/{found.generation}",
        "selfLink": f"https://www.googleapis.com/storage/v1/{path}",
        "name": found.name,
        "bucket": bucket,
        "generation": str(found.generation),
        "metageneration": str(found.metageneration),
        "storageClass": found.storage_class,
        "size": str(found.size),
        "md5Hash": found.md5,
        "crc32c": found.crc32c,
        "timeCreated": instant(found.created),
        "updated": instant(found.updated),
        "timeStorageClassUpdated": instant(found.created),
    }
    view |= {name: value for name, column in FIELDS.items() if (value := getattr(found, column)) is not None}
    if found.custom:
        view["metadata"] = found.custom
    if found.deleted:
        view["timeDeleted"] = instant(found.deleted)
    return view | {"etag": etag_of([found.generation, found.metageneration])}


def new_object(body: Any, name: str, data: bytes, media_type: str | None = None) -> NewObject:
    """The object that a resource describes."""
    return NewObject(
        name,
        data,
        read.text(body, "contentType") or media_type,
        texts(body, "metadata") or {},
        read.text(body, "contentEncoding"),
        read.text(body, "contentDisposition"),
        read.text(body, "contentLanguage"),
        read.text(body, "cacheControl"),
        read.text(body, "storageClass"),
    )


def _changes(body: Any) -> dict[str, Any]:
    changes: dict[str, Any] = {
        column: read.text(body, name) for name, column in FIELDS.items() if name in body
    }
    if "metadata" in body:
        changes["custom"] = texts(body, "metadata") or {}
    if read.text(body, "storageClass"):
        changes["storage_class"] = checked_class(read.text(body, "storageClass") or "")
    return changes


@api.get("/storage/v1/b/{bucket}/o")
def list_objects(
    store: GoogleCloudStore,
    bucket: str,
    prefix: str = "",
    delimiter: str = "",
    startOffset: str = "",
    endOffset: str = "",
    matchGlob: str = "",
    versions: bool = False,
    maxResults: int | None = None,
    pageToken: str | None = None,
) -> Json:
    """The objects of a bucket by name."""
    wanted = Wanted(prefix, delimiter, startOffset, endOffset, matchGlob, versions)
    page = store.storage.listing.page(bucket, wanted, maxResults, pageToken)
    view: Json = {"kind": "storage#objects", "items": [shown(bucket, one) for one in page.items]}
    view |= {"prefixes": page.prefixes} if page.prefixes else {}
    return view | ({"nextPageToken": page.next_token} if page.next_token else {})


@api.get("/storage/v1/b/{bucket}/o/{object}")
def get_object(
    store: GoogleCloudStore,
    request: Request,
    bucket: str,
    object: str,
    generation: int | None = None,
    ifGenerationMatch: int | None = None,
    ifGenerationNotMatch: int | None = None,
    ifMetagenerationMatch: int | None = None,
    ifMetagenerationNotMatch: int | None = None,
    alt: str = "json",
) -> Json | Reply:
    """Return an object's metadata, or with ``alt=media`` its bytes."""
    must = condition(ifGenerationMatch, ifGenerationNotMatch, ifMetagenerationMatch, ifMetagenerationNotMatch)
    found = store.storage.objects.object(bucket, object, generation, must)
    if alt == "media":
        return media_reply(store, found, request.headers.get("range"))
    return shown(bucket, found)


@api.get("/download/storage/v1/b/{bucket}/o/{object}")
def download_object(
    store: GoogleCloudStore,
    request: Request,
    bucket: str,
    object: str,
    generation: int | None = None,
    ifGenerationMatch: int | None = None,
    ifGenerationNotMatch: int | None = None,
    ifMetagenerationMatch: int | None = None,
    ifMetagenerationNotMatch: int | None = None,
) -> Reply:
    """The bytes of an object, or some of them (``Range``)."""
    must = condition(ifGenerationMatch, ifGenerationNotMatch, ifMetagenerationMatch, ifMetagenerationNotMatch)
    found = store.storage.objects.object(bucket, object, generation, must)
    return media_reply(store, found, request.headers.get("range"))


def media_reply(store: GoogleCloudStore, found: StorageObject, wanted: str | None) -> Reply:
    """The bytes of an object as an answer, with its checksums."""
    data = store.storage.objects.data(found)
    headers = {
        "X-Goog-Hash": f"crc32c={found.crc32c},md5={found.md5}",
        "X-Goog-Generation": str(found.generation),
        "X-Goog-Metageneration": str(found.metageneration),
        "X-Goog-Storage-Class": found.storage_class,
        "ETag": etag_of([found.generation, found.metageneration]),
    }
    if found.content_disposition:
        headers["Content-Disposition"] = found.content_disposition
    kind = found.content_type or "application/octet-stream"
    part = _range(wanted, len(data))
    if part is None:
        return Reply(data, 200, headers, kind)
    start, end = part
    headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
    return Reply(data[start : end + 1], 206, headers, kind)


def _range(wanted: str | None, size: int) -> tuple[int, int] | None:
    unit, _, said = (wanted or "").partition("=")
    first, dash, last = said.partition("-")
    if (
        unit.strip() != "bytes"
        or not dash
        or not all(one == "" or (one.isascii() and one.isdecimal()) for one in (first, last))
    ):
        return None
    if first == "":
        start, end = max(0, size - int(last or 0)), size - 1
    else:
        start, end = int(first), min(int(last) if last else size - 1, size - 1)
    if start > end or start >= size:
        raise Invalid(
            f"Request range not satisfiable: {said[:50]} of {size} bytes.",
            code="requestedRangeNotSatisfiable",
        )
    return start, end


def _update(
    store: GoogleCloudStore,
    request: Request,
    bucket: str,
    object: str,
    generation: int | None = None,
    ifGenerationMatch: int | None = None,
    ifMetagenerationMatch: int | None = None,
) -> Json:
    changes = _changes(body_of(request))
    if "custom" in changes and request.method == "PATCH":
        before = store.storage.objects.object(bucket, object, generation).custom
        changes["custom"] = before | changes["custom"]
    must = condition(ifGenerationMatch, None, ifMetagenerationMatch, None)
    return shown(bucket, store.storage.objects.update(bucket, object, changes, generation, must))


api.patch("/storage/v1/b/{bucket}/o/{object}")(_update)
api.put("/storage/v1/b/{bucket}/o/{object}")(_update)


@api.delete("/storage/v1/b/{bucket}/o/{object}")
def delete_object(
    store: GoogleCloudStore,
    bucket: str,
    object: str,
    generation: int | None = None,
    ifGenerationMatch: int | None = None,
    ifGenerationNotMatch: int | None = None,
    ifMetagenerationMatch: int | None = None,
    versions: bool = False,  # sent by Google's client in JavaScript, which means its own listing by it
) -> None:
    """Delete an object, or for good one generation of it."""
    must = condition(ifGenerationMatch, ifGenerationNotMatch, ifMetagenerationMatch, None)
    store.storage.objects.delete(bucket, object, generation, must)


def _copying(answer: Callable[[str, StorageObject], Json]) -> Callable[..., Json]:
    def copy_object(
        store: GoogleCloudStore,
        request: Request,
        sourceBucket: str,
        sourceObject: str,
        destinationBucket: str,
        destinationObject: str,
        sourceGeneration: int | None = None,
        ifGenerationMatch: int | None = None,
        ifGenerationNotMatch: int | None = None,
        ifSourceGenerationMatch: int | None = None,
    ) -> Json:
        """A copy of an object, perhaps in another class of storage; done at once."""
        made = store.storage.objects.copy(
            (sourceBucket, sourceObject),
            (destinationBucket, destinationObject),
            generation=sourceGeneration,
            condition=condition(ifGenerationMatch, ifGenerationNotMatch, None, None),
            source_condition=condition(ifSourceGenerationMatch, None, None, None),
            changes=_changes(body_of(request)) if request.body else {},
        )
        return answer(destinationBucket, made)

    return copy_object


def _rewritten(bucket: str, made: StorageObject) -> Json:
    return {
        "kind": "storage#rewriteResponse",
        "totalBytesRewritten": str(made.size),
        "objectSize": str(made.size),
        "done": True,
        "resource": shown(bucket, made),
    }


_COPY = "/storage/v1/b/{sourceBucket}/o/{sourceObject}/%s/b/{destinationBucket}/o/{destinationObject}"
api.post(_COPY % "copyTo")(_copying(shown))
api.post(_COPY % "rewriteTo")(_copying(_rewritten))


@api.post("/storage/v1/b/{bucket}/o/{sourceObject}/moveTo/o/{destinationObject}")
def move_object(store: GoogleCloudStore, bucket: str, sourceObject: str, destinationObject: str) -> Json:
    """Another name for an object of the same bucket."""
    return shown(bucket, store.storage.objects.move((bucket, sourceObject), (bucket, destinationObject)))


@api.post("/storage/v1/b/{bucket}/o/{object}/compose")
def compose_object(
    store: GoogleCloudStore,
    request: Request,
    bucket: str,
    object: str,
    ifGenerationMatch: int | None = None,
) -> Json:
    """An object of the bytes of others."""
    body = body_of(request)
    sources = [
        (read.text(one, "name") or "", read.number(one, "generation"))
        for one in read.objects(body, "sourceObjects")
    ]
    new = new_object(read.inner(body, "destination"), object, b"")
    must = condition(ifGenerationMatch, None, None, None)
    return shown(bucket, store.storage.objects.compose(bucket, sources, new, must))
