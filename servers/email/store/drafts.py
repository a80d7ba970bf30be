"""Drafts: unsent messages in the folder Drafts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, select, update

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.email.models import Email
from mesocosm.servers.email.store import limits
from mesocosm.servers.email.store.bulk import recipients
from mesocosm.servers.email.store.mailbox import NEWEST_FIRST, MailboxPart, new_message_id
from mesocosm.services.service import Row

_DRAFT = (
    Email.id,
    Email.to,
    Email.cc,
    Email.bcc,
    Email.subject,
    Email.body,
    Email.html_body,
    Email.drafted_at,
    Email.date,
)
_PAGE = (
    select(*_DRAFT)
    .where(Email.folder_id == bindparam("folder"))
    .order_by(*NEWEST_FIRST)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_ONE = select(*_DRAFT).where(Email.folder_id == bindparam("folder"), Email.id == bindparam("id"))
_TOTAL = select(func.count().label("total")).where(Email.folder_id == bindparam("folder"))


class Drafts(MailboxPart):
    """The drafts of the signed-in account; everything in the folder Drafts is one."""

    def drafts(self, page: int, page_size: int) -> tuple[Sequence[Row], int]:
        """One page of the drafts, last changed first, and how many there are."""
        limits.check_page(page, page_size)
        folder_id = self.folder_id("Drafts")
        rows = self.fetch(_PAGE, folder=folder_id, limit=page_size, offset=(page - 1) * page_size)
        return rows, int(self.fetch(_TOTAL, folder=folder_id)[0]["total"])

    def draft(self, draft_id: str) -> Row:
        folder_id = self.folder_id("Drafts")
        key = limits.email_key(draft_id)
        rows = self.fetch(_ONE, folder=folder_id, id=key) if key else []
        if not rows:
            raise NotFound(f"Draft not found: {draft_id}")
        return rows[0]

    def save_draft(self, **fields: str | None) -> Row:
        """Keep a new draft; the fields are those of ``update_draft``."""
        owner, now, email_id = self.owner, limits.timestamp(self.now), self.next_email_id()
        row = {
            "id": email_id,
            "folder_id": self.folder_id("Drafts"),
            "date": now,
            "drafted_at": now,
            "is_read": True,
            "is_draft": True,
            "message_id": new_message_id(email_id, owner.key, now),
            "sender": str(owner),
            **_checked(fields),
        }
        self.insert_emails([row], {})
        return self.draft(str(email_id))

    def update_draft(self, draft_id: str, **fields: str | None) -> Row:
        """Change the given ones of ``subject body html_body to cc bcc``; empty text clears a field."""
        key = self.draft(draft_id)["id"]
        changes = _checked(fields)
        if not changes:
            raise Invalid("Nothing to update: give at least one of subject, body, html_body, to, cc, bcc.")
        changes["date"] = limits.timestamp(self.now)
        self.session.execute(update(Email).where(Email.id == key).values(changes))
        return self.draft(draft_id)

    def delete_draft(self, draft_id: str) -> None:
        """Throw a draft away for good."""
        key = self.draft(draft_id)["id"]
        self.session.execute(delete(Email).where(Email.id == key))


def _checked(fields: dict[str, str | None]) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    for name, value in fields.items():
        if value is None:
            continue
        if name == "subject":
            checked[name] = limits.line("Subject", value)
        elif name in ("body", "html_body"):
            checked[name] = limits.text(name, value) or (None if name == "html_body" else "")
        else:
            checked[name] = recipients(name.upper(), value) or ("" if name == "to" else None)
    return checked
