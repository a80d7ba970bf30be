"""Spreadsheets, and the sheets in them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, available_timezones

import orjson

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.google_sheet.store.drive import FileEntry
from mesocosm.servers.google_sheet.store.engine.references import renamed
from mesocosm.servers.google_sheet.store.ranges import (
    MAX_CELLS,
    MAX_COLUMNS,
    Area,
    open_area_name,
    quoted,
)

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore

ROWS, COLUMNS = 1000, 26
"""Of a new sheet, as the vendor makes it."""
MAX_SHEETS = 200
MAX_TITLE = 100
_COLUMNS = "number, spreadsheet, sheet_id, title, position, row_count, column_count, properties"


@dataclass(frozen=True)
class Grid:
    """A sheet: its place in the spreadsheet and its size."""

    number: int
    spreadsheet: int
    sheet_id: int
    title: str
    position: int
    rows: int
    columns: int
    properties: dict[str, Any]

    @property
    def area(self) -> Area:
        """All of its cells."""
        return Area(0, 0, self.rows, self.columns)

    def area_of(self, area: Area) -> Area:
        """The part of an area that lies in it; ``Invalid`` where an area begins or ends beyond it."""
        beyond_row = area.top >= self.rows or (area.bottom or 0) > self.rows
        beyond_column = area.left >= self.columns or (area.right or 0) > self.columns
        if beyond_row or beyond_column:
            raise Invalid(
                f"Range ({quoted(self.title)}!{open_area_name(area)}) exceeds grid limits. Max rows:"
                f" {self.rows},"
                f" max columns: {self.columns}",
                code="INVALID_ARGUMENT",
            )
        return area.within(self.rows, self.columns)


@dataclass(frozen=True)
class Book:
    """A spreadsheet as the account may use it."""

    file: FileEntry
    locale: str
    time_zone: str
    auto_recalc: str
    state: str

    @property
    def number(self) -> int:
        """Of its row."""
        return self.file.number

    @property
    def id(self) -> str:
        """The vendor's id."""
        return self.file.id


