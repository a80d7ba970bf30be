"""Appearance of cells: formats, merged cells, notes, sizes of rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import orjson

from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.store.messages import FORMAT
from mesocosm.servers.google_sheet.store.ranges import Area
from mesocosm.servers.google_sheet.store.rendering import DEFAULT_PATTERNS
from mesocosm.servers.google_sheet.store.sheets import Book, Grid
from mesocosm.servers.google_sheet.store.values import Put
from mesocosm.services.schema import Json

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore


MAX_FORMATTED = 200_000
"""Cells that one request may give a format."""


class Formats:
    """Formats of cells, and what else of a sheet is looks only."""

    def __init__(self, store: SheetStore) -> None:
        self.store = store

    def content(self, number: int | None) -> Json:
        """A format as the vendor's CellFormat."""
        if number is None:
            return {}
        found: Json = orjson.loads(
            self.store.rows("SELECT content FROM formats WHERE number = ?", (number,))[0][0]
        )
        return found

    def number_of(self, book: Book, content: Json) -> int | None:
        """The row of a format, which is made where it is new; ``None`` for the usual format."""
        content = checked(content)
        if not content:
            return None
        text = orjson.dumps(content, option=orjson.OPT_SORT_KEYS).decode()
        rows = self.store.rows(
            "SELECT number FROM formats WHERE spreadsheet = ? AND content = ?", (book.number, text)
        )
        if rows:
            return int(rows[0][0])
        shown = content.get("numberFormat", {})
        type_ = shown.get("type", "")
        pattern = shown.get("pattern") or DEFAULT_PATTERNS.get(type_, "")
        return self.store.run(
            "INSERT INTO formats (spreadsheet, content, type, pattern) VALUES (?, ?, ?, ?)",
            (book.number, text, type_, pattern),
        )

    def with_number(self, book: Book, number: int | None, type_: str, pattern: str) -> int | None:
        """A format with another number format."""
        content = self.content(number)
        return self.number_of(book, {**content, "numberFormat": {"type": type_, "pattern": pattern}})

    def change(
        self, book: Book, sheet: Grid, area: Area, change: Callable[[Json], Json], *, everywhere: bool = True
    ) -> None:
        """Give the cells of an area another format, made of the one that each has.

        ``everywhere``: also those that hold nothing.
        """
        area = sheet.area_of(area)
        if everywhere and area.height * area.width > MAX_FORMATTED:
            used = self.store.values.used(sheet)
            assert used.bottom is not None
            area = Area(area.top, area.left, max(area.top, min(area.bottom or 0, used.bottom)), area.right)
            if area.height * area.width > MAX_FORMATTED:
                raise Invalid(
                    f"A request formats at most {MAX_FORMATTED} cells here; give a smaller range.",
                    code="INVALID_ARGUMENT",
                )
        kept = {
            (row, col): number
            for row, col, number in self.store.rows(
                "SELECT row, col, format FROM cells WHERE sheet = ? AND row >= ? AND row < ? AND col"
                " >= ? AND col < ?",
                (sheet.number, area.top, area.bottom, area.left, area.right),
            )
        }
        made: dict[int | None, int | None] = {}
        rows = []
        assert area.bottom is not None
        assert area.right is not None
        places = (
            ((row, col) for row in range(area.top, area.bottom) for col in range(area.left, area.right))
            if everywhere
            else iter(sorted(kept))
        )
        for place in places:
            old = kept.get(place)
            if old not in made:
                made[old] = self.number_of(book, change(self.content(old)))
            if made[old] != old:
                rows.append((sheet.number, *place, made[old]))
        self.store.run_many(
            "INSERT INTO cells (sheet, row, col, kind, format) VALUES (?, ?, ?, '', ?)"
            " ON CONFLICT (sheet, row, col) DO UPDATE SET format = excluded.format",
            rows,
        )
        self.tidy(sheet)

    def tidy(self, sheet: Grid) -> None:
        """Forget cells that hold nothing and have neither format nor note."""
        self.store.run(
            "DELETE FROM cells WHERE sheet = ? AND kind = '' AND formula IS NULL AND anchor IS NULL"
            " AND format IS NULL AND note IS NULL",
            (sheet.number,),
        )

    def set_note(self, sheet: Grid, row: int, column: int, note: str | None) -> None:
        """Put a note on a cell, or take it away."""
        self.store.run(
            "INSERT INTO cells (sheet, row, col, kind, note) VALUES (?, ?, ?, '', ?)"
            " ON CONFLICT (sheet, row, col) DO UPDATE SET note = excluded.note",
            (sheet.number, row, column, note or None),
        )
        self.tidy(sheet)

    def copied(self, source: Book, target: Book, sheet: Grid) -> Mapping[int, int]:
        """Copy the formats of a sheet's cells to another spreadsheet; returns the new ids by the old."""
        if source.number == target.number:
            return {}
        rows = self.store.rows(
            "SELECT DISTINCT format FROM cells WHERE sheet = ? AND format IS NOT NULL ORDER BY 1",
            (sheet.number,),
        )
        return {number: self.number_of(target, self.content(number)) or 0 for (number,) in rows}

    # -- merged cells -----------------------------------------------------------------------------------

    def merges(self, sheet: Grid) -> list[Area]:
        rows = self.store.rows(
            "SELECT top, left, bottom, right FROM merges WHERE sheet = ? ORDER BY id", (sheet.number,)
        )
        return [Area(*row) for row in rows]

    def merge(self, book: Book, sheet: Grid, area: Area, how: str) -> None:
        """Merge the cells of an area: all of them, by columns or by rows; only the first keeps its value."""
        area = sheet.area_of(area)
        assert area.bottom is not None
        assert area.right is not None
        for old in self.merges(sheet):
            if old.overlaps(area):
                if not area.holds(old):
                    raise Invalid(
                        "You must select all cells in a merged range to merge or unmerge them.",
                        code="INVALID_ARGUMENT",
                    )
                self._unmerge(sheet, old)
        if how == "MERGE_COLUMNS":
            parts = [Area(area.top, c, area.bottom, c + 1) for c in range(area.left, area.right)]
        elif how == "MERGE_ROWS":
            parts = [Area(r, area.left, r + 1, area.right) for r in range(area.top, area.bottom)]
        elif how == "MERGE_ALL":
            parts = [area]
        else:
            raise Invalid(f"Invalid value for mergeType: {how[:40]!r}", code="INVALID_ARGUMENT")
        hidden = []
        for part in parts:
            if part.height * part.width < 2:
                continue
            self.store.run(
                "INSERT INTO merges (sheet, top, left, bottom, right) VALUES (?, ?, ?, ?, ?)",
                (sheet.number, part.top, part.left, part.bottom, part.right),
            )
            hidden += [
                (sheet, cell.row, cell.column, Put(""))
                for cell in self.store.values.cells(sheet, part)
                if (cell.row, cell.column) != (part.top, part.left) and (cell.kind or cell.formula)
            ]
        self.store.values.put(book, hidden)

    def unmerge(self, sheet: Grid, area: Area) -> None:
        """Take merged areas apart that lie in an area."""
        area = sheet.area_of(area)
        for old in self.merges(sheet):
            if old.overlaps(area):
                if not area.holds(old):
                    raise Invalid(
                        "You must select all cells in a merged range to merge or unmerge them.",
                        code="INVALID_ARGUMENT",
                    )
                self._unmerge(sheet, old)

    def _unmerge(self, sheet: Grid, area: Area) -> None:
        self.store.run(
            "DELETE FROM merges WHERE sheet = ? AND top = ? AND left = ? AND bottom = ? AND right = ?",
            (sheet.number, area.top, area.left, area.bottom, area.right),
        )

    # -- sizes ------------------------------------------------------------------------------------------

    def lines(self, sheet: Grid, axis: str) -> dict[int, tuple[int, bool]]:
        """By row or column, its size in pixels and whether it is hidden, where that is not as usual."""
        rows = self.store.rows(
            "SELECT position, pixels, hidden FROM lines WHERE sheet = ? AND axis = ? ORDER BY position",
            (sheet.number, axis),
        )
        return {position: (pixels, bool(hidden)) for position, pixels, hidden in rows}

    def set_lines(
        self, sheet: Grid, axis: str, positions: Sequence[int], pixels: int | None, hidden: bool | None
    ) -> None:
        """Another size for rows or columns, or hide or show them."""
        usual = USUAL[axis]
        kept = self.lines(sheet, axis)
        for position in positions:
            size, is_hidden = kept.get(position, (usual, False))
            size, is_hidden = (size if pixels is None else pixels), (is_hidden if hidden is None else hidden)
            if (size, is_hidden) == (usual, False):
                self.store.run(
                    "DELETE FROM lines WHERE sheet = ? AND axis = ? AND position = ?",
                    (sheet.number, axis, position),
                )
            else:
                self.store.run(
                    "INSERT INTO lines (sheet, axis, position, pixels, hidden) VALUES (?, ?, ?, ?, ?)"
                    " ON CONFLICT (sheet, axis, position) DO UPDATE SET pixels = excluded.pixels,"
                    " hidden = excluded.hidden",
                    (sheet.number, axis, position, size, is_hidden),
                )


