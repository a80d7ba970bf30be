"""Tools for spaces and folders, and for moving, renaming and deleting what is in them."""

from __future__ import annotations

from typing import Annotated, Any

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.documents.store.access import ROLES
from mesocosm.servers.documents.tools.service import ItemId, MovableId, given, item_view, page_view, server
from mesocosm.services.schema import Json
from mesocosm.services.service import Paging, paged


@server.reads
def list_spaces(store: DocumentsStore, paging: Annotated[Paging, paged("Spaces", 20)]) -> Json:
    """List the spaces that you can see, your personal one first, each with your role."""
    return page_view(store.items.spaces(paging), "spaces", _space)


def _space(row: Any) -> Json:
    return given(
        id=row["id"],
        name=row["name"],
        description=row["description"],
        personal=row["personal"] or None,
        owner=row["owner"],
        role=ROLES[row["rank"]],
    )


@server.writes
def create_space(store: DocumentsStore, name: str, description: str | None = None) -> Json:
    """Create a space that you own, and return it.

    Args:
        name: Name of the space.
        description: What it is for.
    """
    return item_view(store.item(store.items.create_space(name, description)))


@server.reads
def list_folder(
    store: DocumentsStore, folder_id: str | None = None, *, paging: Annotated[Paging, paged("Items", 50)]
) -> Json:
    """List what is in a folder or at the root of a space: folders first, then documents, by name.

    Args:
        folder_id: The id of a folder or a space; your personal space if left out.
    """
    here, listing = store.items.contents(folder_id, paging)
    return {"id": here.id, "path": store.items.path(here), "role": here.role} | page_view(
        listing, "items", _content
    )


def _content(row: Any) -> Json:
    names = ("id", "name", "type", "owner", "characters", "updated_at")
    return given(**{name: row[name] for name in names})


@server.writes
def create_folder(store: DocumentsStore, name: str, parent_id: str | None = None) -> Json:
    """Create a folder, and return it.

    Args:
        name: Name of the folder.
        parent_id: The folder or space to create it in; your personal space if left out.
    """
    made = store.item(store.items.create_folder(name, parent_id))
    return item_view(made) | {"path": store.items.path(made)}


@server.writes(idempotent=True)
def rename_item(store: DocumentsStore, item_id: ItemId, name: str) -> Json:
    """Give a document, folder or space another name.

    Args:
        name: The new name.
    """
    return item_view(store.items.rename(item_id, name))


@server.writes(idempotent=True)
def move_item(store: DocumentsStore, item_id: MovableId, destination_id: str) -> Json:
    """Move a document, or a folder with all that is in it, into another folder or space.

    Args:
        destination_id: The id of the folder or space to move it to.
    """
    moved = store.items.move(item_id, destination_id)
    return item_view(moved) | {"path": store.items.path(moved)}


@server.writes(destructive=True)
def delete_item(store: DocumentsStore, item_id: MovableId) -> str:
    """Move a document, or a folder with all that is in it, to the trash. restore_item brings it back."""
    item = store.items.delete(item_id)
    return f"Moved the {item.kind} {item.name!r} ({item.id}) to the trash."


@server.writes
def restore_item(store: DocumentsStore, item_id: MovableId) -> Json:
    """Bring a document, or a folder with what was deleted with it, back from the trash."""
    item = store.items.restore(item_id)
    return item_view(item) | {"path": store.items.path(item)}


@server.reads
def list_trash(store: DocumentsStore, paging: Annotated[Paging, paged("Items", 20)]) -> Json:
    """List what is in the trash, the latest first. What is in a deleted folder is not listed by itself."""
    names = ("id", "name", "type", "owner", "trashed_at")
    return page_view(store.items.trash(paging), "items", lambda row: {name: row[name] for name in names})
