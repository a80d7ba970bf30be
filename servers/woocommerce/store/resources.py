"""Resources that are nothing but their fields, each declared once: store and routes come from it.

They have no table of their own: an object is one row of the custom fields (``meta``), whose owner is the
resource, so a shop that has none of them is the same bytes as before there were any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from mesocosm.servers.woocommerce.models import Meta
from mesocosm.servers.woocommerce.refusals import invalid, missing, not_found
from mesocosm.servers.woocommerce.store.details import no_trash
from mesocosm.servers.woocommerce.store.shop import Part, Row
from mesocosm.servers.woocommerce.values import (
    boolean,
    checked,
    choice,
    line,
    slug_of,
    text,
    title,
    whole,
    window,
)
from mesocosm.services.values import Checks

_KEY = "record"


@dataclass(frozen=True)
class Resource:
    """What the vendor's API says of one kind of objects."""

    path: str
    """Below the API's address; objects inside others name these in braces."""
    checks: Checks
    """What may be said of an object, in the order in which it is shown."""
    defaults: Mapping[str, Any]
    gone: str
    """The code of the refusal of an id that does not exist."""
    orders: Sequence[str] = ("id", "name", "slug")
    """What lists may be ordered by."""
    prefix: str = ""
    """What the vendor puts before slugs."""
    more: Callable[[Row], Row] = field(default=lambda row: {})
    """Further fields, which follow from others."""


_SLUG: Checks = {"name": title, "slug": line}

ATTRIBUTES = Resource(
    "/products/attributes",
    {
        **_SLUG,
        "type": choice("select"),
        "order_by": choice("menu_order", "name", "name_num", "id"),
        "has_archives": boolean,
    },
    {"type": "select", "order_by": "menu_order", "has_archives": False},
    "woocommerce_rest_taxonomy_invalid",
    prefix="pa_",
)
ATTRIBUTE_TERMS = Resource(
    "/products/attributes/{attribute_id}/terms",
    {**_SLUG, "description": text, "menu_order": whole(0)},
    {"description": "", "menu_order": 0},
    "woocommerce_rest_term_invalid",
    orders=("id", "name", "slug", "menu_order", "description"),
    more=lambda row: {"count": 0},
)
SHIPPING_CLASSES = Resource(
    "/products/shipping_classes",
    {**_SLUG, "description": text},
    {"description": ""},
    "woocommerce_rest_term_invalid",
    orders=("id", "name", "slug", "description"),
    more=lambda row: {"count": 0},
)
INSIDE = {ATTRIBUTE_TERMS.path: ATTRIBUTES}
"""The resource whose objects hold those of another."""
RESOURCES = (ATTRIBUTES, ATTRIBUTE_TERMS, SHIPPING_CLASSES)


class Resources(Part):
    """The objects of a resource, inside those of ``place`` where they lie in others."""

    def listed(
        self,
        resource: Resource,
        place: Sequence[int] = (),
        *,
        page: int | None,
        per_page: int | None,
        search: str | None = None,
        slug: str | None = None,
        orderby: str | None = None,
        order: str | None = None,
        include: Sequence[int] | None = None,
        exclude: Sequence[int] | None = None,
    ) -> tuple[list[Row], int]:
        """One page of the objects, by name unless another order is asked for, and how many there are."""
        self.authorise("view")
        self._check_place(resource, place)
        found = [
            row
            for row in self._all(resource, place)
            if (not search or search.lower() in row["name"].lower())
            and (not slug or row["slug"] == slug)
            and (include is None or row["id"] in include)
            and (exclude is None or row["id"] not in exclude)
        ]
        wanted = orderby or "name"
        found.sort(key=lambda row: (str(row[wanted]).lower() if wanted != "id" else "", row["id"]))
        if order == "desc":
            found.reverse()
        page, per_page = window(page, per_page)
        return found[(page - 1) * per_page :][:per_page], len(found)

    def one(self, resource: Resource, place: Sequence[int], id_: int) -> Row:
        """One object."""
        self.authorise("view")
        self._check_place(resource, place)
        return self._one(resource, place, id_)

    def create(self, resource: Resource, place: Sequence[int], data: Mapping[str, Any]) -> Row:
        """A new object."""
        self.authorise("create")
        self._check_place(resource, place)
        values = checked(data, resource.checks, _READ_ONLY)
        if not values.get("name"):
            raise missing("name")
        rows = self.fetch(select(func.max(Meta.owner_id).label("n")).where(Meta.owner == resource.path))
        made = {"id": (rows[0]["n"] or 0) + 1, **resource.defaults, **values}
        self._keep(resource, place, made, new=True)
        return self._one(resource, place, made["id"])

    def change(self, resource: Resource, place: Sequence[int], id_: int, data: Mapping[str, Any]) -> Row:
        """Change fields of an object."""
        self.authorise("edit")
        before = self.one(resource, place, id_)
        kept = {name: before[name] for name in ("id", *resource.checks)}
        self._keep(resource, place, kept | checked(data, resource.checks, _READ_ONLY), new=False)
        return self._one(resource, place, id_)

    def remove(self, resource: Resource, place: Sequence[int], id_: int, *, force: bool) -> Row:
        """Delete an object for good, with what lies in it; returns what it was."""
        self.authorise("delete")
        no_trash("Resource", force=force)
        row = self.one(resource, place, id_)
        self.run(delete(Meta).where(Meta.owner == resource.path, Meta.owner_id == id_))
        for inner in RESOURCES:
            if INSIDE.get(inner.path) is resource:
                for one in self._all(inner, (id_,)):
                    self.run(delete(Meta).where(Meta.owner == inner.path, Meta.owner_id == one["id"]))
        return row

    def _all(self, resource: Resource, place: Sequence[int]) -> list[Row]:
        statement = select(Meta.value).where(Meta.owner == resource.path, Meta.key == _KEY)
        rows = [row["value"] for row in self.fetch(statement.order_by(Meta.owner_id))]
        return [_shown(resource, row) for row in rows if row["place"] == list(place)]

    def _one(self, resource: Resource, place: Sequence[int], id_: int) -> Row:
        for row in self._all(resource, place):
            if row["id"] == id_:
                return row
        raise not_found(resource.gone, "Resource does not exist.")

    def _check_place(self, resource: Resource, place: Sequence[int]) -> None:
        if outer := INSIDE.get(resource.path):
            self._one(outer, place[:-1], place[-1])

    def _keep(self, resource: Resource, place: Sequence[int], row: Row, *, new: bool) -> None:
        slug = slug_of(row.get("slug") or row["name"])
        row = row | {"slug": slug if slug.startswith(resource.prefix) else resource.prefix + slug}
        if any(
            other["slug"] == row["slug"] and other["id"] != row["id"] for other in self._all(resource, place)
        ):
            text_ = f'Slug "{row["slug"]}" is already in use. Change it, please.'
            raise invalid("woocommerce_rest_cannot_create", text_)
        value = row | {"place": list(place)}
        if new:
            kept = {"owner": resource.path, "owner_id": row["id"], "key": _KEY, "value": value}
            self.run(insert(Meta).values(kept))
        else:
            where = (Meta.owner == resource.path, Meta.owner_id == row["id"], Meta.key == _KEY)
            self.run(update(Meta).where(*where).values(value=value))


_READ_ONLY = ("id", "count", "_links")


def _shown(resource: Resource, row: Row) -> Row:
    return {"id": row["id"]} | {name: row[name] for name in resource.checks} | resource.more(row)
