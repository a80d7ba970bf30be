"""Vocabulary of task files for the workspace: text, CSV and JSON files."""

from __future__ import annotations

import csv
import io
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from mesocosm.errors import Refusal
from mesocosm.services.calling import Tools
from mesocosm.services.contents import (
    UnreadableContent,
    csv_grid,
    file_data,
    json_data,
    json_objects,
    text_of,
)
from mesocosm.services.words import Fields, Found, Spoiling, Thing, Word, Words

if TYPE_CHECKING:
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes

_PATH = Word("Its path in the workspace, such as `reports/may.csv`.", required=True)
_LINES = 400
"""Lines of a long file that are read at once."""
_AT_ONCE = 90_000
"""Bytes of a file that are read at once."""
_TEXTS = (".txt", ".md", ".csv", ".json", ".tsv", ".log")


class FileThing(Thing):
    """A file, by what its name ends in."""

    suffixes: ClassVar[tuple[str, ...]] = ()
    overhead = 20
    listed = False
    serial = "path"

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        taken = {name for name, _ in world.workspace.files()}
        given = []
        for fields in things:
            path = _free(str(fields["path"]), taken)
            taken.add(path)
            given.append({"path": path})
        world.workspace.fill_dated(
            (one["path"], self.data(fields), fields.get("date") or world.now)
            for one, fields in zip(given, things, strict=True)
        )
        return given

    @abstractmethod
    def data(self, fields: Fields) -> bytes:
        """Serialise the file."""

    @abstractmethod
    def read(self, data: bytes) -> Fields:
        """Parse a file into the fields that goals judge."""

    def _seen(self, world: World, names: Sequence[str]) -> Iterator[Found]:
        for name in names:
            if PurePosixPath(name).suffix.lower() in self.suffixes:
                data = file_data(world.workspace, name)
                unread: Fields = dict.fromkeys(self.judges, data)
                fields = unread if isinstance(data, UnreadableContent) else self.read(data)
                yield Found({**fields, "path": name}, frozenset({("file", name)}))

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        yield from self._seen(world, [*changes.files_added, *changes.files_changed])

    altered = made


class TextFile(FileThing):
    name = "text"
    overhead = 1
    about = "A text file in the workspace (.txt, .md)."
    suffixes = (".txt", ".md", ".log")
    text = "content"
    when = "date"
    by_the_minute = True
    says: ClassVar[Mapping[str, Word]] = {
        "path": _PATH,
        "content": Word("Its text.", required=True),
        "date": Word("When it was written.", "moment", required=True),
        "author": Word("Who wrote it: its first line has the name and the date; default: no such line."),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "path": _PATH,
        "content": Word("Its text; `lines` or `contains`."),
    }
    gives: ClassVar[Mapping[str, str]] = {"path": "Its path."}

    def size(self, fields: Fields, count: Callable[[str], int]) -> int:
        return count(self._head(fields))

    def _head(self, fields: Fields) -> str:
        """Return the line with author and time."""
        if not fields.get("author"):
            return ""
        date = fields["date"]
        return f"{fields['author']}, {date:%A}, {date.day} {date:%B %Y}, {date:%H:%M}\n\n"

    def data(self, fields: Fields) -> bytes:
        return (self._head(fields) + str(fields["content"]).rstrip("\n") + "\n").encode()

    def read(self, data: bytes) -> Fields:
        text = text_of(data)
        return {"content": text.strip() if isinstance(text, str) else text}


class CsvFile(FileThing):
    """A table as comma-separated values."""

    name = "csv"
    written = True
    about = "A CSV file in the workspace: a line with the columns' names, then the rows."
    suffixes = (".csv",)
    says: ClassVar[Mapping[str, Word]] = {
        "path": _PATH,
        "rows": Word("Its rows: `{for: order, columns: {id: ...}}`.", "list", required=True),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "path": _PATH,
        "rows": Word("Its rows; sorted where there is `by`; numbers to `within`.", "list", required=True),
    }
    gives: ClassVar[Mapping[str, str]] = {"path": "Its path."}

    def row_overhead(self, cells: Mapping[str, Any], count: Callable[[str], int]) -> int:
        return 1

    def trace(self, fields: Fields, given: Fields) -> str:
        return next((_line(row.values()) for row in fields["rows"]), str(given["path"]))

    def row_trace(self, cells: Mapping[str, Any]) -> str:
        return _line(cells.values())

    def rearranged(self, world: World, fields: Fields, change: Callable[[list[list[Any]]], Any]) -> bool:
        try:
            text = world.workspace.read(str(fields["path"])).decode(errors="replace")
        except Refusal:
            return False
        lines = change([line for line in csv.reader(io.StringIO(text)) if line])
        world.workspace.write(str(fields["path"]), ("\n".join(map(_line, lines)) + "\n").encode())
        return True

    def data(self, fields: Fields) -> bytes:
        rows = fields["rows"]
        lines = [_line(rows[0])] if rows else []
        return ("\n".join([*lines, *(_line(row.values()) for row in rows)]) + "\n").encode()

    def read(self, data: bytes) -> Fields:
        return {"rows": csv_grid(data)}


