"""Pages of courses, the front page among them."""

from __future__ import annotations

from typing import Any, TypedDict

from mesocosm.servers.canvas.rest.api import Editing, Paged, Reading, api
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.tools.modules import full_page_json, page_json
from mesocosm.servers.canvas.tools.service import Row
from mesocosm.services.schema import Json
from mesocosm.services.service import Page


class PageFields(TypedDict, total=False):
    """Fields of a page from a client."""

    title: str
    body: str
    published: bool
    front_page: bool


def _page(page: Row) -> Json:
    return full_page_json(page) | {"hide_from_students": not page["published"], "locked_for_user": False}


@api.get("/courses/{course_id}/pages")
def list_pages(
    store: CanvasStore,
    access: Reading,
    paging: Paged,
    sort: str = "title",
    order: str = "asc",
    search_term: str | None = None,
    published: bool | None = None,
) -> Page:
    """The pages of a course, without their text."""
    listing = store.pages.listed(
        access, paging, sort=sort, order=order, search_term=search_term, published=published
    )
    return listing.of(page_json)


@api.get("/courses/{course_id}/pages/{url}")
def get_page(store: CanvasStore, access: Reading, url: str) -> dict[str, Any]:
    """One page with its text."""
    return _page(store.pages.page(access, url))


@api.get("/courses/{course_id}/front_page")
def get_front_page(store: CanvasStore, access: Reading) -> dict[str, Any]:
    return _page(store.pages.front_page(access))


@api.post("/courses/{course_id}/pages")
def create_page(store: CanvasStore, access: Editing, wiki_page: PageFields) -> dict[str, Any]:
    return _page(store.pages.create_page(access, {"title": "", **wiki_page}))


@api.put("/courses/{course_id}/pages/{url}")
def update_page(store: CanvasStore, access: Editing, url: str, wiki_page: PageFields) -> dict[str, Any]:
    """Change a page."""
    return _page(store.pages.update_page(access, url, dict(wiki_page)))


@api.put("/courses/{course_id}/front_page")
def update_front_page(store: CanvasStore, access: Editing, wiki_page: PageFields) -> dict[str, Any]:
    """Change the front page."""
    return _page(store.pages.update_page(access, store.pages.front_page(access)["url"], dict(wiki_page)))


@api.delete("/courses/{course_id}/pages/{url}")
def delete_page(store: CanvasStore, access: Editing, url: str) -> dict[str, Any]:
    return _page(store.pages.delete_page(access, url))
