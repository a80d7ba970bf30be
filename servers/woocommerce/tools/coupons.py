"""Tools for coupons."""
# ruff: noqa: N803 - the parameters are named as the vendor names them

from __future__ import annotations

from typing import Annotated, Any, Literal, Required, TypedDict

from mesocosm.servers.woocommerce.store import WooCommerceStore, window
from mesocosm.servers.woocommerce.tools import shapes
from mesocosm.servers.woocommerce.tools.service import server
from mesocosm.services.schema import Extra, Words
from mesocosm.services.service import Page


class CouponData(TypedDict, total=False):
    """A new coupon."""

    code: Required[str]
    discount_type: Required[Literal["percent", "fixed_cart", "fixed_product"]]
    amount: Required[str]
    date_expires: str
    individual_use: bool
    product_ids: list[int]
    excluded_product_ids: list[int]
    usage_limit: int
    usage_limit_per_user: int
    limit_usage_to_x_items: int
    free_shipping: bool
    exclude_sale_items: bool
    minimum_amount: str
    maximum_amount: str


CouponChanges = Annotated[CouponData, Extra(required=[])]
"""What may be said of one that is there."""


@server.reads
def woo_coupons_list(
    store: WooCommerceStore,
    perPage: int | None = None,
    page: int | None = None,
    search: Words | None = None,
    code: str | None = None,
) -> Page:
    """List coupons, newest first, with their rules and how often they were used.

    Args:
        perPage: Coupons per page, 1 to 100; 10 by default.
        page: Page number, from 1.
        search: Text that must occur in the code or description.
        code: Exact code.
    """
    records, total = store.coupons.listed(search=search, code=code, page=page, per_page=perPage)
    return Page([shapes.coupon(record) for record in records], *window(page, perPage), total)


@server.reads
def woo_coupons_get(store: WooCommerceStore, couponId: int) -> dict[str, Any]:
    """Get one coupon with its rules and its uses.

    Args:
        couponId: ID of the coupon.
    """
    return shapes.coupon(store.coupons.coupon(couponId))


@server.writes
def woo_coupons_create(store: WooCommerceStore, couponData: CouponData) -> dict[str, Any]:
    """Create a coupon and return it.

    Args:
        couponData: Code, discount_type (percent, fixed_cart or fixed_product), amount as a decimal
            string, and the rules of its use.
    """
    return shapes.coupon(store.coupons.create_coupon(couponData))


@server.writes(idempotent=True)
def woo_coupons_update(store: WooCommerceStore, couponId: int, couponData: CouponChanges) -> dict[str, Any]:
    """Change some fields of a coupon and return it.

    Args:
        couponId: ID of the coupon.
        couponData: The fields to change, as for woo_coupons_create.
    """
    return shapes.coupon(store.coupons.update_coupon(couponId, couponData))


@server.writes(destructive=True)
def woo_coupons_delete(store: WooCommerceStore, couponId: int, force: bool = True) -> dict[str, Any]:
    """Delete a coupon for good, or move it to the trash; returns what it was.

    Args:
        couponId: ID of the coupon.
        force: Delete for good; false moves it to the trash.
    """
    return shapes.coupon(store.coupons.delete_coupon(couponId, force=force))
