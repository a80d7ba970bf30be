"""The rules of the excel service: workbooks of the workspace, read in pages and changed whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import datetime
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Literal

from openpyxl import Workbook

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.excel.store.books import Book, Books, Formula, Sheet, Validation
from mesocosm.servers.excel.store.cells import (
    MAX_COLUMN,
    MAX_ROW,
    Area,
    address,
    check_fits,
    check_size,
    check_title,
    check_value,
    parse_area,
    parse_cell,
)
from mesocosm.servers.excel.store.editing import check_within, copied, set_value, source_of, worksheet
from mesocosm.servers.excel.store.formats import Look, apply_look, conditional_rule, merge
from mesocosm.servers.excel.store.formulas import check_syntax
from mesocosm.servers.excel.store.packages import (
    PARSE_ERRORS,
    is_small,
    load,
    new_workbook,
    save_workbook,
)
from mesocosm.servers.excel.store.paging import PAGE_RULES, Reading, page_of, read_page, shown_value
from mesocosm.servers.excel.store.reference_shifts import Shift, delete_sheet, rename, shift
from mesocosm.servers.excel.store.summaries import add_chart, add_pivot, add_table
from mesocosm.services.apart import apart
from mesocosm.services.service import Store
from mesocosm.worlds import deadlines

__all__ = ["PAGE_RULES", "ExcelStore", "Reading", "new_workbook", "save_workbook", "shown_value"]

PAGE_MERGED = 1_000
MAX_ALLOWED_VALUES = 100
MAX_EDITED_TAGS = 2_000_000
"""XML tags of a workbook that can be changed, which takes far more memory than reading it."""
_SECONDS_FOR_EACH = 5e-6
"""Approximate time to load and save a workbook, for each XML tag and each cell in a range."""

SUFFIXES = (".xlsx", ".xlsm", ".xltx", ".xltm")

_BOOKS = Books()
_apart = apart(is_small)


class ExcelStore(Store):
    """Workbooks in the workspace."""

    # -- reading ----------------------------------------------------------------------------------------

    @_apart
    def names(self, path: str) -> list[str]:
        """The names of the worksheets in their order."""
        return self.book(path).sheet_names

    @_apart
    def used(self, path: str) -> dict[str, Area | None]:
        """The smallest area of each worksheet that holds all its values."""
        return {name: self.sheet(path, name).used for name in self.book(path).sheet_names}

    def book(self, path: str) -> Book:
        """The workbook of that name, parsed before if it has not changed since."""
        self._check_suffix(path)
        book = _BOOKS.find(self.workspace.identity(path))
        return book or _BOOKS.add(self.workspace.content(path), path)

    def sheet(self, path: str, name: str) -> Sheet:
        """The values of a worksheet."""
        sheet = self.book(path).sheet(name)
        _BOOKS.trim()
        return sheet

    @_apart
    def read(self, path: str, name: str, start: str, end: str | None, *, preview: bool) -> Reading | None:
        """One page of a range, or ``None`` if the range holds no data.

        Without an end the range goes to the end of the data, and from the beginning of the data if it starts
        at A1.
        """
        return read_page(self.sheet(path, name), start, end, preview=preview)

    @_apart
    def check_range(self, path: str, name: str, area: Area) -> Area:
        """Refuse an area that goes beyond the data of a sheet; returns where the data lies, from A1."""
        used = self.sheet(path, name).used
        last_row, last_column = (used.last_row, used.last_column) if used else (1, 1)
        for what, first, last, limit in (
            ("row", area.first_row, area.last_row, last_row),
            ("column", area.first_column, area.last_column, last_column),
        ):
            if first > limit:
                raise Invalid(f"Start {what} {first} out of bounds (1-{limit})")
            if last > limit:
                raise Invalid(f"End {what} {last} out of bounds (1-{limit})")
        return Area(1, 1, last_row, last_column)

    @_apart
    def validations(self, path: str, name: str, page: int) -> tuple[Sequence[Validation], int]:
        """Fifty of the data validation rules of a sheet, and how many it has."""
        rules = self.sheet(path, name).validations
        return page_of(rules, page, PAGE_RULES), len(rules)

    @_apart
    def merged(self, path: str, name: str, page: int) -> tuple[Sequence[str], int]:
        """A thousand of the merged ranges of a sheet, and how many it has."""
        ranges = self.sheet(path, name).merged
        return page_of(ranges, page, PAGE_MERGED), len(ranges)

    @_apart
    def allowed_values(self, path: str, name: str, rule: Validation) -> list[str]:
        """List the values that a list validation allows: its own list, or the values of the cells it refers
        to.
        """
        source = rule.formula1.strip()
        if source.startswith('"'):
            items = [item.strip()[:255] for item in source.strip('"').split(",") if item.strip()]
            return items[:MAX_ALLOWED_VALUES]
        title, _, cells = source.removeprefix("=").rpartition("!")
        try:
            sheet = self.sheet(path, title.strip("'").replace("''", "'") if title else name)
            area = parse_area(cells)
        except (Invalid, NotFound):
            return [f"Range: {source[:255]}"]
        values = (str(shown_value(value))[:255] for _, row in sheet.within(area) for _, value in row)
        return list(islice(values, MAX_ALLOWED_VALUES)) or [f"Range: {source[:255]} (empty)"]

    def size_and_time(self, path: str) -> tuple[int, datetime]:
        """Bytes of the file, and when it was last modified by the world's clock."""
        details = self.workspace.details(path)
        return details.size, details.modified or self.now

    # -- changing ---------------------------------------------------------------------------------------

    @contextmanager
    def editing(self, path: str) -> Iterator[Workbook]:
        """Open a workbook for changes, which are saved in one step at the end."""
        book = self.book(path)
        if book.tags > MAX_EDITED_TAGS:
            raise Invalid(f"{path} is too large to be changed with these tools; it can be read.")
        # Refuses what would blow up when it is loaded.
        ranged = sum(book.sheet(name).ranged for name in book.sheet_names)
        deadlines.expect(_SECONDS_FOR_EACH * (book.tags + ranged))
        workbook = load(self.workspace.read(path), path, macros=path.lower().endswith(("xlsm", "xltm")))
        yield workbook
        self.save(path, workbook)

    def save(self, path: str, workbook: Workbook) -> None:
        """Write a workbook into the workspace."""
        try:
            data = save_workbook(workbook, self.now)
        except PARSE_ERRORS as error:
            raise Invalid(f"{path} holds something that cannot be saved ({type(error).__name__}).") from error
        self.workspace.write(path, data, self.now)

    def create_workbook(self, path: str) -> str:
        """A new workbook with one empty sheet; returns its full path."""
        if not path.lower().endswith(".xlsx"):
            raise Invalid(f"The name of a new workbook must end with .xlsx, got {path}.")
        if self.workspace.exists(path):
            raise Conflict(f"{path} already exists; change it with the other tools, or move it away first.")
        self.save(path, new_workbook(self.now))
        return self.workspace.shown(self.workspace.resolve(path))

    @_apart
    def create_sheet(self, path: str, name: str) -> None:
        """A new empty worksheet at the end of the workbook."""
        with self.editing(path) as workbook:
            check_title(name, workbook.sheetnames)
            workbook.create_sheet(name)

    @_apart
    def write(self, path: str, name: str, rows: Sequence[Sequence[Any]], start: str) -> None:
        """Write rows of values; the sheet is created if the workbook has none of that name."""
        if not rows or not any(rows):
            raise Invalid("No data provided to write")
        first_row, first_column = parse_cell(start, "start cell")
        area = Area(
            first_row, first_column, first_row + len(rows) - 1, first_column + max(map(len, rows)) - 1
        )
        check_fits(area.last_row, area.last_column)
        check_size(area)
        with self.editing(path) as workbook:
            if name not in workbook.sheetnames:
                check_title(name, workbook.sheetnames)
                workbook.create_sheet(name)
            sheet = worksheet(workbook, name)
            for row, values in enumerate(rows, start=first_row):
                deadlines.check()
                for column, value in enumerate(values, start=first_column):
                    set_value(sheet, row, column, value)

    @_apart
    def apply_formula(self, path: str, name: str, cell: str, formula: str) -> str:
        """Put a formula into a cell, after checking its syntax; returns it as it was put."""
        row, column = parse_cell(cell)
        formula = formula if formula.startswith("=") else f"={formula}"
        check_syntax(formula, address(row, column))
        with self.editing(path) as workbook:
            set_value(worksheet(workbook, name), row, column, formula)
        return formula

    @_apart
    def formula_of(self, path: str, name: str, cell: str) -> str | None:
        """The formula that a cell holds, if it holds one."""
        value = self.sheet(path, name).value(*parse_cell(cell))
        return value.text if isinstance(value, Formula) else None

    @_apart
    def copy_range(self, path: str, name: str, area: Area, target: str, target_name: str | None) -> None:
        """Copy values, formulas (moved relative to their new place) and styles; areas may overlap."""
        check_size(area)
        row, column = parse_cell(target, "target cell")
        rows, columns = row - area.first_row, column - area.first_column
        area.shifted(rows, columns)
        with self.editing(path) as workbook:
            source = worksheet(workbook, name)
            goal = worksheet(workbook, target_name) if target_name else source
            copies = [(*place, copied(source, *place, rows, columns)) for place in area.cells()]
            for cell_row, cell_column, (value, style) in copies:
                cell = set_value(goal, cell_row + rows, cell_column + columns, value)
                cell._style = copy(style)

    @_apart
    def delete_range(self, path: str, name: str, area: Area, direction: str) -> None:
        """Delete cells and move those below up, or those to the right to the left."""
        if direction not in ("up", "left"):
            raise Invalid(f"Invalid shift direction: {direction}. Must be 'up' or 'left'")
        with self.editing(path) as workbook:
            sheet = worksheet(workbook, name)
            check_within(area, sheet)
            if direction == "up":
                rows = area.last_row - area.first_row + 1
                change = Shift("row", area.first_row, -rows, (area.first_column, area.last_column))
            else:
                columns = area.last_column - area.first_column + 1
                change = Shift("column", area.first_column, -columns, (area.first_row, area.last_row))
            shift(workbook, sheet, change)

    @_apart
    def shift_lines(self, path: str, name: str, axis: Literal["row", "column"], at: int, count: int) -> None:
        """Insert (``count`` > 0) or delete (``count`` < 0) whole rows or columns."""
        limit = MAX_ROW if axis == "row" else MAX_COLUMN
        if not 1 <= at <= limit:
            raise Invalid(f"Start {axis} must be 1 or greater, and at most {limit:,}; got {at:,}.")
        if not 1 <= abs(count) <= limit:
            raise Invalid(f"Count must be 1 or greater, and at most {limit:,}.")
        with self.editing(path) as workbook:
            sheet = worksheet(workbook, name)
            last = sheet.max_row if axis == "row" else sheet.max_column
            if count < 0 and at > last:
                raise Invalid(f"Start {axis} {at} exceeds worksheet bounds (max {axis}: {last})")
            shift(workbook, sheet, Shift(axis, at, count))

    @_apart
    def merge(self, path: str, name: str, area: Area) -> None:
        """Make one cell of an area."""
        check_size(area)
        with self.editing(path) as workbook:
            merge(worksheet(workbook, name), area)

    @_apart
    def unmerge(self, path: str, name: str, area: Area) -> None:
        """Take a merged range apart."""
        with self.editing(path) as workbook:
            sheet = worksheet(workbook, name)
            if str(area) not in {str(merged) for merged in sheet.merged_cells.ranges}:
                raise NotFound(f"Range '{area}' is not merged")
            sheet.unmerge_cells(str(area))

    @_apart
    def format(
        self, path: str, name: str, area: Area, look: Look, rule: Mapping[str, Any] | None, *, join: bool
    ) -> None:
        """Change how an area looks; ``join`` merges it, ``rule`` adds a conditional format."""
        check_size(area)
        conditional = conditional_rule(rule) if rule is not None else None
        with self.editing(path) as workbook:
            sheet = worksheet(workbook, name)
            apply_look(sheet, area, look)
            if join:
                merge(sheet, area)
            if conditional is not None:
                sheet.conditional_formatting.add(str(area), conditional)

    @_apart
    def copy_sheet(self, path: str, source: str, target: str) -> None:
        """Copy a worksheet under a new name."""
        with self.editing(path) as workbook:
            sheet = worksheet(workbook, source)
            check_title(target, workbook.sheetnames)
            workbook.copy_worksheet(sheet).title = target

    @_apart
    def delete_sheet(self, path: str, name: str) -> None:
        """Delete a worksheet; at least one that can be seen must remain."""
        with self.editing(path) as workbook:
            sheet = worksheet(workbook, name)
            if not any(other.sheet_state == "visible" for other in workbook.worksheets if other is not sheet):
                raise Conflict("Cannot delete the only sheet in workbook")
            delete_sheet(workbook, sheet)

    @_apart
    def rename_sheet(self, path: str, old: str, new: str) -> None:
        """Give a worksheet another name."""
        with self.editing(path) as workbook:
            sheet = worksheet(workbook, old)
            check_title(new, [name for name in workbook.sheetnames if name != old])
            rename(workbook, sheet, new)

    @_apart
    def create_table(self, path: str, name: str, area: Area, table: str | None, style: str) -> str:
        """Make an Excel table of an area; returns its name."""
        check_size(area)
        with self.editing(path) as workbook:
            return add_table(workbook, worksheet(workbook, name), area, table, style)

    @_apart
    def create_pivot(
        self,
        path: str,
        name: str,
        data_range: str,
        fields: tuple[Sequence[str], Sequence[str], Sequence[str]],
        function: str,
    ) -> str:
        """Summarise an area by fields for the rows, the values and the columns; returns the new sheet."""
        rows, values, columns = fields
        with self.editing(path) as workbook:
            source, area = source_of(workbook, worksheet(workbook, name), data_range)
            return add_pivot(workbook, source, area, rows, values, columns, function)

    @_apart
    def create_chart(
        self, path: str, name: str, data_range: str, kind: str, target: str, titles: tuple[str, str, str]
    ) -> None:
        """Draw a chart of an area on a sheet."""
        for title in titles:
            check_value(title, "title")
        with self.editing(path) as workbook:
            sheet = worksheet(workbook, name)
            source, area = source_of(workbook, sheet, data_range)
            add_chart(sheet, source, area, kind, target, titles)

    def _check_suffix(self, path: str) -> None:
        if PurePosixPath(path).suffix.lower() not in SUFFIXES:
            raise Invalid(f"{path} is not an Excel workbook; its name must end with {', '.join(SUFFIXES)}.")
