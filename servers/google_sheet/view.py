"""Pages of the drive: folders, spreadsheets as grids, comments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import sqlalchemy as sql

from mesocosm.servers.google_sheet import models
from mesocosm.servers.google_sheet.models import Comment, File
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.services.previews import LINES
from mesocosm.services.views import (
    Asked,
    Block,
    Branch,
    Cell,
    Item,
    Link,
    Message,
    Page,
    Sheet,
    Tree,
    View,
    found_in,
)

view = View()
_COLUMNS = 60


@view.page("")
def drive(store: SheetStore, asked: Asked) -> Page:
    """All files, as they lie in folders."""
    below: dict[int | None, list[File]] = defaultdict(list)
    for one in store.session.scalars(sql.select(File).order_by(File.name, File.number)):
        below[one.parent].append(one)

    def branches(parent: int | None) -> list[Branch]:
        return [
            Branch(
                f"Drive of {one.owner}"
                if one.kind == "root"
                else one.name + (" (in the trash)" if one.trashed else ""),
                branches(one.number),
                f"file/{one.number}" if one.kind == "spreadsheet" else None,
                f"files:{one.number}",
            )
            for one in below[parent]
            if one.kind != "root" or below[one.number]
        ]

    return Page("Drive", [Tree(branches(None))])


@view.page("file/{number}")
def spreadsheet(store: SheetStore, asked: Asked, number: str) -> Page:
    found = found_in(store, File, number, "file")
    sheets = store.session.scalars(
        sql.select(models.Sheet)
        .where(models.Sheet.spreadsheet == found.number)
        .order_by(models.Sheet.position)
    ).all()
    blocks: list[Block] = [_grid(store, one, asked) for one in sheets]
    comments = store.session.scalars(
        sql.select(Comment).where(Comment.file == found.number).order_by(Comment.id)
    )
    blocks += [
        Message(one.author, one.content, one.created[:16].replace("T", " "), ref=f"comments:{one.id}")
        for one in comments
    ]
    return Page(found.name, blocks, up=Link("Drive", ""))


def _grid(store: SheetStore, sheet: models.Sheet, asked: Asked) -> Sheet:
    cell = models.Cell
    last = store.session.execute(
        sql.select(sql.func.max(cell.row), sql.func.max(cell.col)).where(cell.sheet == sheet.number)
    ).one()
    height, width = (last[0] if last[0] is not None else -1) + 1, min((last[1] or 0) + 1, _COLUMNS)
    rows: list[list[Cell]] = [[None] * width for _ in range(max(0, min(height - asked.start, LINES)))]
    for one in store.session.scalars(
        sql.select(cell).where(
            cell.sheet == sheet.number,
            cell.row >= asked.start,
            cell.row < asked.start + LINES,
            cell.col < width,
        )
    ):
        rows[one.row - asked.start][one.col] = _shown(one)
    return Sheet(rows, sheet.title, asked.start + 1, height if height > LINES else None)


def _shown(cell: models.Cell) -> Cell:
    value: Cell = cell.number if cell.kind == "n" else bool(cell.number) if cell.kind == "b" else cell.text
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return value if cell.formula is None else f"{value} ({cell.formula})"


@view.items
def items(store: SheetStore) -> Iterator[Item]:
    """The rows of all sheets, and comments."""
    names = dict(store.session.execute(sql.select(File.number, File.name)).all())
    sheets = {one.number: one for one in store.session.scalars(sql.select(models.Sheet))}
    lines: dict[tuple[int, int], list[str]] = defaultdict(list)
    for one in store.session.scalars(
        sql.select(models.Cell).order_by(models.Cell.sheet, models.Cell.row, models.Cell.col)
    ):
        lines[one.sheet, one.row].append(str(_shown(one) if _shown(one) is not None else ""))
    for (number, row), cells in lines.items():
        sheet = sheets[number]
        start = row - row % LINES
        title = f"{names.get(sheet.spreadsheet, '')}, {sheet.title}, row {row + 1}"
        yield Item(
            "row", title, "\t".join(cells), f"file/{sheet.spreadsheet}" + (f"?from={start}" if start else "")
        )
    for said in store.session.scalars(sql.select(Comment).order_by(Comment.id)):
        yield Item(
            "comment",
            names.get(said.file, ""),
            said.content,
            f"file/{said.file}",
            f"comments:{said.id}",
            said.created,
            (said.author,),
        )
