"""Rules of the history service: messages are read in pages and found by their first lines. The rest of a
message and tools' results have to be read, as in a mailbox whose index has only subjects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import bindparam, func, insert, select

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.history.models import Base, Message
from mesocosm.services.service import Store

MAX_CHARACTERS = 24_000
"""Characters of messages in one result."""
MAX_QUERY = 200
MAX_PER_PAGE = 50
_LINE = 200
"""Characters of a first line that are shown."""

_COUNT = select(func.count().label("messages")).select_from(Message)
_ROLES = select(Message.role, func.count().label("messages")).group_by(Message.role).order_by(Message.role)
_FROM = (
    select(Message.id, Message.heading, Message.body)
    .where(Message.id >= bindparam("first"))
    .order_by(Message.id)
    .limit(bindparam("limit"))
)
_FIRST_LINE = func.substr(Message.body, 1, func.instr(Message.body + "\n", "\n") - 1)
_ALIKE = (
    select(Message.id, Message.role, _FIRST_LINE.label("line"))
    .where(Message.role != "tool", func.instr(func.lower(_FIRST_LINE), bindparam("part")) > 0)
    .order_by(Message.id)
)

NewMessage = tuple[str, str, str]
"""Role, heading and body."""


@dataclass(frozen=True)
class Piece:
    """A message, or a part of one."""

    id: int
    heading: str
    text: str
    offset: int
    """Where the text begins within the message."""


@dataclass(frozen=True)
class Reading:
    """Page of messages, and the offset of the next."""

    pieces: list[Piece]
    next_message: int | None
    next_offset: int


@dataclass(frozen=True)
class Match:
    """A message whose first line contains the search text."""

    id: int
    role: str
    line: str


class HistoryStore(Store):
    """The messages."""

    metadata = Base.metadata

    def size(self) -> int:
        """Count the messages."""
        return int(self.fetch(_COUNT)[0]["messages"])

    def roles(self) -> dict[str, int]:
        """Count the messages by role."""
        return {row["role"]: row["messages"] for row in self.fetch(_ROLES)}

    def read(self, first: int, offset: int) -> Reading:
        """Messages from one on, as many as fit; the last may be cut, the first begins at ``offset``."""
        total = self.size()
        if not 0 <= first < total:
            raise NotFound(f"There is no message {first}; they are numbered 0 to {total - 1}.")
        pieces: list[Piece] = []
        left = MAX_CHARACTERS
        for row in self._rows(first):
            begin = offset if row[0] == first else 0
            if begin and begin >= len(row[2]):
                raise Invalid(f"offset: message {first} has {len(row[2]):,} characters.")
            if left < 200 and pieces:
                return Reading(pieces, row[0], 0)
            text = row[2][begin : begin + left]
            pieces.append(Piece(row[0], row[1], text, begin))
            if begin + len(text) < len(row[2]):
                return Reading(pieces, row[0], begin + len(text))
            left -= len(text)
        return Reading(pieces, None, 0)

    def _rows(self, first: int) -> Iterator[tuple[int, str, str]]:
        """Messages from one on; a few at a time, as they may be long."""
        while rows := self.fetch(_FROM, first=first, limit=20):
            for row in rows:
                yield row["id"], row["heading"], row["body"]
            first = rows[-1]["id"] + 1

    def search(self, query: str) -> list[Match]:
        """The messages whose first line holds a text as whole words, in any case, in order; no results of
        tools."""
        if not query.strip() or len(query) > MAX_QUERY:
            raise Invalid(f"query: it must have 1 to {MAX_QUERY} characters.")
        pattern = re.compile(rf"(?<!\w){re.escape(query.strip())}(?!\w)", re.IGNORECASE)
        return [
            Match(row["id"], row["role"], row["line"][:_LINE])
            for row in self.fetch(_ALIKE, part=_lower(query.strip()))
            if pattern.search(row["line"])
        ]

    # -- filling ----------------------------------------------------------------------------------------

    def add_messages(self, messages: Iterable[NewMessage]) -> None:
        """Add messages after those there are."""
        first = self.size()
        rows = [
            {"id": number, "role": role, "heading": heading, "body": body}
            for number, (role, heading, body) in enumerate(messages, first)
        ]
        if rows:
            self.session.execute(insert(Message), rows)


def _lower(text: str) -> str:
    """As SQLite's ``lower`` does it: letters of ASCII only."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)
