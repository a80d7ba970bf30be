"""Files: exports and imports of mail, and attachments, in the workspace."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any, cast

import orjson
from sqlalchemy import bindparam, select

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.email.models import Attachment, Email, Folder
from mesocosm.servers.email.store import limits
from mesocosm.servers.email.store.bulk import NewEmail
from mesocosm.servers.email.store.mailbox import NEWEST_FIRST, File, MailboxPart
from mesocosm.services.service import Row
from mesocosm.services.values import GOOGLES, Kinds
from mesocosm.worlds.limits import settings

_WHOLE = (
    select(*Email.__table__.c, Folder.name.label("folder"))
    .join(Folder, Folder.id == Email.folder_id)
    .where(Email.folder_id == bindparam("folder"))
    .order_by(*NEWEST_FIRST)
    .limit(bindparam("limit"))
)
_FILES = (
    select(
        Attachment.email_id, Attachment.filename, Attachment.content_type, Attachment.size, Attachment.data
    )
    .join(Email, Email.id == Attachment.email_id)
    .where(Email.folder_id == bindparam("folder"))
    .order_by(Attachment.id)
)
_DATA = select(Attachment.data).where(Attachment.id == bindparam("id"))

# The names of the exported fields, and ours.
_FIELDS = {
    "subject": "subject",
    "from_addr": "sender",
    "to_addr": "to",
    "cc_addr": "cc",
    "bcc_addr": "bcc",
    "date": "date",
    "message_id": "message_id",
    "in_reply_to": "in_reply_to",
    "references": "references",
    "body_text": "body",
    "body_html": "html_body",
    "is_read": "is_read",
    "is_important": "is_important",
}
_REQUIRED = ("subject", "from_addr", "to_addr", "date")
_KINDS = Kinds(
    lambda name, value, expected: Invalid(f"the field {name!r} must be {expected}."),
    {**GOOGLES, "text": "text"},
)


class Archive(MailboxPart):
    """Mail that leaves or enters a mailbox as files of the workspace."""

    # -- attachments ------------------------------------------------------------------------------------

    def save_attachment(self, email_id: str, filename: str) -> tuple[Row, str]:
        """Save an attachment in the workspace; returns it and the path, as the agent knows it."""
        email = self.email(email_id)
        attached = {row["filename"]: row for row in self.attachments(email["id"])}
        if filename not in attached:
            there = f"it has {', '.join(attached)}" if attached else "it has none"
            raise NotFound(f"Attachment not found: {filename} (email {email_id}: {there}).")
        row = attached[filename]
        path = self.workspace.write(self._free_name(filename), self.fetch(_DATA, id=row["id"])[0]["data"])
        return row, self.workspace.shown(path)

    def _free_name(self, filename: str) -> str:
        """The name, or one like it that no file has yet: what was there is not overwritten."""
        name, number = PurePosixPath(filename), 0
        candidate = filename
        while self.workspace.resolve(candidate).exists():
            number += 1
            candidate = f"{name.stem}({number}){name.suffix}"
        return candidate

    # -- export -----------------------------------------------------------------------------------------

    def export(
        self, folder: str | None, path: str, limit: int | None, *, all_folders: bool
    ) -> tuple[dict[str, int], str]:
        """Write messages to a JSON file; returns how many of each folder, and the path."""
        if all_folders and folder is not None:
            raise Invalid("Cannot specify both 'folder' and 'export_all_folders'.")
        if limit is not None and not 1 <= limit <= limits.MAX_PAGE:
            raise Invalid(f"max_emails must be 1 or more, got {limit}.")
        folders = self.folder_names()
        if not all_folders:
            only = self.folder_id("INBOX" if folder is None else folder)
            folders = {only: folders[only]}
        records: list[dict[str, Any]] = []
        counts: dict[str, int] = {}
        for folder_id, name in folders.items():
            exported = self._records(folder_id, limits.MAX_PAGE if limit is None else limit - len(records))
            counts[name] = len(exported)
            records += exported
        document = {
            "export_date": limits.timestamp(self.now),
            "total_emails": len(records),
            "emails": records,
        }
        written = self.workspace.write(path, orjson.dumps(document, option=orjson.OPT_INDENT_2))
        return counts, self.workspace.shown(written)

    def _records(self, folder_id: int, limit: int) -> list[dict[str, Any]]:
        files: dict[int, list[dict[str, Any]]] = {}
        for file in self.fetch(_FILES, folder=folder_id):
            record = {name: file[name] for name in ("filename", "content_type", "size")}
            record["content"] = base64.b64encode(file["data"]).decode()
            files.setdefault(file["email_id"], []).append(record)
        return [
            {
                "email_id": str(row["id"]),
                **{theirs: row[ours] for theirs, ours in _FIELDS.items()},
                "folder": row["folder"],
                "attachments": files.get(row["id"], []),
            }
            for row in self.fetch(_WHOLE, folder=folder_id, limit=limit)
        ]

    # -- import -----------------------------------------------------------------------------------------

    def import_file(self, path: str, folder: str | None, *, keep_folders: bool) -> tuple[dict[str, int], str]:
        """Add the messages of an export file; returns how many came into each folder, and the path.

        One unusable record refuses the whole file. Folders that are missing are created.
        """
        account = self.account
        names = self.folder_names()
        known = {name.lower(): name for name in names.values()}
        target = names[self.folder_id("INBOX" if folder is None else folder)]
        file = self.workspace.existing_file(path)
        batches: dict[str, list[NewEmail]] = {}
        for index, record in enumerate(_read_records(file, self.workspace.shown(file))):
            try:
                name = record.get("folder") if keep_folders and isinstance(record, dict) else None
                name = target if name is None else limits.name("folder", name)
                name = known.setdefault(name.lower(), name)
                batches.setdefault(name, []).append(_new_email(record))
            except Invalid as problem:
                raise Invalid(f"Cannot import {path}: emails[{index}]: {problem.message}") from None
        for name, emails in batches.items():
            if name not in self.folder_names().values():
                self.create_folder(name)
            # Oldest first, so that ids grow with time as they do on delivery.
            self.store.add_emails(account, name, reversed(emails))
        return {name: len(emails) for name, emails in batches.items()}, self.workspace.shown(file)


def _read_records(file: Path, shown: str) -> Sequence[Any]:
    if file.stat().st_size > (limit := settings().workspace_file_size):
        raise Invalid(f"{shown} is larger than {limit:,} bytes (setting workspace_file_size).")
    try:
        document = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as problem:
        raise Invalid(f"{shown} is not valid JSON: {problem.msg}") from None
    if not isinstance(document, dict) or not isinstance(document.get("emails"), list):
        raise Invalid(f"{shown} is not an export of emails: it has no list 'emails'.")
    records: list[Any] = document["emails"]
    return records


def _new_email(record: Any) -> NewEmail:
    if not isinstance(record, dict):
        raise Invalid("not an object.")
    for name in _REQUIRED:
        if not isinstance(record.get(name), str):
            raise Invalid(f"the field {name!r} is missing or not text.")
    email: dict[str, Any] = {"body": ""}
    for theirs, ours in _FIELDS.items():
        value = record.get(theirs)
        if value is None:
            continue
        check = _KINDS.flag if theirs.startswith("is_") else _KINDS.text
        email[ours] = check(value, theirs)
    attachments = _KINDS.items(record.get("attachments") or [], "attachments")
    email["attachments"] = [_file(attachment) for attachment in attachments]
    return cast(NewEmail, email)


def _file(record: Any) -> File:
    if not isinstance(record, dict) or not isinstance(record.get("content"), str):
        raise Invalid("an attachment needs 'filename' and 'content' (base64).")
    filename = limits.file_name(record.get("filename"))
    try:
        data = base64.b64decode(record["content"], validate=True)
    except (binascii.Error, ValueError):
        raise Invalid(f"the content of attachment {filename} is not base64.") from None
    file = File(filename=filename, data=data)
    if record.get("content_type") is not None:
        file["content_type"] = limits.name("content_type", record["content_type"])
    return file
