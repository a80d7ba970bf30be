"""Uploads, in one request or in pieces, and signed URLs."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import orjson

from mesocosm.doors.request import Request
from mesocosm.errors import Denied, Invalid, NotFound
from mesocosm.servers.google_cloud.models import Upload
from mesocosm.servers.google_cloud.rest.objects import media_reply, new_object, shown
from mesocosm.servers.google_cloud.rest.service import api, condition, read
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.storage import Condition, NewObject
from mesocosm.services.fields import Fields, remembering
from mesocosm.services.schema import Json
from mesocosm.services.service import Reply

_BOUNDARY = re.compile(r'boundary="?([^";,]+)"?', re.IGNORECASE)
_PIECE = re.compile(r"bytes (?:(\d+)-(\d+|\*)|\*)/(\d+|\*)", re.ASCII)
_GAP = re.compile(rb"\r?\n\r?\n")


def related(request: Request) -> tuple[Fields, str | None, bytes]:
    """The two parts of a ``multipart/related`` body: a resource, and bytes with their type."""
    found = _BOUNDARY.search(request.headers.get("content-type", ""))
    pieces = request.body.split(b"--" + found[1].encode("latin-1")) if found else []
    if len(pieces) < 4:
        raise Invalid("Missing end boundary in multipart body.", code="badContent")
    parts = []
    for piece in pieces[1:3]:
        gap = _GAP.search(piece)
        if gap is None:
            raise Invalid("Malformed multipart body.", code="badContent")
        head, data = piece[: gap.start()], piece[gap.end() :]
        end = b"\r\n" if b"\r" in gap[0] else b"\n"  # some clients end their lines with a line feed alone
        kind = re.search(rb"content-type:\s*([^\r\n]+)", head, re.IGNORECASE)
        parts.append((kind[1].decode("latin-1").strip() if kind else None, data.removesuffix(end)))
    return noticed(request, resource(parts[0][1])), parts[1][0], parts[1][1]


def resource(data: bytes) -> Fields:
    """A resource from bytes: a JSON object."""
    try:
        made = remembering(orjson.loads(data or b"{}"))
    except orjson.JSONDecodeError as error:
        raise Invalid(f"Parse Error: {error}", code="parseError") from None
    if not isinstance(made, Fields):
        raise Invalid("Parse Error: the resource must be a JSON object.", code="parseError")
    return made


def noticed(request: Request, body: Fields) -> Fields:
    """Return the resource, whose unread fields the door will refuse."""
    request.__dict__["json"] = body
    return body


def begun(store: GoogleCloudStore, request: Request, purpose: str, asked: dict[str, Any]) -> Reply:
    """The answer to the beginning of an upload in pieces: where they are to be sent."""
    id_ = store.storage.uploads.begin(purpose, asked)
    location = f"{request.base}{request.path}?uploadType=resumable&upload_id={quote(id_)}"
    return Reply(b"", 200, {"Location": location, "X-GUploader-UploadID": id_})


def continued(
    store: GoogleCloudStore, request: Request, purpose: str, id_: str
) -> tuple[Upload, bytes] | Reply:
    """Take a piece of an upload: the upload and all its bytes, or the answer that asks for more."""
    uploads = store.storage.uploads
    upload = uploads.upload(id_, purpose)
    said = request.headers.get("content-range", "")
    found = _PIECE.fullmatch(said)
    if said and found is None:
        raise Invalid(f"Invalid Content-Range: {said[:100]}", code="invalid")
    have = len(upload.data)
    if found is None or found[1] is not None:
        have = uploads.add(upload, int(found[1]) if found else have, request.body)
    total = found[3] if found else str(have)
    if found and found[2] == total == "*":  # of an unknown length, and all that there is
        return upload, uploads.finish(upload)
    if total == "*" or int(total) > have:
        return Reply(b"", 308, {"Range": f"bytes=0-{have - 1}"} if have else {})
    return upload, uploads.finish(upload)


def _written(store: GoogleCloudStore, bucket: str, new: NewObject, must: Condition) -> Json:
    return shown(bucket, store.storage.objects.write(bucket, new, must))


@api.post("/upload/storage/v1/b/{bucket}/o", raw=True)
def upload_object(
    store: GoogleCloudStore,
    request: Request,
    bucket: str,
    uploadType: str = "media",
    name: str | None = None,
    upload_id: str | None = None,
    ifGenerationMatch: int | None = None,
    ifGenerationNotMatch: int | None = None,
    ifMetagenerationMatch: int | None = None,
    ifMetagenerationNotMatch: int | None = None,
) -> Json | Reply:
    """A new object, or the beginning of an upload in pieces."""
    must = condition(ifGenerationMatch, ifGenerationNotMatch, ifMetagenerationMatch, ifMetagenerationNotMatch)
    if upload_id:
        return upload_piece(store, request, bucket, upload_id)
    if uploadType == "media":
        kind = request.headers.get("content-type") or None
        return _written(store, bucket, NewObject(_named(name), request.body, kind), must)
    if uploadType == "multipart":
        body, kind, data = related(request)
        return _written(
            store, bucket, new_object(body, _named(name, read.text(body, "name")), data, kind), must
        )
    if uploadType != "resumable":
        raise Invalid(f"Invalid upload type: {uploadType[:50]!r}", code="invalid")
    store.storage.bucket(bucket)
    body = noticed(request, resource(request.body))
    named = _named(name, read.text(body, "name"))
    new_object(body, named, b"")  # so that what is wrong with it is said before anything is sent
    asked = {
        "bucket": bucket,
        # Read anew, so that what nobody has looked at in it yet is still seen to be left over.
        "resource": dict(resource(request.body).items()) | {"name": named},
        "type": request.headers.get("x-upload-content-type"),
        "must": [ifGenerationMatch, ifGenerationNotMatch, ifMetagenerationMatch, ifMetagenerationNotMatch],
    }
    return begun(store, request, "object", asked)


@api.put("/upload/storage/v1/b/{bucket}/o", raw=True)
def upload_piece(store: GoogleCloudStore, request: Request, bucket: str, upload_id: str) -> Json | Reply:
    """A piece of an object."""
    done = continued(store, request, "object", upload_id)
    if isinstance(done, Reply):
        return done
    upload, data = done
    if upload.request["bucket"] != bucket:
        raise NotFound("The upload is for another bucket.", code="notFound")
    body = noticed(request, remembering(upload.request["resource"]))
    new = new_object(body, body["name"], data, upload.request["type"])
    return _written(store, bucket, new, Condition(*upload.request["must"]))


def _named(*said: str | None) -> str:
    """The name of an object, which a query says, or the resource, or both."""
    for name in said:
        if name:
            return name
    raise Invalid("Required parameter: name", code="required")


# -- signed URLs --------------------------------------------------------------------------------------------


def _signed(store: GoogleCloudStore, request: Request, *methods: str) -> None:
    """Refuse a request that its URL does not sign."""
    for _ in request.asked:
        pass
    if not dict(request.pairs).get("X-Goog-Signature"):
        if request.path.split("/")[1] not in store.storage.names():
            raise NotFound(api.nothing(request.method, request.path))
        raise Denied("Anonymous caller does not have access to the object.", code="AccessDenied")
    for method in methods[:-1]:
        try:
            return store.storage.signing.check(method, request.path, request.pairs)
        except Denied:
            continue
    return store.storage.signing.check(methods[-1], request.path, request.pairs)


@api.get("/{bucket}/{object:path}")
def get_signed(store: GoogleCloudStore, request: Request, bucket: str, object: str) -> Reply:
    """The bytes of an object by a signed URL."""
    _signed(store, request, "HEAD", "GET")
    return media_reply(store, store.storage.objects.object(bucket, object), request.headers.get("range"))


@api.put("/{bucket}/{object:path}", raw=True)
def put_signed(store: GoogleCloudStore, request: Request, bucket: str, object: str) -> Reply:
    """A new object by a signed URL."""
    _signed(store, request, "PUT")
    kind = request.headers.get("content-type") or None
    made = store.storage.objects.write(bucket, NewObject(object, request.body, kind))
    return Reply(b"", 200, {"X-Goog-Generation": str(made.generation)})


@api.delete("/{bucket}/{object:path}")
def delete_signed(store: GoogleCloudStore, request: Request, bucket: str, object: str) -> None:
    """Delete an object by a signed URL."""
    _signed(store, request, "DELETE")
    store.storage.objects.delete(bucket, object)
