"""Messages that clients hand in: from bytes to what the store keeps.

Whatever the bytes are, the result is a message or a refusal.
"""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.errors import HeaderParseError, MessageError
from email.headerregistry import Address as MailAddress
from email.headerregistry import Group
from email.message import EmailMessage
from email.parser import BytesFeedParser
from email.policy import EmailPolicy
from email.utils import getaddresses
from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.email.store import File
from mesocosm.servers.email.store.addresses import Address, is_address, join
from mesocosm.worlds import deadlines

MAX_PARTS = 200
_MAX_DEPTH = 20
"""Multiparts in multiparts; Postfix and Dovecot take 100, which costs five times as much."""
MAX_HEADER_LINES, MAX_HEADER_BYTES = 10_000, 1_000_000
"""Of the message and its parts together; Postfix takes 102,400 bytes of a message's own, Exim a million."""
MAX_LINES = 400_000
"""Ten million bytes in base64 have 135,000 lines."""
_NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined"})
"""Encodings that Python has, and mail does not: to decode Punycode takes the square of its length."""
_NOT_IN_NAMES = re.compile(r"[/\\\x00-\x1f\x7f]+")
_FOLD = re.compile(r"\r?\n[ \t]*")
_STRUCTURED = re.compile(
    rb"(?:\A|[\r\n])(content-[\w-]+|mime-version|from|sender|reply-to|to|cc|bcc|date|message-id|in-reply-to"
    rb"|references|subject|resent-[\w-]+)[ \t]*:([^\r\n]*(?:(?:\r\n|\r|\n)[ \t][^\r\n]*)*)",
    re.IGNORECASE,
)
"""Fields that the standard library takes apart, in time that grows with the square of their length."""
_NAME = re.compile(
    rb"(?:\A|[\r\n])(?:content-|mime-|from|sender|reply-|to|cc|bcc|date|message-|in-reply|references|subject"
    rb"|resent-)",
    re.IGNORECASE,
)
_LONGEST_NAME = 32
_PIECE = 16_384
"""Bytes that are looked at in one go."""
_FED = 2_048
"""Bytes that are parsed in one go: each may be a line, and each line is compared with all open boundaries."""
_MAX_PART_FIELD, _MAX_PARAMETERS = 2_000, 50
_MAX_PART_WORDS, _MAX_WORDS = 200, 6_000
"""Blanks in a field of a part, and in all of them."""
_MAX_FIELDS = 20_000
"""Characters of all fields that are not of a part."""
_MAX_MARKS = {
    b",": 400,
    b'"': 800,
    b".": 2_000,
    b" ": 1_200,
    b"\t": 400,
    **dict.fromkeys((b"<", b"(", b"[", b"\\", b"=?"), 400),
}
"""Of those between which these fields are taken apart: there are at most 100 recipients."""


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


def parse_message(source: bytes, domain: str = "") -> Parsed:
    """Read a message; ``Invalid`` if it cannot be read as one.

    Where a ``domain`` is given, addresses without one (``MAILER-DAEMON``) get it.
    """
    if source.count(b"\n") > MAX_LINES:
        raise Invalid(f"The message has too many lines (max {MAX_LINES:,}).")
    _look_at_fields(source)
    try:
        parser = BytesFeedParser(policy=_bounded())
        for at in range(0, len(source), _FED):
            deadlines.check()
            parser.feed(source[at : at + _FED])
        message = parser.close()
        assert isinstance(message, EmailMessage)
        if not message.keys():
            raise Invalid("The message has no header.")
        return _parsed(message, domain)
    except (MessageError, LookupError, ValueError, AttributeError, TypeError, RecursionError) as problem:
        # The standard library's parser has more ways to stumble over broken headers than it documents.
        raise Invalid(f"The message cannot be read: {type(problem).__name__}.") from None


class _Seen:
    """Counts what the parser meets, to stop as soon as it is too much."""

    def __init__(self) -> None:
        self._parts = self._lines = self._bytes = 0

    def part(self, policy: EmailPolicy | None = None) -> EmailMessage:
        deadlines.check()
        self._parts += 1
        if self._parts > 2 * MAX_PARTS:  # some hold others
            raise Invalid(f"The message has too many parts (max {MAX_PARTS}).")
        return _Part(policy)

    def field(self, lines: Sequence[str]) -> None:
        """A field of a header."""
        deadlines.check()
        self._lines += len(lines)
        self._bytes += sum(map(len, lines))
        if self._lines > MAX_HEADER_LINES or self._bytes > MAX_HEADER_BYTES:
            most = f"{MAX_HEADER_LINES:,} lines or {MAX_HEADER_BYTES:,} bytes"
            raise Invalid(f"The message's headers are too long (max {most}).")


class _Part(EmailMessage):
    """A message or a part of one: each of its lines is compared with the boundaries of all it lies in."""

    depth = 0

    def attach(self, payload: Any) -> None:
        """Receive each part that the parser begins."""
        payload.depth = self.depth + (self.get_content_maintype() == "multipart")
        if payload.depth > _MAX_DEPTH:
            raise Invalid(f"The message's parts are nested too deep (max {_MAX_DEPTH}).")
        super().attach(payload)


class _Bounded(EmailPolicy):
    """The policy of one message; the parser asks it about every field."""

    seen = _Seen()

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        self.seen.field(sourcelines)
        return super().header_source_parse(sourcelines)


def _bounded() -> _Bounded:
    seen = _Seen()
    given: dict[str, Any] = {"seen": seen, "message_factory": seen.part}
    bounded: _Bounded = _SMTP.clone(**given)
    return bounded


