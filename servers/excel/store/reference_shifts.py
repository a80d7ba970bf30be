"""Inserting and deleting lines of a sheet, with everything that refers to the cells behind them.

openpyxl moves the cells and nothing else; here merged ranges, formulas of all sheets, validation and format
rules, tables, filters, charts, names and the sizes of rows and columns follow, as they do in Excel.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, Literal

from openpyxl import Workbook
from openpyxl.formatting.formatting import ConditionalFormattingList
from openpyxl.formula.tokenizer import Token, Tokenizer, TokenizerError
from openpyxl.utils import column_index_from_string, get_column_letter, quote_sheetname
from openpyxl.worksheet.cell_range import MultiCellRange
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.merge import MergedCellRange
from openpyxl.worksheet.worksheet import Worksheet

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.excel.store.cells import MAX_COLUMN, MAX_ROW, Area

BROKEN = "#REF!"

_REFERENCE = re.compile(
    r"(?:(?P<sheet>'(?:[^']|'')+'|[^'!]+)!)?"
    r"(?P<a>\$?[A-Za-z]{1,3}\$?[0-9]{1,7}|\$?[A-Za-z]{1,3}(?=:)|\$?[0-9]{1,7}(?=:))"
    r"(?::(?P<b>\$?[A-Za-z]{1,3}\$?[0-9]{1,7}|\$?[A-Za-z]{1,3}|\$?[0-9]{1,7}))?"
)
_POINT = re.compile(r"(\$?)([A-Za-z]*)(\$?)([0-9]*)")

Rewrite = Callable[[str, re.Match[str]], str | None]
"""From the sheet that a reference is to and its parts to the new reference; ``None`` leaves it."""


@dataclass(frozen=True)
class Shift:
    """Lines that are inserted (``count`` > 0) or deleted (``count`` < 0) at a position."""

    axis: Literal["row", "column"]
    at: int
    count: int
    band: tuple[int, int] | None = None
    """Only cells in these columns (for rows) or rows (for columns) are shifted; all, if not given."""

    def span(self, first: int, last: int) -> tuple[int, int] | None:
        """Return the lines' position afterwards; ``None`` if all were deleted."""
        if self.count > 0:
            return first + self.count * (first >= self.at), last + self.count * (last >= self.at)
        stop = self.at - self.count
        new_first = first if first < self.at else max(self.at, first + self.count)
        new_last = last if last < self.at else (self.at - 1 if last < stop else last + self.count)
        return (new_first, new_last) if new_first <= new_last else None

    def area(self, area: Area) -> Area | None:
        """Return an area's position afterwards. One that is not wholly in the band stays."""
        along, across = (area.first_row, area.last_row), (area.first_column, area.last_column)
        if self.axis == "column":
            along, across = across, along
        if self.band and not (self.band[0] <= across[0] and across[1] <= self.band[1]):
            return area
        if (span := self.span(*along)) is None:
            return None
        if self.axis == "row":
            return area._replace(first_row=span[0], last_row=min(span[1], MAX_ROW))
        return area._replace(first_column=span[0], last_column=min(span[1], MAX_COLUMN))

    def text(self, ranges: str) -> str:
        """Ranges separated by blanks, afterwards."""
        areas = (self.area(to_area(part)) for part in ranges.split())
        return " ".join(short(area) for area in areas if area)


def shift(workbook: Workbook, sheet: Worksheet, change: Shift) -> None:
    """Insert or delete lines of a sheet, or of a band of it."""
    if change.count > 0:
        _check_room(sheet, change)
    _check_tables(sheet, change)
    merged = [to_area(str(area)) for area in sheet.merged_cells.sorted()]
    _check_straddling(merged, change)
    _unmerge_all(sheet)
    _move_cells(sheet, change)
    moved = (change.area(area) for area in merged)
    _merge_all(sheet, [area for area in moved if area and area.size > 1])
    _shift_rules(sheet, change)
    if not change.band:
        _shift_sizes(sheet, change)
    _rewrite_all(workbook, _shifted_reference(sheet.title, change))


def rename(workbook: Workbook, sheet: Worksheet, name: str) -> None:
    """Give a sheet another name, in all formulas too."""
    old = sheet.title

    def rewrite(title: str, reference: re.Match[str]) -> str | None:
        if title.casefold() != old.casefold() or not reference["sheet"]:
            return None
        return quote_sheetname(name) + "!" + reference[0].rpartition("!")[2]

    _rewrite_all(workbook, rewrite)
    # openpyxl takes the sheet's own name in other capitals for that of another sheet, and adds a number.
    taken = {title.casefold() for title in workbook.sheetnames}
    sheet.title = next(free for number in count() if (free := f"Renamed {number}").casefold() not in taken)
    sheet.title = name


def delete_sheet(workbook: Workbook, sheet: Worksheet) -> None:
    """Delete a sheet; formulas that referred to it are broken, as in Excel."""
    title = sheet.title

    def rewrite(target: str, reference: re.Match[str]) -> str | None:
        return BROKEN if target.casefold() == title.casefold() and reference["sheet"] else None

    workbook.remove(sheet)
    _rewrite_all(workbook, rewrite)


