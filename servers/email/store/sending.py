"""Sending: new messages, answers and forwards, and their delivery."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from email.utils import format_datetime
from typing import Any

from sqlalchemy import bindparam, select, update

from mesocosm.errors import Invalid
from mesocosm.servers.email.models import Attachment, Email, Folder
from mesocosm.servers.email.store import limits
from mesocosm.servers.email.store.addresses import Address, join, parse_addresses, without
from mesocosm.servers.email.store.bulk import answering, checked_files
from mesocosm.servers.email.store.mailbox import File, MailboxPart, new_message_id
from mesocosm.services.service import Row

_INBOXES = select(Folder.account, Folder.id).where(
    Folder.account.in_(bindparam("accounts", expanding=True)), Folder.name == "INBOX"
)
_FILES = (
    select(Attachment.filename, Attachment.content_type, Attachment.data)
    .where(Attachment.email_id == bindparam("email"))
    .order_by(Attachment.id)
)
_REPLY = re.compile(r"\s*re\s*:", re.IGNORECASE)
_FORWARD = re.compile(r"\s*fwd?\s*:", re.IGNORECASE)


@dataclass(frozen=True)
class Letter:
    """A message that is about to be sent."""

    subject: str
    body: str
    to: Sequence[Address]
    cc: Sequence[Address] = ()
    bcc: Sequence[Address] = ()
    html_body: str | None = None
    in_reply_to: str | None = None
    references: str | None = None
    files: Sequence[File] = ()
    message_id: str | None = None
    """Message-id from the client, if any."""
    envelope: Sequence[Address] | None = None
    """Recipients, if they differ from the header's."""

    @property
    def recipients(self) -> list[Address]:
        """All recipients, without duplicates."""
        return without([*self.to, *self.cc, *self.bcc] if self.envelope is None else self.envelope)

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        texts = len(self.body.encode()) + len((self.html_body or "").encode())
        return texts + sum(len(file["data"]) for file in self.files)


class Sending(MailboxPart):
    """Mail that the signed-in account sends."""

    def send(
        self,
        to: str,
        subject: str,
        body: str,
        *,
        html_body: str | None = None,
        cc: str | None = None,
        bcc: str | None = None,
        attachments: Sequence[str] = (),
    ) -> int:
        """Send a new message with files of the workspace; returns the id of the copy in Sent."""
        letter = Letter(
            subject=limits.line("Subject", subject),
            body=limits.text("Body", body),
            html_body=limits.text("HTML body", html_body) if html_body else None,
            to=self._recipients("TO", to),
            cc=self._recipients("CC", cc),
            bcc=self._recipients("BCC", bcc),
        )
        return self.submit(replace(letter, files=self._workspace_files(attachments)))

    def reply(
        self,
        email_id: str,
        body: str,
        *,
        html_body: str | None = None,
        cc: str | None = None,
        bcc: str | None = None,
        everybody: bool = False,
    ) -> int:
        """Answer a message, quoting it; returns the id of the copy in Sent."""
        original = self.email(email_id)
        to, copies = _audience(original, self.owner, everybody)
        letter = Letter(
            subject=prefixed("Re: ", _REPLY, original["subject"]),
            body=f"{limits.text('Body', body)}\n\n{_quoted(original)}",
            html_body=f"{limits.text('HTML body', html_body)}{_quoted_html(original)}" if html_body else None,
            to=to,
            cc=without([*copies, *self._recipients("CC", cc)], *(address.key for address in to)),
            bcc=self._recipients("BCC", bcc),
            **answering(original["message_id"], original["references"]),
        )
        sent = self.submit(letter)
        self.session.execute(update(Email).where(Email.id == original["id"]).values(is_answered=True))
        return sent

    def forward(
        self,
        email_id: str,
        to: str,
        *,
        body: str | None = None,
        html_body: str | None = None,
        cc: str | None = None,
        bcc: str | None = None,
    ) -> int:
        """Pass a message on with its attachments; returns the id of the copy in Sent."""
        original = self.email(email_id)
        note = limits.text("Body", body or "")
        note_html = limits.text("HTML body", html_body or "")
        forwarded = _forwarded(original)
        letter = Letter(
            subject=prefixed("Fwd: ", _FORWARD, original["subject"]),
            body=f"{note}\n\n{forwarded}" if note else forwarded,
            html_body=f"{note_html}{_forwarded_html(original)}"
            if note_html or original["html_body"]
            else None,
            to=self._recipients("TO", to),
            cc=self._recipients("CC", cc),
            bcc=self._recipients("BCC", bcc),
            files=[File(**row) for row in self.fetch(_FILES, email=original["id"])],  # type: ignore[typeddict-item]
            **answering(original["message_id"], original["references"]),
        )
        return self.submit(letter)

    # -- delivery ---------------------------------------------------------------------------------------

    def submit(self, letter: Letter) -> int:
        """Deliver a message to all recipients or none; keeps a copy in Sent."""
        owner = self.owner
        if letter.size > limits.MAX_MESSAGE_BYTES:
            raise Invalid(f"552 5.3.4 Message size exceeds fixed limit ({limits.MAX_MESSAGE_BYTES:,} bytes)")
        inboxes = self._inboxes(letter.recipients)
        first, date = self.next_email_id(), limits.timestamp(self.now)
        content: dict[str, Any] = {
            "date": date,
            "message_id": letter.message_id or new_message_id(first, owner.key, date),
            "in_reply_to": letter.in_reply_to,
            "references": letter.references,
            "sender": str(owner),
            "to": join(letter.to),
            "cc": join(letter.cc) or None,
            "subject": letter.subject,
            "body": letter.body,
            "html_body": letter.html_body,
        }
        sent: dict[str, Any] = {
            "id": first,
            "folder_id": self.folder_id("Sent"),
            "is_read": True,
            "bcc": join(letter.bcc) or None,
        }
        # Nobody but the sender sees to whom a blind copy went.
        delivered = [{"id": first + 1 + i, "folder_id": inbox} for i, inbox in enumerate(inboxes)]
        rows = [{**content, **copy} for copy in (sent, *delivered)]
        self.insert_emails(rows, {row["id"]: letter.files for row in rows})
        self.log_delivery(first, owner.key, [address.key for address in letter.recipients])
        return first

    def check_recipient(self, address: Address) -> None:
        """Refuse an unknown mailbox of the server's own domain."""
        self._inboxes([address])

    def _inboxes(self, recipients: Sequence[Address]) -> list[int]:
        """The folders into which mail for these recipients is delivered here.

        Mail for other domains leaves this server; mail for an unknown mailbox of its own is refused.
        """
        if len(recipients) > limits.MAX_RECIPIENTS:
            raise Invalid(f"452 4.5.3 Too many recipients (max {limits.MAX_RECIPIENTS})")
        rows = self.fetch(_INBOXES, accounts=[address.key for address in recipients])
        inboxes = {row["account"]: int(row["id"]) for row in rows}
        for address in recipients:
            if address.key not in inboxes and self.is_local(address.domain):
                raise Invalid(
                    f"550 5.1.1 <{address.email}>: User unknown; nothing was sent.",
                    code="550",
                )
        return [inboxes[address.key] for address in recipients if address.key in inboxes]

    def _recipients(self, what: str, header: str | None) -> tuple[Address, ...]:
        addresses = parse_addresses(limits.text(what, header), what) if header else ()
        if what == "TO" and not addresses:
            raise Invalid("Invalid TO addresses: the list cannot be empty.")
        return addresses

    def _workspace_files(self, names: Sequence[str]) -> Sequence[File]:
        paths = [self.workspace.existing_file(name) for name in names]
        if sum(path.stat().st_size for path in paths) > limits.MAX_MESSAGE_BYTES:
            raise Invalid(f"552 5.3.4 Message size exceeds fixed limit ({limits.MAX_MESSAGE_BYTES:,} bytes)")
        return checked_files([{"filename": path.name, "data": path.read_bytes()} for path in paths])


