"""Exposure as pictures: what a filter loses as it skips more; many tasks as bars, with their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mesocosm.families.exposure.filters import KEPT
from mesocosm.families.exposure.measurement import (
    BOUND_AUC,
    BOUND_SKIPPABLE,
    Exposure,
    ExposureEstimate,
    FamilyExposure,
)
from mesocosm.families.figures import kind_of, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_curves(axes: Axes, exposure: Exposure) -> None:
    """Draw how much evidence each filter keeps as it drops more tokens."""
    for name, points in exposure.curves.items():
        axes.plot([x for x, _ in points], [y for _, y in points], label=f"by {name}", linewidth=1.2)
    axes.axhline(KEPT, color="black", linewidth=0.6, linestyle=":")
    axes.axvline(exposure.skippable, color="black", linewidth=0.6, linestyle=":")
    axes.set(
        xlim=(0, 1),
        ylim=(0, 1.02),
        xlabel="share of the tokens that a filter trained on other seeds drops",
        ylabel="evidence kept",
    )
    axes.set_title(f"skippable: {exposure.skippable:.2f}", fontsize="medium")
    axes.legend(fontsize="small", frameon=False, loc="lower left")


def draw_families(measured: Sequence[tuple[str, FamilyExposure]], path: Path) -> None:
    """Skippable share and AUC without text of each task, with their intervals, side by side."""
    kind = kind_of(path)
    chance = ExposureEstimate(mean=0.5, error=None)

    def draw(figure: Figure) -> None:
        places = figure.subplots(1, 2, sharey=True)
        for axes, title, bound, figures in (
            (places[0], "skippable share", BOUND_SKIPPABLE, [one.skippable for _, one in measured]),
            (
                places[1],
                "AUC without text",
                BOUND_AUC,
                [one.auc_without_text or chance for _, one in measured],
            ),
        ):
            values, errors = [one.mean for one in figures], [one.error or 0 for one in figures]
            colours = ["tab:red" if value > bound else "tab:blue" for value in values]
            axes.barh([name for name, _ in measured], values, xerr=errors, color=colours)
            axes.axvline(bound, color="black", linewidth=0.8)
            axes.set(title=title, xlim=(0, 1))
        places[0].invert_yaxis()

    path.write_bytes(render(draw, kind, size=(10, 1.5 + 0.3 * len(measured))))
