"""Tools for documents: finding, reading, making and changing them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.documents.store.access import Item, instant
from mesocosm.servers.documents.store.pictures import read_matrix, size_through
from mesocosm.servers.documents.tools.service import (
    FileId,
    FilePath,
    FolderId,
    Limit,
    Offset,
    Unit,
    document_view,
    given,
    page_view,
    part_view,
    server,
)
from mesocosm.services.schema import Json, Words
from mesocosm.services.service import Paging, paged

Type = Literal["text", "markdown", "html", "image"]
TextType = Literal["text", "markdown", "html"]
_MEDIA_TYPES = {"text": "text/plain", "markdown": "text/markdown", "html": "text/html"}


@server.reads
def search_documents(
    store: DocumentsStore,
    query: Words,
    folder_id: str | None = None,
    type: Type | None = None,
    *,
    paging: Annotated[Paging, paged("Documents")],
) -> Json:
    """Find documents by the words of their title and text, the best match first, with a snippet of each.

    Args:
        query: Words that must all occur, in any form; a phrase goes in double quotes.
        folder_id: Only in this folder and the folders in it, or in this space.
        type: Only documents of this type.
    """
    found = store.searching.search(query, folder_id, type, paging)
    return page_view(found, "results", lambda row: document_view(row) | {"snippet": row["snippet"]})


@server.reads
def list_recent_documents(
    store: DocumentsStore,
    type: Type | None = None,
    updated_after: str | None = None,
    *,
    paging: Annotated[Paging, paged("Documents", 20)],
) -> Json:
    """List all documents that you can see, wherever they are, the last changed first.

    Args:
        type: Only documents of this type.
        updated_after: Only documents changed after this time, such as 2025-01-15T09:00:00Z.
    """
    since = None if updated_after is None else instant(updated_after, "updated_after")
    listing = store.reading.recent(type, since, paging)
    return page_view(listing, "documents", lambda r: document_view(r) | {"updated_by": r["updated_by"]})


@server.reads
def get_document(store: DocumentsStore, file_id: FileId) -> Json:
    """Tell what a document is, without its text: title, type, where it is, size, version, times, your role."""  # noqa: E501
    about = store.reading.about(file_id)
    row = about.row
    shown: Json = given(
        id=row["id"],
        title=row["title"],
        type=row["type"],
        mime_type="image/png" if row["transform"] else row["media_type"] or _MEDIA_TYPES[row["type"]],
        path=about.path,
        owner=row["owner"],
        role=about.item.role,
        characters=row["characters"],
        version=row["version"],
        open_comments=row["open_comments"],
        created_at=row["created_at"],
        created_by=row["created_by"],
        updated_at=row["updated_at"],
        updated_by=row["updated_by"],
        derived_from=about.source,
        trashed_at=row["trashed_at"],
    )
    if row["picture"]:
        width, height = size_through(row["width"], row["height"], read_matrix(row["transform"]))
        shown |= {"width": width, "height": height}
    return shown


@server.reads(long=True)
def read_document(
    store: DocumentsStore,
    file_id: FileId,
    offset: Offset = 0,
    limit: Limit | None = None,
    unit: Unit = "characters",
) -> tuple[Any, ...]:
    """Read the text of a document; of an image, the text that goes with it and the image itself.

    A long document comes in stretches: then a second block holds next_offset, with which to go on, and total.
    """
    part, image = store.reading.read(file_id, offset, limit, unit)
    return (*part_view(part), image) if image else part_view(part)


@server.writes
def create_document(
    store: DocumentsStore,
    title: str,
    content: str,
    type: TextType = "text",
    folder_id: FolderId | None = None,
) -> Json:
    """Create a document, and return its id.

    Args:
        title: Title of the document.
        content: The whole text.
        type: What the text is written in.
    """
    return _written(store, store.document(store.writing.create(title, content, type, folder_id)))


@server.writes(destructive=True, idempotent=True)
def update_document(
    store: DocumentsStore, file_id: FileId, content: str, expected_version: int | None = None
) -> Json:
    """Replace the whole text of a document. The text before stays as a version.

    Args:
        content: The new text.
        expected_version: The version that you read; if the document has changed since, nothing is done.
    """
    return _written(store, store.writing.update(file_id, content, expected_version))


@server.writes
def append_to_document(store: DocumentsStore, file_id: FileId, content: str) -> Json:
    """Add text at the end of a document, on a new line.

    Args:
        content: The text to add.
    """
    return _written(store, store.writing.append(file_id, content))


@server.writes(destructive=True)
def edit_document(
    store: DocumentsStore, file_id: FileId, old_text: str, new_text: str, replace_all: bool = False
) -> Json:
    """Replace one passage of a document by another text.

    Args:
        old_text: The passage, exactly as it stands; it must occur once unless replace_all is set.
        new_text: What to put in its place; an empty text removes the passage.
        replace_all: Replace every occurrence.
    """
    item, count = store.writing.edit(file_id, old_text, new_text, replace_all=replace_all)
    return _written(store, item) | {"replaced": count}


@server.writes
def copy_document(
    store: DocumentsStore, file_id: FileId, title: str | None = None, folder_id: str | None = None
) -> Json:
    """Copy a document as it is now (without its versions, comments and shares), and return the copy's id.

    Args:
        title: Title of the copy; 'Copy of ...' if left out.
        folder_id: The folder or space for the copy; beside the original if left out.
    """
    return _written(store, store.document(store.writing.copy(file_id, title, folder_id)))


@server.writes
def upload_file(
    store: DocumentsStore, path: FilePath, title: str | None = None, folder_id: FolderId | None = None
) -> Json:
    """Make a document of a file in the workspace: an image (PNG, JPEG, GIF, WebP) or a text in UTF-8.

    Args:
        title: Title of the document; the name of the file if left out.
    """
    return _written(store, store.document(store.writing.upload(path, title, folder_id)))


@server.writes(destructive=True, idempotent=True)
def download_file(store: DocumentsStore, file_id: FileId, path: FilePath) -> str:
    """Write a document to a file in the workspace, replacing what was there."""
    shown, size = store.writing.download(file_id, path)
    return f"Wrote {size} bytes to {shown}."


def _written(store: DocumentsStore, item: Item) -> Json:
    row = store.reading.about(item.id).row
    names = ("id", "title", "type", "version", "characters", "updated_at")
    return {name: row[name] for name in names}
