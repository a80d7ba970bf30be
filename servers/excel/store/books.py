"""Reading workbooks in pages: each file is parsed once, and its values are kept for the next page.

openpyxl's own reader builds an object for every cell. Here the sheets are read as a stream of XML events,
which takes half the time and a tenth of the memory, and builds no tree that a hostile file could blow up.
"""

from __future__ import annotations

import re
import threading
import zipfile
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple
from xml.parsers import expat

from openpyxl.formula.translate import Translator, TranslatorError
from openpyxl.utils.datetime import from_excel, from_ISO8601

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.excel.store.cells import MAX_COLUMN, Area, address, parse_cell
from mesocosm.servers.excel.store.layouts import Layout, read_layout
from mesocosm.servers.excel.store.packages import (
    PatientBytes,
    PatientPart,
    check_package,
    damaged_as_invalid,
    quieten,
)
from mesocosm.services.contents import BLANK, STRUCK, shows_nothing
from mesocosm.services.workbook_functions import as_shown
from mesocosm.worlds.workspace import FileContent

MAX_CELLS = 4_000_000
"""Cells with a value in one sheet."""
MAX_RANGED = 1_000_000
"""Cells in the merged and the linked ranges of a sheet: openpyxl makes an object for each."""
NARROWEST = 0.5
"""Points of a row, or characters of a column, below which nobody sees anything of it."""
MAX_TOLD = 10_000
"""Cells of a sheet that are told from others: shown in percent, and concealed by their styles."""
MAX_FORMULA = 8_192
"""Characters of a formula that cells share, as Excel has it."""
MAX_SHARED = 64_000_000
"""Characters of the formulas that such cells of a sheet have together: in the file each is a few bytes."""
MAX_RULES = 10_000
"""Ranges that the data validation rules of a sheet may have together."""
CACHE_BYTES = 256 * 1024 * 1024
CELL_BYTES = 60
"""Approximate memory of a value: a reference, and sometimes an object."""

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main "
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")

Plain = str | bool | int | float | datetime | date | time | timedelta | None
"""The content of a cell without a formula, or what its formula had given."""


class Formula(NamedTuple):
    """A formula and the value that the program which saved the file had computed for it."""

    text: str
    computed: Plain


Value = Plain | Formula
"""The content of a cell."""


@dataclass(frozen=True)
class Validation:
    """A rule about what may be entered into some cells."""

    areas: tuple[Area, ...]
    ranges: str
    attributes: Mapping[str, str]
    formula1: str
    formula2: str

    def covers(self, row: int, column: int) -> bool:
        """True if the rule covers the cell."""
        return any(
            area.first_row <= row <= area.last_row and area.first_column <= column <= area.last_column
            for area in self.areas
        )


@dataclass
class Sheet:
    """The values of a sheet, row by row; cells without a value are not kept."""

    name: str
    numbers: list[int] = field(default_factory=list)
    """Numbers of the rows that have values, ascending."""
    rows: list[tuple[tuple[int, ...], tuple[Value, ...]]] = field(default_factory=list)
    """For each of them the columns and the values."""
    merged: list[str] = field(default_factory=list)
    validations: list[Validation] = field(default_factory=list)
    percents: set[tuple[int, int]] = field(default_factory=set)
    """Rows and columns of numbers that are shown a hundred times as large."""
    concealing: dict[tuple[int, int], str] = field(default_factory=dict)
    """Why values are not plainly seen, by row and column."""
    hidden: bool = False
    hidden_rows: list[int] = field(default_factory=list)
    """Those that have values."""
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    """First and last column of each range."""
    ranged: int = 0
    """Cells in its merged and its linked ranges."""
    cells: int = 0
    used: Area | None = None
    """The smallest rectangle that holds all values."""

    def within(self, area: Area) -> Iterator[tuple[int, list[tuple[int, Value]]]]:
        """The rows of an area that have values in it: (row, [(column, value), ...])."""
        start = bisect_left(self.numbers, area.first_row)
        stop = bisect_right(self.numbers, area.last_row)
        for index in range(start, stop):
            columns, values = self.rows[index]
            left, right = bisect_left(columns, area.first_column), bisect_right(columns, area.last_column)
            if left < right:
                yield self.numbers[index], list(zip(columns[left:right], values[left:right], strict=True))

    def value(self, row: int, column: int) -> Value:
        """The value of one cell, or ``None``."""
        for _, cells in self.within(Area(row, column, row, column)):
            return cells[0][1]
        return None


