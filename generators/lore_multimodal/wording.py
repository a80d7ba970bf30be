"""Wording of the text beside a picture.

As short as the phrases of other documents, for the same reason: thousands of distractors repeat them.
"""

from __future__ import annotations

import random

_COUNTS = (
    "{name}: the number of {what} in the image.",
    "Value of {name}: how many {what} are shown.",
    "Variable {name} is the number of {what} shown.",
    "How many {what} the image shows is {name}.",
    "Count the {what} in the image for {name}.",
)
_FORMULAS = (
    "Compute X from the image, then read '{target}%X'.",
    "The image gives X; continue with '{target}%X'.",
    "With X as the image shows, read '{target}%X'.",
    "Work out the formula shown, then read '{target}%X'.",
    "X is in the image; next comes '{target}%X'.",
)
_NOTES = ("A negative X keeps its minus sign.", "Write no plus sign before X.", "X is an integer.", "")
_DISTORTED = ("The image may be distorted.", "It may need straightening.", "")


def count_text(name: str, what: str, rng: random.Random) -> str:
    """A statement of what to count for a variable's value."""
    return rng.choice(_COUNTS).format(name=name, what=what)


def formula_text(target: str, rng: random.Random, *, may_be_distorted: bool) -> str:
    """A statement of which document to read next, whose rule is a picture."""
    notes = _DISTORTED if may_be_distorted else _NOTES
    return f"{rng.choice(_FORMULAS).format(target=target)} {rng.choice(notes)}".strip()
