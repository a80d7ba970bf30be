"""Products, variations, categories, tags and reviews."""

from __future__ import annotations

from typing import Any, Literal

from mesocosm.rest import Request
from mesocosm.servers.woocommerce.rest.service import api, tool_route
from mesocosm.servers.woocommerce.store import ProductFilter, WooCommerceStore, window
from mesocosm.servers.woocommerce.tools import products, shapes, terms
from mesocosm.service import Page

Shape = dict[str, Any]
Order = Literal["asc", "desc"]


@api.get("/products")
def list_products(
    store: WooCommerceStore,
    request: Request,
    page: int | None = None,
    per_page: int | None = None,
    search: str | None = None,
    after: str | None = None,
    before: str | None = None,
    modified_after: str | None = None,
    modified_before: str | None = None,
    include: list[int] | None = None,
    exclude: list[int] | None = None,
    order: Order | None = None,
    orderby: Literal["date", "id", "include", "title", "slug", "price", "popularity", "rating"] | None = None,
    slug: str | None = None,
    status: Literal["any", "draft", "pending", "private", "publish", "trash"] | None = None,
    type: Literal["simple", "grouped", "external", "variable"] | None = None,
    sku: str | None = None,
    featured: bool | None = None,
    category: str | None = None,
    tag: str | None = None,
    on_sale: bool | None = None,
    min_price: str | None = None,
    max_price: str | None = None,
    stock_status: Literal["instock", "outofstock", "onbackorder"] | None = None,
    _fields: list[str] | None = None,
) -> Page:
    """All products, with the filters of the vendor's documentation."""
    wanted = ProductFilter(
        search=search,
        status=None if status == "any" else status,
        category=category,
        tag=tag,
        sku=sku,
        featured=featured,
        on_sale=on_sale,
        min_price=min_price,
        max_price=max_price,
        stock_status=stock_status,
        include=include,
        exclude=exclude,
        after=after,
        before=before,
        modified_after=modified_after,
        modified_before=modified_before,
        type=type,
        slug=slug,
    )
    records, total = store.products(wanted, page=page, per_page=per_page, orderby=orderby, order=order)
    items = [shapes.only(shapes.product(record), _fields) for record in records]
    return Page(items, *window(page, per_page), total)


tool_route("GET", "/products/{productId}", products.woo_products_get)
tool_route("POST", "/products", products.woo_products_create, status=201)
tool_route("PUT", "/products/{productId}", products.woo_products_update)
tool_route("DELETE", "/products/{productId}", products.woo_products_delete)
tool_route("POST", "/products/batch", products.woo_products_batch_update)


# -- variations -------------------------------------------------------------------------------------------

tool_route("GET", "/products/{productId}/variations", products.woo_products_variations_list)


def _variation(store: WooCommerceStore, product_id: int, record: Any) -> Shape:
    return shapes.variation(record, store.parent_of_variations(product_id))


@api.get("/products/{product_id}/variations/{id}")
def get_variation(store: WooCommerceStore, product_id: int, id: int) -> Shape:
    """One variation."""
    return _variation(store, product_id, store.variation(product_id, id))


@api.post("/products/{product_id}/variations", status=201)
def create_variation(store: WooCommerceStore, request: Request, product_id: int) -> Shape:
    """A new variation."""
    return _variation(store, product_id, store.create_variation(product_id, request.values))


@api.put("/products/{product_id}/variations/{id}")
def update_variation(store: WooCommerceStore, request: Request, product_id: int, id: int) -> Shape:
    """A changed variation."""
    return _variation(store, product_id, store.update_variation(product_id, id, request.values))


@api.delete("/products/{product_id}/variations/{id}")
def delete_variation(store: WooCommerceStore, product_id: int, id: int) -> Shape:
    """What a variation was; it is deleted for good, as variations have no trash."""
    parent = store.parent_of_variations(product_id)
    return shapes.variation(store.delete_variation(product_id, id), parent)


# -- categories and tags ----------------------------------------------------------------------------------

tool_route("GET", "/products/categories", terms.woo_products_categories_list)
tool_route("POST", "/products/categories", terms.woo_products_categories_create, status=201)
tool_route("GET", "/products/tags", terms.woo_products_tags_list)


@api.get("/products/categories/{id}")
def get_category(store: WooCommerceStore, id: int) -> Shape:
    """One category."""
    return shapes.category(store.category(id))


@api.put("/products/categories/{id}")
def update_category(store: WooCommerceStore, request: Request, id: int) -> Shape:
    """A changed category."""
    return shapes.category(store.update_category(id, request.values))


@api.delete("/products/categories/{id}")
def delete_category(store: WooCommerceStore, id: int, force: bool = False) -> Shape:
    """What a category was."""
    return shapes.category(store.delete_category(id, force=force))


@api.post("/products/tags", status=201)
def create_tag(store: WooCommerceStore, request: Request) -> Shape:
    """A new tag."""
    return shapes.tag(store.create_tag(request.values))


@api.get("/products/tags/{id}")
def get_tag(store: WooCommerceStore, id: int) -> Shape:
    """One tag."""
    return shapes.tag(store.tag(id))


@api.put("/products/tags/{id}")
def update_tag(store: WooCommerceStore, request: Request, id: int) -> Shape:
    """A changed tag."""
    return shapes.tag(store.update_tag(id, request.values))


@api.delete("/products/tags/{id}")
def delete_tag(store: WooCommerceStore, id: int, force: bool = False) -> Shape:
    """What a tag was."""
    return shapes.tag(store.delete_tag(id, force=force))


# -- reviews ----------------------------------------------------------------------------------------------


@api.get("/products/reviews")
def list_reviews(
    store: WooCommerceStore,
    request: Request,
    page: int | None = None,
    per_page: int | None = None,
    product: int | None = None,
    status: Literal["all", "hold", "approved", "spam", "trash"] | None = None,
) -> Page:
    """Reviews, newest first."""
    rows, total = store.reviews(product_id=product, status=status, page=page, per_page=per_page)
    return Page([shapes.review(row) for row in rows], *window(page, per_page), total)


@api.get("/products/reviews/{id}")
def get_review(store: WooCommerceStore, id: int) -> Shape:
    """One review."""
    return shapes.review(store.review(id))
