"""Base of the shop's resources: list, read, create, update and delete as declared.

A resource's own rules are a subclass of ``Collection``; those of its methods that begin with ``_`` are there
to be overridden.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, delete, insert, or_, select, update

from mesocosm.servers.woocommerce.refusals import gone, missing, no_trash, not_found
from mesocosm.servers.woocommerce.store.selection import EVERYTHING, Selection, chosen, ordering
from mesocosm.servers.woocommerce.store.shop import Owner, Record, Row, StorePart
from mesocosm.servers.woocommerce.values import DEFAULT_PER_PAGE, checked, text, window
from mesocosm.services.resources import Resource
from mesocosm.services.schema import Words


@dataclass(frozen=True)
class Filter:
    """Filter of a list.

    Args:
        type: Of the value.
        condition: What has to hold for a value, or ``None``.
        about: What agents are told of it; empty where tools do not have it.
        tool: What tools call it, where that does not follow from its name.
        usual: The value where none is given.
        first: Whether it stands before the page in the tool.
    """

    type: Any
    condition: Callable[[Any], Any]
    about: str = ""
    tool: str = ""
    usual: Any = None
    first: bool = False


def searched(about: str, *columns: Any) -> Filter:
    """A filter by a text that one of the columns must have."""

    def condition(value: str) -> ColumnElement[bool]:
        wanted = text(value, "search")
        return or_(*(column.icontains(wanted, autoescape=True) for column in columns))

    return Filter(Words, condition, about)


class ShopResource(Resource):
    """A resource of the shop, with what all of them have in common.

    Args:
        model: The declaration.
        gone: Code and text of the refusal of an id that does not exist.
        trash: What the product calls one that goes to the trash; empty where there is none.
        things: What it calls several that have no trash.
        required: Fields that a new one must have.
        unique: Fields of which no two have the same, with the refusals.
        orders: What lists may be ordered by; ``include`` is the order of that filter.
        order: What they are ordered by usually, and in which direction.
        by: What lists are always ordered by, where clients cannot choose.
        filters: What lists may be narrowed by.
        where: What holds for all that lists show.
        selects: Which of the filters that lists share there are.
        statement: What reads the rows; usually the table alone.
        meta: The owner of its custom fields.
        inside: The column that holds the object in which it lies.
        per_page: How many a page has usually.
    """

    passed_over = frozenset({"_links"})

    def __init__(
        self,
        model: type[Any],
        *,
        gone: tuple[str, str] = ("woocommerce_rest_invalid_id", "Invalid resource ID."),
        trash: str = "",
        things: str = "Resource",
        required: Sequence[str] = (),
        unique: Mapping[str, Callable[[], Exception]] | None = None,
        orders: Mapping[str, Any] | None = None,
        order: tuple[str, str] = ("date", "desc"),
        by: Sequence[Any] = (),
        filters: Mapping[str, Filter] | None = None,
        where: Sequence[ColumnElement[bool]] = (),
        selects: Sequence[str] = ("include", "exclude", "after", "before"),
        statement: Select[Any] | None = None,
        meta: Owner | None = None,
        inside: Any = None,
        per_page: int = DEFAULT_PER_PAGE,
    ) -> None:
        super().__init__(model)
        self.gone, self.trash, self.things = gone, trash, things
        self.required, self.unique = required, unique or {}
        self.orders, self.order, self.by = orders or {}, order, by
        self.filters, self.where, self.selects = filters or {}, where, selects
        self.statement: Any = (
            select(self.table) if statement is None and self.table is not None else statement
        )
        self.meta: Owner | None = meta
        self.inside = inside
        self.per_page = per_page

    @cached_property
    def by_id(self) -> Any:
        """Statement that reads one row."""
        return self.statement.where(self.model.id == bindparam("id"))

    def conditions(self, asked: Mapping[str, Any]) -> list[ColumnElement[bool]]:
        """Build the conditions for the requested filters."""
        found: list[Any] = [*self.where]
        for name, one in self.filters.items():
            value = one.usual if asked.get(name) is None else asked[name]
            if value is not None and value is not False and value != "":
                found.append(one.condition(value))
        return [condition for condition in found if condition is not None]


class Collection(StorePart):
    """The objects of a resource; inside another one, where they lie in others."""

    resource: ShopResource

    def __init__(self, store: Any, inside: int | None = None) -> None:
        super().__init__(store)
        self.inside = inside

    # -- reading ----------------------------------------------------------------------------------------

    def listed(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        selection: Selection = EVERYTHING,
        **asked: Any,
    ) -> tuple[list[Row], int]:
        """One page of the objects that meet the filters, and how many do."""
        self.authorise("view")
        self._check_place()
        resource = self.resource
        page, per_page = window(page, per_page, resource.per_page)
        conditions = [*self._within(), *resource.conditions(asked), *chosen(resource.model, selection)]
        order = resource.by or ordering(resource.model, selection, resource.orders, *resource.order)
        statement = resource.statement.where(*conditions).order_by(*order)
        rows = self.fetch(statement.limit(per_page).offset((page - 1) * per_page))
        return self._records(rows), self.count(resource.model, *conditions)

    def one(self, id_: int) -> Row:
        """One object."""
        self.authorise("view")
        return self._record(id_)

    def row(self, id_: int) -> Record:
        """The row of an object that exists, whoever asks."""
        self._check_place()
        rows = self.fetch(self.resource.by_id.where(*self._within()), id=id_)
        if not rows:
            raise not_found(*self.resource.gone)
        return rows[0]

    def _record(self, id_: int) -> Row:
        return self._records([self.row(id_)])[0]

    def _records(self, rows: Sequence[Record]) -> list[Row]:
        """Load rows with their parts."""
        if self.resource.meta is None:
            return [dict(row) for row in rows]
        meta = self.meta_of(self.resource.meta, [row["id"] for row in rows])
        return [{**row, "meta_data": meta.get(row["id"], [])} for row in rows]

    def _within(self) -> list[ColumnElement[bool]]:
        return [] if self.inside is None else [self.resource.inside == self.inside]

    def _check_place(self) -> None:
        """Refuse a place that does not exist."""

    # -- writing ----------------------------------------------------------------------------------------

    def create(self, data: Mapping[str, Any]) -> Row:
        """A new object."""
        self.authorise("create")
        self._check_place()
        checks = self.resource.checks
        return self._record(self._add([checked(data, checks, self.resource.read_only)])[0])

    def fill(self, entries: Iterable[Mapping[str, Any]]) -> list[int]:
        """Many objects at once, for generators, which may set more than clients; gives their ids."""
        return self._add([checked(entry, self.resource.filled_checks) for entry in entries])

    def _add(self, entries: Sequence[Row]) -> list[int]:
        first = self.next_id(self.resource.model)
        rows = [self._new_row(values, first + place) for place, values in enumerate(entries)]
        self._check(rows)
        if rows:
            self.run(insert(self.resource.table), rows)
        if self.resource.meta:
            meta = [values.get("meta_data", []) for values in entries]
            self.add_meta(self.resource.meta, {first + place: of for place, of in enumerate(meta)})
        self._follow(rows)
        return [row["id"] for row in rows]

    def _new_row(self, values: Row, id_: int) -> Row:
        if absent := [name for name in self.resource.required if name not in values]:
            raise missing(*absent)
        row = self.resource.blank() | {"id": id_}
        stamps = {"date_created", "date_modified"} & row.keys()
        row |= dict.fromkeys(stamps, values.get("date_created", self.today))
        if self.resource.inside is not None:
            row[self.resource.inside.key] = self.inside
        return self._settled(row | self.resource.columns(values), None)

    def change(self, id_: int, data: Mapping[str, Any]) -> Row:
        """Change fields of an object."""
        self.authorise("edit")
        before = self.row(id_)
        values = checked(data, self.resource.checks, self.resource.read_only)
        if values:
            row = {name: before[name] for name in self.resource.kept}
            row |= {"date_modified": self.today} if "date_modified" in row else {}
            row = self._settled(row | self.resource.columns(values), before)
            self._check([row], before)
            self._write(row)
            if self.resource.meta:
                self.change_meta(self.resource.meta, id_, values.get("meta_data", []))
            self._follow([before, row])
        return self._record(id_)

    def remove(self, id_: int, *, force: bool) -> Row:
        """Move an object to the trash, or with ``force`` delete it for good; returns what it was."""
        self.authorise("delete")
        if not self.resource.trash:
            no_trash(self.resource.things, force=force)
        record = self._record(id_)
        if force:
            self._remove(record)
        elif record["status"] == "trash":
            raise gone(self.resource.trash)
        else:
            stamped = {"date_modified": self.today} if "date_modified" in record else {}
            self._write({"id": id_, "status": "trash", **stamped})
        self._follow([record])
        return record if force else self._record(id_)

    def _remove(self, record: Record) -> None:
        """Delete an object with its own parts."""
        if self.resource.meta:
            self.remove_meta(self.resource.meta, record["id"])
        self.run(delete(self.resource.table).where(self.resource.table.c.id == record["id"]))

    def _write(self, row: Row) -> None:
        table = self.resource.table
        self.run(update(table).where(table.c.id == row["id"]).values(row))

    # -- the resource's own rules -----------------------------------------------------------------------

    def _settled(self, row: Row, before: Record | None) -> Row:
        """Return a row in stored form, or refuse incompatible values; ``before`` is the previous row."""
        return row

    def _check(self, rows: Sequence[Row], before: Record | None = None) -> None:
        """Refuse new rows, or one that was another before, which do not go with others."""
        columns = self.resource.table.c
        for name, refusal in self.resource.unique.items():
            taken = select(columns.id, columns[name])
            if "status" in columns:
                taken = taken.where(columns.status != "trash")
            if len(rows) == 1:
                taken = taken.where(columns[name] == rows[0][name])
            seen = {row[name]: row["id"] for row in self.fetch(taken)}
            for row in rows:
                if row.get("status") != "trash" and seen.setdefault(row[name], row["id"]) != row["id"]:
                    raise refusal()

    def _follow(self, rows: Sequence[Record]) -> None:
        """Update what depends on created, changed (old and new) or deleted rows."""
