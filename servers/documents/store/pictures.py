"""Images and how they can be turned, mirrored and stretched without ever losing anything.

A shown image is a picture and a matrix. A transformation changes only the matrix, and the picture is drawn
through it anew: so a transformation and its inverse give back the picture's own bytes.
"""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import orjson
from PIL import Image

from mesocosm.errors import Invalid

MAX_BYTES = 10_000_000
MAX_SIDE = 4096
MAX_PIXELS = 4_000_000
"""Of an image that is shown: what can be drawn and sent in a moment."""
MAX_FACTOR = 20.0
_SAME = 2e-3
"""Matrices that differ by less than this show the same: two pixels of a thousand."""
_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
_GROUND: Mapping[str, float | tuple[float, ...]] = {
    "RGBA": (255, 255, 255, 0),
    "RGB": (255, 255, 255),
    "L": 255,
}
"""Background beside a rotated picture, by mode: transparent or white."""

Flip = Literal["horizontal", "vertical"]


class Matrix(NamedTuple):
    """Linear map of a picture (x to the right, y down, from the centre): x' = ax + by, y' = cx + dy."""

    a: float
    b: float
    c: float
    d: float

    def then(self, after: Matrix) -> Matrix:
        """This transformation followed by another."""
        return Matrix(
            *(
                round(value, 12) + 0.0
                for value in (
                    after.a * self.a + after.b * self.c,
                    after.a * self.b + after.b * self.d,
                    after.c * self.a + after.d * self.c,
                    after.c * self.b + after.d * self.d,
                )
            )
        )

    def is_close(self, other: Matrix) -> bool:
        """True if the difference is invisible."""
        return all(abs(one - two) < _SAME for one, two in zip(self, other, strict=True))

    @property
    def text(self) -> str | None:
        """As the tables keep it."""
        return None if self == IDENTITY else orjson.dumps(list(self)).decode()


IDENTITY = Matrix(1.0, 0.0, 0.0, 1.0)


def read_matrix(text: str | None) -> Matrix:
    """A matrix from the tables."""
    return IDENTITY if text is None else Matrix(*orjson.loads(text))


def rotation(angle: float) -> Matrix:
    """Counter-clockwise by an angle in degrees."""
    if not math.isfinite(angle) or abs(angle) > 36_000:
        raise Invalid("angle must be a number of degrees between -36000 and 36000.")
    turns, rest = divmod(angle % 360, 90)
    if rest == 0:
        cosine, sine = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[int(turns) % 4]
    else:
        cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return Matrix(cosine, sine, -sine, cosine)


def mirroring(flip: Flip) -> Matrix:
    """Left to right (horizontal) or top to bottom (vertical)."""
    return Matrix(-1.0, 0.0, 0.0, 1.0) if flip == "horizontal" else Matrix(1.0, 0.0, 0.0, -1.0)


def stretching(width: float, height: float) -> Matrix:
    """Width and height multiplied by positive factors."""
    for name, factor in (("width_factor", width), ("height_factor", height)):
        if not (math.isfinite(factor) and 1 / MAX_FACTOR <= factor <= MAX_FACTOR):
            raise Invalid(f"{name} must be between {1 / MAX_FACTOR} and {MAX_FACTOR}, got {factor}.")
    return Matrix(float(width), 0.0, 0.0, float(height))


def shearing(horizontal: float) -> Matrix:
    """Every row shifted to the right by a multiple of its depth."""
    if not (math.isfinite(horizontal) and abs(horizontal) <= 2):
        raise Invalid(f"A shear must be between -2 and 2, got {horizontal}.")
    return Matrix(1.0, float(horizontal), 0.0, 1.0)


def inspect(data: bytes) -> tuple[str, int, int]:
    """Media type, width and height of an image's bytes."""
    if len(data) > MAX_BYTES:
        raise Invalid(f"The image has {len(data)} bytes; at most {MAX_BYTES} are accepted.")
    try:
        with Image.open(io.BytesIO(data)) as image:
            kind, (width, height) = image.format, image.size
            if kind in _TYPES and width * height <= MAX_PIXELS:
                image.load()
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        raise Invalid("The data is not an image that can be read.") from error
    if kind not in _TYPES:
        raise Invalid(f"Images must be {', '.join(_TYPES)}; this is {kind}.")
    if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
        raise Invalid(f"The image is {width}x{height} pixels; at most {MAX_PIXELS} pixels are accepted.")
    return _TYPES[str(kind)], width, height


