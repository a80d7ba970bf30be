"""Messages of a selected folder, as pymap's FETCH asks for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from email.utils import getaddresses
from functools import cache

import anyio.to_thread
from pymap.bytes import Writeable, WriteStream
from pymap.message import BaseLoadedMessage, BaseMessage
from pymap.mime import MessageContent
from pymap.parsing.command.select import FetchCommand
from pymap.parsing.primitives import List
from pymap.parsing.response.fetch import BodyStructure, EnvelopeStructure
from pymap.parsing.specials import FetchAttribute, FetchRequirement, Flag, ObjectId

from mesocosm.doors.mail.access import MailAccess
from mesocosm.doors.mail.operations import write_ids
from mesocosm.worlds.deadlines import Pauses, give_way

# A message's ENVELOPE, from its header as it is transmitted.


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


# A message's BODYSTRUCTURE (RFC 3501, 7.4.2), from its parts as they are transmitted.

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


_LONG = 32_768
"""Bytes that take a while to be taken apart."""
_LINE_END = re.compile(rb"\n")
_AT_ONCE = 200
"""Messages that are asked for together."""
_METADATA = (b"UID", b"FLAGS", b"INTERNALDATE", b"EMAILID", b"THREADID")


@cache
def flag_set(names: tuple[str, ...]) -> frozenset[Flag]:
    """Flags by name; there are few combinations, and many messages."""
    return frozenset(Flag(f"\\{name}") for name in names)


class _Content(MessageContent):
    """Looks for the lines of a message in its own thread, and lets others pass."""

    @classmethod
    def _find_lines(cls, data: bytes) -> list[tuple[int, int, int]]:
        """Find each line: its start, the end of its text, and the start of the next."""
        lines = []
        start = 0
        for piece in range(0, len(data), _LONG):
            give_way()
            for end in _LINE_END.finditer(data, max(piece, start), piece + _LONG):
                lines.append((start, end.start() - (data[end.start() - 1 : end.end()] == b"\r\n"), end.end()))
                start = end.end()
        return [*lines, (start, len(data), len(data))]


class _Loaded(BaseLoadedMessage):
    """The content of a message, or as much of it as was needed. MIME is only read for what asks for parts."""

    def __init__(self, message: BaseMessage, source: bytes, size: int) -> None:
        super().__init__(message, FetchRequirement.CONTENT, None)
        self._source = source
        self._size = size

    @property
    def content(self) -> MessageContent:
        if self._content is None:
            self._content = _Content.parse(self._source)
        return self._content

    def take_apart(self) -> None:
        """Read the parts ahead of time, where it keeps nobody waiting."""
        assert self.content

    def __bytes__(self) -> bytes:
        return self._source

    def get_size(self, section: Sequence[int] | None = None) -> int:
        return self._size if not section else super().get_size(section)

    def get_body(self, section: Sequence[int] | None = None, binary: bool = False) -> Writeable:
        if section or binary:
            return super().get_body(section, binary) if self._source else Writeable.empty()
        return Writeable.wrap(self._source)

    def get_message_text(self, section: Sequence[int] | None = None) -> Writeable:
        return super().get_message_text(section) if section else Writeable.wrap(self._split()[1])

    def get_message_headers(
        self,
        section: Sequence[int] | None = None,
        subset: Collection[bytes] | None = None,
        inverse: bool = False,
    ) -> Writeable:
        if section:
            return super().get_message_headers(section, subset, inverse)
        header = self._split()[0]
        if subset is None:
            return Writeable.wrap(header)
        chosen = [field for name, field in split_fields(header) if inverse != (name in subset)]
        return Writeable.wrap(b"".join([*chosen, b"\r\n"]))

    def get_envelope_structure(self) -> EnvelopeStructure:
        return Envelope(self._split()[0])

    def get_body_structure(self) -> Structure:
        return Structure(self.content)

    def _split(self) -> tuple[bytes, bytes]:
        header, end, body = self._source.partition(b"\r\n\r\n")
        return header + end, body


class MailboxReading:
    """The contents that one command needs, asked for a few hundred at a time while they are written."""

    def __init__(self, access: MailAccess, folder: str, command: object) -> None:
        self._access = access
        self._folder = folder
        attributes = command.attributes if isinstance(command, FetchCommand) else ()
        self._part = _part_for(attributes)
        self.of_parts = any(_asks_for_parts(attribute) for attribute in attributes)
        """True if anything is requested that needs parsing of MIME."""
        self._with_size = any(attribute.value == b"RFC822.SIZE" for attribute in attributes)
        self.pauses = Pauses()
        self._waiting: list[int] = []
        self._ready: dict[int, tuple[bytes, int]] = {}

    def expect(self, uids: Sequence[int]) -> None:
        """These messages will be asked for, in this order."""
        self._waiting = list(uids)

    async def content(self, uid: int) -> tuple[bytes, int] | None:
        """Return as much of a message as needed, and its size; ``None`` if it is gone."""
        if self._part == "size" and not self._with_size:
            return None
        if uid in self._waiting:
            await self._read_on(uid)
        return self._ready.pop(uid, None)

    async def _read_on(self, uid: int) -> None:
        start = self._waiting.index(uid)
        batch, later = (
            self._waiting[start : start + _AT_ONCE],
            self._waiting[start + _AT_ONCE :],
        )
        answer = await self._access.ask(
            "IMAP FETCH",
            folder=self._folder,
            ids=write_ids(batch),
            part=self._part,
            with_size=self._with_size,
        )
        self._ready = answer.data["found"]
        self._waiting = [*answer.data["left"], *later]


def _asks_for_parts(attribute: FetchAttribute) -> bool:
    if attribute.section is None:
        return attribute.value in (b"BODY", b"BODYSTRUCTURE")
    return bool(attribute.section.parts) or attribute.value.startswith(b"BINARY")


def _part_for(attributes: Sequence[FetchAttribute]) -> str:
    """Return how much of a message is needed for these attributes."""
    part = "size"
    for attribute in attributes:
        section = attribute.section
        if attribute.value in (*_METADATA, b"RFC822.SIZE"):
            continue
        if attribute.value in (b"ENVELOPE", b"RFC822.HEADER") or (
            section is not None
            and not section.parts
            and (section.specifier or b"").startswith(b"HEADER")
            and attribute.value in (b"BODY", b"BODY.PEEK")
        ):
            part = "header"
        else:
            return "message"
    return part


class MailMessage(BaseMessage):
    """A message of a folder; its content is read when it is written to the client."""

    __slots__ = ("_reading",)

    def __init__(
        self, uid: int, date: datetime, flags: frozenset[Flag], reading: MailboxReading | None = None
    ) -> None:
        super().__init__(uid, date, flags, email_id=ObjectId(b"M%d" % uid))
        self._reading = reading

    def read_by(self, reading: MailboxReading) -> MailMessage:
        """The same message, with its content."""
        return MailMessage(self.uid, self.internal_date, self.permanent_flags, reading)

    async def load_content(self, requirement: FetchRequirement) -> _Loaded:
        if self._reading:
            await self._reading.pauses.take()
        found = await self._reading.content(self.uid) if self._reading else None
        source, size = found or (b"", 0)
        loaded = _Loaded(self, source, size)
        if self._reading and self._reading.of_parts and len(source) > _LONG:
            await anyio.to_thread.run_sync(loaded.take_apart)
        return loaded
