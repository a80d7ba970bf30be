"""Structure of a workbook besides its cells: its sheets, and which number formats are dates.

Most of the time that it takes to open a small workbook goes into that, and workbooks that were saved by one
program for one purpose have the same. So it is kept, with the bytes of all parts that were read for it: a
workbook that has the same bytes in them has the same layout.
"""

from __future__ import annotations

import re
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import Any

from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.numbers import BUILTIN_FORMATS, BUILTIN_FORMATS_MAX_SIZE
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.utils.datetime import WINDOWS_EPOCH

_MOST = 64
"""Layouts that are kept, each with parts of at most so many bytes:"""
_BYTES = 256 * 1024
_LITERAL = re.compile(r'"[^"]*"|[\\_*].')
"""Literal parts of a number format, and placeholders for space."""


@dataclass(frozen=True)
class Layout:
    """Of one workbook."""

    paths: dict[str, str]
    """Of the parts of its worksheets, by their names, in their order."""
    dates: frozenset[int]
    """Styles of cells that are dates or times."""
    durations: frozenset[int]
    percents: frozenset[int]
    """Styles that show a hundred times what a cell holds."""
    epoch: datetime


class _Watched(zipfile.ZipFile):
    """An archive that notes which of its parts are read."""

    def __init__(self, data: bytes) -> None:
        super().__init__(BytesIO(data))
        self.seen: set[str] = set()

    def open(self, name: str | zipfile.ZipInfo, *arguments: Any, **options: Any) -> Any:
        self.seen.add(name if isinstance(name, str) else name.filename)
        return super().open(name, *arguments, **options)


class _Layouts:
    """Those that were read last, by the names of all parts, with the bytes of the parts that count."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], tuple[dict[str, bytes], Layout]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, archive: zipfile.ZipFile) -> Layout | None:
        with self._lock:
            parts, layout = self._kept.get(tuple(archive.namelist()), ({}, None))
        same = layout is not None and all(archive.read(name) == data for name, data in parts.items())
        return layout if same else None

    def keep(self, archive: _Watched, layout: Layout) -> None:
        parts = {name: archive.read(name) for name in sorted(archive.seen)}
        if sum(map(len, parts.values())) > _BYTES:
            return
        with self._lock:
            self._kept[tuple(archive.namelist())] = parts, layout
            if len(self._kept) > _MOST:
                self._kept.popitem(last=False)


_LAYOUTS = _Layouts()


def read_layout(data: bytes) -> Layout:
    """Read the layout of a workbook whose package was checked; raises openpyxl's errors for a damaged one."""
    archive = _Watched(data)
    if (known := _LAYOUTS.find(archive)) is not None:
        return known
    archive.seen.clear()
    reader = ExcelReader(BytesIO(data), read_only=True, keep_links=False)
    reader.archive = archive
    reader.read_manifest()
    reader.read_workbook()
    apply_stylesheet(reader.archive, reader.wb)
    workbook: Any = reader.wb
    paths = {
        str(sheet.name): str(relation.target)
        for sheet, relation in reader.parser.find_sheets()
        if relation.target in reader.valid_files and "chartsheet" not in relation.Type
    }
    layout = Layout(
        paths,
        frozenset(workbook._date_formats),
        frozenset(workbook._timedelta_formats),
        frozenset(_percents(workbook)),
        workbook.epoch or WINDOWS_EPOCH,
    )
    _LAYOUTS.keep(archive, layout)
    return layout


def _percents(workbook: Any) -> Iterator[int]:
    for style, cell in enumerate(workbook._cell_styles):
        number = cell.numFmtId
        own = number - BUILTIN_FORMATS_MAX_SIZE
        known = own < len(workbook._number_formats)
        text = BUILTIN_FORMATS.get(number, "") if own < 0 else workbook._number_formats[own] if known else ""
        if "%" in _LITERAL.sub("", text):
            yield style
