"""A formula of Google Sheets as the formula library takes it: other names, other defaults, names resolved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mesocosm.servers.google_sheet.store.engine.broadcasting import CONTEXTS, SCALARS
from mesocosm.servers.google_sheet.store.engine.references import (
    Corner,
    Piece,
    Reference,
    pieces_of,
    reference_of,
)

OWN = (
    *("ADD", "ARRAY_CONSTRAIN", "AVERAGE.WEIGHTED", "COUNTUNIQUE", "DETECTLANGUAGE", "DIVIDE", "ENCODEURL"),
    *("EQ", "FLATTEN", "GOOGLEFINANCE", "GOOGLETRANSLATE", "GT", "GTE", "HYPERLINK", "IMAGE", "IMPORTDATA"),
    *("IMPORTFEED", "IMPORTHTML", "IMPORTRANGE", "IMPORTXML", "ISBETWEEN", "ISDATE", "ISEMAIL", "ISURL"),
    *("JOIN", "LT", "LTE", "MINUS", "MMULT", "MULTIPLY", "NE", "POW", "QUERY", "REGEXEXTRACT", "REGEXMATCH"),
    *("REGEXREPLACE", "SORT", "SORTN", "SPARKLINE", "SPLIT", "TO_DATE", "TO_DOLLARS", "TO_PERCENT"),
    *("TO_PURE_NUMBER", "TO_TEXT", "UMINUS", "UNARY_PERCENT", "UPLUS", "VALUE", "CHAR"),
)
"""Functions that only Google has, or has otherwise: small ones of our own, in ``google_functions``."""
RANDOM = ("RAND", "RANDBETWEEN", "RANDARRAY")
VOLATILE = frozenset((*RANDOM, "NOW", "TODAY", "OFFSET", "INDIRECT"))
PREFIX = "GS_"
NOTED = "NOTED"
"""The function that notes where a result that lies in cells is empty: the library makes it 0 there."""
NO_SUCH = ("WEBSERVICE", "CALL", "REGISTER.ID", "RTD", "CUBEVALUE", "STOCKHISTORY", "DDE", "FILTERXML")
"""Functions of other products that reach beyond a workbook."""

_DEFAULTS: Mapping[str, tuple[int, tuple[str, ...]]] = {
    "IFERROR": (1, ('""',)),
    "IFNA": (1, ('""',)),
    "ROUND": (1, ("0",)),
    "ROUNDUP": (1, ("0",)),
    "ROUNDDOWN": (1, ("0",)),
    "CEILING": (1, ("1",)),
    "FLOOR": (1, ("1",)),
}
"""Optional arguments: number given, and their defaults."""
MAX_DEPTH = 200
"""Parentheses within one another, beyond which a formula is not read."""


@dataclass
class FormulaBook:
    """Spreadsheet in which a formula is parsed."""

    titles: Mapping[str, str]
    """By folded title, the title as it is."""
    grids: Mapping[str, tuple[int, int]]
    """By title, how many rows and columns the sheet has."""
    names: Mapping[str, str]
    """By folded name of a range, what stands for it."""


@dataclass
class Translated:
    """A formula for the library, and what is known of it."""

    text: str
    volatile: bool = False
    spills: bool = False
    """True if its result may be more than one cell."""
    fills: bool = False
    """True if its result is an array, by how the formula begins."""
    missing: str = ""
    """The first sheet that it names and that is not there."""
    functions: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    same: tuple[str, int, int] | None = None
    """Sheet, row and column of the one cell that the formula only repeats."""


class Unreadable(Exception):
    """Error: the text after the equals sign is not a formula."""


def translate(formula: str, place: str, book: FormulaBook) -> Translated:
    """A formula of the cell ``place`` for the library. Raises ``Unreadable``."""
    pieces = pieces_of(formula) or ()
    written = [piece for piece in pieces if not piece.kind.startswith("Whitespace")]
    if not written:
        raise Unreadable
    reading = _Reading(list(pieces), place, book)
    text = reading.sequence(until=None)
    if _selects(written):
        text = f"CHOOSE({PREFIX}{NOTED}({_text(place)},{text}),{text})"
    elif len(written) == 1 and (reference := reference_of(text)) and reference.last is None:
        first, title = reference.first, reference.title or place.rpartition("!")[0]
        if first.row is not None and first.column is not None:
            reading.result.same = (title, first.row, first.column)
    reading.result.text = "=" + text
    reading.result.fills = _fills(written[0])
    return reading.result


def _fills(first: Piece) -> bool:
    if first.kind == "Func Open":
        return first.text.rstrip("( ").upper() in _SPILLING
    if first.kind == "Operand Range":
        reference = reference_of(first.text)
        return reference is not None and reference.last is not None
    return first.kind == "Array Open"


def _selects(pieces: list[Piece]) -> bool:
    """True if the result is a selection of cells: a range, an array, or a function that chooses cells."""
    if len(pieces) == 1:
        reference = reference_of(pieces[0].text)
        return reference is not None and reference.last is not None
    name = pieces[0].text.rstrip("( ").upper()
    if pieces[0].kind != "Array Open" and not (pieces[0].kind == "Func Open" and name in _SELECTING):
        return False
    depth = 0
    for piece in pieces:
        depth += piece.kind.endswith(" Open")
        depth -= piece.kind.endswith(" Close")
        if not depth:
            return piece is pieces[-1]
    return False


class _Reading:
    def __init__(self, pieces: list[Piece], place: str, book: FormulaBook) -> None:
        self.pieces = pieces
        self.at = 0
        self.depth = 0
        self.arrays = 0
        """Number of open functions that compute arrays element by element."""
        self.place = place
        self.book = book
        self.draws = 0
        self.result = Translated("")

    def sequence(self, until: str | None) -> str:
        """Translate up to a closing token or the end."""
        parts: list[str] = []
        while self.at < len(self.pieces):
            piece = self.pieces[self.at]
            if until and (piece.kind == until or piece.kind.startswith("Sep ")):
                return "".join(parts)
            self.at += 1
            parts.append(self.one(piece))
        if until:
            raise Unreadable
        return "".join(parts)

    def one(self, piece: Piece) -> str:
        kind = piece.kind
        if kind == "Func Open":
            return self.deeper(lambda: self.function(piece))
        if kind == "Array Open":
            return self.deeper(self.array)
        if kind == "Paren Open":
            return self.deeper(lambda: "(" + self.enclosed("Paren Close") + ")")
        if kind == "Operand Range":
            return self.operand(piece.text)
        return piece.text

    def deeper(self, read: Callable[[], str]) -> str:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable
        text = read()
        self.depth -= 1
        return text

    def enclosed(self, close: str) -> str:
        text = self.sequence(close)
        self.close(close)
        return text

    def close(self, kind: str) -> None:
        if self.at >= len(self.pieces) or self.pieces[self.at].kind != kind:
            raise Unreadable
        self.at += 1

    def arguments(self) -> list[str]:
        found = [self.sequence("Func Close")]
        while self.at < len(self.pieces) and self.pieces[self.at].kind.startswith("Sep "):
            self.at += 1
            found.append(self.sequence("Func Close"))
        self.close("Func Close")
        return [] if found == [""] or (len(found) == 1 and not found[0].strip()) else found

    def function(self, piece: Piece) -> str:
        name = piece.text.rstrip("( ").upper()
        self.result.functions.append(name)
        self.result.volatile |= name in VOLATILE
        self.arrays += name in CONTEXTS
        arguments = self.arguments()
        self.arrays -= name in CONTEXTS
        numbers = self.numbers(name, arguments) if self.arrays else None
        if numbers is not None:
            return numbers
        if self.arrays and name in SCALARS and any(map(_may_be_array, arguments)):
            self.result.spills = True
            given = (
                [*arguments, *_DEFAULTS[name][1]]
                if len(arguments) == _DEFAULTS.get(name, (0,))[0]
                else arguments
            )
            return f'{PREFIX}EACH("{name}",{",".join(given)})'
        if name in ("ARRAYFORMULA", "ARRAY_FORMULA"):
            self.result.spills = True
            return "(" + ",".join(arguments) + ")"
        if name in RANDOM:
            self.draws += 1
            self.result.spills |= name == "RANDARRAY"
            arguments = [_text(f"{self.place}#{self.draws}"), *arguments]
        elif name == "FILTER" and len(arguments) > 1:
            self.result.spills = True
            wanted = "*".join(f"({argument})" for argument in arguments[1:])
            return f"FILTER({arguments[0]},{wanted},NA())"
        elif name in NO_SUCH:
            return f"{PREFIX}NO_SUCH_FUNCTION()"
        elif name in _DEFAULTS and len(arguments) == _DEFAULTS[name][0]:
            arguments = [*arguments, *_DEFAULTS[name][1]]
        self.result.spills |= name in _SPILLING
        own = PREFIX if name in OWN or name in RANDOM else ""
        return f"{own}{name}({','.join(arguments)})"

    def numbers(self, name: str, arguments: list[str]) -> str | None:
        """The numbers of the rows or columns of a range, as an array."""
        reference = reference_of(arguments[0]) if len(arguments) == 1 else None
        if reference is None or reference.last is None:
            return None
        first, last = reference.first, reference.last
        if name == "ROW" and first.row is not None and last.row is not None:
            return f"SEQUENCE({last.row - first.row + 1},1,{first.row + 1})"
        if name == "COLUMN" and first.column is not None and last.column is not None:
            return f"SEQUENCE(1,{last.column - first.column + 1},{first.column + 1})"
        return None

    def array(self) -> str:
        """An array; one with references becomes functions that put ranges beside and below one another."""
        self.result.spills = True
        rows: list[list[str]] = [[]]
        literal = True
        while True:
            start = self.at
            rows[-1].append(self.sequence("Array Close"))
            literal &= all(
                piece.kind in ("Operand Number", "Operand Text", "Operand Logical", "OpPrefix None")
                or piece.kind.startswith("Whitespace")
                for piece in self.pieces[start : self.at]
            )
            if self.at >= len(self.pieces):
                raise Unreadable
            end = self.pieces[self.at]
            self.at += 1
            if end.kind == "Array Close":
                break
            if end.kind == "Sep Row":
                rows.append([])
        if literal:
            return "{" + ";".join(",".join(row) for row in rows) + "}"
        beside = [row[0] if len(row) == 1 else f"HSTACK({','.join(row)})" for row in rows]
        return f"({beside[0]})" if len(beside) == 1 else f"VSTACK({','.join(beside)})"

    def operand(self, text: str) -> str:
        reference = reference_of(text)
        if reference is None:
            named = self.book.names.get(text.casefold())
            if named is None:
                self.result.names.append(text)
                return text
            self.result.spills |= ":" in named
            return named
        if reference.last is not None:
            self.result.spills = True
        title = None
        if reference.title is not None:
            title = self.book.titles.get(reference.title.casefold())
            if title is None:
                self.result.missing = self.result.missing or reference.title
                return "#REF!"
        known = title if title is not None else self.place.rpartition("!")[0]
        rows, columns = self.book.grids[known]
        corners = [reference.first, *([reference.last] if reference.last else [])]
        if any((c.row or 0) >= rows or (c.column or 0) >= columns for c in corners[:1]):
            return "#REF!"
        first, last = reference.first, reference.last
        if last is not None:
            first, last = _closed(first, last, rows, columns)
        return str(Reference(title, first, last))


def _text(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


def _may_be_array(argument: str) -> bool:
    return any(
        mark in argument for mark in (":", "{", f"{PREFIX}EACH(", "SEQUENCE(", "SPLIT(", "UNIQUE(", "FILTER(")
    )


_SELECTING = frozenset(
    (
        *("FILTER", "UNIQUE", "SORT", "SORTN", "TRANSPOSE", "INDEX", "VLOOKUP", "HLOOKUP", "XLOOKUP"),
        *("LOOKUP", "IF", "IFS", "IFERROR", "IFNA", "SWITCH", "CHOOSE", "OFFSET", "INDIRECT", "HSTACK"),
        *("VSTACK", "CHOOSECOLS", "CHOOSEROWS", "TAKE", "DROP", "TOCOL", "TOROW", "FLATTEN"),
        *("ARRAY_CONSTRAIN", "ARRAYFORMULA", "ARRAY_FORMULA", "LET"),
    )
)
_SPILLING = frozenset(
    (
        *("SPLIT", "SEQUENCE", "RANDARRAY", "SORT", "SORTN", "UNIQUE", "QUERY", "FLATTEN", "TRANSPOSE"),
        *("MMULT", "FREQUENCY", "INDIRECT", "OFFSET", "HSTACK", "VSTACK", "TOCOL", "TOROW", "REGEXEXTRACT"),
        *("CHOOSECOLS", "CHOOSEROWS", "TAKE", "DROP", "LET", "ARRAY_CONSTRAIN", "TREND", "GROWTH", "LINEST"),
        *("ARRAYFORMULA", "ARRAY_FORMULA", "FILTER"),
    )
)


def _closed(first: Corner, last: Corner, rows: int, columns: int) -> tuple[Corner, Corner]:
    """The corners of a range that is open at one end only (``A2:A``, ``B3:3``), no wider than the grid."""
    if first.row is not None and last.row is None:
        last = Corner(rows - 1, last.column, first.fixed_row, last.fixed_column)
    elif first.row is None and last.row is not None:
        first = Corner(0, first.column, last.fixed_row, first.fixed_column)
    if first.column is not None and last.column is None:
        last = Corner(last.row, columns - 1, last.fixed_row, first.fixed_column)
    elif first.column is None and last.column is not None:
        first = Corner(first.row, 0, first.fixed_row, last.fixed_column)
    row = last.row if last.row is None else min(last.row, rows - 1)
    column = last.column if last.column is None else min(last.column, columns - 1)
    return first, Corner(row, column, last.fixed_row, last.fixed_column)
