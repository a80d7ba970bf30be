"""Messages of a selected folder, as pymap's FETCH asks for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache

import anyio.to_thread
from pymap.bytes import Writeable
from pymap.message import BaseLoadedMessage, BaseMessage
from pymap.mime import MessageContent
from pymap.parsing.command.select import FetchCommand
from pymap.parsing.response.fetch import EnvelopeStructure
from pymap.parsing.specials import FetchAttribute, FetchRequirement, Flag, ObjectId

from mesocosm.doors.mail.access import MailAccess
from mesocosm.doors.mail.envelope import Envelope, split_fields
from mesocosm.doors.mail.ids import write_ids
from mesocosm.doors.mail.structure import Structure
from mesocosm.worlds.deadlines import Pauses, give_way

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
