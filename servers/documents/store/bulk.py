"""Many documents at once: one insert for all of them, after the same checks as for one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from lxml import etree
from sqlalchemy import insert, select, text

from mesocosm.errors import Invalid
from mesocosm.servers.documents.models import Comment, Document, Picture, User
from mesocosm.servers.documents.store.access import (
    DocumentsPart,
    Item,
    clean_name,
    clean_text,
    derived_id,
    instant,
    timestamp,
)
from mesocosm.servers.documents.store.pictures import check_size, combined, inspect
from mesocosm.worlds import deadlines

TEXT_TYPES = ("text", "markdown", "html")
MAX_CHARACTERS = 5_000_000
MAX_COMMENT = 10_000
MAX_DEPTH = 512
"""Elements of HTML within each other, as in browsers."""
_CHUNK = 65_536
"""Bytes of HTML that are parsed at a time."""

_LAST_NUMBER = text("SELECT seq FROM sqlite_sequence WHERE name = :table")
_USERS = select(User.email)


class NewDocument(TypedDict, total=False):
    """A document to be stored as if it had always been there; ``title`` and ``content`` are required."""

    title: str
    content: str
    type: str
    """``text`` (the default), ``markdown`` or ``html``."""
    file_id: str
    """An id of the generator's choice; an opaque one is made where none is given."""
    owner: str
    """The address of a user; the owner of the space if left out."""
    created_at: str
    """An instant such as ``2025-01-15T09:00:00Z``, as is ``updated_at``; the world's clock if left out."""
    updated_at: str


class NewImage(TypedDict, total=False):
    """An image to be stored; ``title`` and ``data`` (PNG, JPEG, GIF or WebP) are required."""

    title: str
    data: bytes
    content: str
    """Text that is read together with the image."""
    steps: Sequence[tuple[str, *tuple[float | str, ...]]]
    """How the picture is distorted: ``("rotate", 30)`` (counter-clockwise), ``("flip", "horizontal")``,
    ``("stretch", 2, 0.5)``, ``("shear", 0.4)``, one after the other. The tools can undo it exactly."""
    file_id: str
    owner: str
    created_at: str
    updated_at: str


class NewComment(TypedDict, total=False):
    """A comment to be stored; ``author`` and ``text`` are required."""

    author: str
    text: str
    quote: str
    replies: Sequence[NewComment]
    resolved_by: str
    created_at: str


