"""Judges the two lists, row by row and column by column, and that nothing else was touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mesocosm.checkers.canvas_list_test.lists import LISTINGS, Cells, Listing, Table, read_table
from mesocosm.checkers.canvas_list_test.mutants import MUTANTS
from mesocosm.families.verdict import Check, finding, told
from mesocosm.generators.canvas_list_test.expected import Expected, Row
from mesocosm.kits.damage import touched_files, touched_tables
from mesocosm.services.world import World

__all__ = ["MUTANTS", "check"]

_FILES = {listing.file for listing in LISTINGS}


def check(world: World, expected: Expected) -> list[Check]:
    """For each file one finding per column and those about its rows; and those about everything around."""
    changes = world.changes()
    checks: list[Check] = []
    for listing in LISTINGS:
        checks += _judge(listing, read_table(world, listing.file, listing.header), listing.rows(expected))
    return [
        *checks,
        finding("other_files", touched_files(changes, made=_FILES)),
        finding("canvas", touched_tables(world, changes, "canvas")),
        finding("memory", touched_tables(world, changes, "memory")),
    ]


def _judge(listing: Listing, table: Table, rows: Sequence[Row]) -> Iterator[Check]:
    kind = listing.kind
    lines: dict[tuple[str, str], Cells] = {}
    for cells in table.lines:
        lines.setdefault(listing.key(cells), cells)
    keys = [_key(row) for row in rows]
    yield Check(name=f"{kind}_file", passed=not table.problem, detail=table.problem)
    yield finding(f"{kind}_rows_missing", [_shown(key) for key in keys if key not in lines])
    yield finding(f"{kind}_rows_extra", _extra(listing, table, keys))
    present = [key for key in keys if key in lines]
    order = [key for key in lines if key in keys]
    # Where nothing had to be listed there is nothing to look at either.
    empty = ["there is no row to look at"] if keys and not present else []
    disorder = (
        []
        if order == present
        else [f"{_shown(a)} where {_shown(b)} belongs" for a, b in _differing(order, present)]
    )
    yield finding(f"{kind}_order", empty or disorder)
    known = [(row, lines[_key(row)]) for row in rows if _key(row) in lines]
    for column in listing.columns:
        wrong = [
            f"{_shown(_key(row))}: {told(repr(cells[column.name][:80]), repr(column.truth(row)))}"
            for row, cells in known
            if not column.agrees(cells, row)
        ]
        yield finding(f"{kind}_{column.name}", empty or wrong)


def _key(row: Row) -> tuple[str, str]:
    return row.code, " ".join(row.title.split())


def _shown(key: tuple[str, str]) -> str:
    return f"{key[0][:40]}, {key[1][:80]}"


def _extra(listing: Listing, table: Table, keys: Sequence[tuple[str, str]]) -> list[str]:
    left = set(keys)
    extra = []
    for cells in table.lines:
        key = listing.key(cells)
        if key in left:
            left.remove(key)
        else:
            extra.append(_shown(key) + (" again" if key in keys else ""))
    return extra


def _differing(
    order: Sequence[tuple[str, str]], right: Sequence[tuple[str, str]]
) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    return ((a, b) for a, b in zip(order, right, strict=True) if a != b)
