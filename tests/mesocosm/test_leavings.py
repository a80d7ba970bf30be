"""Whatever an agent leaves is judged: what cannot be read is a finding, never a fault of ours."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from openpyxl import Workbook
from patience import PATIENCE
from trials import call, failures, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.kits.yaml_tasks.grading import matches
from mesocosm.servers.excel.store.contents import Contents, contents_of
from mesocosm.services.contents import Grid, UnreadableContent, csv_grid, json_data, text_of
from mesocosm.services.numbers import number_of
from mesocosm.worlds.workspace import Workspace

VERDICTS = Path(__file__).parents[2] / "benchmarks" / "verdicts.py"


def test_a_verdict_comes_of_whatever_is_left() -> None:
    families = "stock_take,nhl_b2b_analysis,visit_calendar,filter_low_selling_products"
    words = ["--states", "28", "--families", families, "--seed", "sample", "--json"]
    done = subprocess.run(
        [sys.executable, str(VERDICTS), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=4 * PATIENCE,
    )
    assert done.stdout, (done.returncode, done.stderr)
    found = json.loads(done.stdout)
    assert (done.returncode, found["faults"]) == (0, []), found["examples"]
    assert sum(found["states"].values()) == 28
    assert {f"{name}: failed" for name in families.split(",")} <= found["states"].keys()


@given(some.binary(max_size=200) | some.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
@settings(deadline=None)
def test_readers_answer_with_contents_or_with_why_there_are_none(data: bytes) -> None:
    assert isinstance(text_of(data), (str, UnreadableContent))
    assert isinstance(csv_grid(data), (Grid, UnreadableContent))
    json_data(data)
    assert isinstance(contents_of(data, "a.xlsx"), UnreadableContent)


_VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=9)
    | some.datetimes() | some.just(UnreadableContent("x")) | some.just(10**400),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
_WANTED = some.sampled_from([
    None, True, 3, 2.5, "x", dt.date(2025, 3, 3), dt.datetime(2025, 3, 3, 9, tzinfo=dt.UTC), ["x"], {"a": 1},
    *({way: "x"} for way in ("contains", "without", "lines", "all_lines", "one_of", "matches")),
    {"only": ".*x.*", "lines": "x"}, {"number": 3, "within": 1},
])  # fmt: skip


@given(_WANTED, _VALUES)
@settings(deadline=None)
def test_whatever_is_found_is_right_or_wrong(wanted: Any, found: Any) -> None:
    assert matches(wanted, found) in (True, False)
    assert isinstance(number_of(found), (float, type(None)))


@pytest.mark.parametrize(
    "text", ["1,200", "1_37.55", "\uff11\uff12", "12 %", "nan", "inf", "1e999", "0x1", "1 2", ""]
)
def test_what_no_program_writes_is_no_number(text: str) -> None:
    assert number_of(text) is None


@pytest.mark.parametrize(
    ("text", "number"), [("12.50", 12.5), ("-3", -3), ("1e3", 1000), (" 7 ", 7), (".5", 0.5)]
)
def test_what_programs_write_is_a_number(text: str, number: float) -> None:
    assert number_of(text) == number


@given(some.data())
@settings(deadline=None, max_examples=60)
def test_a_damaged_workbook_is_read_or_is_not(data: some.DataObject) -> None:
    whole = _workbook()
    place = data.draw(some.integers(0, len(whole) - 1))
    new = data.draw(some.binary(max_size=12))
    damaged = whole[:place] + new + whole[place + data.draw(some.integers(0, 12)) :]
    assert isinstance(contents_of(damaged, "a.xlsx"), (Contents, UnreadableContent))


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "9" * 5_000, '{"a": 1, "a": 2}', "NaN", "[Infinity]", '"\ud800', "", "\x00", "1e400x"],
)
def test_what_is_no_json_is_unreadable(text: str) -> None:
    assert isinstance(json_data(text.encode("utf-8", "surrogatepass")), UnreadableContent)


@pytest.mark.parametrize("data", [b'"a', b'"a"b,c', b"\xff", b"a\rb\x00" + b"x" * 140_000])
def test_what_is_no_table_is_unreadable(data: bytes) -> None:
    assert isinstance(csv_grid(data), UnreadableContent)


# -- workbooks --------------------------------------------------------------------------------------------


@cache
def _workbook() -> bytes:
    book, out = Workbook(), io.BytesIO()
    book.worksheets[0].append(["SKU", "Shelf", "Pieces"])
    book.worksheets[0].append(["A-1", "S-1", 3])
    book.save(out)
    return out.getvalue()


def _with(part: str, old: bytes, new: bytes) -> bytes:
    """A workbook with something else in one of its parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(_workbook())) as package, zipfile.ZipFile(out, "w") as other:
        for name in package.namelist():
            data = package.read(name)
            assert name != part or old in data
            other.writestr(name, data.replace(old, new, 1) if name == part else data)
    return out.getvalue()