class Sheets:
    """Spreadsheets and their sheets."""

    def __init__(self, store: SheetStore) -> None:
        self.store = store

    # -- spreadsheets -----------------------------------------------------------------------------------

    def create(
        self,
        name: str,
        parent: str | None = None,
        *,
        locale: str = "en_US",
        time_zone: str = "Etc/GMT",
        auto_recalc: str = "ON_CHANGE",
        first: bool = True,
        description: str = "",
        properties: dict[str, str] | None = None,
    ) -> Book:
        """A new spreadsheet; with one empty sheet, unless ``first`` is false."""
        if not name.strip():
            name = "Untitled spreadsheet"
        checked_zone(time_zone)
        file = self.store.drive.create("spreadsheet", name, parent, description, properties)
        self.store.run(
            "INSERT INTO spreadsheets (file, locale, time_zone, auto_recalc, state) VALUES (?, ?, ?, ?, ?)",
            (file.number, locale, time_zone, auto_recalc, digest("new", file.id)),
        )
        book = self.book(file.id)
        if first:
            self._insert(book, "Sheet1", 0, 0, ROWS, COLUMNS)
        return book

    def book(self, spreadsheet_id: str, role: str = "reader") -> Book:
        """A spreadsheet that the account may use so; in the vendor's words where it may not."""
        try:
            file = self.store.drive.file(spreadsheet_id, role)
        except NotFound:
            raise NotFound("Requested entity was not found.", code="NOT_FOUND") from None
        rows = self.store.rows(
            "SELECT locale, time_zone, auto_recalc, state FROM spreadsheets WHERE file = ?", (file.number,)
        )
        if not rows:
            raise Invalid("This operation is not supported for this document", code="FAILED_PRECONDITION")
        return Book(file, *rows[0])

    def change(self, book: Book, changes: dict[str, str]) -> None:
        """Other properties: title, locale, time_zone, auto_recalc."""
        if "title" in changes:
            self.store.run(
                "UPDATE files SET name = ? WHERE number = ?",
                (changes["title"] or "Untitled spreadsheet", book.number),
            )
        for name in ("locale", "time_zone", "auto_recalc"):
            if name in changes:
                if name == "time_zone":
                    checked_zone(changes[name])
                self.store.run(
                    f"UPDATE spreadsheets SET {name} = ? WHERE file = ?", (changes[name], book.number)
                )

    def remove_content(self, number: int) -> None:
        """Remove all of a spreadsheet but its file."""
        for (sheet,) in self.store.rows("SELECT number FROM sheets WHERE spreadsheet = ?", (number,)):
            self._remove_cells(sheet)
        self.store.run("DELETE FROM named_ranges WHERE spreadsheet = ?", (number,))
        self.store.run("DELETE FROM sheets WHERE spreadsheet = ?", (number,))
        self.store.run("DELETE FROM formats WHERE spreadsheet = ?", (number,))
        self.store.run("DELETE FROM spreadsheets WHERE file = ?", (number,))

    def _remove_cells(self, sheet: int) -> None:
        for table in ("cells", "merges", "lines", "named_ranges"):
            self.store.run(f"DELETE FROM {table} WHERE sheet = ?", (sheet,))

    # -- sheets -----------------------------------------------------------------------------------------

    def all(self, book: Book) -> list[Grid]:
        """The sheets of a spreadsheet in their order."""
        rows = self.store.rows(
            f"SELECT {_COLUMNS} FROM sheets WHERE spreadsheet = ? ORDER BY position", (book.number,)
        )
        return [
            Grid(row[0], row[1], row[2], row[3], row[4], row[5], row[6], orjson.loads(row[7])) for row in rows
        ]

    def titled(self, book: Book, title: str) -> Grid:
        """Return the sheet with a title, ignoring case; ``NotFound`` lists the existing ones."""
        sheets = self.all(book)
        for sheet in sheets:
            if sheet.title.casefold() == title.casefold():
                return sheet
        known = ", ".join(repr(sheet.title) for sheet in sheets[:10])
        raise NotFound(f"Sheet {title[:100]!r} not found. The spreadsheet has {known}.", code="NOT_FOUND")

    def with_id(self, book: Book, sheet_id: int, where: str = "") -> Grid:
        """The sheet with the vendor's id."""
        for sheet in self.all(book):
            if sheet.sheet_id == sheet_id:
                return sheet
        raise Invalid(f"{where}No grid with id: {sheet_id}", code="INVALID_ARGUMENT")

    def add(
        self,
        book: Book,
        title: str | None = None,
        *,
        sheet_id: int | None = None,
        position: int | None = None,
        rows: int = ROWS,
        columns: int = COLUMNS,
        properties: dict[str, Any] | None = None,
    ) -> Grid:
        """A new sheet, behind the others unless ``position`` says where."""
        sheets = self.all(book)
        if len(sheets) >= MAX_SHEETS:
            raise Invalid(
                "This action would increase the number of sheets in the workbook above the limit of"
                f" {MAX_SHEETS}.",
                code="INVALID_ARGUMENT",
            )
        if title is None:
            taken = {sheet.title.casefold() for sheet in sheets}
            title = next(f"Sheet{n}" for n in range(1, MAX_SHEETS + 2) if f"sheet{n}" not in taken)
        self._check_title(sheets, title)
        self._check_size(book, rows, columns)
        if sheet_id is None:
            sheet_id = self._new_id(book, sheets)
        elif any(sheet.sheet_id == sheet_id for sheet in sheets) or not 0 <= sheet_id < 2**31:
            raise Invalid(
                f"A sheet with id {sheet_id} already exists, or the id is out of range.",
                code="INVALID_ARGUMENT",
            )
        at = len(sheets) if position is None else max(0, min(position, len(sheets)))
        self.store.run(
            "UPDATE sheets SET position = position + 1 WHERE spreadsheet = ? AND position >= ?",
            (book.number, at),
        )
        return self._insert(book, title, sheet_id, at, rows, columns, properties)

    def _insert(
        self, book: Book, title: str, sheet_id: int, position: int, rows: int, columns: int,
        properties: dict[str, Any] | None = None,
    ) -> Grid:  # fmt: skip
        kept = orjson.dumps(properties or {}, option=orjson.OPT_SORT_KEYS).decode()
        number = self.store.run(
            "INSERT INTO sheets (spreadsheet, sheet_id, title, key, position, row_count,"
            " column_count, properties)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (book.number, sheet_id, title, title.casefold(), position, rows, columns, kept),
        )
        return Grid(number, book.number, sheet_id, title, position, rows, columns, properties or {})

    def _new_id(self, book: Book, sheets: list[Grid]) -> int:
        """An id as the vendor's: any number below 2^31 that no sheet of the spreadsheet has or had."""
        last = self.store.rows("SELECT seq FROM sqlite_sequence WHERE name = 'sheets'")
        at = int(last[0][0]) if last else 0
        taken = {sheet.sheet_id for sheet in sheets}
        while True:
            at += 1
            found = int.from_bytes(hashlib.sha256(f"{book.id} {at}".encode()).digest()[:4]) & 0x7FFFFFFF
            if found not in taken and found:
                return found

    def _check_title(self, sheets: list[Grid], title: str) -> None:
        if not title.strip():
            raise Invalid("A sheet needs a title.", code="INVALID_ARGUMENT")
        if len(title) > MAX_TITLE or any(character < " " for character in title):
            raise Invalid(
                f"Invalid sheet name: at most {MAX_TITLE} characters, none of them control characters.",
                code="INVALID_ARGUMENT",
            )
        if any(sheet.title.casefold() == title.casefold() for sheet in sheets):
            raise Invalid(
                f'A sheet with the name "{title}" already exists. Please enter another name.',
                code="INVALID_ARGUMENT",
            )

    def _check_size(self, book: Book, rows: int, columns: int, instead_of: Grid | None = None) -> None:
        if rows < 1 or columns < 1:
            raise Invalid("A sheet has at least one row and one column.", code="INVALID_ARGUMENT")
        if columns > MAX_COLUMNS:
            raise Invalid(
                f"This action would increase the number of columns above the limit of {MAX_COLUMNS} columns.",
                code="INVALID_ARGUMENT",
            )
        cells = sum(
            s.rows * s.columns for s in self.all(book) if not instead_of or s.number != instead_of.number
        )
        if cells + rows * columns > MAX_CELLS:
            raise Invalid(
                "This action would increase the number of cells in the workbook above the limit of"
                f" {MAX_CELLS} cells.",
                code="INVALID_ARGUMENT",
            )

    def rename(self, book: Book, sheet: Grid, title: str) -> None:
        """Another title, which formulas follow."""
        if title == sheet.title:
            return
        self._check_title([other for other in self.all(book) if other.number != sheet.number], title)
        self.store.run(
            "UPDATE sheets SET title = ?, key = ? WHERE number = ?", (title, title.casefold(), sheet.number)
        )
        self.store.computing.rewrite(book, lambda formula, own: renamed(formula, sheet.title, title))

    def resize(self, book: Book, sheet: Grid, rows: int, columns: int) -> None:
        """Another size; what lies beyond is removed."""
        self._check_size(book, rows, columns, instead_of=sheet)
        if rows < sheet.rows:
            self.store.dimensions.delete(book, sheet, "ROWS", rows, sheet.rows)
        if columns < sheet.columns:
            self.store.dimensions.delete(book, sheet, "COLUMNS", columns, sheet.columns)
        self.store.run(
            "UPDATE sheets SET row_count = ?, column_count = ? WHERE number = ?",
            (rows, columns, sheet.number),
        )

    def set_properties(self, sheet: Grid, properties: dict[str, Any]) -> None:
        """Replace the properties that are neither title, place nor size."""
        kept = orjson.dumps(properties, option=orjson.OPT_SORT_KEYS).decode()
        self.store.run("UPDATE sheets SET properties = ? WHERE number = ?", (kept, sheet.number))

    def move(self, book: Book, sheet: Grid, position: int) -> None:
        """Another place among the sheets."""
        others = [one for one in self.all(book) if one.number != sheet.number]
        others.insert(max(0, min(position, len(others))), sheet)
        self.store.run_many(
            "UPDATE sheets SET position = ? WHERE number = ?",
            [(n, one.number) for n, one in enumerate(others)],
        )

    def delete(self, book: Book, sheet: Grid) -> None:
        """Remove a sheet; references to it become errors."""
        sheets = self.all(book)
        if len(sheets) == 1:
            raise Invalid("You can't remove all the sheets in a document.", code="INVALID_ARGUMENT")
        self._remove_cells(sheet.number)
        self.store.run("DELETE FROM sheets WHERE number = ?", (sheet.number,))
        others = [one for one in sheets if one.number != sheet.number]
        self.store.run_many(
            "UPDATE sheets SET position = ? WHERE number = ?",
            [(n, one.number) for n, one in enumerate(others)],
        )
        self.store.computing.rewrite(book, lambda formula, own: renamed(formula, sheet.title, None))

    def copy(self, source: Book, sheet: Grid, target: Book, title: str | None = None, **place: Any) -> Grid:
        """A copy of a sheet in the same or in another spreadsheet.

        Its formulas name sheets of the target from now on; those that are not there are errors.
        """
        taken = {one.title.casefold() for one in self.all(target)}
        if title is None:
            base = f"Copy of {sheet.title}"
            title = next(
                name
                for n in range(1, 1000)
                if (name := base if n == 1 else f"{base} {n}").casefold() not in taken
            )
        made = self.add(
            target, title, rows=sheet.rows, columns=sheet.columns, properties=sheet.properties, **place
        )
        formats = self.store.formats.copied(source, target, sheet)
        rows = self.store.rows(
            "SELECT row, col, kind, number, text, formula, message, hint, format, note FROM cells"
            " WHERE sheet = ? AND anchor IS NULL",
            (sheet.number,),
        )
        self.store.run_many(
            "INSERT INTO cells (sheet, row, col, kind, number, text, formula, message, hint, format, note)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((made.number, *row[:8], formats.get(row[8], row[8]), row[9]) for row in rows),
        )
        for table, columns in (
            ("merges", "top, left, bottom, right"),
            ("lines", "axis, position, pixels, hidden"),
        ):
            self.store.run(
                f"INSERT INTO {table} (sheet, {columns}) SELECT ?, {columns} FROM {table} WHERE sheet = ?",
                (made.number, sheet.number),
            )
        return made

    def copy_book(self, book: Book, name: str | None = None, parent: str | None = None) -> Book:
        """A copy of a spreadsheet, with all of its sheets, names and formats."""
        made = self.create(
            name or f"Copy of {book.file.name}", parent, locale=book.locale, time_zone=book.time_zone,
            auto_recalc=book.auto_recalc, first=False, description=book.file.description,
            properties=book.file.properties,
        )  # fmt: skip
        pairs = {}
        for sheet in self.all(book):
            pairs[sheet.number] = self.copy(book, sheet, made, sheet.title, sheet_id=sheet.sheet_id).number
        self.store.names.copy(book, made, pairs)
        self.store.computing.restart(made, "copy")
        return made


def digest(*parts: Any) -> str:
    """Make an identifier for a spreadsheet's state."""
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:32]


def checked_zone(name: str) -> ZoneInfo:
    """A time zone by its IANA name."""
    if name not in _zones():
        raise Invalid(f"Invalid time zone: {name[:100]!r}", code="INVALID_ARGUMENT")
    return ZoneInfo(name)


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())
