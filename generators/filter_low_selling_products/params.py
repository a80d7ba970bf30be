"""The parameters of the family, and what they make of products and subscribers."""

from __future__ import annotations

from pydantic import Field

from mesocosm import family
from mesocosm.shares import apportion

FATES = (
    "slow",
    "one_short",
    "day_over",
    "tier_edge",
    "old_sales",
    "today_sales",
    "void_orders",
    "sale_deeper",
    "sale_shallow",
    "sale_ended",
    "popular",
    "boundary_sales",
    "boundary_day",
    "first_day",
    "young",
    "draft",
    "out_of_stock",
    "already_there",
)
"""What a product is like. Those before ``popular`` go to clearance."""
MOVED = FATES[: FATES.index("popular")]

READER_FATES = (
    "active", "back_again", "rejoined", "duplicate", "complaint", "other_address", "unsubscribed", "by_mail",
)  # fmt: skip
"""What became of a subscription. Those before ``unsubscribed`` are written to."""
TOLD = READER_FATES[: READER_FATES.index("unsubscribed")]

_MOST_READERS = 120
"""Each gets a copy of the list, so they do not grow with the catalogue for ever."""


class Params(family.Params):
    """How many products and subscribers there are, and what they are like."""

    num_products: int = Field(default=36, ge=len(FATES), le=20_000)
    """Products of the shop; every kind below occurs at least once."""
    low_selling_rate: float = Field(default=0.35, gt=0, lt=1)
    """Share of the products that go to clearance."""
    num_subscribers: int | None = Field(default=None, ge=len(READER_FATES), le=2000)
    """People on the list of subscribers; by default as many as suit the size of the shop."""
    distraction_emails: int = Field(default=0, ge=0)
    """Mails that have nothing to do with the newsletter (besides those of ``filler_tokens``)."""

    def fates(self) -> list[str]:
        """The fate of every product, in the order of ``FATES``."""
        low = self.low_selling_rate
        rest = 1 - low
        weights = {
            "slow": 0.34 * low,
            "one_short": 0.1 * low,
            "day_over": 0.07 * low,
            "tier_edge": 0.08 * low,
            "old_sales": 0.08 * low,
            "today_sales": 0.06 * low,
            "void_orders": 0.09 * low,
            "sale_deeper": 0.06 * low,
            "sale_shallow": 0.06 * low,
            "sale_ended": 0.06 * low,
            "popular": 0.34 * rest,
            "boundary_sales": 0.09 * rest,
            "boundary_day": 0.07 * rest,
            "first_day": 0.06 * rest,
            "young": 0.2 * rest,
            "draft": 0.08 * rest,
            "out_of_stock": 0.08 * rest,
            "already_there": 0.08 * rest,
        }
        numbers = apportion(weights, self.num_products)
        return [fate for fate in FATES for _ in range(numbers[fate])]

    def reader_fates(self) -> list[str]:
        """The fate of every subscriber, in the order of ``READER_FATES``."""
        number = self.num_subscribers
        if number is None:
            number = min(_MOST_READERS, max(len(READER_FATES), self.num_products // 6))
        weights = {
            "active": 0.44,
            "back_again": 0.08,
            "rejoined": 0.08,
            "duplicate": 0.06,
            "complaint": 0.06,
            "other_address": 0.06,
            "unsubscribed": 0.12,
            "by_mail": 0.1,
        }
        numbers = apportion(weights, number)
        return [fate for fate in READER_FATES for _ in range(numbers[fate])]
