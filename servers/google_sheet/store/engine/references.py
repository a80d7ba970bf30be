"""Adjustment of formula references when rows, columns and sheets change, or formulas are copied.

The tokens are those of the formula library; a formula that it cannot read stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from mesocosm.servers.google_sheet.store.ranges import Area, column_of, letters, quoted

_CORNER = r"(\$?)([A-Za-z]{1,3})?(\$?)(\d{1,8})?"
_REFERENCE = re.compile(rf"(?:('(?:[^']|'')*'|[^'!:]+)!)?{_CORNER}(?::{_CORNER})?", re.ASCII)
GONE = "#REF!"


@dataclass(frozen=True)
class Corner:
    """One end of a reference; what is ``None`` is open."""

    row: int | None
    column: int | None
    fixed_row: bool = False
    fixed_column: bool = False

    def __str__(self) -> str:
        column = "" if self.column is None else ("$" if self.fixed_column else "") + letters(self.column)
        row = "" if self.row is None else ("$" if self.fixed_row else "") + str(self.row + 1)
        return column + row


@dataclass(frozen=True)
class Reference:
    """A reference to cells: its sheet's title (``None``: the formula's own), and one or two corners."""

    title: str | None
    first: Corner
    last: Corner | None

    def __str__(self) -> str:
        cells = str(self.first) + (f":{self.last}" if self.last else "")
        return cells if self.title is None else f"{quoted(self.title)}!{cells}"


@dataclass(frozen=True)
class Piece:
    """A token of a formula."""

    text: str
    kind: str
    """The library's type and subtype: ``Operand Range``, ``Func Open`` ..."""


@lru_cache(maxsize=4096)
def pieces_of(formula: str) -> tuple[Piece, ...] | None:
    """The tokens of a formula without its equals sign; ``None`` where it cannot be read."""
    import formualizer  # of an extra: who has no formulas does without

    try:
        tokens = formualizer.Tokenizer(formula).tokens()
    except formualizer.TokenizerError:
        return None
    raw = formula.encode()
    found: list[Piece] = []
    at = 1
    for token in tokens:
        if token.start > at:
            found.append(Piece(raw[at : token.start].decode(errors="replace"), "Whitespace None"))
        text = raw[token.start : token.end].decode(errors="replace")
        found.append(Piece(text, f"{token.token_type} {token.subtype}"))
        at = token.end
    if at < len(raw):
        found.append(Piece(raw[at:].decode(errors="replace"), "Whitespace None"))
    return tuple(found)


def reference_of(text: str) -> Reference | None:
    """The reference that an operand is, if it is one to cells."""
    found = _REFERENCE.fullmatch(text)
    if not found:
        return None
    title = found[1]
    if title is not None and title.startswith("'"):
        title = title[1:-1].replace("''", "'")
    first = _corner(found[2], found[3], found[4], found[5])
    if ":" not in text[len(found[1] or "") :]:
        if first.row is None or first.column is None:
            return None
        return Reference(title, first, None)
    last = _corner(found[6], found[7], found[8], found[9])
    if (first.row is None and first.column is None) or (last.row is None and last.column is None):
        return None
    return Reference(title, first, last)


def _corner(dollar: str, column: str | None, other: str, row: str | None) -> Corner:
    if column is None:  # "$3": the only sign belongs to the row
        return Corner(int(row) - 1 if row else None, None, bool(dollar or other), False)
    return Corner(int(row) - 1 if row else None, column_of(column), bool(other), bool(dollar))


def references(formula: str) -> Iterator[Reference]:
    """The references to cells in a formula."""
    for piece in pieces_of(formula) or ():
        if piece.kind == "Operand Range" and (found := reference_of(piece.text)):
            yield found


def rewritten(formula: str, change: Callable[[Reference], Reference | None]) -> str:
    """A formula with each of its references changed; ``None`` makes it ``#REF!``."""
    pieces = pieces_of(formula)
    if pieces is None:
        return formula
    parts = ["="]
    for piece in pieces:
        text = piece.text
        if piece.kind == "Operand Range" and (reference := reference_of(text)):
            changed = change(reference)
            text = GONE if changed is None else text if changed == reference else str(changed)
        parts.append(text)
    return "".join(parts)


