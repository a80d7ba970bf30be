"""The parameters of the family."""

from __future__ import annotations

from pydantic import Field

from mesocosm import family
from mesocosm.shares import apportion, share_of

Share = float

FATES = ("listed", "submitted", "over", "exempt", "ungraded", "dropped")
"""What becomes of a piece of work: it goes into a list or, for one of five reasons, into none."""


class Params(family.Params):
    """How many courses and works there are, what becomes of them, and what surrounds them.

    The works that no rate takes away are listed. Every rate above 0 applies to at least one work that it can
    apply to, however small the world.
    """

    num_courses: int = Field(default=10, ge=2, le=4000)
    """Current courses on Canvas, those included in which the student only assists."""
    num_students: int = Field(default=3, ge=0, le=50)
    """Other students in each course."""
    quizzes_per_course: float = Field(default=1.4, ge=0.7, le=6)
    """Quizzes for each course that the student takes, on average (LOCA's quiz_prob, which stops at 1)."""
    assignments_per_course: float = Field(default=2.1, ge=1, le=8)
    """Assignments for each course that the student takes, on average (LOCA's assignment_prob)."""
    submission_rate: Share = Field(default=0.18, ge=0, le=1)
    """Works that are handed in (or graded) already; LOCA's submission_prob."""
    over_rate: Share = Field(default=0.1, ge=0, le=1)
    """Works whose deadline is over; the first one of each list ends at this very moment."""
    exemption_rate: Share = Field(default=0.18, ge=0, le=1)
    """Works for which an announcement states a rule of exemption; LOCA's exemption_prob."""
    exemption_meet_rate: Share = Field(default=0.5, ge=0, le=1)
    """How many of these rules the student satisfies; LOCA's exemption_meet_prob."""
    ungraded_rate: Share = Field(default=0.07, ge=0, le=1)
    """Practice quizzes, surveys and assignments that are not graded."""
    dropped_rate: Share = Field(default=0.1, ge=0, le=1)
    """Works that were cancelled or made voluntary, or from which the student is excused by name."""
    new_deadline_rate: Share = Field(default=0.3, ge=0, le=1)
    """Listed works with a deadline announced besides the due date on Canvas."""
    reinstated_rate: Share = Field(default=0.15, ge=0, le=1)
    """Listed works that were cancelled or voluntary for a while, or from which only others are excused."""
    undated_rate: Share = Field(default=0.1, ge=0, le=1)
    """Listed works without a deadline."""
    unopened_rate: Share = Field(default=0.1, ge=0, le=1)
    """Listed works that open only later."""
    tie_rate: Share = Field(default=0.3, ge=0, le=1)
    """Listed works that are due together with another one of the same list."""
    empty_quiz_rate: Share = Field(default=0.12, ge=0, le=1)
    """Listed quizzes without any question yet."""
    decoy_rate: Share = Field(default=0.2, ge=0, le=1)
    """Works that an announcement names without changing anything about them."""
    assistant_rate: Share = Field(default=0.08, ge=0, le=1)
    """Courses in which the student is a teaching assistant."""

    @property
    def assisted(self) -> int:
        """Courses in which the student assists; one at least is left to be taken."""
        return min(self.num_courses - 1, share_of(self.assistant_rate, self.num_courses))

    def works(self) -> tuple[int, int]:
        """How many quizzes and assignments the courses have together that the student takes."""
        taken = self.num_courses - self.assisted
        return max(2, round(self.quizzes_per_course * taken)), max(
            4, round(self.assignments_per_course * taken)
        )

    def fates(self, number: int) -> dict[str, int]:
        """How many of so many works meet each fate."""
        rates = {
            "submitted": self.submission_rate,
            "over": self.over_rate,
            "exempt": self.exemption_rate * self.exemption_meet_rate,
            "ungraded": self.ungraded_rate,
            "dropped": self.dropped_rate,
        }
        return apportion({"listed": max(0.01, 1 - sum(rates.values())), **rates}, number)
