"""Files of the drive."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any, Literal

from mesocosm.doors.partial_answers import masked
from mesocosm.doors.request import Request
from mesocosm.errors import Denied, Invalid
from mesocosm.servers.google_sheet.rest.service import api, body_of, plain, read
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.drive import FileEntry, Granted
from mesocosm.servers.google_sheet.store.export import XLSX, exported
from mesocosm.servers.google_sheet.store.resources import url_of
from mesocosm.servers.google_sheet.store.search import MIME, search
from mesocosm.services.schema import Json
from mesocosm.services.service import Reply

MAX_PAGE = 1_000
_FIELDS = "kind,id,name,mimeType"
_WRITTEN = ("name", "description", "starred", "trashed", "properties", "mimeType", "parents", "id")
_ORDERS: Mapping[str, Callable[[FileEntry], Any]] = {
    "createdTime": lambda file: file.created,
    "modifiedTime": lambda file: file.modified,
    "name": lambda file: file.name.casefold(),
    "name_natural": lambda file: file.name.casefold(),
    "folder": lambda file: file.kind == "spreadsheet",
    "starred": lambda file: not file.starred,
    "recency": lambda file: file.modified,
    "modifiedByMeTime": lambda file: file.modified,
    "viewedByMeTime": lambda file: file.modified,
    "sharedWithMeTime": lambda file: file.created,
}


def user(store: SheetStore, email: str) -> Json:
    """A person as the drive shows them."""
    me = store.drive.me == email
    return {"kind": "drive#user", "displayName": store.drive.name_of(email), "me": me, "emailAddress": email}


def permission(one: Granted) -> Json:
    """A permission as the drive shows it."""
    shown: Json = {"kind": "drive#permission", "id": one.id, "type": one.type, "role": one.role}
    if one.type in ("user", "group"):
        shown |= {"emailAddress": one.value, "displayName": one.name or one.value.partition("@")[0]}
        shown |= {"deleted": False, "pendingOwner": False}
    elif one.type == "domain":
        shown |= {"domain": one.value, "displayName": one.value, "allowFileDiscovery": False}
    else:
        shown |= {"allowFileDiscovery": False}
    return shown


def resource(store: SheetStore, file: FileEntry) -> Json:
    """A file with all of its fields."""
    me, writes = store.drive.me, file.may("writer")
    shown: Json = {
        "kind": "drive#file",
        "id": file.id,
        "name": file.name,
        "mimeType": MIME[file.kind],
        "description": file.description or None,
        "starred": file.starred,
        "trashed": file.trashed,
        "explicitlyTrashed": file.trashed,
        "parents": store.drive.parents(file) or None,
        "properties": file.properties or None,
        "spaces": ["drive"],
        "version": str(file.version),
        "webViewLink": url_of(file.id)
        if file.kind == "spreadsheet"
        else f"https://drive.google.com/drive/folders/{file.id}",
        "createdTime": file.created,
        "modifiedTime": file.modified,
        "owners": [user(store, file.owner)],
        "lastModifyingUser": user(store, file.modified_by),
        "ownedByMe": file.owner == me,
        "shared": len(store.rows("SELECT 1 FROM permissions WHERE file = ? LIMIT 2", (file.number,))) > 1,
        "capabilities": {
            "canEdit": writes,
            "canComment": file.may("commenter"),
            "canShare": writes,
            "canCopy": file.kind == "spreadsheet",
            "canDelete": file.may("owner"),
            "canTrash": file.may("owner"),
            "canRename": writes,
            "canAddChildren": writes and file.kind != "spreadsheet",
        },
    }
    if writes:
        shown["permissions"] = [permission(one) for one in store.drive.permissions(file.id)]
    return {name: value for name, value in shown.items() if value is not None}


def _answer(store: SheetStore, request: Request, file: FileEntry) -> Json:
    """A file; four of its fields where a client names none."""
    shown = resource(store, file)
    return shown if request.asked.get("fields") else masked(shown, _FIELDS)


@api.get("/drive/v3/about")
def about(store: SheetStore) -> Json:
    """Return the signed-in account."""
    quota = {"limit": "16106127360", "usage": "0", "usageInDrive": "0", "usageInDriveTrash": "0"}
    return {"kind": "drive#about", "user": user(store, store.drive.me), "storageQuota": quota}


@api.get("/drive/v3/files")
def list_files(
    store: SheetStore,
    request: Request,
    q: str | None = None,
    orderBy: str | None = None,
    pageSize: int = 100,
    pageToken: str | None = None,
) -> Json:
    """The files that a search finds."""
    if not 1 <= pageSize <= MAX_PAGE:
        raise Invalid(
            f"Invalid value '{pageSize}'. Values must be within the range: [1, {MAX_PAGE}]",
            code="invalidParameter",
        )
    start = _start(pageToken)
    wanted = search(store, q)
    found = [file for file in store.drive.visible() if wanted(file)]
    for part in reversed((orderBy or "").split(",")):
        if name := part.strip():
            field, _, direction = name.partition(" ")
            if field not in _ORDERS or direction.strip() not in ("", "desc"):
                raise Invalid(f"Invalid Value: orderBy {name[:60]!r}", code="invalid")
            found.sort(key=_ORDERS[field], reverse=direction.strip() == "desc")
    shown = [resource(store, file) for file in found[start : start + pageSize]]
    answer: Json = {"kind": "drive#fileList", "incompleteSearch": False, "files": shown}
    if start + pageSize < len(found):
        answer["nextPageToken"] = base64.urlsafe_b64encode(f"files {start + pageSize}".encode()).decode()
    if not request.asked.get("fields"):
        answer = masked(answer, f"kind,incompleteSearch,nextPageToken,files({_FIELDS})")
    return answer


def _start(token: str | None) -> int:
    if not token:
        return 0
    try:
        word, _, number = base64.urlsafe_b64decode(token.encode()).decode().partition(" ")
        if word == "files" and number.isascii() and number.isdecimal() and len(number) < 12:
            return int(number)
    except (binascii.Error, ValueError):
        pass
    raise Invalid("Invalid Value: pageToken", code="invalid")


def _content(body: Mapping[str, Any]) -> Json:
    """Convert a request body to changes of a file's columns."""
    if unknown := sorted(set(body) - set(_WRITTEN) - {"kind", "webViewLink", "createdTime", "modifiedTime"}):
        raise api.unknown(unknown[0])
    changes: Json = {}
    for name in ("name", "description"):
        if (text := read.text(body, name)) is not None:
            changes[name] = text
    for name in ("starred", "trashed"):
        if body.get(name) is not None:
            changes[name] = read.flag(body, name)
    if body.get("properties") is not None:
        properties = body["properties"]
        if not isinstance(properties, dict) or not all(
            isinstance(v, str | None) for v in properties.values()
        ):
            raise Invalid("Invalid value at 'properties': an object of texts.", code="invalid")
        changes["properties"] = properties
    return changes


