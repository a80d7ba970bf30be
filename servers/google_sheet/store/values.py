"""Reading and writing of a sheet's cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.store.cell_input import number_in
from mesocosm.servers.google_sheet.store.ranges import Area, quoted
from mesocosm.servers.google_sheet.store.recalculation import Edit
from mesocosm.servers.google_sheet.store.rendering import DATES, DEFAULT_PATTERNS, rendered
from mesocosm.servers.google_sheet.store.sheets import Book, Grid

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore

Render = Literal["FORMATTED_VALUE", "UNFORMATTED_VALUE", "FORMULA"]
Option = Literal["RAW", "USER_ENTERED"]
Scalar = str | float | bool | None
MAX_TEXT = 50_000
MAX_READ = 2_000_000
"""Places of an area that is read at once."""
_COLUMNS = "row, col, kind, cells.number, text, formula, message, hint, anchor, format, note, type, pattern"


def check_length(characters: int) -> None:
    """Raises ``Invalid`` for more characters than a cell holds."""
    if characters > MAX_TEXT:
        raise Invalid(
            f"Your input contains more than the maximum of {MAX_TEXT} characters in a single cell.",
            code="INVALID_ARGUMENT",
        )


@dataclass(frozen=True)
class Content:
    """Content of a cell."""

    row: int
    column: int
    kind: str
    number: float | None
    text: str | None
    formula: str | None
    message: str | None
    hint: str | None
    anchor: str | None
    format: int | None
    note: str | None
    type: str | None
    pattern: str | None

    @property
    def value(self) -> Scalar:
        """The value without its format; errors as they are shown."""
        if self.kind == "b":
            return bool(self.number)
        if self.kind == "n":
            assert self.number is not None
            whole = self.number.is_integer() and abs(self.number) < 2**53
            return int(self.number) if whole else self.number
        return self.text if self.kind else ""

    @property
    def shown_type(self) -> str:
        """The type of the number format that it is shown with."""
        return self.type or self.hint or ""

    @property
    def shown(self) -> str:
        """The value as the cell shows it."""
        if self.kind == "e":
            return str(self.text)
        return rendered(
            self.number if self.kind == "n" else self.value if self.kind else None,
            self.pattern or (DEFAULT_PATTERNS[self.hint] if self.hint else ""),
        )

    def given(self, how: Render, moments: str = "SERIAL_NUMBER") -> Scalar:
        """The value as one of the vendor's ways to show it has it."""
        if how == "FORMULA" and self.formula is not None:
            return self.formula
        if how == "FORMATTED_VALUE":
            return self.shown
        if moments == "FORMATTED_STRING" and self.shown_type in DATES:
            return self.shown
        return self.value


@dataclass
class Put:
    """Something to write: a value of a kind, or a formula, and the number format that it brings."""

    kind: str
    number: float | None = None
    text: str | None = None
    formula: str | None = None
    type: str = ""
    pattern: str = ""


