"""Synchronisation for clients that mirror the mailbox, as IMAP's do.

A message's id is its UID. A message that is moved keeps it, so a folder's UIDs do not always grow.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, func, select, update

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.email.models import Attachment, Email
from mesocosm.servers.email.store.bulk import NewEmail
from mesocosm.servers.email.store.mailbox import File, MailboxPart
from mesocosm.services.service import Row

STATUSES: dict[str, dict[str, Any]] = {
    "read": {"is_read": True},
    "unread": {"is_read": False},
    "important": {"is_important": True},
    "not_important": {"is_important": False},
}


class Filing(MailboxPart):
    """Filing of messages: moving, marking, deleting."""

    def mark(self, email_ids: Sequence[str], status: str) -> list[Row]:
        """Set or clear a flag of messages; returns them as they now are."""
        if status not in STATUSES:
            raise Invalid(f"Invalid status: {status!r}. It must be one of: {', '.join(STATUSES)}.")
        keys = [email["id"] for email in self.emails(email_ids)]
        self.session.execute(update(Email).where(Email.id.in_(keys)).values(STATUSES[status]))
        return self.emails(email_ids)

    def move(self, email_ids: Sequence[str], folder: str) -> list[Row]:
        """Put messages into another folder; returns them as they now are."""
        folder_id = self.folder_id(folder)
        emails = self.emails(email_ids)
        self.check_filing(emails, folder_id)
        keys = [email["id"] for email in emails]
        self.session.execute(update(Email).where(Email.id.in_(keys)).values(folder_id=folder_id))
        return self.emails(email_ids)

    def check_filing(self, emails: Iterable[Row], folder_id: int) -> None:
        """Refuse messages that cannot lie in a folder."""
        if self.folder_names()[folder_id] == "Drafts":
            for email in emails:
                if not email["is_draft"]:
                    raise Conflict(f"Only drafts can lie in Drafts; email {email['id']} is none.")

    def delete(self, email_ids: Sequence[str]) -> int:
        """Move messages to Trash, or remove for good those that lie there; returns how many."""
        emails = self.emails(email_ids)
        gone = [email["id"] for email in emails if email["folder"] == "Trash"]
        others = [email["id"] for email in emails if email["folder"] != "Trash"]
        trash = self.folder_id("Trash")
        self.session.execute(update(Email).where(Email.id.in_(others)).values(folder_id=trash))
        self.session.execute(delete(Email).where(Email.id.in_(gone)))
        return len(emails)


FLAGS = {
    "Seen": "is_read",
    "Answered": "is_answered",
    "Flagged": "is_important",
    "Deleted": "is_deleted",
    "Draft": "is_draft",
}
"""The flags of IMAP, and the columns that hold them."""
CHANGEABLE = ("Seen", "Answered", "Flagged", "Deleted")
"""Flags that clients can change. Being a draft depends on a message's origin."""

_STATE = (
    select(
        Email.id,
        Email.date,
        Email.is_read,
        Email.is_answered,
        Email.is_important,
        Email.is_deleted,
        Email.is_draft,
    )
    .where(Email.folder_id == bindparam("folder"))
    .order_by(Email.id)
)
_CONTENT = select(*Email.__table__.c).where(
    Email.id == bindparam("id"), Email.folder_id == bindparam("folder")
)
_FILES = (
    select(Attachment.filename, Attachment.content_type, Attachment.data)
    .where(Attachment.email_id == bindparam("email"))
    .order_by(Attachment.id)
)


@dataclass(frozen=True)
class FolderState:
    """State of a folder that a client needs to mirror messages and flags."""

    id: int
    next_id: int
    """The id that the next new message will have."""
    messages: Sequence[Row]
    """Id, date and flags of every message, by id."""

    @property
    def unseen(self) -> list[int]:
        """Positions (from 1) of the messages that were not read."""
        return [place for place, row in enumerate(self.messages, 1) if not row["is_read"]]


