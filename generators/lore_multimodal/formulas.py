"""Formulas as pictures: typeset by matplotlib's mathtext, put together from its glyphs.

Mathtext takes several milliseconds for a formula. So it typesets all symbols once, in one line, and formulas
are cut and pasted from that: the same glyphs on the same baseline, with a blank column between any two.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from functools import cache

from PIL import Image

_SYMBOL = re.compile(r"v(?P<variable>\d+)|(?P<number>\d+)|(?P<sign>[-+*()])")
_SIGNS = {"-": "−", "+": "+", "*": "×", "(": "(", ")": ")"}
_DIGITS, _SMALL = "0123456789", "₀₁₂₃₄₅₆₇₈₉"
_ALPHABET = "Xv=" + "".join(_SIGNS.values()) + _DIGITS + _SMALL
_TEX = {"×": r"\times", "−": "-"}
for _digit, _small in zip(_DIGITS, _SMALL, strict=True):
    _TEX |= {_digit: rf"\mathrm{{{_digit}}}", _small: rf"{{}}_{{\mathrm{{{_digit}}}}}"}
_POINTS, _DPI, _FONT = 22, 100, "stix"
HEIGHT = 60
"""Pixels; every formula has its picture to itself."""
_MARGIN, _GAP, _WIDE_GAP = 12, 2, 9
"""Pixels before and behind a formula, between the symbols of a term, and on both sides of a sign."""
_LONGEST = 80
"""Characters: about a thousand pixels, which can still be stretched."""
_WHITE = 255


def can_be_set(expression: str) -> bool:
    """True if an expression can be typeset. A user's own operator may produce a long or unusual one."""
    return len(expression) <= _LONGEST and not _SYMBOL.sub("", expression).strip()


def draw_formula(expression: str) -> bytes:
    """The picture ``X = ...`` of an expression over integers, as PNG in greys, black on white."""
    glyphs = _glyphs()
    placed: list[tuple[int, Image.Image]] = []
    at, before = _MARGIN, ""
    for symbol in _symbols(expression):
        if before:
            at += _WIDE_GAP if _stands_apart(symbol) or _stands_apart(before) else _GAP
        placed.append((at, glyphs[symbol]))
        at, before = at + glyphs[symbol].width, symbol
    card = Image.new("L", (at + _MARGIN, HEIGHT), _WHITE)
    for left, glyph in placed:
        card.paste(glyph, (left, (HEIGHT - glyph.height) // 2))
    written = io.BytesIO()
    # Runs are what line drawings consist of: half the time, and no larger.
    card.save(written, "PNG", compress_type=zlib.Z_RLE)
    return written.getvalue()


def _symbols(expression: str) -> Iterator[str]:
    """The symbols of ``X = ...`` in the order in which they are drawn."""
    yield from "X="
    for found in _SYMBOL.finditer(expression):
        if found["variable"]:
            yield "v"
            yield from (_SMALL[int(digit)] for digit in found["variable"])
        else:
            yield from found["number"] or _SIGNS[found["sign"]]


def _stands_apart(symbol: str) -> bool:
    return symbol in "=+−×"


@cache
def _glyphs() -> dict[str, Image.Image]:
    """Every symbol, black on white, as wide as its ink and all of the same height."""
    line = _typeset_alphabet()
    inked = [min(line.crop((x, 0, x + 1, line.height)).tobytes()) < _WHITE for x in range(line.width)]
    inked = [False, *inked, False]
    edges = [x for x in range(len(inked) - 1) if inked[x] != inked[x + 1]]
    pieces = [
        line.crop((start, 0, end, line.height)) for start, end in zip(edges[::2], edges[1::2], strict=True)
    ]
    return dict(zip(_ALPHABET, pieces[1:-1], strict=True))


def _typeset_alphabet() -> Image.Image:
    """All symbols in one line, wide blanks between them, as matplotlib typesets them."""
    # Imported here because it takes half a second, which every command would wait for.
    import matplotlib
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser

    # The bars are left away again: mathtext may cut the first and the last symbol short by a hair.
    line = r"\quad ".join(_TEX.get(symbol, symbol) for symbol in f"|{_ALPHABET}|")
    # What a user's matplotlibrc may say otherwise.
    with matplotlib.rc_context({"text.hinting": "force_autohint", "text.antialiased": True}):
        typeset = MathTextParser("agg").parse(
            f"${line}$",
            dpi=_DPI,
            prop=FontProperties(size=_POINTS, math_fontfamily=_FONT),
        )
    ink = Image.fromarray(typeset.image)
    return ink.point(lambda covered: _WHITE - covered)
