"""Filing: marking, moving and deleting messages. A batch is done as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import delete, update

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.email.models import Email
from mesocosm.servers.email.store.messages import Messages
from mesocosm.services.service import Row

STATUSES: dict[str, dict[str, Any]] = {
    "read": {"is_read": True},
    "unread": {"is_read": False},
    "important": {"is_important": True},
    "not_important": {"is_important": False},
}


class Filing(Messages):
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
