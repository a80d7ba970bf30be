"""The content of a world in one state: pages of its services and of its files, and all that has a text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote

import sqlalchemy as sql

from mesocosm.errors import NotFound, Refusal
from mesocosm.evaluation.browser.calls import FILES
from mesocosm.services.previews import LINES, preview, readable
from mesocosm.services.service import Store, load_service
from mesocosm.services.views import (
    Asked,
    Branch,
    Fields,
    Item,
    Link,
    Page,
    Row,
    Table,
    Tree,
    View,
    load_view,
)
from mesocosm.services.world import World
from mesocosm.worlds import database
from mesocosm.worlds.workspace import Workspace

WORKSPACE_SERVICES = frozenset({"filesystem", "excel", "pdf_tools", "terminal", "python_execute"})
"""Services whose content is the files of the workspace."""
_LARGEST_FILE = 50_000_000
_LONGEST_VALUE = 400


class Content:
    def __init__(self, world: World) -> None:
        self.world = world
        self._items: dict[str, list[Item]] = {}
        self._by_ref: dict[str, dict[str, Item]] = {}

    def close(self) -> None:
        """Close the world's files."""
        self.world.close()

    @cached_property
    def services(self) -> list[str]:
        """Services that have something to show."""
        found = [name for name in self.world.databases if load_view(name) or self._is_filled(name)]
        return sorted(found) + ([FILES] if any(True for _ in self.world.workspace.files()) else [])

    def _is_filled(self, service: str) -> bool:
        with self._reading(service) as store:
            assert isinstance(store, Store)
            tables = store.metadata.sorted_tables if store.metadata else ()
            ones = (sql.select(sql.literal(1)).select_from(table).limit(1) for table in tables)
            return any(store.session.execute(one).first() for one in ones)

    def place_of(self, service: str) -> str:
        """Return the place of a service's content. Services of files share one."""
        return FILES if service in WORKSPACE_SERVICES else service

    def page(self, service: str, path: str, asked: Asked) -> Page:
        """A page of a service; raises ``NotFound`` where there is none."""
        if service not in self.services:
            raise NotFound(f"the world has no content of {service!r}")
        try:
            with self._reading(service) as store:
                return _view(service).show(store, path, asked)
        except Refusal as error:
            raise NotFound(str(error)) from None

    def items(self, service: str) -> list[Item]:
        """All that has a text in a service."""
        if service not in self._items:
            with self._reading(service) as store:
                self._items[service] = list(_view(service).find(store))
        return self._items[service]

    def all_items(self) -> Iterator[tuple[str, Item]]:
        """All that has a text, with its service."""
        for service in self.services:
            for item in self.items(service):
                yield service, item

    def counted(self, service: str, *, quickly: bool) -> int | None:
        """Count what has a text in a service; None where it is not known and must be quick."""
        return None if quickly and service not in self._items else len(self.items(service))

    def item_of(self, service: str, ref: str) -> Item | None:
        """Return the item of a row, by ``table:key``; None if there is none."""
        if service not in self._by_ref:
            here = self.items(service) if service in self.services else []
            self._by_ref[service] = {item.ref: item for item in here if item.ref}
        return self._by_ref[service].get(ref)

    def row(self, service: str, table: str, column: str, value: Any) -> Mapping[str, Any] | None:
        """Return a row of a service by a column's value; ``None`` if there is none."""
        with self._reading(service) as store:
            assert isinstance(store, Store)
            assert store.metadata is not None
            of = store.metadata.tables[table]
            found = store.session.execute(sql.select(of).where(of.c[column] == value)).mappings().first()
            return dict(found) if found else None

    def _reading(self, service: str) -> _Reading:
        return _Reading(self.world.workspace if service == FILES else self.world.stores[service])


class _Reading:
    """Reads a store in one transaction, which is given up in the end."""

    def __init__(self, store: Store | Workspace) -> None:
        self._store = store

    def __enter__(self) -> Store | Workspace:
        if isinstance(self._store, Store):
            database.begin(self._store.session, read_only=True)
        return self._store

    def __exit__(self, *exception: object) -> None:
        if isinstance(self._store, Store):
            database.rollback(self._store.session)
            self._store.session.expunge_all()


def _view(service: str) -> View:
    return _files if service == FILES else load_view(service) or _tables(service)


# -- services without a view ----------------------------------------------------------------------------


