"""Products."""

from __future__ import annotations

from typing import Any, Literal, Unpack

from mesocosm.doors.request import Request
from mesocosm.servers.woocommerce.rest.service import ListFilters, api, tool_route
from mesocosm.servers.woocommerce.store import (
    ProductFilter,
    WooCommerceStore,
    invalid_parameter,
    window,
)
from mesocosm.servers.woocommerce.tools import products, shapes
from mesocosm.services.schema import Json
from mesocosm.services.service import Page

Objects = list[dict[str, Any]]
Order = Literal["asc", "desc"]
OrderBy = Literal[
    "date", "id", "include", "title", "slug", "price", "popularity", "rating", "modified", "menu_order"
]


class ProductFilters(ListFilters, total=False):
    """Filters for lists of products, besides the status."""

    slug: str
    type: Literal["simple", "grouped", "external", "variable"]
    sku: str
    featured: bool
    category: str
    tag: str
    on_sale: bool
    min_price: str
    max_price: str
    stock_status: Literal["instock", "outofstock", "onbackorder"]
    parent: list[int]
    parent_exclude: list[int]
    tax_class: str
    virtual: bool
    downloadable: bool


@api.get("/products")
def list_products(
    store: WooCommerceStore,
    request: Request,
    page: int | None = None,
    per_page: int | None = None,
    order: Order | None = None,
    orderby: OrderBy | None = None,
    status: Literal["any", "draft", "pending", "private", "publish", "trash"] | None = None,
    attribute: str | None = None,
    attribute_term: str | None = None,
    shipping_class: str | None = None,
    _fields: list[str] | None = None,
    **filters: Unpack[ProductFilters],
) -> Page:
    """All products, with the filters of the vendor's documentation."""
    for name, value in (("attribute", attribute), ("attribute_term", attribute_term)):
        if value:
            raise invalid_parameter(name, "The attributes of this shop's products are not global ones.")
    if shipping_class:
        raise invalid_parameter("shipping_class", "This shop has no shipping classes.")
    wanted = ProductFilter(status=None if status == "any" else status, **filters)
    records, total = store.products.listed(wanted, page=page, per_page=per_page, orderby=orderby, order=order)
    items = [shapes.only(shapes.product(record), _fields) for record in records]
    return Page(items, *window(page, per_page), total)


tool_route("GET", "/products/{productId}", products.woo_products_get)
tool_route("POST", "/products", products.woo_products_create, status=201)
tool_route("PUT", "/products/{productId}", products.woo_products_update)
tool_route("DELETE", "/products/{productId}", products.woo_products_delete)


@api.post("/products/{product_id}/duplicate")
def duplicate_product(store: WooCommerceStore, product_id: int) -> Json:
    """A copy of a product."""
    return shapes.product(store.catalogue.duplicate_product(product_id))


tool_route("POST", "/products/batch", products.woo_products_batch_update)
