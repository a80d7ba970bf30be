"""Objects of the REST API (v3) as their clients see them.

Left out, because no agent needs them and each would be in every object: ``_links``, ``price_html``,
``related_ids`` and the visitor's address and browser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from mesocosm.errors import Refusal
from mesocosm.servers.woocommerce.models.declarative import SITE
from mesocosm.servers.woocommerce.store import Result, known_fields, text_of
from mesocosm.services.shapes import same

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
        **same(record, "id", "name", "slug"),
        "permalink": f"{SITE}/product/{record['slug']}/",
        **dates(record, "date_created", "date_modified"),
        **same(record, "type", "status", "featured", "catalog_visibility", "description"),
        "short_description": record["short_description"],
        **_selling(record),
        **same(record, "total_sales", "virtual", "downloadable", "downloads", "download_limit"),
        **same(record, "download_expiry", "external_url", "button_text"),
        **_stock(record),
        "sold_individually": record["sold_individually"],
        **_shipping(record),
        **same(record, "reviews_allowed", "average_rating", "rating_count", "upsell_ids", "cross_sell_ids"),
        "parent_id": record["parent_id"],
        "purchase_note": record["purchase_note"],
        "categories": [term_reference(category) for category in record["categories"]],
        "tags": [term_reference(tag) for tag in record["tags"]],
        "images": [image(picture) for picture in record["images"]],
        **same(record, "attributes", "default_attributes", "variations", "grouped_products", "menu_order"),
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
        **same(record, "virtual", "downloadable", "downloads", "download_limit", "download_expiry"),
        **_stock(record),
        **(_shared_stock(parent) if parent["manage_stock"] and not record["manage_stock"] else {}),
        **_shipping(record),
        "image": image(record["images"][0]) if record["images"] else None,
        **same(record, "attributes", "menu_order", "meta_data"),
    }


def _selling(record: Record) -> Shape:
    return {
        **same(record, "sku", "price", "regular_price", "sale_price"),
        **dates(record, "date_on_sale_from", "date_on_sale_to"),
        "on_sale": bool(record["on_sale"]),
        "purchasable": record["price"] != "" and record["type"] in ("simple", "variable", "variation"),
    }


def _stock(record: Record) -> Shape:
    return {
        **same(record, "tax_status", "tax_class", "manage_stock", "stock_quantity", "stock_status"),
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
        **same(record, "src", "name", "alt"),
    }
