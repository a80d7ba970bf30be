"""Keeping lines in the order in which they were written."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, func, select

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.record.models import Base, Line
from mesocosm.services.service import Store

LINES_PER_CALL = 20
MAX_CHARACTERS = 2_000
MAX_LINES = 100_000
PAGE = 100


class RecordStore(Store):
    """A record that grows at its end."""

    metadata = Base.metadata

    def count(self) -> int:
        """Count the lines."""
        return self.session.scalar(select(func.count()).select_from(Line)) or 0

    def lines(self, start: int, limit: int) -> list[Line]:
        """So many lines from a number on."""
        if not 1 <= limit <= PAGE:
            raise Invalid(f"limit must be between 1 and {PAGE}, got {limit}.")
        total = self.count()
        if not 1 <= start <= max(total, 1):
            raise NotFound(f"There is no line {start}: the record has {total} lines.")
        query = select(Line).where(Line.number >= start).order_by(Line.number).limit(limit)
        return list(self.session.scalars(query))

    def text(self) -> str:
        """The whole record."""
        return "\n".join(self.session.scalars(select(Line.text).order_by(Line.number)))

    def append(self, lines: Sequence[str]) -> int:
        """Write lines at the end; returns how many there are then."""
        if not 1 <= len(lines) <= LINES_PER_CALL:
            raise Invalid(f"lines must hold 1 to {LINES_PER_CALL} lines, got {len(lines)}.")
        for number, line in enumerate(lines, 1):
            if "\n" in line or "\r" in line or "\0" in line:
                raise Invalid(
                    f"lines: the {number}. holds a line break or NUL character; give one line each."
                )
            if len(line) > MAX_CHARACTERS:
                raise Invalid(
                    f"lines: the {number}. has {len(line):,} characters; at most {MAX_CHARACTERS:,} may be."
                )
        total = self.count()
        if total + len(lines) > MAX_LINES:
            raise Conflict(f"The record has {total:,} lines; it holds at most {MAX_LINES:,}.")
        self.session.add_all(Line(number=total + at, text=line) for at, line in enumerate(lines, 1))
        return total + len(lines)

    def remove(self, start: int) -> int:
        """Remove a line and all after it; returns how many are left."""
        total = self.count()
        if not 1 <= start <= total:
            raise NotFound(f"There is no line {start}: the record has {total} lines.")
        self.session.execute(delete(Line).where(Line.number >= start))
        return start - 1