USUAL = {"ROWS": 21, "COLUMNS": 100}
"""Pixels of a row and of a column, as the vendor makes them."""


def checked(content: Json) -> Json:
    """Return a format without empty parts; ``Invalid`` for unknown ones."""
    for name in content:
        if name not in FORMAT:
            raise Invalid(
                f'Invalid JSON payload received. Unknown name "{str(name)[:60]}" at userEnteredFormat:'
                " Cannot find field.",
                code="INVALID_ARGUMENT",
            )
    shown = content.get("numberFormat")
    if shown is not None:
        if not isinstance(shown, dict) or shown.get("type") not in DEFAULT_PATTERNS:
            raise Invalid(
                "Invalid value at 'userEnteredFormat.numberFormat.type': one of "
                + ", ".join(sorted(DEFAULT_PATTERNS)) + ".",
                code="INVALID_ARGUMENT",
            )  # fmt: skip
        if not isinstance(shown.get("pattern", ""), str) or len(shown.get("pattern", "")) > 500:
            raise Invalid(
                "Invalid value at 'userEnteredFormat.numberFormat.pattern'.", code="INVALID_ARGUMENT"
            )
    return {name: value for name, value in content.items() if value not in (None, {}, "")}


def merged(old: Json, new: Json, paths: Sequence[str]) -> Json:
    """A format with the fields at these paths taken from another; a path of no fields is all of it."""
    result = orjson.loads(orjson.dumps(old))
    for path in paths:
        if path in ("", "*"):
            result = orjson.loads(orjson.dumps(new))
            continue
        *way, last = path.split(".")
        target, source = result, new
        for name in way:
            target = target.setdefault(name, {})
            source = source.get(name, {}) if isinstance(source, dict) else {}
        if isinstance(source, dict) and last in source:
            target[last] = source[last]
        else:
            target.pop(last, None)
    found: Json = result
    return found
