"""Resources without a table: attributes with their terms, and shipping classes.

Each object is one row of the custom fields (``meta``), whose owner is the resource's path, so a shop that has
none of them is the same bytes as before there were any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from sqlalchemy import delete, func, insert, select, update

from mesocosm.servers.woocommerce.models import Meta
from mesocosm.servers.woocommerce.refusals import invalid, not_found
from mesocosm.servers.woocommerce.store.resources import Collection, Filter, ShopResource
from mesocosm.servers.woocommerce.store.selection import EVERYTHING, Selection
from mesocosm.servers.woocommerce.store.shop import Record, Row
from mesocosm.servers.woocommerce.values import (
    boolean,
    choice,
    line,
    slug_of,
    text,
    title,
    whole,
    window,
)
from mesocosm.services.resources import Shown

_KEY = "record"


class _Attribute:
    id: ClassVar = Shown()
    name: ClassVar = Shown(title, "clients")
    slug: ClassVar = Shown(line, "clients")
    type: ClassVar = Shown(choice("select"), "clients", default="select")
    order_by: ClassVar = Shown(
        choice("menu_order", "name", "name_num", "id"), "clients", default="menu_order"
    )
    has_archives: ClassVar = Shown(boolean, "clients", default=False)


class _ShippingClass:
    id: ClassVar = Shown()
    name: ClassVar = Shown(title, "clients")
    slug: ClassVar = Shown(line, "clients")
    description: ClassVar = Shown(text, "clients", default="")
    count: ClassVar = Shown(made=lambda row: 0)


class _AttributeTerm:
    id: ClassVar = Shown()
    name: ClassVar = Shown(title, "clients")
    slug: ClassVar = Shown(line, "clients")
    description: ClassVar = Shown(text, "clients", default="")
    menu_order: ClassVar = Shown(whole(0), "clients", default=0)
    count: ClassVar = Shown(made=lambda row: 0)


class KeptResource(ShopResource):
    """A resource without a table, at its path; ``prefix`` is what the vendor puts before slugs."""

    def __init__(
        self,
        model: type[Any],
        path: str,
        gone: str,
        *orders: str,
        prefix: str = "",
        outer: KeptResource | None = None,
    ) -> None:
        self.path, self.prefix, self.outer = path, prefix, outer
        filters = {
            "search": Filter(str, lambda value: lambda row: value.lower() in row["name"].lower()),
            "slug": Filter(str, lambda value: lambda row: row["slug"] == value),
            "hide_empty": Filter(bool, lambda value: lambda row: False),
        }
        super().__init__(
            model,
            gone=(gone, "Resource does not exist."),
            required=["name"],
            orders=dict.fromkeys(("id", "name", "slug", *orders)),
            filters=filters,
            selects=("include", "exclude"),
        )


ATTRIBUTES = KeptResource(
    _Attribute, "/products/attributes", "woocommerce_rest_taxonomy_invalid", prefix="pa_"
)
ATTRIBUTE_TERMS = KeptResource(
    _AttributeTerm,
    "/products/attributes/{inside}/terms",
    "woocommerce_rest_term_invalid",
    "menu_order",
    "description",
    outer=ATTRIBUTES,
)
SHIPPING_CLASSES = KeptResource(
    _ShippingClass, "/products/shipping_classes", "woocommerce_rest_term_invalid", "description"
)
KEPT = (ATTRIBUTES, ATTRIBUTE_TERMS, SHIPPING_CLASSES)


class Kept(Collection):
    """The objects of a resource without a table."""

    resource: KeptResource

    def __init__(self, store: Any, resource: KeptResource, inside: int | None = None) -> None:
        super().__init__(store, inside)
        self.resource = resource

    @classmethod
    def of(cls, resource: KeptResource, store: Any, inside: int | None) -> Kept:
        """The objects of a resource in a store."""
        return cls(store, resource, inside)

    def listed(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        selection: Selection = EVERYTHING,
        **asked: Any,
    ) -> tuple[list[Row], int]:
        """One page of the objects, by name unless another order is asked for, and how many there are."""
        self.authorise("view")
        fits: Sequence[Any] = self.resource.conditions(asked)
        found = [
            row
            for row in self._all()
            if all(fit(row) for fit in fits)
            and (selection.include is None or row["id"] in selection.include)
            and (selection.exclude is None or row["id"] not in selection.exclude)
        ]
        wanted = selection.orderby or "name"
        found.sort(key=lambda row: (str(row[wanted]).lower() if wanted != "id" else "", row["id"]))
        if selection.order == "desc":
            found.reverse()
        page, per_page = window(page, per_page)
        return found[(page - 1) * per_page :][:per_page], len(found)

    def row(self, id_: int) -> Record:
        """An object that exists."""
        for row in self._all():
            if row["id"] == id_:
                return row
        raise not_found(*self.resource.gone)

    def _all(self) -> list[Row]:
        if self.resource.outer and self.inside is not None:
            Kept(self.store, self.resource.outer).row(self.inside)
        statement = select(Meta.value).where(Meta.owner == self.resource.path, Meta.key == _KEY)
        rows = [row["value"] for row in self.fetch(statement.order_by(Meta.owner_id))]
        return [row for row in rows if row["place"] == self._place]

    @property
    def _place(self) -> list[int]:
        return [] if self.inside is None else [self.inside]

    def _add(self, entries: Sequence[Row]) -> list[int]:
        rows = self.fetch(select(func.max(Meta.owner_id).label("n")).where(Meta.owner == self.resource.path))
        first = (rows[0]["n"] or 0) + 1
        ids = range(first, first + len(entries))
        for id_, values in zip(ids, entries, strict=True):
            row = self._new_row(values, id_)
            self._check([row])
            kept = {"owner": self.resource.path, "owner_id": id_, "key": _KEY, "value": row}
            self.run(insert(Meta).values(kept))
        return list(ids)

    def _settled(self, row: Row, before: Record | None) -> Row:
        slug = slug_of(row.get("slug") or row["name"])
        slug = slug if slug.startswith(self.resource.prefix) else self.resource.prefix + slug
        return row | {"slug": slug, "place": self._place}

    def _check(self, rows: Sequence[Row], before: Record | None = None) -> None:
        for row in rows:
            if any(other["slug"] == row["slug"] and other["id"] != row["id"] for other in self._all()):
                told = f'Slug "{row["slug"]}" is already in use. Change it, please.'
                raise invalid("woocommerce_rest_cannot_create", told)

    def _write(self, row: Row) -> None:
        self.run(update(Meta).where(*self._at(row["id"])).values(value=row))

    def _at(self, id_: int) -> Sequence[Any]:
        return Meta.owner == self.resource.path, Meta.owner_id == id_, Meta.key == _KEY

    def _remove(self, record: Record) -> None:
        for resource in KEPT:
            if resource.outer is self.resource:
                inner = Kept(self.store, resource, record["id"])
                for one in inner._all():
                    inner._remove(one)
        self.run(delete(Meta).where(*self._at(record["id"])))