def _entry(flags: int, method: int) -> bytes:
    """A package with one entry that is encrypted, or packed in an unknown way."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        package.writestr(zipfile.ZipInfo("[Content_Types].xml"), b"")
    data = bytearray(out.getvalue())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark) + place
        data[at : at + 4] = bytes((flags, 0, method, 0))
    return bytes(data).replace(b"\x80\x01", b"\0\0")  # permissions, so that it is text, too


_SHEET, _STYLES, _TYPES = "xl/worksheets/sheet1.xml", "xl/styles.xml", "[Content_Types].xml"
_DAMAGED = {
    "encrypted": _entry(1, 0),
    "method 99": _entry(0, 99),
    "a rule of an unknown type": _with(
        _SHEET,
        b"</sheetData>",
        b'</sheetData><dataValidations count="1"><dataValidation type="zzz" sqref="A1"/></dataValidations>',
    ),
    "malformed sheet": _with(_SHEET, b"<row ", b"<<row "),
    "malformed types": _with(_TYPES, b"<Override ", b"<Override a='<' "),
    "a style that is not there": _with(_SHEET, b'<c r="C2"', b'<c r="C2" s="9999"'),
    "malformed styles": _with(_STYLES, b'numFmtId="0"', b'numFmtId="x"'),
    "a string that is not there": _with(_SHEET, b'<c r="C2" t="n"><v>3</v>', b'<c r="C2" t="s"><v>9</v>'),
    "no package": b"PK\x03\x04" + b"\0" * 100,
}


@pytest.fixture(scope="module")
def stock_take(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Episode]:
    """A stock take that was done."""
    family, folder = load_family("stock_take"), tmp_path_factory.mktemp("stock_take")
    built = build_instance(family, 0, folder / "instance", parameters={"size": 4})
    episode = Episode.create(folder / "episode", built.path, family)
    solve(family, episode, claim=False)
    yield episode
    episode.close()


@pytest.mark.parametrize("name", _DAMAGED)
@pytest.mark.parametrize("workbook", ["final.xlsx", "count.xlsx", "other.xlsx"])
def test_a_damaged_workbook_is_a_finding(
    stock_take: Episode, tmp_path: Path, name: str, workbook: str
) -> None:
    episode = stock_take.fork(tmp_path / "fork")
    assert failures(episode) == set()
    (episode.path / "world" / "workspace" / workbook).write_bytes(_DAMAGED[name])
    assert failures(episode)
    episode.close()


def test_an_encrypted_workbook_of_146_bytes_can_be_written_with_the_tools(
    stock_take: Episode, tmp_path: Path
) -> None:
    data = _DAMAGED["encrypted"]
    assert max(data) < 128
    episode = stock_take.fork(tmp_path / "fork")
    call(episode, "filesystem", "write_file", path="final.xlsx", content=data.decode())
    assert failures(episode) == {"final_sheet", "final_rows_columns"}
    [said] = [check.detail for check in episode.findings() if check.name == "final_rows_columns"]
    assert said.startswith("unreadable, because")
    episode.close()


# -- trees ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "leave",
    [
        lambda place: place.unlink(),
        lambda place: (place.unlink(), place.mkdir()),
        lambda place: (place.unlink(), place.symlink_to(place.name)),
        lambda place: (place.unlink(), place.symlink_to("x" * 300)),
        lambda place: (place.unlink(), os.mkfifo(place)),
        lambda place: Path(os.fsdecode(bytes(place.parent) + b"/\xff\xfe.xlsx")).write_bytes(b"x"),
        lambda place: place.rename(place.with_name("final\n.xlsx")),
    ],
)  # fmt: skip
def test_things_of_other_kinds_and_names_are_findings(
    stock_take: Episode, tmp_path: Path, leave: Callable[[Path], object]
) -> None:
    episode = stock_take.fork(tmp_path / "fork")
    leave(episode.path / "world" / "workspace" / "final.xlsx")
    verdict = episode.grade()
    assert verdict.verdict == "failed"
    verdict.model_dump_json()
    episode.close()


def test_a_time_that_no_calendar_has_is_none(tmp_path: Path) -> None:
    # What a file system keeps of such times differs; each of them is told, or is none.
    (tmp_path / "a.txt").write_bytes(b"a")
    for seconds in (2**33, 2**40, -(2**40), 2**62):
        try:
            os.utime(tmp_path / "a.txt", (seconds, seconds))
        except (OSError, OverflowError):
            continue
        found = Workspace(tmp_path).details("a.txt").modified
        assert found is None or found.year <= 9999