class Values:
    """The values of cells."""

    def __init__(self, store: SheetStore) -> None:
        self.store = store

    # -- reading ----------------------------------------------------------------------------------------

    def cells(self, sheet: Grid, area: Area) -> list[Content]:
        """The cells of an area that hold something or have a format, line by line."""
        area = area.within(sheet.rows, sheet.columns)
        rows = self.store.rows(
            f"SELECT {_COLUMNS} FROM cells LEFT JOIN formats ON cells.format = formats.number WHERE sheet = ?"
            " AND row >= ? AND row < ? AND col >= ? AND col < ? ORDER BY row, col",
            (sheet.number, area.top, area.bottom, area.left, area.right),
        )
        return [Content(*row) for row in rows]

    def grid(
        self, sheet: Grid, area: Area, how: Render = "FORMATTED_VALUE", moments: str = "SERIAL_NUMBER",
        columns: bool = False,
    ) -> list[list[Scalar]]:  # fmt: skip
        """The values of an area, from its first cell on, without what is empty at the ends.

        ``columns``: by columns instead of lines.
        """
        area = area.within(sheet.rows, sheet.columns)
        lines: list[list[Scalar]] = []
        for cell in self.cells(sheet, area):
            if not cell.kind and cell.formula is None:
                continue
            value = cell.given(how, moments)
            if value == "":
                continue
            line, at = cell.row - area.top, cell.column - area.left
            if columns:
                line, at = at, line
            while len(lines) <= line:
                lines.append([])
            into = lines[line]
            if len(into) <= at:
                into.extend([""] * (at + 1 - len(into)))
            into[at] = value
        return lines

    def used(self, sheet: Grid) -> Area:
        """The part of a sheet that holds something, from A1 on; with no rows where nothing does."""
        row = self.store.rows(
            "SELECT max(row), max(col) FROM cells WHERE sheet = ? AND (kind != '' OR formula IS NOT NULL)",
            (sheet.number,),
        )[0]
        return Area(0, 0, 0, 0) if row[0] is None else Area(0, 0, row[0] + 1, row[1] + 1)

    def last_row(self, sheet: Grid) -> int:
        """The last row that holds something; -1 where none does."""
        rows = self.store.rows(
            "SELECT row FROM cells WHERE sheet = ? AND (kind != '' OR formula IS NOT NULL)"
            " ORDER BY row DESC LIMIT 1",
            (sheet.number,),
        )
        return int(rows[0][0]) if rows else -1

    def last_column(self, sheet: Grid, area: Area) -> int:
        """The last column of an area that holds something; -1 where none does."""
        found = self.store.rows(
            "SELECT max(col) FROM cells WHERE sheet = ? AND row >= ? AND row < ? AND col < ?"
            " AND (kind != '' OR formula IS NOT NULL)",
            (sheet.number, area.top, area.bottom, area.right),
        )[0][0]
        return -1 if found is None else int(found)

    # -- writing ----------------------------------------------------------------------------------------

    def write(
        self,
        book: Book,
        sheet: Grid,
        area: Area,
        lines: Sequence[Sequence[Any]],
        how: Option,
        columns: bool = False,
    ) -> tuple[Area, int]:
        """Write values into an area; returns what was written to, and how many cells were.

        ``None`` leaves a cell as it is, an empty text empties it. An area of one cell is where the values
        begin; any other has to hold them.
        """
        return self.write_many(book, [(sheet, area, lines, columns)], how)[0]

    def write_many(
        self, book: Book, parts: Iterable[tuple[Grid, Area, Sequence[Sequence[Any]], bool]], how: Option
    ) -> list[tuple[Area, int]]:
        """Write values into several areas; the formulas are computed once, at the end."""
        written: list[tuple[Area, int]] = []
        todo: dict[tuple[int, int, int], tuple[Grid, Any]] = {}
        for sheet, area, lines, columns in parts:
            placed = list(_placed(sheet, area, lines, columns))
            for row, column, value in placed:
                todo[sheet.number, row, column] = (sheet, value)
            written.append((_hull(area, placed), len(placed)))
        self.put(
            book,
            [(sheet, row, col, self.entered(value, how)) for (_, row, col), (sheet, value) in todo.items()],
        )
        return written

    def entered(self, value: Any, how: Option) -> Put:
        """Interpret an entered value."""
        if isinstance(value, bool):
            return Put("b", float(value))
        if isinstance(value, (int, float)):
            if not abs(value) < 1.8e308:
                raise Invalid("Invalid value: a number is too large for a cell.", code="INVALID_ARGUMENT")
            return Put("n", float(value))
        if not isinstance(value, str):
            name = "list_value" if isinstance(value, list) else "struct_value"
            raise Invalid(
                f"Invalid values: {name} {str(value)[:100]} is no value of a cell.", code="INVALID_ARGUMENT"
            )
        check_length(len(value))
        if "\0" in value:
            raise Invalid("Invalid values: a text with a zero character.", code="INVALID_ARGUMENT")
        if value == "":
            return Put("")
        if how == "RAW":
            return Put("s", text=value)
        if value.startswith("=") and len(value) > 1:
            return Put("", formula=value)
        if value.startswith("'"):
            return Put("s", text=value[1:]) if len(value) > 1 else Put("")
        if value.strip().upper() in ("TRUE", "FALSE"):
            return Put("b", float(value.strip().upper() == "TRUE"))
        found = number_in(value)
        if found is not None:
            return Put("n", found.value, type=found.kind, pattern=found.pattern)
        return Put("s", text=value)

    def put(self, book: Book, cells: Sequence[tuple[Grid, int, int, Put]]) -> None:
        """Put entered values into cells, and compute dependents."""
        if not cells:
            return
        kept = self._formats_of(cells)
        rows, edits = [], []
        for sheet, row, column, put in cells:
            format_, type_ = kept.get((sheet.number, row, column), (None, ""))
            if type_ == "TEXT" and put.type:
                put = Put("s", text=rendered(put.number, put.pattern))
            if put.type and not type_:
                format_ = self.store.formats.with_number(book, format_, put.type, put.pattern)
                type_ = put.type
            rows.append((sheet.number, row, column, put.kind, put.number, put.text, put.formula, format_))
            value = put.formula if put.formula is not None else put.number if put.kind == "n" else put.text
            value = bool(put.number) if put.kind == "b" else value
            edit: Edit = (
                sheet.title,
                row,
                column,
                value,
                put.formula is not None,
                type_ in ("DATE", "DATE_TIME"),
            )
            edits.append(edit)
        self.store.run_many(_PUT, rows)
        self.store.run(
            "DELETE FROM cells WHERE sheet = ? AND kind = '' AND formula IS NULL AND format IS NULL"
            " AND note IS NULL",
            (cells[0][0].number,),
        ) if any(not put.kind and put.formula is None for _, _, _, put in cells) else None
        self.store.computing.after(book, edits)
        self.store.drive.touch(book.number)

    def _formats_of(
        self, cells: Sequence[tuple[Grid, int, int, Put]]
    ) -> Mapping[tuple[int, int, int], tuple[int, str]]:
        found: dict[tuple[int, int, int], tuple[int, str]] = {}
        for sheet in {sheet.number for sheet, _, _, _ in cells}:
            own = [(row, column) for one, row, column, _ in cells if one.number == sheet]
            rows = self.store.rows(
                "SELECT row, col, format, type FROM cells JOIN formats ON cells.format = formats.number"
                " WHERE sheet = ? AND row BETWEEN ? AND ? AND col BETWEEN ? AND ?",
                (
                    sheet,
                    min(p[0] for p in own),
                    max(p[0] for p in own),
                    min(p[1] for p in own),
                    max(p[1] for p in own),
                ),
            )
            found |= {(sheet, row, col): (format_, type_) for row, col, format_, type_ in rows}
        return found

    def clear(self, book: Book, places: Sequence[tuple[Grid, Area]]) -> None:
        """Empty the cells of areas; their formats and notes stay."""
        cells = [
            (sheet, cell.row, cell.column, Put(""))
            for sheet, area in places
            for cell in self.cells(sheet, area)
            if (cell.kind or cell.formula is not None) and cell.anchor is None
        ]
        self.put(book, cells)

    def table(self, sheet: Grid, area: Area) -> Area | None:
        """The table that lies in or around an area: what holds together without an empty row or column."""
        area = area.within(sheet.rows, sheet.columns)
        used = self.used(sheet)
        filled = {
            (row, col)
            for row, col in self.store.rows(
                "SELECT row, col FROM cells WHERE sheet = ? AND (kind != '' OR formula IS NOT NULL)",
                (sheet.number,),
            )
        }
        assert area.bottom is not None
        assert area.right is not None
        assert used.bottom is not None
        assert used.right is not None
        inside = [
            place
            for place in filled
            if area.top <= place[0] < area.bottom and area.left <= place[1] < area.right
        ]
        if not inside:
            return None
        rows = {row for row, _ in filled}
        last_row = max(row for row, _ in inside)
        first = min(
            (p for p in inside if all(r in rows for r in range(p[0], last_row + 1))), default=min(inside)
        )
        top, bottom = first[0], last_row + 1
        left, right = min(c for r, c in inside if r >= top), max(c for r, c in inside if r >= top) + 1
        while True:  # grow as long as something touches
            near = [(r, c) for r, c in filled if top - 1 <= r <= bottom and left - 1 <= c <= right]
            grown = (
                min(top, min(r for r, _ in near)), min(left, min(c for _, c in near)),
                max(bottom, max(r for r, _ in near) + 1), max(right, max(c for _, c in near) + 1),
            )  # fmt: skip
            if grown == (top, left, bottom, right):
                return Area(top, left, bottom, right)
            top, left, bottom, right = grown


