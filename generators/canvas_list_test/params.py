"""The parameters of the family."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from mesocosm.families import family
from mesocosm.families.task import Difficulty
from mesocosm.kits.apportionment import apportion, share_of

Share = float

FATES = ("listed", "submitted", "over", "exempt", "ungraded", "dropped")
"""Fates of a piece of work: a list, or one of five reasons for none."""
_FEWEST_QUIZZES, _FEWEST_ASSIGNMENTS = 2, 4
"""Below these not every kind of case could occur."""


class Params(family.Params):
    """Number of courses and works, their fates, and the noise around them.

    The works that no rate takes away are listed. Every share above 0 applies to at least one course or work
    that it can apply to, however small the world.
    """

    num_courses: int = Field(default=10, ge=2, le=4000)
    """Current courses on Canvas, those included in which the student only assists."""
    num_students: int = Field(default=48, ge=0, le=200)
    """Other students in each course."""
    quiz_prob: Share = Field(default=0.8, gt=0, le=1)
    """Share of the courses that the student takes in which there are quizzes."""
    assignment_prob: Share = Field(default=0.7, gt=0, le=1)
    """Share of these courses in which there are assignments."""
    quizzes_per_course: float = Field(default=1.75, ge=1, le=8)
    """Quizzes of each course that has any, on average; two at least in all."""
    assignments_per_course: float = Field(default=3, ge=1, le=12)
    """Assignments of each course that has any, on average; four at least in all."""
    quiz_difficulty: Difficulty = "medium"
    """Difficulty of quizzes: number of questions, time, attempts."""
    assignment_difficulty: Difficulty = "medium"
    """Difficulty of assignments: length of descriptions, attempts, points."""
    submission_prob: Share = Field(default=0.18, ge=0, le=0.9)
    """Share of the works that are handed in (or graded) already, quizzes and assignments alike."""
    exemption_prob: Share = Field(default=0.6, ge=0, le=1)
    """Share of the courses taken that announce a rule of exemption, each for one of its works."""
    exemption_meet_prob: Share = Field(default=0.5, ge=0, le=1)
    """Share of these rules that the student satisfies; between 0 and 1, one is met and one is not wherever
    two courses have works."""
    no_exam_prob: Share = Field(default=0.15, ge=0, le=1)
    """Share of the courses taken that announce that there is no final exam, which changes nothing."""
    over_rate: Share = Field(default=0.1, ge=0, le=0.9)
    """Share of the works whose deadline is over; the first one of each list ends at this very moment."""
    ungraded_rate: Share = Field(default=0.07, ge=0, le=0.9)
    """Share of the works that are practice quizzes, surveys and assignments that are not graded."""
    dropped_rate: Share = Field(default=0.1, ge=0, le=0.9)
    """Share of the works that were cancelled or made voluntary, or from which the student is excused by
    name."""
    new_deadline_rate: Share = Field(default=0.3, ge=0, le=1)
    """Share of the listed works with a deadline announced besides the due date on Canvas."""
    reinstated_rate: Share = Field(default=0.15, ge=0, le=1)
    """Share of the listed works that were cancelled or voluntary for a while, or from which only others are
    excused."""
    undated_rate: Share = Field(default=0.1, ge=0, le=1)
    """Share of the listed works without a deadline."""
    unopened_rate: Share = Field(default=0.1, ge=0, le=1)
    """Share of the listed works that open only later."""
    tie_rate: Share = Field(default=0.3, ge=0, le=1)
    """Share of the listed works that are due together with another one of the same list."""
    empty_quiz_rate: Share = Field(default=0.12, ge=0, le=1)
    """Share of the listed quizzes without any question yet."""
    lookalike_share: Share = Field(default=0.85, ge=0, le=1)
    """Share of the filler that is about other work: of weeks gone by, or not on Canvas."""
    decoy_rate: Share = Field(default=0.2, ge=0, le=1)
    """Share of the works that an announcement names without changing anything about them."""
    assistant_rate: Share = Field(default=0.08, ge=0, le=1)
    """Share of the courses in which the student is a teaching assistant."""

    @model_validator(mode="after")
    def _leaves_something(self) -> Self:
        taken_away = self.submission_prob + self.over_rate + self.ungraded_rate + self.dropped_rate
        if taken_away > 0.9:
            raise ValueError(
                "submission_prob, over_rate, ungraded_rate and dropped_rate must not exceed 0.9 together, or "
                f"little is left to list; they are {taken_away:g}"
            )
        return self

    @property
    def assisted(self) -> int:
        """Courses in which the student assists; one at least is left to be taken."""
        return min(self.num_courses - 1, share_of(self.assistant_rate, self.num_courses))

    def with_works(self, taken: int) -> tuple[int, int]:
        """Return how many of the courses taken have quizzes, and how many assignments."""
        return max(1, share_of(self.quiz_prob, taken)), max(1, share_of(self.assignment_prob, taken))

    def works(self, taken: int) -> tuple[int, int]:
        """Return the total numbers of quizzes and assignments in these courses."""
        with_quizzes, with_assignments = self.with_works(taken)
        quizzes = round(self.quizzes_per_course * with_quizzes)
        assignments = round(self.assignments_per_course * with_assignments)
        return max(_FEWEST_QUIZZES, quizzes), max(_FEWEST_ASSIGNMENTS, assignments)

    def rules(self, taken: int, having: int) -> tuple[int, int]:
        """Of so many courses, of which some have works, how many announce a rule that the student satisfies,
        and one that is not."""
        if not self.exemption_prob:
            return 0, 0
        kinds = int(self.exemption_meet_prob > 0) + int(self.exemption_meet_prob < 1)
        rules = min(having, max(kinds, share_of(self.exemption_prob, taken)))
        met = share_of(self.exemption_meet_prob, rules)
        if self.exemption_meet_prob < 1 and rules > 1:
            met = min(met, rules - 1)
        return met, rules - met

    def fates(self, number: int, exempt: int) -> dict[str, int]:
        """Distribute works over fates; ``exempt`` of them are exempt by rule."""
        rates = {
            "submitted": self.submission_prob,
            "over": self.over_rate,
            "ungraded": self.ungraded_rate,
            "dropped": self.dropped_rate,
        }
        left = number - exempt
        shares = {fate: rate * number / left for fate, rate in rates.items()}
        numbers = apportion({"listed": max(0.01, 1 - sum(shares.values())), **shares}, left)
        return {**numbers, "exempt": exempt}
