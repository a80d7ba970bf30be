"""The service that the tools of every topic register with, and the forms in which lists are answered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

from mesocosm.servers.canvas.store import CanvasStore, Listing
from mesocosm.services.schema import About, Number
from mesocosm.services.service import Page, Service

# What all objects share: their address, and how numbers and unguessable texts are written.

Row = Mapping[Any, Any]

ADDRESS = "https://canvas.brookfield.example"
"""Address of the pages if nothing is known of whose Canvas it is."""
STORAGE_MB = 500
_host: ContextVar[Callable[[], str]] = ContextVar("host", default=lambda: ADDRESS)


@contextmanager
def hosted(host: Callable[[], str]) -> Iterator[None]:
    """Objects that are made meanwhile lie on this host; it is asked at most once."""
    known: list[str] = []

    def asked() -> str:
        if not known:
            known.append(host())
        return known[0]

    token = _host.set(asked)
    try:
        yield
    finally:
        _host.reset(token)


def address() -> str:
    """Address of the pages of the Canvas whose objects are being made."""
    return _host.get()()


def number(value: float | None) -> float | int | None:
    """A whole number without its ``.0``; one that no float holds exactly stays a float, as JSON has it."""
    return int(value) if value is not None and abs(value) < 2**53 and value == int(value) else value


def unguessable(kind: str, key: int) -> str:
    """A text of 40 letters and digits that belongs to a row, like Canvas's uuids."""
    return hashlib.sha256(f"{kind}:{key}".encode()).hexdigest()[:40]


P = ParamSpec("P")
R = TypeVar("R")


class _Canvas(Service[CanvasStore]):
    """Tools whose results lie on the host of the university that the world is about."""

    def _register(self, function: Callable[P, R], **kind: Any) -> Callable[P, R]:
        @wraps(function)
        def at_home(*args: P.args, **values: P.kwargs) -> R:
            [store, *_] = args
            assert isinstance(store, CanvasStore)
            with hosted(lambda: store.host() or ADDRESS):
                return function(*args, **values)

        super()._register(at_home, **kind)
        return function


server = _Canvas(
    "canvas",
    CanvasStore,
    instructions=(
        "Canvas, the learning management system, seen by the signed-in user. Lists come in pages of 10 unless"
        " per_page says otherwise (at most 100); a second block with next_page follows when there is more."
        " Times are UTC."
    ),
)


def page_of(listing: Listing, shown: Callable[[Any], Any]) -> Page:
    """A listing as a page of objects."""
    return page_with(listing, (shown(row) for row in listing.rows))


def page_with(listing: Listing, items: Iterable[Any]) -> Page:
    """A listing whose objects are made already."""
    return Page(list(items), listing.page, listing.per_page, listing.total)


def paging(listing: Listing) -> dict[str, Any]:
    """Where a list inside an object stands."""
    more = listing.page * listing.per_page < listing.total
    return {
        "page": listing.page,
        "per_page": listing.per_page,
        "total": listing.total,
        "next_page": listing.page + 1 if more else None,
    }


def given(**fields: Any) -> dict[str, Any]:
    """The fields that the caller gave."""
    return {name: value for name, value in fields.items() if value is not None}


AccountId = Annotated[Number, About("The account.")]
PageNumber = Annotated[int, About("Page number, from 1.")]
CoursesPerPage = Annotated[int, About("Courses per page, 1 to 100.")]
CourseId = Annotated[Number, About("The course.")]
AssignmentId = Annotated[Number, About("The assignment.")]
ModuleId = Annotated[Number, About("The module.")]
QuizId = Annotated[Number, About("The quiz.")]
