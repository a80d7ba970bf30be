"""Rendering of messages in RFC 5322 and MIME, always to the same bytes.

The result is ASCII. It is put together here and not by ``email.message``, which takes a millisecond for a
header and writes another one with every version of Python.
"""

from __future__ import annotations

import base64
import hashlib
import quopri
import re
from collections.abc import Iterable, Sequence
from email.header import Header
from email.utils import encode_rfc2231, format_datetime
from functools import lru_cache

from mesocosm.servers.email.store import limits
from mesocosm.servers.email.store.addresses import Address, parse_addresses
from mesocosm.services.service import Row

CRLF = "\r\n"
_LONGEST_LINE = 998
_WIDTH = 76
_MEDIA_TYPE = re.compile(r"(?!multipart/|message/)[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9!#$&+^_`{}~ .,()@=-]+")


def render_header(email: Row, files: Sequence[Row]) -> str:
    """The header of a message, with the empty line that ends it."""
    return _envelope(email) + _head(email, files) + CRLF


def render_message(email: Row, files: Sequence[Row]) -> str:
    """A whole message."""
    body = _content(email) if not files else _multipart("mixed", email, _parts(email, files))
    return render_header(email, files) + body + CRLF


# -- header ---------------------------------------------------------------------------------------------


def _envelope(email: Row) -> str:
    lines = [
        _line("Date", format_datetime(limits.moment(email["date"]))),
        _addresses("From", email["sender"]),
        _addresses("To", email["to"]),
        _addresses("Cc", email["cc"]),
        _addresses("Bcc", email["bcc"]),
        _line("Subject", email["subject"]),
        _line("Message-ID", email["message_id"]),
        _line("In-Reply-To", email["in_reply_to"]),
        _line("References", email["references"]),
        _line("MIME-Version", "1.0"),
    ]
    return "".join(lines)


def _line(name: str, value: str | None) -> str:
    """Format a header field. Text that is not plain ASCII, or looks encoded, is encoded."""
    if value is None:
        return ""
    if not value.isascii() or "=?" in value or value != value.strip():
        return f"{name}: {_encoded(value, len(name) + 2)}{CRLF}"
    if len(value) + len(name) < _LONGEST_LINE:
        return f"{name}: {value}{CRLF}"
    words = value.split(" ")
    if max(map(len, words)) < _LONGEST_LINE - len(name):
        return f"{name}: {(CRLF + ' ').join(words)}{CRLF}"
    return f"{name}: {_encoded(value, len(name) + 2)}{CRLF}"


def _encoded(value: str, used: int) -> str:
    return Header(value, "utf-8", _WIDTH, continuation_ws=" ").encode(linesep=CRLF, maxlinelen=_WIDTH - used)


def _addresses(name: str, value: str | None) -> str:
    return f"{name}: {_address_list(value)}{CRLF}" if value else ""


# Worlds hold the same few correspondents many thousand times.
@lru_cache(maxsize=8192)
def _address_list(value: str) -> str:
    return f",{CRLF} ".join(map(_address, parse_addresses(value)))


def _address(address: Address) -> str:
    if address.name.isascii() and "=?" not in address.name:
        return str(address)
    return f"{_encoded(address.name, 0)}{CRLF} <{address.email}>"


# -- body -----------------------------------------------------------------------------------------------


def _head(email: Row, files: Sequence[Row]) -> str:
    """Write the header fields that describe the body."""
    if files:
        return _multipart_head("mixed", email)
    return _content_head(email)


def _content_head(email: Row) -> str:
    if email["html_body"] is None:
        return _text_head("plain", email["body"])
    return _multipart_head("alternative", email)


def _content(email: Row) -> str:
    if email["html_body"] is None:
        return _text(email["body"])
    texts = (("plain", email["body"]), ("html", email["html_body"]))
    return _multipart(
        "alternative", email, (_text_head(kind, text) + CRLF + _text(text) for kind, text in texts)
    )


def _parts(email: Row, files: Sequence[Row]) -> Iterable[str]:
    yield _content_head(email) + CRLF + _content(email)
    for file in files:
        yield _file_head(file) + CRLF + _base64(file["data"])


def _boundary(kind: str, email: Row) -> str:
    # No line of base64 or quoted-printable has "=_" in it.
    return f"=_{kind}_{hashlib.sha256(email['message_id'].encode()).hexdigest()[:24]}"


def _multipart_head(kind: str, email: Row) -> str:
    return f'Content-Type: multipart/{kind}; boundary="{_boundary(kind, email)}"{CRLF}'


def _multipart(kind: str, email: Row, parts: Iterable[str]) -> str:
    boundary = _boundary(kind, email)
    return "".join(f"--{boundary}{CRLF}{part}{CRLF}" for part in parts) + f"--{boundary}--{CRLF}"


def _text_head(kind: str, text: str) -> str:
    encoding = "7bit" if _is_plain(text) else _wide_encoding(text)
    return f'Content-Type: text/{kind}; charset="utf-8"{CRLF}Content-Transfer-Encoding: {encoding}{CRLF}'


def _is_plain(text: str) -> bool:
    if not text.isascii() or "\r" in text or "=_" in text:
        return False
    at = 0
    while len(text) - at > _LONGEST_LINE:
        # Whatever lies between two line ends that are so close is no longer than that.
        end = text.rfind("\n", at, at + _LONGEST_LINE + 1)
        if end < 0:
            return False
        at = end + 1
    return True


def _wide_encoding(text: str) -> str:
    """Quoted-printable stays readable while most characters are ASCII; line ends of its own are kept."""
    others = sum(len(run) for run in re.findall(r"[^\x00-\x7f]+", text))
    return "base64" if others * 4 > len(text) or "\r" in text else "quoted-printable"


def _text(text: str) -> str:
    if _is_plain(text):
        return text.replace("\n", CRLF)
    if _wide_encoding(text) == "base64":
        return _base64(text.encode())
    return quopri.encodestring(text.encode()).decode("ascii").replace("\n", CRLF)


def _base64(data: bytes) -> str:
    return base64.encodebytes(data).decode("ascii").rstrip("\n").replace("\n", CRLF)


def _file_head(file: Row) -> str:
    kind = file["content_type"].lower()
    kind = kind if _MEDIA_TYPE.fullmatch(kind) else "application/octet-stream"
    name = file["filename"]
    if _PLAIN_NAME.fullmatch(name):
        parameter = f'filename="{name}"'
    else:
        parameter = f"filename*={encode_rfc2231(name, 'utf-8')}"
    return (
        f"Content-Type: {kind}{CRLF}"
        f"Content-Disposition: attachment; {parameter}{CRLF}"
        f"Content-Transfer-Encoding: base64{CRLF}"
    )
