"""Tables written as comma-separated values."""

from __future__ import annotations

import csv
import io


def csv_lines(text: str) -> list[list[str]]:
    """The lines of a table, cell by cell; a blank one counts unless only blank ones follow."""
    lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    while lines and not any(cell.strip() for cell in lines[-1]):
        lines.pop()
    return lines
