"""Comments on files with their answers, and revisions."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from collections.abc import Mapping

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.google_sheet.rest.files import user
from mesocosm.servers.google_sheet.rest.service import api, body_of, read
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.comments import Remark, Revised
from mesocosm.servers.google_sheet.store.search import MIME
from mesocosm.services.schema import Json

MAX_PAGE = 100
_FILE = "/drive/v3/files/{fileId}"
_COMMENT = _FILE + "/comments/{commentId}"
_REPLY = _COMMENT + "/replies/{replyId}"


def _reply(store: SheetStore, reply: Remark) -> Json:
    shown: Json = {
        "kind": "drive#reply",
        "id": str(reply.id),
        "createdTime": reply.created,
        "modifiedTime": reply.modified,
        "author": user(store, reply.author),
        "deleted": reply.deleted,
    }
    if not reply.deleted:
        shown |= {"content": reply.content, "htmlContent": reply.content}
    return shown | ({"action": reply.action} if reply.action else {})


def _comment(store: SheetStore, remark: Remark, deleted: bool = False) -> Json:
    shown: Json = {
        "kind": "drive#comment",
        "id": str(remark.id),
        "createdTime": remark.created,
        "modifiedTime": remark.modified,
        "author": user(store, remark.author),
        "deleted": remark.deleted,
        "resolved": remark.resolved,
        "replies": [_reply(store, reply) for reply in remark.replies if deleted or not reply.deleted],
    }
    if not remark.deleted:
        shown |= {"content": remark.content, "htmlContent": remark.content}
    if remark.anchor:
        shown["anchor"] = remark.anchor
    if remark.quoted is not None:
        shown["quotedFileContent"] = {"mimeType": "text/html", "value": remark.quoted}
    return shown


def _page(items: list[Json], size: int, token: str | None, name: str, kind: str) -> Json:
    if not 1 <= size <= MAX_PAGE * 10:
        raise Invalid("Invalid value for pageSize.", code="invalidParameter")
    start = int(token) if token and token.isascii() and token.isdecimal() and len(token) < 10 else 0
    answer: Json = {"kind": kind, name: items[start : start + size]}
    return answer | ({"nextPageToken": str(start + size)} if start + size < len(items) else {})


@api.get(_FILE + "/comments")
def list_comments(
    store: SheetStore, fileId: str, pageSize: int = 20, pageToken: str | None = None,
    includeDeleted: bool = False, startModifiedTime: str | None = None,
) -> Json:  # fmt: skip
    """The comments on a file, the last changed first."""
    found = store.comments.all(fileId, includeDeleted)
    kept = [one for one in found if not startModifiedTime or one.modified >= startModifiedTime]
    shown = [_comment(store, one, includeDeleted) for one in kept]
    return _page(shown, pageSize, pageToken, "comments", "drive#commentList")


@api.get(_COMMENT)
def get_comment(store: SheetStore, fileId: str, commentId: str, includeDeleted: bool = False) -> Json:
    return _comment(store, store.comments.one(fileId, commentId, includeDeleted), includeDeleted)


@api.post(_FILE + "/comments")
def create_comment(store: SheetStore, request: Request, fileId: str) -> Json:
    """A new comment."""
    body = body_of(request)
    quoted = body.get("quotedFileContent")
    text = None
    if isinstance(quoted, Mapping):
        quoted.get("mimeType")
        text = read.text(quoted, "value")
    made = store.comments.add(fileId, read.text(body, "content") or "", read.text(body, "anchor"), text)
    return _comment(store, made)


@api.patch(_COMMENT)
def update_comment(store: SheetStore, request: Request, fileId: str, commentId: str) -> Json:
    """A comment in other words."""
    content = read.text(body_of(request), "content") or ""
    return _comment(store, store.comments.change(fileId, commentId, content))


@api.delete(_COMMENT)
def delete_comment(store: SheetStore, fileId: str, commentId: str) -> None:
    """Take a comment back."""
    store.comments.delete(fileId, commentId)


@api.get(_COMMENT + "/replies")
def list_replies(
    store: SheetStore, fileId: str, commentId: str, pageSize: int = 20, pageToken: str | None = None,
    includeDeleted: bool = False,
) -> Json:  # fmt: skip
    """The answers to a comment."""
    remark = store.comments.one(fileId, commentId, includeDeleted)
    shown = [_reply(store, one) for one in remark.replies if includeDeleted or not one.deleted]
    return _page(shown, pageSize, pageToken, "replies", "drive#replyList")


@api.get(_REPLY)
def get_reply(store: SheetStore, fileId: str, commentId: str, replyId: str) -> Json:
    """One answer."""
    return _reply(store, store.comments.answer(fileId, commentId, replyId))


@api.post(_COMMENT + "/replies")
def create_reply(store: SheetStore, request: Request, fileId: str, commentId: str) -> Json:
    """Answer a comment, or resolve it."""
    body = body_of(request)
    content, action = read.text(body, "content") or "", read.text(body, "action")
    return _reply(store, store.comments.reply(fileId, commentId, content, action))


@api.patch(_REPLY)
def update_reply(store: SheetStore, request: Request, fileId: str, commentId: str, replyId: str) -> Json:
    """An answer in other words."""
    content = read.text(body_of(request), "content") or ""
    return _reply(store, store.comments.change_answer(fileId, commentId, replyId, content))


@api.delete(_REPLY)
def delete_reply(store: SheetStore, fileId: str, commentId: str, replyId: str) -> None:
    """Take an answer back."""
    store.comments.delete_answer(fileId, commentId, replyId)


def _revision(store: SheetStore, revision: Revised) -> Json:
    return {
        "kind": "drive#revision",
        "id": revision.id,
        "mimeType": MIME["spreadsheet"],
        "modifiedTime": revision.modified,
        "lastModifyingUser": user(store, revision.modified_by),
    }


@api.get(_FILE + "/revisions")
def list_revisions(store: SheetStore, fileId: str, pageSize: int = 200, pageToken: str | None = None) -> Json:
    """The revisions of a file, the first first."""
    shown = [_revision(store, one) for one in store.comments.revisions(fileId)]
    return _page(shown, pageSize, pageToken, "revisions", "drive#revisionList")


@api.get(_FILE + "/revisions/{revisionId}")
def get_revision(store: SheetStore, fileId: str, revisionId: str) -> Json:
    for revision in store.comments.revisions(fileId):
        if revision.id == revisionId or revisionId == "head":
            last = store.comments.revisions(fileId)[-1]
            return _revision(store, last if revisionId == "head" else revision)
    raise NotFound(f"Revision not found: {revisionId[:40]}.", code="notFound")
