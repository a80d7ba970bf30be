"""Messages in a mailbox: reading them, and putting new ones in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from sqlalchemy import bindparam, exists, func, insert, select, text

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.email.models import Attachment, Delivery, Email, Folder
from mesocosm.servers.email.store import limits
from mesocosm.servers.email.store.folders import Folders
from mesocosm.services.service import Row

HAS_ATTACHMENTS = exists(select(Attachment.id).where(Attachment.email_id == Email.id))
SUMMARY = (
    Email.id,
    Email.subject,
    Email.sender,
    Email.to,
    Email.cc,
    Email.date,
    Email.is_read,
    Email.is_important,
    Email.is_draft,
    Folder.name.label("folder"),
    HAS_ATTACHMENTS.label("has_attachments"),
)
"""The columns of a message in a list."""
NEWEST_FIRST = (Email.date.desc(), Email.id.desc())

_TOTAL = select(func.count().label("total")).where(Email.folder_id == bindparam("folder"))
_PAGE = (
    select(*SUMMARY)
    .join(Folder, Folder.id == Email.folder_id)
    .where(Email.folder_id == bindparam("folder"))
    .order_by(*NEWEST_FIRST)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_OWN = (
    select(*SUMMARY)
    .join(Folder, Folder.id == Email.folder_id)
    .where(Email.id.in_(bindparam("ids", expanding=True)), Folder.account == bindparam("account"))
)
_EMAIL = (
    select(*Email.__table__.c, Folder.name.label("folder"), Folder.account)
    .join(Folder, Folder.id == Email.folder_id)
    .where(Email.id == bindparam("id"), Folder.account == bindparam("account"))
)
_ATTACHMENTS = (
    select(Attachment.id, Attachment.filename, Attachment.size, Attachment.content_type)
    .where(Attachment.email_id == bindparam("email"))
    .order_by(Attachment.id)
)
_LAST_ID = text("SELECT seq FROM sqlite_sequence WHERE name = 'emails'")

_DEFAULTS: Mapping[str, Any] = {
    "is_read": False,
    "is_important": False,
    "is_answered": False,
    "is_deleted": False,
    "is_draft": False,
    "in_reply_to": None,
    "references": None,
    "to": "",
    "cc": None,
    "bcc": None,
    "drafted_at": None,
    "html_body": None,
}


class File(TypedDict):
    """An attachment to be stored with a message."""

    filename: str
    data: bytes
    content_type: NotRequired[str]


class Messages(Folders):
    """The messages of the signed-in account."""

    def page(self, folder: str, page: int, page_size: int) -> tuple[Sequence[Row], int]:
        """One page of a folder, newest first and without bodies, and the folder's total."""
        limits.check_page(page, page_size)
        folder_id = self.folder_id(folder)
        rows = self.fetch(_PAGE, folder=folder_id, limit=page_size, offset=(page - 1) * page_size)
        return rows, int(self.fetch(_TOTAL, folder=folder_id)[0]["total"])

    def email(self, email_id: str) -> Row:
        """A message of the signed-in account, whole, with the name of its folder."""
        account = self.account
        key = limits.email_key(email_id)
        rows = self.fetch(_EMAIL, id=key, account=account) if key else []
        if not rows:
            raise NotFound(f"Email not found: {email_id}")
        return rows[0]

    def attachments(self, email: int) -> Sequence[Row]:
        """List the attachments of a message, without their contents."""
        return self.fetch(_ATTACHMENTS, email=email)

    def media_type(self, email: Row) -> str:
        """The content type of a message as it was transmitted."""
        if self.attachments(email["id"]):
            return "multipart/mixed"
        return "multipart/alternative" if email["html_body"] else "text/plain; charset=utf-8"

    def emails(self, email_ids: Sequence[str]) -> list[Row]:
        """Messages of the signed-in account without their bodies, in the order asked for, each once.

        ``NotFound`` names every id that is not a message of this account.
        """
        account = self.account
        if not email_ids:
            raise Invalid("email_ids must name at least one email.")
        if len(email_ids) > limits.MAX_BATCH:
            raise Invalid(f"At most {limits.MAX_BATCH} emails at a time, got {len(email_ids)}.")
        keys = {email_id: limits.email_key(email_id) for email_id in email_ids}
        rows = self.fetch(_OWN, ids=[key for key in keys.values() if key], account=account)
        found = {row["id"]: row for row in rows}
        unknown = [email_id for email_id, key in keys.items() if key not in found]
        if unknown:
            more = f" and {len(unknown) - 20} more" if len(unknown) > 20 else ""
            raise NotFound(f"Email not found: {', '.join(unknown[:20])}{more}. No email was changed.")
        return [found[key] for key in keys.values() if key]

    # -- putting in -------------------------------------------------------------------------------------

    def next_email_id(self) -> int:
        """The id that the next new message will get."""
        rows = self.fetch(_LAST_ID)
        return int(rows[0]["seq"]) + 1 if rows else 1

    def insert_emails(self, rows: Sequence[Mapping[str, Any]], files: Mapping[int, Iterable[File]]) -> None:
        """Store messages whose ids (from ``next_email_id`` on) and contents are settled."""
        if rows:
            # Past the mapper, which takes as long again.
            self.session.connection().execute(insert(Email), [{**_DEFAULTS, **row} for row in rows])
        attachments = [_attachment(key, file) for key, several in files.items() for file in several]
        if attachments:
            self.session.connection().execute(insert(Attachment), attachments)

    def log_delivery(self, email_id: int, sender: str, recipients: Sequence[str]) -> None:
        """Write down that a message left; ``email_id`` is the sender's copy."""
        logged = {"email_id": email_id, "sender": sender, "recipients": ", ".join(recipients)}
        self.session.connection().execute(insert(Delivery), [logged])


def new_message_id(email_id: int, sender: str, date: str) -> str:
    """A Message-ID that no other message has, and that is the same in every run."""
    digest = hashlib.sha256(f"{email_id}:{sender}:{date}".encode()).hexdigest()[:24]
    return f"<{digest}@{sender.rpartition('@')[2]}>"


def _attachment(email_id: int, file: File) -> dict[str, Any]:
    data = file["data"]
    return {
        "email_id": email_id,
        "filename": file["filename"],
        "content_type": file.get("content_type") or content_type(file["filename"]),
        "size": len(data),
        "data": data,
    }


_CONTENT_TYPES = {
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "eml": "message/rfc822",
    "gif": "image/gif",
    "html": "text/html",
    "ics": "text/calendar",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "json": "application/json",
    "md": "text/markdown",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "pdf": "application/pdf",
    "png": "image/png",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "txt": "text/plain",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml",
    "zip": "application/zip",
}


def content_type(filename: str) -> str:
    """The media type by a file's name; Python's own table would depend on the machine."""
    return _CONTENT_TYPES.get(filename.rpartition(".")[2].lower(), "application/octet-stream")
