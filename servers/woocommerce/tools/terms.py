"""Tools for categories and tags."""
# ruff: noqa: N803 - the parameters are named as the vendor names them

from __future__ import annotations

from typing import Any, Literal, Required, TypedDict

from mesocosm.servers.woocommerce.store import WooCommerceStore, window
from mesocosm.servers.woocommerce.tools import shapes
from mesocosm.servers.woocommerce.tools.products import ImageData
from mesocosm.servers.woocommerce.tools.service import server
from mesocosm.services.schema import Words
from mesocosm.services.service import Page


class CategoryData(TypedDict, total=False):
    """A new category."""

    name: Required[str]
    slug: str
    parent: int
    description: str
    display: Literal["default", "products", "subcategories", "both"]
    image: ImageData
    menuOrder: int


@server.reads
def woo_products_categories_list(
    store: WooCommerceStore,
    perPage: int | None = None,
    page: int | None = None,
    search: Words | None = None,
    parent: int | None = None,
    hideEmpty: bool | None = None,
) -> Page:
    """List product categories by name, each with the number of its published products.

    Args:
        perPage: Categories per page, 1 to 100; 10 by default.
        page: Page number, from 1.
        search: Text that must occur in the name.
        parent: Only categories directly below this one; 0 for the top ones.
        hideEmpty: Leave out categories without products.
    """
    rows, total = store.terms.categories(
        page=page, per_page=perPage, search=search, parent=parent, hide_empty=hideEmpty
    )
    return Page([shapes.category(row) for row in rows], *window(page, perPage), total)


@server.writes
def woo_products_categories_create(store: WooCommerceStore, categoryData: CategoryData) -> dict[str, Any]:
    """Create a product category and return it.

    Args:
        categoryData: Name, and if wanted slug, parent (category ID), description, display, image, menuOrder.
    """
    return shapes.category(store.terms.create_category(categoryData))


@server.reads
def woo_products_tags_list(
    store: WooCommerceStore,
    perPage: int | None = None,
    page: int | None = None,
    search: Words | None = None,
    hideEmpty: bool | None = None,
) -> Page:
    """List product tags by name, each with the number of its published products.

    Args:
        perPage: Tags per page, 1 to 100; 10 by default.
        page: Page number, from 1.
        search: Text that must occur in the name.
        hideEmpty: Leave out tags without products.
    """
    rows, total = store.terms.tags(page=page, per_page=perPage, search=search, hide_empty=hideEmpty)
    return Page([shapes.tag(row) for row in rows], *window(page, perPage), total)
