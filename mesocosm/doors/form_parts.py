"""Forms in parts (RFC 7578), taken apart in linear time.

The standard library reads them as mail, line after line, and takes time that grows with the square of the
length of a part's fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from email.message import Message
from email.parser import HeaderParser

from mesocosm.doors.bodies import MAX_FIELDS
from mesocosm.errors import Invalid, UnreadableBody

_MAX_HEAD = 4096
"""Bytes of the fields of one part; a client sends some hundred."""
_MAX_PARAMETERS = 50


def parts_of(content_type: str, body: bytes) -> Iterator[tuple[Message, bytes]]:
    """The fields and the content of each part.

    Args:
        content_type: The field that names the boundary.
        body: The form.
    """
    boundary = _head(f"Content-Type: {content_type}".encode("latin-1")).get_boundary()
    if not boundary:
        raise UnreadableBody("The body is not a form in parts: its boundary is missing.")
    mark = b"--" + boundary.encode("latin-1", "replace")
    if body.count(mark) > MAX_FIELDS + 1:
        raise Invalid(f"A form may have {MAX_FIELDS:,} parts; this one has more.")
    for part in _divided(body, mark):
        if part.startswith(b"--"):
            return
        part = (
            part.lstrip(b" \t")
            .removeprefix(b"\r")
            .removeprefix(b"\n")
            .removesuffix(b"\n")
            .removesuffix(b"\r")
        )
        fields, blank, content = part.partition(b"\r\n\r\n")
        if not blank:
            fields, _, content = part.partition(b"\n\n")
        yield _head(fields), content


def _divided(body: bytes, mark: bytes) -> list[bytes]:
    """Split a body at marks that stand alone on a line. Other occurrences are content."""
    first, *rest = body.split(mark)
    found = [[first]]
    for piece in rest:
        before = found[-1][-1]
        begins_line = before.endswith(b"\n") or found == [[b""]]
        if begins_line and piece.lstrip(b" \t").startswith((b"\r\n", b"\n", b"--")):
            found.append([piece])
        else:
            found[-1] += [mark, piece]
    return [b"".join(pieces) for pieces in found[1:]]


def _head(fields: bytes) -> Message:
    if len(fields) > _MAX_HEAD or fields.count(b";") > _MAX_PARAMETERS:
        raise Invalid(f"The fields of a part are too long (max {_MAX_HEAD:,} bytes).")
    return HeaderParser().parsestr(fields.decode(errors="replace"))
