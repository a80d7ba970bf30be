"""Permissions on files."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from mesocosm.doors.partial_answers import masked
from mesocosm.doors.request import Request
from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.rest.files import permission
from mesocosm.servers.google_sheet.rest.service import api, body_of, read
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.drive import Granted
from mesocosm.services.schema import Json

_FIELDS = "kind,id,type,role"


def _answer(request: Request, one: Granted) -> Json:
    shown = permission(one)
    return shown if request.asked.get("fields") else masked(shown, _FIELDS)


@api.get("/drive/v3/files/{fileId}/permissions")
def list_permissions(
    store: SheetStore, request: Request, fileId: str, pageSize: int = 100, pageToken: str | None = None
) -> Json:
    if not 1 <= pageSize <= 100:
        raise Invalid("Invalid value for pageSize: from 1 to 100.", code="invalidParameter")
    start = int(pageToken) if pageToken and pageToken.isdecimal() and len(pageToken) < 10 else 0
    found = store.drive.permissions(fileId)
    page = found[start : start + pageSize]
    answer: Json = {"kind": "drive#permissionList", "permissions": [_answer(request, one) for one in page]}
    return answer | ({"nextPageToken": str(start + pageSize)} if start + pageSize < len(found) else {})


@api.get("/drive/v3/files/{fileId}/permissions/{permissionId}")
def get_permission(store: SheetStore, request: Request, fileId: str, permissionId: str) -> Json:
    return _answer(request, store.drive.permission(fileId, permissionId))


@api.post("/drive/v3/files/{fileId}/permissions")
def create_permission(
    store: SheetStore,
    request: Request,
    fileId: str,
    sendNotificationEmail: bool = True,
    emailMessage: str | None = None,
    transferOwnership: bool = False,
) -> Json:
    """Share a file. No mail leaves this server."""
    body = body_of(request)
    kind, role = read.text(body, "type"), read.text(body, "role")
    if not kind or not role:
        raise Invalid("The permission type and role fields are required.", code="required")
    for name in ("withLink", "allowFileDiscovery"):  # what is shared here is shared with whoever has the link
        read.flag(body, name)
    value = read.text(body, "emailAddress") or read.text(body, "domain") or read.text(body, "value")
    if transferOwnership:
        role = "owner"
    return _answer(request, store.drive.share(fileId, kind, value, role))


@api.patch("/drive/v3/files/{fileId}/permissions/{permissionId}")
def update_permission(store: SheetStore, request: Request, fileId: str, permissionId: str) -> Json:
    """Another role for somebody."""
    role = read.text(body_of(request), "role")
    if not role:
        raise Invalid("The permission role field is required.", code="required")
    return _answer(request, store.drive.change_role(fileId, permissionId, role))


@api.delete("/drive/v3/files/{fileId}/permissions/{permissionId}")
def delete_permission(store: SheetStore, fileId: str, permissionId: str) -> None:
    """Take a permission back."""
    store.drive.unshare(fileId, permissionId)
