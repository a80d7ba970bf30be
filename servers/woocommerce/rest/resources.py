"""Routes of the resources: lists, the four verbs, and batches, from what is declared."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypedDict, Unpack

from mesocosm.doors.request import Request
from mesocosm.servers.woocommerce.refusals import invalid_parameter
from mesocosm.servers.woocommerce.rest.service import api
from mesocosm.servers.woocommerce.store import Selection, WooCommerceStore, window
from mesocosm.servers.woocommerce.store.coupons import COUPONS
from mesocosm.servers.woocommerce.store.customers import CUSTOMERS
from mesocosm.servers.woocommerce.store.kept import KEPT, Kept
from mesocosm.servers.woocommerce.store.resources import Collection, ShopResource
from mesocosm.servers.woocommerce.store.reviews import REVIEWS
from mesocosm.servers.woocommerce.store.shipping import ZONE_METHODS, ZONES
from mesocosm.servers.woocommerce.store.taxes import TAX_RATES
from mesocosm.servers.woocommerce.store.terms import CATEGORIES, TAGS
from mesocosm.servers.woocommerce.store.variations import VARIATIONS
from mesocosm.servers.woocommerce.store.webhooks import WEBHOOKS
from mesocosm.servers.woocommerce.tools.shapes import batch_results, only
from mesocosm.services.schema import Json, Words
from mesocosm.services.service import Page

Objects = list[dict[str, Any]]
Inside = int | None
_ID_LISTS = ("include", "exclude")


def serve(
    path: str,
    resource: ShopResource,
    collection: Callable[[WooCommerceStore, Inside], Collection],
    *,
    forced: bool = False,
    deleted: Callable[[Json], Json] = lambda shape: shape,
    batches: bool = True,
    narrowed: bool = False,
) -> None:
    """Register the routes of a resource at a path, in which ``{inside}`` is the object that it lies in.

    Args:
        path: Below the API's address.
        resource: The declaration.
        collection: The objects, in a store.
        forced: Whether a deletion is for good unless the client says otherwise.
        deleted: The answer to a deletion for good, from the object.
        batches: Whether many may be changed in one request.
        narrowed: Whether ``_fields`` says which fields are answered.
    """
    within = "{inside}" in path

    def place(request: Request) -> Inside:
        return int(request.params["inside"]) if within else None

    def shown(request: Request, row: Json) -> Json:
        wanted = request.asked.get("_fields") if narrowed else None
        if isinstance(wanted, str):
            wanted = wanted.split(",")
        elif wanted is not None and not all(isinstance(name, str) for name in wanted):
            raise invalid_parameter("_fields", "_fields must be names of fields.")
        return only(resource.shape(row), wanted)

    def listed(
        store: WooCommerceStore,
        request: Request,
        page: int | None = None,
        per_page: int | None = None,
        **asked: Any,
    ) -> Page:
        """One page of the objects."""
        known = (*resource.selects, "orderby", "order")
        selection = Selection(**{name: asked.pop(name, None) for name in known})
        filters = {name.removesuffix("_"): value for name, value in asked.items()}
        objects = collection(store, place(request))
        rows, total = objects.listed(page=page, per_page=per_page, selection=selection, **filters)
        return Page([shown(request, row) for row in rows], *window(page, per_page, resource.per_page), total)

    listed.__annotations__["asked"] = Unpack[_asked(resource)]
    api.get(path)(listed)

    @api.get(path + "/{id}")
    def one(store: WooCommerceStore, request: Request, id: int) -> Json:
        """One object."""
        return shown(request, collection(store, place(request)).one(id))

    @api.post(path, status=201)
    def create(store: WooCommerceStore, request: Request) -> Json:
        """A new object."""
        return resource.shape(collection(store, place(request)).create(request.values))

    @api.put(path + "/{id}")
    def change(store: WooCommerceStore, request: Request, id: int) -> Json:
        """A changed object."""
        return resource.shape(collection(store, place(request)).change(id, request.values))

    @api.delete(path + "/{id}")
    def remove(store: WooCommerceStore, request: Request, id: int, force: bool = forced) -> Json:
        """Delete an object or move it to the trash, and return it."""
        shape = resource.shape(collection(store, place(request)).remove(id, force=force))
        return deleted(shape) if force else shape

    if not batches:
        return

    @api.post(path + "/batch")
    def batch(
        store: WooCommerceStore,
        request: Request,
        create: Objects | None = None,
        update: Objects | None = None,
        delete: list[int] | None = None,
    ) -> Json:
        """Make many changes, and return the result of each."""
        objects = collection(store, place(request))
        removed = partial(objects.remove, force=True)
        results = store.batches.batch((create, update, delete), objects.create, objects.change, removed)
        return batch_results(results, resource.shape)


def _asked(resource: ShopResource) -> Any:
    """Build the ``TypedDict`` of a list's filters."""
    found: dict[str, Any] = {
        name: str if one.type is Words else one.type for name, one in resource.filters.items()
    }
    found |= {name: list[int] if name in _ID_LISTS else str for name in resource.selects}
    if resource.orders:
        found |= {"orderby": Literal[tuple(resource.orders)], "order": Literal["asc", "desc"]}
    return TypedDict("Asked", found, total=False)  # type: ignore[operator]


for _kept in KEPT:
    serve(_kept.path, _kept, partial(Kept.of, _kept))
serve(
    "/products/{inside}/variations",
    VARIATIONS,
    lambda store, inside: store.variations(inside or 0),
    forced=True,
)
serve("/products/categories", CATEGORIES, lambda store, _: store.categories)
serve("/products/tags", TAGS, lambda store, _: store.tags)
serve("/taxes", TAX_RATES, lambda store, _: store.taxes)
serve("/shipping/zones", ZONES, lambda store, _: store.zones, batches=False)
serve(
    "/shipping/zones/{inside}/methods",
    ZONE_METHODS,
    lambda store, inside: store.zone_methods(inside or 0),
    batches=False,
)
serve("/webhooks", WEBHOOKS, lambda store, _: store.webhooks)
serve("/customers", CUSTOMERS, lambda store, _: store.customers, narrowed=True)
serve("/coupons", COUPONS, lambda store, _: store.coupons, forced=True)
serve(
    "/products/reviews",
    REVIEWS,
    lambda store, _: store.reviews,
    deleted=lambda review: {"deleted": True, "previous": review},
)
