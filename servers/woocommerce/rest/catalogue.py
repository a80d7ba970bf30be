"""Products and their variations."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, Unpack

from mesocosm.doors.request import Request
from mesocosm.servers.woocommerce.refusals import no_trash
from mesocosm.servers.woocommerce.rest.service import ListFilters, api, tool_route
from mesocosm.servers.woocommerce.store import (
    ProductFilter,
    Selection,
    WooCommerceStore,
    invalid_parameter,
    window,
)
from mesocosm.servers.woocommerce.tools import products, shapes
from mesocosm.services.service import Page

Shape = dict[str, Any]
Objects = list[dict[str, Any]]
Order = Literal["asc", "desc"]
OrderBy = Literal[
    "date", "id", "include", "title", "slug", "price", "popularity", "rating", "modified", "menu_order"
]


class ProductFilters(ListFilters, total=False):
    """What a list of products may be narrowed to, besides the status."""

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
tool_route("POST", "/products/batch", products.woo_products_batch_update)


# -- variations -------------------------------------------------------------------------------------------


@api.get("/products/{product_id}/variations")
def list_variations(
    store: WooCommerceStore,
    request: Request,
    product_id: int,
    page: int | None = None,
    per_page: int | None = None,
    include: list[int] | None = None,
    exclude: list[int] | None = None,
    after: str | None = None,
    before: str | None = None,
    orderby: OrderBy | None = None,
    order: Order | None = None,
) -> Page:
    """The variations of a product, in the merchant's order unless another is asked for."""
    chosen = Selection(include, exclude, after, before, orderby, order)
    records, total = store.products.variations(product_id, page=page, per_page=per_page, selection=chosen)
    parent = store.products.parent_of_variations(product_id)
    items = [shapes.variation(record, parent) for record in records]
    return Page(items, *window(page, per_page), total)


def _variation(store: WooCommerceStore, product_id: int, record: Any) -> Shape:
    return shapes.variation(record, store.products.parent_of_variations(product_id))


@api.get("/products/{product_id}/variations/{id}")
def get_variation(store: WooCommerceStore, product_id: int, id: int) -> Shape:
    """One variation."""
    return _variation(store, product_id, store.variations.variation(product_id, id))


@api.post("/products/{product_id}/variations", status=201)
def create_variation(store: WooCommerceStore, request: Request, product_id: int) -> Shape:
    """A new variation."""
    return _variation(store, product_id, store.variations.create_variation(product_id, request.values))


@api.put("/products/{product_id}/variations/{id}")
def update_variation(store: WooCommerceStore, request: Request, product_id: int, id: int) -> Shape:
    """A changed variation."""
    return _variation(store, product_id, store.variations.update_variation(product_id, id, request.values))


@api.delete("/products/{product_id}/variations/{id}")
def delete_variation(store: WooCommerceStore, product_id: int, id: int, force: bool = True) -> Shape:
    """What a variation was; it is deleted for good, as variations have no trash."""
    no_trash("Variations", force=force)
    record = store.variations.delete_variation(product_id, id)
    return shapes.variation(record, store.products.parent_of_variations(product_id))


@api.post("/products/{product_id}/variations/batch")
def batch_variations(
    store: WooCommerceStore,
    product_id: int,
    create: Objects | None = None,
    update: Objects | None = None,
    delete: list[int] | None = None,
) -> Shape:
    """What came of many changes to the variations of a product."""
    results = store.batches.batch(
        (create, update, delete),
        partial(store.variations.create_variation, product_id),
        partial(store.variations.update_variation, product_id),
        partial(store.variations.delete_variation, product_id),
    )
    return shapes.batch_results(results, partial(_variation, store, product_id))
