"""Modules, pages and files."""

from __future__ import annotations

from typing import Any, Literal, Required, TypedDict, Unpack

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.tools.objects import (
    file_json,
    folder_json,
    full_page_json,
    module_item_json,
    modules_json,
    page_json,
)
from mesocosm.servers.canvas.tools.service import CourseId, ModuleId, PageNumber, page_of, page_with, server
from mesocosm.services.schema import Number
from mesocosm.services.service import Page


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
    store: CanvasStore, course_id: CourseId, page: PageNumber = 1, per_page: int = 10
) -> Page:
    """List the modules of a course in their order, with your progress (state) in each.

    Args:
        per_page: Modules per page, 1 to 100.
    """
    access = store.reading(course_id)
    listing = store.modules.listed(access, page, per_page)
    return page_with(listing, modules_json(store, access, listing.rows))


@server.reads
def canvas_get_module(store: CanvasStore, course_id: CourseId, module_id: ModuleId) -> dict[str, Any]:
    """Read one module, without its items (see canvas_list_module_items)."""
    access = store.reading(course_id)
    return modules_json(store, access, [store.modules.module(access, module_id)])[0]


@server.reads
def canvas_list_module_items(
    store: CanvasStore, course_id: CourseId, module_id: ModuleId, page: PageNumber = 1, per_page: int = 10
) -> Page:
    """List the items of a module in their order, and which of them you have completed.

    Args:
        per_page: Items per page, 1 to 100.
    """
    listing = store.modules.items(store.reading(course_id), module_id, page, per_page)
    return page_of(listing, lambda item: module_item_json(item, course_id))


@server.reads
def canvas_get_module_item(
    store: CanvasStore, course_id: CourseId, module_id: ModuleId, item_id: Number
) -> dict[str, Any]:
    """Read one item of a module.

    Args:
        item_id: The item.
    """
    return module_item_json(store.modules.item(store.reading(course_id), module_id, item_id), course_id)


@server.writes(idempotent=True)
def canvas_mark_module_item_complete(
    store: CanvasStore, course_id: CourseId, module_id: ModuleId, item_id: Number
) -> dict[str, Any]:
    """Mark an item of a module as done by you. Items of a locked module, or out of order, are refused.

    Args:
        item_id: The item.
    """
    return module_item_json(store.modules.complete(store.reading(course_id), module_id, item_id), course_id)


@server.writes
def canvas_create_module(
    store: CanvasStore, course_id: Number, **module: Unpack[NewModule]
) -> dict[str, Any]:
    """Create a module in a course, unpublished unless told otherwise. For the course's staff.

    Args:
        course_id: The course.
        name: Name of the module.
        position: Its place, from 1; modules from there on move down. By default it comes last.
        unlock_at: When it opens (ISO 8601).
        require_sequential_progress: Whether its items must be completed in order.
        prerequisite_module_ids: Modules before it that must be completed first.
        published: Whether students see it.
    """
    access = store.editing(course_id)
    return modules_json(store, access, [store.modules.create_module(access, module)])[0]


@server.writes
def canvas_create_module_item(
    store: CanvasStore, course_id: Number, module_id: Number, **item: Unpack[NewItem]
) -> dict[str, Any]:
    """Add an item to a module. For the course's staff.

    Args:
        course_id: The course.
        module_id: The module.
        title: Title of the item.
        type: What it points to.
        content_id: Id of the assignment, quiz, file, page or discussion, which must be of the same course.
        html_url: Like url, if that is left out.
        url: The address that an ExternalUrl or ExternalTool points to.
        position: Its place in the module, from 1; items from there on move down. By default it comes last.
        indent: How far it is indented, 0 to 5.
        published: Whether students see it; by default if what it points to is published.
    """
    return module_item_json(store.modules.create_item(store.editing(course_id), module_id, item), course_id)


# -- pages and files --------------------------------------------------------------------------------------


@server.reads
def canvas_list_pages(
    store: CanvasStore, course_id: CourseId, page: PageNumber = 1, per_page: int = 10
) -> Page:
    """List the pages of a course by title, without their text (see canvas_get_page).

    Args:
        per_page: Pages per page, 1 to 100.
    """
    return page_of(store.pages.listed(store.reading(course_id), page, per_page), page_json)


@server.reads
def canvas_get_page(store: CanvasStore, course_id: CourseId, page_url: str) -> dict[str, Any]:
    """Read one page with its text.

    Args:
        page_url: The page's url as the list gives it, e.g. course-overview.
    """
    return full_page_json(store.pages.page(store.reading(course_id), page_url))


@server.reads
def canvas_list_files(
    store: CanvasStore,
    course_id: CourseId,
    folder_id: Number | None = None,
    page: PageNumber = 1,
    per_page: int = 10,
) -> Page:
    """List the files of a course, or of one of its folders, by name.

    Args:
        folder_id: Only the files that lie in this folder.
        per_page: Files per page, 1 to 100.
    """
    return page_of(store.pages.files(store.reading(course_id), folder_id, page, per_page), file_json)


@server.reads
def canvas_get_file(store: CanvasStore, file_id: Number) -> dict[str, Any]:
    """Read the record of a file: name, type, size and address.

    Args:
        file_id: The file.
    """
    return file_json(store.pages.file(file_id))


@server.reads
def canvas_list_folders(
    store: CanvasStore, course_id: CourseId, page: PageNumber = 1, per_page: int = 10
) -> Page:
    """List all folders of a course's files by path.

    Args:
        per_page: Folders per page, 1 to 100.
    """
    return page_of(store.pages.folders(store.reading(course_id), page, per_page), folder_json)
