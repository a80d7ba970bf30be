"""Tools for products, their variations and reviews."""
# ruff: noqa: N803 - the parameters are named as the vendor names them

from __future__ import annotations

from typing import Any, Literal, TypedDict

from mesocosm.servers.woocommerce.models.catalog import ImageData
from mesocosm.servers.woocommerce.models.customers import MetaChange
from mesocosm.servers.woocommerce.store import ProductFilter, WooCommerceStore, window
from mesocosm.servers.woocommerce.store.reviews import REVIEWS
from mesocosm.servers.woocommerce.store.variations import VARIATIONS
from mesocosm.servers.woocommerce.tools import shapes
from mesocosm.servers.woocommerce.tools.resources import ResourceTools
from mesocosm.servers.woocommerce.tools.service import (
    FieldNames,
    Force,
    Order,
    PageNumber,
    ProductId,
    ProductsPerPage,
    server,
)
from mesocosm.services.schema import Words
from mesocosm.services.service import Page

Status = Literal["publish", "draft", "private", "pending"]
StockStatus = Literal["instock", "outofstock", "onbackorder"]


class CategoryReference(TypedDict, total=False):
    """A category by its id."""

    id: int


class ProductData(TypedDict, total=False):
    """What may be said of a new product, and more that the product documents."""

    name: str
    type: Literal["simple", "grouped", "external", "variable"]
    status: Status
    featured: bool
    catalog_visibility: Literal["visible", "catalog", "search", "hidden"]
    description: str
    short_description: str
    sku: str
    regular_price: str
    sale_price: str
    manage_stock: bool
    stock_quantity: int
    categories: list[CategoryReference]
    images: list[ImageData]


class AttributeData(TypedDict, total=False):
    """An attribute of a product, such as its colour."""

    id: int
    name: str
    position: int
    visible: bool
    variation: bool
    options: list[str]


class Dimensions(TypedDict, total=False):
    """How large a product is."""

    length: str
    width: str
    height: str


class ProductChanges(ProductData, total=False):
    """Everything that may be said of a product."""

    slug: str
    tags: list[CategoryReference]
    attributes: list[AttributeData]
    meta_data: list[MetaChange]
    date_on_sale_from: str
    date_on_sale_to: str
    stock_status: StockStatus
    backorders: Literal["no", "notify", "yes"]
    low_stock_amount: int
    weight: str
    dimensions: Dimensions
    tax_class: str


class ProductUpdate(ProductChanges, total=False):
    """A product by its id, with the fields to change."""

    id: int


@server.reads(long=True)
def woo_products_list(
    store: WooCommerceStore,
    perPage: ProductsPerPage | None = None,
    page: PageNumber | None = None,
    search: Words | None = None,
    status: Status | None = None,
    category: str | None = None,
    tag: str | None = None,
    sku: str | None = None,
    featured: bool | None = None,
    onSale: bool | None = None,
    minPrice: str | None = None,
    maxPrice: str | None = None,
    stockStatus: StockStatus | None = None,
    orderby: Literal["date", "id", "include", "title", "slug", "price", "popularity", "rating"] | None = None,
    order: Order | None = None,
    include: list[int] | None = None,
    exclude: list[int] | None = None,
    after: str | None = None,
    before: str | None = None,
    fields: list[str] | None = None,
) -> Page:
    """List products in full, newest first, with filters that all must hold.

    Variations are not listed (see woo_products_variations_list), nor are products in the trash. The price
    of a variable product is its lowest; a sale counts only within its dates.

    Args:
        search: Words that must all occur in the name or a description.
        status: Only products of this status.
        category: Category ID, or several with commas; what lies in a category below counts too.
        tag: Tag ID, or several with commas.
        sku: Exact SKU, or several with commas.
        featured: Only featured products, or only others.
        onSale: Only products on sale now, or only others.
        minPrice: Lowest present price, such as "10.00".
        maxPrice: Highest present price.
        stockStatus: Only products of this stock status.
        orderby: What to order by; popularity is the number sold, include the order of the include argument.
        include: Only products with these IDs.
        exclude: No products with these IDs.
        after: Only products created after this time; a date alone includes that day.
        before: Only products created before this time.
        fields: Give only these fields of each product, such as ["id", "name", "price"].
    """
    wanted = ProductFilter(
        search=search,
        status=status,
        category=category,
        tag=tag,
        sku=sku,
        featured=featured,
        on_sale=onSale,
        min_price=minPrice,
        max_price=maxPrice,
        stock_status=stockStatus,
        include=include,
        exclude=exclude,
        after=after,
        before=before,
    )
    records, total = store.products.listed(wanted, page=page, per_page=perPage, orderby=orderby, order=order)
    return Page([shapes.only(shapes.product(r), fields) for r in records], *window(page, perPage), total)


