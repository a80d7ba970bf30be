"""What an agent sees of the email service."""

from __future__ import annotations

from typing import Any

from sqlalchemy import RowMapping

from mesocosm.servers.email.store import EmailStore
from mesocosm.service import Service

server = Service(
    "email",
    EmailStore,
    instructions="The mailbox of the signed-in account: folders, messages, drafts and sending.",
)


@server.reads
def get_emails(
    store: EmailStore, folder: str = "INBOX", page: int = 1, page_size: int = 20
) -> dict[str, Any]:
    """List one page of a folder, newest message first, without the bodies (see read_email).

    Args:
        folder: The folder to list.
        page: Page number, from 1.
        page_size: Messages per page, 1 to 100.
    """
    rows, total = store.page(folder, page, page_size)
    return {
        "emails": [
            {
                "id": str(row["id"]),
                "subject": row["subject"],
                "from": row["sender"],
                "to": row["to"],
                "date": row["date"],
                "is_read": row["is_read"],
                "is_important": row["is_important"],
            }
            for row in rows
        ],
        "total": total,
        "page": page,
        "page_size": page_size,
        "total_pages": -(-total // page_size),
    }


@server.reads
def read_email(store: EmailStore, email_id: str) -> dict[str, Any]:
    """Read one message in full.

    Args:
        email_id: The id that the listing and searching tools return.
    """
    return full(store.email(email_id))


def full(email: RowMapping) -> dict[str, Any]:
    """A message with its body."""
    return {
        "id": str(email["id"]),
        "subject": email["subject"],
        "from": email["sender"],
        "to": email["to"],
        "cc": email["cc"],
        "date": email["date"],
        "message_id": email["message_id"],
        "body": email["body"],
        "html_body": email["html_body"],
        "is_read": email["is_read"],
        "is_important": email["is_important"],
        "folder": email["folder"],
    }
