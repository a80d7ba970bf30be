"""The parameters of the family, and what they make of the professors."""

from __future__ import annotations

from pydantic import Field

from mesocosm import family
from mesocosm.shares import apportion

ASKING = ("asked", "corrected", "two_mails", "assistant", "last_day", "extended", "reopened")
"""What professors did who are to get material."""
OTHERS = (
    "expired",
    "withdrawn",
    "declined",
    "namesake",
    "auto_reply",
    "research_assistant",
    "undecided",
)
"""What professors did who are to get nothing."""


class Params(family.Params):
    """How many professors replied, and what they replied."""

    num_professors: int = Field(default=20, ge=len(ASKING) + len(OTHERS), le=20_000)
    """Professors who replied; every kind of case above occurs at least once."""
    positive_rate: float = Field(default=0.3, gt=0, le=0.8)
    """Share of the professors who ask for material that can still be sent."""
    max_positive: int = Field(default=32, ge=len(ASKING))
    """Most professors who do so, whatever the share is."""
    research_assistant_weight: float = Field(default=1, ge=0, le=100)
    """How often somebody offers another position, compared with a refusal."""
    no_spots_weight: float = Field(default=1, gt=0, le=100)
    """How often somebody refuses."""

    def fates(self) -> list[str]:
        """What every professor did, in the order of ``ASKING`` and ``OTHERS``."""
        wanted = round(self.positive_rate * self.num_professors)
        positive = min(max(len(ASKING), wanted), self.max_positive, self.num_professors - len(OTHERS))
        asking = {
            "asked": 0.3,
            "corrected": 0.15,
            "two_mails": 0.15,
            "assistant": 0.12,
            "last_day": 0.08,
            "extended": 0.1,
            "reopened": 0.1,
        }
        others = {
            "expired": 0.4,
            "withdrawn": 0.4,
            "declined": 0.8 * self.no_spots_weight,
            "namesake": 0.2 * self.no_spots_weight,
            "auto_reply": 0.4,
            "research_assistant": self.research_assistant_weight,
            "undecided": 0.4,
        }
        total = sum(others.values())
        shares = {fate: weight / total for fate, weight in others.items()}
        numbers = apportion(asking, positive) | apportion(shares, self.num_professors - positive)
        return [fate for fate in (*ASKING, *OTHERS) for _ in range(numbers[fate])]