def to_area(reference: str) -> Area:
    """The area of a range without a sheet; whole columns and rows are allowed."""
    start, _, end = reference.replace("$", "").partition(":")
    a, b = _POINT.fullmatch(start), _POINT.fullmatch(end or start)
    if not a or not b:
        raise Invalid(f"Not a range: {reference}")
    return Area(
        int(a[4] or 1),
        column_index_from_string(a[2]) if a[2] else 1,
        int(b[4] or MAX_ROW),
        column_index_from_string(b[2]) if b[2] else MAX_COLUMN,
    )


def short(area: Area) -> str:
    """The range's name, or the cell's if it is only one."""
    return str(area) if area.size > 1 else str(area).partition(":")[0]


def _check_room(sheet: Worksheet, change: Shift) -> None:
    last, limit = (sheet.max_row, MAX_ROW) if change.axis == "row" else (sheet.max_column, MAX_COLUMN)
    if max(last, change.at - 1) + change.count > limit:
        raise Invalid(f"Inserting {change.count:,} would push cells off the sheet, which ends at {limit:,}.")


def _check_tables(sheet: Worksheet, change: Shift) -> None:
    for table in sheet.tables.values():
        area = to_area(table.ref)
        header = area._replace(last_row=area.first_row)
        moved = change.area(area)
        cut = change.band is not None and _touched(area, change)
        headless = change.axis == "row" and change.count < 0 and moved and not change.area(header)
        narrower = (
            change.axis == "column"
            and moved
            and moved.last_column - moved.first_column != (area.last_column - area.first_column)
        )
        if cut or headless or narrower:
            raise Conflict(f"This would change the columns or the header of the table '{table.displayName}'.")


def _touched(area: Area, change: Shift) -> bool:
    """True if moving or deleting the band affects cells of an area."""
    low, high = change.band or (1, MAX_ROW)
    if change.axis == "row":
        return area.last_row >= change.at and area.first_column <= high and area.last_column >= low
    return area.last_column >= change.at and area.first_row <= high and area.last_row >= low


def _check_straddling(merged: list[Area], change: Shift) -> None:
    if change.band:
        for area in merged:
            if _touched(area, change) and change.area(area) == area:
                raise Conflict(
                    f"The merged range {area} lies across the cells to be shifted; unmerge it first."
                )


def _unmerge_all(sheet: Worksheet) -> None:
    """Unmerge all ranges, without searching each among the others as ``unmerge_cells`` does."""
    for area in sheet.merged_cells.ranges:
        for row, column in islice(area.cells, 1, None):
            sheet._cells.pop((row, column), None)
    sheet.merged_cells = MultiCellRange()


def _merge_all(sheet: Worksheet, areas: Iterable[Area]) -> None:
    """Merge ranges, without the overlap search of ``merge_cells``."""
    ranges = [MergedCellRange(sheet, str(area)) for area in areas]
    for one in ranges:
        sheet._clean_merge_range(one)  # type: ignore[attr-defined]
    sheet.merged_cells = MultiCellRange(ranges)


def _move_cells(sheet: Worksheet, change: Shift) -> None:
    """Delete cells and close the gap, or open one, looking only at cells that exist.

    openpyxl goes over all places between them, and makes a cell of each.
    """
    rows = change.axis == "row"
    low, high = change.band or (1, MAX_ROW)
    stop = change.at - min(change.count, 0)
    places = sorted(((cell.row, cell.column) for cell in _cells(sheet)), reverse=change.count > 0)
    for row, column in places:
        along, across = (row, column) if rows else (column, row)
        if not low <= across <= high or along < change.at:
            continue
        cell = sheet._cells.pop((row, column))
        if along >= stop:
            cell.row, cell.column = (row + change.count, column) if rows else (row, column + change.count)
            sheet._cells[cell.row, cell.column] = cell
    for cell in _cells(sheet):
        if cell.hyperlink:
            cell.hyperlink.ref = cell.coordinate


def _cells(sheet: Worksheet) -> list[Any]:
    """The cells that exist, without making those between them."""
    return list(sheet._cells.values())


def _shift_rules(sheet: Worksheet, change: Shift) -> None:
    for rule in list(sheet.data_validations.dataValidation):
        ranges = change.text(str(rule.sqref))
        rule.sqref = MultiCellRange(ranges)
        if not ranges:
            sheet.data_validations.dataValidation.remove(rule)
    formats = ConditionalFormattingList()
    for entry in sheet.conditional_formatting:
        if ranges := change.text(str(entry.sqref)):
            for rule in entry.rules:
                formats.add(ranges, rule)
    sheet.conditional_formatting = formats
    for name in list(sheet.tables):
        table = sheet.tables[name]
        ref = change.text(table.ref)
        if not ref:
            del sheet.tables[name]
            continue
        table.ref = ref
        if table.autoFilter is not None and table.autoFilter.ref:
            table.autoFilter.ref = change.text(table.autoFilter.ref) or ref
    if sheet.auto_filter.ref:
        sheet.auto_filter.ref = change.text(sheet.auto_filter.ref) or None
    if sheet.print_area:
        printed = (part.rpartition("!")[2] for part in sheet.print_area.replace("$", "").split(","))
        sheet.print_area = change.text(" ".join(printed)) or None


