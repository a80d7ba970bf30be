"""The parameters of the family, and what they make of the professors."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from mesocosm.families import family
from mesocosm.generators.apply_phd_email.expected import ASKING, OTHERS
from mesocosm.kits.apportionment import apportion, tangled

Structure = Literal["merged", "merged_with_awards", "separate", "two_files"]
STRUCTURES: tuple[Structure, ...] = ("merged", "merged_with_awards", "separate", "two_files")
"""Layouts of what is asked for: one file, one with the award certificates at its end, a file for each
document, and a file of documents beside one of certificates."""

_ASKING = {
    "corrected": 0.15, "two_mails": 0.15, "assistant": 0.12, "last_day": 0.08, "extended": 0.1,
    "reopened": 0.1,
}  # fmt: skip
"""Shares of the edge cases among those who ask."""
_FEW = 20


class Params(family.Params):
    """Number of professors who replied, and their replies.

    The weights say how common a kind of reply is, compared with a refusal where ``no_spots_weight`` is 1.
    """

    num_professors: int = Field(default=20, ge=2, le=20_000)
    """Professors who replied; from 14 on, every kind of case occurs at least once."""
    num_positive: int | None = Field(default=None, ge=1, le=2000)
    """Professors who ask for material that can still be sent; ``None``: as ``positive_weight`` has it, at
    least one of each of the seven kinds. If given, fewer than seven leave out the rarer kinds."""
    max_positive: int = Field(default=600, ge=1, le=2000)
    """Most professors who do so if ``num_positive`` is not given: a careful agent makes files for each."""
    structure: Structure = "separate"
    """Layout of what each professor asks for, if all ask for the same."""
    assign_different_structures: bool = True
    """True to deal the layouts to professors in turn, instead of ``structure`` to all (those who write two
    mails ask for two files in any case)."""
    receiver_idx: int = Field(default=0, ge=0, le=1000)
    """Index of the people who collect material for professors: another number changes only names and
    addresses."""
    positive_weight: float = Field(default=1.54, gt=0, le=100)
    """Weight of requests for material that can still be sent."""
    research_assistant_weight: float = Field(default=1, ge=0, le=100)
    """Weight of offers of another position."""
    no_spots_weight: float = Field(default=1, ge=0, le=100)
    """Weight of refusals."""
    no_response_weight: float = Field(default=0.4, ge=0, le=100)
    """Weight of automatic replies only."""
    edge_case_weight: float = Field(default=1, ge=0, le=1.4)
    """Weight of edge cases, against the usual mix: 70 % of those who ask, and 1.4 to each refusal among the
    others."""

    @property
    def roomy(self) -> bool:
        """True if mails have everyday text: not if there are just enough professors for every case."""
        return self.num_professors > _FEW

    @property
    def tight(self) -> bool:
        """True if requests are short, so that a world with one professor of each kind fits 8K."""
        return self.num_professors <= len(ASKING) + len(OTHERS)

    @property
    def answered(self) -> float:
        """The share of the professors' mails that answer the applicant's: such headers are long."""
        return 0.5 if self.roomy else 0.0 if self.tight else 0.3

    @model_validator(mode="after")
    def _leaves_others(self) -> Self:
        if self.num_positive is not None and self.num_positive >= self.num_professors:
            raise ValueError("num_positive must be less than num_professors")
        if not any(self._other_weights().values()):
            raise ValueError("the weights leave nothing that those could write who do not ask for material")
        return self

    def _other_weights(self) -> dict[str, float]:
        edge = self.edge_case_weight
        return {
            "expired": 0.4 * edge,
            "withdrawn": 0.4 * edge,
            "declined": (1 - 0.2 * edge) * self.no_spots_weight,
            "namesake": 0.2 * edge * self.no_spots_weight,
            "auto_reply": self.no_response_weight,
            "research_assistant": self.research_assistant_weight,
            "undecided": 0.4 * edge,
        }

    def _positive(self, total: float) -> int:
        if self.num_positive is not None:
            return self.num_positive
        wanted = round(self.num_professors * self.positive_weight / (self.positive_weight + total))
        most = min(self.max_positive, self.num_professors - len(OTHERS))
        return max(1, min(max(len(ASKING), wanted), most))

    def fates(self) -> list[str]:
        """List what each professor did, in the order of ``ASKING`` and ``OTHERS``."""
        others = self._other_weights()
        total = sum(others.values())
        positive = self._positive(total)
        asking = tangled(1, "asked", _ASKING, self.edge_case_weight)
        shares = {fate: weight / total for fate, weight in others.items()}
        numbers = apportion(asking, positive) | apportion(shares, self.num_professors - positive)
        return [fate for fate in (*ASKING, *OTHERS) for _ in range(numbers[fate])]
