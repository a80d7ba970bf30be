"""Views: what a service looks like to people, as pages that are made of a few kinds of blocks.

A service brings its view by existing: ``servers/<name>/view.py`` with a ``View`` named ``view``; services
without one are shown table by table. A view reads the tables and changes nothing. It holds no markup: blocks
are data, which whoever shows them writes as HTML, so no text of an agent can become markup here::

    view = View()

    @view.page("")
    def folders(store: EmailStore, asked: Asked) -> Page: ...

    @view.page("mail/{id}")
    def mail(store: EmailStore, asked: Asked, id: str) -> Page: ...

    @view.items
    def items(store: EmailStore) -> Iterator[Item]: ...
"""

from __future__ import annotations

import datetime as dt
import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, TypeVar

import sqlalchemy as sql
from sqlalchemy.orm import Session

from mesocosm.errors import NotFound
from mesocosm.services.content import find_module

T = TypeVar("T")

PAGE = 50
"""Rows, messages or events of a page; the next page has the following ones."""


@dataclass(frozen=True)
class Link:
    """A text that leads to another page of the view."""

    text: str
    path: str
    count: int | None = None
    """Number of things are there, where that is told."""


Cell = str | int | float | None | Link


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    cells: Sequence[Cell]
    path: str | None = None
    """The page that the row is about."""
    ref: str = ""
    """The row of the database that it shows: ``table:key``."""
    strong: bool = False
    """True if it stands out: a mail that was not read."""


@dataclass(frozen=True)
class Table:
    """Rows with columns, of which a page shows some."""

    head: Sequence[str]
    rows: Sequence[Row]
    total: int | None = None
    """Number of rows there are on all pages; None where these are all."""
    title: str = ""
    empty: str = "Nothing here."


@dataclass(frozen=True)
class Fields:
    """Names and values of one thing; values that are empty are left out."""

    pairs: Mapping[str, Cell]
    title: str = ""
    ref: str = ""


@dataclass(frozen=True)
class Message:
    """A message by a person: a mail, an announcement, a comment."""

    sender: str
    text: str
    when: str = ""
    to: str = ""
    title: str = ""
    ref: str = ""
    notes: Sequence[str] = ()
    """Remarks about it: unread, draft."""
    files: Sequence[Link] = ()
    source: str = ""
    """Its HTML, as it was sent."""


@dataclass(frozen=True)
class Prose:
    """A text; ``code``: with numbered lines."""

    text: str
    title: str = ""
    code: bool = False
    ref: str = ""
    first: int = 1
    """Number of the first line."""
    total: int | None = None
    """Number of lines there are on all pages."""


@dataclass(frozen=True)
class Sheet:
    """Cells of a spreadsheet."""

    rows: Sequence[Sequence[Cell]]
    title: str = ""
    first: int = 1
    """Number of the first row."""
    total: int | None = None


@dataclass(frozen=True)
class Happening:
    """Something in a calendar."""

    start: dt.datetime
    title: str
    path: str
    ref: str = ""
    end: dt.datetime | None = None
    all_day: bool = False


@dataclass(frozen=True)
class Month:
    """A month, or a week of it, of a calendar."""

    first: dt.date
    happenings: Sequence[Happening]
    week: bool = False
    path: str = ""
    """The page that shows other months, by ``?on=2026-03-01`` and ``&week=1``."""


@dataclass(frozen=True)
class Board:
    """A board of squares, with a legend of symbols."""

    squares: Sequence[Sequence[tuple[str, str]]]
    title: str = ""


@dataclass(frozen=True)
class Branch:
    """A node of a tree."""

    text: str
    children: Sequence[Branch] = ()
    path: str | None = None
    ref: str = ""


@dataclass(frozen=True)
class Tree:
    """A hierarchy to show."""

    roots: Sequence[Branch]
    title: str = ""


@dataclass(frozen=True)
class Query:
    """A box for a question that a reading tool of the service answers."""

    tool: str
    argument: str
    example: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Picture:
    """A picture."""

    data: bytes
    media_type: str
    about: str


Block = Table | Fields | Message | Prose | Sheet | Month | Board | Tree | Query | Picture


@dataclass(frozen=True)
class Page:
    """A page of a service."""

    title: str
    blocks: Sequence[Block]
    places: Sequence[Link] = ()
    """The places of the service, such as folders and courses."""
    up: Link | None = None