_SMTP = _Bounded(linesep="\r\n", max_line_length=None)


def _look_at_fields(source: bytes) -> None:
    """Refuse a message of which a field takes long to be taken apart."""
    characters, words, marks = 0, 0, dict.fromkeys(_MAX_MARKS, 0)
    for found in _fields(source):
        name, value = found[1].decode().capitalize(), found[2]
        if name.startswith(("Content-", "Mime-")):
            blanks = sum(map(value.count, (b" ", b"\t", b"(")))
            words += blanks
            many = value.count(b";") > _MAX_PARAMETERS or blanks > _MAX_PART_WORDS or words > _MAX_WORDS
            if many or len(value) > _MAX_PART_FIELD:
                raise Invalid(f"A field {name} is too long (max {_MAX_PART_FIELD:,} characters).")
            continue
        characters += len(value)
        for mark in marks:
            marks[mark] += value.count(mark)
        if characters > _MAX_FIELDS or any(number > _MAX_MARKS[mark] for mark, number in marks.items()):
            raise Invalid(f"The header is too long at {name} (max {_MAX_FIELDS:,} characters).")


def _fields(source: bytes) -> Iterator[re.Match[bytes]]:
    """The fields that are taken apart, wherever they stand. To look for them in one go would hold up every
    other thread for as long as it takes."""
    at = 0
    while at < len(source):
        deadlines.check()
        begins = _NAME.search(source, at, at + _PIECE + _LONGEST_NAME)
        if begins is None:
            at += _PIECE
        elif found := _STRUCTURED.match(source, begins.start()):
            yield found
            at = found.end()
        else:
            at = begins.start() + 1


def _parsed(message: EmailMessage, domain: str) -> Parsed:
    body, html_body, files = _content(message)
    return Parsed(
        sender=_addresses(message, "From", domain),
        to=_addresses(message, "To", domain),
        cc=_addresses(message, "Cc", domain),
        bcc=_addresses(message, "Bcc", domain),
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


def _addresses(message: EmailMessage, name: str, domain: str) -> str:
    """All addresses of a field; names in other characters than ASCII are decoded."""
    try:
        given = [field for field in message.get_all(name, []) if field is not None]
        fields = [field for field in given if not _names_nobody(field)]
        found = [
            Address(_with_domain(address, domain), _one_line(address.display_name))
            for field in fields
            for address in getattr(field, "addresses", ())
        ]
        if found and all(is_address(address.email) for address in found):
            return join(found)
        # Kept as it is, so that the refusal names what was written.
        return ", ".join(_FOLD.sub(" ", str(field)) for field in fields)
    except (HeaderParseError, IndexError, ValueError, AttributeError):
        raise Invalid(f"The field {name} cannot be read.") from None


def _names_nobody(field: object) -> bool:
    """True if a field has only empty groups, such as ``undisclosed-recipients:;``."""
    groups: Sequence[Group] = getattr(field, "groups", ())
    return bool(groups) and all(group.display_name and not group.addresses for group in groups)


def _with_domain(address: MailAddress, domain: str) -> str:
    return address.addr_spec if address.domain or not domain else f"{address.addr_spec}@{domain}"


def _one_line(text: str) -> str:
    """The text with single blanks, and a mark for each byte that is none of its charset."""
    return " ".join(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").split())


def bare_address(text: str) -> str:
    """The address of an envelope or a user name, without brackets and in lower case."""
    return getaddresses([text])[0][1].lower() if "<" in text else text.strip().lower()


# -- content --------------------------------------------------------------------------------------------


def _content(message: EmailMessage) -> tuple[str, str | None, Sequence[File]]:
    texts: dict[str, str] = {}
    files: list[File] = []
    for part in _leaves(message):
        kind = part.get_content_type()
        attached = part.get_content_disposition() == "attachment" or part.get_filename() is not None
        if kind in ("text/plain", "text/html") and not attached and kind not in texts:
            texts[kind] = _text(part)
        else:
            files.append(_file(part, len(files) + 1))
        if len(files) > MAX_PARTS:
            raise Invalid(f"The message has too many parts (max {MAX_PARTS}).")
    return texts.get("text/plain", ""), texts.get("text/html") or None, files


def _leaves(part: EmailMessage) -> Iterator[EmailMessage]:
    if part.get_content_maintype() == "multipart" and part.is_multipart():
        for inner in part.iter_parts():
            assert isinstance(inner, EmailMessage)
            yield from _leaves(inner)
    else:
        yield part


def _text(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    text = _decoded(data, part.get_content_charset() or "utf-8")
    # The line end before the end of a message is not part of its text.
    return text.replace("\r\n", "\n").removesuffix("\n")


def _decoded(data: bytes, charset: str) -> str:
    with contextlib.suppress(LookupError, ValueError):
        if codecs.lookup(charset).name in _NO_CHARSETS:
            charset = "utf-8"
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
    given = _NOT_IN_NAMES.sub("_", _file_name(part)).strip()
    name = given or f"part-{number}{_ENDINGS.get(kind, '')}"
    return File(filename=name, data=data, content_type=kind)


def _file_name(part: EmailMessage) -> str:
    # ``get_filename`` would take angle brackets around a name for quotation marks.
    parameters: Mapping[str, str] = getattr(part.get("Content-Disposition"), "params", {})
    return parameters.get("filename") or part.get_filename() or ""


_ENDINGS = {
    "message/rfc822": ".eml",
    "text/plain": ".txt",
    "text/html": ".html",
    "text/calendar": ".ics",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "application/pdf": ".pdf",
}
