"""Tools for what documents were before."""

from __future__ import annotations

from typing import Any, Literal

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.documents.tools.service import FileId, PageNumber, page_view, part_view, server
from mesocosm.services.schema import Json


@server.reads
def list_versions(store: DocumentsStore, file_id: FileId, page: PageNumber = 1, per_page: int = 20) -> Json:
    """List the versions of a document, the present one first: every change of the text made one.

    Args:
        per_page: Versions per page, 1 to 100.
    """
    names = ("version", "characters", "created_at", "created_by")
    listing = store.reading.versions(file_id, page, per_page)
    return page_view(listing, "versions", lambda row: {name: row[name] for name in names})


@server.reads(long=True)
def read_version(
    store: DocumentsStore,
    file_id: FileId,
    version: int,
    offset: int = 0,
    limit: int | None = None,
    unit: Literal["characters", "lines"] = "characters",
) -> tuple[Any, ...]:
    """Read the text that a document had in a version; long texts come in stretches as with read_document.

    Args:
        version: Number of the version, from list_versions.
        offset: Where to begin, counted from 0.
        limit: How much to read: 20000 characters (at most 100000) or 500 lines (at most 5000) if left out.
        unit: Whether offset and limit count characters or lines.
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
