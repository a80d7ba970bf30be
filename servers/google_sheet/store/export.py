"""Spreadsheets as files: CSV and TSV of the first sheet, and XLSX."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from openpyxl import Workbook
from openpyxl.cell import Cell
from openpyxl.utils import get_column_letter

from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.store.ranges import area_name, cell_name
from mesocosm.servers.google_sheet.store.sheets import Book, Grid
from mesocosm.servers.google_sheet.store.values import Content
from mesocosm.services.workbook_functions import as_stored

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
KINDS = ("text/csv", "text/tab-separated-values", XLSX)
MAX_CELLS = 500_000
"""The vendor exports at most 10 MB."""

_FORMULA = re.compile(
    r'<c r="([A-Z]+\d+)"( s="\d+")?(?: t="\w+")?><f>(.*?)</f><v\s*(?:/>|></v>)</c>', re.DOTALL
)
_MOMENT = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")


def exported(store: SheetStore, book: Book, kind: str, sheet_id: int | None = None) -> bytes:
    """A spreadsheet as a file of a media type; formats of one sheet alone have the first, or that named."""
    if kind not in KINDS:
        raise Invalid("The requested conversion is not supported.", code="badRequest")
    sheets = store.sheets.all(book)
    if sum(used.height * used.width for used in map(store.values.used, sheets)) > MAX_CELLS:
        raise Invalid("This file is too large to be exported.", code="exportSizeLimitExceeded")
    if kind == XLSX:
        return _workbook(store, sheets)
    text = io.StringIO()
    delimiter, end = (",", "\r\n") if kind == "text/csv" else ("\t", "\n")
    shown = sheets[0] if sheet_id is None else store.sheets.with_id(book, sheet_id)
    lines = store.values.grid(shown, shown.area)
    width = max(map(len, lines), default=0)
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerows(line + [""] * (width - len(line)) for line in lines)
    return text.getvalue().removesuffix(end).encode()


def _workbook(store: SheetStore, sheets: list[Grid]) -> bytes:
    workbook = Workbook()
    workbook.remove(workbook.worksheets[0])
    values: dict[str, dict[str, Content]] = {}
    for number, sheet in enumerate(sheets, 1):
        page = workbook.create_sheet(re.sub(r"[\\/*?:\[\]]", "_", sheet.title)[:31])
        computed = values[f"xl/worksheets/sheet{number}.xml"] = {}
        for one in store.values.cells(sheet, sheet.area):
            cell = page.cell(one.row + 1, one.column + 1)
            assert isinstance(cell, Cell)
            if one.formula is not None:
                cell.value = as_stored(one.formula)
                computed[cell_name(one.row, one.column)] = one
            elif one.kind == "s":
                cell.value = _clean(one.text or "")
                cell.data_type = "s"
            elif one.kind:
                cell.value = one.value
            if one.pattern:
                cell.number_format = one.pattern
        for merge in store.formats.merges(sheet):
            page.merge_cells(area_name(merge))
        frozen = sheet.properties.get("gridProperties", {})
        rows, columns = frozen.get("frozenRowCount", 0), frozen.get("frozenColumnCount", 0)
        if rows or columns:
            page.freeze_panes = f"{get_column_letter(columns + 1)}{rows + 1}"
    buffer = io.BytesIO()
    workbook.save(buffer)
    return _packed(buffer, values, store.now)


def _clean(text: str) -> str:
    return "".join(character for character in text if character >= " " or character in "\t\n\r")


def _packed(buffer: io.BytesIO, values: dict[str, dict[str, Content]], moment: datetime) -> bytes:
    """The same package with what the formulas gave, and with the world's time instead of the machine's."""
    stamp = moment.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    result = io.BytesIO()
    with zipfile.ZipFile(buffer) as source, zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as target:
        for name in sorted(source.namelist()):
            data = source.read(name)
            if name == "docProps/core.xml":
                data = _MOMENT.sub(rb"\g<1>" + stamp, data)
            elif name in values:
                data = _FORMULA.sub(partial(_with_value, values[name]), data.decode()).encode()
            target.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return result.getvalue()


def _with_value(known: dict[str, Content], found: re.Match[str]) -> str:
    cell = known.get(found[1])
    if cell is None:
        return found[0]
    kind = {"s": "str", "n": "n", "b": "b", "e": "e"}.get(cell.kind, "str")
    value = str(int(cell.number or 0)) if cell.kind == "b" else str(cell.value)
    return f'<c r="{found[1]}"{found[2] or ""} t="{kind}"><f>{found[3]}</f><v>{escape(_clean(value))}</v></c>'
