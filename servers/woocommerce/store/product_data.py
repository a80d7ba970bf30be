"""The fields of a product that may be written: their checks, and the rules between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mesocosm.servers.woocommerce.models import Product
from mesocosm.servers.woocommerce.models.catalog import image_check, option_check
from mesocosm.servers.woocommerce.refusals import invalid_parameter
from mesocosm.servers.woocommerce.store.shop import Row
from mesocosm.servers.woocommerce.values import boolean_or_parent, checked, listed, optional, slug_of
from mesocosm.services.resources import Resource
from mesocosm.services.values import Checks

PRODUCTS = Resource(Product)
_SHARED = (
    *("status", "description", "sku", "regular_price", "sale_price"),
    *("date_on_sale_from", "date_on_sale_from_gmt", "date_on_sale_to", "date_on_sale_to_gmt"),
    *("virtual", "downloadable", "downloads", "download_limit", "download_expiry"),
    *("tax_status", "tax_class", "stock_quantity", "stock_status", "backorders", "low_stock_amount"),
    *("weight", "dimensions", "menu_order", "meta_data"),
)
_VARIATION_CHECKS: Checks = {
    **{name: PRODUCTS.checks[name] for name in _SHARED},
    # A variation whose stock is its product's is read as "parent".
    "manage_stock": boolean_or_parent,
    "image": optional(image_check),
    "attributes": listed(option_check, 100),
}
_HISTORY_CHECKS = {
    name: check for name, check in PRODUCTS.filled_checks.items() if name not in PRODUCTS.checks
}
"""Checks of fields that only generators set."""
READ_ONLY = PRODUCTS.read_only | {
    *("_links", "price_html", "related_ids", "post_password", "global_unique_id", "brands", "low_stock")
}
RELATED = ("categories", "tags", "images", "meta_data")
"""Fields that are kept in tables of their own."""


def columns_of(data: Mapping[str, Any]) -> Row:
    """Checked fields as columns; those of ``RELATED`` are left out."""
    found = PRODUCTS.columns(data)
    if "slug" in found:
        found["slug"] = slug_of(found["slug"])
    if "attributes" in found:
        found["attributes"] = [_full_attribute(a, i) for i, a in enumerate(found["attributes"])]
    if found.get("tax_class") == "standard":
        found["tax_class"] = ""
    return found


def _full_attribute(attribute: Row, position: int) -> Row:
    if "options" not in attribute and "option" in attribute:
        return {"id": 0, "name": "", **attribute}
    defaults = {
        "id": 0,
        "name": "",
        "position": position,
        "visible": False,
        "variation": False,
        "options": [],
    }
    return defaults | attribute


@dataclass(frozen=True)
class StockRules:
    """The shop's stock settings."""

    managing: bool
    """True if the shop manages stock at all."""
    out_of_stock_at: int
    """Stock at or below this is out of stock."""


def settle(row: Row, rules: StockRules) -> Row:
    """Apply the rules between a product's fields: stock and prices."""
    if row["type"] in ("variable", "grouped"):
        row |= {"regular_price": "", "sale_price": "", "date_on_sale_from": None, "date_on_sale_to": None}
    if row["type"] in ("external", "grouped") or not rules.managing:
        row["manage_stock"] = False
    if row["manage_stock"]:
        row["stock_quantity"] = row["stock_quantity"] or 0
        row["stock_status"] = stock_status(row["stock_quantity"], row["backorders"], rules.out_of_stock_at)
    else:
        row |= {"stock_quantity": None, "backorders": "no", "low_stock_amount": None}
    row["dimensions"] = {"length": "", "width": "", "height": ""} | row["dimensions"]
    return row


def stock_status(quantity: int, backorders: str, out_of_stock_at: int) -> str:
    if quantity > out_of_stock_at:
        return "instock"
    return "outofstock" if backorders == "no" else "onbackorder"


def status_of_children(statuses: Sequence[str]) -> str:
    """The stock status of a variable product, from those of its variations."""
    for status in ("instock", "onbackorder"):
        if status in statuses:
            return status
    return "outofstock"


def check_product(data: Mapping[str, Any], *, history: bool = False) -> dict[str, Any]:
    """The fields of a product, checked."""
    checks = PRODUCTS.filled_checks if history else PRODUCTS.checks
    return _check_images(checked(data, checks, READ_ONLY))


def check_variation(data: Mapping[str, Any], *, history: bool = False) -> dict[str, Any]:
    """The fields of a variation, checked."""
    checks = {**_VARIATION_CHECKS, **_HISTORY_CHECKS} if history else _VARIATION_CHECKS
    found = checked(data, checks, READ_ONLY)
    if "image" in found:
        image = found.pop("image")
        found["images"] = [image] if image else []
    return _check_images(found)


def _check_images(data: dict[str, Any]) -> dict[str, Any]:
    for index, image in enumerate(data.get("images", [])):
        if "src" not in image and "id" not in image:
            raise invalid_parameter(f"images[{index}].src", "An image needs a src.")
    return data
