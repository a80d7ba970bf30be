"""Vocabulary of task files for workbooks."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from mesocosm.errors import Refusal
from mesocosm.services.calling import Tools
from mesocosm.services.contents import UnreadableContent
from mesocosm.services.later import later
from mesocosm.services.words import Fields, Found, Spoiling, Thing, Word, Words
from mesocosm.worlds.workspace import Workspace

if TYPE_CHECKING:
    import openpyxl
    from openpyxl.utils import exceptions

    from mesocosm.servers.excel.store import contents, packages
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes
else:
    openpyxl, exceptions, contents, packages = later(
        "openpyxl",
        "openpyxl.utils.exceptions",
        "mesocosm.servers.excel.store.contents",
        "mesocosm.servers.excel.store.packages",
    )

_FIELDS: Mapping[str, Word] = {
    "path": Word("The workbook's path in the workspace, ending in .xlsx.", required=True),
    "sheet": Word("Name of the sheet.", required=True),
    "rows": Word(
        "Its rows: `{for: order, columns: {id: ...}}`; a first line has the columns' names.", "list"
    ),
}


class SheetThing(Thing):
    """A sheet of a workbook."""

    name = "sheet"
    written = True
    about = "A sheet of a workbook: a line with the columns' names, then the rows."
    says: ClassVar[Mapping[str, Word]] = {
        **_FIELDS,
        "date": Word("When the workbook was saved last; default: now.", "moment"),
    }
    judges = _FIELDS
    overhead = 60
    gives: ClassVar[Mapping[str, str]] = {"path": "The workbook's path."}

    def row_overhead(self, cells: Mapping[str, Any], count: Callable[[str], int]) -> int:
        return 24 * len(cells)

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        books: dict[str, list[Fields]] = {}
        for fields in things:
            books.setdefault(str(fields["path"]), []).append(fields)
        for path in sorted(books):
            book = openpyxl.Workbook()
            del book[book.sheetnames[0]]
            for fields in books[path]:
                sheet = book.create_sheet(str(fields["sheet"]))
                rows = fields.get("rows") or []
                if rows:
                    sheet.append(list(rows[0]))
                for row in rows:
                    sheet.append([_cell(value) for value in row.values()])
            saved = max((one["date"] for one in books[path] if one.get("date")), default=world.now)
            world.workspace.fill([(path, packages.save_workbook(book, saved))], saved)
        return [{"path": fields["path"]} for fields in things]

    def trace(self, fields: Fields, given: Fields) -> str:
        first: Fields = next(iter(fields.get("rows") or ()), {})
        return str(next(iter(first.values()), fields["sheet"]))

    def rearranged(self, world: World, fields: Fields, change: Callable[[list[list[Any]]], Any]) -> bool:
        path, title = str(fields["path"]), str(fields["sheet"])
        try:
            book = openpyxl.load_workbook(io.BytesIO(world.workspace.read(path)))
        except (Refusal, exceptions.InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, OSError):
            return False
        if title not in book.sheetnames:
            return False
        lines = change([list(line) for line in book[title].iter_rows(values_only=True)])
        del book[title]
        sheet = book.create_sheet(title, 0)
        for line in lines:
            sheet.append(line)
        world.workspace.write(path, packages.save_workbook(book, world.now))
        return True

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for name in [*changes.files_added, *changes.files_changed]:
            if name.lower().endswith(".xlsx"):
                for fields in _changed_sheets(world, name, new=name in changes.files_added):
                    yield Found({"path": name, **fields}, frozenset({("file", name)}))

    altered = made


def _cell(value: Any) -> Any:
    return value.replace(tzinfo=None) if getattr(value, "tzinfo", None) else value


def _changed_sheets(world: World, name: str, *, new: bool) -> Iterator[Fields]:
    """The sheets of a workbook that were not there, hold something else or went, or why none can be read."""
    assert world.base is not None
    now = contents.read_contents(world.workspace, name)
    then = None if new else contents.read_contents(Workspace(world.base / "workspace", linked=True), name)
    if isinstance(now, UnreadableContent):
        yield {"sheet": now, "rows": now}
        return
    before = then.sheets if isinstance(then, contents.Contents) else {}
    for sheet, grid in now.sheets.items():
        if before.get(sheet) != grid and (sheet in before or sheet in now.filled):
            yield {"sheet": sheet, "rows": grid.since(before.get(sheet))}
    yield from ({"sheet": sheet, "rows": None} for sheet in before if sheet not in now.sheets)
    if new and not now.filled and now.drawings:
        yield {"sheet": None, "rows": UnreadableContent(f"it holds nothing but {', '.join(now.drawings)}")}


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    for path in options.get("files", ()):
        about = tools.call("excel", "get_workbook_metadata", filepath=path)
        for sheet in about["sheets"]:
            cell: str | None = "A1"
            while cell:
                read = tools.call(
                    "excel", "read_data_from_excel", filepath=path, sheet_name=sheet, start_cell=cell
                )
                cell = read.get("next_start_cell") if isinstance(read, dict) else None


def _sheet_added(world: World) -> bool:
    first = next((name for name, _ in world.workspace.files() if name.endswith(".xlsx")), None)
    if first is None:
        return False
    book = openpyxl.load_workbook(io.BytesIO(world.workspace.read(first)))
    book.create_sheet("Notes").append(["Something"])
    book["Notes"].append(["else"])
    world.workspace.write(first, packages.save_workbook(book, world.now))
    return True


words = Words(
    service="excel",
    things={"sheet": SheetThing()},
    survey=_survey,
    spoilings=(
        Spoiling("a sheet put in", _sheet_added, frozenset({"excel_sheet_extra", "files_unchanged"})),
    ),
    survey_options={"files": "The workbooks to read; default: those of the evidence."},
)
