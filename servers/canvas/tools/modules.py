"""Modules, pages and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Required, TypedDict, Unpack

from mesocosm.servers.canvas.store import CanvasStore, CourseAccess
from mesocosm.servers.canvas.store.access import address
from mesocosm.servers.canvas.tools.service import Editing, ItemId, ModuleId, Reading, Row, server
from mesocosm.services.schema import Json, Number
from mesocosm.services.service import Page, Paging, paged, same


def modules_json(store: CanvasStore, access: CourseAccess, modules: Sequence[Row]) -> list[Json]:
    """Modules with the number of their items and the user's progress."""
    counts = store.modules.item_counts(access, [module["id"] for module in modules])
    states = store.modules.states(access, modules)
    return [_module(module, counts.get(module["id"], 0), states[module["id"]]) for module in modules]


def _module(module: Row, items: int, state: str) -> Json:
    course_id, key = module["course_id"], module["id"]
    return {
        "id": key,
        "course_id": course_id,
        **same(module, "name", "position", "unlock_at", "require_sequential_progress"),
        "prerequisite_module_ids": module["prerequisite_module_ids"],
        "published": module["published"],
        "items_count": items,
        "items_url": f"{address()}/api/v1/courses/{course_id}/modules/{key}/items",
        "state": state,
    }


def module_item_json(item: Row, course_id: int) -> Json:
    """An item of a module."""
    shown: Json = {
        **same(item, "id", "module_id", "title", "type", "content_id"),
        "html_url": f"{address()}/courses/{course_id}/modules/items/{item['id']}",
        "url": _item_url(item, course_id),
        **same(item, "position", "indent", "published"),
        "completed": bool(item["completed"]),
    }
    if item["page_url"] is not None:
        shown["page_url"] = item["page_url"]
    if item["external_url"] is not None:
        shown["external_url"] = item["external_url"]
    return shown


_ITEM_PATHS = {
    "Assignment": "assignments",
    "Quiz": "quizzes",
    "File": "files",
    "Page": "pages",
    "Discussion": "discussion_topics",
}


def _item_url(item: Row, course_id: int) -> str | None:
    if item["type"] not in _ITEM_PATHS:
        return None
    target = item["page_url"] or item["content_id"]
    return f"{address()}/api/v1/courses/{course_id}/{_ITEM_PATHS[item['type']]}/{target}"


def page_json(page: Row) -> Json:
    """A page without its body."""
    return {
        "page_id": page["id"],
        **same(page, "url", "title", "published", "front_page"),
        "editing_roles": "teachers",
        "created_at": page["created_at"],
        "updated_at": page["updated_at"],
        "html_url": f"{address()}/courses/{page['course_id']}/pages/{page['url']}",
    }


def full_page_json(page: Row) -> Json:
    """A page with its body and its last editor."""
    editor = page["last_edited_by"]
    shown_editor = None if editor is None else {"id": editor, "display_name": page["editor_name"]}
    return page_json(page) | {"last_edited_by": shown_editor, "body": page["body"]}


def folder_json(folder: Row) -> Json:
    """A folder of a course's files."""
    return {
        "id": folder["id"],
        "context_type": "Course",
        "context_id": folder["course_id"],
        **same(folder, "parent_folder_id", "name", "full_name", "hidden", "created_at", "updated_at"),
        "files_url": f"{address()}/api/v1/folders/{folder['id']}/files",
    }


def file_json(file: Row) -> Json:
    """The record of a file."""
    return {
        **same(file, "id", "folder_id", "display_name"),
        "filename": file["display_name"].replace(" ", "+"),
        "content-type": file["content_type"],
        "size": file["size"],
        "url": f"{address()}/files/{file['id']}/download?download_frd=1",
        **same(file, "hidden", "locked", "created_at", "updated_at"),
    }


class NewModule(TypedDict, total=False):
    """What may be said of a new module."""

    name: Required[str]
    position: Number
    unlock_at: str
    require_sequential_progress: bool
    prerequisite_module_ids: list[Number]
    published: bool


class NewItem(TypedDict, total=False):
    """What may be said of a new item of a module."""

    title: Required[str]
    type: Required[Literal["Assignment", "Quiz", "File", "Page", "Discussion", "ExternalUrl", "ExternalTool"]]
    content_id: Number
    html_url: str
    url: str
    position: Number
    indent: Number
    published: bool


