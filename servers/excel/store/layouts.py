"""Structure of a workbook besides its cells: its sheets, and what styles do to values.

Most of the time that it takes to open a small workbook goes into that, and workbooks that were saved by one
program for one purpose have the same. So it is kept, with the bytes of all parts that were read for it: a
workbook that has the same bytes in them has the same layout.
"""

from __future__ import annotations

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

from mesocosm.services.contents import COLOURLESS, STRUCK, shown_places, shows_nothing

_MOST = 64
"""Layouts that are kept, each with parts of at most so many bytes:"""
_BYTES = 256 * 1024


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
    concealing: dict[int, str]
    """Styles with which a value is not plainly seen, and why."""
    blank: dict[int, str]
    """Number formats that show nothing of a number, by style."""
    hidden: frozenset[str]
    """Names of its hidden worksheets."""
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
    sheets = [
        (sheet, str(relation.target))
        for sheet, relation in reader.parser.find_sheets()
        if relation.target in reader.valid_files and "chartsheet" not in relation.Type
    ]
    formats = dict(_number_formats(workbook))
    layout = Layout(
        {str(sheet.name): target for sheet, target in sheets},
        frozenset(workbook._date_formats),
        frozenset(workbook._timedelta_formats),
        frozenset(style for style, text in formats.items() if "%" in shown_places(text)),
        dict(_concealing(workbook)),
        {style: text for style, text in formats.items() if shows_nothing(text, is_text=False)},
        frozenset(str(sheet.name) for sheet, _ in sheets if sheet.state != "visible"),
        workbook.epoch or WINDOWS_EPOCH,
    )
    _LAYOUTS.keep(archive, layout)
    return layout


def _number_formats(workbook: Any) -> Iterator[tuple[int, str]]:
    for style, cell in enumerate(workbook._cell_styles):
        number = cell.numFmtId
        own = number - BUILTIN_FORMATS_MAX_SIZE
        known = own < len(workbook._number_formats)
        yield (
            style,
            BUILTIN_FORMATS.get(number, "") if own < 0 else workbook._number_formats[own] if known else "",
        )


def _concealing(workbook: Any) -> Iterator[tuple[int, str]]:
    for style, cell in enumerate(workbook._cell_styles):
        font = workbook._fonts[cell.fontId] if cell.fontId < len(workbook._fonts) else None
        fill = workbook._fills[cell.fillId] if cell.fillId < len(workbook._fills) else None
        if font is not None and font.strike:
            yield style, STRUCK
        elif font is not None and fill is not None and _is_colourless(font, fill):
            yield style, COLOURLESS


_BLACK, _WHITE = ("rgb", "000000", 0.0), ("rgb", "FFFFFF", 0.0)
_KNOWN = {
    **dict.fromkeys([("theme", 1), ("indexed", 0), ("indexed", 8), ("indexed", 64)], _BLACK),
    **dict.fromkeys([("theme", 0), ("indexed", 1), ("indexed", 9), ("indexed", 65)], _WHITE),
}
"""Other names of black and white, as programs have them unless somebody changes their palette."""


def _is_colourless(font: Any, fill: Any) -> bool:
    pattern = getattr(fill, "patternType", "gradient")
    if pattern not in (None, "solid"):
        return False
    return bool(_colour(font.color, _BLACK) == (_colour(fill.fgColor, _BLACK) if pattern else _WHITE))


def _colour(colour: Any, usual: tuple[str, str, float]) -> tuple[Any, ...]:
    if colour is None or colour.type == "auto":
        return usual
    value = colour.value[-6:].upper() if colour.type == "rgb" else colour.value
    known = _KNOWN.get((colour.type, value)) if not colour.tint else None
    return known or (colour.type, value, colour.tint)
