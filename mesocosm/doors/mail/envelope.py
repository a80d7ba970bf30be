"""A message's ENVELOPE, from its header as it is transmitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from email.utils import getaddresses

from pymap.bytes import WriteStream
from pymap.parsing.response.fetch import EnvelopeStructure


def split_fields(header: bytes) -> Sequence[tuple[bytes, bytes]]:
    """The fields of a header in their order: name in capitals, and the whole field with its line ends."""
    fields: list[tuple[bytes, bytes]] = []
    for line in header.splitlines(keepends=True):
        if line[:1] in (b" ", b"\t") and fields:
            name, before = fields[-1]
            fields[-1] = (name, before + line)
        elif b":" in line:
            fields.append((line.split(b":", 1)[0].strip().upper(), line))
    return fields


def unfolded_fields(header: bytes) -> Mapping[bytes, bytes]:
    """The fields' values by name in capitals, each in one line; of several with one name, the last."""
    return {name: b" ".join(line.split(b":", 1)[1].split()) for name, line in split_fields(header)}


def nstring(value: bytes | None) -> bytes:
    """Text as IMAP quotes it, or ``NIL``."""
    if value is None:
        return b"NIL"
    return b'"%b"' % value.replace(b"\\", b"\\\\").replace(b'"', b'\\"')


class Envelope(EnvelopeStructure):
    """Written as the header has it: pymap's own decodes the fields, and takes milliseconds for it."""

    def __init__(self, header: bytes) -> None:
        super().__init__(None, None, None, None, None, None, None, None, None, None)
        fields = unfolded_fields(header)
        sender = _addresses(fields.get(b"FROM"))
        self._text = b"(%b)" % b" ".join(
            [
                nstring(fields.get(b"DATE")),
                nstring(fields.get(b"SUBJECT")),
                sender,
                sender,  # who sent it, and to whom an answer goes, if it is nobody else
                sender,
                _addresses(fields.get(b"TO")),
                _addresses(fields.get(b"CC")),
                _addresses(fields.get(b"BCC")),
                nstring(fields.get(b"IN-REPLY-TO")),
                nstring(fields.get(b"MESSAGE-ID")),
            ]
        )

    def __bytes__(self) -> bytes:
        return self._text

    def write(self, writer: WriteStream) -> None:
        writer.write(self._text)


def _addresses(value: bytes | None) -> bytes:
    if not value:
        return b"NIL"
    rows = []
    for person, address in getaddresses([value.decode("ascii", "replace")]):
        local, _, domain = address.rpartition("@")
        parts = (part.encode("ascii", "replace") or None for part in (person, local, domain))
        rows.append(b"(%b NIL %b %b)" % tuple(map(nstring, parts)))
    return b"(%b)" % b"".join(rows)
