"""Products, variations, categories and tags."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, Unpack

from mesocosm.doors.request import Request
from mesocosm.servers.woocommerce.refusals import no_trash
from mesocosm.servers.woocommerce.rest.service import ListFilters, api, batch_route, tool_route
from mesocosm.servers.woocommerce.store import (
    ProductFilter,
    Selection,
    WooCommerceStore,
    invalid_parameter,
    window,
)
from mesocosm.servers.woocommerce.tools import products, shapes, terms
from mesocosm.services.service import Page

Shape = dict[str, Any]
Objects = list[dict[str, Any]]
Order = Literal["asc", "desc"]
OrderBy = Literal[
    "date", "id", "include", "title", "slug", "price", "popularity", "rating", "modified", "menu_order"
]
TermOrderBy = Literal["id", "include", "name", "slug", "description", "count"]


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


# -- categories and tags ----------------------------------------------------------------------------------

tool_route("POST", "/products/categories", terms.woo_products_categories_create, status=201)
batch_route(
    "/products/categories",
    shapes.category,
    lambda store: (
        store.terms.create_category,
        store.term_changes.update_category,
        store.term_changes.delete_category,
    ),
)
batch_route(
    "/products/tags",
    shapes.tag,
    lambda store: (
        store.term_changes.create_tag,
        store.term_changes.update_tag,
        store.term_changes.delete_tag,
    ),
)


@api.get("/products/categories")
def list_categories(
    store: WooCommerceStore,
    request: Request,
    page: int | None = None,
    per_page: int | None = None,
    search: str | None = None,
    parent: int | None = None,
    hide_empty: bool | None = None,
    slug: str | None = None,
    include: list[int] | None = None,
    exclude: list[int] | None = None,
    orderby: TermOrderBy | None = None,
    order: Order | None = None,
) -> Page:
    """The categories, by name unless another order is asked for."""
    rows, total = store.terms.categories(
        page=page,
        per_page=per_page,
        search=search,
        parent=parent,
        hide_empty=hide_empty,
        slug=slug,
        selection=Selection(include, exclude, orderby=orderby, order=order),
    )
    return Page([shapes.category(row) for row in rows], *window(page, per_page), total)


@api.get("/products/tags")
def list_tags(
    store: WooCommerceStore,
    request: Request,
    page: int | None = None,
    per_page: int | None = None,
    search: str | None = None,
    hide_empty: bool | None = None,
    slug: str | None = None,
    include: list[int] | None = None,
    exclude: list[int] | None = None,
    orderby: TermOrderBy | None = None,
    order: Order | None = None,
) -> Page:
    """The tags, by name unless another order is asked for."""
    rows, total = store.terms.tags(
        page=page,
        per_page=per_page,
        search=search,
        hide_empty=hide_empty,
        slug=slug,
        selection=Selection(include, exclude, orderby=orderby, order=order),
    )
    return Page([shapes.tag(row) for row in rows], *window(page, per_page), total)


@api.get("/products/categories/{id}")
def get_category(store: WooCommerceStore, id: int) -> Shape:
    """One category."""
    return shapes.category(store.term_changes.category(id))


@api.put("/products/categories/{id}")
def update_category(store: WooCommerceStore, request: Request, id: int) -> Shape:
    """A changed category."""
    return shapes.category(store.term_changes.update_category(id, request.values))


@api.delete("/products/categories/{id}")
def delete_category(store: WooCommerceStore, id: int, force: bool = False) -> Shape:
    """What a category was."""
    return shapes.category(store.term_changes.delete_category(id, force=force))


@api.post("/products/tags", status=201)
def create_tag(store: WooCommerceStore, request: Request) -> Shape:
    """A new tag."""
    return shapes.tag(store.term_changes.create_tag(request.values))


@api.get("/products/tags/{id}")
def get_tag(store: WooCommerceStore, id: int) -> Shape:
    """One tag."""
    return shapes.tag(store.term_changes.tag(id))


@api.put("/products/tags/{id}")
def update_tag(store: WooCommerceStore, request: Request, id: int) -> Shape:
    """A changed tag."""
    return shapes.tag(store.term_changes.update_tag(id, request.values))


@api.delete("/products/tags/{id}")
def delete_tag(store: WooCommerceStore, id: int, force: bool = False) -> Shape:
    """What a tag was."""
    return shapes.tag(store.term_changes.delete_tag(id, force=force))
