"""Tools for what documents were before."""

from __future__ import annotations

from typing import Annotated, Any

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.documents.tools.service import FileId, Limit, Offset, Unit, page_view, part_view, server
from mesocosm.services.schema import Json
from mesocosm.services.service import Paging, paged


@server.reads
def list_versions(
    store: DocumentsStore, file_id: FileId, paging: Annotated[Paging, paged("Versions", 20)]
) -> Json:
    """List the versions of a document, the present one first: every change of the text made one."""
    names = ("version", "characters", "created_at", "created_by")
    listing = store.reading.versions(file_id, paging)
    return page_view(listing, "versions", lambda row: {name: row[name] for name in names})


@server.reads(long=True)
def read_version(
    store: DocumentsStore,
    file_id: FileId,
    version: int,
    offset: Offset = 0,
    limit: Limit | None = None,
    unit: Unit = "characters",
) -> tuple[Any, ...]:
    """Read the text that a document had in a version; long texts come in stretches as with read_document.

    Args:
        version: Number of the version, from list_versions.
    """
    return part_view(store.reading.read_version(file_id, version, offset, limit, unit))


@server.writes(destructive=True, idempotent=True)
def restore_version(store: DocumentsStore, file_id: FileId, version: int) -> Json:
    """Make the text of an earlier version the present one. Nothing is lost: it becomes a new version.

    Args:
        version: Number of the version to go back to.
    """
    row = store.reading.about(store.writing.restore_version(file_id, version).id).row
    return {name: row[name] for name in ("id", "title", "version", "characters", "updated_at")}
