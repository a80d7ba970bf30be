"""Tools for sending messages."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.email.tools.records import whole
from mesocosm.servers.email.tools.service import server


@server.writes
def send_email(
    store: EmailStore,
    to: str,
    subject: str,
    body: str,
    html_body: str | None = None,
    cc: str | None = None,
    bcc: str | None = None,
    attachments: list[str] | None = None,
) -> dict[str, Any]:
    """Send a message from the signed-in account; a copy is kept in Sent and returned.

    Separate several addresses with commas; names are allowed (Ann Lee <ann@example.com>). An unknown address
    of this mail server's own domains is refused, and then nobody gets the message.

    Args:
        to: Recipients.
        subject: Subject line.
        body: Plain text of the message.
        html_body: The message as HTML, sent beside the plain text.
        cc: Recipients of a copy.
        bcc: Recipients of a copy that the other recipients do not see.
        attachments: Paths of files in the workspace to attach.
    """
    sent = store.sending.send(
        to, subject, body, html_body=html_body, cc=cc, bcc=bcc, attachments=attachments or ()
    )
    return whole(store, str(sent))


@server.writes
def reply_email(
    store: EmailStore,
    email_id: str,
    body: str,
    html_body: str | None = None,
    cc: str | None = None,
    bcc: str | None = None,
    reply_all: bool = False,
) -> dict[str, Any]:
    """Answer a message, within its conversation; the original is quoted below the answer.

    Args:
        email_id: The message to answer.
        body: Plain text of the answer.
        html_body: The answer as HTML, sent beside the plain text.
        cc: Further recipients of a copy.
        bcc: Recipients of a copy that the other recipients do not see.
        reply_all: Also send a copy to all other recipients of the original.
    """
    sent = store.sending.reply(email_id, body, html_body=html_body, cc=cc, bcc=bcc, everybody=reply_all)
    return whole(store, str(sent))


@server.writes
def forward_email(
    store: EmailStore,
    email_id: str,
    to: str,
    body: str | None = None,
    html_body: str | None = None,
    cc: str | None = None,
    bcc: str | None = None,
) -> dict[str, Any]:
    """Pass a message on to others, with its text and its attachments.

    Args:
        email_id: The message to pass on.
        to: Recipients, separated by commas.
        body: Plain text to put above the forwarded message.
        html_body: HTML to put above the forwarded message.
        cc: Recipients of a copy.
        bcc: Recipients of a copy that the other recipients do not see.
    """
    sent = store.sending.forward(email_id, to, body=body, html_body=html_body, cc=cc, bcc=bcc)
    return whole(store, str(sent))