_PUT = (
    "INSERT INTO cells (sheet, row, col, kind, number, text, formula, format) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (sheet, row, col) DO UPDATE SET kind = excluded.kind, number = excluded.number,"
    " text = excluded.text, formula = excluded.formula, format = excluded.format, message = NULL,"
    " hint = NULL,"
    " anchor = NULL"
)


def _placed(
    sheet: Grid, area: Area, lines: Sequence[Sequence[Any]], columns: bool
) -> Iterable[tuple[int, int, Any]]:
    """The places that values are written to. ``Invalid`` for what lies beyond the area or the grid."""
    single = area.bottom == area.top + 1 and area.right == area.left + 1
    within = sheet.area if single else sheet.area_of(area)
    if single:
        sheet.area_of(area)
    assert within.bottom is not None
    assert within.right is not None
    for number, line in enumerate(lines):
        if not isinstance(line, list):
            raise Invalid(
                f"Invalid value at 'data.values[{number}]': a list is expected.", code="INVALID_ARGUMENT"
            )
        for at, value in enumerate(line):
            row, column = (
                (area.top + at, area.left + number) if columns else (area.top + number, area.left + at)
            )
            if row >= within.bottom or column >= within.right:
                from mesocosm.servers.google_sheet.store.names import range_text

                beyond = f"row [{row + 1}]" if row >= within.bottom else f"column [{column + 1}]"
                if single:
                    raise Invalid(
                        f"Range ({range_text(sheet, area)}) exceeds grid limits. Max rows:"
                        f" {sheet.rows}, max columns:"
                        f" {sheet.columns}",
                        code="INVALID_ARGUMENT",
                    )
                raise Invalid(
                    f"Requested writing within range [{range_text(sheet, area)}], but tried writing"
                    f" to {beyond}",
                    code="INVALID_ARGUMENT",
                )
            if value is not None:
                yield row, column, value


def _hull(area: Area, placed: Sequence[tuple[int, int, Any]]) -> Area:
    """The area that was written to, from the first cell of the one that was asked for."""
    if not placed:
        return Area(area.top, area.left, area.top + 1, area.left + 1)
    return Area(area.top, area.left, max(p[0] for p in placed) + 1, max(p[1] for p in placed) + 1)


def title_of(sheet: Grid) -> str:
    """The title as it stands in a range."""
    return quoted(sheet.title)
