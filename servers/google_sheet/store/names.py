"""Named ranges, and what the text of a range means in a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.google_sheet.store.ranges import (
    Area,
    letters,
    open_area_name,
    parse_area,
    quoted,
    split_title,
    unparsable,
)
from mesocosm.servers.google_sheet.store.sheets import Book, Grid, digest

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,249}", re.ASCII)
_LIKE_CELL = re.compile(r"[A-Za-z]{1,3}\d+|[Rr]\d*[Cc]\d*|true|false", re.ASCII | re.IGNORECASE)
_COLUMNS = "named_ranges.number, id, name, sheet, top, left, bottom, right"


@dataclass(frozen=True)
class Named:
    """A named range."""

    number: int
    id: str
    name: str
    sheet: int
    area: Area


class Names:
    """Named ranges, and texts of ranges."""

    def __init__(self, store: SheetStore) -> None:
        self.store = store

    def resolve(self, book: Book, text: str, default: Grid | None = None) -> tuple[Grid, Area]:
        """The sheet and the area that a text means: ``Sheet1!A1:B2``, ``A:C``, a title, or a named range.

        Args:
            book: The spreadsheet.
            text: The text.
            default: The sheet of a text without a title; the first one otherwise.
        """
        sheets = self.store.sheets.all(book)
        title, rest = split_title(text)
        if title is not None:
            sheet = next((one for one in sheets if one.title.casefold() == title.casefold()), None)
            if sheet is None:
                raise unparsable(text)
            return sheet, parse_area(rest) if rest else sheet.area
        for named in self.all(book):
            if named.name.casefold() == text.casefold():
                return next(one for one in sheets if one.number == named.sheet), named.area
        sheet = default or sheets[0]
        try:
            return sheet, parse_area(text)
        except Invalid:
            for one in sheets:
                if one.title.casefold() == text.casefold():
                    return one, one.area
            raise

    def all(self, book: Book) -> list[Named]:
        """The named ranges of a spreadsheet."""
        rows = self.store.rows(
            f"SELECT {_COLUMNS} FROM named_ranges WHERE spreadsheet = ? ORDER BY number", (book.number,)
        )
        return [Named(row[0], row[1], row[2], row[3], Area(*row[4:])) for row in rows]

    def texts(self, book: Book, titles: Mapping[int, str]) -> dict[str, str]:
        """Return the replacement of each name in a formula."""
        return {named.name: f"{quoted(titles[named.sheet])}!{_fixed(named.area)}" for named in self.all(book)}

    def add(self, book: Book, name: str, sheet: Grid, area: Area, range_id: str | None = None) -> Named:
        """A new named range."""
        self._check(book, name)
        count = len(self.all(book))
        made = range_id or str(int(digest(book.id, name, count, book.file.version)[:12], 16) % 2**31)
        if self.store.rows("SELECT 1 FROM named_ranges WHERE id = ?", (made,)):
            raise Invalid(f"A named range with the id {made[:60]} already exists.", code="INVALID_ARGUMENT")
        area = sheet.area_of(area)
        number = self.store.run(
            "INSERT INTO named_ranges (spreadsheet, id, name, key, sheet, top, left, bottom, right)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                book.number,
                made,
                name,
                name.casefold(),
                sheet.number,
                area.top,
                area.left,
                area.bottom,
                area.right,
            ),
        )
        return Named(number, made, name, sheet.number, area)

    def named(self, book: Book, range_id: str) -> Named:
        for named in self.all(book):
            if named.id == range_id:
                return named
        raise NotFound(f"No named range with id: {range_id[:60]}", code="NOT_FOUND")

    def change(self, book: Book, range_id: str, name: str | None, place: tuple[Grid, Area] | None) -> None:
        """Another name or another place for a named range."""
        named = self.named(book, range_id)
        if name is not None and name != named.name:
            self._check(book, name, but=named.number)
            self.store.run(
                "UPDATE named_ranges SET name = ?, key = ? WHERE number = ?",
                (name, name.casefold(), named.number),
            )
        if place is not None:
            sheet, area = place[0], place[0].area_of(place[1])
            self.store.run(
                "UPDATE named_ranges SET sheet = ?, top = ?, left = ?, bottom = ?, right = ? WHERE"
                " number = ?",
                (sheet.number, area.top, area.left, area.bottom, area.right, named.number),
            )

    def delete(self, book: Book, range_id: str) -> None:
        """Take a name away; what it named stays."""
        self.store.run("DELETE FROM named_ranges WHERE number = ?", (self.named(book, range_id).number,))

    def copy(self, source: Book, target: Book, sheets: Mapping[int, int]) -> None:
        """The same names in a copy of a spreadsheet; ``sheets`` says which sheet has become which."""
        for named in self.all(source):
            grid = next(one for one in self.store.sheets.all(target) if one.number == sheets[named.sheet])
            self.add(target, named.name, grid, named.area)

    def _check(self, book: Book, name: str, but: int | None = None) -> None:
        if not _NAME.fullmatch(name) or _LIKE_CELL.fullmatch(name):
            raise Invalid(
                "The name must begin with a letter or underscore, contain only letters, numbers,"
                " underscores and"
                f" periods, and look like no cell: {name[:60]!r}.",
                code="INVALID_ARGUMENT",
            )
        if any(one.name.casefold() == name.casefold() and one.number != but for one in self.all(book)):
            raise Invalid(f'A named range with the name "{name}" already exists.', code="INVALID_ARGUMENT")


def _fixed(area: Area) -> str:
    assert area.bottom is not None
    assert area.right is not None
    first = f"${letters(area.left)}${area.top + 1}"
    last = f"${letters(area.right - 1)}${area.bottom}"
    return first if first == last else f"{first}:{last}"


def range_text(sheet: Grid, area: Area) -> str:
    """A range as the vendor writes it in an answer."""
    text = open_area_name(area)
    return f"{quoted(sheet.title)}!{text}" if text else quoted(sheet.title)
