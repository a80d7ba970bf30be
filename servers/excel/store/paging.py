"""Reading a range of a sheet page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from mesocosm.errors import Invalid
from mesocosm.servers.excel.store.books import Formula, Sheet, Validation, Value
from mesocosm.servers.excel.store.cells import Area, address, parse_area

PAGE_CELLS = 2_000
PAGE_CHARACTERS = 80_000
"""Limits of one result, whichever is reached first."""
PREVIEW_ROWS = 10
PAGE_RULES = 50
"""Data validation rules shown at once."""

T = TypeVar("T")


@dataclass(frozen=True)
class Reading:
    """One page of a range."""

    area: Area
    """The rows of the page; all columns of the range."""
    cells: Sequence[tuple[int, int, Value]]
    """(row, column, value) of every cell that has a value."""
    rules: Sequence[Validation]
    """The first rules about cells of the page, whether they have a value or not."""
    next_start: str | None
    """Where the next page starts, if there is one."""


def read_page(sheet: Sheet, start: str, end: str | None, *, preview: bool) -> Reading | None:
    """The first page of a range, or ``None`` if the range holds no data."""
    area = _range_of(sheet, start, end)
    if area is None:
        return None
    cells: list[tuple[int, int, Value]] = []
    characters = 0
    for count, (row, values) in enumerate(sheet.within(area)):
        characters += sum(len(str(value)) + 50 for _, value in values)
        full = len(cells) + len(values) > PAGE_CELLS or characters > PAGE_CHARACTERS
        if full and not cells:
            raise _too_wide(row, values, area)
        if full or (preview and count == PREVIEW_ROWS):
            page = area._replace(last_row=row - 1)
            return Reading(page, cells, _rules(sheet, page), address(row, area.first_column))
        cells += [(row, column, value) for column, value in values]
    return Reading(area, cells, _rules(sheet, area), None) if cells else None


def page_of(items: Sequence[T], page: int, size: int) -> Sequence[T]:
    """One page of a list, from 1."""
    pages = max(1, -(-len(items) // size))
    if not 1 <= page <= pages:
        raise Invalid(f"page must be between 1 and {pages}, got {page}.")
    return items[(page - 1) * size : page * size]


def _range_of(sheet: Sheet, start: str, end: str | None) -> Area | None:
    """The range that is meant, cut to where the sheet has data; ``None`` where it has none."""
    area, used = parse_area(start, end), sheet.used
    if used is None:
        return None
    if end is None and ":" not in start:
        whole = start.strip().upper() == "A1"
        first_row, first_column = (used.first_row, used.first_column) if whole else area[:2]
        area = Area(first_row, first_column, used.last_row, used.last_column)
    cut = area._replace(
        last_row=min(area.last_row, used.last_row), last_column=min(area.last_column, used.last_column)
    )
    return cut if cut.first_row <= cut.last_row and cut.first_column <= cut.last_column else None


def _rules(sheet: Sheet, area: Area) -> list[Validation]:
    about = (rule for rule in sheet.validations if any(area.meets(other) for other in rule.areas))
    return list(islice(about, PAGE_RULES))


def _too_wide(row: int, values: Sequence[tuple[int, Any]], area: Area) -> Invalid:
    narrower = values[min(len(values), PAGE_CELLS // 10) - 1][0]
    return Invalid(
        f"Row {row} of {area} alone holds {len(values):,} cells, more than one result can."
        f" Narrow the range, for example with end_cell {address(area.last_row, narrower)}."
    )


def shown_value(value: Value) -> Any:
    """A cell's value as JSON can hold it: dates and times as text, formulas as written."""
    if isinstance(value, Formula):
        return value.text
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and value - value == 0:
        return value
    return str(value)
