"""PDF files: text, merging, extracting and searching."""

from __future__ import annotations

import subprocess
import sys
import threading
import tracemalloc
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from time import perf_counter
from typing import Any

import pypdf
import pytest
from patience import PATIENCE

from mesocosm.servers.pdf_tools.store import limits, write_pdf
from mesocosm.servers.pdf_tools.store.letterheads import LAYOUTS, LINES, Letterhead
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World

MOMENT = datetime(2025, 1, 15, 9, tzinfo=UTC)


def fill(world: World) -> None:
    pages = [f"Invoice {number}\nTotal: EUR {number * 100} (net)" for number in range(1, 13)]
    pdf = write_pdf([*pages, ""], moment=world.now, title="Invoices", author="Ann é")
    world.workspace.write("in.pdf", pdf, world.now)
    world.workspace.write("note.txt", b"no pdf", world.now)


@pytest.fixture
def tools(open_tools: Any) -> Any:
    return open_tools(fill, "pdf_tools")


def call(tools: Any, tool: str, **arguments: Any) -> str:
    return str(tools.call("pdf_tools", tool, **arguments))


def test_pages_are_read_one_or_several_at_a_time(tools: Any) -> None:
    assert call(tools, "read_pdf_pages", pdf_file_path="in.pdf") == (
        "PDF total pages: 13\nExtracted page range: 1-1\n\n=== Page 1 ===\nInvoice 1\nTotal: EUR 100 (net)\n"
    )
    text = call(tools, "read_pdf_pages", pdf_file_path="/workspace/in.pdf", start_page=11, end_page=12)
    assert "=== Page 11 ===" in text
    assert "=== Page 12 ===" in text


@pytest.mark.parametrize("layout", range(LAYOUTS))
def test_letters_of_all_layouts_are_read_line_by_line(tools: Any, layout: int) -> None:
    head = Letterhead(["Müller Hydraulik", "Hafenstr. 4, Hamburg"], layout)
    lines = ["INVOICE", "", "Total due (EUR)\t87.20", "4\tpump seals, 40 mm\t12.50\t50.00"]
    tools.world.workspace.write("letter.pdf", write_pdf(["\n".join(lines)], moment=MOMENT, head=head))

    text = call(tools, "read_pdf_pages", pdf_file_path="letter.pdf").splitlines()

    assert {"Müller Hydraulik", "Hafenstr. 4, Hamburg", "Total due (EUR) 87.20"} <= set(text)
    assert "4 pump seals, 40 mm 12.50 50.00" in text


def test_a_letter_holds_no_more_lines_than_fit() -> None:
    with pytest.raises(ValueError, match="46 lines"):
        write_pdf(["\n".join("x" * (LINES + 1))], moment=MOMENT, head=Letterhead(["Miller"], 0))


def test_pages_without_text_say_so(tools: Any) -> None:
    text = call(tools, "read_pdf_pages", pdf_file_path="in.pdf", start_page=13, end_page=13)

    assert text.endswith("Specified page range (13-13) has no extractable text content.")


def test_more_text_than_fits_is_continued_on_another_call(tools: Any) -> None:
    page = "\n".join(["word " * 18] * 60)
    tools.world.workspace.write("long.pdf", write_pdf([page] * 40, moment=MOMENT))

    text = call(tools, "read_pdf_pages", pdf_file_path="long.pdf", end_page=40)

    assert len(text) < 105_000
    assert text.endswith("continue with start_page 19.]")


def test_the_file_tells_about_itself(tools: Any) -> None:
    assert call(tools, "get_pdf_info", pdf_file_path="in.pdf").splitlines() == [
        "PDF file information:",
        "Total pages: 13",
        "Title: Invoices",
        "Author: Ann é",
        "Creator: Writer",
        "Creation date: D:20250115090000Z",
    ]


def pages_of(tools: Any, name: str) -> list[str]:
    reader = pypdf.PdfReader(BytesIO((tools.world.workspace.root / name).read_bytes()))
    return [page.extract_text().split("\n")[0] for page in reader.pages]


