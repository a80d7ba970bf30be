"""Values, formulas and ranges."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.excel.store import PAGE_RULES, ExcelStore, Reading, shown_value
from mesocosm.servers.excel.store.books import Formula, Validation, Value
from mesocosm.servers.excel.store.cells import address, parse_area
from mesocosm.servers.excel.store.formulas import check_syntax
from mesocosm.servers.excel.tools.service import Filepath, SheetName, StartCell, server
from mesocosm.services.schema import Cell, Nullable

MAX_SHOWN = 1_000
"""Characters that are shown of each text of a data validation rule."""


@server.reads(long=True)
def read_data_from_excel(
    store: ExcelStore,
    filepath: Filepath,
    sheet_name: SheetName,
    start_cell: str = "A1",
    end_cell: Nullable[str] = None,
    preview_only: bool = False,
) -> dict[str, Any] | str:
    """Read the cells of a worksheet that hold something, with their addresses.

    Returns {range, sheet_name, cells: [{address, value, row, column}]}. Empty cells are left out. Formulas
    are returned as written, with computed_value where the file has one. Data validation rules about the
    range are in validation_rules; a cell under one has validation.rule, its index there. A large range comes
    in pages: while next_start_cell is returned, call again with it as start_cell and the same end_cell.

    Args:
        start_cell: The first cell, such as A1, or a range such as A1:C20.
        end_cell: The last cell; without it, everything to the end of the data.
        preview_only: Return only the first 10 rows that hold something.
    """
    reading = store.read(filepath, sheet_name, start_cell, end_cell, preview=preview_only)
    if reading is None:
        return "No data found in specified range"
    result: dict[str, Any] = {
        "range": str(reading.area),
        "sheet_name": sheet_name,
        "cells": [_cell(reading, *cell) for cell in reading.cells],
    }
    if reading.rules:
        result["validation_rules"] = [_rule(store, filepath, sheet_name, rule) for rule in reading.rules]
    if reading.next_start:
        result |= {"truncated": True, "next_start_cell": reading.next_start}
    return result


def _cell(reading: Reading, row: int, column: int, value: Value) -> dict[str, Any]:
    cell = {"address": address(row, column), "value": shown_value(value), "row": row, "column": column}
    if isinstance(value, Formula) and value.computed is not None:
        cell["computed_value"] = shown_value(value.computed)
    for index, rule in enumerate(reading.rules):
        if rule.covers(row, column):
            cell["validation"] = {"has_validation": True, "rule": index}
            break
    return cell


def _rule(store: ExcelStore, path: str, sheet: str, rule: Validation) -> dict[str, Any]:
    given = rule.attributes
    kind = given.get("type", "none")
    shown: dict[str, Any] = {
        "ranges": rule.ranges[:MAX_SHOWN],
        "validation_type": kind,
        "allow_blank": given.get("allowBlank", "0") in ("1", "true"),
    }
    if kind == "list":
        shown["allowed_values"] = store.allowed_values(path, sheet, rule)
    elif rule.formula1:
        shown |= {"operator": given.get("operator", "between"), "formula1": rule.formula1[:MAX_SHOWN]}
        if rule.formula2:
            shown["formula2"] = rule.formula2[:MAX_SHOWN]
    texts = {
        "prompt": given.get("prompt"),
        "prompt_title": given.get("promptTitle"),
        "error_message": given.get("error"),
        "error_title": given.get("errorTitle"),
    }
    return shown | {name: text[:MAX_SHOWN] for name, text in texts.items() if text}


@server.reads
def get_data_validation_info(
    store: ExcelStore, filepath: Filepath, sheet_name: SheetName, page: int = 1
) -> dict[str, Any] | str:
    """List the data validation rules of a worksheet: which cells they are about and what they allow.

    Args:
        page: Which fifty of the rules to list, from 1.
    """
    rules, total = store.validations(filepath, sheet_name, page)
    if not rules:
        return "No data validation rules found in this worksheet"
    shown = [_rule(store, filepath, sheet_name, rule) for rule in rules]
    result: dict[str, Any] = {"sheet_name": sheet_name, "validation_rules": shown}
    return result | {"next_page": page + 1} if page * PAGE_RULES < total else result


@server.writes(destructive=True, idempotent=True)
def apply_formula(
    store: ExcelStore, filepath: Filepath, sheet_name: SheetName, cell: str, formula: str
) -> str:
    """Put a formula into a cell after checking its syntax. The formula is stored, not computed.

    Args:
        cell: The cell, such as D2.
        formula: The formula, such as =SUM(A1:A10).
    """
    applied = store.apply_formula(filepath, sheet_name, cell, formula)
    return f"Applied formula '{applied}' to cell {cell}"


@server.reads
def validate_formula_syntax(
    store: ExcelStore, filepath: Filepath, sheet_name: SheetName, cell: str, formula: str
) -> str:
    """Check the syntax of a formula without writing it, and whether the cell holds it already.

    Args:
        cell: The cell that the formula is meant for.
        formula: The formula, beginning with =.
    """
    check_syntax(formula, cell)
    current = store.formula_of(filepath, sheet_name, cell)
    if current is None:
        return "Formula is valid but cell contains no formula"
    if current == formula:
        return "Formula is valid and matches cell content"
    return "Formula is valid but doesn't match cell content"


@server.writes(destructive=True, idempotent=True)
def copy_range(
    store: ExcelStore,
    filepath: Filepath,
    sheet_name: str,
    source_start: str,
    source_end: str,
    target_start: str,
    target_sheet: Nullable[str] = None,
) -> str:
    """Copy cells with their styles to another place; formulas follow to their new place as in Excel.

    Args:
        sheet_name: The worksheet to copy from.
        source_start: First cell to copy.
        source_end: Last cell to copy.
        target_start: Where the first cell goes.
        target_sheet: The worksheet to copy to; the same one if not given.
    """
    store.copy_range(filepath, sheet_name, parse_area(source_start, source_end), target_start, target_sheet)
    return "Range copied successfully"


@server.writes(destructive=True)
def delete_range(
    store: ExcelStore,
    filepath: Filepath,
    sheet_name: SheetName,
    start_cell: str,
    end_cell: str,
    shift_direction: str = "up",
) -> str:
    """Delete a range of cells and close the gap with the cells below it or to its right.

    Args:
        start_cell: First cell to delete.
        end_cell: Last cell to delete.
        shift_direction: up moves the cells below up, left moves the cells to the right to the left.
    """
    area = parse_area(start_cell, end_cell)
    store.delete_range(filepath, sheet_name, area, shift_direction)
    return f"Range {area} deleted successfully"


@server.reads
def validate_excel_range(
    store: ExcelStore,
    filepath: Filepath,
    sheet_name: SheetName,
    start_cell: StartCell,
    end_cell: Nullable[str] = None,
) -> str:
    """Check that a range is well formed and lies within the data of a worksheet.

    Args:
        end_cell: Last cell of the range; the first, if not given.
    """
    data = store.check_range(filepath, sheet_name, parse_area(start_cell, end_cell))
    shown = start_cell if end_cell is None else f"{start_cell}:{end_cell}"
    return f"Range '{shown}' is valid. Sheet contains data in range '{data}'"


@server.writes(destructive=True, idempotent=True)
def write_data_to_excel(
    store: ExcelStore,
    filepath: Filepath,
    sheet_name: SheetName,
    data: list[list[Cell]],
    start_cell: str = "A1",
) -> str:
    """Write rows of values into a worksheet, replacing what the cells held.

    A value is text, a number, a boolean or null (which empties the cell); text that begins with = is a
    formula and is not checked. The workbook must exist; a missing sheet is created.

    Args:
        data: The rows, each a list of values.
        start_cell: Where the first value goes.
    """
    store.write(filepath, sheet_name, data, start_cell)
    return f"Data written to {sheet_name}"