def _tables(service: str) -> View:
    view = View()
    metadata = load_service(service).metadata
    tables = {table.name: table for table in (metadata.sorted_tables if metadata else ())}

    def places(store: Store) -> list[Link]:
        counts = (
            (name, store.session.scalar(sql.select(sql.func.count()).select_from(tables[name])))
            for name in sorted(tables)
        )
        return [Link(name, f"table/{name}", count or 0) for name, count in counts]

    @view.page("")
    def front(store: Store, asked: Asked) -> Page:
        rows = [Row([Link(one.text, one.path), one.count]) for one in places(store)]
        return Page(service, [Table(["Table", "Rows"], rows)], places(store))

    @view.page("table/{name}")
    def table(store: Store, asked: Asked, name: str) -> Page:
        if name not in tables:
            raise NotFound(f"there is no table {name!r}")
        of = tables[name]
        keys = [column.name for column in of.primary_key.columns]
        found = store.session.execute(
            sql.select(of).order_by(*of.primary_key.columns).offset(asked.start).limit(asked.size)
        ).mappings()
        rows = [Row([_short(value) for value in row.values()], ref=_ref(name, keys, row)) for row in found]
        total = store.session.scalar(sql.select(sql.func.count()).select_from(of))
        return Page(
            name,
            [Table([column.name for column in of.columns], rows, total)],
            places(store),
            Link(service, ""),
        )

    @view.items
    def items(store: Store) -> Iterator[Item]:
        for name, of in tables.items():
            keys = [column.name for column in of.primary_key.columns]
            for number, row in enumerate(
                store.session.execute(sql.select(of).order_by(*of.primary_key.columns)).mappings()
            ):
                texts = [value for value in row.values() if isinstance(value, str)]
                start = number - number % Asked().size
                path = f"table/{name}" + (f"?from={start}" if start else "")
                yield Item(
                    name, texts[0][:80] if texts else "", "\n".join(texts), path, _ref(name, keys, row)
                )

    return view


def _ref(table: str, keys: Sequence[str], row: Any) -> str:
    return f"{table}:{','.join(str(row[key]) for key in keys)}"


def _short(value: Any) -> str | int | float | None:
    if value is None or isinstance(value, int | float):
        return value
    text = f"{len(value):,} bytes" if isinstance(value, bytes) else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def file_path(name: str) -> str:
    """Return where a file is shown, whatever bytes its name has."""
    return f"file/{quote(os.fsencode(name))}"


# -- files ----------------------------------------------------------------------------------------------

_files = View()


@_files.page("")
def _folder(workspace: Workspace, asked: Asked) -> Page:
    """All files, as a tree."""
    names = sorted(name for name, _ in workspace.files())
    return Page("Files", [Tree(_branches(names, ""))])


def _branches(names: Sequence[str], below: str) -> list[Branch]:
    found: list[Branch] = []
    folders: dict[str, list[str]] = {}
    for name in names:
        head, _, rest = name[len(below) :].partition("/")
        if rest:
            folders.setdefault(head, []).append(name)
        else:
            found.append(Branch(head, path=file_path(name), ref=f"{FILES}:{name}"))
    inner = [Branch(f"{head}/", _branches(those, f"{below}{head}/")) for head, those in folders.items()]
    return inner + found


@_files.page("file/{name:path}")
def _file(workspace: Workspace, asked: Asked, name: str) -> Page:
    """A file, as far as it can be shown."""
    data = workspace.read(name)
    fields = Fields({"Bytes": f"{len(data):,}"}, ref=f"{FILES}:{name}")
    return Page(name, [fields, *preview(name, data, asked)], up=Link("Files", ""))


@_files.items
def _file_items(workspace: Workspace) -> Iterator[Item]:
    """The texts of all files, as much of each as a page shows."""
    for name, path in workspace.files():
        if path.stat().st_size > _LARGEST_FILE:
            continue
        lines = readable(name, workspace.read(name)).split("\n")
        paged = not name.lower().endswith((".xlsx", ".xlsm", ".pdf"))
        step = LINES if paged else len(lines) or 1
        for start in range(0, len(lines), step):
            where = file_path(name) + (f"?from={start}" if start else "")
            title = name if not start else f"{name}, from line {start + 1:,}"
            yield Item(
                "file",
                title,
                "\n".join(lines[start : start + step]),
                where,
                "" if start else f"{FILES}:{name}",
            )
