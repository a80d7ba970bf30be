"""A message's BODYSTRUCTURE (RFC 3501, 7.4.2), from its parts as they are transmitted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pymap.mime import MessageContent
from pymap.parsing.primitives import List
from pymap.parsing.response.fetch import BodyStructure

from mesocosm.doors.mail.envelope import nstring, unfolded_fields

_PARAMETER = re.compile(rb';\s*(?P<name>[^\s=;"]+)=(?:"(?P<quoted>(?:\\.|[^"\\])*)"|(?P<token>[^\s;"]*))')


class Structure(BodyStructure):
    """Written as the header has it: pymap's own makes one string of a disposition and its parameters.

    Names that are not ASCII stay as RFC 2231 encodes them, under ``filename*``. There are no parts of type
    ``message/rfc822``: messages that are attached are transmitted as ``application/octet-stream``.
    """

    def __init__(self, content: MessageContent) -> None:
        fields = unfolded_fields(bytes(content.header))
        kind, parameters = _split(fields.get(b"CONTENT-TYPE", b"text/plain"))
        maintype, _, subtype = kind.partition(b"/")
        super().__init__(maintype.decode("ascii"), subtype.decode("ascii"), None, None, None, None)
        self._parts = [Structure(part) for part in content.body.nested]
        self._kind = (nstring(maintype), nstring(subtype))
        self._parameters = parameters
        self._encoding = nstring(fields.get(b"CONTENT-TRANSFER-ENCODING", b"7bit"))
        self._disposition = _disposition(fields.get(b"CONTENT-DISPOSITION"))
        self._size = [b"%d" % len(content.body)]
        if maintype == b"text":
            self._size.append(b"%d" % bytes(content.body).count(b"\n"))

    @property
    def _value(self) -> List:
        if self._parts:
            return List([_joined([part._value for part in self._parts]), self._kind[1]])
        return List(self._leaf())

    @property
    def extended(self) -> List:
        """The structure with extension data."""
        if self._parts:
            parts = _joined([part.extended for part in self._parts])
            return List([parts, self._kind[1], self._parameters, self._disposition, b"NIL", b"NIL"])
        return List([*self._leaf(), b"NIL", self._disposition, b"NIL", b"NIL"])

    def _leaf(self) -> list[bytes]:
        # Parts have neither an id nor a description.
        return [*self._kind, self._parameters, b"NIL", b"NIL", self._encoding, *self._size]


def _joined(parts: Sequence[List]) -> bytes:
    return b"".join(map(bytes, parts))


def _disposition(value: bytes | None) -> bytes:
    if value is None:
        return b"NIL"
    name, parameters = _split(value)
    return b"(%b %b)" % (nstring(name), parameters)


def _split(value: bytes) -> tuple[bytes, bytes]:
    """A field's value, and the list of its parameters as IMAP writes it."""
    first = value.partition(b";")[0]
    pairs: list[bytes] = []
    for found in _PARAMETER.finditer(value, len(first)):
        quoted, token = found["quoted"], found["token"]
        text = token if quoted is None else re.sub(rb"\\(.)", rb"\1", quoted)
        pairs += [nstring(found["name"]), nstring(text)]
    return first.strip(), b"(%b)" % b" ".join(pairs) if pairs else b"NIL"
