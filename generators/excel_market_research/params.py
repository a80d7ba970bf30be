"""The parameters of the family."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from mesocosm.families import family

Share = float


class Params(family.Params):
    """The extent of the market's figures, and how often they were corrected.

    Every rate is a share of the figures that bear on the target, at least one if it is above 0.
    """

    start_year: int = Field(default=2004, ge=1900, le=2200)
    """First year of the figures."""
    num_years: int = Field(default=10, ge=6, le=60)
    """Years of figures; the question leaves out three at the ends."""
    num_raw_categories: int = Field(default=8, ge=4, le=120)
    """Categories in which the market is reported."""
    num_internal_categories: int | None = Field(default=None, ge=2, le=40)
    """The company's categories, fewer than the market's; ``None``: one for every three of these."""
    correction_rate: Share = Field(default=0.06, ge=0, le=0.3)
    """Share of the figures that a memo corrects; every third is corrected twice, and the later memo counts.
    The first one is in the year before the first growth that is asked for, the second in the last year."""
    withdrawn_rate: Share = Field(default=0.03, ge=0, le=0.3)
    """Share of the figures whose correction was withdrawn."""
    missing_rate: Share = Field(default=0.03, ge=0, le=0.2)
    """Share of the figures that are missing."""
    proposal_rate: Share = Field(default=0.05, ge=0, le=0.3)
    """Share of the figures that somebody would like to see changed, or that are corrected in another file:
    neither changes anything, and each kind occurs."""

    @model_validator(mode="after")
    def _enough_categories(self) -> Self:
        if self.internal_categories >= self.num_raw_categories:
            raise ValueError("num_internal_categories must be less than num_raw_categories")
        return self

    @property
    def internal_categories(self) -> int:
        """How many categories the company has."""
        return self.num_internal_categories or max(2, self.num_raw_categories // 3)
