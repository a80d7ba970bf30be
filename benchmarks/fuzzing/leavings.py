"""Leftovers of an agent for judges: any bytes, trees and values in places that are read."""

from __future__ import annotations

import copy
import io
import json
import os
import random
import shutil
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from fuzzing.calls import Requests, Tools
from fuzzing.inputs import Inputs
from fuzzing.odd import FLOATS, NUMBERS, TEXTS
from mesocosm.families.episode import Episode
from mesocosm.servers.excel.store.packages import save_workbook
from mesocosm.services.queries.words import WarehouseWords
from mesocosm.services.words import load_words
from mesocosm.services.world import World
from mesocosm.worlds.journal import Entry

VALUES: list[Any] = [
    *TEXTS, *NUMBERS, *FLOATS, None, True, [], {}, [[]], [None], {"": None},
    "0001-01-01", "9999-12-31", "10000-01-01", "20250-02-17", "-0001-01-01", "infinity", "-infinity", "inf",
    "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2025-02-29", "2025-06-01T10:00:00+14:00",
    "1e400", "1_37.55", "\uff11\uff12", "0x10", "1,5", "12%", "#REF!", "=1/0", "=A1", "'1", "TRUE", "24:00",
    "1.7976931348623157e309", "-9223372036854775809", "170141183460469231731687303715884105728",
    "9" * 400, "\u0000", "\ufeff", "\u2028", "a\rb", "a\r\nb", '"', '""', "<!--", "]]>", "\ud83d",
    1e308, -1e308, 5e-324, 10**400,
]  # fmt: skip
"""At and beyond the limits of whatever holds them."""
for _depth in (60, 200, 900, 1_100):
    _nested: Any = "x"
    for _ in range(_depth):
        _nested = [_nested] if _depth % 200 else {"x": _nested}
    VALUES += [_nested] * (_depth < 1_000) + ['{"status": ' + "[" * _depth + "1" + "]" * _depth + "}"]
_PARTS = [
    b'<dataValidation type="zzz" sqref="A1"/>', b'<c r="A1" s="99999"><v>1</v></c>', b'<c r="A1" t="s"><v>9',
    b"<row r='1048577'/>", b"<!DOCTYPE x>", b"\xff\xfe", b"<mergeCell ref='A1:XFD1048576'/>", b"<<>", b"&#0;",
    b'<c r="XFD1048576"><v>1e999</v></c>', b"<f>1</f>", b"</sheetData>", b"<v>", b"numFmtId='-1'",
]  # fmt: skip
_EXPRESSIONS = [
    "NULL", "0", "-1", "1e308", "1e400", "'x'", "''", "TRUE", "'infinity'", "CAST('inf' AS FLOAT64)",
    "CAST('nan' AS FLOAT64)", "'NaN'::FLOAT", "'inf'::FLOAT", "DATE '0001-01-01'", "DATE '9999-12-31'",
    "DATE '10000-01-01'", "'20250-02-17'::DATE", "'infinity'::DATE", "'-infinity'::TIMESTAMP",
    "DATE_ADD(DATE '2025-01-01', INTERVAL 3000000 DAY)", "TIMESTAMP_SECONDS(1759307518000)",
    "TIMESTAMP '9999-12-31 23:59:59.999999 UTC'", "TIMESTAMP '0001-01-01 00:00:00+00'",
    "TIME '23:59:59.999999'",
    "PARSE_JSON('1e400')", "JSON '[1e400]'", "PARSE_JSON('{\"a\":1,\"a\":2}')", "9223372036854775807",
    "99999999999999999999999999999999999999", "NUMERIC '99999999999999999999999999999.999999999'",
    "BIGNUMERIC '1e38'", "[1.0, CAST('nan' AS FLOAT64)]", "[]", "['x']", "REPEAT('x', 100000)", "b'\\xff'",
    "STRUCT(1 AS a)", "CURRENT_TIMESTAMP()", "INTERVAL 1 DAY", "ARRAY_CONSTRUCT('nan'::FLOAT)",
    "OBJECT_CONSTRUCT('a', NULL)", "TO_VARIANT(1e308)",
]  # fmt: skip
"""Values of columns of warehouses, in the words of either."""
_STATEMENTS = [
    "UPDATE {table} SET {column} = {value} WHERE TRUE",
    "INSERT INTO {table} ({column}) VALUES ({value})",
    "CREATE OR REPLACE TABLE {table} AS SELECT * REPLACE ({value} AS {column}) FROM {table}",
    "CREATE OR REPLACE TABLE {table} AS SELECT {value} AS {column}",
    "ALTER TABLE {table} ADD COLUMN odd STRING",
    "DELETE FROM {table} WHERE TRUE",
    "DROP TABLE {table}",
    "TRUNCATE TABLE {table}",
]
_QUERIES = {"google_cloud": "bigquery_run_query", "snowflake": "write_query"}
_NAMES = [
    "a/b",
    "..",
    "x" * 255,
    "a\nb",
    "a b",
    "-",
    "a.csv",
    "a.xlsx",
    "a.json",
    "a.pdf",
    "\u202e",
    "é",
    ".",
]
_SAVED = datetime(2025, 1, 1, tzinfo=UTC)
_SECONDS = [-1, 0, 2**31, 2**33, 2**40, -(2**40), 253402300800, 1.5]