def test_files_are_merged_in_their_order(tools: Any) -> None:
    call(tools, "extract_pdf_pages", source_path="in.pdf", page_numbers=[2], output_path="two.pdf")

    text = call(tools, "merge_pdfs", pdf_paths=["two.pdf", "in.pdf"], output_path="out/all.pdf")

    assert text == "Successfully merged 2 PDFs into 'out/all.pdf'\nTotal pages: 14"
    assert pages_of(tools, "out/all.pdf")[:2] == ["Invoice 2", "Invoice 1"]


def test_pages_are_extracted_in_the_order_that_is_asked_for(tools: Any) -> None:
    text = call(tools, "extract_pdf_pages", source_path="in.pdf", page_numbers=[3, 1], output_path="e.pdf")

    assert text == (
        "Successfully extracted 2 pages from 'in.pdf' to 'e.pdf'\n"
        "Extracted pages: [3, 1]\nSource PDF total pages: 13"
    )
    assert pages_of(tools, "e.pdf") == ["Invoice 3", "Invoice 1"]


def test_matches_are_paged_through_and_outlast_a_restart(tools: Any, tmp_path: Any) -> None:
    first = call(tools, "search_pdf_content", pdf_file_path="in.pdf", pattern=r"total: eur \d+", page_size=5)
    search_id = first.splitlines()[0].removeprefix("Search ID: ")
    assert "Total matches: 12\nPage: 1/3\nResults per page: 5\n\nMatch 1:\n  Page: 1\n" in first
    assert '  Text: "Total: EUR 100"\n  Context: ...Invoice 1\n[Total: EUR 100] (net)\n...' in first

    assert "Match 6:" in call(tools, "search_pdf_next_page", search_id=search_id)
    assert "Match 12:" in call(tools, "search_pdf_go_page", search_id=search_id, page_number=3)
    tools.world.copy_to(tmp_path / "fork")
    with World(tmp_path / "fork") as reopened:
        outcome = reopened.call("pdf_tools", "search_pdf_prev_page", {"search_id": search_id})
    assert "Match 10:" in outcome.text


def test_a_search_tells_its_state(tools: Any) -> None:
    first = call(tools, "search_pdf_content", pdf_file_path="in.pdf", pattern="Invoice")
    search_id = first.splitlines()[0].removeprefix("Search ID: ")
    call(tools, "search_pdf_next_page", search_id=search_id)

    assert call(tools, "search_pdf_info", search_id=search_id).splitlines() == [
        "Search Session Information:",
        f"Search ID: {search_id}",
        "PDF Path: /workspace/in.pdf",
        "Pattern: Invoice",
        "Total matches: 12",
        "Current page: 2/2",
        "Results per page: 10",
        "Last accessed: 2025-01-15T09:00:02Z",
    ]
    with pytest.raises(ToolError, match="Already on last page"):
        call(tools, "search_pdf_next_page", search_id=search_id)


def test_a_search_without_matches_says_so(tools: Any) -> None:
    text = call(tools, "search_pdf_content", pdf_file_path="in.pdf", pattern="nothing")

    assert text == "No matches found for pattern: nothing"


