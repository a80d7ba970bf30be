"""Objects of the REST API (v3) as their clients see them.

Left out, because no agent needs them and each would be in every object: ``_links``, ``price_html``,
``related_ids`` and the visitor's address and browser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from mesocosm.errors import Refusal
from mesocosm.servers.woocommerce.models.catalog import image
from mesocosm.servers.woocommerce.models.declarative import SITE
from mesocosm.servers.woocommerce.store import Result, known_fields, text_of
from mesocosm.servers.woocommerce.store.product_data import PRODUCTS
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


product = PRODUCTS.shape
"""A product."""


def variation(record: Record, parent: Record) -> Shape:
    """A variation of a product."""
    shown = product(record) | {
        "name": record["name"].removeprefix(f"{parent['name']} - "),
        "permalink": f"{SITE}/product/{parent['slug']}/?variation={record['id']}",
        "image": image(record["images"][0]) if record["images"] else None,
    }
    if parent["manage_stock"] and not record["manage_stock"]:
        shown |= _shared_stock(parent)
    return same(shown, *_OF_VARIATIONS)


_OF_VARIATIONS = (
    *("id", "date_created", "date_created_gmt", "date_modified", "date_modified_gmt"),
    *("name", "parent_id", "description", "permalink", "status", "sku", "price", "regular_price"),
    *("sale_price", "date_on_sale_from", "date_on_sale_from_gmt", "date_on_sale_to"),
    *("date_on_sale_to_gmt", "on_sale", "purchasable", "virtual", "downloadable", "downloads"),
    *("download_limit", "download_expiry", "tax_status", "tax_class", "manage_stock"),
    *("stock_quantity", "stock_status", "backorders", "backorders_allowed", "backordered"),
    *("low_stock_amount", "weight", "dimensions", "shipping_required", "shipping_taxable"),
    *("shipping_class", "shipping_class_id", "image", "attributes", "menu_order", "meta_data"),
)


def _shared_stock(parent: Record) -> Shape:
    """The stock of a variation that is kept for all variations together."""
    shared = {name: parent[name] for name in ("stock_quantity", "stock_status")}
    return {"manage_stock": "parent", **shared, "backordered": parent["stock_status"] == "onbackorder"}