Dice = random.Random


class Leavings:
    """States that an episode may be left in, each made from one in which the task was done or not begun."""

    def __init__(self, episode: Episode) -> None:
        """``episode``: a solved one, of which the calls that changed something are made again, otherwise."""
        tools = {name: service.tools for name, service in episode.world.services.items()}
        self._calls = [
            entry
            for entry in episode.world.journal.entries()
            if entry.status == "ok" and (tool := tools[entry.service].get(entry.tool)) and _changes(tool)
        ]
        self._paths = sorted({name for name, _ in episode.world.workspace.files()} | set(self._named()))

    def _named(self) -> Sequence[str]:
        found: list[str] = []
        for entry in self._calls:
            found += [value for name, value in entry.arguments.items()
                      if isinstance(value, str) and "path" in name.lower()]  # fmt: skip
        return found

    def leave(self, world: World, dice: Dice) -> list[str]:
        """Do something to a world; returns what was done."""
        ways: list[Callable[[World, Dice], str]] = [
            self._file,
            self._file,
            self._tree,
            self._again,
            self._again,
        ]
        ways += [self._stored] * any(name in world.services for name in _QUERIES)
        return [dice.choice([*ways, self._anything])(world, dice) for _ in range(dice.choice((1, 1, 2, 4)))]

    # -- files ------------------------------------------------------------------------------------------

    def _place(self, world: World, dice: Dice) -> Path:
        root = world.path / "workspace"
        name = dice.choice(self._paths) if self._paths and dice.random() < 0.85 else dice.choice(_NAMES)
        name = name.removeprefix("/workspace/").lstrip("/")
        place = root / name
        return place if os.path.normpath(place).startswith(f"{root}/") else root / "a.csv"

    def _file(self, world: World, dice: Dice) -> str:
        place = self._place(world, dice)
        before = place.read_bytes() if os.path.isfile(place) else b""
        ways: list[Callable[[str, bytes, Dice], bytes]] = [_bytes, _damaged, _damaged, _lines, _json, _book]
        way = dice.choice(ways)
        return self._put(place, way(place.name, before, dice), way.__name__)

    def _put(self, place: Path, data: bytes, how: str) -> str:
        try:
            _clear(place)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        except (OSError, ValueError):
            return "nothing"
        return f"{how} in {place.name!r}: {data[:200]!r}"

    def _tree(self, world: World, dice: Dice) -> str:
        place, number = self._place(world, dice), dice.randrange(12)
        try:
            _disarrange(place, number, dice)
        except (OSError, ValueError, OverflowError):
            return "nothing"
        return f"tree {number} at {place.name!r}"

    # -- calls ------------------------------------------------------------------------------------------

    def _again(self, world: World, dice: Dice) -> str:
        if not self._calls:
            return "nothing"
        entry = dice.choice(self._calls)
        arguments = _with_another(copy.deepcopy(entry.arguments), dice)
        return self._made(world, entry, arguments)

    def _made(self, world: World, entry: Entry, arguments: dict[str, Any]) -> str:
        outcome = world.call(entry.service, entry.tool, arguments)
        return f"{entry.service}.{entry.tool} {str(arguments)[:300]}: {outcome.status}"

    def _stored(self, world: World, dice: Dice) -> str:
        """A value in a column of a table of a warehouse."""
        service = next(name for name in _QUERIES if name in world.services)
        words = load_words(service)
        assert isinstance(words, WarehouseWords)
        assert words.warehouse is not None
        shelves = words.warehouse.current(world)[1]
        if not shelves:
            return "nothing"
        shelf = shelves[dice.choice(sorted(shelves))]
        column = dice.choice([one.name for one in shelf.columns] or ["x"])
        query = dice.choice(_STATEMENTS).format(
            table=shelf.name, column=column, value=dice.choice(_EXPRESSIONS)
        )
        outcome = world.call(service, _QUERIES[service], {"query": query})
        return f"{query}: {outcome.status}"

    def _anything(self, world: World, dice: Dice) -> str:
        inputs = Inputs(str(dice.random()))
        requests = Requests(world, inputs)
        source = iter(requests if requests and dice.random() < 0.4 else Tools(world, inputs, code=False))
        made = [one.make() and one.name for one in islice(source, 4)]
        return f"called {', '.join(map(str, made))}"