def copied(formula: str, down: int, right: int) -> str:
    """Return a formula as copied, with relative references moved."""

    def shift(corner: Corner) -> Corner | None:
        row, column = corner.row, corner.column
        if row is not None and not corner.fixed_row:
            row += down
        if column is not None and not corner.fixed_column:
            column += right
        if (row is not None and row < 0) or (column is not None and column < 0):
            return None
        return Corner(row, column, corner.fixed_row, corner.fixed_column)

    def change(reference: Reference) -> Reference | None:
        first = shift(reference.first)
        last = shift(reference.last) if reference.last else None
        if first is None or (reference.last and last is None):
            return None
        return Reference(reference.title, first, last)

    return rewritten(formula, change)


@dataclass(frozen=True)
class Shift:
    """Rows or columns of a sheet that were inserted (``count`` > 0) or deleted (``count`` < 0)."""

    title: str
    rows: bool
    at: int
    count: int

    def place(self, position: int) -> int | None:
        """Return a row's or column's new position; ``None`` if it was deleted."""
        if self.count > 0:
            return position + self.count if position >= self.at else position
        if position < self.at:
            return position
        return position + self.count if position >= self.at - self.count else None

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return a range's new position (inclusive end)."""
        if self.count > 0:
            moved, moved_end = self.place(start), self.place(end)
            assert moved is not None
            assert moved_end is not None
            return moved, moved_end
        first_gone, after_gone = self.at, self.at - self.count
        if start >= first_gone and end < after_gone:
            return None
        new_start = start if start < first_gone else max(start, after_gone) + self.count
        new_end = end if end < first_gone else first_gone - 1 if end < after_gone else end + self.count
        return new_start, new_end


def shifted(formula: str, own_title: str, shift: Shift, within: Area | None = None) -> str:
    """A formula after rows or columns were inserted or deleted.

    With ``within``, only in the columns (or rows) of that area: references follow which lie in them wholly.
    """

    def change(reference: Reference) -> Reference | None:
        title = own_title if reference.title is None else reference.title
        if title.casefold() != shift.title.casefold():
            return reference
        if within is not None and not _across(reference, shift, within):
            return reference
        return _shifted(reference, shift)

    return rewritten(formula, change)


def _across(reference: Reference, shift: Shift, within: Area) -> bool:
    corners = [reference.first, reference.last or reference.first]
    places = [corner.column if shift.rows else corner.row for corner in corners]
    low, high = (within.left, within.right) if shift.rows else (within.top, within.bottom)
    return all(place is not None and low <= place < (high or place + 1) for place in places)


def _shifted(reference: Reference, shift: Shift) -> Reference | None:
    first, last = reference.first, reference.last

    def value(corner: Corner) -> int | None:
        return corner.row if shift.rows else corner.column

    def with_value(corner: Corner, at: int | None) -> Corner:
        row, column = (at, corner.column) if shift.rows else (corner.row, at)
        return Corner(row, column, corner.fixed_row, corner.fixed_column)

    start = value(first)
    if last is None:
        assert start is not None
        moved = shift.place(start)
        return None if moved is None else Reference(reference.title, with_value(first, moved), None)
    end = value(last)
    if start is None and end is None:
        return reference
    if start is None or end is None:  # open: only what is named moves
        known = start if start is not None else end
        assert known is not None
        moved = shift.place(known)
        at = shift.at if moved is None else moved
        if start is None:
            return Reference(reference.title, first, with_value(last, at))
        return Reference(reference.title, with_value(first, at), last)
    if end < start:
        first, last, start, end = last, first, end, start
    spanned = shift.span(start, end)
    if spanned is None:
        return None
    return Reference(reference.title, with_value(first, spanned[0]), with_value(last, spanned[1]))


def renamed(formula: str, old: str, new: str | None) -> str:
    """A formula after a sheet got another title, or (``None``) was deleted."""

    def change(reference: Reference) -> Reference | None:
        if reference.title is None or reference.title.casefold() != old.casefold():
            return reference
        return None if new is None else Reference(new, reference.first, reference.last)

    return rewritten(formula, change)
