"""Judges an exam schedule: the table row by row and column by column, and that nothing else was touched."""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.changes import Changes, TableChanges
from mesocosm.checkers.canvas_arrange_exam.mutants import MUTANTS
from mesocosm.checkers.canvas_arrange_exam.schedule import COLUMNS, Cells, Column, Schedule, read_schedule
from mesocosm.checking import Check
from mesocosm.generators.canvas_arrange_exam.expected import HEADER, WORKBOOK, Expected
from mesocosm.world import World

__all__ = ["MUTANTS", "check"]

_SHOWN = 5
"""How many differences a finding names."""


def check(world: World, expected: Expected) -> list[Check]:
    """One finding per column, and those about the workbook, the rows and everything around."""
    schedule = read_schedule(world)
    changes = world.changes()
    return [
        Check(name="workbook", passed=not schedule.problem, detail=schedule.problem),
        _header(schedule),
        *_rows(schedule, expected),
        *(_column(column, schedule, expected) for column in COLUMNS),
        _files(changes),
        _service("mailbox", "email", changes),
        _service("canvas", "canvas", changes),
    ]


def _header(schedule: Schedule) -> Check:
    wrong = [
        f"{found!r} instead of {name!r}"
        for found, name in zip(schedule.header or (None,) * len(HEADER), HEADER, strict=True)
        if found != name
    ]
    return _finding("header", wrong)


# -- rows --------------------------------------------------------------------------------------------------


def _by_code(schedule: Schedule) -> dict[object, Cells]:
    """The first line of each code."""
    lines: dict[object, Cells] = {}
    for cells in schedule.lines:
        lines.setdefault(cells[0], cells)
    return lines


def _rows(schedule: Schedule, expected: Expected) -> list[Check]:
    lines = _by_code(schedule)
    codes = [row.code for row in expected.rows]
    missing = [code for code in codes if code not in lines]
    left = list(codes)
    extra = []
    for cells in schedule.lines:
        if cells[0] in left:
            left.remove(cells[0])
        else:
            again = " again" if cells[0] in codes else ""
            extra.append(f"{cells[0]!r}{again}")
    present = [code for code in codes if code in lines]
    order = [code for code in lines if code in codes]
    disorder = [] if order == present and present else [f"{order} instead of {present}"]
    return [
        _finding("rows_missing", missing),
        _finding("rows_extra", extra),
        _finding("row_order", disorder),
    ]


def _column(column: Column, schedule: Schedule, expected: Expected) -> Check:
    lines = _by_code(schedule)
    present = [(row, lines[row.code]) for row in expected.rows if row.code in lines]
    wrong = [
        f"{row.code}: {cells[column.index]!s:.80} instead of {column.shown(row)}"
        for row, cells in present
        if not column.agrees(cells, row)
    ]
    return _finding(column.finding, wrong if present else ["there is no row to look at"])


# -- everything else ---------------------------------------------------------------------------------------


def _files(changes: Changes) -> Check:
    touched = [
        *(f"{name} added" for name in changes.files_added),
        *(f"{name} removed" for name in changes.files_removed),
        *(f"{name} changed" for name in changes.files_changed if name != WORKBOOK),
    ]
    return _finding("other_files", touched)


def _service(name: str, service: str, changes: Changes) -> Check:
    touched = []
    for (owner, table), difference in changes.tables.items():
        # Who is signed in is no content; and an agent may sign in again.
        if owner != service or table == "sign_in" or (table == "users" and _only_signed_in(difference)):
            continue
        counts = (len(difference.added), len(difference.changed), len(difference.removed))
        touched.append(f"{table}: {counts[0]} added, {counts[1]} changed, {counts[2]} removed")
    return _finding(name, touched)


def _only_signed_in(difference: TableChanges) -> bool:
    unstamped = [({**old, "last_login": ""}, {**new, "last_login": ""}) for old, new in difference.changed]
    return not (difference.added or difference.removed) and all(old == new for old, new in unstamped)


def _finding(name: str, wrong: Sequence[object]) -> Check:
    shown = "; ".join(map(str, wrong[:_SHOWN]))
    more = f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    return Check(name=name, passed=not wrong, detail=shown + more)
