"""Tools for coupons."""

from __future__ import annotations

from mesocosm.servers.woocommerce.store.coupons import COUPONS
from mesocosm.servers.woocommerce.tools.resources import ResourceTools

_FIRST = ("code", "discount_type", "amount")

_tools = ResourceTools(
    "woo_coupons",
    "coupon",
    COUPONS,
    lambda store: store.coupons,
    data=COUPONS.data("CouponData", required=_FIRST, first=_FIRST),
)
_tools.list("List coupons, newest first, with their rules and how often they were used.", "Coupons")
_tools.get("Get one coupon with its rules and its uses.")
_tools.create(
    "Create a coupon and return it.",
    "Code, discount_type (percent, fixed_cart or fixed_product), amount as a decimal string, and the rules of"
    " its use.",
)
_tools.update("Change some fields of a coupon and return it.")
_tools.delete(
    "Delete a coupon for good, or move it to the trash; returns what it was.",
    force="Delete for good; false moves it to the trash.",
    usual=True,
)
