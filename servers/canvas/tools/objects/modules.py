"""Modules, pages and files."""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.servers.canvas.store import CanvasStore, CourseAccess
from mesocosm.servers.canvas.tools.objects.values import Row, address
from mesocosm.services.schema import Json
from mesocosm.services.shapes import same


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