class Filling(DocumentsPart):
    """Creation by generators, and the basis of the tools' writing."""

    def place(self, item_id: str) -> Item:
        """A folder or space for a generator to fill, whoever is signed in."""
        found = self.find("folder", item_id, anybody=True) or self.find("space", item_id, anybody=True)
        if found is None:
            raise Invalid(f"There is no space or folder {item_id!r}.")
        return found

    def add_folders(self, parent_id: str, names: Iterable[str], *, owner: str | None = None) -> list[str]:
        """New folders in a space or folder, each named by a path (``Plans/2025``) whose parents are made."""
        made: dict[str, str] = {}
        wanted = list(names)
        for path in wanted:
            parent, so_far = parent_id, ""
            for name in path.strip("/").split("/"):
                so_far = f"{so_far}/{name}"
                if so_far not in made:
                    place = self.place(parent)
                    made[so_far] = self.store.items.add_folder(place, name, owner or place.owner)
                parent = made[so_far]
        return [made["/" + path.strip("/")] for path in wanted]

    def add_documents(self, parent_id: str, documents: Iterable[NewDocument]) -> list[str]:
        """Put many text documents into a space or folder at once; returns their ids."""
        place = self.place(parent_id)
        rows = [_text_columns(given) for given in documents]
        return self.insert_documents(place, rows)

    def add_images(self, parent_id: str, images: Iterable[NewImage]) -> list[str]:
        """Put many images into a space or folder at once; returns their ids."""
        place = self.place(parent_id)
        rows, pictures = [], []
        for number, given in enumerate(images, self.last_number("pictures") + 1):
            media_type, width, height = inspect(given["data"])
            matrix = combined(given.get("steps", ()))
            check_size(width, height, matrix)
            pictures.append(
                {
                    "number": number,
                    "data": given["data"],
                    "media_type": media_type,
                    "width": width,
                    "height": height,
                }
            )
            content = clean_text(given.get("content", ""), "content", MAX_CHARACTERS)
            columns = {"title": given["title"], "type": "image", "content": content, "picture": number}
            rows.append(columns | {"transform": matrix.text, "given": given})
        if pictures:
            self.session.execute(insert(Picture), pictures)
        return self.insert_documents(place, rows)

    def add_comments(self, file_id: str, comments: Iterable[NewComment]) -> list[str]:
        """Put comments, with their replies, on a document; returns the ids of those that begin a thread."""
        document = self.find("document", file_id, anybody=True)
        if document is None:
            raise Invalid(f"There is no document {file_id!r}.")
        self.session.flush()
        rows: list[dict[str, Any]] = []
        threads: list[str] = []
        number = self.last_number("comments")
        for given in comments:
            number += 1
            threads.append(derived_id("comment", number))
            root = number
            rows.append(self._comment_columns(given, document.number, number, None))
            for reply in given.get("replies", ()):
                number += 1
                rows.append(self._comment_columns(reply, document.number, number, root))
        if rows:
            self.session.execute(insert(Comment), rows)
        return threads

    # -- pieces -----------------------------------------------------------------------------------------

    def insert_documents(self, place: Item, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Insert documents whose text has been checked; each row may bring a ``given`` with the rest."""
        if not rows:
            return []
        self.session.flush()
        now, first = timestamp(self.now), self.last_number("documents") + 1
        owners = {place.owner} | {str(row["given"]["owner"]) for row in rows if "owner" in row["given"]}
        known = {row["email"] for row in self.fetch(_USERS)} if owners != {place.owner} else owners
        if strangers := sorted(owners - known):
            raise Invalid(f"There is no user {strangers[0]!r}.")
        made = [_document_columns(row, place, number, now) for number, row in enumerate(rows, first)]
        ids = [row["id"] for row in made]
        self.check_new_ids(ids)
        self.session.execute(insert(Document), made)
        return ids

    def last_number(self, table: str) -> int:
        """The greatest number that a row of a table has had."""
        rows = self.fetch(_LAST_NUMBER, table=table)
        return int(rows[0]["seq"]) if rows else 0

    def _comment_columns(
        self, given: NewComment, document: int, number: int, thread: int | None
    ) -> dict[str, Any]:
        created = instant(given["created_at"], "created_at") if "created_at" in given else timestamp(self.now)
        resolver = given.get("resolved_by")
        return {
            "number": number,
            "id": derived_id("comment", number),
            "document": document,
            "thread": thread,
            "author": self.user(given["author"]).email,
            "text": comment_text(given["text"]),
            "quote": given.get("quote"),
            "created_at": created,
            "resolved_at": created if resolver else None,
            "resolved_by": self.user(resolver).email if resolver else None,
            "deleted": False,
        }


def comment_text(text: str) -> str:
    """The text of a comment, which says something."""
    if not text.strip():
        raise Invalid("A comment needs a text.")
    return clean_text(text, "text", MAX_COMMENT)


def checked_type(type: str) -> str:
    """One of the types of text documents."""
    if type not in TEXT_TYPES:
        raise Invalid(f"type must be one of {', '.join(TEXT_TYPES)}, got {type[:40]!r}.")
    return type


def plain_text(type: str, content: str) -> str | None:
    """Return the text for the full-text index where it differs from the content."""
    if type != "html":
        return None
    # By html.parser, which looks for each end anew, 160,000 characters of "<!--" take 7 s.
    words = _Words()
    parser = etree.HTMLParser(target=words, huge_tree=True, encoding="utf-8")
    data = content.encode()
    try:
        for start in range(0, len(data), _CHUNK):
            deadlines.check()
            parser.feed(data[start : start + _CHUNK])
        if data:
            parser.close()
    except (_TooDeep, etree.XMLSyntaxError):
        pass  # what stands before can be found
    return words.close()


class _TooDeep(Exception):
    """Content nested so deeply that no browser shows it."""


class _Words:
    """Collects the text between tags, without scripts and styles."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._text: list[str] = []
        self._depth = self._hidden = 0

    def start(self, tag: Any, attributes: Any) -> None:
        """An element begins."""
        self._end_text()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _TooDeep
        self._hidden += tag in ("script", "style")

    def end(self, tag: Any) -> None:
        """An element ends."""
        self._end_text()
        self._depth -= 1
        self._hidden -= tag in ("script", "style") and self._hidden > 0

    def comment(self, text: Any) -> None:
        """A comment."""
        self._end_text()

    def data(self, data: Any) -> None:
        """Text, with its entities resolved."""
        if not self._hidden:
            self._text.append(data)

    def close(self) -> str:
        """The document ends."""
        self._end_text()
        return " ".join(self._words)

    def _end_text(self) -> None:
        if text := "".join(self._text).strip():
            self._words.append(text)
        self._text.clear()


def _text_columns(given: NewDocument) -> dict[str, Any]:
    type_ = checked_type(given.get("type", "text"))
    content = clean_text(given["content"], "content", MAX_CHARACTERS)
    columns = {"title": given["title"], "type": type_, "content": content, "picture": None, "transform": None}
    return columns | {"given": given}


def _document_columns(row: Mapping[str, Any], place: Item, number: int, now: str) -> dict[str, Any]:
    given = row["given"]
    owner = str(given.get("owner", place.owner))
    created = instant(given["created_at"], "created_at") if "created_at" in given else now
    updated = instant(given["updated_at"], "updated_at") if "updated_at" in given else created
    return {
        "number": number,
        "id": given.get("file_id") or derived_id("document", number),
        "space": place.space,
        "folder": place.folder,
        "title": clean_name(row["title"], "title"),
        "type": row["type"],
        "owner": owner,
        "version": 1,
        "characters": len(row["content"]),
        "picture": row["picture"],
        "transform": row["transform"],
        "derived_from": row.get("derived_from"),
        "created_at": created,
        "created_by": owner,
        "updated_at": updated,
        "updated_by": owner,
        "trashed_at": None,
        "trashed_with": None,
        "plain": plain_text(row["type"], row["content"]),
        "content": row["content"],
    }
