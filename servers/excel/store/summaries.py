"""Tables, pivot tables and charts: views of the data of a sheet."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText
from openpyxl.chart import AreaChart, BarChart, LineChart, PieChart, Reference, ScatterChart, Series
from openpyxl.chart.label import DataLabelList
from openpyxl.chart.legend import Legend
from openpyxl.styles import Font
from openpyxl.worksheet.table import Table, TableStyleInfo
from openpyxl.worksheet.worksheet import Worksheet

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.excel.store.cells import Area, address, check_fits, check_size, parse_cell
from mesocosm.servers.excel.store.reference_shifts import to_area
from mesocosm.services.schema import as_json

CHARTS: dict[str, Callable[[], Any]] = {
    "line": LineChart,
    "bar": BarChart,
    "pie": PieChart,
    "scatter": ScatterChart,
    "area": AreaChart,
}
MAX_SERIES = 250

_TABLE_NAME = re.compile(r"[^\W\d][\w.]{0,254}|\\")
_TABLE_STYLE = re.compile(
    r"TableStyle(?:Light(?:1?[0-9]|2[01])|Medium(?:1?[0-9]|2[0-8])|Dark(?:[0-9]|1[01]))"
)
_SUFFIX = re.compile(r" \((?:sum|average|mean|count|min|max)\)$", re.IGNORECASE)

Aggregate = Callable[[Sequence[float]], float]


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def _sum(numbers: Sequence[float]) -> float:
    return sum(numbers) if all(isinstance(number, int) for number in numbers) else math.fsum(numbers)


AGGREGATES: dict[str, Aggregate] = {
    "sum": _sum,
    "mean": _mean,
    "average": _mean,
    "count": len,
    "min": min,
    "max": max,
}


def add_table(workbook: Workbook, sheet: Worksheet, area: Area, name: str | None, style: str) -> str:
    """Make an Excel table of an area whose first row holds the headers; returns its name."""
    taken = _table_names(workbook)
    if name is None:
        name = _free_name("Table", taken)
    if not _TABLE_NAME.fullmatch(name) or re.fullmatch(r"[A-Za-z]{1,3}[0-9]+|[RrCc]", name):
        raise Invalid(f"Invalid table name {name!r}: letters, digits, _ and . only, and not like a cell.")
    if name.casefold() in taken:
        raise Conflict(f"Table name '{name}' already exists.")
    if not _TABLE_STYLE.fullmatch(style):
        raise Invalid(f"Unknown table style {style!r}; expected something like TableStyleMedium9.")
    if area.first_row == area.last_row:
        raise Invalid("A table needs a row of headers and at least one row below it.")
    for other in sheet.tables.values():
        if area.meets(to_area(other.ref)):
            raise Conflict(f"{area} overlaps the table '{other.displayName}'.")
    for merged in sheet.merged_cells.sorted():
        if area.meets(to_area(str(merged))):
            raise Conflict(f"{area} overlaps the merged range {merged}.")
    _check_headers(sheet, area)
    table = Table(displayName=name, ref=str(area))
    table.tableStyleInfo = TableStyleInfo(
        name=style, showFirstColumn=False, showLastColumn=False, showRowStripes=True, showColumnStripes=False
    )
    sheet.add_table(table)
    return name


def _table_names(workbook: Workbook) -> set[str]:
    """Names that a new table may not have."""
    names = {name.casefold() for name in workbook.defined_names}
    return names | {name.casefold() for sheet in workbook.worksheets for name in sheet.tables}


def _free_name(stem: str, taken: set[str]) -> str:
    number = 1
    while f"{stem}{number}".casefold() in taken:
        number += 1
    return f"{stem}{number}"


def _value(sheet: Worksheet, row: int, column: int) -> Any:
    """Return a cell's value; the plain text of rich text."""
    value = sheet.cell(row, column).value
    return str(value) if isinstance(value, CellRichText) else value


def _check_headers(sheet: Worksheet, area: Area) -> None:
    seen: set[str] = set()
    for column in range(area.first_column, area.last_column + 1):
        value = _value(sheet, area.first_row, column)
        place = address(area.first_row, column)
        if not isinstance(value, str) or not value:
            raise Invalid(f"{place} must hold the text of a header, got {as_json(value)}.")
        if value.casefold() in seen:
            raise Invalid(f"The header {value!r} at {place} is there twice.")
        seen.add(value.casefold())


# -- pivot tables ---------------------------------------------------------------------------------------


def add_pivot(
    workbook: Workbook,
    sheet: Worksheet,
    area: Area,
    rows: Sequence[str],
    values: Sequence[str],
    columns: Sequence[str],
    function: str,
) -> str:
    """Summarise an area on a sheet of its own, which replaces an earlier summary; returns its name."""
    if function.lower() not in AGGREGATES:
        raise Invalid(f"Invalid aggregation function. Must be one of: {', '.join(AGGREGATES)}")
    if not rows or not values:
        raise Invalid("rows and values must each name at least one field.")
    headers, records = _records(sheet, area)
    row_fields = [_field(name, headers, "row") for name in rows]
    value_fields = [_field(name, headers, "value") for name in values]
    column_fields = [_field(name, headers, "column") for name in columns]
    grid = _pivot_grid(headers, records, row_fields, column_fields, value_fields, function.lower())
    check_size(Area(1, 1, len(grid), len(grid[0])))
    check_fits(len(grid), len(grid[0]))
    title = f"{sheet.title[:25]}_pivot"
    if title in workbook.sheetnames:
        del workbook[title]
    pivot = workbook.create_sheet(title)
    for number, line in enumerate(grid, start=1):
        for column, value in enumerate(line, start=1):
            cell = pivot.cell(number, column, value)
            if number == 1:
                cell.font = Font(bold=True)
    whole = Area(1, 1, len(grid), len(grid[0]))
    name = _free_name("PivotTable_", _table_names(workbook))
    table = Table(displayName=name, ref=str(whole))
    table.tableStyleInfo = TableStyleInfo(
        name="TableStyleMedium9", showRowStripes=True, showColumnStripes=True
    )
    pivot.add_table(table)
    return title


