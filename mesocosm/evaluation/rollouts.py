"""Reports on answers about rollouts: accuracy by type, length, setting and format, with intervals."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import orjson
from pydantic import BaseModel, ValidationError
from rich.table import Table

from mesocosm.errors import UsageError
from mesocosm.evaluation.statistics import wilson
from mesocosm.families.quantities import show_length
from mesocosm.kits.rollouts.judging import Scored
from mesocosm.worlds.workspace import replace_file

BY = ("type", "length", "setting", "format")
ALL = "all"


class Cell(BaseModel):
    """The questions of a model that are alike in what is reported by."""

    model: str
    type: str
    length: int | None
    """``None`` where lengths are not told apart; the others are ``all`` there."""
    setting: str
    format: str
    questions: int
    missing: int
    accuracy: float
    """The mean score."""
    lower: float
    upper: float
    """Wilson's interval of the mean, at 95 %."""
    evidence_tokens: float


def tabulate(scores: Sequence[Scored], by: Sequence[str] = BY) -> list[Cell]:
    """One cell for each model and each combination of what is reported by, in order."""
    grouped: dict[tuple[str, str, int, str, str], list[Scored]] = {}
    for one in scores:
        key = (
            one.model,
            one.type if "type" in by else ALL,
            one.length if "length" in by else 0,
            one.setting if "setting" in by else ALL,
            one.format if "format" in by else ALL,
        )
        grouped.setdefault(key, []).append(one)
    return [_cell(key, grouped[key]) for key in sorted(grouped)]


def _cell(key: tuple[str, str, int, str, str], found: Sequence[Scored]) -> Cell:
    model, type, length, setting, format = key
    accuracy = fmean(one.score for one in found)
    lower, upper = wilson(accuracy * len(found), len(found))
    return Cell(
        model=model,
        type=type,
        length=length or None,
        setting=setting,
        format=format,
        questions=len(found),
        missing=sum(one.missing for one in found),
        accuracy=accuracy,
        lower=lower,
        upper=upper,
        evidence_tokens=round(fmean(one.evidence_tokens for one in found), 1),
    )


HEAD = (
    "model", "type", "length", "setting", "format", "questions", "missing", "accuracy", "95 % interval",
    "evidence tokens",
)  # fmt: skip


def rows(cells: Sequence[Cell]) -> list[tuple[str, ...]]:
    """The cells for reading."""
    return [
        (
            cell.model,
            cell.type,
            show_length(cell.length) if cell.length else ALL,
            cell.setting,
            cell.format,
            str(cell.questions),
            str(cell.missing),
            f"{cell.accuracy:.1%}",
            f"{cell.lower:.1%} to {cell.upper:.1%}",
            f"{cell.evidence_tokens:,.0f}",
        )
        for cell in cells
    ]


def show_cells(cells: Sequence[Cell]) -> Table:
    """The cells as a table for the terminal."""
    table = Table(*HEAD)
    for row in rows(cells):
        table.add_row(*row)
    return table


def write_cells(cells: Sequence[Cell], folder: Path) -> list[Path]:
    """Write the table as CSV, Markdown and JSON; what is there is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    lines = csv.DictWriter(text, list(Cell.model_fields), lineterminator="\n")
    lines.writeheader()
    lines.writerows(cell.model_dump() for cell in cells)
    marked = "".join(f"| {' | '.join(row)} |\n" for row in [HEAD, ["---"] * len(HEAD), *rows(cells)])
    written = {
        "accuracy.csv": text.getvalue().encode(),
        "accuracy.md": marked.encode(),
        "accuracy.json": orjson.dumps([cell.model_dump() for cell in cells], option=orjson.OPT_INDENT_2),
    }
    for name, data in written.items():
        replace_file(folder / name, data)
    return [folder / name for name in written]


def read_scores(paths: Sequence[Path]) -> list[Scored]:
    """What ``score agentlongbench --out`` wrote."""
    found: list[Scored] = []
    for path in paths:
        try:
            lines = path.read_bytes().splitlines()
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
        for number, line in enumerate(lines, 1):
            try:
                found.append(Scored.model_validate_json(line))
            except ValidationError as error:
                wrong = error.errors()[0]
                where = ".".join(map(str, wrong["loc"])) or "the line"
                raise UsageError(f"{path}, line {number}: {where}: {wrong['msg']}") from None
    if not found:
        raise UsageError("there are no scores")
    return found
