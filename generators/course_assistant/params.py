"""The parameters of the family, and what they make of the students."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from mesocosm import family
from mesocosm.shares import apportion

Share = float

FATES = (
    "submitted",
    "boundary",
    "attached_later",
    "extended",
    "other_address",
    "excused",
    "dropped",
    "dropped_later",
    "silent",
    "late",
    "no_file",
    "withdrawn",
    "extension_missed",
    "excuse_revoked",
    "reinstated",
    "self_excused",
)
"""What a student did, or what became of them. Those from ``silent`` on are to be reminded."""
REMINDED = FATES[FATES.index("silent") :]


class Params(family.Params):
    """How many students there are, and what they did."""

    num_students: int = Field(default=40, ge=len(FATES), le=5000)
    """Students on the roster; every kind of case below occurs at least once."""
    dropout_rate: Share = Field(default=0.15, gt=0, le=0.5)
    """Share that has dropped the course, according to the roster or to a later notice."""
    submission_rate: Share = Field(default=0.6, gt=0, lt=1)
    """Share of the others whose presentation counts: in time, with a file, not taken back."""
    distraction_emails: int = Field(default=4, ge=0)
    """Mails that have nothing to do with presentations (besides those of ``filler_tokens``)."""

    @model_validator(mode="after")
    def _leaves_somebody(self) -> Self:
        if self.dropout_rate + (1 - self.dropout_rate) * self.submission_rate > 0.95:
            raise ValueError("dropout_rate and submission_rate leave nobody to remind")
        return self

    def fates(self) -> list[str]:
        """The fate of every student, in the order of ``FATES``."""
        dropped = self.dropout_rate
        counted = (1 - dropped) * self.submission_rate
        rest = 1 - dropped - counted
        weights = {
            "submitted": 0.62 * counted,
            "boundary": 0.06 * counted,
            "attached_later": 0.1 * counted,
            "extended": 0.07 * counted,
            "other_address": 0.09 * counted,
            "excused": 0.06 * counted,
            "dropped": 0.8 * dropped,
            "dropped_later": 0.2 * dropped,
            "silent": 0.4 * rest,
            "late": 0.14 * rest,
            "no_file": 0.1 * rest,
            "withdrawn": 0.08 * rest,
            "extension_missed": 0.08 * rest,
            "excuse_revoked": 0.06 * rest,
            "reinstated": 0.06 * rest,
            "self_excused": 0.08 * rest,
        }
        numbers = apportion(weights, self.num_students)
        return [fate for fate in FATES for _ in range(numbers[fate])]
