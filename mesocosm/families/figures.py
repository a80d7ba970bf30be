"""Figures: the same bytes for the same numbers. matplotlib comes with the extra ``plots``."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

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


_METADATA: Mapping[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}
"""Metadata of files, constant so that bytes do not vary."""


def render(
    draw: Callable[[Figure], None],
    kind: str,
    *,
    size: tuple[float, float] = (7.2, 4.2),
    dpi: int = 150,
    style: Mapping[str, Any] | None = None,
    layout: Literal["constrained"] | None = "constrained",
) -> bytes:
    """A figure as ``svg``, ``png`` or ``pdf``; see `render_all`."""
    return render_all(draw, {kind: {}}, size=size, dpi=dpi, style=style, layout=layout)[kind]


def render_all(
    draw: Callable[[Figure], None],
    kinds: Mapping[str, Mapping[str, Any]],
    *,
    size: tuple[float, float] = (7.2, 4.2),
    dpi: int = 150,
    style: Mapping[str, Any] | None = None,
    layout: Literal["constrained"] | None = "constrained",
) -> dict[str, bytes]:
    """A figure, drawn once, in several formats.

    Args:
        draw: Draws into the empty figure.
        kinds: The formats (``svg``, ``png``, ``pdf``), each with matplotlib's settings for it.
        size: Width and height, in inches.
        dpi: Dots per inch of a ``png``.
        style: matplotlib's settings besides ours.
        layout: How matplotlib places axes and legends; ``None``: as they are drawn.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("to draw figures", "plots") from None

    settings: Any = {**_STYLE, **(style or {})}
    written = {}
    with rc_context(settings):
        figure = Figure(figsize=size, layout=layout)
        draw(figure)
        for kind, own in kinds.items():
            out = io.BytesIO()
            given: Any = {name: value for name, value in own.items() if name != TRANSPARENT}
            with rc_context(given):
                figure.savefig(
                    out,
                    format=kind,
                    dpi=dpi,
                    metadata=_METADATA[kind],
                    transparent=own.get(TRANSPARENT, False),
                )
            figure.set_layout_engine("none")  # everything has its place now
            written[kind] = out.getvalue()
    return written


TRANSPARENT = "transparent"
"""Among the settings of a format: without a background."""