def _disarrange(place: Path, number: int, dice: Dice) -> None:
    """Something of another kind or name at a place, or another time or mode."""
    if number < 5:
        _clear(place)
    match number:
        case 0:
            place.mkdir(parents=True)
        case 1:
            (place / "in").mkdir(parents=True)
        case 2:
            place.symlink_to(dice.choice([place.name, "/etc/passwd", "..", "nothing", "a" * 300]))
        case 3:
            os.mkfifo(place)
        case 5:
            seconds = dice.choice(_SECONDS)
            os.utime(place, (seconds, seconds))
        case 6:
            place.chmod(dice.choice([0, 0o777, 0o4755]))
        case 7:
            os.mkdir(bytes(place) + b"\xff\xfe")
        case 8:
            Path(os.fsdecode(bytes(place) + b"\xc3(")).write_bytes(b"x")
        case 9:
            os.link(place, place.with_name("linked"))
        case 10:
            place.with_name(f"{place.name}\n.csv").write_bytes(b"x")
        case 11:
            place.rename(place.with_suffix(dice.choice([".XLSX", ".csv ", ".json", ""])))


def _changes(tool: Any) -> bool:
    return tool.writes and not (tool.ends_episode or tool.runs_code)


def _clear(place: Path) -> None:
    if os.path.isdir(place) and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _with_another(arguments: dict[str, Any], dice: Dice) -> dict[str, Any]:
    """Arguments of which some leaf holds something else, or part of a text does."""
    leaves: list[tuple[Any, Any]] = []

    def walk(inside: Any) -> None:
        keys = inside.keys() if isinstance(inside, dict) else range(len(inside))
        for key in keys:
            value = inside[key]
            if isinstance(value, (dict, list)) and value and dice.random() < 0.9:
                walk(value)
            else:
                leaves.append((inside, key))

    walk(arguments)
    for _ in range(dice.choice((1, 1, 2, 3))):
        if leaves:
            inside, key = dice.choice(leaves)
            old, new = inside[key], dice.choice(VALUES)
            if isinstance(old, str) and len(old) > 1 and dice.random() < 0.6:
                new = _spliced(old, "" if new is None else str(new), dice)
            inside[key] = new
    return arguments


