"""Workbooks and their sheets."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.excel.store import ExcelStore
from mesocosm.servers.excel.store.cells import address
from mesocosm.servers.excel.tools.service import Filepath, SheetName, server


@server.writes
def create_workbook(store: ExcelStore, filepath: str) -> str:
    """Create a new workbook with one empty sheet, Sheet1.

    Args:
        filepath: The file to create, ending with .xlsx; missing directories are created.
    """
    return f"Created workbook at {store.create_workbook(filepath)}"


@server.writes
def create_worksheet(store: ExcelStore, filepath: Filepath, sheet_name: str) -> str:
    """Add an empty worksheet at the end of a workbook.

    Args:
        sheet_name: Name of the new sheet, at most 31 characters.
    """
    store.create_sheet(filepath, sheet_name)
    return f"Sheet {sheet_name} created successfully"


@server.reads
def get_workbook_metadata(
    store: ExcelStore, filepath: Filepath, include_ranges: bool = False
) -> dict[str, Any]:
    """Show a workbook's sheets, size and time of last change, and on request the used range of each sheet.

    Args:
        include_ranges: Also return the used range of every sheet.
    """
    size, modified = store.size_and_time(filepath)
    names = store.names(filepath)
    result = {
        "filename": filepath.rpartition("/")[2],
        "sheets": names,
        "size": size,
        "modified": f"{modified:%Y-%m-%dT%H:%M:%SZ}",
    }
    if include_ranges:
        result["used_ranges"] = {
            name: f"A1:{address(area.last_row, area.last_column)}" if area else "A1:A1"
            for name, area in store.used(filepath).items()
        }
    return result


@server.writes
def copy_worksheet(store: ExcelStore, filepath: Filepath, source_sheet: str, target_sheet: str) -> str:
    """Copy a worksheet within its workbook, with values, formulas and styles but without charts.

    Args:
        source_sheet: The worksheet to copy.
        target_sheet: Name of the copy.
    """
    store.copy_sheet(filepath, source_sheet, target_sheet)
    return f"Sheet '{source_sheet}' copied to '{target_sheet}'"


@server.writes(destructive=True)
def delete_worksheet(store: ExcelStore, filepath: Filepath, sheet_name: SheetName) -> str:
    """Delete a worksheet; the last one of a workbook cannot be deleted."""
    store.delete_sheet(filepath, sheet_name)
    return f"Sheet '{sheet_name}' deleted"


@server.writes
def rename_worksheet(store: ExcelStore, filepath: Filepath, old_name: str, new_name: str) -> str:
    """Rename a worksheet; formulas that refer to it follow.

    Args:
        old_name: The present name.
        new_name: The new name, at most 31 characters.
    """
    store.rename_sheet(filepath, old_name, new_name)
    return f"Sheet renamed from '{old_name}' to '{new_name}'"
