"""Each service as its product looks: every page of a small world, and where its evidence stands."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from urllib.parse import urlencode
from zipfile import ZIP_DEFLATED, ZipFile

import openpyxl
import pytest
from browsing import asking, links_of, text_of

from mesocosm.evaluation.browser.application import Browser, ListedEntry
from mesocosm.evaluation.browser.marks import Marks
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.services.content import service_names
from mesocosm.services.views import load_view

LOOKS = {
    "recall_campaign": {
        "calendar/": r'<table class="month">',
        "woocommerce/": r">#\d+</a>.*completed",
        "documents/": r"space/1",
        "email/": r"INBOX",
    },
    "bug_triage": {"codehost/": r"repository/\d+"},
    "woocommerce_stock_alert": {"google_sheet/": r"/file/\d+", "woocommerce/products": r"instock"},
    "payable_invoice_checker": {"snowflake/table/1": r"TRANSFER_ID", "files/": r"\.pdf"},
    "academic_warning": {"google_cloud/": r"scores_", "google_cloud/logs": r"Severity", "files/": r"\.csv"},
    "canvas_list_test": {"canvas/course/1/assignments": r"Due", "memory/": r"entities"},
    "gridworld": {"gridworld/": r'<table class="board'},
    "treeworld": {"treeworld/": r'<ul class="tree">'},
    "listworld": {"listworld/": r'class="element"'},
    "puzzle": {"puzzle/": r"Creatures"},
}
"""By task: pages of its world, and what each shows."""
QUESTIONS = {
    "payable_invoice_checker": ("snowflake", "read_query", "SELECT count(*) AS transfers FROM TRANSFERS"),
    "academic_warning": ("google_cloud", "bigquery_run_query", "SELECT 6 * 7 AS answer"),
}


@pytest.mark.parametrize("task", LOOKS)
def test_the_services_of_a_world_look_as_their_products_do(task: str, tmp_path: Path) -> None:
    family = load_family(task)
    build_instance(family, 0, path := tmp_path / "instance", target=family.task.lengths[0])
    with asking(path) as get:
        links_of(get, most=12)
        for place, shown in LOOKS[task].items():
            assert re.search(shown, get(f"/0/world/now/{place}"), re.DOTALL), place
        get("/0/world/now/no_such/", 404)
        if task in QUESTIONS:
            service, tool, question = QUESTIONS[task]
            asked = {"service": service, "tool": tool, "argument": "query", "value": question, "state": "now"}
            answer = text_of(get(f"/0/ask?{urlencode(asked)}"))
            assert re.search(r"(TRANSFERS|answer)\W*\d+", answer)
    browser = Browser([ListedEntry(path)])
    subject, _ = browser.pages(0)
    places = Marks(subject).holders(range(len(subject.evidence)))
    needed = len(subject.evidence) * 0.5 if "world" not in task else 0
    assert len(places) >= needed
    browser.close()


def test_every_service_with_records_of_its_own_has_a_view() -> None:
    products = {"calendar", "canvas", "codehost", "documents", "email", "woocommerce"}
    products |= {"google_cloud", "google_sheet", "snowflake", "gridworld", "treeworld", "listworld", "puzzle"}
    assert {name for name in service_names() if load_view(name)} == products


def _changed(book: bytes, before: bytes, after: bytes) -> bytes:
    """A workbook whose parts have something else in its place."""
    made = io.BytesIO()
    with ZipFile(io.BytesIO(book)) as source, ZipFile(made, "w", ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(before, after))
    return made.getvalue()


def test_files_that_an_agent_left_are_shown_as_far_as_they_can_be(tmp_path: Path) -> None:
    build_instance(load_family("canvas_list_test"), 0, path := tmp_path / "instance", target=8_000)
    workspace = path / "world" / "workspace"
    openpyxl.Workbook().save(made := io.BytesIO())
    book = made.getvalue()
    end = b"<sheetData />"
    for name, data in {
        "wide.csv": b"a," * 1_000_000,
        "line.txt": b"a" * 5_000_000,
        "bomb.xlsx": _changed(book, end, b"<sheetData>" + b" " * 100_000_000 + b"</sheetData>"),
        "far.xlsx": _changed(book, end, b'<sheetData><row r="1048576"><c r="XFD1048576"/></row></sheetData>'),
        "tags.xlsx": _changed(book, end, b"<sheetData>" + b"<row/>" * 2_000_001 + b"</sheetData>"),
        "letters.pdf": b"%PDF-1.7\n" + b"z" * 6_000_000,
        "cut.xlsx": _changed(book, end, b""),
        "<script>.txt": b"<script>alert(1)</script>",
        os.fsdecode(b"\xff.txt"): b"x",
    }.items():
        (workspace / name).write_bytes(data)
    with asking(path) as get:
        listed = get("/0/world/now/files/")
        assert "<script>alert" not in listed
        shown = re.findall(r'href="(/0/world/now/files/file/[^"]+)"', listed)
        for place in shown:
            page = get(place, 404 if "%FF" in place else 200)
            assert len(page) < 100_000
            assert "<script>alert" not in page
        assert len(shown) >= 9
