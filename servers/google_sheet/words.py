"""Vocabulary of task files for spreadsheets."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from mesocosm.services.calling import Tools
from mesocosm.services.contents import Grid, sheet_grid
from mesocosm.services.later import later
from mesocosm.services.words import Fields, Found, Owner, Spoiling, Thing, Word, Words, only_stamped
from mesocosm.worlds.changes import Row
from mesocosm.worlds.database import file_uri

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet import store as rules
    from mesocosm.servers.google_sheet.store import bulk, concealment
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes
else:
    rules, bulk, concealment = later(
        "mesocosm.servers.google_sheet.store",
        "mesocosm.servers.google_sheet.store.bulk",
        "mesocosm.servers.google_sheet.store.concealment",
    )

_CELL_VALUES = ("kind", "number", "text", "formula", "message", "hint", "anchor")
_LOOKS = ("format", "properties", "pixels", "hidden")
"""Columns that say how cells, sheets, rows and columns look: what they conceal is judged by the grid."""
_TRACES = ("modified", "modified_by", "version", "state")
_ENDS = ("row_count", "column_count")
"""Of a sheet: how many rows and columns it has, be they empty."""
_VALUES = frozenset({*_CELL_VALUES, *_LOOKS, *_TRACES, *_ENDS})
"""Columns that a grid accounts for."""
_FIELDS: Mapping[str, Word] = {
    "title": Word("The spreadsheet's title.", required=True),
    "sheet": Word("Name of the sheet.", required=True),
    "rows": Word(
        "Its rows: `{for: order, columns: {id: ...}}`; a first line has the columns' names.", "list"
    ),
}


class SheetThing(Thing):
    """A sheet of a spreadsheet."""

    name = "sheet"
    written = True
    about = "A sheet of a spreadsheet: a line with the columns' names, then the rows."
    says = _FIELDS
    judges = _FIELDS
    overhead = 50
    gives: ClassVar[Mapping[str, str]] = {"id": "The spreadsheet's id."}

    def row_trace(self, cells: Mapping[str, Any]) -> str | None:
        first = next(iter(cells.values()))
        return f'["{first}"' if isinstance(first, (str, int)) else None

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.SheetStore)
        books: dict[str, list[Fields]] = {}
        for fields in things:
            books.setdefault(str(fields["title"]), []).append(fields)
        ids = {
            title: store.filling.spreadsheet(title, [_new(fields) for fields in books[title]]).id
            for title in sorted(books)
        }
        return [{"id": ids[str(fields["title"])]} for fields in things]

    def trace(self, fields: Fields, given: Fields) -> str:
        first: Fields = next(iter(fields.get("rows") or ()), {})
        return str(next(iter(first.values()), fields["sheet"]))

    def rearranged(self, world: World, fields: Fields, change: Callable[[list[list[Any]]], Any]) -> bool:
        store = world.store(rules.SheetStore)
        title, name = str(fields["title"]), str(fields["sheet"])
        for file in store.drive.visible():
            if file.kind == "spreadsheet" and file.name == title:
                book = store.sheets.book(file.id, "writer")
                sheet = next((one for one in store.sheets.all(book) if one.title == name), None)
                if sheet is not None:
                    lines = [list(line) for line in change(store.values.grid(sheet, sheet.area, "FORMULA"))]
                    store.values.clear(book, [(sheet, sheet.area)])
                    store.values.write(book, sheet, sheet.area, lines, "USER_ENTERED")
                    return True
        return False

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        tables = {name: changes.table("google_sheet", name) for name in ("cells", "sheets")}
        cells = [
            *tables["cells"].added,
            *tables["cells"].removed,
            *(row for _, row in tables["cells"].changed),
        ]
        looks = _looks(world, changes)
        touched = {row["sheet"] for row in cells if ("cells", _place(row)) not in looks}
        touched |= {row["number"] for row in tables["sheets"].added}
        touched -= set(_empty_sheets(changes))
        lines = changes.table("google_sheet", "lines")
        sizes = [*lines.added, *lines.removed, *(row for _, row in lines.changed)]
        for number in sorted(touched):
            store = world.store(rules.SheetStore)
            rows: set[tuple[str, Any]] = {("cells", _place(row)) for row in cells if row["sheet"] == number}
            rows |= {("lines", _line(row)) for row in sizes if row["sheet"] == number}
            known = store.rows(
                "SELECT files.number, files.id, name, title FROM sheets"
                " JOIN files ON spreadsheet = files.number WHERE sheets.number = ? AND NOT trashed",
                (number,),
            )
            if not known:
                continue
            file, id_, title, name = known[0]
            rows |= {("sheets", number), ("files", file), ("spreadsheets", file)}
            # Who makes a spreadsheet owns it; that others may open it is another matter.
            permissions = changes.table("google_sheet", "permissions").added
            owned = (row for row in permissions if row["file"] == file and row["role"] == "owner")
            rows |= {("permissions", row["id"]) for row in owned}
            grid = _seen(store, id_, name)
            if grid.concealed:
                grid = grid.since(_before(world, number))
            yield Found({"title": title, "sheet": name, "rows": grid}, frozenset(rows))

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        new = {row["number"] for row in changes.table("google_sheet", "sheets").added}
        for found in self.made(world, changes):
            if not any(table == "sheets" and number in new for table, number in found.rows):
                yield replace(found, columns=_VALUES)


def _new(fields: Fields) -> bulk.NewSheet:
    rows = fields.get("rows") or []
    lines: list[list[Any]] = [list(rows[0])] if rows else []
    lines += [[_cell(value) for value in row.values()] for row in rows]
    return bulk.NewSheet(str(fields["sheet"]), lines)


def _cell(value: Any) -> Any:
    return value.replace(tzinfo=None) if getattr(value, "tzinfo", None) else value


def _place(row: Row) -> tuple[int, int, int]:
    return row["sheet"], row["row"], row["col"]


def _line(row: Row) -> tuple[int, str, int]:
    return row["sheet"], row["axis"], row["position"]


def _seen(store: rules.SheetStore, spreadsheet: str, title: str) -> Grid:
    """Read a sheet's grid. A number in a percent format is its displayed text."""
    book = store.sheets.book(spreadsheet)
    sheet = store.sheets.titled(book, title)
    lines = store.values.grid(sheet, sheet.area, "UNFORMATTED_VALUE", "FORMATTED_STRING")
    for row, column in store.rows(
        "SELECT row, col FROM cells JOIN formats ON format = formats.number"
        " WHERE sheet = ? AND type = 'PERCENT' AND kind = 'n'",
        (sheet.number,),
    ):
        lines[row][column] = f"{lines[row][column] * 100:.10g}%"
    blank = [place for place, line in enumerate(lines, start=1) if not any(cell != "" for cell in line)]
    noted = store.rows("SELECT row FROM cells WHERE sheet = ? AND note IS NOT NULL", (sheet.number,))
    notes = ["a note on a cell"] if noted else []
    oddities = [*(f"row {place} is blank" for place in blank[:1]), *notes]
    return sheet_grid(lines, oddities, concealment.concealed(store.rows, sheet.number))


