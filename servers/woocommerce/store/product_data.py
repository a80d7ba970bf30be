"""The fields of a product that may be written: their checks, and the rules between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mesocosm.servers.woocommerce.refusals import invalid_parameter
from mesocosm.servers.woocommerce.store.shop import Row
from mesocosm.servers.woocommerce.values import (
    MAX_COUNT,
    boolean,
    boolean_or_parent,
    checked,
    choice,
    date,
    fields,
    identifier,
    last_moment,
    line,
    listed,
    meta_data,
    optional,
    optional_date,
    price,
    slug_of,
    text,
    url,
    whole,
)
from mesocosm.services.values import Check, Checks

TYPES = ("simple", "grouped", "external", "variable")
STATUSES = ("draft", "pending", "private", "publish")
STOCK_STATUSES = ("instock", "outofstock", "onbackorder")

_count = whole()
_sku = line
_term = fields({"id": identifier}, ("name", "slug"))
_url_or_nothing: Check = lambda value, name: url(value, name) if value != "" else ""  # noqa: E731
_size: Check = price
_image: Check = fields(
    {"id": identifier, "src": url, "name": line, "alt": line},
    ("date_created", "date_created_gmt", "date_modified", "date_modified_gmt"),
)
_attribute: Check = fields(
    {
        "id": identifier,
        "name": line,
        "position": _count,
        "visible": boolean,
        "variation": boolean,
        "options": listed(line),
    },
    ("slug",),
)
_option: Check = fields({"id": identifier, "name": line, "option": line}, ("slug",))
_download: Check = fields({"id": line, "name": line, "file": url})

SHARED_CHECKS: Checks = {
    "status": choice(*STATUSES),
    "description": text,
    "sku": _sku,
    "regular_price": price,
    "sale_price": price,
    "date_on_sale_from": optional_date,
    "date_on_sale_from_gmt": optional_date,
    "date_on_sale_to": last_moment,
    "date_on_sale_to_gmt": last_moment,
    "virtual": boolean,
    "downloadable": boolean,
    "downloads": listed(_download),
    "download_limit": _count,
    "download_expiry": _count,
    "tax_status": choice("taxable", "shipping", "none"),
    "tax_class": line,
    "manage_stock": boolean,
    "stock_quantity": optional(_count),
    "stock_status": choice(*STOCK_STATUSES),
    "backorders": choice("no", "notify", "yes"),
    "low_stock_amount": optional(whole(0, MAX_COUNT)),
    "weight": _size,
    "dimensions": fields({"length": _size, "width": _size, "height": _size}),
    "menu_order": _count,
    "meta_data": meta_data,
}
PRODUCT_CHECKS: Checks = {
    **SHARED_CHECKS,
    "name": line,
    "slug": line,
    "type": choice(*TYPES),
    "featured": boolean,
    "catalog_visibility": choice("visible", "catalog", "search", "hidden"),
    "short_description": text,
    "external_url": _url_or_nothing,
    "button_text": line,
    "sold_individually": boolean,
    "reviews_allowed": boolean,
    "upsell_ids": listed(identifier),
    "cross_sell_ids": listed(identifier),
    "grouped_products": listed(identifier),
    "purchase_note": text,
    "categories": listed(_term),
    "tags": listed(_term),
    "images": listed(_image, 100),
    "attributes": listed(_attribute, 100),
    "default_attributes": listed(_option, 100),
}
VARIATION_CHECKS: Checks = {
    **SHARED_CHECKS,
    # A variation whose stock is its product's is read as "parent".
    "manage_stock": boolean_or_parent,
    "image": optional(_image),
    "attributes": listed(_option, 100),
}
READ_ONLY = frozenset(
    [
        "id",
        "permalink",
        "parent_id",
        "date_created",
        "date_created_gmt",
        "date_modified",
        "date_modified_gmt",
        "price",
        "price_html",
        "on_sale",
        "purchasable",
        "total_sales",
        "backorders_allowed",
        "backordered",
        "shipping_required",
        "shipping_taxable",
        "shipping_class",
        "shipping_class_id",
        "average_rating",
        "rating_count",
        "related_ids",
        "variations",
        "has_options",
        "_links",
        "post_password",
        "global_unique_id",
        "brands",
        "low_stock",
    ]
)
HISTORY_CHECKS: Checks = {
    "date_created": date,
    "date_modified": date,
    "total_sales": whole(0, MAX_COUNT),
}
"""What only generators may set."""
RELATED = ("categories", "tags", "images", "meta_data")
"""Fields that are kept in tables of their own."""


def columns_of(data: Mapping[str, Any]) -> Row:
    """Checked fields as columns; those of ``RELATED`` are left out."""
    found = {key: value for key, value in data.items() if key not in RELATED}
    for edge in ("from", "to"):
        # The shop's time zone is UTC, so both spellings of the date are the same.
        if f"date_on_sale_{edge}_gmt" in found:
            found[f"date_on_sale_{edge}"] = found.pop(f"date_on_sale_{edge}_gmt")
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
    """How the shop's settings treat stock."""

    managing: bool
    """Whether the shop manages stock at all."""
    out_of_stock_at: int
    """Stock at or below this is out of stock."""


def settle(row: Row, rules: StockRules) -> Row:
    """The row of a product after the rules between its fields: what has stock, what has a price."""
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
    """What the shop says of a product with this much stock."""
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
    checks = {**PRODUCT_CHECKS, **HISTORY_CHECKS} if history else PRODUCT_CHECKS
    return _check_images(checked(data, checks, READ_ONLY))


def check_variation(data: Mapping[str, Any], *, history: bool = False) -> dict[str, Any]:
    """The fields of a variation, checked."""
    checks = {**VARIATION_CHECKS, **HISTORY_CHECKS} if history else VARIATION_CHECKS
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