def test_old_searches_are_forgotten(tools: Any) -> None:
    ids = [
        call(tools, "search_pdf_content", pdf_file_path="in.pdf", pattern="Invoice 1$").split()[2]
        for _ in range(101)
    ]

    with pytest.raises(ToolError, match="not found or expired"):
        call(tools, "search_pdf_info", search_id=ids[0])
    call(tools, "search_pdf_info", search_id=ids[1])


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("read_pdf_pages", {"pdf_file_path": "no.pdf"}, "No such file: /workspace/no.pdf"),
        ("read_pdf_pages", {"pdf_file_path": "../world.json"}, "outside the workspace"),
        ("read_pdf_pages", {"pdf_file_path": "https://x.org/a.pdf"}, "no network"),
        ("read_pdf_pages", {"pdf_file_path": "note.txt"}, "is not a PDF file"),
        ("read_pdf_pages", {"pdf_file_path": "in.pdf", "end_page": 14}, "end_page must be between 1 and 13"),
        ("read_pdf_pages", {"pdf_file_path": "in.pdf", "start_page": 0}, "start_page must be between"),
        ("read_pdf_pages", {"pdf_file_path": "in.pdf", "start_page": 2}, "is before start_page"),
        ("get_pdf_info", {"pdf_file_path": ""}, "must not be empty"),
        ("merge_pdfs", {"pdf_paths": [], "output_path": "o.pdf"}, "1 to 500 files"),
        ("merge_pdfs", {"pdf_paths": ["in.pdf", "note.txt"], "output_path": "o.pdf"}, "not a PDF file"),
        ("merge_pdfs", {"pdf_paths": ["in.pdf"], "output_path": "/tmp/o.pdf"}, "outside the workspace"),
        ("merge_pdfs", {"pdf_paths": ["in.pdf"], "output_path": "note.txt"}, "must end with .pdf"),
        (
            "extract_pdf_pages",
            {"source_path": "in.pdf", "page_numbers": [1, 14], "output_path": "o.pdf"},
            "page_numbers must be between 1 and 13, got 14",
        ),
        ("extract_pdf_pages", {"source_path": "in.pdf", "page_numbers": [], "output_path": "o.pdf"}, "1 to"),
        ("search_pdf_content", {"pdf_file_path": "in.pdf", "pattern": "(("}, "Invalid regex pattern"),
        ("search_pdf_content", {"pdf_file_path": "in.pdf", "pattern": ""}, "1 to 1,000 characters"),
        ("search_pdf_content", {"pdf_file_path": "in.pdf", "pattern": "a", "page_size": 0}, "page_size"),
        ("search_pdf_next_page", {"search_id": "x"}, "'x' not found or expired"),
        ("search_pdf_prev_page", {"search_id": ""}, "not found or expired"),
        ("search_pdf_go_page", {"search_id": "x", "page_number": 1}, "not found or expired"),
        ("search_pdf_info", {"search_id": "x"}, "not found or expired"),
    ],
)
def test_bad_arguments_are_refused_and_leave_no_trace(
    tools: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    def state() -> dict[str, bytes]:
        return {name: path.read_bytes() for name, path in tools.world.workspace.files()}

    before = state()
    with pytest.raises(ToolError, match=message):
        call(tools, tool, **arguments)
    assert state() == before


# -- hostile files


def with_content(stream: bytes, filters: bytes = b"") -> bytes:
    """A PDF file whose only page has this content stream."""
    pdf = write_pdf(["MARK"], moment=MOMENT)
    start = pdf.index(b"<< /Length", pdf.index(b"/MediaBox"))
    end = pdf.index(b"endobj", start)
    body = b"<< /Length %d %s >>\nstream\n%s\nendstream\n" % (len(stream), filters, stream)
    return pdf[:start] + body + pdf[end:]


HOSTILE: dict[str, Callable[[], bytes]] = {
    "cut off": lambda: write_pdf(["text"], moment=MOMENT)[:300],
    "garbage": lambda: b"%PDF-1.7\n" + bytes(range(256)) * 50,
    "own parent": lambda: write_pdf(["x"], moment=MOMENT).replace(b"/Kids [5 0 R]", b"/Kids [2 0 R]"),
    "bomb": lambda: with_content(zlib.compress(b"\0" * 200_000_000), b"/Filter /FlateDecode"),
    "bomb in bomb": lambda: with_content(
        zlib.compress(zlib.compress(b"\0" * 200_000_000)), b"/Filter [/FlateDecode /FlateDecode]"
    ),
    "letters for four bytes": lambda: with_content(b"z" * 30_000_000 + b"~>", b"/Filter /ASCII85Decode"),
    "endless operators": lambda: with_content(b"q Q " * 4_000_000),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_and_damaged_files_do_no_harm(tools: Any, kind: str) -> None:
    tools.world.workspace.write("bad.pdf", HOSTILE[kind]())

    for tool, arguments in (
        ("read_pdf_pages", {"pdf_file_path": "bad.pdf"}),
        ("merge_pdfs", {"pdf_paths": ["bad.pdf"], "output_path": "bad.pdf"}),
        ("search_pdf_content", {"pdf_file_path": "bad.pdf", "pattern": "x"}),
    ):
        outcome = tools.world.call("pdf_tools", tool, arguments)
        assert outcome.status != "fault"
        assert len(outcome.text) < 1_000


def test_what_unfolds_in_a_file_is_not_kept(tools: Any) -> None:
    blank = zlib.compress(b" " * 12_000_000 + b"BT (MARK) Tj ET")
    tools.world.workspace.write("wide.pdf", with_content(blank, b"/Filter /FlateDecode"))
    tracemalloc.start()
    try:
        tools.call("pdf_tools", "read_pdf_pages", pdf_file_path="wide.pdf")
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most > 12_000_000
    assert kept < 6_000_000


def test_a_file_that_takes_too_long_is_given_up() -> None:
    def work() -> None:
        with limits.reading("slow.pdf", 0.05):
            while True:
                try:
                    sum(range(100))
                except Exception:  # noqa: BLE001 - as libraries do, which must not save them
                    continue

    with pytest.raises(Exception, match=r"slow\.pdf takes too long to read: more than 0\.05 seconds"):
        work()


def test_an_interpreter_does_not_go_on_looking_for_what_was_raised() -> None:
    """With a trace function, Python 3.11 would not get beyond its first look."""
    program = """
import sys
from mesocosm.servers.pdf_tools.store import limits
for _ in range(3):
    try:
        with limits.reading("slow.pdf", 0.01):
            while True:
                sum(range(100))
    except Exception as refused:
        print(refused)
sys.settrace(lambda *_: None)
(lambda: print("traced"))()
"""
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=PATIENCE
    ).stdout
    assert said.splitlines() == ["slow.pdf takes too long to read: more than 0.01 seconds."] * 3 + ["traced"]


def test_a_finalizer_that_runs_meanwhile_is_let_come_to_its_end() -> None:
    ended = []

    class Rubbish:
        def __del__(self) -> None:
            until = perf_counter() + 1.2
            while perf_counter() < until:
                pass
            ended.append(True)

    def work() -> None:
        with limits.reading("slow.pdf", 0.05):
            one = Rubbish()
            del one
            while True:
                sum(range(100))

    with pytest.raises(Exception, match="takes too long"):
        work()
    assert ended


def test_one_thread_watches_all_that_read() -> None:
    for number in range(3):
        with limits.reading("one.pdf"), limits.reading("another.pdf", 60 + number):
            pass
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("pdf time limit") == 1


def test_files_of_the_same_bytes_say_the_same_and_others_not(tools: Any) -> None:
    def text(path: str) -> str:
        return str(tools.call("pdf_tools", "read_pdf_pages", pdf_file_path=path))

    for path, said in (("a.pdf", "One thing"), ("b.pdf", "One thing"), ("c.pdf", "Another")):
        tools.world.workspace.write(path, write_pdf([said], moment=MOMENT))
    assert text("a.pdf") == text("b.pdf") != text("c.pdf")
    tools.world.workspace.write("a.pdf", write_pdf(["Another"], moment=MOMENT))
    assert text("a.pdf") == text("c.pdf")


def test_a_pattern_tries_no_text_twice_and_has_a_bounded_size(
    tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools.world.workspace.write("a.pdf", write_pdf(["a" * 90 + "b"], moment=MOMENT))

    def search(pattern: str) -> str:
        return call(tools, "search_pdf_content", pdf_file_path="a.pdf", pattern=pattern)

    assert "No matches" in search("(a|aa)+$")
    for pattern, words in (
        (r"(a)\1", "invalid escape sequence"),
        ("(?<=a)b", "invalid perl operator"),
        (r"(\pL{100}){9}", "pattern too large"),
        (r"\pL" * 51, "more than 50 classes"),
    ):
        with pytest.raises(ToolError, match=words):
            search(pattern)
    monkeypatch.setattr("mesocosm.servers.pdf_tools.store.SECONDS", 0)
    with pytest.raises(ToolError, match="use a simpler pattern"):
        search("a")


# -- making files


def test_the_same_pages_are_the_same_bytes() -> None:
    one, two = (write_pdf(["a (b) \\ é\n" + "long " * 50], moment=MOMENT, title="t") for _ in range(2))

    assert one == two
    text = pypdf.PdfReader(BytesIO(one)).pages[0].extract_text()
    assert text.split("\n")[0] == "a (b) \\ é"


@pytest.mark.parametrize("pages", [[], ["漢字"], ["line\n" * 61]])
def test_what_does_not_fit_on_a_page_cannot_be_written(pages: list[str]) -> None:
    with pytest.raises(ValueError, match=r"at least one page|not a character|a page holds"):
        write_pdf(pages, moment=MOMENT)
