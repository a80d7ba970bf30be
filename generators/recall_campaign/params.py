"""The parameters of the family, and what they make of the customers."""

from __future__ import annotations

from pydantic import Field

from mesocosm import family
from mesocosm.shares import apportion

Share = float

HOLDING = (
    "plain",
    "boundary_in",
    "two_orders",
    "guest",
    "later_day",
    "day_changed",
    "not_returned",
    "revised_in",
)
"""Cases with a pickup."""
SETTLED = (
    "returned",
    "returned_later",
    "refunded",
    "boundary_out",
    "superseded",
    "draft",
    "settled",
    "lookalike",
)
"""Cases that look the same and have none."""
FATES = HOLDING + SETTLED
_HOLDING_SHARES = (0.4, 0.09, 0.09, 0.09, 0.09, 0.08, 0.07, 0.09)
_SETTLED_SHARES = (0.2, 0.1, 0.15, 0.1, 0.15, 0.1, 0.1, 0.1)


class Params(family.Params):
    """How many customers there are, and how busy the depot is."""

    num_customers: int = Field(default=40, ge=len(FATES), le=5000)
    """Customers with an order that is or looks affected; every kind of case occurs at least once."""
    pickup_rate: Share = Field(default=0.55, gt=0, lt=1)
    """Share of them from whom an item is to be picked up."""
    booking_rate: Share = Field(default=0.25, ge=0, le=1)
    """Bookings that are in the calendar already, per pickup; two at least."""

    def fates(self) -> list[str]:
        """The fate of every customer, in the order of ``FATES``."""
        rest = 1 - self.pickup_rate
        weights = {
            fate: self.pickup_rate * share for fate, share in zip(HOLDING, _HOLDING_SHARES, strict=True)
        }
        weights |= {fate: rest * share for fate, share in zip(SETTLED, _SETTLED_SHARES, strict=True)}
        numbers = apportion(weights, self.num_customers)
        return [fate for fate in FATES for _ in range(numbers[fate])]
