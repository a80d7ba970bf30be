"""Objects of the REST API (v3) as their clients see them.

Left out, because no agent needs them and each would be in every object: ``_links``, ``price_html``,
``related_ids`` and the visitor's address and browser.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from mesocosm.errors import Refusal
from mesocosm.servers.woocommerce.models.defaults import SITE
from mesocosm.servers.woocommerce.store import Result, known_fields, money, text_of

Shape = dict[str, Any]
Record = Mapping[str, Any]

T = TypeVar("T")

VERSION = "9.6.0"


def dates(record: Record, *names: str) -> Shape:
    """Times in both of the product's spellings: the shop's time zone is UTC."""
    return {spelling: record[name] for name in names for spelling in (name, f"{name}_gmt")}


def only(shape: Shape, fields: Sequence[str] | None) -> Shape:
    """An object with only the fields that were asked for; all of them for ``None``."""
    return shape if fields is None else {name: shape[name] for name in known_fields(fields, shape)}


def batch_results(results: Mapping[str, Sequence[Result]], shape: Any) -> Shape:
    """What came of a batch: objects, and errors where one was refused."""
    return {
        part: [_error(*item) if isinstance(item, tuple) else shape(item) for item in items]
        for part, items in results.items()
    }


def _error(target: int, refusal: Refusal) -> Shape:
    return {
        "id": target,
        "error": {
            "code": refusal.code or "rest_invalid_param",
            "message": text_of(refusal),
            "data": {"status": refusal.status},
        },
    }


def product(record: Record) -> Shape:
    """A product."""
    return {
        "id": record["id"],
        "name": record["name"],
        "slug": record["slug"],
        "permalink": f"{SITE}/product/{record['slug']}/",
        **dates(record, "date_created", "date_modified"),
        "type": record["type"],
        "status": record["status"],
        "featured": record["featured"],
        "catalog_visibility": record["catalog_visibility"],
        "description": record["description"],
        "short_description": record["short_description"],
        **_selling(record),
        "total_sales": record["total_sales"],
        "virtual": record["virtual"],
        "downloadable": record["downloadable"],
        "downloads": record["downloads"],
        "download_limit": record["download_limit"],
        "download_expiry": record["download_expiry"],
        "external_url": record["external_url"],
        "button_text": record["button_text"],
        **_stock(record),
        "sold_individually": record["sold_individually"],
        **_shipping(record),
        "reviews_allowed": record["reviews_allowed"],
        "average_rating": record["average_rating"],
        "rating_count": record["rating_count"],
        "upsell_ids": record["upsell_ids"],
        "cross_sell_ids": record["cross_sell_ids"],
        "parent_id": record["parent_id"],
        "purchase_note": record["purchase_note"],
        "categories": [term_reference(category) for category in record["categories"]],
        "tags": [term_reference(tag) for tag in record["tags"]],
        "images": [image(picture) for picture in record["images"]],
        "attributes": record["attributes"],
        "default_attributes": record["default_attributes"],
        "variations": record["variations"],
        "grouped_products": record["grouped_products"],
        "menu_order": record["menu_order"],
        "has_options": record["type"] == "variable",
        "meta_data": record["meta_data"],
    }


def variation(record: Record, parent: Record) -> Shape:
    """A variation of a product."""
    return {
        "id": record["id"],
        **dates(record, "date_created", "date_modified"),
        "name": record["name"].removeprefix(f"{parent['name']} - "),
        "parent_id": record["parent_id"],
        "description": record["description"],
        "permalink": f"{SITE}/product/{parent['slug']}/?variation={record['id']}",
        "status": record["status"],
        **_selling(record),
        "virtual": record["virtual"],
        "downloadable": record["downloadable"],
        "downloads": record["downloads"],
        "download_limit": record["download_limit"],
        "download_expiry": record["download_expiry"],
        **_stock(record),
        **(_shared_stock(parent) if parent["manage_stock"] and not record["manage_stock"] else {}),
        **_shipping(record),
        "image": image(record["images"][0]) if record["images"] else None,
        "attributes": record["attributes"],
        "menu_order": record["menu_order"],
        "meta_data": record["meta_data"],
    }


def _selling(record: Record) -> Shape:
    return {
        "sku": record["sku"],
        "price": record["price"],
        "regular_price": record["regular_price"],
        "sale_price": record["sale_price"],
        **dates(record, "date_on_sale_from", "date_on_sale_to"),
        "on_sale": bool(record["on_sale"]),
        "purchasable": record["price"] != "" and record["type"] in ("simple", "variable", "variation"),
    }


def _stock(record: Record) -> Shape:
    return {
        "tax_status": record["tax_status"],
        "tax_class": record["tax_class"],
        "manage_stock": record["manage_stock"],
        "stock_quantity": record["stock_quantity"],
        "stock_status": record["stock_status"],
        "backorders": record["backorders"],
        "backorders_allowed": record["backorders"] != "no",
        "backordered": record["stock_status"] == "onbackorder",
        "low_stock_amount": record["low_stock_amount"],
    }


def _shared_stock(parent: Record) -> Shape:
    """The stock of a variation that is kept for all variations together."""
    shared = {name: parent[name] for name in ("stock_quantity", "stock_status")}
    return {"manage_stock": "parent", **shared, "backordered": parent["stock_status"] == "onbackorder"}


def _shipping(record: Record) -> Shape:
    return {
        "weight": record["weight"],
        "dimensions": record["dimensions"],
        "shipping_required": not record["virtual"],
        "shipping_taxable": record["tax_status"] == "taxable" and not record["virtual"],
        "shipping_class": "",
        "shipping_class_id": 0,
    }


def term_reference(record: Record) -> Shape:
    """A category or tag as a product names it."""
    return {"id": record["id"], "name": record["name"], "slug": record["slug"]}


def image(record: Record) -> Shape:
    """A picture of a product."""
    created = record["date_created"]
    return {
        "id": record["id"],
        "date_created": created,
        "date_created_gmt": created,
        "date_modified": created,
        "date_modified_gmt": created,
        "src": record["src"],
        "name": record["name"],
        "alt": record["alt"],
    }


def category(record: Record) -> Shape:
    """A product category."""
    picture = record["image"]
    return {
        "id": record["id"],
        "name": record["name"],
        "slug": record["slug"],
        "parent": record["parent"],
        "description": record["description"],
        "display": record["display"],
        "image": {"id": record["id"], "name": "", "alt": "", **picture} if picture else None,
        "menu_order": record["menu_order"],
        "count": record["count"],
    }


def tag(record: Record) -> Shape:
    """A product tag."""
    return {name: record[name] for name in ("id", "name", "slug", "description", "count")}


def review(record: Record) -> Shape:
    """A review of a product."""
    return {
        "id": record["id"],
        **dates(record, "date_created"),
        "product_id": record["product_id"],
        "product_name": record["product_name"],
        "product_permalink": f"{SITE}/product/{record['product_slug']}/",
        "status": record["status"],
        "reviewer": record["reviewer"],
        "reviewer_email": record["reviewer_email"],
        "review": record["review"],
        "rating": record["rating"],
        "verified": record["verified"],
    }


def customer(record: Record) -> Shape:
    """A customer."""
    digest = hashlib.md5(record["email"].lower().encode(), usedforsecurity=False).hexdigest()
    return {
        "id": record["id"],
        **dates(record, "date_created", "date_modified"),
        "email": record["email"],
        "first_name": record["first_name"],
        "last_name": record["last_name"],
        "role": record["role"],
        "username": record["username"],
        "billing": record["billing"],
        "shipping": record["shipping"],
        "is_paying_customer": record["is_paying_customer"],
        "orders_count": record["orders_count"],
        "total_spent": money(record["total_spent"]),
        "avatar_url": f"https://secure.gravatar.com/avatar/{digest}?s=96&d=mm&r=g",
        "meta_data": record["meta_data"],
    }


def coupon(record: Record) -> Shape:
    """A coupon."""
    return {
        "id": record["id"],
        "code": record["code"],
        "amount": record["amount"],
        "status": record["status"],
        **dates(record, "date_created", "date_modified"),
        "discount_type": record["discount_type"],
        "description": record["description"],
        **dates(record, "date_expires"),
        "usage_count": record["usage_count"],
        **{name: record[name] for name in _COUPON_RULES},
        "used_by": record["used_by"],
        "meta_data": record["meta_data"],
    }


_COUPON_RULES = (
    "individual_use",
    "product_ids",
    "excluded_product_ids",
    "usage_limit",
    "usage_limit_per_user",
    "limit_usage_to_x_items",
    "free_shipping",
    "product_categories",
    "excluded_product_categories",
    "exclude_sale_items",
    "minimum_amount",
    "maximum_amount",
    "email_restrictions",
)
