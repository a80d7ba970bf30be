"""Workbooks made to take the server's memory: refused before anything is built from them."""

from __future__ import annotations

import tracemalloc
import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from openpyxl import Workbook
from openpyxl.drawing.image import Image
from PIL import Image as Pictures

from mesocosm.errors import Invalid
from mesocosm.servers.excel.store.packages import check_package
from mesocosm.services.calling import ToolError

SHEET = "xl/worksheets/sheet1.xml"
BOMB = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]><worksheet>&a;</worksheet>'


@pytest.fixture
def read(open_tools: Callable[..., Any]) -> Callable[[bytes], str]:
    """What the server says of a file."""

    def call(data: bytes) -> str:
        tools = open_tools(None, "excel")
        tools.world.workspace.write("book.xlsx", data)
        tracemalloc.start()
        try:
            with pytest.raises(ToolError) as refused:
                tools.call("excel", "read_data_from_excel", filepath="book.xlsx", sheet_name="Sheet")
            assert tracemalloc.get_traced_memory()[1] < 260 << 20
        finally:
            tracemalloc.stop()
        return str(refused.value)

    return call


def book(picture: bytes | None = None) -> bytes:
    workbook, buffer = Workbook(), BytesIO()
    if picture:
        workbook.active.add_image(Image(BytesIO(picture)), "A1")
    workbook.save(buffer)
    return buffer.getvalue()


def changed(data: bytes, change: Callable[[str, bytes], tuple[str, bytes]]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(*change(name, old.read(name)))
    return buffer.getvalue()


def renamed(to: str, content: bytes) -> bytes:
    """A workbook whose sheet has another name and content."""

    def change(name: str, data: bytes) -> tuple[str, bytes]:
        short = to.removeprefix("xl/")
        data = data.replace(b"/xl/worksheets/sheet1.xml", f"/{to}".encode())
        data = data.replace(b"worksheets/sheet1.xml", short.encode())
        return (to, content) if name == SHEET else (name, data)

    return changed(book(), change)


def test_a_cell_of_190_megabytes_is_refused(read: Callable[[bytes], str]) -> None:
    cell = b'<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>'
    content = cell + b"x" * (190 << 20) + b"</t></is></c></row></sheetData></worksheet>"
    data = renamed(SHEET, content)
    assert len(data) < 400_000
    assert "a text of more than 1 MB" in read(data)


@pytest.mark.parametrize("name", ["xl/worksheets/sheet1.bin", "xl/media/image1.png", "xl/x", SHEET])
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"\n\n  "])
def test_entities_are_refused_whatever_the_sheet_is_called(
    read: Callable[[bytes], str], name: str, before: bytes
) -> None:
    assert "declares XML entities" in read(renamed(name, before + BOMB))


@given(name=some.text("abcxml./", min_size=1, max_size=12), padding=some.text(" \t\r\n", max_size=200))
@settings(max_examples=60, deadline=None)
def test_no_name_and_no_padding_hides_entities(name: str, padding: str) -> None:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"xl/{name}", padding.encode() + BOMB)
    for encoding in ("utf-8", "utf-16", "utf-16-le", "utf-16-be"):
        buffer = BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(f"xl/{name}", (padding + BOMB.decode()).encode(encoding))
        with pytest.raises(Invalid, match="entities"):
            check_package(buffer.getvalue(), "book.xlsx")


def test_a_picture_that_is_large_when_unpacked_is_refused(read: Callable[[bytes], str]) -> None:
    buffer = BytesIO()
    Pictures.new("1", (9_000, 9_000)).save(buffer, "TIFF", compression="group4")
    tiff = buffer.getvalue()
    assert len(tiff) < 100_000
    small = BytesIO()
    Pictures.new("1", (9, 9)).save(small, "PNG")
    data = changed(
        book(small.getvalue()), lambda name, data: (name, tiff if name.startswith("xl/media/") else data)
    )
    assert "more than 25,000,000 pixels" in read(data)
