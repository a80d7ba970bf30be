"""Figures: the same bytes for the same numbers. matplotlib comes with the extra ``plots``."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mesocosm.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = {"svg.hashsalt": "mesocosm", "font.family": "DejaVu Sans"}


def kind_of(path: Path) -> str:
    """The format that a picture's name asks for; ``UsageError`` unless it is svg or png."""
    kind = path.suffix.removeprefix(".")
    if kind not in ("svg", "png"):
        raise UsageError(f"cannot draw {path.name}: the file's name has to end in .svg or .png")
    return kind


def render(
    draw: Callable[[Figure], None],
    kind: str,
    *,
    size: tuple[float, float] = (7.2, 4.2),
    dpi: int = 150,
    style: Mapping[str, Any] | None = None,
    transparent: bool = False,
) -> bytes:
    """A figure as ``svg`` or ``png``.

    Args:
        draw: Draws into the empty figure.
        kind: The format.
        size: Width and height, in inches.
        dpi: Dots per inch of a ``png``.
        style: matplotlib's settings besides ours.
        transparent: Without a background.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("to draw figures", "plots") from None

    settings: Any = {**_STYLE, **(style or {})}
    with rc_context(settings):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        out = io.BytesIO()
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(out, format=kind, dpi=dpi, metadata=metadata, transparent=transparent)
    return out.getvalue()
