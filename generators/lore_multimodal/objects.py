"""Pictures of objects to be counted: plain shapes in plain colours that never touch."""

from __future__ import annotations

import io
import math
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from PIL import Image, ImageDraw

COLORS = {
    "black": (0, 0, 0),
    "red": (220, 20, 30),
    "orange": (255, 140, 0),
    "yellow": (250, 220, 30),
    "green": (0, 140, 40),
    "cyan": (0, 210, 230),
    "blue": (20, 60, 220),
    "magenta": (230, 30, 200),
    "brown": (120, 65, 25),
    "gray": (150, 150, 150),
}
"""Colours that nobody takes for each other, on white."""
SHAPES = ("circle", "square", "triangle", "star", "cross")
_CELL, _FEWEST_CELLS = 32, 6
"""Every object has a cell of the picture to itself; a picture has at least so many in a row."""
_RADII = (9, 13)
_EDGE = 1
"""Pixels of a cell that stay blank on every side, so that two part any two objects."""
_ARM = 0.4
"""Thickness of a cross, as a share of its width."""
_INNER = 0.45
"""Radius of a star's dents, as a share of its radius."""


@dataclass(frozen=True)
class Kind:
    """Kind of object to count when not all are counted."""

    color: str
    shape: str

    @property
    def plural(self) -> str:
        """As the text says it."""
        return f"{self.color} {self.shape}{'es' if self.shape.endswith('s') else 's'}"


KINDS = [Kind(color, shape) for color, shape in product(COLORS, SHAPES)]


@dataclass(frozen=True)
class Scene:
    """The objects of a picture.

    Args:
        counted: How many there are to be counted.
        kind: Which ones count; ``None``: all.
        others: How many there are beside these.
        seed: For their kinds, sizes and places.
    """

    counted: int
    kind: Kind | None
    others: int
    seed: str

    def objects(self) -> list[Kind]:
        """List the objects in no particular order. Some that do not count share shape or colour with those
        that do.
        """
        rng = random.Random(f"{self.seed}:objects")
        if self.kind is None:
            return [rng.choice(KINDS) for _ in range(self.counted)]
        alike = [kind for kind in KINDS if (kind.color == self.kind.color) != (kind.shape == self.kind.shape)]
        rest = [kind for kind in KINDS if kind != self.kind]
        others = [rng.choice(alike if rng.random() < 0.6 else rest) for _ in range(self.others)]
        return [self.kind] * self.counted + others

    def __call__(self) -> bytes:
        """The picture as PNG, in no more colours than it needs and with sharp edges."""
        objects = self.objects()
        rng = random.Random(f"{self.seed}:places")
        row = max(_FEWEST_CELLS, math.ceil(math.sqrt(len(objects))))
        picture = Image.new("P", (row * _CELL, row * _CELL))
        picture.putpalette([part for color in ((255, 255, 255), *COLORS.values()) for part in color])
        draw = ImageDraw.Draw(picture)
        inks = {name: number for number, name in enumerate(COLORS, 1)}
        for one, cell in zip(objects, rng.sample(range(row * row), len(objects)), strict=True):
            radius = rng.randint(*_RADII)
            first, last = _EDGE + radius, _CELL - 1 - _EDGE - radius
            x, y = (at * _CELL + rng.randint(first, last) for at in divmod(cell, row))
            _draw_shape(draw, one.shape, x, y, radius, inks[one.color])
        written = io.BytesIO()
        # Runs are what plain shapes consist of: half the time, and no larger.
        picture.save(written, "PNG", bits=4, compress_type=zlib.Z_RLE)
        return written.getvalue()


def _draw_shape(draw: ImageDraw.ImageDraw, shape: str, x: int, y: int, radius: int, ink: int) -> None:
    box = (x - radius, y - radius, x + radius, y + radius)
    match shape:
        case "circle":
            draw.ellipse(box, fill=ink)
        case "square":
            draw.rectangle(box, fill=ink)
        case "triangle":
            draw.polygon([(x, box[1]), (box[2], box[3]), (box[0], box[3])], fill=ink)
        case "star":
            draw.polygon(list(_star(x, y, radius)), fill=ink)
        case "cross":
            arm = round(radius * _ARM)
            draw.rectangle((box[0], y - arm, box[2], y + arm), fill=ink)
            draw.rectangle((x - arm, box[1], x + arm, box[3]), fill=ink)


def _star(x: int, y: int, radius: int) -> Iterator[tuple[float, float]]:
    """Five points, one of them up."""
    for corner in range(10):
        reach = radius * (_INNER if corner % 2 else 1)
        angle = math.pi * corner / 5
        yield x + reach * math.sin(angle), y - reach * math.cos(angle)
