"""Tables, pivot tables and charts."""

from __future__ import annotations

from mesocosm.servers.excel.store import ExcelStore
from mesocosm.servers.excel.store.cells import parse_area
from mesocosm.servers.excel.tools.service import Filepath, SheetName, server
from mesocosm.services.schema import Nullable


@server.writes
def create_chart(
    store: ExcelStore,
    filepath: Filepath,
    sheet_name: str,
    data_range: str,
    chart_type: str,
    target_cell: str,
    title: str = "",
    x_axis: str = "",
    y_axis: str = "",
) -> str:
    """Draw a chart of a range: its first row names the series, its first column holds the categories.

    Args:
        sheet_name: The worksheet to draw on.
        data_range: The data, such as A1:C10, or on another sheet Data!A1:C10.
        chart_type: line, bar, pie, scatter or area.
        target_cell: The cell at the chart's upper left corner.
        title: Title of the chart.
        x_axis: Title of the horizontal axis.
        y_axis: Title of the vertical axis.
    """
    titles = (title, x_axis, y_axis)
    store.create_chart(filepath, sheet_name, data_range, chart_type, target_cell, titles)
    return f"{chart_type.capitalize()} chart created successfully"


@server.writes(destructive=True, idempotent=True)
def create_pivot_table(
    store: ExcelStore,
    filepath: Filepath,
    sheet_name: str,
    data_range: str,
    rows: list[str],
    values: list[str],
    columns: Nullable[list[str]] = None,
    agg_func: str = "mean",
) -> str:
    """Summarise data by fields into a new sheet named like this one with _pivot at its end.

    The summary is computed now and does not follow later changes; an earlier summary is replaced.

    Args:
        sheet_name: The worksheet with the data.
        data_range: The data with its headers, such as A1:D100.
        rows: Headers of the fields that make the rows.
        values: Headers of the fields to aggregate.
        columns: Headers of the fields that make the columns.
        agg_func: mean (or average), sum, count, min or max.
    """
    fields = (rows, values, columns or [])
    pivot = store.create_pivot(filepath, sheet_name, data_range, fields, agg_func)
    return f"Summary table created successfully in sheet '{pivot}'"


@server.writes
def create_table(
    store: ExcelStore,
    filepath: Filepath,
    sheet_name: SheetName,
    data_range: str,
    table_name: Nullable[str] = None,
    table_style: str = "TableStyleMedium9",
) -> str:
    """Make an Excel table of a range whose first row holds a different header text in each column.

    Args:
        data_range: The range, such as A1:D5.
        table_name: Name of the table, unique in the workbook; chosen if not given.
        table_style: A style of Excel, such as TableStyleMedium9.
    """
    name = store.create_table(filepath, sheet_name, parse_area(data_range), table_name, table_style)
    return f"Successfully created table '{name}' in sheet '{sheet_name}'."
