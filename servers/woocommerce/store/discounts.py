"""Discounts of coupons on the lines of an order, and their conditions. In whole cents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_DOWN, Decimal
from fnmatch import fnmatchcase

from mesocosm.errors import Invalid
from mesocosm.servers.woocommerce.refusals import invalid
from mesocosm.servers.woocommerce.store.shop import Record
from mesocosm.servers.woocommerce.values import cents, money


@dataclass
class Item:
    """A line as coupons see it."""

    product_ids: tuple[int, ...]
    """The product and, if it is one, the variation."""
    categories: Sequence[int]
    """The product's categories with all above them."""
    on_sale: bool
    quantity: int
    subtotal: int
    left: int
    """The part of the subtotal that earlier coupons left."""


def refuse(text: str) -> Invalid:
    """Make the error for a coupon that cannot be used."""
    return invalid("woocommerce_rest_invalid_coupon", text)


def check_usable(
    coupon: Record,
    items: Sequence[Item],
    *,
    now: str,
    used: int,
    used_by_buyer: int,
    email: str,
) -> None:
    """Refuse a coupon that this order may not use; ``used`` counts all its uses but this order's."""
    if coupon["usage_limit"] and used >= coupon["usage_limit"]:
        raise refuse("Coupon usage limit has been reached.")
    if coupon["usage_limit_per_user"] and used_by_buyer >= coupon["usage_limit_per_user"]:
        raise refuse("Coupon usage limit has been reached.")
    if coupon["date_expires"] and now > coupon["date_expires"]:
        raise refuse("This coupon has expired.")
    subtotal = sum(item.subtotal for item in items)
    lowest, highest = cents(coupon["minimum_amount"]), cents(coupon["maximum_amount"])
    if lowest and subtotal < lowest:
        raise refuse(f"The minimum spend for this coupon is {money(lowest)}.")
    if highest and subtotal > highest:
        raise refuse(f"The maximum spend for this coupon is {money(highest)}.")
    _check_products(coupon, items)
    restrictions = [pattern.lower() for pattern in coupon["email_restrictions"]]
    if restrictions and not any(fnmatchcase(email.lower(), pattern) for pattern in restrictions):
        raise refuse(f'Please enter a valid email at checkout to use coupon code "{coupon["code"]}".')


def _check_products(coupon: Record, items: Sequence[Item]) -> None:
    products, categories = coupon["product_ids"], coupon["product_categories"]
    wanted = any(_meet(products, item.product_ids) for item in items) or not products
    if not wanted or (categories and not any(_meet(categories, item.categories) for item in items)):
        raise refuse("Sorry, this coupon is not applicable to selected products.")
    if coupon["discount_type"] == "fixed_cart":
        if any(_is_excluded(coupon, item) for item in items):
            raise refuse("Sorry, this coupon is not applicable to selected products.")
        if coupon["exclude_sale_items"] and any(item.on_sale for item in items):
            raise refuse("Sorry, this coupon is not valid for sale items.")
    elif items and not any(_applies(coupon, item) for item in items):
        raise refuse("Sorry, this coupon is not applicable to selected products.")


def check_together(coupons: Sequence[Record]) -> None:
    """Refuse coupons that one order may not use together."""
    codes = [coupon["code"] for coupon in coupons]
    if len(set(codes)) < len(codes):
        raise refuse("Coupon code already applied!")
    alone = [coupon["code"] for coupon in coupons if coupon["individual_use"]]
    if alone and len(coupons) > 1:
        raise refuse(
            f'Sorry, coupon "{alone[0]}" has already been applied and cannot be used in conjunction '
            "with other coupons."
        )


def discounts(coupon: Record, items: Sequence[Item]) -> list[int]:
    """Compute the coupon's discount on each item; reduces what is ``left`` of them."""
    found = [0] * len(items)

    def take(index: int, amount: int) -> int:
        taken = max(0, min(amount, items[index].left))
        items[index].left -= taken
        found[index] += taken
        return taken

    chosen = [index for index, item in enumerate(items) if item.left > 0 and _applies(coupon, item)]
    # The dearest first, as the product does.
    chosen.sort(key=lambda index: -Decimal(items[index].subtotal) / items[index].quantity)
    if coupon["discount_type"] == "percent":
        _take_percent(coupon, items, chosen, take)
    elif coupon["discount_type"] == "fixed_product":
        for index, pieces in _pieces(coupon, items, chosen):
            take(index, cents(coupon["amount"]) * pieces)
    else:
        _take_evenly(cents(coupon["amount"]), items, chosen, take)
    return found


_Take = Callable[[int, int], int]


def _take_percent(coupon: Record, items: Sequence[Item], chosen: Sequence[int], take: _Take) -> None:
    rate = Decimal(coupon["amount"]) / 100
    taken, base = 0, Decimal(0)
    for index, pieces in _pieces(coupon, items, chosen):
        part = Decimal(items[index].subtotal) * pieces / items[index].quantity
        taken += take(index, int((part * rate).quantize(Decimal(1), ROUND_FLOOR)))
        base += part
    # Each line was rounded down: the cents that this left are taken too.
    _take_cents(int((base * rate).quantize(Decimal(1), ROUND_HALF_DOWN)) - taken, items, chosen, take)


def _take_evenly(amount: int, items: Sequence[Item], chosen: Sequence[int], take: _Take) -> None:
    """Spread an amount over the pieces of all lines."""
    while amount > 0:
        open_lines = [index for index in chosen if items[index].left > 0]
        each = amount // (sum(items[index].quantity for index in open_lines) or amount + 1)
        taken = sum(take(index, each * items[index].quantity) for index in open_lines)
        if not taken:
            _take_cents(amount, items, open_lines, take)
            return
        amount -= taken


def _take_cents(amount: int, items: Sequence[Item], chosen: Sequence[int], take: _Take) -> None:
    for index in chosen:
        amount -= take(index, min(amount, items[index].quantity)) if amount > 0 else 0


def _pieces(coupon: Record, items: Sequence[Item], chosen: Sequence[int]) -> list[tuple[int, int]]:
    """Return how many pieces of each line the coupon may reduce."""
    remaining = coupon["limit_usage_to_x_items"]
    found = []
    for index in chosen:
        pieces = items[index].quantity if remaining is None else min(remaining, items[index].quantity)
        remaining = None if remaining is None else remaining - pieces
        found.append((index, pieces))
    return found


def _applies(coupon: Record, item: Item) -> bool:
    if coupon["discount_type"] == "fixed_cart":
        return True
    named = coupon["product_ids"] or coupon["product_categories"]
    wanted = _meet(coupon["product_ids"], item.product_ids) or _meet(
        coupon["product_categories"], item.categories
    )
    on_sale = coupon["exclude_sale_items"] and item.on_sale
    return bool((wanted or not named) and not _is_excluded(coupon, item) and not on_sale)


def _is_excluded(coupon: Record, item: Item) -> bool:
    return _meet(coupon["excluded_product_ids"], item.product_ids) or _meet(
        coupon["excluded_product_categories"], item.categories
    )


def _meet(some: Sequence[int], others: Sequence[int]) -> bool:
    return any(one in others for one in some)
