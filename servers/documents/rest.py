"""Documents: a small REST API of its own, described by OpenAPI at ``/openapi.json``.

Its routes are the tools under resource-like paths, so both say the same; what a tool answers with a sentence
is answered here without a body, and a document's content comes as what it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mesocosm.doors.rest import Api, bearer
from mesocosm.servers.documents.tools import comments, documents, items, sharing, versions
from mesocosm.services.service import Image, Reply


def _error(status: int, message: str, code: str | None) -> dict[str, Any]:
    return {"error": {"status": status, "code": code, "message": message}}


api = Api("documents", "/v1", authenticate=bearer("Bearer"), error=_error, described=True)
operations = api.operations


def _without_body(function: Callable[..., Any]) -> Callable[..., None]:
    """The same, but what it returns is not shown."""

    @functools.wraps(function)
    def quiet(*args: Any, **values: Any) -> None:
        function(*args, **values)

    return quiet


def _content(function: Callable[..., tuple[Any, ...]]) -> Callable[..., Reply]:
    """The same, but the content comes as it is, and where the stretch ends in headers."""

    @functools.wraps(function)
    def raw(*args: Any, **values: Any) -> Reply:
        blocks = function(*args, **values)
        for block in blocks:
            if isinstance(block, Image):
                return Reply(block.data, media_type=block.media_type)
        where = blocks[1] if len(blocks) > 1 else {}
        headers = {f"X-{name.replace('_', '-').title()}": str(value) for name, value in where.items()}
        return Reply(blocks[0].encode(), headers=headers, media_type="text/plain; charset=utf-8")

    return raw


api.get("/me")(sharing.get_current_user)
api.get("/users")(sharing.list_users)

api.get("/spaces")(items.list_spaces)
api.post("/spaces", status=201)(items.create_space)
api.get("/folders")(items.list_folder)
api.get("/folders/{folder_id}")(items.list_folder)
api.post("/folders", status=201)(items.create_folder)

api.get("/documents")(documents.list_recent_documents)
api.get("/search")(documents.search_documents)
api.post("/documents", status=201)(documents.create_document)
api.get("/documents/{file_id}")(documents.get_document)
api.get("/documents/{file_id}/content")(_content(documents.read_document))
api.put("/documents/{file_id}/content")(documents.update_document)
api.patch("/documents/{file_id}/content")(documents.edit_document)
api.post("/documents/{file_id}/appendix")(documents.append_to_document)
api.post("/documents/{file_id}/copies", status=201)(documents.copy_document)

api.get("/documents/{file_id}/versions")(versions.list_versions)
api.get("/documents/{file_id}/versions/{version}/content")(_content(versions.read_version))
api.post("/documents/{file_id}/versions/{version}/restore")(versions.restore_version)

api.get("/documents/{file_id}/comments")(comments.list_comments)
api.post("/documents/{file_id}/comments", status=201)(comments.add_comment)
api.get("/comments/{comment_id}/replies")(comments.list_replies)
api.post("/comments/{comment_id}/replies", status=201)(comments.reply_to_comment)
api.patch("/comments/{comment_id}")(comments.resolve_comment)
api.delete("/comments/{comment_id}")(_without_body(comments.delete_comment))

api.patch("/items/{item_id}")(items.rename_item)
api.post("/items/{item_id}/move")(items.move_item)
api.delete("/items/{item_id}")(_without_body(items.delete_item))
api.get("/trash")(items.list_trash)
api.post("/items/{item_id}/restore")(items.restore_item)
api.get("/items/{item_id}/permissions")(sharing.list_permissions)
api.put("/items/{item_id}/permissions/{email}")(sharing.share_item)
api.delete("/items/{item_id}/permissions/{email}")(_without_body(sharing.unshare_item))
