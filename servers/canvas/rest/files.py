"""Files and folders. A file is a record: its name, type and size are kept, its bytes are not."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from functools import partial
from typing import Any

from mesocosm.doors.request import Request, Upload
from mesocosm.errors import Invalid
from mesocosm.servers.canvas.rest.api import (
    UPLOADS,
    Editing,
    Paged,
    Reading,
    UserId,
    api,
    course_key,
    here,
    reading,
    user_key,
)
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.access import denied, missing
from mesocosm.servers.canvas.tools.modules import file_json, folder_json
from mesocosm.servers.canvas.tools.service import Row, given
from mesocosm.services.schema import Json
from mesocosm.services.service import Page

_TYPES = mimetypes.MimeTypes(filenames=())
"""Without what the machine knows besides, which is another thing on the next one."""


def file_view(request: Request, file: Row) -> Json:
    """A file as the REST API gives it; one that was handed in is known by less."""
    url = f"{request.base}{api.prefix}/files/{file['id']}/download"
    if "course_id" not in file:
        kept = ("id", "display_name", "size")
        return {name: file[name] for name in kept} | {"content-type": file["content_type"], "url": url}
    return file_json(file) | {
        "url": url,
        "mime_class": file["content_type"].partition("/")[0],
        "modified_at": file["updated_at"],
        "unlock_at": None,
        "lock_at": None,
        "hidden_for_user": False,
        "locked_for_user": file["locked"],
        "thumbnail_url": None,
        "upload_status": "success",
    }


def _folder(request: Request, folder: Row) -> Json:
    return here(request, folder_json(folder), "files_url") | {
        "locked": False,
        "locked_for_user": False,
        "hidden_for_user": False,
    }


# -- files ------------------------------------------------------------------------------------------------


@api.get("/courses/{course_id}/files")
def list_course_files(
    store: CanvasStore,
    request: Request,
    access: Reading,
    paging: Paged,
    search_term: str | None = None,
    content_types: list[str] | None = None,
    sort: str = "name",
    order: str = "asc",
) -> Page:
    listing = store.files.listed(
        access, paging, search_term=search_term, content_types=content_types, sort=sort, order=order
    )
    return listing.of(partial(file_view, request))


@api.get("/folders/{folder_id:int}/files")
def list_folder_files(
    store: CanvasStore,
    request: Request,
    paging: Paged,
    folder_id: int,
    search_term: str | None = None,
    content_types: list[str] | None = None,
    sort: str = "name",
    order: str = "asc",
) -> Page:
    access = store.reading(store.files.folder(folder_id)["course_id"])
    listing = store.files.listed(
        access,
        paging,
        folder_id=folder_id,
        search_term=search_term,
        content_types=content_types,
        sort=sort,
        order=order,
    )
    return listing.of(partial(file_view, request))


@api.get("/users/{user_id}/files")
def list_user_files(store: CanvasStore, request: Request, paging: Paged, user_id: UserId) -> Page:
    """One's own files."""
    if user_id != store.user_id:
        raise denied()
    return store.files.own_files(paging).of(partial(file_view, request))


@api.get("/files/{file_id:int}")
def get_file(store: CanvasStore, request: Request, file_id: int) -> dict[str, Any]:
    return file_view(request, store.files.file(file_id))


@api.get("/files/{file_id:int}/download")
def download_file(store: CanvasStore, file_id: int) -> dict[str, Any]:
    """Refuse a download: the bytes of files are not kept."""
    raise missing("content of file", store.files.file(file_id)["id"])


@api.get("/courses/{course_id}/files/{file_id:int}")
def get_course_file(store: CanvasStore, request: Request, course_id: str, file_id: int) -> dict[str, Any]:
    reading(store, course_id)
    return file_view(request, store.files.file(file_id))


@api.put("/files/{file_id:int}")
def update_file(
    store: CanvasStore,
    request: Request,
    file_id: int,
    name: str | None = None,
    hidden: bool | None = None,
    locked: bool | None = None,
) -> dict[str, Any]:
    """Rename, hide or lock a file."""
    return file_view(
        request, store.files.update_file(file_id, given(display_name=name, hidden=hidden, locked=locked))
    )


@api.delete("/files/{file_id:int}")
def delete_file(store: CanvasStore, request: Request, file_id: int) -> dict[str, Any]:
    return file_view(request, store.files.delete_file(file_id))


# -- folders ----------------------------------------------------------------------------------------------


@api.get("/courses/{course_id}/folders")
def list_folders(store: CanvasStore, request: Request, access: Reading, paging: Paged) -> Page:
    return store.files.folders(access, paging).of(partial(_folder, request))


@api.get("/courses/{course_id}/folders/by_path")
def get_root(store: CanvasStore, request: Request, access: Reading) -> list[dict[str, Any]]:
    """The root folder of a course."""
    return [_folder(request, store.files.root_folder(access))]


@api.get("/courses/{course_id}/folders/by_path/{full_path:path}")
def resolve_path(
    store: CanvasStore, request: Request, access: Reading, full_path: str
) -> list[dict[str, Any]]:
    """The folders on the way to one."""
    return [_folder(request, folder) for folder in store.files.folder_path(access, full_path)]


