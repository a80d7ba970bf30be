"""Mail errors for disturbances: response codes of RFC 5530 and RFC 9051, SMTP replies."""

from __future__ import annotations

import random
from collections.abc import Mapping

from sqlalchemy import select

from mesocosm.servers.email.models import Email
from mesocosm.servers.email.store import EmailStore
from mesocosm.services.troubles import Kind, Touched, Trouble

TROUBLES: Mapping[Kind, Trouble] = {
    "rate_limits": Trouble(
        429,
        "Too many simultaneous requests. Try again in a moment.",
        told="IMAP error: NO [LIMIT] Too many simultaneous requests. Try again in a moment.",
        spoken={
            "IMAP": "[LIMIT] Too many simultaneous requests. Try again in a moment.",
            "SMTP": "450 4.7.1 Too many messages from this account; try again later",
        },
    ),
    "errors": Trouble(
        503,
        "Temporary server error.",
        told="IMAP error: NO [UNAVAILABLE] Temporary server error; the mailbox is not available.",
        spoken={
            "IMAP": "[UNAVAILABLE] Temporary server error; the mailbox is not available.",
            "SMTP": "451 4.3.0 Temporary server error. Please try again later",
        },
    ),
    "timeouts": Trouble(
        504,
        "The server did not answer in time.",
        told="Connection timed out: the mail server did not answer within 30 seconds.",
        spoken={
            "IMAP": "[UNAVAILABLE] Timeout while waiting for the mailbox.",
            "SMTP": "451 4.4.2 Timeout while processing the message; it was not queued",
        },
    ),
    "sessions": Trouble(
        401,
        "The session has expired.",
        told="IMAP error: NO [EXPIRED] Session expired; signing in again.",
        spoken={
            "IMAP": "[EXPIRED] Session expired; sign in again.",
            "SMTP": "454 4.7.0 Temporary authentication failure",
        },
    ),
}


def touch(store: EmailStore, dice: random.Random) -> Touched | None:
    """The owner's telephone shows a mail that was not read yet, which is read from then on."""
    unread = store.session.scalars(select(Email.id).where(~Email.is_read).order_by(Email.id)).all()
    return Touched("emails", {"id": dice.choice(unread)}, {"is_read": 1}) if unread else None
