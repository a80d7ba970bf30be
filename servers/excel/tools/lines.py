"""Inserting and deleting rows and columns."""

from __future__ import annotations

from mesocosm.errors import Invalid
from mesocosm.servers.excel.store import ExcelStore
from mesocosm.servers.excel.tools.service import Filepath, SheetName, server


@server.writes
def insert_rows(
    store: ExcelStore, filepath: Filepath, sheet_name: SheetName, start_row: int, count: int = 1
) -> str:
    """Insert empty rows before a row; everything from there moves down, and formulas follow.

    Args:
        start_row: Number of the row before which to insert, from 1.
        count: How many rows.
    """
    store.shift_lines(filepath, sheet_name, "row", start_row, _positive(count))
    return f"Inserted {count} row(s) starting at row {start_row} in sheet '{sheet_name}'"


@server.writes
def insert_columns(
    store: ExcelStore, filepath: Filepath, sheet_name: SheetName, start_col: int, count: int = 1
) -> str:
    """Insert empty columns before a column; everything from there moves right, and formulas follow.

    Args:
        start_col: Number of the column before which to insert, from 1 (A).
        count: How many columns.
    """
    store.shift_lines(filepath, sheet_name, "column", start_col, _positive(count))
    return f"Inserted {count} column(s) starting at column {start_col} in sheet '{sheet_name}'"


@server.writes(destructive=True)
def delete_sheet_rows(
    store: ExcelStore, filepath: Filepath, sheet_name: SheetName, start_row: int, count: int = 1
) -> str:
    """Delete whole rows; everything below moves up, and formulas follow.

    Args:
        start_row: Number of the first row to delete, from 1.
        count: How many rows.
    """
    store.shift_lines(filepath, sheet_name, "row", start_row, -_positive(count))
    return f"Deleted {count} row(s) starting at row {start_row} in sheet '{sheet_name}'"


@server.writes(destructive=True)
def delete_sheet_columns(
    store: ExcelStore, filepath: Filepath, sheet_name: SheetName, start_col: int, count: int = 1
) -> str:
    """Delete whole columns; everything to the right moves left, and formulas follow.

    Args:
        start_col: Number of the first column to delete, from 1 (A).
        count: How many columns.
    """
    store.shift_lines(filepath, sheet_name, "column", start_col, -_positive(count))
    return f"Deleted {count} column(s) starting at column {start_col} in sheet '{sheet_name}'"


def _positive(count: int) -> int:
    if count < 1:
        raise Invalid("Count must be 1 or greater")
    return count
