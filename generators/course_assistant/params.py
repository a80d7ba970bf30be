"""The parameters of the family, and what they make of the students."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from mesocosm.families import family
from mesocosm.kits.apportioning import apportion, tangled

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


_COUNTED = {
    "boundary": 0.06, "attached_later": 0.1, "extended": 0.07, "other_address": 0.09, "excused": 0.06,
}  # fmt: skip
_GONE = {"dropped_later": 0.2}
_MISSING = {
    "late": 0.14, "no_file": 0.1, "withdrawn": 0.08, "extension_missed": 0.08, "excuse_revoked": 0.06,
    "reinstated": 0.06, "self_excused": 0.08,
}  # fmt: skip
"""Shares of the edge cases: of those whose presentation counts, who dropped the course, who are reminded."""


class Params(family.Params):
    """How many students there are, and what they did."""

    num_students: int = Field(default=40, ge=2, le=5000)
    """Students on the roster; from 16 on, every kind of case occurs at least once."""
    dropout_rate: Share = Field(default=0.15, ge=0, le=0.9)
    """Share of the students who have dropped the course, according to the roster or to a later notice."""
    submission_rate: Share = Field(default=0.6, ge=0, le=1)
    """Share of the others whose presentation counts: in time, with a file, not taken back."""
    edge_case_weight: float = Field(default=1, ge=0, le=1.6)
    """How common edge cases are, compared with the usual mix: 38 % of those whose presentation counts, 60 %
    of those to be reminded, and 20 % of those who dropped the course."""
    distraction_emails: int = Field(default=4, ge=0, le=5000)
    """Mails that have nothing to do with presentations (besides those of ``filler_tokens``)."""

    @model_validator(mode="after")
    def _leaves_somebody(self) -> Self:
        if not any(fate in REMINDED for fate in self.fates()):
            raise ValueError("num_students, dropout_rate and submission_rate leave nobody to remind")
        return self

    def fates(self) -> list[str]:
        """The fate of every student, in the order of ``FATES``."""
        dropped = self.dropout_rate
        counted = (1 - dropped) * self.submission_rate
        weights = {
            **tangled(counted, "submitted", _COUNTED, self.edge_case_weight),
            **tangled(dropped, "dropped", _GONE, self.edge_case_weight),
            **tangled(1 - dropped - counted, "silent", _MISSING, self.edge_case_weight),
        }
        numbers = apportion(weights, self.num_students)
        return [fate for fate in FATES for _ in range(numbers[fate])]