@dataclass(frozen=True)
class Item:
    """A thing with text, for search, evidence and people; it has an owner and a date."""

    kind: str
    title: str
    text: str
    path: str
    ref: str = ""
    when: str = ""
    """ISO 8601."""
    who: Sequence[str] = ()
    """Addresses of who wrote it, and of whom it was written to; the writer first."""


@dataclass(frozen=True)
class Asked:
    """Query of a page."""

    options: Mapping[str, str] = field(default_factory=dict)
    size: int = PAGE

    @property
    def start(self) -> int:
        """Number of rows before this page."""
        given = self.options.get("from", "")
        return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0

    def number(self, name: str) -> int | None:
        """An option that is a number; None where it is none."""
        given = self.options.get(name, "")
        return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else None

    def day(self, name: str) -> dt.date | None:
        """An option that is a date; None where it is none."""
        try:
            return dt.date.fromisoformat(self.options.get(name, ""))
        except ValueError:
            return None


Show = Callable[..., Page]


class View:
    """The pages of a service."""

    def __init__(self) -> None:
        self._pages: list[tuple[re.Pattern[str], Show]] = []
        self._items: Callable[[Any], Iterator[Item]] = lambda _: iter(())

    def page(self, path: str) -> Callable[[Show], Show]:
        """Register a page for a path; ``{name}`` matches a segment, ``{name:path}`` several."""
        parts = re.split(r"(\{\w+(?::path)?\})", path)
        pattern = "".join(_part(part) for part in parts)

        def register(show: Show) -> Show:
            self._pages.append((re.compile(pattern), show))
            return show

        return register

    def items(self, find: Callable[[Any], Iterator[Item]]) -> Callable[[Any], Iterator[Item]]:
        """Register what finds all things with a text."""
        self._items = find
        return find

    def show(self, store: Any, path: str, asked: Asked) -> Page:
        """The page at a path; raises ``NotFound`` where there is none."""
        for pattern, show in self._pages:
            if found := pattern.fullmatch(path):
                return show(store, asked, **found.groupdict())
        raise NotFound(f"there is no page {path!r}")

    def find(self, store: Any) -> Iterator[Item]:
        """All things with a text."""
        return self._items(store)


def _part(part: str) -> str:
    if not part.startswith("{"):
        return re.escape(part)
    name, _, kind = part[1:-1].partition(":")
    return f"(?P<{name}>.+)" if kind else f"(?P<{name}>[^/]+)"


@cache
def load_view(service: str) -> View | None:
    """The view that a service brings; None if it has none."""
    module = find_module("servers", service, "view")
    if module is None:
        return None
    view = importlib.import_module(module).view
    assert isinstance(view, View)
    return view


def number_of(text: str) -> int:
    """A part of a path that is a number; raises ``NotFound`` where it is none."""
    if text.isascii() and text.isdigit() and len(text) < 16:
        return int(text)
    raise NotFound(f"{text!r} is no number")


class Stored(Protocol):
    """A service's store, whose rows are looked at."""

    @property
    def session(self) -> Session:
        """Its session."""


def found_in(store: Stored, kind: type[T], number: str, what: str) -> T:
    """Return the one of a kind with the number of an address; ``NotFound`` if there is none."""
    found = store.session.get(kind, number_of(number))
    if found is None:
        raise NotFound(f"there is no such {what}")
    return found


def count_of(store: Stored, kind: type, *conditions: Any) -> int:
    """Return how many of a kind meet some conditions."""
    return store.session.scalar(sql.select(sql.func.count()).select_from(kind).where(*conditions)) or 0


Columns = Mapping[str, Callable[[Any], Cell]]
"""Columns of a table: by their heads, functions that give the cell of a thing."""


def table_of(
    store: Stored, asked: Asked, kind: Any, columns: Columns, *chosen: Any, order: Sequence[Any] = ()
) -> Table:
    """The things of a kind that meet some conditions, as a table of which the page shows a part.

    Their numbers decide where the order does not.
    """
    (key,) = kind.__table__.primary_key
    some = sql.select(kind).where(*chosen).order_by(*order, key).offset(asked.start).limit(asked.size)
    rows = [
        Row([cell(one) for cell in columns.values()], ref=f"{kind.__tablename__}:{getattr(one, key.name)}")
        for one in store.session.scalars(some)
    ]
    return Table(list(columns), rows, count_of(store, kind, *chosen))


def minute_of(moment: str | None) -> str:
    """Return a stored moment as people read it, to the minute; empty for none."""
    return (moment or "")[:16].replace("T", " ")