class Mirroring(MailboxPart):
    """The signed-in account's mailbox for clients that name messages by folder and id.

    MailboxPart that are no longer where such a client believes them to be are passed over: it will be told.
    """

    def folder_state(self, folder: str) -> FolderState:
        """The messages of a folder."""
        key = self.folder_id(folder)
        return FolderState(key, self.next_email_id(), self.fetch(_STATE, folder=key))

    def contents(self, folder: str, ids: Sequence[int]) -> Iterator[tuple[Row, Sequence[Row]]]:
        """Those of the messages that lie in the folder, whole, each with its attachments."""
        key = self.folder_id(folder)
        for email_id in ids:
            for row in self.fetch(_CONTENT, id=email_id, folder=key):
                yield row, self.fetch(_FILES, email=email_id)

    def set_flags(self, folder: str, ids: Sequence[int], flags: Sequence[str], mode: str) -> None:
        """``ADD``, ``DELETE`` or ``REPLACE`` flags; those that cannot be changed are passed over."""
        columns = {FLAGS[flag]: mode != "DELETE" for flag in CHANGEABLE if flag in flags}
        if mode == "REPLACE":
            columns = {FLAGS[flag]: False for flag in CHANGEABLE} | columns
        if columns:
            self.session.execute(update(Email).where(*self._among(folder, ids)).values(columns))

    def copy(self, folder: str, ids: Sequence[int], target: str) -> list[tuple[int, int]]:
        """Put copies of messages into a folder; returns the ids of each message and its copy."""
        target_id = self.folder_id(target)
        copies: list[tuple[int, int]] = []
        rows: list[dict[str, Any]] = []
        files: dict[int, list[File]] = {}
        first = self.next_email_id()
        for row, attached in self.contents(folder, ids):
            self.store.filing.check_filing([row], target_id)
            copy = first + len(rows)
            copies.append((row["id"], copy))
            rows.append({**row, "id": copy, "folder_id": target_id})
            files[copy] = [File(**file) for file in attached]  # type: ignore[typeddict-item]
        self.insert_emails(rows, files)
        return copies

    def refile(self, folder: str, ids: Sequence[int], target: str) -> list[int]:
        """Move messages to a folder; returns the ids of those that were moved."""
        target_id = self.folder_id(target)
        wanted = set(ids)
        rows = [row for row in self.folder_state(folder).messages if row["id"] in wanted]
        self.store.filing.check_filing(rows, target_id)
        moved = [row["id"] for row in rows]
        self.session.execute(update(Email).where(_named(moved)).values(folder_id=target_id))
        return moved

    def expunge(self, folder: str, ids: Sequence[int] | None) -> int:
        """Remove for good the messages marked as deleted, or those among some ids; returns how many."""
        where = [Email.folder_id == self.folder_id(folder), Email.is_deleted.is_(True)]
        if ids is not None:
            where.append(_named(ids))
        doomed = [row["id"] for row in self.fetch(select(Email.id).where(*where))]
        self.session.execute(delete(Email).where(_named(doomed)))
        return len(doomed)

    def append(self, folder: str, email: NewEmail, flags: Sequence[str]) -> int:
        """Put a message of the client's own into a folder; returns its id."""
        name = self.folder_names()[self.folder_id(folder)]
        email = {**email, "is_read": "Seen" in flags, "is_important": "Flagged" in flags}
        (email_id,) = self.store.add_emails(self.account, name, [email])
        self.set_flags(name, [email_id], flags, "ADD")
        return email_id

    def _among(self, folder: str, ids: Sequence[int]) -> list[ColumnElement[bool]]:
        return [Email.folder_id == self.folder_id(folder), _named(ids)]


def _named(ids: Sequence[int]) -> ColumnElement[bool]:
    # As one value, because SQLite limits how many a statement may have.
    given = func.json_each(json.dumps(list(ids))).table_valued("value")
    return Email.id.in_(select(given.c.value))
