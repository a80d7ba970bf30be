"""Modules and their items, and pages, the front page among them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypedDict

from mesocosm.doors.request import Request
from mesocosm.servers.canvas.rest.api import Editing, Paged, Reading, api, here
from mesocosm.servers.canvas.store import CanvasStore, CourseAccess, values
from mesocosm.servers.canvas.store.modules import ITEM_TYPES
from mesocosm.servers.canvas.tools.modules import full_page_json, module_item_json, modules_json, page_json
from mesocosm.servers.canvas.tools.service import Row
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Paging

MAX_INLINE = 100
"""Canvas leaves out the items of a module that has more, even if they are asked for."""


class ModuleFields(TypedDict, total=False):
    """Fields of a module from a client."""

    name: str
    unlock_at: str
    position: int
    require_sequential_progress: bool
    prerequisite_module_ids: list[int]
    published: bool


class ItemFields(TypedDict, total=False):
    """Fields of a module item from a client."""

    title: str
    type: str
    content_id: int
    page_url: str
    external_url: str
    position: int
    indent: int
    published: bool
    module_id: int


def _modules(
    store: CanvasStore,
    request: Request,
    access: CourseAccess,
    modules: Sequence[Row],
    include: Collection[str] = (),
) -> list[Json]:
    shown = [here(request, module, "items_url") for module in modules_json(store, access, modules)]
    for module in shown:
        module["publish_final_grade"] = False
        module["completed_at"] = None
        if "items" in include and module["items_count"] <= MAX_INLINE:
            items = store.modules.items(access, module["id"], Paging(1, MAX_INLINE)).items
            module["items"] = [_item(request, item, access) for item in items]
    return shown


def _item(request: Request, item: Row, access: CourseAccess) -> Json:
    shown = here(request, module_item_json(item, access.course["id"]), "url") | {"new_tab": False}
    if item["type"] != "SubHeader":
        done = bool(item["completed"])
        shown["completion_requirement"] = {"type": "must_mark_done", "completed": done}
    return shown


@api.get("/courses/{course_id}/modules")
def list_modules(
    store: CanvasStore,
    request: Request,
    access: Reading,
    paging: Paged,
    search_term: str | None = None,
    include: list[str] | None = None,
) -> Page:
    listing = store.modules.listed(access, paging, search_term=search_term)
    return listing.holding(_modules(store, request, access, listing.items, include or ()))


@api.get("/courses/{course_id}/modules/{module_id:int}")
def get_module(
    store: CanvasStore, request: Request, access: Reading, module_id: int, include: list[str] | None = None
) -> dict[str, Any]:
    return _modules(store, request, access, [store.modules.module(access, module_id)], include or ())[0]


@api.post("/courses/{course_id}/modules")
def create_module(
    store: CanvasStore, request: Request, access: Editing, module: ModuleFields
) -> dict[str, Any]:
    return _modules(store, request, access, [store.modules.create_module(access, {"name": "", **module})])[0]


@api.put("/courses/{course_id}/modules/{module_id:int}")
def update_module(
    store: CanvasStore, request: Request, access: Editing, module_id: int, module: ModuleFields
) -> dict[str, Any]:
    """Change a module, or move it."""
    return _modules(store, request, access, [store.modules.update_module(access, module_id, dict(module))])[0]


@api.delete("/courses/{course_id}/modules/{module_id:int}")
def delete_module(store: CanvasStore, request: Request, access: Editing, module_id: int) -> dict[str, Any]:
    [shown] = _modules(store, request, access, [store.modules.module(access, module_id)])
    store.modules.delete_module(access, module_id)
    return shown


@api.get("/courses/{course_id}/modules/{module_id:int}/items")
def list_items(store: CanvasStore, request: Request, access: Reading, paging: Paged, module_id: int) -> Page:
    return store.modules.items(access, module_id, paging).of(lambda item: _item(request, item, access))


@api.get("/courses/{course_id}/modules/{module_id:int}/items/{item_id:int}")
def get_item(
    store: CanvasStore, request: Request, access: Reading, module_id: int, item_id: int
) -> dict[str, Any]:
    return _item(request, store.modules.item(access, module_id, item_id), access)


@api.post("/courses/{course_id}/modules/{module_id:int}/items")
def create_item(
    store: CanvasStore, request: Request, access: Editing, module_id: int, module_item: ItemFields
) -> dict[str, Any]:
    """Add an item to a module; a page is named by its address."""
    kind = values.choice(module_item.get("type", ""), "type", ITEM_TYPES)
    fields: dict[str, Any] = {"title": "No Title", **module_item}
    if kind == "Page" and "page_url" in module_item:
        fields["content_id"] = store.pages.page(access, module_item["page_url"])["id"]
    if "external_url" in module_item:
        fields["url"] = module_item["external_url"]
    return _item(request, store.modules.create_item(access, module_id, fields), access)


@api.put("/courses/{course_id}/modules/{module_id:int}/items/{item_id:int}")
def update_item(
    store: CanvasStore,
    request: Request,
    access: Editing,
    module_id: int,
    item_id: int,
    module_item: ItemFields,
) -> dict[str, Any]:
    """Change an item of a module, or move it."""
    settled = ("type", "content_id", "page_url")
    fields = {name: value for name, value in module_item.items() if name not in settled}
    return _item(request, store.modules.update_item(access, module_id, item_id, fields), access)


@api.delete("/courses/{course_id}/modules/{module_id:int}/items/{item_id:int}")
def delete_item(
    store: CanvasStore, request: Request, access: Editing, module_id: int, item_id: int
) -> dict[str, Any]:
    """Take an item out of a module."""
    return _item(request, store.modules.delete_item(access, module_id, item_id), access)


@api.put("/courses/{course_id}/modules/{module_id:int}/items/{item_id:int}/done")
def mark_done(
    store: CanvasStore, request: Request, access: Reading, module_id: int, item_id: int
) -> dict[str, Any]:
    return _item(request, store.modules.complete(access, module_id, item_id), access)


@api.delete("/courses/{course_id}/modules/{module_id:int}/items/{item_id:int}/done")
def mark_not_done(
    store: CanvasStore, request: Request, access: Reading, module_id: int, item_id: int
) -> dict[str, Any]:
    """Take back that an item is done."""
    return _item(request, store.modules.uncomplete(access, module_id, item_id), access)


# -- pages ----------------------------------------------------------------------------------------------


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
