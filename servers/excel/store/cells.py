"""Names of cells, ranges and sheets, and values of cells."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from openpyxl.utils import get_column_letter

from mesocosm.errors import Invalid
from mesocosm.servers.excel.store.formulas import check_external

MAX_ROW, MAX_COLUMN = 1_048_576, 16_384
MAX_TEXT = 32_767
"""Characters of one cell."""
MAX_CHANGED = 200_000
"""Cells that one call may touch."""

_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
# What XML 1.0 cannot hold.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_FORBIDDEN_IN_TITLE = re.compile(r"[\[\]:*?/\\]")


class Area(NamedTuple):
    """A rectangle of cells, both corners included; rows and columns count from 1."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int

    def __str__(self) -> str:
        return f"{address(self.first_row, self.first_column)}:{address(self.last_row, self.last_column)}"

    @property
    def size(self) -> int:
        return (self.last_row - self.first_row + 1) * (self.last_column - self.first_column + 1)

    def cells(self) -> Iterator[tuple[int, int]]:
        """(row, column) of every cell, row by row."""
        for row in range(self.first_row, self.last_row + 1):
            for column in range(self.first_column, self.last_column + 1):
                yield row, column

    def meets(self, other: Area) -> bool:
        """True if the areas have a cell in common."""
        return (
            self.first_row <= other.last_row
            and other.first_row <= self.last_row
            and self.first_column <= other.last_column
            and other.first_column <= self.last_column
        )

    def shifted(self, rows: int, columns: int) -> Area:
        """The same rectangle elsewhere; ``Invalid`` if it does not fit on the sheet there."""
        moved = Area(
            self.first_row + rows,
            self.first_column + columns,
            self.last_row + rows,
            self.last_column + columns,
        )
        check_fits(moved.last_row, moved.last_column)
        return moved


def address(row: int, column: int) -> str:
    """The name of a cell: ``A1``."""
    return f"{get_column_letter(column)}{row}"


def parse_cell(reference: str, what: str = "cell reference") -> tuple[int, int]:
    """(row, column) of a cell's name; ``$`` signs are allowed."""
    found = _CELL.fullmatch(reference.strip())
    if not found:
        raise Invalid(f"Invalid {what}: {reference!r}; expected something like B2.")
    column = 0
    for letter in found[1].upper():
        column = column * 26 + ord(letter) - 64
    row = int(found[2])
    if row < 1:
        raise Invalid(f"Invalid {what}: {reference!r}; rows count from 1.")
    check_fits(row, column)
    return row, column


def check_fits(row: int, column: int) -> None:
    """Refuse a position beyond the last row or column that a sheet has."""
    if row > MAX_ROW or column > MAX_COLUMN:
        raise Invalid(f"A sheet has {MAX_ROW:,} rows and {MAX_COLUMN:,} columns (XFD), and no more.")


def parse_area(start: str, end: str | None = None) -> Area:
    """The rectangle between two cells; ``start`` may also be a whole range such as ``A1:C5``."""
    if ":" in start and end is None:
        start, _, end = start.partition(":")
    first_row, first_column = parse_cell(start, "start cell")
    last_row, last_column = parse_cell(end, "end cell") if end else (first_row, first_column)
    if last_row < first_row:
        raise Invalid("End row cannot be before start row")
    if last_column < first_column:
        raise Invalid("End column cannot be before start column")
    return Area(first_row, first_column, last_row, last_column)


def check_size(area: Area) -> None:
    """Refuse to touch more cells than one call may."""
    if area.size > MAX_CHANGED:
        raise Invalid(f"{area} has {area.size:,} cells; one call may touch {MAX_CHANGED:,}.")


def check_value(value: Any, where: str) -> Any:
    """Check a cell value: text, number, boolean, nothing, or a formula that begins with =."""
    if value is None or isinstance(value, bool | int | float):
        if isinstance(value, float) and not math.isfinite(value):
            raise Invalid(f"{where}: a number must be finite.")
        return value
    if not isinstance(value, str):
        raise Invalid(f"{where}: a cell holds text, a number, a boolean or nothing, not {value!r:.60}.")
    if len(value) > MAX_TEXT:
        raise Invalid(f"{where}: a cell holds at most {MAX_TEXT:,} characters, got {len(value):,}.")
    if _CONTROL.search(value):
        raise Invalid(f"{where}: the text contains a character that a spreadsheet cannot hold.")
    if value.startswith("="):
        check_external(value, where)
    return value


def check_title(title: str, taken: list[str]) -> None:
    """Refuse what Excel does not allow as the name of a sheet."""
    if not title.strip() or len(title) > 31:
        raise Invalid(f"A sheet's name must have 1 to 31 characters, got {title!r:.60}.")
    if _FORBIDDEN_IN_TITLE.search(title) or title[0] == "'" or title[-1] == "'" or _CONTROL.search(title):
        raise Invalid(
            f"Invalid sheet name {title!r}: it may not contain []:*?/\\ or begin or end with an apostrophe."
        )
    if title.casefold() in (name.casefold() for name in taken):
        raise Invalid(f"Sheet {title} already exists")
