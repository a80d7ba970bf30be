"""Tools for listing, searching and reading messages."""

from __future__ import annotations

from email.utils import format_datetime
from typing import Any

from mesocosm.servers.email.store import EmailStore, moment
from mesocosm.servers.email.tools.records import paged, summary, whole
from mesocosm.servers.email.tools.service import server
from mesocosm.services.schema import Words
from mesocosm.services.shapes import same


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
    return paged("emails", [summary(row) for row in rows], total, page, page_size)


@server.reads(long=True)
def read_email(store: EmailStore, email_id: str) -> dict[str, Any]:
    """Read one message in full, with the list of its attachments.

    The message stays unread until mark_emails says otherwise.

    Args:
        email_id: The id that the listing and searching tools return.
    """
    return whole(store, email_id)


@server.reads
def search_emails(
    store: EmailStore, query: Words, folder: str = "INBOX", page: int = 1, page_size: int = 20
) -> dict[str, Any]:
    """Find messages by their text, newest first, without the bodies (see read_email).

    Every term of the query must be found in the subject, the addresses or the body; upper and lower case are
    the same, and a term may be a part of a word. Put a phrase in double quotes. Terms may be narrowed down:
    from:ann, to:bob, cc:bob, subject:"budget review", body:invoice. Further conditions: is:unread, is:read,
    is:important, has:attachment, after:2025-01-31 (that day or later), before:2025-02-28 (UTC).

    Args:
        query: The terms to look for.
        folder: The folder to search; * searches all folders.
        page: Page number, from 1.
        page_size: Messages per page, 1 to 100.
    """
    rows, total = store.searching.search(query, folder, page, page_size)
    return paged("emails", [summary(row) for row in rows], total, page, page_size)


@server.reads
def get_email_headers(store: EmailStore, email_id: str) -> dict[str, Any]:
    """Get the headers of a message as transmitted, with those that tie a conversation together.

    Args:
        email_id: The id that the listing and searching tools return.
    """
    email = store.email(email_id)
    return {
        **same(email, "message_id", "in_reply_to", "references"),
        "from": email["sender"],
        **same(email, "to", "cc", "subject"),
        "date": format_datetime(moment(email["date"])),
        "content_type": store.media_type(email),
    }
