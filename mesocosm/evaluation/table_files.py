"""Tables as all reports have them: Markdown, CSV and JSON in files, and on a terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel
from rich.markup import escape
from rich.table import Table

from mesocosm.worlds.workspace import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def as_csv(head: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue().encode()


def models_as_csv(kind: type[BaseModel], models: Iterable[BaseModel]) -> bytes:
    """A column for each field of their kind, also where there are no models."""
    return as_csv(kind.model_fields, (model.model_dump().values() for model in models))


def models_as_json(models: Iterable[BaseModel]) -> bytes:
    return orjson.dumps([model.model_dump() for model in models], option=orjson.OPT_INDENT_2)


def write_files(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files by their names; what is there is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        replace_file(folder / name, data)
    return [folder / name for name in files]


def printed(head: Iterable[str], rows: Iterable[Iterable[str]], **about: Any) -> Table:
    """A table for the terminal; ``about`` is what rich knows of it, such as its title."""
    table = Table(*head, **about)
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def draw_shares(
    axes: Axes,
    at: Sequence[float],
    shares: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    label: str,
) -> Line2D:
    """A line of shares in percent, with a band of their intervals."""
    (line,) = axes.plot(at, [100 * share for share in shares], marker="o", markersize=4, label=label)
    low, high = ([100 * interval[end] for interval in intervals] for end in (0, 1))
    axes.fill_between(at, low, high, alpha=0.15, color=line.get_color(), linewidth=0)
    return line
