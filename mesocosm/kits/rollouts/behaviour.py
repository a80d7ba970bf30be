"""Behaviour of the simulated player: its memory, its omissions, and when it turns lenient."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Behaviour(BaseModel):
    """The paper's parameters (Appendix C.3), and how large the lists are that the player asks for."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    history_window: int = Field(default=3, ge=1)
    """So many rounds of feedback are at hand."""
    forget_history_prob: float = Field(default=0.6, ge=0, le=1)
    """Probability that an older round is forgotten."""
    mask_prob: float = Field(default=0.3, ge=0, le=1)
    """Probability that a section is left out of a query."""
    max_mask_sections: int = Field(default=2, ge=0, le=5)
    """So many sections are left out at most."""
    epsilon: float = Field(default=0.3, ge=0, le=1)
    """Probability that a query is relaxed: half of its conditions are dropped."""
    min_share: float = Field(default=0.1, gt=0, lt=1)
    """A concise list holds at least this share of all creatures ..."""
    max_share: float = Field(default=0.3, gt=0, lt=1)
    """... or up to this share, drawn anew for each round."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min_share > self.max_share:
            raise ValueError("min_share must not be above max_share")
        return self
