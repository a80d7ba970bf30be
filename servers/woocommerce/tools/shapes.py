"""Objects of the REST API (v3) as their clients see them.

Left out, because no agent needs them and each would be in every object: ``_links``, ``price_html``,
``related_ids`` and the visitor's address and browser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from mesocosm.errors import Refusal
from mesocosm.servers.woocommerce.store import Result, known_fields, text_of
from mesocosm.servers.woocommerce.store.product_data import PRODUCTS
from mesocosm.services.schema import Json

Record = Mapping[str, Any]

T = TypeVar("T")

VERSION = "9.6.0"


def dates(record: Record, *names: str) -> Json:
    """Times in both of the product's spellings: the shop's time zone is UTC."""
    return {spelling: record[name] for name in names for spelling in (name, f"{name}_gmt")}


def only(shape: Json, fields: Sequence[str] | None) -> Json:
    """An object with only the fields that were asked for; all of them for ``None``."""
    return shape if fields is None else {name: shape[name] for name in known_fields(fields, shape)}


def batch_results(results: Mapping[str, Sequence[Result]], shape: Any) -> Json:
    """What came of a batch: objects, and errors where one was refused."""
    return {
        part: [_error(*item) if isinstance(item, tuple) else shape(item) for item in items]
        for part, items in results.items()
    }


def _error(target: int, refusal: Refusal) -> Json:
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
