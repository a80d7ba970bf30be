"""The service that the tools of every topic register with, and the forms in which lists are answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

from mesocosm.servers.canvas.store import CanvasStore, Listing
from mesocosm.servers.canvas.tools.objects import ADDRESS, hosted
from mesocosm.services.schema import About, Number
from mesocosm.services.service import Page, Service

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
