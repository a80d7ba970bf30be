"""The service that the tools of every topic register with, and the forms in which lists are answered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ParamSpec, TypeVar

from mesocosm.servers.canvas.store import CanvasStore, CourseAccess
from mesocosm.servers.canvas.store.access import at_home
from mesocosm.services.schema import About, Depends, Number
from mesocosm.services.service import Page, Service

# What all objects share: their address, and how numbers and unguessable texts are written.

Row = Mapping[Any, Any]

STORAGE_MB = 500


def unguessable(kind: str, key: int) -> str:
    """A text of 40 letters and digits that belongs to a row, like Canvas's uuids."""
    return hashlib.sha256(f"{kind}:{key}".encode()).hexdigest()[:40]


P = ParamSpec("P")
R = TypeVar("R")


class _Canvas(Service[CanvasStore]):
    """Tools whose results lie on the host of the university that the world is about."""

    def _register(self, function: Callable[P, R], **kind: Any) -> Callable[P, R]:
        super()._register(at_home(function), **kind)
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


def standing(listing: Page) -> dict[str, Any]:
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


# Parameters that several tools share, with what agents are told of them.

AccountId = Annotated[Number, About("The account.")]
AssignmentId = Annotated[Number, About("The assignment.")]
ModuleId = Annotated[Number, About("The module.")]
QuizId = Annotated[Number, About("The quiz.")]
QuestionId = Annotated[Number, About("The question.")]
ItemId = Annotated[Number, About("The item.")]
TopicId = Annotated[Number, About("The discussion.")]


Reading = Annotated[CourseAccess, Depends(CanvasStore.reading)]
Editing = Annotated[CourseAccess, Depends(CanvasStore.editing)]
Grading = Annotated[CourseAccess, Depends(CanvasStore.grading)]