def _spliced(old: str, new: str, dice: Dice) -> str:
    """A text in which one word or number is another."""
    words = old.split(" ")
    place = dice.randrange(len(words))
    words[place] = new if dice.random() < 0.7 else words[place][: len(words[place]) // 2] + new
    return " ".join(words)


# -- contents ---------------------------------------------------------------------------------------------


def _bytes(name: str, before: bytes, dice: Dice) -> bytes:
    start = dice.choice([b"", b"PK\x03\x04", b"%PDF-1.7\n", b"\xef\xbb\xbf", b"\xff\xfe", b"[" * 5_000, b"{"])
    return start + dice.randbytes(dice.choice((0, 1, 10, 1_000)))


def _damaged(name: str, before: bytes, dice: Dice) -> bytes:
    """The file as it was, cut, or with something else in it; of a package, inside of one of its parts."""
    if name.lower().endswith((".xlsx", ".xlsm")) and dice.random() < 0.8:
        return _damaged_package(before or _workbook([[1]]), dice)
    if not before:
        return _bytes(name, before, dice)
    place = dice.randrange(len(before))
    new = dice.choice([b"", dice.randbytes(4), str(dice.choice(VALUES)).encode("utf-8", "replace")])
    return before[:place] + (b"" if dice.random() < 0.2 else new + before[place + dice.randrange(9) :])


def _damaged_package(data: bytes, dice: Dice) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            parts = {name: package.read(name) for name in package.namelist()}
    except (OSError, RuntimeError, ValueError, zipfile.BadZipFile, NotImplementedError, zlib.error):
        return data[: len(data) // 2]
    if not parts:
        return b""
    name = dice.choice(sorted(parts))
    part = parts[name]
    place = dice.randrange(len(part) + 1)
    if dice.random() < 0.6 and b"<" in part:
        place = dice.choice([at for at, one in enumerate(part) if one == 60])
    parts[name] = part[:place] + dice.choice(_PARTS) + part[place + dice.choice((0, 0, 5, 40)) :]
    if dice.random() < 0.1:
        del parts[name]
    out = bytearray(_package(parts, zipfile.ZIP_STORED))
    if dice.random() < 0.3:  # the flags and the method of the first entry in both directories
        for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            at = out.find(mark)
            out[at + flags : at + flags + 4] = dice.choice([b"\1\0\0\0", b"\0\0\x63\0", b"\0\0\x0c\0"])
    return bytes(out)


def _lines(name: str, before: bytes, dice: Dice) -> bytes:
    """Lines of a table: those that were there with other cells, or any."""
    lines = [line.split(",") for line in before.decode("utf-8", "replace").splitlines()[:200]] or [["a", "b"]]
    for _ in range(dice.choice((1, 3))):
        line = dice.choice(lines)
        line[dice.randrange(len(line))] = str(dice.choice(VALUES))
        if dice.random() < 0.3:
            line.append(str(dice.choice(VALUES)))
    return dice.choice(["\n", "\r\n", "\r"]).join(map(",".join, lines)).encode("utf-8", "replace")


def _json(name: str, before: bytes, dice: Dice) -> bytes:
    try:
        found = json.loads(before)
    except (ValueError, RecursionError):
        found = [{"a": 1}]
    whole = {"found": found}
    _with_another(whole, dice)
    out = dice.choice(
        ["[" * 100_000, '{"a":1,"a":2}', "NaN", "9" * 5_000, "1e400", '"\\ud800"', "[1e400]", "null"]
    )
    return out.encode() if dice.random() < 0.4 else json.dumps(whole["found"], default=str).encode()


def _workbook(rows: Sequence[Sequence[Any]]) -> bytes:
    book = Workbook()
    sheet = book.worksheets[0]
    for row in rows:
        sheet.append([cell if isinstance(cell, (str, int, float, bool)) else None for cell in row])
    for cells in sheet.iter_rows():
        for cell in cells:
            cell.number_format = "0%" if isinstance(cell.value, float) else "General"
    with zipfile.ZipFile(io.BytesIO(save_workbook(book, _SAVED))) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    return _package(parts, zipfile.ZIP_DEFLATED)


def _package(parts: Mapping[str, bytes], compression: int) -> bytes:
    """A package with these parts, in which nothing tells when it was made: a seed means the same states."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as package:
        for name, content in parts.items():
            package.writestr(zipfile.ZipInfo(name), content, compression)
    return made.getvalue()


def _book(name: str, before: bytes, dice: Dice) -> bytes:
    """A workbook of any cells."""
    plain = [one for one in VALUES if not (isinstance(one, str) and not one.isprintable())]
    plain = [one for one in plain if type(one) is not int or abs(one) < 10**300]
    try:
        return _workbook([[dice.choice(plain) for _ in range(3)] for _ in range(4)])
    except (ValueError, OverflowError):
        return _bytes(name, before, dice)
