"""Many cells at once: how generators make spreadsheets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.store.cell_input import serial_of
from mesocosm.servers.google_sheet.store.sheets import COLUMNS, ROWS, Book

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore

_INSERT = (
    "INSERT INTO cells (sheet, row, col, kind, number, text, formula, format) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
SPARE = 200
"""Empty rows below the lines of a long sheet: an agent may write some more than there were."""
_MOMENTS = {"DATE": "yyyy-mm-dd", "DATE_TIME": "yyyy-mm-dd h:mm:ss"}


@dataclass(frozen=True)
class NewSheet:
    """A sheet to be made.

    Lines are lists of values: texts, numbers, truth values, days, moments, ``None`` for nothing; a text that
    begins with ``=`` is a formula. ``patterns`` gives columns (from 0) a number format: (type, pattern).
    """

    title: str
    lines: Sequence[Sequence[Any]]
    patterns: Mapping[int, tuple[str, str]] | None = None


class Filling:
    """Spreadsheets made whole."""

    def __init__(self, store: SheetStore) -> None:
        self.store = store

    def spreadsheet(
        self, name: str, sheets: Sequence[NewSheet], parent: str | None = None, **properties: Any
    ) -> Book:
        """A spreadsheet with these sheets; their formulas are computed."""
        book = self.store.sheets.create(name, parent, first=False, **properties)
        for number, new in enumerate(sheets):
            width = max((len(line) for line in new.lines), default=0)
            sheet = self.store.sheets.add(
                book, new.title, sheet_id=None if number else 0,
                rows=max(ROWS, len(new.lines) + SPARE), columns=max(COLUMNS, width),
            )  # fmt: skip
            self.store.run_many(_INSERT, self._rows(book, sheet.number, new))
        if not sheets:
            self.store.sheets.add(book, "Sheet1", sheet_id=0)
        self.store.computing.restart(
            book, [[new.title, [list(map(_said, line)) for line in new.lines]] for new in sheets]
        )
        return book

    def _rows(self, book: Book, sheet: int, new: NewSheet) -> Iterable[tuple[Any, ...]]:
        formats = {
            column: self.store.formats.number_of(book, {"numberFormat": {"type": type_, "pattern": pattern}})
            for column, (type_, pattern) in (new.patterns or {}).items()
        }
        moments: dict[str, int | None] = {}
        for row, line in enumerate(new.lines):
            for column, value in enumerate(line):
                format_ = formats.get(column) if not isinstance(value, str) or value.startswith("=") else None
                if isinstance(value, (date, datetime)):
                    kind = "DATE_TIME" if isinstance(value, datetime) else "DATE"
                    if kind not in moments:
                        shown = {"numberFormat": {"type": kind, "pattern": _MOMENTS[kind]}}
                        moments[kind] = self.store.formats.number_of(book, shown)
                    yield sheet, row, column, "n", serial_of(value), None, None, format_ or moments[kind]
                elif isinstance(value, bool):
                    yield sheet, row, column, "b", float(value), None, None, format_
                elif isinstance(value, (int, float)):
                    yield sheet, row, column, "n", float(value), None, None, format_
                elif isinstance(value, str):
                    if value.startswith("=") and len(value) > 1:
                        yield sheet, row, column, "", None, None, value, format_
                    elif value:
                        yield sheet, row, column, "s", None, value, None, format_
                elif value is not None:
                    raise Invalid(f"{type(value).__name__} is no value of a cell.", code="INVALID_ARGUMENT")


def _said(value: Any) -> Any:
    return str(value) if isinstance(value, (date, datetime)) else value