class JsonFile(FileThing):
    name = "json"
    about = "A JSON file in the workspace."
    suffixes = (".json",)
    says: ClassVar[Mapping[str, Word]] = {
        "path": _PATH,
        "data": Word("What is in it.", "data", required=True),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "path": _PATH,
        "data": Word("What is in it; order counts in lists only.", "data"),
        "rows": Word("A list of objects, judged as rows are.", "list"),
    }
    gives: ClassVar[Mapping[str, str]] = {"path": "Its path."}

    def trace(self, fields: Fields, given: Fields) -> str:
        return str(given["path"])

    def data(self, fields: Fields) -> bytes:
        return orjson.dumps(fields["data"], default=str, option=orjson.OPT_INDENT_2)

    def read(self, data: bytes) -> Fields:
        found = json_data(data)
        return {"data": found, "rows": json_objects(found)}


def _line(cells: Any) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([_cell(cell) for cell in cells])
    return out.getvalue()


def _cell(cell: Any) -> Any:
    return f"{cell:%Y-%m-%d %H:%M}" if hasattr(cell, "hour") else cell


def _free(path: str, taken: set[str]) -> str:
    """The path, or one like it that no file has: the next of a series, or a second of that name."""
    whole = PurePosixPath(path)
    series = re.fullmatch(r"(.*\D|)(\d{5,})", whole.stem)
    start, number = (series[1], int(series[2]) + 1) if series else (f"{whole.stem}-", 2)
    while path in taken:
        path = str(whole.with_name(f"{start}{number}{whole.suffix}"))
        number += 1
    return path


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    todo = ["."]
    while todo:
        folder = todo.pop()
        for mark, name, size in _listed(tools, folder):
            path = name if folder == "." else f"{folder}/{name}"
            if mark == "DIR":
                todo.append(path)
            elif PurePosixPath(name).suffix.lower() in _TEXTS:
                _read(tools, path, large=size.endswith("MB") or float(size.split()[0]) * 1024 > _AT_ONCE)


_ENTRY = re.compile(r"\[(DIR|FILE)\] (.*?)(?: +([0-9.]+ (?:B|KB|MB)))?")


def _listed(tools: Tools, folder: str) -> Iterator[tuple[str, str, str]]:
    page, more = 1, True
    while more:
        listed = tools.call("filesystem", "list_directory_with_sizes", path=folder, page=page).splitlines()
        more = any(f"the next are on page {page + 1}" in line for line in listed[-5:])
        page += 1
        for line in listed:
            if found := _ENTRY.fullmatch(line):
                size = found[3] or "0 B"
                yield found[1], found[2], "0 KB" if size.endswith(" B") else size


def _read(tools: Tools, path: str, *, large: bool) -> None:
    """All of a file, in stretches where it is long."""
    if not large:
        tools.call("filesystem", "read_text_file", path=path)
        return
    size = int(re.findall(r"size: (\d+)", tools.call("filesystem", "get_file_info", path=path))[0])
    offset, seen = 0, 0
    while seen < size:
        text = str(tools.call("filesystem", "read_text_file", path=path, offset=offset, head=_LINES))
        seen += len(text.encode()) + 1
        offset += _LINES


def _first(world: World) -> str | None:
    return next((name for name, _ in world.workspace.files() if not name.startswith(".")), None)


def _rewritten(world: World) -> bool:
    first = _first(world)
    if first is not None:
        world.workspace.write(first, b"Something else.\n")
    return first is not None


def _removed(world: World) -> bool:
    first = _first(world)
    if first is not None:
        world.workspace.delete(first, world.now)
    return first is not None


def _left(world: World) -> bool:
    world.workspace.write("notes.tmp", b"Something.\n")
    return True


def _link_left(world: World) -> bool:
    (world.path / "workspace" / "latest.tmp").symlink_to("notes.tmp")
    return True


def _folder_left(world: World) -> bool:
    (world.path / "workspace" / "drafts").mkdir()
    return True


_FILES = frozenset({"files_unchanged", "excel_sheet_extra", "pdf_tools_document_extra"})

words = Words(
    service="filesystem",
    things={"text": TextFile(), "csv": CsvFile(), "json": JsonFile()},
    survey=_survey,
    spoilings=(
        Spoiling("a file rewritten", _rewritten, _FILES),
        Spoiling("a file removed", _removed, _FILES),
        Spoiling("a file left behind", _left, _FILES),
        Spoiling("a link left behind", _link_left, _FILES),
        Spoiling("a folder left behind", _folder_left, _FILES),
    ),
)