@api.get("/courses/{course_id}/folders/{folder_id}")
def get_course_folder(
    store: CanvasStore, request: Request, access: Reading, folder_id: str
) -> dict[str, Any]:
    """One folder of a course; ``root`` is the one that holds all."""
    if folder_id == "root":
        return _folder(request, store.files.root_folder(access))
    return _folder(request, store.files.folder(course_key(store, folder_id)))


@api.get("/folders/{folder_id:int}")
def get_folder(store: CanvasStore, request: Request, folder_id: int) -> dict[str, Any]:
    return _folder(request, store.files.folder(folder_id))


@api.get("/folders/{folder_id:int}/folders")
def list_sub_folders(store: CanvasStore, request: Request, paging: Paged, folder_id: int) -> Page:
    """The folders directly in a folder."""
    return store.files.sub_folders(store.files.folder(folder_id), paging).of(partial(_folder, request))


@api.post("/courses/{course_id}/folders")
def create_folder(
    store: CanvasStore,
    request: Request,
    access: Editing,
    name: str,
    parent_folder_id: int | None = None,
    hidden: bool = False,
) -> dict[str, Any]:
    parent = store.files.folder(parent_folder_id) if parent_folder_id else None
    return _folder(request, store.files.create_folder(access, name, parent, hidden=hidden))


@api.post("/folders/{folder_id:int}/folders")
def create_sub_folder(
    store: CanvasStore, request: Request, folder_id: int, name: str, hidden: bool = False
) -> dict[str, Any]:
    parent = store.files.folder(folder_id)
    return _folder(
        request, store.files.create_folder(store.editing(parent["course_id"]), name, parent, hidden=hidden)
    )


@api.put("/folders/{folder_id:int}")
def update_folder(
    store: CanvasStore, request: Request, folder_id: int, hidden: bool | None = None
) -> dict[str, Any]:
    """Hide or show a folder."""
    return _folder(request, store.files.update_folder(folder_id, given(hidden=hidden)))


@api.delete("/folders/{folder_id:int}")
def delete_folder(
    store: CanvasStore, request: Request, folder_id: int, force: bool = False
) -> dict[str, Any]:
    return _folder(request, store.files.delete_folder(folder_id, force=force))


# -- uploads: a client says what it has, and is told where to send it -------------------------------------


def _ticket(request: Request, name: str, **where: int | None) -> dict[str, Any]:
    places = {key: str(value) for key, value in where.items() if value is not None}
    return {
        "upload_url": request.base + UPLOADS,
        "upload_params": {"filename": name, **places},
        "file_param": "file",
    }


@api.post("/courses/{course_id}/files", writes=False)
def begin_course_upload(
    store: CanvasStore,
    request: Request,
    access: Editing,
    name: str,
    size: int = 0,
    parent_folder_id: int | None = None,
) -> dict[str, Any]:
    """Ask where to send a file for a course."""
    return _ticket(request, name, course_id=access.course["id"], folder_id=parent_folder_id)


@api.post("/folders/{folder_id:int}/files", writes=False)
def begin_folder_upload(store: CanvasStore, request: Request, folder_id: int, name: str) -> dict[str, Any]:
    """Ask where to send a file for a folder."""
    folder = store.files.folder(folder_id)
    store.editing(folder["course_id"])
    return _ticket(request, name, course_id=folder["course_id"], folder_id=folder_id)


@api.post("/users/{user_id}/files", writes=False)
def begin_own_upload(store: CanvasStore, request: Request, user_id: UserId, name: str) -> dict[str, Any]:
    """Ask where to send a file of one's own."""
    if user_id != store.user_id:
        raise denied()
    return _ticket(request, name)


@api.post("/courses/{course_id}/assignments/{assignment_id:int}/submissions/{user_id}/files", writes=False)
def begin_submission_upload(
    store: CanvasStore, request: Request, access: Reading, assignment_id: int, user_id: str, name: str
) -> dict[str, Any]:
    """Ask where to send a file that is to be handed in."""
    store.assignments.assignment(access, assignment_id)
    if user_key(store, user_id) != store.user_id:
        raise denied()
    return _ticket(request, name)


@api.post("/uploads", status=201)
def receive_upload(store: CanvasStore, request: Request) -> dict[str, Any]:
    """Take a file: its record is made of what was sent."""
    if request.media_type != "multipart/form-data":
        raise Invalid("An upload is a form of the type multipart/form-data.")
    fields = dict(request.data)
    file = fields.get("file")
    if not isinstance(file, Upload):
        raise Invalid("The form has no file.", code="file.blank")
    name = _text(fields, "filename")
    guessed = _TYPES.guess_type(name)[0] or file.media_type
    course, folder = (_whole(_text(fields, place)) for place in ("course_id", "folder_id"))
    return file_view(request, store.files.upload(course, folder, name, guessed, file.size))


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise Invalid(f"{name} is invalid", code=f"{name}.invalid")
    return value


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 19 else None
