"""The parameters of the family, and how shares become numbers of courses."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from mesocosm.families import family
from mesocosm.kits.apportioning import apportion, require_whole

Share = float

FATES = ("announcement", "email", "message", "no_exam", "exemption", "past", "optional")
"""What becomes of a course: its final is published in one of three channels and goes into the schedule, or
there is none, the student is exempt, it is over, or it is not compulsory."""
LISTED = FATES[:3]

_RATES = {
    "announcement": "canvas_exam_rate",
    "email": "email_exam_rate",
    "message": "message_exam_rate",
    "no_exam": "no_exam_rate",
    "exemption": "exemption_rate",
    "past": "past_exam_rate",
    "optional": "optional_rate",
}


class Params(family.Params):
    """How many courses there are, what becomes of them, and what surrounds them.

    The first seven rates share out all courses and sum to 1; every rate above 0 gets at least one course.
    The others are shares of the courses in the schedule (but ``decoy_rate`` and ``lookalike_share``); each
    above 0 is met by at least one course that it can apply to.
    """

    num_courses: int = Field(default=10, ge=1, le=2000)
    """Courses the student is enrolled in."""
    canvas_exam_rate: Share = Field(default=0.4, ge=0, le=1)
    """Share of the courses whose final is published as an announcement on Canvas."""
    email_exam_rate: Share = Field(default=0.15, ge=0, le=1)
    """Share of the courses whose final is published by e-mail."""
    message_exam_rate: Share = Field(default=0.1, ge=0, le=1)
    """Share of the courses whose final is published in a Canvas conversation."""
    no_exam_rate: Share = Field(default=0.1, ge=0, le=1)
    """Share of the courses that explicitly have no final, or whose final was cancelled."""
    exemption_rate: Share = Field(default=0.1, ge=0, le=1)
    """Share of the courses from whose final the student is exempt: told so, or by a rule about the coursework
    average."""
    past_exam_rate: Share = Field(default=0.1, ge=0, le=1)
    """Share of the courses whose final is over; one of them was earlier on the very day."""
    optional_rate: Share = Field(default=0.05, ge=0, le=1)
    """Share of the courses whose final is not compulsory: optional for all, or the student is an auditor."""
    tbd_rate: Share = Field(default=0.2, ge=0, le=1)
    """Share of the finals in the schedule of which some detail is not published yet."""
    superseded_rate: Share = Field(default=0.35, ge=0, le=1)
    """Share of the finals in the schedule of which a later notice changes a detail."""
    time_zone_rate: Share = Field(default=0.2, ge=0, le=1)
    """Share of the finals in the schedule whose time is given in another time zone."""
    proctor_rate: Share = Field(default=0.25, ge=0, le=1)
    """Share of the finals in the schedule that somebody other than the instructor proctors."""
    near_exemption_rate: Share = Field(default=0.1, ge=0, le=1)
    """Share of the finals in the schedule with a rule of exemption that the student narrowly
    does not meet."""
    tie_rate: Share = Field(default=0.2, ge=0, le=1)
    """Share of the finals in the schedule that start together with another one."""
    decoy_rate: Share = Field(default=0.3, ge=0, le=1)
    """Number of notices that look like those that matter, for each course (besides those of
    ``filler_tokens``): about other sections' finals, courses of other students, a mock exam and so on."""
    lookalike_share: Share = Field(default=0.8, ge=0, le=1)
    """Share of ``filler_tokens`` that are such notices; the rest is about anything but exams."""
    distraction_emails: int = Field(default=3, ge=0, le=5000)
    """Mails that have nothing to do with exams (besides those of ``filler_tokens``)."""
    distraction_announcements: int = Field(default=2, ge=0, le=200)
    """Posts per course that have nothing to do with exams (besides those of ``filler_tokens``)."""

    @model_validator(mode="after")
    def _shares_are_shares(self) -> Self:
        rates = {_RATES[fate]: rate for fate, rate in self.fate_rates().items()}
        require_whole(rates, "num_courses", self.num_courses)
        if not any(fate in LISTED for fate in self.fates()):
            raise ValueError("num_courses and the rates leave no final exam to put into the schedule")
        return self

    def fate_rates(self) -> dict[str, float]:
        """The share of each fate."""
        return {fate: getattr(self, name) for fate, name in _RATES.items()}

    def fates(self) -> list[str]:
        """The fate of every course, in the order of ``FATES``."""
        numbers = apportion(self.fate_rates(), self.num_courses)
        return [fate for fate in FATES for _ in range(numbers[fate])]
