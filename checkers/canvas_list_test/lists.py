"""The two files as the agent left them, and how their cells compare with the truth.

What is accepted: a byte order mark, either kind of line ends, blank lines after the last row, blanks
around and repeated inside a cell; numbers with or without trailing zeros; deadlines with seconds ":00",
and with a "T" instead of the blank; no blank where a sentence ends in a description, since it may have
ended a paragraph. Nothing else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mesocosm.families.verdict import told
from mesocosm.generators.canvas_list_test.expected import (
    ASSIGNMENT_FILE,
    ASSIGNMENT_HEADER,
    QUIZ_FILE,
    QUIZ_HEADER,
    Expected,
    Row,
)
from mesocosm.services.contents import UnreadableContent, csv_lines, file_data, text_of
from mesocosm.services.numbers import number_of
from mesocosm.services.world import World

Cells = dict[str, str]

_AFTER_A_MARK = re.compile(r"(?<=\W) ")
_DEADLINE = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?::00)?", re.ASCII)


@dataclass
class Table:
    """Content of a table file."""

    problem: str = ""
    """Why it is not a table with the right header."""
    lines: list[Cells] = field(default_factory=list)
    """The rows below the header, by column."""


def read_table(world: World, name: str, header: Sequence[str]) -> Table:
    """A file, its columns told by their place; one that cannot be read has a problem and no lines."""
    data = file_data(world.workspace, name)
    text = data if isinstance(data, UnreadableContent) else text_of(data)
    lines = text if isinstance(text, UnreadableContent) else csv_lines(text)
    if isinstance(lines, UnreadableContent):
        return Table(f"{name} is {lines}")
    rows = [[_trimmed(cell) for cell in row] for row in lines]
    if not rows:
        return Table(f"{name} is empty")
    table = Table()
    if not all(map(any, rows)):
        table.problem = f"{name} has blank lines above or between its rows"
    rows = [row for row in rows if any(row)]
    if rows[0] != list(header):
        table.problem = f"the header of {name} is {','.join(rows[0])[:200]!r}"
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(header):
            table.problem = table.problem or f"cells of row {number} of {name}: {told(len(row), len(header))}"
        padded = [*row, *[""] * len(header)]
        table.lines.append(dict(zip(header, padded, strict=False)))
    return table


def _trimmed(cell: str) -> str:
    """A cell without needless blanks. Line breaks within it stay, where one line is asked for."""
    return "\n".join(" ".join(line.split()) for line in cell.strip().splitlines())


# -- comparing ---------------------------------------------------------------------------------------------


def _exact(cell: str, truth: Any) -> bool:
    return cell == " ".join(str(truth).split())


def _one_line(cell: str, truth: Any) -> bool:
    """Whatever was put between paragraphs, nothing or blanks, the text is the same; its words are apart."""
    return _AFTER_A_MARK.sub("", cell) == _AFTER_A_MARK.sub("", " ".join(str(truth).split()))


def _number(cell: str, truth: Any) -> bool:
    number = number_of(cell)
    return number is not None and math.isclose(number, truth)


def _number_or_empty(cell: str, truth: Any) -> bool:
    return cell == "" if truth is None else _number(cell, truth)


def _attempts(cell: str, truth: Any) -> bool:
    return cell.casefold() == "unlimited" if truth < 0 else _number(cell, truth)


def _deadline(cell: str, truth: Any) -> bool:
    if truth is None:
        return cell == ""
    found = _DEADLINE.fullmatch(cell)
    return found is not None and f"{found[1]} {found[2]}" == truth


@dataclass(frozen=True)
class Column:
    """A column that has a finding of its own."""

    name: str
    truth: Callable[[Any], Any]
    same: Callable[[str, Any], bool]

    def agrees(self, cells: Cells, row: Row) -> bool:
        """True if the cell is right."""
        return self.same(cells[self.name], self.truth(row))


@dataclass(frozen=True)
class Listing:
    """One of the two files."""

    kind: str
    file: str
    header: tuple[str, ...]
    title: str
    """The column of the title, which with the code tells rows apart."""
    columns: tuple[Column, ...]
    rows: Callable[[Expected], Sequence[Row]]

    def key(self, cells: Cells) -> tuple[str, str]:
        """By what rows are told apart."""
        return cells["course_code"], cells[self.title]


_NAME = Column("course_name", lambda row: row.name, _exact)
_POINTS = Column("points_possible", lambda row: row.points, _number)
_DUE = Column("deadline", lambda row: row.deadline, _deadline)

QUIZZES = Listing(
    "quiz",
    QUIZ_FILE,
    QUIZ_HEADER,
    "quiz_title",
    (
        _NAME,
        Column("credits", lambda row: row.credits, _number),
        Column("number_of_questions", lambda row: row.questions, _number),
        Column("time_limit", lambda row: row.time_limit, _number_or_empty),
        Column("allowed_attempts", lambda row: row.attempts, _attempts),
        Column("scoring_policy", lambda row: row.policy, _exact),
        _POINTS,
        _DUE,
    ),
    lambda expected: expected.quizzes,
)
ASSIGNMENTS = Listing(
    "assignment",
    ASSIGNMENT_FILE,
    ASSIGNMENT_HEADER,
    "assignment_title",
    (_NAME, Column("description", lambda row: row.description, _one_line), _DUE, _POINTS),
    lambda expected: expected.assignments,
)
LISTINGS = (QUIZZES, ASSIGNMENTS)
