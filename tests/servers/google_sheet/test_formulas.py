"""Formulas: against the vendor's documentation, against LibreOffice, and against those who wish us ill."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import pytest
from forks import TAKEN_OVER, forked_from
from openpyxl import Workbook, load_workbook
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.formula import ArrayFormula
from patience import PATIENCE
from worlds import build_world

from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.bulk import NewSheet
from mesocosm.servers.google_sheet.store.engine.processes import processes
from mesocosm.servers.google_sheet.store.engine.worker import Worker
from mesocosm.servers.google_sheet.store.ranges import Area
from mesocosm.services.world import World
from mesocosm.worlds import deadlines
from mesocosm.worlds.process_worker import SIZE, Kind

sys.path.insert(0, str(Path(__file__).parent))
from sheets_data import COLUMN, LINES, cases, row_of, same

CASES = cases()
ADA = "ada@example.org"


def fill(world: World) -> None:
    store = world.store(SheetStore)
    store.drive.create_account(ADA, "Ada")
    store.drive.sign_in(ADA)
    lines: list[list[Any]] = [[*line] for line in LINES]
    lines += [[] for _ in range(row_of(len(CASES)) - len(lines))]
    for number, case in enumerate(CASES):
        lines[row_of(number)] = [None] * COLUMN + [case.formula]
    store.filling.spreadsheet("Formulas", [NewSheet("Data", lines), NewSheet("Scratch", [])])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with build_world(tmp_path_factory.mktemp("formulas") / "world", ["google_sheet"], fill) as world:
        yield world


@pytest.fixture(scope="module")
def computed(world: World) -> Callable[[int], Any]:
    """What the formula of a number gives, of the size that is expected."""
    store = world.store(SheetStore)
    book = store.sheets.book(next(store.drive.visible()).id)
    sheet = store.sheets.titled(book, "Data")

    def result(number: int) -> Any:
        expected, row = CASES[number].result, row_of(number)
        if not isinstance(expected, list):
            values = store.values.grid(sheet, Area(row, COLUMN, row + 1, COLUMN + 1), "UNFORMATTED_VALUE")
            return values[0][0] if values else None
        area = Area(row, COLUMN, row + len(expected), COLUMN + len(expected[0]))
        return store.values.grid(sheet, area, "UNFORMATTED_VALUE")

    return result


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.formula[:50] for case in CASES])
def test_a_formula_gives_what_the_vendor_documents(number: int, computed: Callable[[int], Any]) -> None:
    got = computed(number)
    assert same(got, CASES[number].result), got


def test_the_corpus_is_large_enough() -> None:
    assert len(CASES) >= 150


@pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice Calc is not installed (soffice)")
def test_libreoffice_gives_the_kept_results(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    sheet.title = "Data"
    for line in LINES:
        sheet.append(line)
    new = (
        "IFS",
        "SWITCH",
        "TEXTJOIN",
        "CONCAT",
        "MINIFS",
        "MAXIFS",
        "XOR",
        "IFNA",
        "DAYS",
        "ISOWEEKNUM",
        "BASE",
    )
    asked = [(number, case) for number, case in enumerate(CASES) if case.libreoffice != "none"]
    for number, case in asked:
        formula = case.formula.replace("C2:C)", "C2:C1000)")
        name = formula[1:].partition("(")[0]
        formula = f"=_xlfn.{formula[1:]}" if name in new else formula
        cell = f"{get_column_letter(COLUMN + 1)}{row_of(number) + 1}"
        if isinstance(case.result, list):
            last = get_column_letter(COLUMN + len(case.result[0]))
            span = f"{cell}:{last}{row_of(number) + len(case.result)}"
            sheet[cell] = ArrayFormula(span, formula)
        else:
            sheet[cell] = ArrayFormula(cell, formula) if "SUMPRODUCT" in formula else formula
    book.save(tmp_path / "in.xlsx")
    command = ["soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to"]
    subprocess.run(
        [
            *command,
            "xlsx:Calc MS Excel 2007 XML",
            "--outdir",
            str(tmp_path / "out"),
            str(tmp_path / "in.xlsx"),
        ],
        check=True,
        capture_output=True,
    )
    shown = load_workbook(tmp_path / "out" / "in.xlsx", data_only=True)["Data"]
    wrong = []
    for number, case in asked:
        row, expected = row_of(number) + 1, case.libreoffice
        if isinstance(expected, list):
            got: Any = [
                [_plain(shown.cell(row + r, COLUMN + 1 + c).value) for c in range(len(expected[0]))]
                for r in range(len(expected))
            ]
        else:
            got = _plain(shown.cell(row, COLUMN + 1).value)
        if not same(got, expected):
            wrong.append((case.formula, got))
    assert not wrong


def _plain(value: Any) -> Any:
    from openpyxl.utils.datetime import to_excel

    return to_excel(value) if hasattr(value, "hour") or hasattr(value, "year") else value


# -- who wishes us ill --------------------------------------------------------------------------------------


def write(world: World, formulas: list[str]) -> Any:
    store = world.store(SheetStore)
    book = next(file.id for file in store.drive.visible())
    data = [[formula] for formula in formulas]
    arguments = {"spreadsheet_id": book, "sheet": "Scratch", "range": "A1", "data": data}
    return world.call("google_sheet", "update_cells", arguments)


def shown(world: World) -> list[list[str]]:
    store = world.store(SheetStore)
    book = store.sheets.book(next(store.drive.visible()).id)
    values = store.values.grid(store.sheets.titled(book, "Scratch"), Area(0, 0, 5, 1))
    return [[str(value) for value in line] for line in values]


@pytest.mark.parametrize(
    ("formulas", "result"),
    [
        (["=" + "(" * 5000 + "1" + ")" * 5000], "#ERROR!"),
        (["=" + "IF(TRUE," * 2000 + "1" + ")" * 2000], "#ERROR!"),
        (['=REPT("a",2000000000)'], "#VALUE!"),
        (["=SUM(SEQUENCE(1000000,1000))"], "#NUM!"),
        (["=SUM(A2:XFD1048576)"], "0"),
        (["=A2", "=A1"], "#REF!"),
        (["=SUM("], "#ERROR!"),
        (['=REGEXMATCH(REPT("a",5000)&"b","^(a+)+$")'], None),
        (["=FACT(1000000)"], "#NUM!"),
        (['=WEBSERVICE("http://127.0.0.1/")'], "#NAME?"),
        (['=IMPORTDATA("http://127.0.0.1/")'], "#N/A"),
        (['=IMPORTRANGE("1abc","A1")'], "#REF!"),
        (["=QUERY(B2:B3,\"select load_extension('x')\")"], "#VALUE!"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_hostile_formula_ends_as_an_error(world: World, formulas: list[str], result: str | None) -> None:
    outcome = write(world, formulas)
    assert outcome.status == "ok", outcome.text
    if result is not None:
        assert shown(world)[0][0] == result


def test_what_needs_too_much_memory_is_refused_and_leaves_no_trace(world: World) -> None:
    write(world, ["=1+1", "", ""])
    before = (world.path / "google_sheet.db").read_bytes()
    bomb = ['=REPT("a",30000)', *(f"=A{n}&A{n}" for n in range(1, 40))]
    refused = write(world, bomb)
    assert (refused.status, refused.text[:30]) == ("refused", "The formulas of the spreadshee")
    assert (world.path / "google_sheet.db").read_bytes() == before
    assert write(world, ["=1+2"]).status == "ok"
    assert shown(world)[0][0] == "3"


def test_a_call_does_not_answer_for_what_ended_the_process_before_it(world: World) -> None:
    for formula, result in (("=1+3", "4"), ("=1+4", "5")):
        assert write(world, [formula]).status == "ok"
        assert shown(world)[0][0] == result
        for process in processes._free:
            process.kill()


CELL = ["Scratch", 0, 0, "n", 2.0, "", ""]


def test_what_a_process_says_that_was_taken_over_spoils_its_call_and_nothing_else(tmp_path: Path) -> None:
    def begin(world: World) -> None:
        store = world.store(SheetStore)
        store.drive.create_account(ADA, "Ada")
        store.drive.sign_in(ADA)
        store.filling.spreadsheet("Book", [NewSheet("Scratch", [["=1+1"]])])

    answers: list[bytes] = [b"", b"[]", b"{", b'{"changed":' + b"[" * 9000, pickle.dumps({"changed": []})]
    answers += [
        json.dumps({"changed": [[*CELL[:place], value, *CELL[place + 1 :]]]}).encode()
        for place, value in (
            (0, "Other"),
            (1, -1),
            (1, "1"),
            (3, "n')"),
            (4, "2"),
            (4, True),
            (4, None),
            (5, 1),
        )
    ]
    answers.append(json.dumps({"changed": [CELL]}).replace("2.0", "1e999").encode())
    framed = [SIZE.pack(len(data)) + bytes([Kind.KEPT]) + data for data in answers]
    with build_world(tmp_path / "world", ["google_sheet"], begin) as world:
        before = shown(world)
        for number, said in enumerate([*framed, SIZE.pack(2**50)], 1):
            with forked_from(processes, TAKEN_OVER, said.hex()):
                assert write(world, ["=1+2"]).status == "fault", said
                assert len(world.journal.faults()) == number
                assert not processes._free
        assert shown(world) == before
        assert write(world, ["=1+2"]).status == "ok"


# -- what was kept in a process shows nowhere ----------------------------------------------------------------


def test_values_do_not_depend_on_what_a_process_has_kept() -> None:
    """Edits one after the other give what the whole gives that is read anew."""
    rng = Random(5)
    for trial in range(40):
        cells: dict[tuple[int, int], list[Any]] = {}
        kept = Worker()
        state = f"{trial}:0"
        kept.answer(request("", state, cells))
        shown: dict[tuple[int, int], Any] = {}
        for step in range(1, 12):
            edits = []
            for _ in range(rng.randrange(1, 4)):
                place = (rng.randrange(6), rng.randrange(5))
                value, is_formula = rng.choice(ENTRIES)
                edit = ["S", *place, value, is_formula, False]
                edits = [one for one in edits if one[1:3] != edit[1:3]] + [edit]
                cells.pop(place, None)
                if value is not None:
                    cells[place] = edit[1:]
            after = f"{trial}:{step}"
            answer = kept.answer({**request(state, after, {}), "edits": edits} | {"sheets": None})
            if "missing" in answer:
                answer, shown = kept.answer(request(state, after, cells)), {}
            if "refused" in answer:  # arrays that reach into one another's sources
                break
            for edit in edits:
                shown.pop((edit[1], edit[2]), None)
            for place in answer["gone"]:
                shown.pop((place[1], place[2]), None)
            shown.update({(one[1], one[2]): one[3:5] for one in answer["changed"]})
            anew = Worker().answer(request("", after, cells))
            assert shown == {(one[1], one[2]): one[3:5] for one in anew["changed"]}, (trial, step, cells)
            state = after


ENTRIES: list[tuple[Any, bool]] = [
    (None, False),
    (1.0, False),
    (-2.0, False),
    ("x", False),
    (True, False),
    (None, False),
    (0.0, False),
    ("=A2", True),
    ("=E5", True),
    ("=IF(TRUE,B4)", True),
    ("=INDEX(A1:C6,4,3)", True),
    ("={A1,D4;B2,C5}", True),
    ("=TRANSPOSE(B1:B3)", True),
    ("=SUM(A1:B6)", True),
    ("=A1*2", True),
    ("=UNIQUE(A1:A3)", True),
    ('=IFERROR(B2/B3,"-")', True),
    ("=C3&D4", True),
    ("=FILTER(A1:A6,A1:A6>0)", True),
    ("=RAND()", True),
    ("=SUM(", True),
    ("=SEQUENCE(2,2)", True),
]


def request(before: str, after: str, cells: dict[tuple[int, int], list[Any]]) -> dict[str, Any]:
    content = sorted((cell for cell in cells.values()), key=lambda cell: (cell[0], cell[1]))
    sheet = {"title": "S", "rows": 20, "columns": 10, "cells": content}
    moment = {"now": "2025-03-01T12:00:00", "seed": after, "edits": [], "names": {}}
    return {"before": before, "after": after, "sheets": [sheet], **moment}


def test_nobody_waits_for_those_who_compute_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late = 0.0
    monkeypatch.setenv("MESOCOSM_CALL_TIMEOUT", str(int(PATIENCE)))
    monkeypatch.setattr(deadlines, "perf_counter", lambda: perf_counter() + late)

    def small(world: World) -> None:
        store = world.store(SheetStore)
        store.drive.create_account(ADA, "Ada")
        store.drive.sign_in(ADA)
        store.filling.spreadsheet("Small", [NewSheet("Sheet1", [[1]])])

    def write(world: World, formula: str) -> str:
        [book] = json.loads(world.call("google_sheet", "list_spreadsheets", {}).text)
        tool = world.tool("google_sheet", "update_cells")
        cells = {"spreadsheet_id": book["id"], "sheet": "Sheet1", "range": "A2", "data": [[formula]]}
        return world.calls.make("google_sheet", tool, cells).text

    def attack(world: World) -> None:
        assert "took longer" in write(
            world, "=" + "+".join(['LEN(REGEXREPLACE(REPT("a",32000),"a(?:.*z)?","b"))'] * 50)
        )

    with ExitStack() as stack:
        first, *others = (
            stack.enter_context(build_world(tmp_path / str(number), ["google_sheet"], small))
            for number in range(4)
        )
        threads = [threading.Thread(target=attack, args=(other,)) for other in others]
        for thread in threads:
            thread.start()
        write(first, "=A1+1")
        assert all(thread.is_alive() for thread in threads)
        late = 2.0 * PATIENCE  # their time is up
        for thread in threads:
            thread.join()
    assert processes._count == len(processes._free) <= 8
