"""Letters with a company's own head: six layouts, in which the text stays text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

LAYOUTS = 6
LINES = 46
"""Lines of a letter that fit onto its page."""

_WIDTH, _HEIGHT = 595, 842
_LEADING = 13
_STOPS = {1: (0,), 2: (0, 330), 3: (0, 220, 400), 4: (0, 50, 300, 400)}
"""Tab stops by number of cells."""

Writer = Callable[[str], bytes]
"""Makes a string of a PDF file from a text."""


@dataclass(frozen=True)
class Letterhead:
    """Sender of a letter."""

    lines: Sequence[str]
    """The company's name, then small lines: street, bank."""
    layout: int
    """0 to 5: where that stands, with what colour and type."""


@dataclass(frozen=True)
class _Layout:
    font: str
    bold: str
    colour: tuple[float, float, float]
    name: tuple[int, int, int]
    """Where the name stands, and its size."""
    small: tuple[int, int]
    """Position of the small lines."""
    body: tuple[int, int]
    shapes: Sequence[tuple[int, int, int, int]]
    """Filled boxes: left, bottom, width, height."""
    on_colour: bool = False
    """True if the name is white on a coloured box."""


_KINDS = (
    _Layout("F1", "F2", (0.10, 0.25, 0.45), (50, 795, 20), (50, 748), (50, 690), [(0, 775, 595, 67)], True),
    _Layout("F3", "F4", (0.45, 0.10, 0.12), (300, 790, 18), (300, 772), (50, 700), [(50, 728, 495, 1)]),
    _Layout("F1", "F2", (0.05, 0.42, 0.30), (70, 790, 16), (70, 774), (70, 700), [(0, 0, 36, 842)]),
    _Layout("F3", "F4", (0.20, 0.20, 0.20), (190, 800, 22), (190, 60), (60, 740),
            [(60, 786, 475, 2), (60, 781, 475, 1)]),
    _Layout("F1", "F2", (0.85, 0.45, 0.05), (95, 792, 15), (330, 804), (50, 705),
            [(50, 785, 32, 32), (60, 775, 32, 12)]),
    _Layout("F5", "F6", (0.30, 0.15, 0.45), (60, 800, 13), (60, 786), (60, 705),
            [(50, 822, 495, 2), (50, 730, 495, 2)]),
)  # fmt: skip

FONTS = {
    "F1": "Helvetica",
    "F2": "Helvetica-Bold",
    "F3": "Times-Roman",
    "F4": "Times-Bold",
    "F5": "Courier",
    "F6": "Courier-Bold",
}


def letter(page: str, head: Letterhead, text: Writer) -> bytes:
    """The content of a page with a head. ``ValueError`` if it holds more lines than fit."""
    lines = page.split("\n")
    if len(lines) > LINES:
        raise ValueError(f"a letter holds {LINES} lines a page, got {len(lines)}")
    kind = _KINDS[head.layout % LAYOUTS]
    parts = [b"%.2f %.2f %.2f rg" % kind.colour]
    parts += [b"%d %d %d %d re f" % box for box in kind.shapes]
    left, base, size = kind.name
    name, *small = head.lines
    if kind.on_colour:
        parts.append(b"1 1 1 rg")
    parts.append(_put(kind.bold, size, left, base, text(name)))
    parts.append(b"0 0 0 rg")
    left, base = kind.small
    parts += [_put(kind.font, 8, left, base - 10 * row, text(line)) for row, line in enumerate(small)]
    left, base = kind.body
    for row, line in enumerate(lines):
        cells = line.split("\t")
        for stop, cell in zip(_STOPS[min(len(cells), 4)], cells, strict=False):
            if cell:
                font = kind.bold if line.isupper() else kind.font
                parts.append(_put(font, 10, left + stop, base - _LEADING * row, text(cell)))
    return b"\n".join(parts)


def _put(font: str, size: int, left: int, base: int, shown: bytes) -> bytes:
    return b"BT /%s %d Tf 1 0 0 1 %d %d Tm %s Tj ET" % (font.encode(), size, left, base, shown)
