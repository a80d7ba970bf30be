"""Tools for drafts."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.email.tools.records import draft, paged
from mesocosm.servers.email.tools.service import server


@server.writes
def save_draft(
    store: EmailStore,
    subject: str,
    body: str,
    html_body: str | None = None,
    to: str | None = None,
    cc: str | None = None,
    bcc: str | None = None,
) -> dict[str, Any]:
    """Keep an unsent message in the folder Drafts.

    Args:
        subject: Subject line.
        body: Plain text of the message.
        html_body: The message as HTML.
        to: Recipients, separated by commas.
        cc: Recipients of a copy.
        bcc: Recipients of a copy that the other recipients do not see.
    """
    return draft(
        store.drafting.save_draft(subject=subject, body=body, html_body=html_body, to=to, cc=cc, bcc=bcc)
    )


@server.reads
def get_drafts(store: EmailStore, page: int = 1, page_size: int = 20) -> dict[str, Any]:
    """List one page of the drafts, last changed first.

    Args:
        page: Page number, from 1.
        page_size: Drafts per page, 1 to 100.
    """
    rows, total = store.drafting.drafts(page, page_size)
    return paged("drafts", [draft(row) for row in rows], total, page, page_size)


@server.writes(destructive=True, idempotent=True)
def update_draft(
    store: EmailStore,
    draft_id: str,
    subject: str | None = None,
    body: str | None = None,
    html_body: str | None = None,
    to: str | None = None,
    cc: str | None = None,
    bcc: str | None = None,
) -> dict[str, Any]:
    """Change a draft; what is not given stays as it is, and an empty text clears a field.

    Args:
        draft_id: The draft to change.
        subject: New subject line.
        body: New plain text.
        html_body: New HTML.
        to: New recipients, separated by commas.
        cc: New recipients of a copy.
        bcc: New recipients of a blind copy.
    """
    return draft(
        store.drafting.update_draft(
            draft_id, subject=subject, body=body, html_body=html_body, to=to, cc=cc, bcc=bcc
        )
    )


@server.writes(destructive=True)
def delete_draft(store: EmailStore, draft_id: str) -> str:
    """Throw a draft away for good.

    Args:
        draft_id: The draft to delete.
    """
    store.drafting.delete_draft(draft_id)
    return f"Draft {draft_id} deleted successfully"
