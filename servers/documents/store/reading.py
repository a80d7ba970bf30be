"""Reading documents: metadata, pages of text, earlier versions, images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import bindparam, func, select, union_all

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.documents.models import Comment, Document, Picture, Version
from mesocosm.servers.documents.store.access import (
    LARGEST,
    DocumentsPart,
    Item,
    Listing,
    page_bounds,
    within_reach,
)
from mesocosm.servers.documents.store.pictures import draw, read_matrix
from mesocosm.services.service import Image, Paging, Row

Unit = Literal["characters", "lines"]

DEFAULT_LIMIT = {"characters": 20_000, "lines": 500}
MAX_LIMIT = {"characters": 100_000, "lines": 5_000}

_ABOUT = [column for column in Document.__table__.c if column.name not in ("content", "plain")]
_DOCUMENT = (
    select(
        *_ABOUT,
        Picture.media_type,
        Picture.width,
        Picture.height,
        select(func.count())
        .where(
            Comment.document == Document.number,
            Comment.thread.is_(None),
            Comment.resolved_at.is_(None),
            Comment.deleted.is_(False),
        )
        .scalar_subquery()
        .label("open_comments"),
    )
    .outerjoin(Picture, Picture.number == Document.picture)
    .where(Document.number == bindparam("number"))
)
_SOURCE = select(Document.id).where(Document.number == bindparam("number"))
_HEAD = select(
    Document.version, Document.characters, Document.type, Document.picture, Document.transform
).where(Document.number == bindparam("number"))
_PART = select(
    func.substr(Document.content, bindparam("offset") + 1, bindparam("limit")).label("part")
).where(Document.number == bindparam("number"))
_CONTENT = select(Document.content).where(Document.number == bindparam("number"))
_OLD_HEAD = select(Version.version, Version.characters).where(
    Version.document == bindparam("number"), Version.version == bindparam("version")
)
_OLD_CONTENT = select(Version.content).where(
    Version.document == bindparam("number"), Version.version == bindparam("version")
)
_PICTURE = select(Picture.data, Picture.media_type).where(Picture.number == bindparam("number"))
_VERSIONS = (
    union_all(
        select(
            Document.version,
            Document.characters,
            Document.updated_at.label("created_at"),
            Document.updated_by.label("created_by"),
        ).where(Document.number == bindparam("number")),
        select(Version.version, Version.characters, Version.created_at, Version.created_by).where(
            Version.document == bindparam("number")
        ),
    )
).subquery()
_VERSION_PAGE = (
    select(_VERSIONS)
    .order_by(_VERSIONS.c.version.desc())
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_LISTED = [
    column for column in Document.__table__.c if column.name in ("id", "title", "type", "owner", "characters")
]
_RECENT = (
    select(*_LISTED, Document.updated_at, Document.updated_by)
    .where(
        Document.trashed_at.is_(None),
        within_reach(Document, Document.folder),
        Document.type.like(bindparam("type")),
        Document.updated_at > bindparam("since"),
    )
    .order_by(Document.updated_at.desc(), Document.number.desc())
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_RECENT_TOTAL = select(func.count().label("total")).where(
    Document.trashed_at.is_(None),
    within_reach(Document, Document.folder),
    Document.type.like(bindparam("type")),
    Document.updated_at > bindparam("since"),
)


@dataclass(frozen=True)
class TextPart:
    """A stretch of a document's text."""

    text: str
    unit: Unit
    offset: int
    next_offset: int | None
    total: int
    """Of the whole text, in the unit."""

    @property
    def is_whole(self) -> bool:
        """True if this is everything."""
        return self.offset == 0 and self.next_offset is None


@dataclass(frozen=True)
class About:
    """Metadata of a document."""

    item: Item
    row: Row
    path: str
    source: str | None
    """Id of the document that an image was derived from."""