def size_through(width: int, height: int, matrix: Matrix) -> tuple[int, int]:
    """Width and height of a picture shown through a matrix."""
    if matrix.is_close(IDENTITY):
        return width, height
    # A hair is taken off, so that an exact multiple does not become a pixel more by rounding of floats.
    shown = (
        math.ceil(abs(matrix.a) * width + abs(matrix.b) * height - 1e-6),
        math.ceil(abs(matrix.c) * width + abs(matrix.d) * height - 1e-6),
    )
    return max(1, shown[0]), max(1, shown[1])


def check_size(width: int, height: int, matrix: Matrix) -> tuple[int, int]:
    """The size through a matrix, refused if it is too large or the picture vanishes."""
    shown = size_through(width, height, matrix)
    determinant = matrix.a * matrix.d - matrix.b * matrix.c
    if max(shown) > MAX_SIDE or shown[0] * shown[1] > MAX_PIXELS:
        raise Invalid(f"The image would be {shown[0]}x{shown[1]} pixels, which is too large.")
    if abs(determinant) * width * height < 1 or abs(determinant) < 1e-4:
        raise Invalid("The image would become too small to see.")
    return shown


@lru_cache(16)
def draw(data: bytes, media_type: str, matrix: Matrix) -> tuple[bytes, str]:
    """The picture's bytes and media type as shown through a matrix."""
    if matrix.is_close(IDENTITY):
        return data, media_type
    with Image.open(io.BytesIO(data)) as opened:
        picture = _plain(opened)
    size = size_through(*picture.size, matrix)
    shown = _drawn(picture, size, matrix)
    written = io.BytesIO()
    # Runs are what line drawings consist of: half the time, and no larger.
    shown.save(written, "PNG", compress_type=zlib.Z_RLE if shown.mode == "L" else zlib.Z_DEFAULT_STRATEGY)
    return written.getvalue(), "image/png"


def _plain(image: Image.Image) -> Image.Image:
    """The picture in a mode that can be drawn smoothly."""
    clear = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
    gray = image.mode in ("1", "L")
    return image.convert("RGBA" if clear else "L" if gray else "RGB")


def _drawn(picture: Image.Image, size: tuple[int, int], matrix: Matrix) -> Image.Image:
    a, b, c, d = matrix
    if max(abs(b), abs(c)) < _SAME and min(abs(a), abs(d)) < 0.5:
        # Much smaller: averaging keeps what picking single points would drop.
        small = picture.resize(size, Image.Resampling.LANCZOS)
        return _drawn(small, size, Matrix(math.copysign(1, a), 0.0, 0.0, math.copysign(1, d)))
    determinant = a * d - b * c
    back = (d / determinant, -b / determinant, -c / determinant, a / determinant)
    middle, centre = (picture.width / 2, picture.height / 2), (size[0] / 2, size[1] / 2)
    exact = sorted(map(abs, matrix)) == [0.0, 0.0, 1.0, 1.0]
    return picture.transform(
        size,
        Image.Transform.AFFINE,
        (
            *(back[0], back[1], middle[0] - back[0] * centre[0] - back[1] * centre[1]),
            *(back[2], back[3], middle[1] - back[2] * centre[0] - back[3] * centre[1]),
        ),
        resample=Image.Resampling.NEAREST if exact else Image.Resampling.BILINEAR,
        fillcolor=_GROUND[picture.mode],
    )


def combined(steps: Sequence[tuple[str, *tuple[float | str, ...]]]) -> Matrix:
    """One matrix from named steps: rotate ANGLE, flip DIRECTION, stretch WIDTH HEIGHT, shear X."""
    makers = {"rotate": rotation, "flip": mirroring, "stretch": stretching, "shear": shearing}
    matrix = IDENTITY
    for name, *arguments in steps:
        matrix = matrix.then(makers[name](*arguments))  # type: ignore[operator]
    return matrix
