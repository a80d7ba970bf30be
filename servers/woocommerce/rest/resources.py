"""Routes of the resources that are declared: lists, the four verbs, and batches."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Literal

from mesocosm.doors.request import Request
from mesocosm.servers.woocommerce.rest.service import api
from mesocosm.servers.woocommerce.store import WooCommerceStore, invalid_parameter, window
from mesocosm.servers.woocommerce.store.resources import RESOURCES, Resource
from mesocosm.servers.woocommerce.tools.shapes import batch_results
from mesocosm.services.service import Page

Shape = dict[str, Any]
Objects = list[dict[str, Any]]


def _serve(resource: Resource) -> None:
    outer = re.findall(r"{(\w+)}", resource.path)

    def place(request: Request) -> tuple[int, ...]:
        return tuple(int(request.params[name]) for name in outer)

    @api.get(resource.path)
    def listed(
        store: WooCommerceStore,
        request: Request,
        page: int | None = None,
        per_page: int | None = None,
        search: str | None = None,
        slug: str | None = None,
        include: list[int] | None = None,
        exclude: list[int] | None = None,
        hide_empty: bool | None = None,
        orderby: str | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page:
        """The objects of a resource."""
        if orderby is not None and orderby not in resource.orders:
            raise invalid_parameter("orderby", f"orderby is not one of {', '.join(resource.orders)}.")
        rows, total = store.resources.listed(
            resource,
            place(request),
            page=page,
            per_page=per_page,
            search=search,
            slug=slug,
            orderby=orderby,
            order=order,
            include=[] if hide_empty else include,
            exclude=exclude,
        )
        return Page(rows, *window(page, per_page), total)

    @api.get(resource.path + "/{id}")
    def one(store: WooCommerceStore, request: Request, id: int) -> Shape:
        """One object."""
        return store.resources.one(resource, place(request), id)

    @api.post(resource.path, status=201)
    def create(store: WooCommerceStore, request: Request) -> Shape:
        """A new object."""
        return store.resources.create(resource, place(request), request.values)

    @api.put(resource.path + "/{id}")
    def change(store: WooCommerceStore, request: Request, id: int) -> Shape:
        """A changed object."""
        return store.resources.change(resource, place(request), id, request.values)

    @api.delete(resource.path + "/{id}")
    def remove(store: WooCommerceStore, request: Request, id: int, force: bool = False) -> Shape:
        """What an object was."""
        return store.resources.remove(resource, place(request), id, force=force)

    @api.post(resource.path + "/batch")
    def batch(
        store: WooCommerceStore,
        request: Request,
        create: Objects | None = None,
        update: Objects | None = None,
        delete: list[int] | None = None,
    ) -> Shape:
        """What came of many changes."""
        where = place(request)
        results = store.batches.batch(
            (create, update, delete),
            partial(store.resources.create, resource, where),
            partial(store.resources.change, resource, where),
            partial(store.resources.remove, resource, where, force=True),
        )
        return batch_results(results, dict)


for _resource in RESOURCES:
    _serve(_resource)
