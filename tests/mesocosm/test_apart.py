"""What is done with files of agents in a process with bounds."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest

from mesocosm.servers.excel.store import save_workbook
from mesocosm.servers.pdf_tools.store import write_pdf
from mesocosm.services import apart
from mesocosm.services.world import World

BOOK: dict[str, Any] = {"filepath": "book.xlsx", "sheet_name": "Data"}
PDF = {"pdf_file_path": "in.pdf"}
CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("excel", "get_workbook_metadata", {"filepath": "book.xlsx", "include_ranges": True}),
    ("excel", "read_data_from_excel", BOOK),
    ("excel", "get_data_validation_info", BOOK),
    ("excel", "validate_excel_range", BOOK | {"start_cell": "A1", "end_cell": "Z99"}),
    (
        "excel",
        "write_data_to_excel",
        BOOK | {"data": [["a", 1, None], ["=A1", True, 2.5]], "start_cell": "B9"},
    ),
    ("excel", "apply_formula", BOOK | {"cell": "D2", "formula": "=SUM(C2:C3"}),
    ("excel", "apply_formula", BOOK | {"cell": "D2", "formula": "=SUM(C2:C3)"}),
    ("excel", "validate_formula_syntax", BOOK | {"cell": "D2", "formula": "=SUM(C2:C3)"}),
    (
        "excel",
        "create_pivot_table",
        BOOK | {"data_range": "A1:C3", "rows": ["City"], "values": ["Amount"], "agg_func": "sum"},
    ),
    ("excel", "insert_rows", BOOK | {"start_row": 2}),
    ("excel", "rename_worksheet", {"filepath": "book.xlsx", "old_name": "Data", "new_name": "Sums"}),
    ("excel", "read_data_from_excel", BOOK),
    ("excel", "read_data_from_excel", BOOK | {"sheet_name": "Sums"}),
    ("excel", "read_data_from_excel", BOOK | {"filepath": "note.xlsx"}),
    ("excel", "read_data_from_excel", BOOK | {"filepath": "none.xlsx"}),
    ("pdf_tools", "get_pdf_info", PDF),
    ("pdf_tools", "read_pdf_pages", PDF | {"start_page": 2, "end_page": 4}),
    ("pdf_tools", "read_pdf_pages", PDF | {"start_page": 2, "end_page": 40}),
    ("pdf_tools", "merge_pdfs", {"pdf_paths": ["in.pdf", "in.pdf"], "output_path": "new/both.pdf"}),
    (
        "pdf_tools",
        "extract_pdf_pages",
        {"source_path": "in.pdf", "page_numbers": [3], "output_path": "3.txt"},
    ),
    (
        "pdf_tools",
        "extract_pdf_pages",
        {"source_path": "in.pdf", "page_numbers": [3], "output_path": "3.pdf"},
    ),
    ("pdf_tools", "search_pdf_content", PDF | {"pattern": "total: eur \\d+"}),
    ("pdf_tools", "search_pdf_content", PDF | {"pattern": "("}),
    ("pdf_tools", "read_pdf_pages", {"pdf_file_path": "note.xlsx"}),
    ("pdf_tools", "read_pdf_pages", {"pdf_file_path": "http://example.org/a.pdf"}),
]


def fill(world: World) -> None:
    workbook = openpyxl.Workbook()
    sheet: Any = workbook.active
    sheet.title = "Data"
    for row in (["City", "Kind", "Amount"], ["Bern", "a", 1], ["Rome", "b", 4]):
        sheet.append(row)
    pages = [f"Invoice {number}\nTotal: EUR {number * 100} (net)" for number in range(1, 5)]
    world.workspace.write("book.xlsx", save_workbook(workbook, world.now), world.now)
    world.workspace.write("in.pdf", write_pdf(pages, moment=world.now, title="Invoices"), world.now)
    world.workspace.write("note.xlsx", b"no workbook", world.now)


def done(world: World) -> tuple[list[tuple[str, str]], dict[str, bytes]]:
    outcomes = [world.call(service, tool, arguments) for service, tool, arguments in CALLS]
    files = {name: path.read_bytes() for name, path in world.workspace.files()}
    return [(outcome.status, outcome.text) for outcome in outcomes], files


def test_what_is_done_apart_gives_what_is_done_at_once(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "_HERE", math.inf)
    at_once = done(make_world(fill, "excel", "pdf_tools"))
    monkeypatch.setattr(apart, "MOST_HERE", -1)
    started = apart._processes._count

    assert done(make_world(fill, "excel", "pdf_tools")) == at_once

    assert apart._processes._count > started or apart._processes._free


def test_a_process_that_ends_is_begun_anew_and_what_needs_too_much_is_refused(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "MOST_HERE", -1)
    world = make_world(fill, "excel", "pdf_tools")
    first = world.call("pdf_tools", "read_pdf_pages", PDF)
    for process in apart._processes._free:
        process.popen.send_signal(signal.SIGKILL)
    assert world.call("pdf_tools", "read_pdf_pages", PDF) == first

    begin = apart._processes._program
    apart._processes.close()
    monkeypatch.setattr(
        apart._processes,
        "_program",
        [f"from mesocosm.services import apart\napart.MEMORY = 2**18\n{begin[0]}"],
    )
    outcome = world.call("pdf_tools", "read_pdf_pages", PDF)
    assert (outcome.status, outcome.text) == ("refused", "in.pdf takes too much memory to read.")
