"""Bulk mailboxes: many messages at once, under the same rules as mail that was sent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NotRequired, TypedDict

from mesocosm.errors import Invalid
from mesocosm.servers.email.store import limits
from mesocosm.servers.email.store.addresses import Address, join, parse_addresses
from mesocosm.servers.email.store.mailbox import File, new_message_id


class NewEmail(TypedDict):
    """A message as it is to lie in a folder.

    ``sender``, ``to``, ``cc`` and ``bcc`` are address lists with or without names
    (``Ann Lee <ann@example.com>, bob@example.com``). ``date`` is a moment or text (ISO 8601 or RFC 5322).
    Messages of one call that share a ``thread`` are a conversation: each answers the one before it.
    """

    sender: str
    subject: str
    body: str
    date: str | datetime
    to: NotRequired[str]
    """Missing from drafts, and from messages all of whose recipients got a blind copy."""
    cc: NotRequired[str | None]
    bcc: NotRequired[str | None]
    html_body: NotRequired[str | None]
    is_read: NotRequired[bool]
    """Default: read in Sent and Drafts, else unread."""
    is_important: NotRequired[bool]
    message_id: NotRequired[str | None]
    in_reply_to: NotRequired[str | None]
    references: NotRequired[str | None]
    thread: NotRequired[str]
    attachments: NotRequired[Sequence[File]]


class Thread(TypedDict):
    """The headers that tie a message to its conversation."""

    in_reply_to: str
    references: str


def answering(message_id: str, references: str | None) -> Thread:
    """The threading headers of an answer to a message."""
    return {
        "in_reply_to": message_id,
        "references": f"{references} {message_id}" if references else message_id,
    }


def checked_files(files: Sequence[File]) -> Sequence[File]:
    """Attachments that one message can carry."""
    names = [limits.file_name(file["filename"]) for file in files]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise Invalid(f"Two attachments have the same name: {name}")
    if sum(len(file["data"]) for file in files) > limits.MAX_MESSAGE_BYTES:
        raise Invalid(f"552 5.3.4 Message size exceeds fixed limit ({limits.MAX_MESSAGE_BYTES:,} bytes)")
    return files


def recipients(what: str, header: str | None) -> str | None:
    """A list of recipients in normal form; ``None`` for an empty one."""
    return join(parse_addresses(header, what)) or None if header else None


def author(header: str) -> Address:
    """The one sender of a message."""
    addresses = parse_addresses(header, "FROM")
    if len(addresses) != 1:
        raise Invalid(f"A message has one sender, got {len(addresses)}.")
    return addresses[0]


def email_row(email_id: int, email: NewEmail, *, in_drafts: bool) -> dict[str, Any]:
    """A message as the table keeps it. Raises ``Invalid`` for one that no server would accept."""
    sender = author(email["sender"])
    date = limits.stored_date(email["date"])
    to = recipients("TO", email.get("to"))
    html_body = email.get("html_body")
    cc, bcc = recipients("CC", email.get("cc")), recipients("BCC", email.get("bcc"))
    return {
        "id": email_id,
        "date": date,
        "is_read": bool(email.get("is_read", False)),
        "is_important": bool(email.get("is_important", False)),
        "is_draft": in_drafts,
        "drafted_at": date if in_drafts else None,
        "message_id": checked_id(email.get("message_id")) or new_message_id(email_id, sender.key, date),
        "in_reply_to": checked_id(email.get("in_reply_to")),
        "references": checked_id(email.get("references")),
        "sender": str(sender),
        "to": to or "",
        "cc": cc,
        "bcc": bcc,
        "subject": limits.line("Subject", email["subject"]),
        "body": limits.text("Body", email["body"]),
        "html_body": limits.text("HTML body", html_body) if html_body else None,
    }


def checked_id(value: str | None) -> str | None:
    """One message-id or several, as headers have them."""
    return limits.line("Message-ID", value, 20_000) if value else None
