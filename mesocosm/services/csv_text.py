"""Tables written as comma-separated values."""

from __future__ import annotations

import csv
import io


def csv_lines(text: str) -> list[list[str]]:
    """The lines of a table, cell by cell; a blank one counts unless only blank ones follow.

    What nobody reads as a table (a cell of more than 131,072 characters) is one cell.
    """
    try:
        lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    except csv.Error:
        return [[text]]
    while lines and not any(cell.strip() for cell in lines[-1]):
        lines.pop()
    return lines