def _before(world: World, number: int) -> Grid:
    """Return the content that a sheet concealed when the world was built."""
    assert world.base is not None
    with closing(sqlite3.connect(file_uri(world.base / "google_sheet.db", "mode=ro"), uri=True)) as base:
        return Grid([], [], concealed=tuple(concealment.concealed(base.execute, number)))


def _looks(world: World, changes: Changes) -> set[tuple[str, Any]]:
    """Return changes of nothing but looks, which show all that was seen before, and as it was."""
    cells, sheets, lines = (changes.table("google_sheet", name) for name in ("cells", "sheets", "lines"))
    formats = dict(world.store(rules.SheetStore).rows("SELECT number, content FROM formats")) if cells else {}
    found: set[tuple[str, Any]] = {
        ("cells", _place(row))
        for row in (*cells.added, *cells.removed)
        if not row["kind"] and all(row[name] is None for name in ("formula", "anchor", "note"))
    }
    for before, after in cells.changed:
        shown = [concealment.effect(formats.get(row["format"])) for row in (before, after)]
        same = all(before[name] == after[name] for name in before if name != "format")
        if same and (shown[0] == shown[1] or not after["kind"]):
            found.add(("cells", _place(after)))
    for before, after in sheets.changed:
        same = all(before[name] == after[name] for name in before if name not in ("properties", *_ENDS))
        if same and concealment.is_hidden(before["properties"]) == concealment.is_hidden(after["properties"]):
            found.add(("sheets", after["number"]))
    shown_as = [(row, False, _is_narrow(row)) for row in lines.added]
    shown_as += [(row, _is_narrow(row), False) for row in lines.removed]
    shown_as += [(row, _is_narrow(old), _is_narrow(row)) for old, row in lines.changed]
    return found | {("lines", _line(row)) for row, before, after in shown_as if before == after}


