"""Tools for categories and tags."""

from __future__ import annotations

from mesocosm.servers.woocommerce.store.terms import CATEGORIES, TAGS
from mesocosm.servers.woocommerce.tools.resources import ResourceTools

_categories = ResourceTools(
    "woo_products_categories",
    "category",
    CATEGORIES,
    lambda store: store.categories,
    data=CATEGORIES.data("CategoryData", required=["name"]),
)
_categories.list(
    "List product categories by name, each with the number of its published products.", "Categories"
)
_categories.create(
    "Create a product category and return it.",
    "Name, and if wanted slug, parent (category ID), description, display, image, menuOrder.",
)
ResourceTools("woo_products_tags", "tag", TAGS, lambda store: store.tags).list(
    "List product tags by name, each with the number of its published products.", "Tags"
)