class Book:
    """A workbook file that has been checked, and those of its sheets that have been asked for."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.tags = check_package(data, name)
        self._archive = zipfile.ZipFile(PatientBytes(data))
        self._sheets: dict[str, Sheet] = {}
        self._strings: _Strings | None = None
        quieten()
        with damaged_as_invalid(name):
            self._layout = read_layout(data)
        self._size = len(data)

    @property
    def sheet_names(self) -> list[str]:
        """The worksheets in their order."""
        return list(self._layout.paths)

    @property
    def cost(self) -> int:
        """Bytes of memory that the book takes, about."""
        texts = self._strings.texts if self._strings else []
        strings = sum(map(len, texts)) + 60 * len(texts)
        return self._size + strings + CELL_BYTES * sum(sheet.cells for sheet in self._sheets.values())

    def sheet(self, name: str) -> Sheet:
        """A worksheet by name."""
        layout = self._layout
        if name not in layout.paths:
            raise NotFound(f"Sheet '{name}' not found; the workbook has {', '.join(layout.paths)}")
        if name not in self._sheets:
            with damaged_as_invalid(self.name):
                if self._strings is None:
                    self._strings = self._read_strings()
                parser = _SheetParser(name, self._strings, layout)
                with self._archive.open(layout.paths[name]) as part:
                    self._sheets[name] = parser.parse(part)
        return self._sheets[name]

    def _read_strings(self) -> _Strings:
        for name in self._archive.namelist():
            if name.lower().endswith("sharedstrings.xml"):
                with self._archive.open(name) as part:
                    return _StringsParser().parse(part)
        return _Strings([], frozenset())


class Books:
    """The books read last, by the identity of their files; bounded by the memory that they take."""

    def __init__(self) -> None:
        self._books: OrderedDict[tuple[int, ...], Book] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, identity: tuple[int, ...]) -> Book | None:
        """The book of that file, if it is here and the file has not changed since."""
        with self._lock:
            if identity in self._books:
                self._books.move_to_end(identity)
            return self._books.get(identity)

    def add(self, content: FileContent, name: str) -> Book:
        """The book in these bytes."""
        book = Book(content.data, name)
        with self._lock:
            self._books[content.identity] = book
        return book

    def trim(self) -> None:
        """Forget what was not used for longest while the books take too much memory."""
        with self._lock:
            while len(self._books) > 1 and sum(book.cost for book in self._books.values()) > CACHE_BYTES:
                self._books.popitem(last=False)


class _Strings(NamedTuple):
    """The table of shared strings."""

    texts: list[str]
    struck: frozenset[int]
    """Indices of those of which a part is struck out."""


class _Parser:
    """Base of the parsers of strings and sheets: collects the text between two tags."""

    def __init__(self) -> None:
        self._text: list[str] = []

    def _run(self, part: Any, start: Any, end: Any) -> None:
        parser = expat.ParserCreate(namespace_separator=" ")

        def start_root(tag: str, attributes: Mapping[str, str]) -> None:
            if not tag.startswith(_MAIN):
                raise ValueError("not the usual kind of spreadsheet")
            parser.StartElementHandler = start

        parser.buffer_text = True
        parser.StartElementHandler = start_root
        parser.EndElementHandler = end
        parser.CharacterDataHandler = self._text.append
        try:
            parser.ParseFile(PatientPart(part))
        except expat.ExpatError as error:
            raise ValueError(str(error)) from None

    def _take(self) -> str:
        text = "".join(self._text)
        self._text.clear()
        return text


class _StringsParser(_Parser):
    """Reads the table of shared strings."""

    def parse(self, part: Any) -> _Strings:
        strings: list[str] = []
        pieces: list[str] = []
        struck: set[int] = set()
        phonetic = False

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            nonlocal phonetic
            self._text.clear()
            if tag == _MAIN + "rPh":
                phonetic = True
            elif tag == _MAIN + "strike" and _is_set(attributes, "val", default="1"):
                struck.add(len(strings))

        def end(tag: str) -> None:
            nonlocal phonetic
            if tag == _MAIN + "t":
                if not phonetic:
                    pieces.append(self._take())
            elif tag == _MAIN + "rPh":
                phonetic = False
            elif tag == _MAIN + "si":
                strings.append("".join(pieces).replace("x005F_", ""))
                pieces.clear()

        self._run(part, start, end)
        return _Strings(strings, frozenset(struck))


class _SheetParser(_Parser):
    """Reads one worksheet."""

    def __init__(self, name: str, strings: _Strings, layout: Layout) -> None:
        super().__init__()
        self._sheet = Sheet(name, hidden=name in layout.hidden)
        self._strings = strings
        self._layout = layout
        self._rows: dict[int, dict[int, Value]] = {}
        self._row: dict[int, Value] = {}
        self._hidden_rows: set[int] = set()
        self._row_number = self._column = 0
        self._cell: Mapping[str, str] = {}
        self._formula: Mapping[str, str] | None = None
        self._formula_text = self._value = ""
        self._inline: list[str] = []
        self._struck = False
        self._shared: dict[str, Translator] = {}
        self._rule: Mapping[str, str] = {}
        self._rule_formulas = {"formula1": "", "formula2": ""}
        self._rule_areas = self._shared_characters = 0
        self._starts = {
            _MAIN + "col": self._columns,
            _MAIN + "row": self._start_row,
            _MAIN + "c": self._start_cell,
            _MAIN + "f": self._start_formula,
            _MAIN + "strike": self._strike,
            _MAIN + "mergeCell": self._merge,
            _MAIN + "hyperlink": self._link,
            _MAIN + "dataValidation": self._start_rule,
        }
        self._ends = {
            _MAIN + "c": self._end_cell,
            _MAIN + "v": self._end_value,
            _MAIN + "t": self._end_text,
            _MAIN + "f": self._end_formula,
            _MAIN + "formula1": lambda: self._end_rule_formula("formula1"),
            _MAIN + "formula2": lambda: self._end_rule_formula("formula2"),
            _MAIN + "dataValidation": self._end_rule,
        }

    def parse(self, part: Any) -> Sheet:
        self._run(part, self._start, self._end)
        sheet = self._sheet
        shapes: dict[tuple[int, ...], tuple[int, ...]] = {}
        for number in sorted(self._rows):
            cells = sorted(self._rows[number].items())
            if cells:
                columns = tuple(column for column, _ in cells)
                # Most rows of a sheet have the same columns: one tuple serves them all.
                columns = shapes.setdefault(columns, columns)
                sheet.numbers.append(number)
                sheet.rows.append((columns, tuple(value for _, value in cells)))
        if sheet.numbers:
            left, right = min(shape[0] for shape in shapes), max(shape[-1] for shape in shapes)
            sheet.used = Area(sheet.numbers[0], left, sheet.numbers[-1], right)
        sheet.hidden_rows = [number for number in sheet.numbers if number in self._hidden_rows]
        return sheet

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._text.clear()
        if handler := self._starts.get(tag):
            handler(attributes)

    def _end(self, tag: str) -> None:
        if handler := self._ends.get(tag):
            handler()

    def _start_row(self, attributes: Mapping[str, str]) -> None:
        self._row_number = int(float(attributes["r"])) if "r" in attributes else self._row_number + 1
        self._row = self._rows.setdefault(self._row_number, {})
        self._column = 0
        if _is_set(attributes, "hidden") or _is_narrow(attributes.get("ht")):
            self._hidden_rows.add(self._row_number)

    def _columns(self, attributes: Mapping[str, str]) -> None:
        if _is_set(attributes, "hidden") or _is_narrow(attributes.get("width")):
            self._sheet.hidden_columns.append((int(attributes["min"]), int(attributes["max"])))
            if len(self._sheet.hidden_columns) > MAX_COLUMN:
                raise Invalid(f"Sheet '{self._sheet.name}' has more ranges of columns than columns.")

    def _start_cell(self, attributes: Mapping[str, str]) -> None:
        self._cell = attributes
        self._formula, self._value, self._formula_text = None, "", ""
        self._inline.clear()
        self._struck = False

    def _strike(self, attributes: Mapping[str, str]) -> None:
        self._struck = _is_set(attributes, "val", default="1")

    def _start_formula(self, attributes: Mapping[str, str]) -> None:
        self._formula = attributes

    def _end_formula(self) -> None:
        self._formula_text = self._take()

    def _end_value(self) -> None:
        self._value = self._take()

    def _end_text(self) -> None:
        self._inline.append(self._take())

    def _end_cell(self) -> None:
        if reference := self._cell.get("r"):
            row, self._column = _position(reference)
            if row != self._row_number:
                raise ValueError("a cell is in another row than it says")
        else:
            self._column += 1
            _position(address(self._row_number, self._column))
        plain = self._typed()
        value: Value = plain
        if self._formula is not None:
            value = Formula(as_shown(self._formula_of_cell(self._formula)), plain)
        if value is not None:
            self._row[self._column] = value
            if (why := self._concealing(plain)) and len(self._sheet.concealing) < MAX_TOLD:
                self._sheet.concealing[self._row_number, self._column] = why
            self._sheet.cells += 1
            if self._sheet.cells > MAX_CELLS:
                raise Invalid(f"Sheet '{self._sheet.name}' has more than {MAX_CELLS:,} cells.")

    def _concealing(self, plain: Plain) -> str | None:
        """Say why the value is not plainly seen, if so."""
        if self._struck:
            return STRUCK
        layout = self._layout
        if not (layout.concealing or layout.blank):
            return None
        style = int(self._cell.get("s", 0))
        if style in layout.blank and shows_nothing(layout.blank[style], is_text=isinstance(plain, str)):
            return BLANK
        return layout.concealing.get(style)

    def _typed(self) -> Plain:
        kind = self._cell.get("t", "n")
        if kind == "inlineStr":
            return "".join(self._inline) or None
        if not self._value:
            return None
        match kind:
            case "n":
                return self._number(self._value)
            case "s":
                index = int(self._value)
                self._struck = index in self._strings.struck
                return self._strings.texts[index] or None
            case "b":
                return bool(int(self._value))
            case "d":
                return _from_iso(self._value)
            case _:
                return self._value

    def _number(self, text: str) -> Plain:
        number = int(text) if _INTEGER.fullmatch(text) else float(text)
        style = int(self._cell.get("s", 0))
        if style in self._layout.percents and len(self._sheet.percents) < MAX_TOLD:
            self._sheet.percents.add((self._row_number, self._column))
        if style not in self._layout.dates:
            return number
        try:
            moment: Plain = from_excel(number, self._layout.epoch, timedelta=style in self._layout.durations)
            return moment
        except (OverflowError, ValueError):
            return "#VALUE!"

    def _formula_of_cell(self, attributes: Mapping[str, str]) -> str:
        text = "=" + self._formula_text
        if attributes.get("t") != "shared":
            return text
        place, number = address(self._row_number, self._column), attributes.get("si", "")
        if self._formula_text:
            if len(text) > MAX_FORMULA:
                raise Invalid(
                    f"Sheet '{self._sheet.name}' has a formula of more than {MAX_FORMULA:,} characters."
                )
            self._shared[number] = Translator(text, place)
        elif number in self._shared:
            try:
                text = str(self._shared[number].translate_formula(place))
            except TranslatorError:
                return "=#REF!"
            self._shared_characters += len(text)
            if self._shared_characters > MAX_SHARED:
                raise Invalid(f"Sheet '{self._sheet.name}' has too many shared formulas.")
        return text

    def _merge(self, attributes: Mapping[str, str]) -> None:
        self._sheet.merged.append(str(self._counted(attributes["ref"])))

    def _link(self, attributes: Mapping[str, str]) -> None:
        self._counted(attributes["ref"])

    def _counted(self, reference: str) -> Area:
        area = _area(reference)
        self._sheet.ranged += area.size
        if self._sheet.ranged > MAX_RANGED:
            raise Invalid(f"Sheet '{self._sheet.name}' has too many merged or linked cells.")
        return area

    def _start_rule(self, attributes: Mapping[str, str]) -> None:
        self._rule = attributes
        self._rule_formulas = {"formula1": "", "formula2": ""}

    def _end_rule_formula(self, name: str) -> None:
        self._rule_formulas[name] = self._take()

    def _end_rule(self) -> None:
        ranges = self._rule.get("sqref", "")
        areas = tuple(_area(part) for part in ranges.split())
        self._rule_areas += len(areas)
        if self._rule_areas > MAX_RULES:
            raise Invalid(f"Sheet '{self._sheet.name}' has too many data validation rules.")
        self._sheet.validations.append(Validation(areas, ranges, self._rule, **self._rule_formulas))


def _is_narrow(size: str | None) -> bool:
    """True for a height in points, or a width in characters, of which nothing is seen."""
    return size is not None and float(size) < NARROWEST


def _is_set(attributes: Mapping[str, str], name: str, default: str = "0") -> bool:
    return attributes.get(name, default) in ("1", "true", "on")


def _area(reference: str) -> Area:
    start, _, end = reference.partition(":")
    return Area(*_position(start), *_position(end or start))


def _position(reference: str) -> tuple[int, int]:
    try:
        return parse_cell(reference)
    except Invalid as error:
        raise ValueError(error.message) from None


_from_iso: Callable[[str], Plain] = from_ISO8601
