"""The service that the tools of every topic register with, and the forms that their answers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.documents.store.access import Item, Listing
from mesocosm.servers.documents.store.reading import TextPart
from mesocosm.services.schema import About, Json
from mesocosm.services.service import Service

server = Service(
    "documents",
    DocumentsStore,
    instructions=(
        "A document store: spaces hold folders and documents (text, Markdown, HTML, images). Every item has"
        " an opaque id. Lists come in pages; documents are read in stretches when they are long."
    ),
)


def page_view(listing: Listing, name: str, shown: Callable[[Any], Json]) -> Json:
    """One page of a list, and how much there is."""
    more = listing.page * listing.per_page < listing.total
    return {
        name: [shown(row) for row in listing.rows],
        "total": listing.total,
        "page": listing.page,
        "per_page": listing.per_page,
        "next_page": listing.page + 1 if more else None,
    }


def document_view(row: Any) -> Json:
    """A document in a list."""
    return {name: row[name] for name in ("id", "title", "type", "owner", "characters", "updated_at")}


def item_view(item: Item) -> Json:
    """An item that was just dealt with."""
    return {"id": item.id, "kind": item.kind, "name": item.name, "role": item.role}


def part_view(part: TextPart) -> tuple[Any, ...]:
    """A stretch of text as it is; when it is not the whole, a second block says where it stands."""
    if part.is_whole:
        return (part.text,)
    where = {"unit": part.unit, "offset": part.offset, "next_offset": part.next_offset, "total": part.total}
    return part.text, where


def given(**fields: Any) -> Json:
    """The fields that are not ``None``."""
    return {name: value for name, value in fields.items() if value is not None}


FileId = Annotated[str, About("The id of the document.")]
CommentId = Annotated[str, About("The id of the comment.")]
ImageId = Annotated[str, About("The id of the image document.")]
ItemId = Annotated[str, About("The id of the document, folder or space.")]
MovableId = Annotated[str, About("The id of the document or folder.")]
FolderId = Annotated[str, About("The folder or space to put it in; your personal space if left out.")]
FilePath = Annotated[str, About("The file in the workspace.")]
Offset = Annotated[int, About("Where to begin, counted from 0.")]
Limit = Annotated[
    int,
    About("How much to read: 20000 characters (at most 100000) or 500 lines (at most 5000) if left out."),
]
Unit = Annotated[Literal["characters", "lines"], About("Whether offset and limit count characters or lines.")]
