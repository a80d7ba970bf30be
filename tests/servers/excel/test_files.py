"""Workbook files: the same bytes every time, hostile ones refused, each parsed once."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import openpyxl
import PIL.Image
import pytest
from openpyxl.drawing.image import Image

from mesocosm.servers.excel.store import books, save_workbook
from mesocosm.services import apart
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World

MOMENT = datetime(2025, 1, 15, 9, tzinfo=UTC)

SCRIPT = """
import hashlib, openpyxl
from datetime import UTC, datetime
from mesocosm.servers.excel.store import save_workbook
book = openpyxl.Workbook()
sheet = book.active
for row in range(20):
    sheet.append([f"t{row}", row, row / 7])
    sheet.merge_cells(start_row=row + 30, end_row=row + 30, start_column=1, end_column=row + 2)
print(hashlib.sha256(save_workbook(book, datetime(2025, 1, 15, 9, tzinfo=UTC))).hexdigest())
"""


def test_the_same_content_is_the_same_bytes_in_every_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_a_saved_workbook_bears_the_worlds_time(tmp_path: Any) -> None:
    data = save_workbook(openpyxl.Workbook(), MOMENT)

    properties = openpyxl.load_workbook(BytesIO(data)).properties
    assert properties.created == properties.modified == MOMENT.replace(tzinfo=None)
    assert {item.date_time for item in zipfile.ZipFile(BytesIO(data)).infolist()} == {(1980, 1, 1, 0, 0, 0)}


def fill(world: World) -> None:
    workbook = openpyxl.Workbook()
    sheet: Any = workbook.active
    for row in range(1_000):
        sheet.append([row, f"text {row}", row / 3])
    world.workspace.write("book.xlsx", save_workbook(workbook, world.now), world.now)


@pytest.fixture
def tools(open_tools: Any) -> Any:
    return open_tools(fill, "excel")


def read(tools: Any, path: str = "book.xlsx", **arguments: Any) -> Any:
    return tools.call("excel", "read_data_from_excel", filepath=path, sheet_name="Sheet", **arguments)


def test_a_file_is_parsed_once_for_all_its_pages(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read(tools)
    monkeypatch.setattr(books.Book, "__init__", None)

    assert read(tools, start_cell="A501")["cells"][0]["value"] == 500


def test_a_changed_file_is_read_again(tools: Any) -> None:
    assert read(tools)["cells"][0]["value"] == 0
    tools.call("excel", "write_data_to_excel", filepath="book.xlsx", sheet_name="Sheet", data=[[7]])
    assert read(tools)["cells"][0]["value"] == 7

    path = tools.world.workspace.root / "book.xlsx"
    path.write_bytes(save_workbook(openpyxl.Workbook(), MOMENT))
    assert read(tools) == "No data found in specified range"


def test_fork_and_original_do_not_see_each_others_cells(tools: Any, tmp_path: Any) -> None:
    read(tools)
    tools.world.copy_to(tmp_path / "fork")
    tools.call("excel", "write_data_to_excel", filepath="book.xlsx", sheet_name="Sheet", data=[[7]])

    with World(tmp_path / "fork") as fork:
        arguments = {"filepath": "book.xlsx", "sheet_name": "Sheet", "end_cell": "A1"}
        assert '"value":0' in fork.call("excel", "read_data_from_excel", arguments).text


def test_the_cache_gives_up_what_was_not_used(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books, "CACHE_BYTES", 1)
    kept = books.Books()
    for name in ("a", "b"):
        data = save_workbook(openpyxl.Workbook(), MOMENT)
        tools.world.workspace.write(f"{name}.xlsx", data)
        kept.add(tools.world.workspace.content(f"{name}.xlsx"), name)
        kept.trim()

    assert len(kept._books) == 1


# -- hostile files


def changed(part: str, change: Callable[[bytes], bytes], **extra: bytes) -> bytes:
    """A workbook with one part changed and others added."""
    source = zipfile.ZipFile(BytesIO(save_workbook(openpyxl.Workbook(), MOMENT)))
    target = BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in source.namelist():
            archive.writestr(name, change(source.read(name)) if name == part else source.read(name))
        for name, data in extra.items():
            archive.writestr(name, data)
    return target.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
ENTITIES = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


def in_data(xml: bytes) -> Callable[[bytes], bytes]:
    return lambda part: part.replace(b"<sheetData></sheetData>", b"<sheetData>" + xml + b"</sheetData>")


def after_data(xml: bytes) -> Callable[[bytes], bytes]:
    return lambda part: part.replace(b"<sheetData></sheetData>", b"<sheetData />" + xml)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "no zip": lambda: b"PK\x03\x04 nothing",
    "empty": lambda: b"",
    "text": lambda: b"a,b,c\n1,2,3\n",
    "cut off": lambda: save_workbook(openpyxl.Workbook(), MOMENT)[:3_000],
    "zip of something else": lambda: changed("[Content_Types].xml", lambda _: b"<x/>"),
    "bomb": lambda: changed(SHEET, lambda part: part, bomb=b"\0" * (210 * 1024 * 1024)),
    "entities": lambda: changed(SHEET, lambda part: part.replace(b"<worksheet", ENTITIES + b"<worksheet")),
    "utf-16": lambda: changed("xl/workbook.xml", lambda part: part.decode().encode("utf-16")),
    "many tags": lambda: changed(SHEET, after_data(b"<a/>" * 20_000_100)),
    "many tags in styles": lambda: changed("xl/styles.xml", lambda part: part + b"<a/>" * 1_000_001),
    "huge merge": lambda: changed(
        SHEET, after_data(b'<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>')
    ),
    "huge link": lambda: changed(
        SHEET, after_data(b'<hyperlinks><hyperlink ref="A1:XFD1048576"/></hyperlinks>')
    ),
    "huge comment": lambda: changed(
        SHEET,
        lambda part: part,
        **{
            "xl/comments1.xml": b'<comments xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
            b'<commentList><comment ref="A1&#58;XFD1048576" authorId="0"/></commentList></comments>'
        },
    ),
    "blank for megabytes": lambda: changed(SHEET, lambda part: part, **{"xl/media/a.bin": b" " * 9_000_000}),
    "formula for all": lambda: changed(
        SHEET,
        in_data(
            b'<row r="1"><c r="A1"><f t="shared" si="0">"%s"</f></c></row>' % (b"a" * 8_000)
            + b"".join(b'<row><c><f t="shared" si="0"/></c></row>' for _ in range(8_001))
        ),
    ),
    "formula that is too long": lambda: changed(
        SHEET, in_data(b'<row r="1"><c r="A1"><f t="shared" si="0">"%s"</f></c></row>' % (b"a" * 9_000))
    ),
    "row beyond the sheet": lambda: changed(
        SHEET, in_data(b'<row r="9999999"><c r="A9999999"><v>1</v></c></row>')
    ),
    "no number": lambda: changed(SHEET, in_data(b'<row r="1"><c r="A1"><v>abc</v></c></row>')),
    "missing string": lambda: changed(SHEET, in_data(b'<row r="1"><c r="A1" t="s"><v>5</v></c></row>')),
    "cell elsewhere": lambda: changed(SHEET, in_data(b'<row r="1"><c r="A7"><v>5</v></c></row>')),
    "broken xml": lambda: changed(SHEET, lambda part: part[: len(part) // 2]),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_and_damaged_files_are_refused(tools: Any, kind: str) -> None:
    data = HOSTILE[kind]()
    tools.world.workspace.write("bad.xlsx", data)

    for attempt in (
        lambda: read(tools, "bad.xlsx"),
        lambda: tools.call(
            "excel", "write_data_to_excel", filepath="bad.xlsx", sheet_name="Sheet", data=[[1]]
        ),
    ):
        with pytest.raises(
            ToolError, match=r"not a valid Excel workbook|too large|too many|a formula of more than"
        ):
            attempt()
    assert (tools.world.workspace.root / "bad.xlsx").read_bytes() == data
    assert not list(tools.world.journal.with_status("fault"))


def test_no_picture_is_read_where_others_are_served(tools: Any) -> None:
    def processes() -> list[Any]:
        return [one for one in apart._processes._free if one.whom == tools.world.owner]

    workbook = openpyxl.Workbook()
    tools.world.workspace.write("plain.xlsx", save_workbook(workbook, MOMENT))
    picture = BytesIO()
    PIL.Image.new("RGB", (2, 2)).save(picture, "PNG")
    workbook.active.add_image(Image(picture), "C3")  # type: ignore[union-attr]
    tools.world.workspace.write("picture.xlsx", save_workbook(workbook, MOMENT))

    for name, count in (("plain.xlsx", 0), ("picture.xlsx", 1)):
        tools.call("excel", "write_data_to_excel", filepath=name, sheet_name="Sheet", data=[[1]])
        assert len(processes()) == count
        assert read(tools, name)["cells"][0]["value"] == 1
    changed = openpyxl.load_workbook(tools.world.workspace.root / "picture.xlsx")
    assert len(changed.active._images) == 1  # type: ignore[union-attr]


def test_deleting_all_rows_of_a_sheet_with_distant_cells_is_quick(tools: Any) -> None:
    workbook = openpyxl.Workbook()
    workbook.active["XFD1048576"] = 1  # type: ignore[index]
    tools.world.workspace.write("far.xlsx", save_workbook(workbook, MOMENT))

    for tool, arguments in (
        ("delete_sheet_rows", {"start_row": 1, "count": 1_048_575}),
        ("delete_sheet_columns", {"start_col": 1, "count": 16_383}),
    ):
        tools.call("excel", tool, filepath="far.xlsx", sheet_name="Sheet", **arguments)

    assert [cell["address"] for cell in read(tools, "far.xlsx")["cells"]] == ["A1"]


def test_a_number_too_large_for_json_is_still_delivered(tools: Any) -> None:
    xml = b'<row r="1"><c r="A1"><v>99999999999999999999999</v></c><c r="B1"><v>1e999</v></c></row>'
    tools.world.workspace.write("big.xlsx", changed(SHEET, in_data(xml)))

    assert [cell["value"] for cell in read(tools, "big.xlsx")["cells"]] == [1e23, "inf"]


def test_a_layout_that_is_kept_is_that_of_workbooks_with_the_same_parts_alone() -> None:
    def saved(value: object, number_format: str, title: str) -> bytes:
        workbook = openpyxl.Workbook()
        sheet = workbook.worksheets[0]
        sheet.title = title
        sheet["A1"] = value
        sheet["A1"].number_format = number_format
        file = BytesIO()
        workbook.save(file)
        return file.getvalue()

    days = [saved(day, "yyyy-mm-dd", "Plan") for day in (45000, 45001)]
    found = [books.Book(data, "plan.xlsx").sheet("Plan").value(1, 1) for data in days]
    assert [day.day for day in found] == [15, 16], "the cells are each workbook's own"
    # The same parts by name: other formats, other sheets.
    assert books.Book(saved(45000, "0", "Plan"), "plan.xlsx").sheet("Plan").value(1, 1) == 45000
    assert books.Book(saved(45000, "0", "Other"), "plan.xlsx").sheet_names == ["Other"]
