"""Undoing with the image tools what a picture of a formula was distorted by, until it can be read."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from PIL import Image as Pictures

from mesocosm.services.calling import Tools, decode
from mesocosm.services.service import Image
from mesocosm.solvers.lore_multimodal.glyphs import read_formula

Matrix = tuple[float, float, float, float]
"""x' = ax + by, y' = cx + dy, with y downwards."""
Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Distortion:
    """One way a picture may have been distorted, and the calls that undo it."""

    matrix: Matrix
    undoing: tuple[Call, ...]

    def can_show(self, width: int, height: int, upright: int) -> bool:
        """True if a distorted picture of a given height and any width can have this size."""
        a, b, c, d = map(abs, self.matrix)
        if c < 1e-6:
            return abs(d * upright - height) <= 1
        across = (height - d * upright) / c
        return abs(a * across + b * upright - width) <= 1 + a / c


@dataclass(frozen=True)
class Straightener:
    """Reads formulas however they are distorted."""

    tools: Tools
    height: int
    """Of a formula that is straight, in pixels."""

    def read(self, file_id: str, image: Image) -> str:
        """Read X from a picture."""
        expression = read_formula(image.data)
        size = _size(image)
        fitting = (one for one in _distortions() if one.can_show(*size, self.height))
        while expression is None:
            expression = read_formula(self._undo(file_id, next(fitting)).data)
        return expression

    def _undo(self, file_id: str, distortion: Distortion) -> Image:
        shown: str | Image = ""
        for tool, arguments in distortion.undoing:
            about, shown = self.tools.look("documents", tool, {"doc_id": file_id, **arguments})
            assert isinstance(about, str)
            file_id = decode(about)["id"]
        assert isinstance(shown, Image)
        return shown


def _size(image: Image) -> tuple[int, int]:
    with Pictures.open(io.BytesIO(image.data)) as opened:
        return opened.size


def _distortions() -> Iterator[Distortion]:
    """All of which the prompt speaks, the simplest first."""
    for direction in ("horizontal", "vertical"):
        sign = -1.0 if direction == "horizontal" else 1.0
        yield Distortion((sign, 0, 0, -sign), (("flip_image", {"flip_type": direction}),))
    for angle in sorted(range(15, 360, 15), key=lambda angle: (angle % 90, angle)):
        yield Distortion(_turn(angle), (_rotate(-angle),))
    # What was stretched comes first: to enlarge it even more could be refused.
    for factor in (5.0, 4.0, 3.0, 2.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5):
        for width, height in ((factor, 1.0), (1.0, factor), (factor, factor)):
            yield Distortion((width, 0, 0, height), (_stretch(1 / width, 1 / height),))
    for shift in (-1.0, -0.5, 0.5, 1.0):
        yield Distortion((1, shift, 0, 1), tuple(_shear(-shift)))


def _turn(angle: float) -> Matrix:
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return cosine, sine, -sine, cosine


def _rotate(angle: float) -> Call:
    return "rotate_image", {"angle": angle}


def _stretch(width: float, height: float) -> Call:
    return "stretch_image", {"width_factor": width, "height_factor": height}


def _shear(shift: float) -> Iterator[Call]:
    """Every row shifted sideways by a multiple of its depth, as a rotation, a stretch and a rotation.

    That is the singular value decomposition of (1, shift; 0, 1).
    """
    factor = (math.hypot(shift, 2) + abs(shift)) / 2
    before = math.degrees(math.atan2(2 * shift, -shift * shift)) / 2
    after = math.degrees(math.atan2(2 * shift, shift * shift)) / 2
    yield _rotate(before)
    yield _stretch(factor, 1 / factor)
    yield _rotate(-after)
