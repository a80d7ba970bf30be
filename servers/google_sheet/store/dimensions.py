"""Rows and columns: inserted, deleted, and cells pushed aside; references follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.store.engine.references import Shift, shifted
from mesocosm.servers.google_sheet.store.ranges import Area
from mesocosm.servers.google_sheet.store.sheets import Book, Grid

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore

_AXES = {"ROWS": ("row", "top", "bottom"), "COLUMNS": ("col", "left", "right")}


class Dimensions:
    """Changes of the grids of sheets."""

    def __init__(self, store: SheetStore) -> None:
        self.store = store

    def insert(
        self, book: Book, sheet: Grid, axis: str, start: int, count: int, inherit_before: bool = False
    ) -> None:
        """Insert empty rows or columns before the one at ``start``; what was there moves on."""
        size = sheet.rows if axis == "ROWS" else sheet.columns
        if count < 1:
            raise Invalid("The number of rows or columns to insert is at least 1.", code="INVALID_ARGUMENT")
        if not 0 <= start <= size:
            raise Invalid(
                f"Cannot insert {axis.lower()} at {start}: the sheet has {size} {axis.lower()}.",
                code="INVALID_ARGUMENT",
            )
        rows = sheet.rows + (count if axis == "ROWS" else 0)
        columns = sheet.columns + (count if axis == "COLUMNS" else 0)
        self.store.sheets.resize(book, sheet, rows, columns)
        if start < size:
            self._shift(book, sheet, axis, start, count)
        self._inherit(sheet, axis, start, count, start - 1 if inherit_before else start + count)

    def append(self, book: Book, sheet: Grid, axis: str, count: int) -> None:
        """Add empty rows or columns at the end."""
        self.insert(book, sheet, axis, sheet.rows if axis == "ROWS" else sheet.columns, count, True)

    def delete(self, book: Book, sheet: Grid, axis: str, start: int, end: int) -> None:
        """Delete rows or columns; references to them become errors."""
        size = sheet.rows if axis == "ROWS" else sheet.columns
        if not 0 <= start < end <= size:
            raise Invalid(
                f"Cannot delete {axis.lower()} {start} to {end}: the sheet has {size} {axis.lower()}.",
                code="INVALID_ARGUMENT",
            )
        if end - start == size:
            raise Invalid(f"You can't delete all the {axis.lower()} on the sheet.", code="INVALID_ARGUMENT")
        column = _AXES[axis][0]
        self.store.run(
            f"DELETE FROM cells WHERE sheet = ? AND {column} >= ? AND {column} < ?",
            (sheet.number, start, end),
        )
        self._shift(book, sheet, axis, start, start - end)
        self.store.run(
            f"UPDATE sheets SET {'row_count' if axis == 'ROWS' else 'column_count'} = ? WHERE number = ?",
            (size - (end - start), sheet.number),
        )

    def _shift(self, book: Book, sheet: Grid, axis: str, at: int, count: int) -> None:
        """Move everything from ``at`` on (behind what was deleted, for a negative ``count``)."""
        shift = Shift(sheet.title, axis == "ROWS", at, count)
        column, low, high = _AXES[axis]
        first = at if count > 0 else at - count
        # Through places that no cell has, since a line must not meet one that has not moved yet.
        self.store.run(
            f"UPDATE cells SET {column} = -{column} - 1 WHERE sheet = ? AND {column} >= ?",
            (sheet.number, first),
        )
        self.store.run(
            f"UPDATE cells SET {column} = -{column} - 1 + ? WHERE sheet = ? AND {column} < 0",
            (count, sheet.number),
        )
        for table, key in (("merges", "id"), ("named_ranges", "number")):
            for row in self.store.rows(
                f"SELECT {key}, {low}, {high} FROM {table} WHERE sheet = ?", (sheet.number,)
            ):
                span = shift.span(row[1], row[2] - 1)
                if span is None:
                    self.store.run(f"DELETE FROM {table} WHERE {key} = ?", (row[0],))
                else:
                    self.store.run(
                        f"UPDATE {table} SET {low} = ?, {high} = ? WHERE {key} = ?",
                        (span[0], span[1] + 1, row[0]),
                    )
        self.store.run(
            "DELETE FROM merges WHERE sheet = ? AND (bottom - top) * (right - left) < 2", (sheet.number,)
        )
        lines = self.store.rows(
            "SELECT position, pixels, hidden FROM lines WHERE sheet = ? AND axis = ?", (sheet.number, axis)
        )
        self.store.run("DELETE FROM lines WHERE sheet = ? AND axis = ?", (sheet.number, axis))
        self.store.run_many(
            "INSERT INTO lines (sheet, axis, position, pixels, hidden) VALUES (?, ?, ?, ?, ?)",
            [
                (sheet.number, axis, place, pixels, hidden)
                for position, pixels, hidden in lines
                if (place := shift.place(position)) is not None
            ],
        )
        self.store.computing.rewrite(book, lambda formula, own: shifted(formula, own, shift))

    def _inherit(self, sheet: Grid, axis: str, start: int, count: int, source: int) -> None:
        """New lines look like the one beside them."""
        column, other = ("row", "col") if axis == "ROWS" else ("col", "row")
        looks = self.store.rows(
            f"SELECT {other}, format FROM cells WHERE sheet = ? AND {column} = ? AND format IS NOT NULL",
            (sheet.number, source),
        )
        rows = [
            (sheet.number, line, place, format_) if axis == "ROWS" else (sheet.number, place, line, format_)
            for line in range(start, start + count)
            for place, format_ in looks
        ]
        self.store.run_many(
            "INSERT INTO cells (sheet, row, col, kind, format) VALUES (?, ?, ?, '', ?) ON CONFLICT"
            " DO NOTHING",
            rows,
        )

    def insert_area(self, book: Book, sheet: Grid, area: Area, axis: str) -> None:
        """Insert empty cells; those of the same rows (or columns) behind them are pushed on."""
        area = sheet.area_of(area)
        assert area.bottom is not None
        assert area.right is not None
        self._push(book, sheet, area, axis, area.height if axis == "ROWS" else area.width)

    def delete_area(self, book: Book, sheet: Grid, area: Area, axis: str) -> None:
        """Delete cells; those of the same rows (or columns) behind them move up."""
        area = sheet.area_of(area)
        self.store.run(
            "DELETE FROM cells WHERE sheet = ? AND row >= ? AND row < ? AND col >= ? AND col < ?",
            (sheet.number, area.top, area.bottom, area.left, area.right),
        )
        self._push(book, sheet, area, axis, -(area.height if axis == "ROWS" else area.width))

    def _push(self, book: Book, sheet: Grid, area: Area, axis: str, count: int) -> None:
        column = "row" if axis == "ROWS" else "col"
        first = area.top if axis == "ROWS" else area.left
        start = first if count > 0 else first - count
        other, low, high = (
            ("col", area.left, area.right) if axis == "ROWS" else ("row", area.top, area.bottom)
        )
        condition = f"sheet = ? AND {other} >= ? AND {other} < ?"
        last = self.store.rows(
            f"SELECT max({column}) FROM cells WHERE {condition}", (sheet.number, low, high)
        )[0][0]
        if last is not None and count > 0:
            rows = max(sheet.rows, last + count + 1) if axis == "ROWS" else sheet.rows
            columns = max(sheet.columns, last + count + 1) if axis == "COLUMNS" else sheet.columns
            self.store.sheets.resize(book, sheet, rows, columns)
        self.store.run(
            f"UPDATE cells SET {column} = -{column} - 1 WHERE {condition} AND {column} >= ?",
            (sheet.number, low, high, start),
        )
        self.store.run(
            f"UPDATE cells SET {column} = -{column} - 1 + ? WHERE {condition} AND {column} < 0",
            (count, sheet.number, low, high),
        )
        self.store.computing.rewrite(
            book,
            lambda formula, own: shifted(
                formula, own, Shift(sheet.title, axis == "ROWS", first, count), area
            ),
        )