Record = tuple[Any, ...]


def _records(sheet: Worksheet, area: Area) -> tuple[list[str], list[Record]]:
    check_size(area)
    lines = [
        tuple(_value(sheet, row, column) for column in range(area.first_column, area.last_column + 1))
        for row in range(area.first_row, min(area.last_row, sheet.max_row) + 1)
    ]
    lines = [line for line in lines if any(value is not None for value in line)]
    if len(lines) < 2:
        raise Invalid("Source data must have a header row and at least one data row.")
    return ["" if value is None else str(value) for value in lines[0]], lines[1:]


def _field(name: str, headers: Sequence[str], kind: str) -> int:
    """The column of a field; the name may bear the suffix that an earlier summary gave it."""
    for wanted in (name, _SUFFIX.sub("", name.strip())):
        for index, header in enumerate(headers):
            if header and header.casefold() == wanted.casefold():
                return index
    known = ", ".join(header for header in headers if header)
    raise Invalid(f"Invalid {kind} field '{name}'. Available fields: {known}")


def _pivot_grid(
    headers: Sequence[str],
    records: Sequence[Record],
    rows: Sequence[int],
    columns: Sequence[int],
    values: Sequence[int],
    function: str,
) -> list[list[Any]]:
    """The lines of the summary, the first of them the headers."""
    groups: dict[tuple[Record, Record, int], list[float]] = {}
    row_keys: dict[Record, None] = {}
    column_keys: dict[Record, None] = {}
    for record in records:
        row_key = tuple(record[field] for field in rows)
        column_key = tuple(record[field] for field in columns)
        row_keys[row_key] = column_keys[column_key] = None
        for field in values:
            number = record[field]
            if isinstance(number, int | float) and not isinstance(number, bool):
                groups.setdefault((row_key, column_key, field), []).append(number)
    cells = [(column_key, field) for column_key in sorted(column_keys, key=_order) for field in values]
    header = [headers[field] for field in rows]
    for column_key, field in cells:
        prefix = " / ".join("" if part is None else str(part) for part in column_key)
        header.append(
            f"{prefix} - {headers[field]} ({function})" if prefix else f"{headers[field]} ({function})"
        )
    _make_unique(header)
    aggregate = AGGREGATES[function]
    grid: list[list[Any]] = [list(header)]
    for row_key in sorted(row_keys, key=_order):
        line: list[Any] = list(row_key)
        for column_key, field in cells:
            numbers = groups.get((row_key, column_key, field))
            line.append(aggregate(numbers) if numbers else (0 if function in ("sum", "count") else None))
        grid.append(line)
    return grid


def _make_unique(headers: list[str]) -> None:
    seen: set[str] = set()
    for index, header in enumerate(headers):
        number, name = 2, header
        while name.casefold() in seen:
            name, number = f"{header} {number}", number + 1
        seen.add(name.casefold())
        headers[index] = name


def _order(key: Record) -> tuple[tuple[int, Any], ...]:
    """Numbers before times before text before nothing; equal kinds by value."""
    return tuple(_rank(value) for value in key)


def _rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, int | float):
        return 0, value
    if value is None:
        return 3, ""
    return (2, value) if isinstance(value, str) else (1, str(value))


# -- charts ---------------------------------------------------------------------------------------------


def add_chart(
    sheet: Worksheet,
    source: Worksheet,
    area: Area,
    kind: str,
    target: str,
    titles: tuple[str, str, str],
) -> None:
    """Draw a chart of an area with series names in the first row and categories in the first column.

    ``titles`` are those of the chart and of its two axes; an empty one is left out.
    """
    if kind.lower() not in CHARTS:
        raise Invalid(f"Unsupported chart type: {kind}. Supported types: {', '.join(CHARTS)}")
    if area.first_row == area.last_row or area.first_column == area.last_column:
        raise Invalid("data_range needs a row of headers, a column of categories, and data beside them.")
    if area.last_column - area.first_column > MAX_SERIES:
        raise Invalid(f"A chart can have {MAX_SERIES} series, one for each column after the first.")
    row, column = parse_cell(target, "target cell")
    chart = CHARTS[kind.lower()]()
    _fill_chart(chart, source, area, scatter=kind.lower() == "scatter")
    chart.title = titles[0] or None
    if hasattr(chart, "x_axis"):
        chart.x_axis.title, chart.y_axis.title = titles[1] or None, titles[2] or None
        # Without this, newer versions of Excel show no axes.
        chart.x_axis.delete = chart.y_axis.delete = False
    chart.legend = Legend()
    chart.dataLabels = DataLabelList()
    chart.dataLabels.showVal = True
    chart.width, chart.height = 15, 7.5
    sheet.add_chart(chart, address(row, column))


def _fill_chart(chart: Any, source: Worksheet, area: Area, *, scatter: bool) -> None:
    first, left = area.first_row, area.first_column
    categories = Reference(source, min_row=first + 1, max_row=area.last_row, min_col=left)
    if not scatter:
        data = Reference(
            source, min_row=first, max_row=area.last_row, min_col=left + 1, max_col=area.last_column
        )
        chart.add_data(data, titles_from_data=True)
        chart.set_categories(categories)
        return
    for column in range(left + 1, area.last_column + 1):
        values = Reference(source, min_row=first, max_row=area.last_row, min_col=column)
        chart.series.append(Series(values, categories, title_from_data=True))
