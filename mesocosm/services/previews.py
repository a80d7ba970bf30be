"""Previews of files: tables, workbooks, PDF, pictures and text; the size of anything else."""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Sequence
from itertools import islice
from typing import Any
from zipfile import BadZipFile, ZipFile

from mesocosm.services.views import Asked, Block, Cell, Fields, Picture, Prose, Sheet, Table

LINES = 400
"""Lines or rows of a page."""
_LARGEST_PICTURE = 4_000_000
_LONGEST_CELL, _LONGEST_LINE, _MOST_COLUMNS, _MOST_SHEET_ROWS = 2_000, 20_000, 200, 10_000
_MOST_UNPACKED = 64 * 2**20
"""Bytes of a workbook: who looks at what an agent has left does not wait for it."""
_MOST_TAGS = 2_000_000
"""Of XML, each of which takes a moment; packed, some thousand bytes hold them all."""
_LARGEST_PDF = 5_000_000
_PAGES, _SHEETS = 40, 30
_PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
_CODE = (
    ".py",
    ".js",
    ".ts",
    ".json",
    ".yaml",
    ".yml",
    ".toml",
    ".sh",
    ".sql",
    ".c",
    ".h",
    ".cpp",
    ".rs",
    ".go",
)
_DAMAGED = (BadZipFile, EOFError, KeyError, OSError, RuntimeError, SyntaxError, ValueError, zlib.error)
"""Exceptions of readers over a file that is not what its name says: ``SyntaxError`` of XML."""


def preview(name: str, data: bytes, asked: Asked) -> Sequence[Block]:
    """Blocks that show a file, by the end of its name and by its content."""
    lower = name.lower()
    kind = next((kind for end, kind in _PICTURES.items() if lower.endswith(end)), None)
    try:
        if kind and len(data) <= _LARGEST_PICTURE:
            return [Picture(data, kind, name)]
        if lower.endswith((".xlsx", ".xlsm")):
            return workbook_sheets(data, asked)
        if lower.endswith(".pdf"):
            return [Prose(text, f"Page {n}") for n, text in enumerate(pdf_pages(data), 1)]
    except _DAMAGED as error:
        return [Table(["What is wrong with the file"], []), Prose(f"It cannot be read: {error}")]
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return [Fields({"Bytes": f"{len(data):,}, no text", "Begins with": data[:32].hex(" ")})]
    if lower.endswith((".csv", ".tsv")):
        return [_table_of(text, "\t" if lower.endswith(".tsv") else ",", asked)]
    return [text_page(text, asked, code=lower.endswith(_CODE))]


def text_page(text: str, asked: Asked, *, code: bool = False, title: str = "") -> Prose:
    """Those lines of a text that a page shows."""
    lines = text.split("\n")
    shown = lines[asked.start : asked.start + LINES]
    many = len(lines) > LINES
    shown = [one if len(one) <= _LONGEST_LINE else f"{one[:_LONGEST_LINE]}…" for one in shown]
    return Prose("\n".join(shown), title, code, first=asked.start + 1, total=len(lines) if many else None)


def _table_of(text: str, delimiter: str, asked: Asked) -> Sheet:
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        rows = [
            [cell_of(value) for value in row[:_MOST_COLUMNS]]
            for row in islice(reader, asked.start, asked.start + LINES)
        ]
        more = sum(1 for _ in reader)
    except csv.Error:
        lines = text.split("\n")[asked.start : asked.start + LINES]
        return Sheet([[cell_of(line)] for line in lines])
    total = asked.start + len(rows) + more
    return Sheet(rows, first=asked.start + 1, total=total if total > LINES else None)


def _workbook(data: bytes) -> Any:
    """A workbook; ``ValueError`` where it would take too long to read."""
    from openpyxl import load_workbook

    with ZipFile(io.BytesIO(data)) as archive:
        # No more than that is read of a part, whatever it holds.
        parts = archive.infolist()
        if sum(one.file_size for one in parts) > _MOST_UNPACKED:
            raise ValueError(f"it has more than {_MOST_UNPACKED:,} bytes")
        if sum(archive.read(one).count(b"<") for one in parts) > _MOST_TAGS:
            raise ValueError(f"it has more than {_MOST_TAGS:,} tags")
    return load_workbook(io.BytesIO(data), read_only=True)


def _columns(sheet: Any) -> int:
    return min(sheet.max_column or 1, _MOST_COLUMNS)


def workbook_sheets(data: bytes, asked: Asked) -> list[Block]:
    """The sheets of a workbook, with the formulas that it holds."""
    book = _workbook(data)
    found: list[Block] = []
    for sheet in book.worksheets[:_SHEETS]:
        first = asked.start + 1
        total = sheet.max_row or 0
        last = min(total, asked.start + LINES)
        rows = sheet.iter_rows(min_row=first, max_row=last, max_col=_columns(sheet), values_only=True)
        shown = [[cell_of(value) for value in row] for row in rows]
        found.append(Sheet(shown, sheet.title, first, total if total > LINES else None))
    book.close()
    return found


def cell_of(value: Any) -> Cell:
    """A value as a cell shows it."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    text = str(value)
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"


def pdf_pages(data: bytes) -> list[str]:
    """The texts of the pages of a PDF."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    if len(data) > _LARGEST_PDF:
        raise ValueError(f"it has more than {_LARGEST_PDF:,} bytes")
    try:
        return [page.extract_text() for page in PdfReader(io.BytesIO(data)).pages[:_PAGES]]
    except (PyPdfError, RecursionError, TypeError, AttributeError) as error:
        raise ValueError(str(error)) from None


def readable(name: str, data: bytes) -> str:
    """The text that a file holds, for search: of a workbook its cells, of a PDF its pages."""
    lower = name.lower()
    try:
        if lower.endswith((".xlsx", ".xlsm")):
            book = _workbook(data)
            lines = [
                "\t".join("" if value is None else str(value) for value in row)
                for sheet in book.worksheets[:_SHEETS]
                for row in sheet.iter_rows(
                    max_row=min(sheet.max_row or 0, _MOST_SHEET_ROWS),
                    max_col=_columns(sheet),
                    values_only=True,
                )
            ]
            book.close()
            return "\n".join(lines)
        if lower.endswith(".pdf"):
            return "\n".join(pdf_pages(data))
        return data.decode()
    except _DAMAGED:
        return ""
