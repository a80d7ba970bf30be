"""Content of an agent's files as checkers read them: the value, or why it cannot be read.

An agent may leave any bytes anywhere. That they are no text, no table or no workbook is a finding about its
work, never a fault of ours: readers answer with ``UnreadableContent`` and raise nothing.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mesocosm.errors import Refusal
from mesocosm.worlds.workspace import Workspace


@dataclass(frozen=True)
class UnreadableContent:
    """Something an agent made that cannot be read."""

    because: str

    def __str__(self) -> str:
        return f"unreadable, because {self.because}"


@dataclass(frozen=True)
class Concealed:
    """Content of a sheet that its reader does not plainly see."""

    says: str
    """Place and reason: ``B3 is struck out``."""
    content: str
    """The concealed content: elsewhere in the sheet it is known by this."""


@dataclass(frozen=True)
class Grid:
    """A table as it stands in a file or a sheet: its first line, and every line below it, whole."""

    head: list[Any]
    lines: list[list[Any]]
    oddities: tuple[str, ...] = ()
    """Defects independent of the cells: it begins elsewhere, or there is something beside it."""
    concealed: tuple[Concealed, ...] = ()

    def defects(self) -> list[str]:
        """List oddities of the grid, and what it conceals."""
        return [*self.oddities, *(one.says for one in self.concealed)]

    def since(self, before: Grid | None) -> Grid:
        """Return the grid without what was concealed before: the world delivered it so."""
        if before is None or not before.concealed:
            return self
        places = {one.says for one in before.concealed}
        contents = {one.content for one in before.concealed}
        left = (one for one in self.concealed if one.says not in places and one.content not in contents)
        return replace(self, concealed=tuple(left))

    def uneven(self) -> list[str]:
        """List defects of the grid, its blank lines, and lines longer or shorter than the first."""
        width = len(self.head)
        found = self.defects()
        for number, line in enumerate(self.lines, start=2):
            if not any(cell not in (None, "") for cell in line):
                found.append(f"line {number} is blank")
            elif len(line) != width:
                found.append(f"line {number} has {len(line)} cells, not {width}")
        return found


STRUCK = "is struck out"
COLOURLESS = "has letters in the colour of its background"
BLANK = "shows nothing of what it holds"
MERGED = "is covered by merged cells"
HIDDEN = "is hidden"
"""Ways to conceal the content of a sheet."""
_LITERAL = re.compile(r'"[^"]*"|[\\\\_*].', re.DOTALL)


def shown_places(pattern: str) -> str:
    """Return a number format without its literal parts and placeholders for space."""
    return _LITERAL.sub("", pattern)


def shows_nothing(pattern: str, *, is_text: bool) -> bool:
    """True if a number format, such as ``;;;``, shows nothing of a number, or of a text."""
    sections = shown_places(pattern).split(";")
    if not pattern or any(section.strip() for section in sections):
        return False
    return len(sections) > 3 or not is_text


class Objects(list[dict[str, Any]]):
    """Rows by name, whose names have no order."""


def file_data(workspace: Workspace, name: str, limit: int | None = None) -> bytes | UnreadableContent:
    try:
        return workspace.read(name, limit)
    except Refusal as refusal:
        return UnreadableContent(refusal.message)


def text_of(data: bytes) -> str | UnreadableContent:
    """A text in UTF-8, without a byte order mark, and with one kind of line ends."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        return UnreadableContent(f"it is not UTF-8 text: {error.reason} at byte {error.start}")


def csv_lines(text: str) -> list[list[str]] | UnreadableContent:
    """The lines of a table, cell by cell, without blank ones in the end."""
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        return UnreadableContent(f"it is no CSV: {error}")
    while lines and not any(cell.strip() for cell in lines[-1]):
        lines.pop()
    return lines


def csv_grid(data: bytes) -> Grid | UnreadableContent:
    """The table of a CSV file, without blanks around its cells."""
    text = text_of(data)
    lines = csv_lines(text) if isinstance(text, str) else text
    if isinstance(lines, UnreadableContent):
        return lines
    head, *rows = [[cell.strip() for cell in line] for line in lines] or [[]]
    return Grid(head, rows)


def sheet_grid(
    rows: Sequence[Sequence[Any]], oddities: Sequence[str] = (), concealed: Iterable[Concealed] = ()
) -> Grid:
    """The table of a sheet, of its rows from the first on, each from its first cell on, without blanks
    around a cell's text.

    A sheet has no ends: empty cells behind a line, and empty lines below the last, are none.
    """
    lines = [_filled(row) for row in rows]
    while lines and not lines[-1]:
        lines.pop()
    head, *rest = lines or [[]]
    lines = [[*line, *[None] * (len(head) - len(line))] if line else line for line in rest]
    return Grid(head, lines, tuple(oddities), tuple(concealed))


def _filled(row: Sequence[Any]) -> list[Any]:
    cells = [(cell.strip(" \t\r\n") or cell or None) if isinstance(cell, str) else cell for cell in row]
    while cells and cells[-1] is None:
        cells.pop()
    return cells


def json_data(data: bytes) -> Any:
    """Parse a JSON file. Duplicate keys are ``UnreadableContent``: programs disagree on which one counts."""
    text = text_of(data)
    if isinstance(text, UnreadableContent):
        return text
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except ValueError as error:
        return UnreadableContent(f"it is no JSON: {error}")
    except RecursionError:
        return UnreadableContent("it is JSON that is nested too deep")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a name twice")
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def json_objects(found: Any) -> Any:
    """Return the rows of a JSON file that is a list of objects."""
    if isinstance(found, list) and all(isinstance(one, dict) for one in found):
        return Objects(found)
    return found
