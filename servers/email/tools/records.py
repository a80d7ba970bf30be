"""How accounts, messages and drafts look in results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mesocosm.servers.email.store import EmailStore
from mesocosm.services.service import Row
from mesocosm.services.shapes import same


def summary(email: Row) -> dict[str, Any]:
    """A message in a list: everything but bodies."""
    return {
        "id": str(email["id"]),
        "subject": email["subject"],
        "from": email["sender"],
        **same(email, "to", "cc", "date", "is_read", "is_important", "folder"),
        "has_attachments": bool(email["has_attachments"]),
    }


def whole(store: EmailStore, email_id: str) -> dict[str, Any]:
    """A message with its bodies, its place in the conversation and what is attached."""
    email = store.email(email_id)
    return {
        "id": str(email["id"]),
        "subject": email["subject"],
        "from": email["sender"],
        **same(email, "to", "cc", "bcc", "date", "message_id", "in_reply_to", "references", "body"),
        **same(email, "html_body", "is_read", "is_important", "folder"),
        "attachments": [
            {"filename": file["filename"], "size": file["size"], "content_type": file["content_type"]}
            for file in store.attachments(email["id"])
        ],
    }


def draft(row: Row) -> dict[str, Any]:
    """A draft."""
    return {
        "id": str(row["id"]),
        **same(row, "to", "cc", "bcc", "subject", "body", "html_body"),
        "created_at": row["drafted_at"] or row["date"],
        "updated_at": row["date"],
    }


def paged(name: str, items: Sequence[Any], total: int, page: int, page_size: int) -> dict[str, Any]:
    """One page of a list that carries its own totals."""
    return {
        name: items,
        "total": total,
        "page": page,
        "page_size": page_size,
        "total_pages": -(-total // page_size),
    }
