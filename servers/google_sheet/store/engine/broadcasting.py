"""Functions of single values over arrays, as within ARRAYFORMULA and SUMPRODUCT.

The library computes operators over arrays, but most functions for one value only. What such a function gives
for each element is computed by the library too: in a workbook of its own, one line for each element.
"""

from __future__ import annotations

from typing import Any

import formualizer

from mesocosm.servers.google_sheet.store.cell_input import moment_of, serial_of
from mesocosm.servers.google_sheet.store.engine.google_functions import Failure
from mesocosm.servers.google_sheet.store.ranges import letters

MAX_ELEMENTS = 200_000

_EVERY = (
    *("LEN", "UPPER", "LOWER", "PROPER", "TRIM", "CLEAN", "LEFT", "RIGHT", "MID", "SUBSTITUTE", "REPLACE"),
    *("REPT", "FIND", "SEARCH", "EXACT", "CODE", "T", "N", "TEXT", "DOLLAR", "FIXED", "CONCATENATE"),
    *("ROUND", "ROUNDUP", "ROUNDDOWN", "TRUNC", "INT", "ABS", "SIGN", "SQRT", "EXP", "LN", "LOG", "LOG10"),
    *("MOD", "QUOTIENT", "POWER", "CEILING", "FLOOR", "MROUND", "EVEN", "ODD", "ISEVEN", "ISODD", "FACT"),
    *("SIN", "COS", "TAN", "DEGREES", "RADIANS", "YEAR", "MONTH", "DAY", "WEEKDAY", "WEEKNUM"),
    *("ISOWEEKNUM", "HOUR", "MINUTE", "SECOND", "DATE", "TIME", "DATEVALUE", "TIMEVALUE", "EDATE"),
    *("EOMONTH", "DATEDIF", "DAYS", "YEARFRAC", "NOT", "ISNUMBER", "ISTEXT", "ISBLANK", "ISERROR", "ISERR"),
    *("ISNA", "ISLOGICAL", "IFS", "SWITCH", "CHOOSE"),
)
SCALARS: dict[str, tuple[int, ...] | None] = {
    **dict.fromkeys(_EVERY),
    **dict.fromkeys(("VLOOKUP", "HLOOKUP", "LOOKUP", "MATCH", "XLOOKUP", "XMATCH", "RANK"), (0,)),
    **dict.fromkeys(("COUNTIF", "SUMIF", "AVERAGEIF", "LARGE", "SMALL", "PERCENTILE", "QUARTILE"), (1,)),
    "COUNTIFS": (1, 3, 5, 7),
    **dict.fromkeys(("SUMIFS", "AVERAGEIFS", "MINIFS", "MAXIFS"), (2, 4, 6, 8)),
}
"""By function, which of its arguments (from 0) are single values; ``None``: all."""
CONTEXTS = frozenset(
    ("ARRAYFORMULA", "SUMPRODUCT", "FILTER", "SORT", "SORTN", "MMULT", "ARRAY_CONSTRAIN", "UNIQUE")
)
"""Functions in whose arguments arrays are computed element by element."""


def each(function: Any, *values: Any) -> Any:
    """Make a library function work element by element on arrays."""
    name = str(function)
    positions = SCALARS.get(name)
    arrays = {
        number: value
        for number, value in enumerate(values)
        if isinstance(value, list) and (positions is None or number in positions)
    }
    height = max((len(value) for value in arrays.values()), default=1)
    width = max((len(value[0]) for value in arrays.values()), default=1)
    if height * width > MAX_ELEMENTS:
        raise Failure("Num", "The array is too large.")
    book = formualizer.Workbook()
    book.add_sheet("S")
    arguments: list[str] = []
    block: list[list[Any]] = [[] for _ in range(height * width)]
    for number, value in enumerate(values):
        if number in arrays or not isinstance(value, list):
            arguments.append(f"{letters(len(block[0]))}%d")
            for line, place in zip(block, ((r, c) for r in range(height) for c in range(width)), strict=True):
                line.append(_given(_element(value, *place)))
        else:
            sheet = f"R{number}"
            book.add_sheet(sheet)
            book.set_values_batch(sheet, 1, 1, [[_given(one) for one in row] for row in value])
            arguments.append(f"{sheet}!$A$1:${letters(len(value[0]) - 1)}${len(value)}")
    if block[0]:
        book.set_values_batch("S", 1, 1, block)
    column = len(block[0]) + 1
    formula = f"={name}({','.join(arguments)})"
    lines = range(1, height * width + 1)
    book.set_formulas_batch("S", 1, column, [[formula.replace("%d", str(line))] for line in lines])
    book.evaluate_all()
    found = [_result(book.get_value("S", line, column)) for line in lines]
    if not arrays:
        return found[0]
    return [found[row * width : (row + 1) * width] for row in range(height)]


def _element(value: Any, row: int, column: int) -> Any:
    if not isinstance(value, list):
        return value
    row, column = (0 if len(value) == 1 else row), (0 if len(value[0]) == 1 else column)
    if row >= len(value) or column >= len(value[row]):
        return {"type": "Error", "kind": "Na"}
    return value[row][column]


def _given(value: Any) -> Any:
    if isinstance(value, dict):
        return formualizer.LiteralValue.error(str(value.get("kind", "Value")), None)
    return formualizer.LiteralValue.text(value) if isinstance(value, str) else value


def _result(value: Any) -> Any:
    if isinstance(value, dict):
        return formualizer.LiteralValue.error(str(value.get("kind", "Value")), None)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return serial_of(value) if moment_of(0) and not isinstance(value, list) else None
