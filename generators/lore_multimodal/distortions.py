"""Distortions of a formula's picture, each exactly reversible with the image tools."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Literal

Distortion = Literal["rotate", "flip", "stretch", "shear"]
Step = tuple[str, *tuple[float | str, ...]]
"""As ``NewImage`` takes them."""

CHOICES: Mapping[Distortion, Sequence[tuple[float | str, ...]]] = {
    "rotate": [(angle,) for angle in range(15, 360, 15)],
    "flip": [("horizontal",), ("vertical",)],
    "stretch": [(0.2, 1), (0.25, 1), (2, 1), (3, 1), (1, 0.2), (1, 0.25), (1, 2), (1, 3), (0.25, 0.25)],
    # A shear is a rotation, a stretch and another rotation.
    "shear": [(-1,), (-0.5,), (0.5,), (1,)],
}
"""The ways of each kind; all are in the prompt."""


def choose_distortion(kinds: Sequence[Distortion], rng: random.Random) -> Step:
    """One way of distorting a picture, of one of these kinds."""
    kind = rng.choice(kinds)
    return (kind, *rng.choice(CHOICES[kind]))