class Reading(DocumentsPart):
    """Reading of documents."""

    def about(self, file_id: str) -> About:
        """Return the metadata of a document, even one in the trash."""
        item = self.document(file_id, trashed=True)
        row = self.fetch(_DOCUMENT, number=item.number)[0]
        derived = self.fetch(_SOURCE, number=row["derived_from"]) if row["derived_from"] else []
        return About(item, row, self.store.items.path(item), derived[0]["id"] if derived else None)

    def read(
        self, file_id: str, offset: int = 0, limit: int | None = None, unit: Unit = "characters"
    ) -> tuple[TextPart, Image | None]:
        """A stretch of a document's text and, of an image, the image."""
        item = self.document(file_id)
        head = self.fetch(_HEAD, number=item.number)[0]
        size = _bounds(offset, limit, unit)
        if unit == "lines":
            part = _lines(str(self.fetch(_CONTENT, number=item.number)[0]["content"]), offset, size)
        else:
            _check_offset(offset, head["characters"], unit)
            found = self.fetch(_PART, number=item.number, offset=offset, limit=size)
            part = _characters(str(found[0]["part"]), offset, head["characters"])
        return part, self.picture(head["picture"], head["transform"]) if head["picture"] else None

    def picture(self, number: int, transform: str | None) -> Image:
        """A picture as a document shows it."""
        row = self.fetch(_PICTURE, number=number)[0]
        return Image(*draw(row["data"], row["media_type"], read_matrix(transform)))

    def recent(self, type: str | None, since: str | None, paging: Paging) -> Listing:
        """One page of all documents that the user may see, the last changed first."""
        limit, offset = page_bounds(paging)
        filters = {**self.reach(), "type": type or "%", "since": since or ""}
        total = int(self.fetch(_RECENT_TOTAL, **filters)[0]["total"])
        return Listing(self.fetch(_RECENT, limit=limit, offset=offset, **filters), *paging, total)

    # -- versions ---------------------------------------------------------------------------------------

    def versions(self, file_id: str, paging: Paging) -> Listing:
        """One page of a document's versions, the present one first."""
        limit, offset = page_bounds(paging)
        item = self.document(file_id)
        total = int(self.fetch(_HEAD, number=item.number)[0]["version"])
        rows = self.fetch(_VERSION_PAGE, number=item.number, limit=limit, offset=offset)
        return Listing(rows, *paging, total)

    def read_version(
        self, file_id: str, version: int, offset: int = 0, limit: int | None = None, unit: Unit = "characters"
    ) -> TextPart:
        """A stretch of the text of a version."""
        item = self.document(file_id)
        text, size = self.version_text(item, version), _bounds(offset, limit, unit)
        if unit == "lines":
            return _lines(text, offset, size)
        _check_offset(offset, len(text), unit)
        return _characters(text[offset : offset + size], offset, len(text))

    def version_text(self, item: Item, version: int) -> str:
        """The whole text of a version."""
        now = int(self.fetch(_HEAD, number=item.number)[0]["version"])
        if not 1 <= version <= now:
            raise NotFound(
                f"Version not found: {version}. The document {item.id} has the versions 1 to {now}."
            )
        if version == now:
            return str(self.fetch(_CONTENT, number=item.number)[0]["content"])
        return str(self.fetch(_OLD_CONTENT, number=item.number, version=version)[0]["content"])


def _bounds(offset: int, limit: int | None, unit: Unit) -> int:
    if not 0 <= offset <= LARGEST:
        raise Invalid(f"offset must be 0 or more, got {offset}.")
    if limit is not None and not 1 <= limit <= MAX_LIMIT[unit]:
        raise Invalid(f"limit must be between 1 and {MAX_LIMIT[unit]} {unit}, got {limit}.")
    return limit or DEFAULT_LIMIT[unit]


def _check_offset(offset: int, total: int, unit: Unit) -> None:
    if offset > 0 and offset >= total:
        raise Invalid(f"offset {offset} is beyond the end: the document has {total} {unit}.")


def _characters(text: str, offset: int, total: int) -> TextPart:
    end = offset + len(text)
    return TextPart(text, "characters", offset, end if end < total else None, total)


def _lines(text: str, offset: int, limit: int) -> TextPart:
    # Not splitlines: only line feeds end a line, as in every editor.
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    _check_offset(offset, len(lines), "lines")
    chosen = _as_fits(lines[offset : offset + limit])
    end = offset + len(chosen)
    return TextPart("\n".join(chosen), "lines", offset, end if end < len(lines) else None, len(lines))


def _as_fits(lines: Sequence[str]) -> Sequence[str]:
    """The first lines, as many as one result can hold."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line) + 1
        if size > MAX_LIMIT["characters"]:
            if count == 0:
                raise Invalid("The line is too long to be read whole; read by characters.")
            return lines[:count]
    return lines