def _parent(body: Mapping[str, Any]) -> str | None:
    parents = body.get("parents")
    if parents is None:
        return None
    if not isinstance(parents, list) or not all(isinstance(one, str) for one in parents):
        raise Invalid("Invalid value at 'parents': a list of ids.", code="invalid")
    if len(parents) != 1:
        raise Invalid("A file has exactly one parent.", code="invalid")
    return str(parents[0])


@api.post("/drive/v3/files")
def create(store: SheetStore, request: Request) -> Json:
    """A new spreadsheet or folder."""
    body = plain(body_of(request))
    changes, parent = _content(body), _parent(body)
    kinds = {mime: kind for kind, mime in MIME.items() if kind != "root"}
    kind = kinds.get(read.text(body, "mimeType") or "")
    if kind is None:
        raise Invalid("Files of this type cannot be made here: spreadsheets and folders.", code="invalid")
    name = changes.pop("name", "Untitled")
    if kind == "spreadsheet":
        file = store.sheets.create(name, parent).file
    else:
        file = store.drive.create("folder", name, parent)
    if changes:
        file = store.drive.update(file.id, changes)
    return _answer(store, request, file)


@api.get("/drive/v3/files/{fileId}")
def get(store: SheetStore, request: Request, fileId: str, acknowledgeAbuse: bool = False) -> Json:
    if request.asked.get("alt") == "media":
        raise Denied(
            "Only files with binary content can be downloaded. Use Export with Docs Editors files.",
            code="fileNotDownloadable",
        )
    return _answer(store, request, store.drive.file(fileId))


@api.patch("/drive/v3/files/{fileId}")
def update(
    store: SheetStore,
    request: Request,
    fileId: str,
    addParents: str | None = None,
    removeParents: str | None = None,
) -> Json:
    """A file with another name, place or mark."""
    body = plain(body_of(request))
    if "parents" in body:
        raise Denied(
            "The parents field is not directly writable in update requests. Use the addParents and"
            " removeParents"
            " parameters instead.",
            code="fieldNotWritable",
        )
    file = store.drive.file(fileId)
    if removeParents and not addParents and removeParents in store.drive.parents(file):
        raise Invalid("A file has exactly one parent.", code="invalid")
    return _answer(store, request, store.drive.update(fileId, _content(body), addParents))


@api.delete("/drive/v3/files/{fileId}/")
@api.delete("/drive/v3/files/{fileId}")
def delete(store: SheetStore, fileId: str) -> None:
    """Remove a file for good."""
    store.drive.delete(fileId)


@api.post("/drive/v3/files/{fileId}/copy")
def copy(store: SheetStore, request: Request, fileId: str) -> Json:
    """A copy of a spreadsheet."""
    if store.drive.file(fileId).kind != "spreadsheet":
        raise Denied("This file cannot be copied by the user.", code="cannotCopyFile")
    body = plain(body_of(request))
    changes = _content(body)
    made = store.sheets.copy_book(store.sheets.book(fileId), changes.pop("name", None), _parent(body))
    file = store.drive.update(made.id, changes) if changes else store.drive.file(made.id)
    return _answer(store, request, file)


@api.get("/drive/v3/files/{fileId}/export")
def export(store: SheetStore, fileId: str, mimeType: str) -> Reply:
    """A spreadsheet as a file."""
    if store.drive.file(fileId).kind != "spreadsheet":
        raise Denied("Export only supports Docs Editors files.", code="fileNotExportable")
    return Reply(exported(store, store.sheets.book(fileId), mimeType), media_type=mimeType)


_FORMATS = {"csv": "text/csv", "tsv": "text/tab-separated-values", "xlsx": XLSX}


@api.get("/spreadsheets/d/{fileId}/export")
def download(
    store: SheetStore,
    request: Request,
    fileId: str,
    format: Literal["csv", "tsv", "xlsx"] = "xlsx",
    gid: int | None = None,
) -> Reply:
    """A spreadsheet, or one of its sheets, as a file: where the address of its page says `edit`, `export`."""
    request.asked.get("id")  # the same id once more
    if store.drive.file(fileId).kind != "spreadsheet":
        raise Denied("Export only supports Docs Editors files.", code="fileNotExportable")
    kind = _FORMATS[format]
    return Reply(exported(store, store.sheets.book(fileId), kind, gid), media_type=kind)
