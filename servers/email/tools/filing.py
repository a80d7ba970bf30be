"""Tools for marking, moving and deleting messages."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.email.tools.records import summary
from mesocosm.servers.email.tools.service import server


@server.writes(destructive=True)
def delete_email(store: EmailStore, email_id: str) -> str:
    """Delete a message: it moves to Trash, and a message that already lies in Trash is removed for good.

    Args:
        email_id: The message to delete.
    """
    store.filing.delete([email_id])
    return f"Email {email_id} deleted successfully"


@server.writes(destructive=True)
def delete_emails(store: EmailStore, email_ids: list[str]) -> str:
    """Delete several messages as delete_email does; if one id is unknown, none is deleted.

    Args:
        email_ids: The messages to delete.
    """
    count = store.filing.delete(email_ids)
    return f"Successfully deleted {count} emails"


@server.writes(idempotent=True)
def move_email(store: EmailStore, email_id: str, target_folder: str) -> dict[str, Any]:
    """Move a message into another folder; it keeps its id.

    Args:
        email_id: The message to move.
        target_folder: The existing folder to move it to.
    """
    return summary(store.filing.move([email_id], target_folder)[0])


@server.writes(idempotent=True)
def move_emails(store: EmailStore, email_ids: list[str], target_folder: str) -> dict[str, Any]:
    """Move several messages into another folder; if one id is unknown, none is moved.

    Args:
        email_ids: The messages to move.
        target_folder: The existing folder to move them to.
    """
    moved = [summary(row) for row in store.filing.move(email_ids, target_folder)]
    return {"moved_emails": moved, "count": len(moved)}


@server.writes(idempotent=True)
def mark_emails(store: EmailStore, email_ids: list[str], status: str) -> dict[str, Any]:
    """Mark messages as read, unread, important or not important; if one id is unknown, none is marked.

    Args:
        email_ids: The messages to mark.
        status: One of read, unread, important, not_important.
    """
    updated = [summary(row) for row in store.filing.mark(email_ids, status)]
    return {"updated_emails": updated, "count": len(updated)}
