"""The parameters of the family."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from mesocosm.families import family

Share = float


class Params(family.Params):
    """The extent of the market's figures, and how often they were corrected.

    Rates hold alike for the figures that bear on the target and for those that do not, so that neither the
    number nor the wording of memos tells which is which; at least one if a rate is above 0.
    """

    start_year: int | None = Field(default=None, ge=1900, le=2200)
    """First year of the figures; ``None``: such that the last one is between 2009 and 2023."""
    num_years: int | None = Field(default=None, ge=6, le=120)
    """Years of figures; growth is asked for from the second on. ``None``: twice as many as the market has
    categories, 10 to 60."""
    num_raw_categories: int = Field(default=8, ge=4, le=400)
    """Categories in which the market is reported."""
    num_internal_categories: int | None = Field(default=None, ge=2, le=40)
    """The company's categories, fewer than the market's; ``None``: one for every four of these, 2 to 6."""
    correction_rate: Share = Field(default=0.2, ge=0, le=0.4)
    """Share of the figures that a memo corrects; every third is corrected twice, and the later memo counts.
    The first one is in the first year, with which growth begins, the second in the last one."""
    withdrawn_rate: Share = Field(default=0.1, ge=0, le=0.3)
    """Share of the figures whose correction was withdrawn."""
    missing_rate: Share = Field(default=0.03, ge=0, le=0.2)
    """Share of the figures that are missing."""
    proposal_rate: Share = Field(default=0.08, ge=0, le=0.3)
    """Share of the figures that somebody would like to see changed, or that are corrected in another file:
    neither changes anything, and each kind occurs."""
    weight_rate: Share = Field(default=0.15, ge=0, le=1)
    """Share of the market's categories whose weights memos changed; half as many change in the draft."""

    @model_validator(mode="after")
    def _enough_categories(self) -> Self:
        if self.internal_categories >= self.num_raw_categories:
            raise ValueError("num_internal_categories must be less than num_raw_categories")
        return self

    @property
    def internal_categories(self) -> int:
        """Number of the company's categories."""
        return self.num_internal_categories or min(6, max(2, self.num_raw_categories // 4))

    @property
    def years(self) -> int:
        """Number of years with figures."""
        return self.num_years or min(60, max(10, 2 * self.num_raw_categories))
