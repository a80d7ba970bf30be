"""The truth of an instance, as the checker and the mutants need it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from mesocosm.families import family

QUIZ_FILE = "quiz_info.csv"
ASSIGNMENT_FILE = "assignment_info.csv"
QUIZ_HEADER = (
    "course_code",
    "course_name",
    "credits",
    "quiz_title",
    "number_of_questions",
    "time_limit",
    "allowed_attempts",
    "scoring_policy",
    "points_possible",
    "deadline",
)
ASSIGNMENT_HEADER = (
    "course_code",
    "course_name",
    "assignment_title",
    "description",
    "deadline",
    "points_possible",
)

Reason = Literal["submitted", "over", "exempt", "ungraded", "dropped", "assistant", "ended"]
"""Reason why work is in no list: handed in or graded, past the deadline, exempt by rule, ungraded, called off
(voluntary, or excused), or of a course that the student assists in or that has ended."""


class Row(BaseModel):
    """One line of either list; ``None`` stands for an empty cell."""

    code: str
    name: str
    title: str
    points: float
    deadline: str | None
    """By the clock of the campus."""
    utc: str | None
    """The same moment in UTC, written alike."""
    stale: str | None = None
    """The deadline by the clock of the campus that a later word replaced."""


class QuizRow(Row):
    """A line of the list of quizzes."""

    credits: float
    questions: int
    time_limit: int | None
    attempts: int
    """-1: unlimited."""
    policy: str


class AssignmentRow(Row):
    """A line of the list of assignments."""

    description: str
    """As plain text; empty where Canvas shows none."""


class LeftOut(BaseModel):
    """A piece of work in no list, and why, with the line that a careless reader would write."""

    reason: Reason
    variant: str
    quiz: QuizRow | None = None
    assignment: AssignmentRow | None = None


class Expected(family.Expected):
    """Both lists in their right order, and what near misses are made of."""

    quizzes: list[QuizRow]
    assignments: list[AssignmentRow]
    left_out: list[LeftOut]
    features: dict[str, int]
    """Number of occurrences of each complication."""
    looked_up: list[tuple[int, int]]
    """Course and assignment of every piece of work whose submission must be looked up."""
