"""The parameters of the family."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from mesocosm import family

Share = float


class Params(family.Params):
    """The extent of the market's figures, and how often they were corrected.

    Every rate is a share of the figures (or weights) that bear on the target, at least one of each.
    """

    start_year: int = Field(default=2004, ge=1950, le=2000 + 15)
    """First year of the figures."""
    num_years: int = Field(default=10, ge=6, le=60)
    """Years of figures; the question leaves out some at the ends."""
    num_raw_categories: int = Field(default=8, ge=4, le=120)
    """Categories in which the market is reported."""
    num_internal_categories: int | None = Field(default=None, ge=2, le=40)
    """The company's categories (default: one for every three of the market's)."""
    correction_rate: Share = Field(default=0.06, gt=0, le=0.3)
    """Figures that a memo corrects; some twice, and the later memo counts."""
    withdrawn_rate: Share = Field(default=0.03, gt=0, le=0.3)
    """Figures whose correction was withdrawn."""
    missing_rate: Share = Field(default=0.03, gt=0, le=0.2)
    """Figures that are missing."""
    proposal_rate: Share = Field(default=0.05, gt=0, le=0.3)
    """Figures that somebody would like to see changed, which changes nothing."""

    @model_validator(mode="after")
    def _enough_categories(self) -> Self:
        if self.internal_categories >= self.num_raw_categories:
            raise ValueError("num_internal_categories must be less than num_raw_categories")
        return self

    @property
    def internal_categories(self) -> int:
        """How many categories the company has."""
        return self.num_internal_categories or max(2, self.num_raw_categories // 3)