@server.reads
def canvas_list_modules(
    store: CanvasStore, access: Reading, paging: Annotated[Paging, paged("Modules")]
) -> Page:
    """List the modules of a course in their order, with your progress (state) in each."""
    listing = store.modules.listed(access, paging)
    return listing.holding(modules_json(store, access, listing.items))


@server.reads
def canvas_get_module(store: CanvasStore, access: Reading, module_id: ModuleId) -> dict[str, Any]:
    """Read one module, without its items (see canvas_list_module_items)."""
    return modules_json(store, access, [store.modules.module(access, module_id)])[0]


@server.reads
def canvas_list_module_items(
    store: CanvasStore, access: Reading, module_id: ModuleId, paging: Annotated[Paging, paged("Items")]
) -> Page:
    """List the items of a module in their order, and which of them you have completed."""
    listing = store.modules.items(access, module_id, paging)
    return listing.of(lambda item: module_item_json(item, access.course["id"]))


@server.reads
def canvas_get_module_item(
    store: CanvasStore, access: Reading, module_id: ModuleId, item_id: ItemId
) -> dict[str, Any]:
    """Read one item of a module."""
    return module_item_json(store.modules.item(access, module_id, item_id), access.course["id"])


@server.writes(idempotent=True)
def canvas_mark_module_item_complete(
    store: CanvasStore, access: Reading, module_id: ModuleId, item_id: ItemId
) -> dict[str, Any]:
    """Mark an item of a module as done by you. Items of a locked module, or out of order, are refused."""
    return module_item_json(store.modules.complete(access, module_id, item_id), access.course["id"])


@server.writes
def canvas_create_module(store: CanvasStore, access: Editing, **module: Unpack[NewModule]) -> dict[str, Any]:
    """Create a module in a course, unpublished unless told otherwise. For the course's staff.

    Args:
        name: Name of the module.
        position: Its place, from 1; modules from there on move down. By default it comes last.
        unlock_at: When it opens (ISO 8601).
        require_sequential_progress: Whether its items must be completed in order.
        prerequisite_module_ids: Modules before it that must be completed first.
        published: Whether students see it.
    """
    return modules_json(store, access, [store.modules.create_module(access, module)])[0]


@server.writes
def canvas_create_module_item(
    store: CanvasStore, access: Editing, module_id: ModuleId, **item: Unpack[NewItem]
) -> dict[str, Any]:
    """Add an item to a module. For the course's staff.

    Args:
        title: Title of the item.
        type: What it points to.
        content_id: Id of the assignment, quiz, file, page or discussion, which must be of the same course.
        html_url: Like url, if that is left out.
        url: The address that an ExternalUrl or ExternalTool points to.
        position: Its place in the module, from 1; items from there on move down. By default it comes last.
        indent: How far it is indented, 0 to 5.
        published: Whether students see it; by default if what it points to is published.
    """
    return module_item_json(store.modules.create_item(access, module_id, item), access.course["id"])


# -- pages and files --------------------------------------------------------------------------------------


@server.reads
def canvas_list_pages(store: CanvasStore, access: Reading, paging: Annotated[Paging, paged("Pages")]) -> Page:
    """List the pages of a course by title, without their text (see canvas_get_page)."""
    return store.pages.listed(access, paging).of(page_json)


@server.reads
def canvas_get_page(store: CanvasStore, access: Reading, page_url: str) -> dict[str, Any]:
    """Read one page with its text.

    Args:
        page_url: The page's url as the list gives it, e.g. course-overview.
    """
    return full_page_json(store.pages.page(access, page_url))


@server.reads
def canvas_list_files(
    store: CanvasStore,
    access: Reading,
    folder_id: Number | None = None,
    *,
    paging: Annotated[Paging, paged("Files")],
) -> Page:
    """List the files of a course, or of one of its folders, by name.

    Args:
        folder_id: Only the files that lie in this folder.
    """
    return store.files.listed(access, paging, folder_id=folder_id).of(file_json)


@server.reads
def canvas_get_file(store: CanvasStore, file_id: Number) -> dict[str, Any]:
    """Read the record of a file: name, type, size and address.

    Args:
        file_id: The file.
    """
    return file_json(store.files.file(file_id))


@server.reads
def canvas_list_folders(
    store: CanvasStore, access: Reading, paging: Annotated[Paging, paged("Folders")]
) -> Page:
    """List all folders of a course's files by path."""
    return store.files.folders(access, paging).of(folder_json)
