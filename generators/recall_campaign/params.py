"""The parameters of the family, and what they make of the customers."""

from __future__ import annotations

from pydantic import Field

from mesocosm.families import family
from mesocosm.generators.recall_campaign.expected import HOLDING, SETTLED
from mesocosm.kits.apportionment import apportion, tangled

Share = float

FATES = HOLDING + SETTLED
_HOLDING = {
    "boundary_in": 0.09, "two_orders": 0.09, "guest": 0.09, "later_day": 0.09, "day_changed": 0.08,
    "not_returned": 0.07, "revised_in": 0.09,
}  # fmt: skip
_SETTLED = {
    "returned_later": 0.1, "refunded": 0.15, "boundary_out": 0.1, "superseded": 0.15, "draft": 0.1,
    "settled": 0.1, "lookalike": 0.1,
}  # fmt: skip
"""Shares of the edge cases: among cases with a pickup, and among those without."""


class Params(family.Params):
    """Number of customers, and how busy the depot is."""

    num_customers: int = Field(default=40, ge=len(FATES), le=5000)
    """Customers with an order that is or looks affected; every kind of case occurs at least once."""
    pickup_rate: Share = Field(default=0.55, gt=0, lt=1)
    """Share of them from whom an item is to be picked up."""
    edge_case_weight: float = Field(default=1, ge=0, le=1.25)
    """Weight of edge cases, against the usual mix: 60 % of those with a pickup, 80 % of the rest."""
    booking_rate: Share = Field(default=0.25, ge=0, le=1)
    """Bookings that are in the calendar already, per pickup; two at least."""

    def fates(self) -> list[str]:
        """The fate of every customer, in the order of ``FATES``."""
        weights = tangled(self.pickup_rate, "plain", _HOLDING, self.edge_case_weight)
        weights |= tangled(1 - self.pickup_rate, "returned", _SETTLED, self.edge_case_weight)
        numbers = apportion(weights, self.num_customers)
        return [fate for fate in FATES for _ in range(numbers[fate])]
