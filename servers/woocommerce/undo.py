"""Undoing changes to products. Notes to customers are final."""

from __future__ import annotations

from mesocosm.services.undo import Done, ToolCall


def _product(done: Done) -> list[ToolCall]:
    number = done.arguments["productId"]
    before = done.earlier("woo_products_get", productId=number)
    if not isinstance(before, dict):
        return []
    changed = {name: before[name] for name in done.arguments["productData"] if name in before}
    return [("woo_products_update", {"productId": number, "productData": changed})]


UNDO = {"woo_products_update": _product}
