"""The API that the routes of every topic register with, and what all of them share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from mesocosm.doors.request import Request
from mesocosm.doors.rest import Api, bearer, link_header
from mesocosm.servers.canvas.store import CanvasStore, CourseAccess
from mesocosm.servers.canvas.store.access import ADDRESS, MAX_PAGE, MAX_PER_PAGE, PER_PAGE, missing
from mesocosm.services.schema import Depends, Json
from mesocosm.services.service import Page, Paging

UPLOADS = "/api/v1/uploads"
"""Path of an upload's second step. As with Canvas, its URL alone grants access."""

_bearer = bearer("Bearer", parameter="access_token")


def _authenticate(request: Request, headers: Mapping[str, str], token: str) -> bool:
    return request.path == UPLOADS or _bearer(request, headers, token)


def _error(status: int, message: str, code: str | None) -> dict[str, Any]:
    if status == 404:
        return {"errors": [{"message": "The specified resource does not exist."}]}
    if status == 401:
        said = {"unauthenticated": "user authorization required", "expired": message}
        unknown = said.get(code or "", "Invalid access token.")
        return {"status": "unauthenticated", "errors": [{"message": unknown}]}
    if status == 403 and code == "unauthorized":
        return {"status": "unauthorized", "errors": [{"message": message}]}
    if code and "." in code:
        attribute, _, kind = code.partition(".")
        return {"errors": {attribute: [{"attribute": attribute, "type": kind, "message": message}]}}
    return {"errors": [{"message": message}]}


def _links(page: Page, request: Request) -> Mapping[str, str]:
    return {"Link": link_header(page, request, ("current", "next", "prev", "first", "last"))}


api = Api(
    "canvas",
    "/api/v1",
    authenticate=_authenticate,
    error=_error,
    page_headers=_links,
    challenge='Bearer realm="canvas-lms"',
    credentials=("access_token",),
    conventions=("page", "per_page", "include"),
    read_only=("size", "content_type", "id", "created_at", "updated_at", "html_url"),
    unknown_method=404,
)


def here(request: Request, shown: Json, *names: str) -> Json:
    """An object whose URLs of these names lie in the episode: clients follow them, and send their token."""
    return shown | {
        name: request.base + shown[name].removeprefix(ADDRESS) for name in names if shown[name] is not None
    }


def _paging(store: CanvasStore, request: Request) -> Paging:
    asked = request.asked
    page = _number(asked.get("page"), 1)
    per_page = _number(asked.get("per_page"), PER_PAGE)
    return Paging(min(page, MAX_PAGE), min(per_page, MAX_PER_PAGE))


Paged = Annotated[Paging, Depends(_paging)]
"""The requested page. Like Canvas, invalid numbers are corrected."""


def _number(said: Any, default: int) -> int:
    return max(1, int(said)) if isinstance(said, str) and _is_number(said) else default


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 19


# -- ids that clients may write in several ways -----------------------------------------------------------


def course_key(store: CanvasStore, course_id: str) -> int:
    """The id of a course: a number, or ``sis_course_id:...``."""
    return _key(store, course_id, "course")


def user_key(store: CanvasStore, user_id: str) -> int:
    """The id of a user: a number, ``self``, ``sis_user_id:...`` or ``sis_login_id:...``."""
    return store.user_id if user_id == "self" else _key(store, user_id, "user")


def account_key(store: CanvasStore, account_id: str) -> int:
    """The id of an account: a number, ``self`` or ``default`` for the root account."""
    _ = store.user_id  # where somebody is signed in, there is an account
    return (
        store.accounts.root_account_id
        if account_id in ("self", "default")
        else _key(store, account_id, "account")
    )


CourseId = Annotated[int, Depends(course_key)]
UserId = Annotated[int, Depends(user_key)]
AccountId = Annotated[int, Depends(account_key)]


def reading(store: CanvasStore, course_id: str) -> CourseAccess:
    """A course that the user may see."""
    return store.reading(course_key(store, course_id))


def editing(store: CanvasStore, course_id: str) -> CourseAccess:
    """A course whose content the user may change."""
    return store.editing(course_key(store, course_id))


Reading = Annotated[CourseAccess, Depends(reading)]
"""The course of the path, if the user may see it."""
Editing = Annotated[CourseAccess, Depends(editing)]
"""The course of the path, if the user may change its content."""


def context_courses(codes: list[str] | None) -> list[int]:
    """The courses among context codes such as ``course_5``."""
    return [_context(code, "course") for code in codes or () if code.startswith("course_")]


def context_users(codes: list[str] | None) -> list[int]:
    """The users among context codes such as ``user_7``."""
    return [_context(code, "user") for code in codes or () if code.startswith("user_")]


def _context(code: str, kind: str) -> int:
    digits = code.removeprefix(f"{kind}_")
    if not _is_number(digits):
        raise missing(kind, code)
    return int(digits)


def _key(store: CanvasStore, written: str, kind: str) -> int:
    if _is_number(written):
        return int(written)
    scheme, colon, key = written.partition(":")
    if not colon:
        raise missing(kind, written)
    return store.roster.by_sis_id(scheme, key)
