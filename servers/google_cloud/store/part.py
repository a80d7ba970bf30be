"""Base of the store's parts: session, project, times, pages and suggestions."""

from __future__ import annotations

import base64
import difflib
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import orjson
from sqlalchemy import Select, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

from mesocosm.errors import Invalid, Refusal
from mesocosm.servers.google_cloud.models import Project

if TYPE_CHECKING:
    from mesocosm.servers.google_cloud.store import GoogleCloudStore


class PreconditionFailed(Refusal):
    """Refusal: the resource changed since the client saw it."""

    status = 412


T = TypeVar("T")


class PartOf(Generic[T]):
    """A part of a part, made each time that it is asked for: ``tables = PartOf(WarehouseTables)``."""

    def __init__(self, part: Callable[[GoogleCloudStore], T]) -> None:
        self._part = part

    def __get__(self, owner: StorePart, kind: type[StorePart]) -> T:
        return self._part(owner.store)


class StorePart:
    """One product of the cloud, over the tables of one world. It keeps no state of its own."""

    def __init__(self, store: GoogleCloudStore) -> None:
        self.store = store

    @property
    def session(self) -> Session:
        return self.store.session

    @property
    def project(self) -> Project:
        """The project that everything belongs to."""
        return self.store.project

    @property
    def now(self) -> datetime:
        """The world's clock."""
        return self.store.now

    def added(self, row: T) -> T:
        """A new row, which is in the tables when this returns."""
        self.session.add(row)
        self.session.flush()
        return row

    def removed(self, row: Any) -> None:
        """Remove a row."""
        self.session.delete(row)
        self.session.flush()

    def page_of(
        self,
        chosen: Select[T],
        *order: InstrumentedAttribute[Any],
        asked: int | None,
        token: str | None,
        usual: int = 100,
        most: int = 1000,
        falling: bool = False,
    ) -> tuple[Sequence[T], str | None]:
        """A page of what is chosen, in the order of columns that tell it apart, and the token of the next."""
        size = page_size(asked, usual, most)
        after = read_token(token, *(column.type.python_type for column in order))
        if after:
            here, there = tuple_(*order), tuple_(*after)
            chosen = chosen.where(here < there if falling else here > there)
        ordered = chosen.order_by(*(column.desc() if falling else column for column in order))
        rows = self.session.scalars(ordered.limit(size + 1)).all()
        return cut(rows, size, lambda row: [getattr(row, column.key) for column in order])


def read_project(session: Session) -> Project:
    """The one project of the world."""
    return session.scalars(select(Project)).one()


def moment(time: datetime) -> str:
    """A time as the tables have it: whole seconds."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_moment(text: str) -> datetime:
    """A time of the tables, as it was stored by ``moment``."""
    return datetime.fromisoformat(text)


def milliseconds(text: str) -> int:
    """A time of the tables as BigQuery's API has it: milliseconds since 1970."""
    return round(read_moment(text).timestamp() * 1000)


def suggestion(name: str, known: Iterable[str]) -> str:
    """``" Did you mean 'orders'?"`` where a known name is much like it, else nothing."""
    found = difflib.get_close_matches(name[:200], list(known), n=1)
    return f" Did you mean {found[0]!r}?" if found else ""


def quoted(name: str) -> str:
    """A name as it stands in an error: of bounded length."""
    return repr(name if len(name) <= 100 else name[:97] + "...")


def page_token(*values: Any) -> str:
    """A token that says where the next page begins."""
    return base64.urlsafe_b64encode(orjson.dumps(values)).decode().rstrip("=")


def read_token(token: str | None, *kinds: type) -> tuple[Any, ...] | None:
    """Decode a page token; ``None`` without one. Raises ``Invalid`` for a forged one."""
    if not token:
        return None
    try:
        values = orjson.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except ValueError:
        values = None
    fits = isinstance(values, list) and len(values) == len(kinds)
    if not fits or not all(isinstance(value, kind) for value, kind in zip(values, kinds, strict=True)):
        raise Invalid(f"Invalid page token {quoted(token)}.", code="invalid")
    return tuple(values)


def cut(rows: Sequence[T], size: int, key: Callable[[T], Sequence[Any]]) -> tuple[Sequence[T], str | None]:
    """A page of rows of which one more was read, and the token of the next page if there is one."""
    return rows[:size], page_token(*key(rows[size - 1])) if len(rows) > size else None


def page_size(asked: int | None, usual: int, most: int, name: str = "max_results") -> int:
    """Return the page size: as requested, at most ``most``."""
    if asked is None:
        return usual
    if asked < 1:
        raise Invalid(f"Invalid value {asked} for {name}: it must be between 1 and {most}.", code="invalid")
    return min(asked, most)
