"""Messages that clients hand in: from bytes to what the store keeps.

Whatever the bytes are, the result is a message or a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from email import policy
from email.errors import HeaderParseError, MessageError
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import getaddresses

from mesocosm.errors import Invalid
from mesocosm.servers.email.store import File
from mesocosm.servers.email.store.addresses import Address, join

MAX_PARTS = 200
_MAX_DEPTH = 20
_POLICY = policy.SMTP.clone(max_line_length=None)
_NOT_IN_NAMES = re.compile(r"[/\\\x00-\x1f\x7f]+")
_FOLD = re.compile(r"\r?\n[ \t]*")


@dataclass(frozen=True)
class Parsed:
    """A message, by what the store keeps of one; address lists are as headers have them."""

    sender: str
    to: str
    cc: str
    bcc: str
    subject: str
    date: str | None
    message_id: str | None
    in_reply_to: str | None
    references: str | None
    body: str
    html_body: str | None
    files: Sequence[File]


def parse_message(source: bytes) -> Parsed:
    """Read a message; ``Invalid`` if it cannot be read as one."""
    # The parser follows nesting by recursion.
    if source.count(b"\nContent-Type:") + source.lower().count(b"\ncontent-type:") > 2 * MAX_PARTS:
        raise Invalid(f"The message has too many parts (max {MAX_PARTS}).")
    try:
        message = BytesParser(policy=_POLICY).parsebytes(source)
        assert isinstance(message, EmailMessage)
        if not message.keys():
            raise Invalid("The message has no header.")
        return _parsed(message)
    except (MessageError, LookupError, ValueError, AttributeError, TypeError, RecursionError) as problem:
        # The standard library's parser has more ways to stumble over broken headers than it documents.
        raise Invalid(f"The message cannot be read: {type(problem).__name__}.") from None


def _parsed(message: EmailMessage) -> Parsed:
    body, html_body, files = _content(message)
    return Parsed(
        sender=_addresses(message, "From"),
        to=_addresses(message, "To"),
        cc=_addresses(message, "Cc"),
        bcc=_addresses(message, "Bcc"),
        subject=_field(message, "Subject") or "",
        date=_date(message),
        message_id=_field(message, "Message-ID"),
        in_reply_to=_field(message, "In-Reply-To"),
        references=_field(message, "References"),
        body=body,
        html_body=html_body,
        files=files,
    )


# -- header ---------------------------------------------------------------------------------------------


def _field(message: EmailMessage, name: str) -> str | None:
    try:
        value = message.get(name)
        return None if value is None else _FOLD.sub(" ", str(value)).strip()
    except (HeaderParseError, IndexError, ValueError, AttributeError):
        raise Invalid(f"The field {name} cannot be read.") from None


def _date(message: EmailMessage) -> str | None:
    """The date in ISO 8601; one that cannot be read is none."""
    try:
        moment = getattr(message.get("Date"), "datetime", None)
    except (HeaderParseError, IndexError, ValueError, AttributeError, TypeError):
        return None
    return moment.isoformat(timespec="seconds") if moment else None


def _addresses(message: EmailMessage, name: str) -> str:
    """All addresses of a field; names in other characters than ASCII are decoded."""
    try:
        fields = [field for field in message.get_all(name, []) if field is not None]
        found = [address for field in fields for address in getattr(field, "addresses", ())]
        if found and all(address.domain for address in found):
            return join(Address(address.addr_spec, _one_line(address.display_name)) for address in found)
        # Kept as it is, so that the refusal names what was written.
        return ", ".join(_FOLD.sub(" ", str(field)) for field in fields)
    except (HeaderParseError, IndexError, ValueError, AttributeError):
        raise Invalid(f"The field {name} cannot be read.") from None


def _one_line(text: str) -> str:
    return " ".join(text.split())


def bare_address(text: str) -> str:
    """The address of an envelope or a user name, without brackets and in lower case."""
    return getaddresses([text])[0][1].lower() if "<" in text else text.strip().lower()


# -- content --------------------------------------------------------------------------------------------


def _content(message: EmailMessage) -> tuple[str, str | None, Sequence[File]]:
    texts: dict[str, str] = {}
    files: list[File] = []
    for part in _leaves(message, 0):
        kind = part.get_content_type()
        attached = part.get_content_disposition() == "attachment" or part.get_filename() is not None
        if kind in ("text/plain", "text/html") and not attached and kind not in texts:
            texts[kind] = _text(part)
        else:
            files.append(_file(part, len(files) + 1))
        if len(files) > MAX_PARTS:
            raise Invalid(f"The message has too many parts (max {MAX_PARTS}).")
    return texts.get("text/plain", ""), texts.get("text/html") or None, files


def _leaves(part: EmailMessage, depth: int) -> Iterator[EmailMessage]:
    if depth > _MAX_DEPTH:
        raise Invalid(f"The message's parts are nested too deep (max {_MAX_DEPTH}).")
    if part.get_content_maintype() == "multipart" and part.is_multipart():
        for inner in part.iter_parts():
            assert isinstance(inner, EmailMessage)
            yield from _leaves(inner, depth + 1)
    else:
        yield part


def _text(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    text = _decoded(data, part.get_content_charset() or "utf-8")
    # The line end before the end of a message is not part of its text.
    return text.replace("\r\n", "\n").removesuffix("\n")


def _decoded(data: bytes, charset: str) -> str:
    attempts: tuple[Callable[[], str], ...] = (lambda: data.decode(charset), lambda: data.decode())
    for attempt in attempts:
        try:
            return attempt()
        except (LookupError, ValueError):
            continue
    return data.decode("latin-1")


def _file(part: EmailMessage, number: int) -> File:
    kind = part.get_content_type()
    if kind == "message/rfc822" and part.is_multipart():
        inner = part.get_payload(0)
        data = inner.as_bytes() if isinstance(inner, EmailMessage) else b""
    else:
        payload = part.get_payload(decode=True)
        data = payload if isinstance(payload, bytes) else b""
    given = _NOT_IN_NAMES.sub("_", part.get_filename() or "").strip()
    name = given or f"part-{number}{_ENDINGS.get(kind, '')}"
    return File(filename=name, data=data, content_type=kind)


_ENDINGS = {
    "message/rfc822": ".eml",
    "text/plain": ".txt",
    "text/html": ".html",
    "text/calendar": ".ics",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "application/pdf": ".pdf",
}
