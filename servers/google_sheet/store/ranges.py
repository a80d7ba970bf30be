"""Places in a sheet and their A1 notation. Rows and columns count from 0; ends are exclusive."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mesocosm.errors import Invalid

MAX_COLUMNS = 18_278
"""Columns of a sheet, the last of which is ZZZ."""
MAX_CELLS = 10_000_000
"""Cells of a spreadsheet, empty ones included, as the vendor documents."""

_CELL = re.compile(r"\$?([A-Za-z]{1,4})?\$?(\d{1,8})?", re.ASCII)
_PLAIN_TITLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LIKE_CELL = re.compile(r"[A-Za-z]{1,3}\d+|[Rr]\d*[Cc]\d*", re.ASCII)


@dataclass(frozen=True)
class Area:
    """A rectangle of a sheet; an end that is ``None`` is the sheet's."""

    top: int = 0
    left: int = 0
    bottom: int | None = None
    right: int | None = None

    def within(self, rows: int, columns: int) -> Area:
        """The same with ends, none beyond the grid."""
        bottom = rows if self.bottom is None else min(self.bottom, rows)
        right = columns if self.right is None else min(self.right, columns)
        return Area(self.top, self.left, bottom, right)

    @property
    def height(self) -> int:
        """Rows, of an area with ends."""
        assert self.bottom is not None
        return max(0, self.bottom - self.top)

    @property
    def width(self) -> int:
        """Columns, of an area with ends."""
        assert self.right is not None
        return max(0, self.right - self.left)

    def overlaps(self, other: Area) -> bool:
        """True if two bounded areas share a cell."""
        assert None not in (self.bottom, self.right, other.bottom, other.right)
        return (
            self.top < other.bottom  # type: ignore[operator]
            and other.top < self.bottom  # type: ignore[operator]
            and self.left < other.right  # type: ignore[operator]
            and other.left < self.right  # type: ignore[operator]
        )

    def holds(self, other: Area) -> bool:
        """True if this area contains another bounded one."""
        assert None not in (self.bottom, self.right, other.bottom, other.right)
        return (
            self.top <= other.top
            and self.left <= other.left
            and other.bottom <= self.bottom  # type: ignore[operator]
            and other.right <= self.right  # type: ignore[operator]
        )


def letters(column: int) -> str:
    """The letters of a column: ``A`` for 0."""
    text = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def column_of(text: str) -> int:
    """The column with these letters."""
    column = 0
    for letter in text.upper():
        column = column * 26 + ord(letter) - 64
    return column - 1


def cell_name(row: int, column: int) -> str:
    """The A1 notation of one cell."""
    return f"{letters(column)}{row + 1}"


def quoted(title: str) -> str:
    """A title as it stands before ``!``."""
    if _PLAIN_TITLE.fullmatch(title) and not _LIKE_CELL.fullmatch(title):
        return title
    return "'" + title.replace("'", "''") + "'"


def area_name(area: Area) -> str:
    """The A1 notation of an area with ends."""
    assert area.bottom is not None
    assert area.right is not None
    first, last = cell_name(area.top, area.left), cell_name(area.bottom - 1, area.right - 1)
    return first if first == last else f"{first}:{last}"


def open_area_name(area: Area) -> str:
    """The A1 notation of an area that may be open at its ends."""
    if area.bottom is None and area.right is None:
        return ""
    if area.bottom is None:
        assert area.right is not None
        head = letters(area.left) + (str(area.top + 1) if area.top else "")
        return f"{head}:{letters(area.right - 1)}"
    if area.right is None:
        return f"{letters(area.left) if area.left else ''}{area.top + 1}:{area.bottom}"
    return area_name(area)


def split_title(text: str) -> tuple[str | None, str]:
    """The title before ``!``, unquoted, and the rest of a range."""
    if text.startswith("'"):
        at, title = 1, ""
        while True:
            end = text.find("'", at)
            if end < 0:
                raise unparsable(text)
            title += text[at:end]
            if text[end + 1 : end + 2] == "'":
                title, at = title + "'", end + 2
                continue
            rest = text[end + 1 :]
            if rest and not rest.startswith("!"):
                raise unparsable(text)
            return title, rest[1:]
    title, mark, rest = text.rpartition("!")
    return (title, rest) if mark else (None, text)


def parse_area(text: str) -> Area:
    """The area of an A1 notation without a title; ``Invalid`` where it is none.

    Ends that stand in the wrong order are put right, as the vendor does.
    """
    first, colon, last = text.strip().partition(":")
    row, column = _corner(first, text)
    if not colon:
        if row is None or column is None:
            raise unparsable(text)
        return Area(row, column, row + 1, column + 1)
    end_row, end_column = _corner(last, text)
    if end_row is None and end_column is None:
        raise unparsable(text)
    if column is None and end_column is not None:
        raise unparsable(text)
    if row is not None and end_row is not None and end_row < row:
        row, end_row = end_row, row
    if column is not None and end_column is not None and end_column < column:
        column, end_column = end_column, column
    if row is None and end_row is not None:
        if end_column is None or column is None:
            raise unparsable(text)
        row, end_row = end_row, None
    return Area(
        row or 0,
        column or 0,
        None if end_row is None else end_row + 1,
        None if end_column is None else end_column + 1,
    )


def _corner(text: str, whole: str) -> tuple[int | None, int | None]:
    found = _CELL.fullmatch(text.strip())
    if not found or not (found[1] or found[2]):
        raise unparsable(whole)
    if found[2] and int(found[2]) == 0:
        raise unparsable(whole)
    column = column_of(found[1]) if found[1] else None
    if column is not None and column >= MAX_COLUMNS:
        raise unparsable(whole)
    return (int(found[2]) - 1 if found[2] else None), column


def unparsable(text: str) -> Invalid:
    """The refusal of a range, in the vendor's words."""
    return Invalid(f"Unable to parse range: {text[:100]}", code="INVALID_ARGUMENT")
