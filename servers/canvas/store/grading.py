"""Conversion of a posted grade to a score, and of a score to a grade."""

from __future__ import annotations

import re

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.store.values import MAX_NUMBER, number
from mesocosm.services.service import Row

LETTERS = (
    ("A", 94),
    ("A-", 90),
    ("B+", 87),
    ("B", 84),
    ("B-", 80),
    ("C+", 77),
    ("C", 74),
    ("C-", 70),
    ("D+", 67),
    ("D", 64),
    ("D-", 61),
    ("F", 0),
)
"""Canvas's default grading scheme: the least percentage for each letter."""

_PASSING, _FAILING = ("complete", "pass"), ("incomplete", "fail")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")


def is_excused(submission: Row) -> bool:
    """True if a student is excused: the assignment is settled without a score."""
    return submission["graded_at"] is not None and submission["score"] is None


def graded(assignment: Row, posted: str | float) -> tuple[str, float]:
    """The grade and the score of an assignment for what a grader posted.

    Points ("13.5"), a percentage ("87%"), a letter ("A-") and pass/complete/fail/incomplete are understood
    for every grading type; the grade is shown as the assignment's own type shows it.
    """
    points = float(assignment["points_possible"])
    kind = assignment["grading_type"]
    if kind == "not_graded":
        raise Invalid("This assignment is not graded.")
    score = _score(posted, points)
    if kind == "pass_fail" and score not in (0, points):
        raise Invalid(
            f"Invalid grade {str(posted)[:40]!r}: a pass_fail assignment takes complete or incomplete."
        )
    return _shown(kind, score, points), score


def _score(posted: str | float, points: float) -> float:
    if not isinstance(posted, str):
        return number(posted, "grade", minimum=-MAX_NUMBER)
    posted = posted.strip()
    word = posted.casefold()
    letters = {letter.casefold(): index for index, (letter, _) in enumerate(LETTERS)}
    if word in _PASSING:
        score = points
    elif word in _FAILING:
        score = 0.0
    elif word in letters:
        # A letter alone stands for the best score that still earns it.
        index = letters[word]
        score = points * (100 if index == 0 else LETTERS[index - 1][1] - 1) / 100 if index < 11 else 0.0
    elif posted.endswith("%") and _NUMBER.fullmatch(posted[:-1].strip()):
        score = points * float(posted[:-1]) / 100
    elif _NUMBER.fullmatch(posted):
        score = float(posted)
    else:
        raise Invalid(
            f"Invalid grade {posted[:40]!r}: use points, a percentage such as 87%, a letter grade,"
            " or complete/incomplete."
        )
    if not -MAX_NUMBER <= score <= MAX_NUMBER:
        raise Invalid(f"Invalid grade {posted[:40]!r}: out of range.")
    return round(score, 4)


def _shown(kind: str, score: float, points: float) -> str:
    percentage = round(100 * score / points, 2) if points else 0.0
    if kind == "pass_fail":
        return "complete" if score or not points else "incomplete"
    if kind == "percent":
        return f"{percentage:g}%"
    if kind in ("letter_grade", "gpa_scale"):
        return letter(percentage)
    return f"{score:.10g}"


def letter(percentage: float) -> str:
    """The letter that a percentage earns."""
    return next((name for name, least in LETTERS if percentage >= least), "F")
