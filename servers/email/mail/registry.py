"""The operations of the mail protocols, and what they have in common."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from mesocosm.doors.mail.operations import MailAnswer
from mesocosm.errors import Denied, Invalid
from mesocosm.servers.email.store import EmailStore
from mesocosm.services.service import Operations

operations = Operations()


def read(store: EmailStore, said: str, data: Any = None) -> MailAnswer:
    """The answer of an operation that changed nothing."""
    revision = store.world.revision(store.service)
    return MailAnswer(said=said, data=data, revision=revision, previous=revision)


def written(store: EmailStore, said: str, data: Any = None) -> MailAnswer:
    """The answer of an operation that changed the mailbox."""
    # The transaction that is under way sets the revision at its end.
    previous = store.world.revision(store.service)
    return MailAnswer(said=said, data=data, revision=store.world.journal.last, previous=previous)


def open_mailbox(store: EmailStore, account: str) -> None:
    """Refuse a client whose account has signed out since: the store acts for the signed-in one."""
    if store.account != account:
        raise Denied(f"{account} is not signed in any more.")


def source_of(message: str | None, message_base64: str | None) -> bytes:
    """A message as a client sent it: the journal keeps text as text, other bytes in base64."""
    if message is not None:
        return message.encode()
    try:
        return base64.b64decode(message_base64 or "", validate=True)
    except binascii.Error:
        raise Invalid("The message is not base64.") from None
