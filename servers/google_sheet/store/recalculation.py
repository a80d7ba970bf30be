"""Formulas: computed when something changes, and what they give kept in the cells.

What a process holds of a spreadsheet is known by its state, a digest of everything that was entered; so a
fork, a snapshot or a reset never meets the values of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from mesocosm.servers.google_sheet.store.engine.processes import Changed, compute
from mesocosm.servers.google_sheet.store.ranges import cell_name
from mesocosm.servers.google_sheet.store.sheets import Book, digest

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore

Edit = tuple[str, int, int, Any, bool, bool]
"""Title, row, column, value or formula, whether it is a formula, whether it is a date."""

_FORMULAS = (
    "SELECT 1 FROM cells JOIN sheets ON cells.sheet = sheets.number WHERE spreadsheet = ?"
    " AND formula IS NOT NULL LIMIT 1"
)


class Computing:
    """Computation of spreadsheets' formulas."""

    def __init__(self, store: SheetStore) -> None:
        self.store = store
        self._held = False

    @contextmanager
    def held(self, held: bool) -> Iterator[None]:
        """Postpone computation to the end of the context."""
        self._held = held
        try:
            yield
        finally:
            self._held = False

    def after(self, book: Book, edits: Sequence[Edit]) -> None:
        """Compute what follows from edits that were written to the cells."""
        if self._held:
            return
        before = self._state(book)
        after = self._advance(book, before, edits)
        if edits and self._has_formulas(book):
            self._compute(book, before, after, edits)
        elif edits:
            self._forget_arrays(book)

    def restart(self, book: Book, what: Any) -> None:
        """Compute everything after a change of another kind (rows, sheets, names)."""
        after = self._advance(book, self._state(book), what)
        if self._has_formulas(book):
            self._compute(book, "", after, ())
        else:
            self._forget_arrays(book)

    def _forget_arrays(self, book: Book) -> None:
        """Forget the spilled arrays of a spreadsheet without formulas."""
        self.store.run(
            "DELETE FROM cells WHERE anchor IS NOT NULL AND sheet IN (SELECT number FROM sheets"
            " WHERE spreadsheet = ?)",
            (book.number,),
        )

    def rewrite(self, book: Book, change: Callable[[str, str], str]) -> None:
        """Change the text of every formula: ``change(formula, title of its sheet)``."""
        rows = self.store.rows(
            "SELECT cells.sheet, row, col, formula, title FROM cells JOIN sheets ON cells.sheet ="
            " sheets.number"
            " WHERE spreadsheet = ? AND formula IS NOT NULL",
            (book.number,),
        )
        changed = [
            (new, sheet, row, col)
            for sheet, row, col, old, title in rows
            if (new := change(old, title)) != old
        ]
        self.store.run_many("UPDATE cells SET formula = ? WHERE sheet = ? AND row = ? AND col = ?", changed)

    def _state(self, book: Book) -> str:
        return str(self.store.rows("SELECT state FROM spreadsheets WHERE file = ?", (book.number,))[0][0])

    def _advance(self, book: Book, before: str, what: Any) -> str:
        after = digest(before, what)
        self.store.run("UPDATE spreadsheets SET state = ? WHERE file = ?", (after, book.number))
        return after

    def _has_formulas(self, book: Book) -> bool:
        return bool(self.store.rows(_FORMULAS, (book.number,)))

    def _compute(self, book: Book, before: str, after: str, edits: Sequence[Edit]) -> None:
        zone = self.store.rows("SELECT time_zone FROM spreadsheets WHERE file = ?", (book.number,))[0][0]
        now = self.store.now.astimezone(ZoneInfo(zone)).replace(tzinfo=None).isoformat()
        request = {"before": before, "after": after, "now": now, "seed": after, "edits": edits}
        sheets = {sheet.title: sheet for sheet in self.store.sheets.all(book)}
        computed = compute(self.store.world.owner, request, lambda: self._whole(book), sheets)
        self._grow(book, computed.changed)
        if computed.is_whole:
            kept = {(sheets[one.title].number, one.row, one.column) for one in computed.changed}
            old = self.store.rows(
                "SELECT sheet, row, col FROM cells JOIN sheets ON cells.sheet = sheets.number"
                " WHERE spreadsheet = ? AND anchor IS NOT NULL",
                (book.number,),
            )
            gone: Iterable[Sequence[Any]] = [place for place in old if place not in kept]
        else:
            gone = [(sheets[title].number, row, col) for title, row, col in computed.gone]
        self.store.run_many(
            "UPDATE cells SET kind = '', number = NULL, text = NULL, message = NULL, hint = NULL,"
            " anchor = NULL"
            " WHERE sheet = ? AND row = ? AND col = ? AND anchor IS NOT NULL",
            gone,
        )
        self.store.run(
            "DELETE FROM cells WHERE kind = '' AND formula IS NULL AND anchor IS NULL AND format IS NULL"
            " AND note IS NULL AND sheet IN (SELECT number FROM sheets WHERE spreadsheet = ?)",
            (book.number,),
        ) if gone else None
        self.store.run_many(_PUT, (_row(sheets[one.title].number, one) for one in computed.changed))

    def _grow(self, book: Book, changed: Sequence[Changed]) -> None:
        """Make room for arrays that reach beyond the grid, as the vendor does."""
        for sheet in self.store.sheets.all(book):
            rows = max((one.row + 1 for one in changed if one.title == sheet.title), default=0)
            columns = max((one.column + 1 for one in changed if one.title == sheet.title), default=0)
            if rows > sheet.rows or columns > sheet.columns:
                self.store.sheets.resize(book, sheet, max(rows, sheet.rows), max(columns, sheet.columns))

    def _whole(self, book: Book) -> dict[str, Any]:
        sheets = []
        all_sheets = self.store.sheets.all(book)
        titles = {sheet.number: sheet.title for sheet in all_sheets}
        for sheet in all_sheets:
            rows = self.store.rows(
                "SELECT row, col, kind, cells.number, text, formula, type FROM cells LEFT JOIN formats"
                " ON cells.format = formats.number WHERE sheet = ? AND anchor IS NULL"
                " AND (kind != '' OR formula IS NOT NULL) ORDER BY row, col",
                (sheet.number,),
            )
            cells = [
                [row, col, formula, True, False]
                if formula is not None
                else [row, col, _value(kind, number, text), False, type_ in ("DATE", "DATE_TIME")]
                for row, col, kind, number, text, formula, type_ in rows
            ]
            sheets.append(
                {"title": sheet.title, "rows": sheet.rows, "columns": sheet.columns, "cells": cells}
            )
        return {"sheets": sheets, "names": self.store.names.texts(book, titles)}


def _value(kind: str, number: float | None, text: str | None) -> Any:
    return bool(number) if kind == "b" else number if kind == "n" else text


_PUT = (
    "INSERT INTO cells (sheet, row, col, kind, number, text, message, hint, anchor)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (sheet, row, col) DO UPDATE SET kind = excluded.kind,"
    " number = excluded.number, text = excluded.text, message = excluded.message, hint = excluded.hint,"
    " anchor = excluded.anchor WHERE (kind, number, text, message, hint, anchor) IS NOT"
    " (excluded.kind, excluded.number, excluded.text, excluded.message, excluded.hint, excluded.anchor)"
)


def _row(sheet: int, one: Changed) -> tuple[Any, ...]:
    number = float(one.value or 0.0) if one.kind in ("n", "b") else None
    text = one.value if one.kind in ("s", "e") else None
    said = f"{one.hint} {one.message}" if one.kind == "e" else None
    placed = cell_name(*one.anchor) if one.anchor else None
    hint = (one.hint or None) if one.kind == "n" else None
    return sheet, one.row, one.column, one.kind, number, text, said, hint, placed