def _is_narrow(row: Row) -> bool:
    return concealment.is_narrow(row["pixels"], row["hidden"])


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    for book in tools.call("google_sheet", "list_spreadsheets"):
        for sheet in tools.call("google_sheet", "list_sheets", spreadsheet_id=book["id"]):
            asked: dict[str, Any] = {"spreadsheet_id": book["id"], "sheet": sheet}
            while True:
                read = tools.call("google_sheet", "get_sheet_data", **asked)
                if "nextRange" not in read:
                    break
                asked["range"] = read["nextRange"]


def _open(world: World, owner: Owner, people: Sequence[tuple[str, str]]) -> None:
    drive = world.store(rules.SheetStore).drive
    for name, email in [(owner.name, owner.email), *people]:
        drive.create_account(email, name)
    drive.sign_in(owner.email)


def _written(world: World) -> bool:
    store = world.store(rules.SheetStore)
    file = next((one for one in store.drive.visible() if one.kind == "spreadsheet"), None)
    if file is None:
        return False
    book = store.sheets.book(file.id, "writer")
    sheet = store.sheets.all(book)[0]
    used = store.values.used(sheet)
    place = sheet.area_of(type(used)(used.bottom or 0, 0, (used.bottom or 0) + 1, 1))
    store.values.write(book, sheet, place, [["Something else"]], "RAW")
    return True


def _made(world: World) -> bool:
    world.store(rules.SheetStore).sheets.create("Notes of nobody")
    return True


def _shared(world: World) -> bool:
    """The last spreadsheet of all may be read by a stranger."""
    drive = world.store(rules.SheetStore).drive
    files = [one for one in drive.visible() if one.kind == "spreadsheet"]
    if not files:
        return False
    drive.share(max(files, key=lambda one: one.number).id, "user", "stranger@elsewhere.example", "reader")
    return True


def _trashed(world: World) -> bool:
    """The spreadsheet that changed, or the last, was put into the trash."""
    drive = world.store(rules.SheetStore).drive
    touched = world.changes().table("google_sheet", "files")
    numbers = [row["number"] for row in [*touched.added, *(after for _, after in touched.changed)]]
    files = [one for one in drive.visible() if one.kind == "spreadsheet"]
    chosen = [one for one in files if one.number in numbers] or files
    if not chosen:
        return False
    world.store(rules.SheetStore).run("UPDATE files SET trashed = 1 WHERE number = ?", (chosen[0].number,))
    return True


def _empty_sheets(changes: Changes) -> Iterator[int]:
    """New sheets with nothing in them, beside others: a spreadsheet that is all empty is something made."""
    new = {row["number"] for row in changes.table("google_sheet", "files").added}
    filled = {row["sheet"] for row in changes.table("google_sheet", "cells").added}
    sheets = changes.table("google_sheet", "sheets").added
    new -= {row["spreadsheet"] for row in sheets if row["number"] in filled}
    for row in sheets:
        if row["spreadsheet"] not in new and row["number"] not in filled:
            yield row["number"]


def _same(world: World, changes: Changes) -> Collection[tuple[str, Any]]:
    """Return changes without effect: a written file has a new time, and its content is in other tables; empty
    rows and sheets may be added or removed; a file made and trashed does not count.
    """
    found = {
        (table, number)
        for table, key in (("files", "number"), ("spreadsheets", "file"))
        for number in only_stamped(changes.table("google_sheet", table), key, _TRACES)
    }
    found |= _looks(world, changes)
    found |= {("sheets", number) for number in _empty_sheets(changes)}
    gone = {row["number"] for row in changes.table("google_sheet", "files").added if row["trashed"]}
    sheets = [row for row in changes.table("google_sheet", "sheets").added if row["spreadsheet"] in gone]
    numbers = {row["number"] for row in sheets}
    found |= {(table, number) for table in ("files", "spreadsheets") for number in gone}
    found |= {("sheets", number) for number in numbers}
    found |= {
        ("cells", _place(row))
        for row in changes.table("google_sheet", "cells").added
        if row["sheet"] in numbers
    }
    found |= {
        ("lines", _line(row))
        for row in changes.table("google_sheet", "lines").added
        if row["sheet"] in numbers
    }
    # Who makes a file owns it; that others could open it is another matter.
    permissions = changes.table("google_sheet", "permissions").added
    owned = (row for row in permissions if row["file"] in gone and row["role"] == "owner")
    return found | {("permissions", row["id"]) for row in owned}


words = Words(
    service="google_sheet",
    things={"sheet": SheetThing()},
    survey=_survey,
    open=_open,
    unseen=("revisions", "formats", "merges"),
    excuses=_same,
    spoilings=(
        Spoiling("a line written", _written),
        Spoiling("a spreadsheet made", _made),
        Spoiling("a spreadsheet put into the trash", _trashed),
        Spoiling("a spreadsheet opened to a stranger", _shared),
    ),
)
