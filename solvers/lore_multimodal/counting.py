"""Counting objects in a picture: areas of one colour, and what shape they have."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from PIL import Image

_COLORS = {
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "red": (255, 0, 0),
    "orange": (255, 140, 0),
    "yellow": (255, 230, 0),
    "green": (0, 128, 0),
    "cyan": (0, 255, 255),
    "blue": (0, 0, 255),
    "magenta": (255, 0, 255),
    "brown": (130, 70, 30),
    "gray": (150, 150, 150),
}


class Run(NamedTuple):
    """Pixels of one colour beside each other."""

    row: int
    start: int
    end: int
    color: str

    def touches(self, above: Run) -> bool:
        """True if a run touches this one from the row above, at least at a corner."""
        return self.color == above.color and self.start <= above.end and self.end >= above.start


@dataclass(eq=False)
class Area:
    """Runs that hang together, from top to bottom."""

    runs: list[Run] = field(default_factory=list)

    @property
    def color(self) -> str:
        """The name of its colour."""
        return self.runs[0].color

    @property
    def shape(self) -> str:
        """Shape of the area, by which points of its bounding box it covers."""
        left, right = min(run.start for run in self.runs), max(run.end for run in self.runs) - 1
        top, bottom = self.runs[0].row, self.runs[-1].row
        if self._covers(bottom, left) and self._covers(bottom, right):
            return "square" if self._covers(top, left) and self._covers(top, right) else "triangle"
        if self._covers(top + (bottom - top) // 4, left + (right - left) // 4):
            return "circle"
        share = sum(run.end - run.start for run in self.runs) / ((right - left + 1) * (bottom - top + 1))
        return "cross" if share > 0.54 else "star"

    def _covers(self, row: int, column: int) -> bool:
        return any(run.row == row and run.start <= column < run.end for run in self.runs)


def count(data: bytes, what: str) -> int:
    """Count the ``objects``, ``cyan circles`` or ``brown crosses`` in a picture."""
    found = areas(data)
    if what == "objects":
        return len(found)
    color, _, plural = what.partition(" ")
    shape = "cross" if plural == "crosses" else plural.removesuffix("s")
    return sum(area.color == color and area.shape == shape for area in found)


def areas(data: bytes) -> list[Area]:
    """The objects of a picture."""
    found: dict[Area, None] = {}
    above: list[tuple[Run, Area]] = []
    for row in _rows(data):
        here: list[tuple[Run, Area]] = []
        for run in row:
            touched = list(dict.fromkeys(area for other, area in above if run.touches(other)))
            area = touched[0] if touched else Area()
            for other in touched[1:]:
                # Two arms meet: what was two areas so far is one.
                area.runs = sorted(area.runs + other.runs)
                del found[other]
                above, here = (
                    [(its, area if of is other else of) for its, of in known] for known in (above, here)
                )
            area.runs.append(run)
            found[area] = None
            here.append((run, area))
        above = here
    return list(found)


def _rows(data: bytes) -> Iterator[Iterator[Run]]:
    """The runs of every row that are not white."""
    with Image.open(io.BytesIO(data)) as picture:
        indexed = picture.convert("P", palette=Image.Palette.ADAPTIVE)
    width, pixels, palette = indexed.width, indexed.tobytes(), indexed.getpalette() or []
    names = [_name(*palette[at : at + 3]) for at in range(0, len(palette), 3)]
    white = re.escape(bytes(number for number, name in enumerate(names) if name == "white"))
    runs = re.compile(rb"([^" + white + rb"])\1*", re.DOTALL)
    for number in range(indexed.height):
        row = pixels[number * width : (number + 1) * width]
        yield (Run(number, run.start(), run.end(), names[run[0][0]]) for run in runs.finditer(row))


@cache
def _name(*color: int) -> str:
    """The name of the colour that is nearest."""
    return min(_COLORS, key=lambda name: math.dist(_COLORS[name], color))