def _shift_sizes(sheet: Worksheet, change: Shift) -> None:
    """Heights of rows and widths of columns go with them."""
    if change.axis == "row":
        rows = [sheet.row_dimensions[number] for number in sorted(sheet.row_dimensions)]
        sheet.row_dimensions.clear()
        for row in rows:
            if span := change.span(row.index, row.index):
                row.index = span[0]
                sheet.row_dimensions[span[0]] = row
        return
    columns = sorted(sheet.column_dimensions.values(), key=lambda column: column.min or 0)
    sheet.column_dimensions.clear()
    for column in columns:
        first = column.min or column_index_from_string(column.index)
        if span := change.span(first, column.max or first):
            column.min, column.max = span
            column.index = get_column_letter(span[0])
            sheet.column_dimensions[column.index] = column


# -- formulas -------------------------------------------------------------------------------------------


def _shifted_reference(sheet: str, change: Shift) -> Rewrite:
    def rewrite(title: str, reference: re.Match[str]) -> str | None:
        if title.casefold() != sheet.casefold():
            return None
        a, b = reference["a"], reference["b"]
        area = to_area(f"{a}:{b}" if b else a)
        moved = change.area(area)
        if moved == area:
            return None
        prefix = reference["sheet"] + "!" if reference["sheet"] else ""
        if moved is None:
            return prefix + BROKEN
        start = _spelled(a, moved.first_row, moved.first_column)
        return prefix + (start + ":" + _spelled(b, moved.last_row, moved.last_column) if b else start)

    return rewrite


def _spelled(point: str, row: int, column: int) -> str:
    """A position in the way that ``point`` was written: with its dollar signs, row or column only."""
    found = _POINT.fullmatch(point)
    assert found
    if not found[2]:  # a whole row, whose dollar sign the pattern has taken for the column's
        return f"{found[1]}{row}"
    return found[1] + get_column_letter(column) + (f"{found[3]}{row}" if found[4] else "")


def _rewrite_all(workbook: Workbook, rewrite: Rewrite) -> None:
    """Rewrite the references in every formula of a workbook."""
    for sheet in workbook.worksheets:
        title = sheet.title
        for cell in _cells(sheet):
            if isinstance(cell.value, ArrayFormula):
                cell.value.text = _rewritten(cell.value.text or "", title, rewrite)
                cell.value.ref = cell.coordinate if ":" not in cell.value.ref else cell.value.ref
            elif cell.data_type == "f" and isinstance(cell.value, str):
                cell.value = _rewritten(cell.value, title, rewrite)
        for holder, attribute in _formula_attributes(sheet):
            text = getattr(holder, attribute)
            if isinstance(text, str) and text:
                setattr(holder, attribute, _rewritten("=" + text, title, rewrite)[1:])
        for entry in sheet.conditional_formatting:
            for rule in entry.rules:
                rule.formula = [_rewritten("=" + text, title, rewrite)[1:] for text in rule.formula]
        for name in sheet.defined_names.values():
            name.attr_text = _rewritten(f"={name.attr_text}", title, rewrite)[1:]
    for name in workbook.defined_names.values():
        name.attr_text = _rewritten(f"={name.attr_text}", "", rewrite)[1:]


def _formula_attributes(sheet: Worksheet) -> Iterator[tuple[Any, str]]:
    """Yield the places where validation rules and charts keep formulas."""
    for rule in sheet.data_validations.dataValidation:
        yield rule, "formula1"
        yield rule, "formula2"
    charts: list[Any] = getattr(sheet, "_charts", [])
    for chart in charts:
        for series in chart.series:
            title = series.tx.strRef if series.tx else None
            sources = [title]
            for part in ("cat", "val", "xVal", "yVal"):
                data = getattr(series, part, None)
                sources += [getattr(data, "numRef", None), getattr(data, "strRef", None)]
            yield from ((source, "f") for source in sources if source is not None)


def _rewritten(formula: str, sheet: str, rewrite: Rewrite) -> str:
    try:
        tokenizer = Tokenizer(formula)
    except (TokenizerError, IndexError, AssertionError):
        return formula  # nobody can say what it refers to
    for token in tokenizer.items:
        if token.type == Token.OPERAND and token.subtype == Token.RANGE:
            reference = _REFERENCE.fullmatch(token.value)
            if reference:
                title = reference["sheet"] or sheet
                if title.startswith("'"):
                    title = title[1:-1].replace("''", "'")
                token.value = rewrite(title, reference) or token.value
    return "=" + "".join(token.value for token in tokenizer.items)
