"""Reading a formula from a picture, glyph by glyph: which of mathtext's glyphs is it, pixel for pixel?"""

from __future__ import annotations

import io
import re
from functools import cache

from PIL import Image, ImageChops

_SIGNS = {"=": "=", "+": "+", "-": "-", "*": r"\times", "(": "(", ")": ")"}
_SMALL = "₀₁₂₃₄₅₆₇₈₉"
_FORMULA = re.compile(rf"X=((?:v[{_SMALL}]+|\d+|[-+*()])+)")
_WHITE = 255


def read_formula(data: bytes) -> str | None:
    """Read X from an upright picture ``X = ...``; ``None`` if it shows something else."""
    with Image.open(io.BytesIO(data)) as opened:
        ink = ImageChops.invert(opened.convert("L"))
    known, text = _glyphs(), ""
    for left, right in _pieces(ink):
        glyph = ink.crop((left, 0, right, ink.height))
        symbol = known.get(_outline(glyph))
        if symbol is None:
            return None
        text += symbol
    formula = _FORMULA.fullmatch(text)
    if formula is None:
        return None
    spaced = re.sub(r"([-+*])", r" \1 ", formula[1])
    return spaced.translate({ord(small): str(digit) for digit, small in enumerate(_SMALL)})


def _pieces(ink: Image.Image) -> list[tuple[int, int]]:
    """List the ranges of columns with ink."""
    height, columns = ink.height, ink.transpose(Image.Transpose.TRANSPOSE).tobytes()
    blank = bytes(height)
    inked = [False, *(columns[x : x + height] != blank for x in range(0, len(columns), height)), False]
    edges = [x for x in range(len(inked) - 1) if inked[x] != inked[x + 1]]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _outline(ink: Image.Image) -> tuple[tuple[int, int], bytes]:
    """A glyph without what is white around it."""
    cut = ink.crop(ink.getbbox())
    return cut.size, cut.tobytes()


@cache
def _glyphs() -> dict[tuple[tuple[int, int], bytes], str]:
    """The symbols that formulas are made of, by their pixels."""
    tex = {"X": "X", "v": "v", **_SIGNS}
    tex |= {str(digit): rf"\mathrm{{{digit}}}" for digit in range(10)}
    tex |= {small: rf"{{}}_{{\mathrm{{{digit}}}}}" for digit, small in enumerate(_SMALL)}
    return {_outline(_typeset(code)): symbol for symbol, code in tex.items()}


def _typeset(code: str) -> Image.Image:
    """One symbol as matplotlib typesets it, white on black."""
    import matplotlib
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser

    with matplotlib.rc_context({"text.hinting": "force_autohint", "text.antialiased": True}):
        font = FontProperties(size=22, math_fontfamily="stix")
        # Between bars, because mathtext may cut the first and the last symbol short by a hair.
        ink = Image.fromarray(
            MathTextParser("agg").parse(rf"$|\quad {code}\quad |$", dpi=100, prop=font).image
        )
    _, (left, right), _ = _pieces(ink)
    return ink.crop((left, 0, right, ink.height))
