"""Login and sending for mail clients."""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.doors.mail.operations import MailAnswer
from mesocosm.errors import Denied, Invalid
from mesocosm.servers.email.mail.parsing import bare_address, parse_message
from mesocosm.servers.email.mail.registry import open_mailbox, operations, read, source_of, written
from mesocosm.servers.email.store import EmailStore, Letter, limits
from mesocosm.servers.email.store.addresses import Address, parse_addresses, without
from mesocosm.servers.email.store.bulk import checked_files, checked_id


def _sign_in(store: EmailStore, user: str) -> MailAnswer:
    signed_in = store.signed_in()
    if signed_in is None:
        raise Denied("Nobody is signed in to the mailbox. Call the tool login first.")
    account = signed_in["email"]
    if "@" in user and bare_address(user) != account:
        raise Denied(f"The mailbox that is signed in is {account}.")
    return read(store, account, account)


@operations.reads("IMAP LOGIN")
def imap_login(store: EmailStore, user: str) -> MailAnswer:
    """The account whose mailbox a client may use: that for which the tools act."""
    return _sign_in(store, user)


@operations.reads("SMTP AUTH")
def smtp_login(store: EmailStore, user: str) -> MailAnswer:
    """The account for which a client may send."""
    return _sign_in(store, user)


@operations.reads("SMTP RCPT")
def check_recipient(store: EmailStore, account: str, recipient: str) -> MailAnswer:
    """Refuse a recipient to whom no mail can be sent."""
    open_mailbox(store, account)
    store.sending.check_recipient(_recipient(recipient))
    return read(store, "recipient ok")


@operations.writes("SMTP DATA")
def send_message(
    store: EmailStore,
    account: str,
    recipients: Sequence[str],
    message: str | None = None,
    message_base64: str | None = None,
) -> MailAnswer:
    """Send a message to the recipients of its envelope, and keep a copy in Sent.

    A recipient whom the header does not name gets a blind copy. The date is that of the world.
    """
    open_mailbox(store, account)
    parsed = parse_message(source_of(message, message_base64))
    for sender in _listed("FROM", parsed.sender):
        if sender.key != account:
            raise Denied(f"550 5.7.1 From: <{sender.email}>: You may send as {account} only.")
    envelope = without(map(_recipient, recipients))
    to, cc = _listed("TO", parsed.to), _listed("CC", parsed.cc)
    blind = without(envelope, *(address.key for address in (*to, *cc)))
    letter = Letter(
        subject=limits.line("Subject", parsed.subject),
        body=limits.text("Body", parsed.body),
        html_body=limits.text("HTML body", parsed.html_body) if parsed.html_body else None,
        to=to,
        cc=cc,
        bcc=blind,
        files=checked_files(parsed.files),
        message_id=checked_id(parsed.message_id),
        in_reply_to=checked_id(parsed.in_reply_to),
        references=checked_id(parsed.references),
        envelope=envelope,
    )
    email_id = store.sending.submit(letter)
    return written(store, f"sent as {email_id}", email_id)


def _listed(what: str, header: str) -> tuple[Address, ...]:
    return parse_addresses(header, what) if header else ()


def _recipient(text: str) -> Address:
    addresses = _listed("RCPT TO", text)
    if len(addresses) != 1:
        raise Invalid("501 5.1.3 Give one address.")
    return addresses[0]
