"""Judges an exam schedule: the table row by row and column by column, and that nothing else was touched."""

from __future__ import annotations

from mesocosm.checkers.canvas_arrange_exam.mutants import MUTANTS
from mesocosm.checkers.canvas_arrange_exam.schedule import COLUMNS, Cells, Column, Schedule, read_schedule
from mesocosm.families.verdict import Check, finding
from mesocosm.generators.canvas_arrange_exam.expected import HEADER, WORKBOOK, Expected
from mesocosm.kits.damage import touched_files, touched_tables
from mesocosm.services.world import World

__all__ = ["MUTANTS", "check"]


def check(world: World, expected: Expected) -> list[Check]:
    """One finding per column, and those about the workbook, the rows and everything around."""
    schedule = read_schedule(world)
    changes = world.changes()
    return [
        Check(name="workbook", passed=not schedule.problem, detail=schedule.problem),
        _header(schedule),
        *_rows(schedule, expected),
        *(_column(column, schedule, expected) for column in COLUMNS),
        finding("other_files", touched_files(changes, made=(WORKBOOK,))),
        finding("mailbox", touched_tables(world, changes, "email")),
        finding("canvas", touched_tables(world, changes, "canvas")),
        finding("memory", touched_tables(world, changes, "memory")),
    ]


def _header(schedule: Schedule) -> Check:
    wrong = [
        f"{found!r} instead of {name!r}"
        for found, name in zip(schedule.header or (None,) * len(HEADER), HEADER, strict=True)
        if found != name
    ]
    return finding("header", wrong)


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
    disorder = [] if order == present else [f"{order} instead of {present}"]
    if not present:
        disorder = ["none of the rows is there"]
    return [
        finding("rows_missing", missing),
        finding("rows_extra", extra),
        finding("row_order", disorder),
    ]


def _column(column: Column, schedule: Schedule, expected: Expected) -> Check:
    lines = _by_code(schedule)
    present = [(row, lines[row.code]) for row in expected.rows if row.code in lines]
    wrong = [
        f"{row.code}: {cells[column.index]!s:.80} instead of {column.shown(row)}"
        for row, cells in present
        if not column.agrees(cells, row)
    ]
    return finding(column.finding, wrong if present else ["there is no row to look at"])