@server.reads
def woo_products_get(
    store: WooCommerceStore, productId: int, fields: FieldNames | None = None
) -> dict[str, Any]:
    """Get one product in full, with its price, stock, categories, images and custom fields.

    Args:
        productId: ID of the product, or of a variation.
    """
    return shapes.only(shapes.product(store.products.product(productId)), fields)


@server.writes
def woo_products_create(store: WooCommerceStore, productData: ProductData) -> dict[str, Any]:
    """Create a product and return it.

    Args:
        productData: The product's fields; prices are decimal strings. A stock_quantity is kept only with
            manage_stock true, and then decides the stock status. Besides the fields listed it takes
            slug, tags, attributes, meta_data, date_on_sale_from, date_on_sale_to, stock_status, backorders,
            low_stock_amount, weight, dimensions, tax_class and the product's other writable fields.
    """
    return shapes.product(store.catalogue.create_product(productData))


@server.writes(idempotent=True)
def woo_products_update(
    store: WooCommerceStore, productId: ProductId, productData: ProductChanges
) -> dict[str, Any]:
    """Change some fields of a product and return it.

    Args:
        productData: The fields to change, as for woo_products_create. Lists such as categories, tags and
            images replace what was there; meta_data is set by key (a null value removes one). Setting
            sale_price to "" ends a sale.
    """
    return shapes.product(store.catalogue.update_product(productId, productData))


@server.writes(destructive=True)
def woo_products_delete(
    store: WooCommerceStore, productId: ProductId, force: Force = False
) -> dict[str, Any]:
    """Move a product with its variations to the trash, or delete it for good; returns what it was."""
    return shapes.product(store.catalogue.delete_product(productId, force=force))


@server.writes(destructive=True)
def woo_products_batch_update(
    store: WooCommerceStore,
    create: list[ProductChanges] | None = None,
    update: list[ProductUpdate] | None = None,
    delete: list[int] | None = None,
) -> dict[str, Any]:
    """Create, update and delete up to 100 products in one request; each is done or refused by itself.

    The result has the products in the order of the request, with an error in place of one that was refused.

    Args:
        create: New products, each as for woo_products_create.
        update: Changes, each with the id of the product and the fields to change.
        delete: IDs of products to delete for good.
    """
    return shapes.batch_results(store.batches.batch_products(create, update, delete), shapes.product)


@server.reads
def woo_products_variations_list(
    store: WooCommerceStore, productId: int, perPage: int | None = None, page: PageNumber | None = None
) -> Page:
    """List the variations of a variable product, with price and stock of each.

    Args:
        productId: ID of the variable product.
        perPage: Variations per page, 1 to 100; 10 by default.
    """
    records, total = store.variations(productId).listed(page=page, per_page=perPage)
    items = [VARIATIONS.shape(record) for record in records]
    return Page(items, *window(page, perPage), total)


ResourceTools("woo_products_reviews", "review", REVIEWS, lambda store: store.reviews).list(
    "List reviews of products, newest first.", "Reviews", long=True
)