def _audience(original: Row, owner: Address, everybody: bool) -> tuple[Sequence[Address], Sequence[Address]]:
    """Return the recipients of a reply and of copies: never oneself, unless there is nobody else."""
    to = parse_addresses(original["sender"])
    others = parse_addresses(original["to"]) if original["to"] else ()
    if to[0].key == owner.key and (elsewhere := without(others, owner.key)):
        # An answer to one's own message carries on the conversation with those it went to.
        to, others = tuple(elsewhere), ()
    copies = [*others, *parse_addresses(original["cc"])] if original["cc"] else others
    return to, without(copies, owner.key, *(address.key for address in to)) if everybody else ()


def prefixed(prefix: str, present: re.Pattern[str], subject: str) -> str:
    """The subject of an answer or a forward, marked as such once."""
    return subject if present.match(subject) else f"{prefix}{subject}"[: limits.MAX_HEADER_CHARACTERS]


def _date_line(original: Row) -> str:
    return format_datetime(limits.moment(original["date"]))


def _quoted(original: Row) -> str:
    lines = "\n".join(f"> {line}".rstrip() for line in original["body"].split("\n"))
    return f"On {_date_line(original)}, {original['sender']} wrote:\n{lines}"


def _quoted_html(original: Row) -> str:
    intro = html.escape(f"On {_date_line(original)}, {original['sender']} wrote:")
    return f"<br><br>{intro}<blockquote>{_as_html(original)}</blockquote>"


def _forwarded(original: Row) -> str:
    return "\n".join(
        ["---------- Forwarded message ---------", *_header_lines(original), "", original["body"]]
    )


def _forwarded_html(original: Row) -> str:
    lines = "<br>".join(html.escape(line) for line in _header_lines(original))
    return f"<br><br>---------- Forwarded message ---------<br>{lines}<br><br>{_as_html(original)}"


def _header_lines(original: Row) -> list[str]:
    lines = [
        f"From: {original['sender']}",
        f"Date: {_date_line(original)}",
        f"Subject: {original['subject']}",
        f"To: {original['to']}",
    ]
    return [*lines, f"Cc: {original['cc']}"] if original["cc"] else lines


def _as_html(original: Row) -> str:
    return original["html_body"] or html.escape(original["body"]).replace("\n", "<br>")
