"""The parameters of the family, and what they make of products and subscribers."""

from __future__ import annotations

from pydantic import Field

from mesocosm.families import family
from mesocosm.kits.apportionment import apportion, tangled

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
"""Fates of a product. Those before ``popular`` go to clearance."""
MOVED = FATES[: FATES.index("popular")]

READER_FATES = (
    "active", "back_again", "rejoined", "duplicate", "complaint", "other_address", "unsubscribed", "by_mail",
)  # fmt: skip
"""Fates of a subscription. Those before ``unsubscribed`` get mail."""
TOLD = READER_FATES[: READER_FATES.index("unsubscribed")]

_MOST_READERS = 160
"""Each gets a copy of the list, so they do not grow with the catalogue for ever."""
_LOW = {
    "one_short": 0.1, "day_over": 0.07, "tier_edge": 0.08, "old_sales": 0.08, "today_sales": 0.06,
    "void_orders": 0.09, "sale_deeper": 0.06, "sale_shallow": 0.06, "sale_ended": 0.06,
}  # fmt: skip
_NORMAL = {
    "boundary_sales": 0.09, "boundary_day": 0.07, "first_day": 0.06, "young": 0.2, "draft": 0.08,
    "out_of_stock": 0.08, "already_there": 0.08,
}  # fmt: skip
_READERS = {
    "back_again": 0.11, "rejoined": 0.1, "duplicate": 0.05, "complaint": 0.05, "other_address": 0.05,
    "unsubscribed": 0.1, "by_mail": 0.15,
}  # fmt: skip
"""Shares of the edge cases: among products that go to clearance, those that do not, and subscribers."""


class Params(family.Params):
    """Number and kinds of products and subscribers."""

    num_products: int = Field(default=36, ge=2, le=20_000)
    """Products of the shop, unless both numbers below are given; from 18 on, every kind of case occurs."""
    low_selling_rate: float = Field(default=0.35, gt=0, lt=1)
    """Share of the products that go to clearance, unless one of the numbers below is given."""
    num_low_selling: int | None = Field(default=None, ge=1, le=20_000)
    """Products that sell slowly and go to clearance: one of each of ten kinds first, the commoner ones if
    there are fewer. ``None``: as ``num_products`` and ``low_selling_rate`` have it."""
    num_normal_selling: int | None = Field(default=None, ge=1, le=20_000)
    """Products that do not go to clearance: one of each of eight kinds first, the commoner ones if there are
    fewer. ``None``: the rest of ``num_products``, one at least."""
    num_subscribers: int | None = Field(default=None, ge=2, le=2000)
    """People on the list of subscribers, of whom three in four or so are written to; from 8 on, every kind of
    case occurs. ``None``: as many as suit the size of the shop, 160 at most."""
    edge_case_weight: float = Field(default=1, ge=0, le=1.5)
    """Weight of edge cases, against the usual mix: two in three of the products, 61 % of the subscribers."""
    distraction_emails: int = Field(default=0, ge=0, le=5000)
    """Mails that have nothing to do with the newsletter (besides those of ``filler_tokens``)."""

    def numbers(self) -> tuple[int, int]:
        """Return the numbers of products for clearance, and of others."""
        low, normal = self.num_low_selling, self.num_normal_selling
        if low is None and normal is None:
            low = round(self.low_selling_rate * self.num_products)
            if self.num_products >= len(FATES):
                low = max(len(MOVED), min(low, self.num_products - len(FATES) + len(MOVED)))
        if low is None:
            low = self.num_products - (normal or 0)
        low = max(1, low)
        return low, max(1, self.num_products - low) if normal is None else normal

    def fates(self) -> list[str]:
        """The fate of every product, in the order of ``FATES``."""
        low, normal = self.numbers()
        numbers = apportion(tangled(1, "slow", _LOW, self.edge_case_weight), low)
        numbers |= apportion(tangled(1, "popular", _NORMAL, self.edge_case_weight), normal)
        return [fate for fate in FATES for _ in range(numbers[fate])]

    def reader_fates(self) -> list[str]:
        """The fate of every subscriber, in the order of ``READER_FATES``."""
        number = self.num_subscribers
        if number is None:
            number = min(_MOST_READERS, max(len(READER_FATES), sum(self.numbers()) // 4))
        numbers = apportion(tangled(1, "active", _READERS, self.edge_case_weight), number)
        return [fate for fate in READER_FATES for _ in range(numbers[fate])]
