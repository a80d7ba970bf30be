"""Writing documents: making, changing, copying them, and drawing images anew."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.documents.models import Document, Picture, Version
from mesocosm.servers.documents.store.access import DocumentsPart, Item, clean_name, clean_text, timestamp
from mesocosm.servers.documents.store.bulk import (
    MAX_CHARACTERS,
    NewDocument,
    checked_type,
    plain_text,
)
from mesocosm.servers.documents.store.pictures import Matrix, check_size, inspect, read_matrix
from mesocosm.services.service import Image

_TYPE_OF_SUFFIX = {"md": "markdown", "markdown": "markdown", "html": "html", "htm": "html"}
_IMAGE_SUFFIXES = ("png", "jpg", "jpeg", "gif", "webp")
_MAX_UPLOAD = 20_000_000


class Writing(DocumentsPart):
    """Changes to documents."""

    # -- making -----------------------------------------------------------------------------------------

    def create(self, title: str, content: str, type: str, parent_id: str | None) -> str:
        """A new text document of the signed-in user, in the personal space unless told otherwise."""
        place = self.container(parent_id, "editor")
        given = NewDocument(owner=self.me)
        columns = {
            "title": title,
            "type": checked_type(type),
            "content": clean_text(content, "content", MAX_CHARACTERS),
            "picture": None,
            "transform": None,
            "given": given,
        }
        return self.store.filling.insert_documents(place, [columns])[0]

    def copy(self, file_id: str, title: str | None, parent_id: str | None) -> str:
        """Copy a document's current state, beside it by default."""
        item = self.document(file_id)
        row = self.session.get_one(Document, item.number)
        place = self._beside(item) if parent_id is None else self.container(parent_id, "editor")
        columns = {
            name: getattr(row, name) for name in ("type", "content", "picture", "transform", "derived_from")
        }
        given = NewDocument(owner=self.me)
        columns |= {"title": title if title is not None else _copy_title(row.title), "given": given}
        return self.store.filling.insert_documents(place, [columns])[0]

    def _beside(self, item: Item) -> Item:
        """Return the folder of a document if the user may write there, else the personal space."""
        around = self.store.items.whereabouts(item)[-1]["id"]
        found = self.find("folder", around) or self.find("space", around)
        return found if found is not None and found.rank >= 3 else self.personal_space(self.me)

    def upload(self, path: str, title: str | None, parent_id: str | None) -> str:
        """A new document from a file of the workspace: an image, or text in UTF-8."""
        place = self.container(parent_id, "editor")
        data = self.workspace.read(path, _MAX_UPLOAD)
        name = path.rstrip("/").rpartition("/")[2]
        suffix = name.rpartition(".")[2].lower()
        columns: dict[str, Any] = {
            "title": title or name,
            "transform": None,
            "given": NewDocument(owner=self.me),
        }
        if suffix in _IMAGE_SUFFIXES:
            columns |= {"type": "image", "content": "", "picture": self._add_picture(data)}
        else:
            text = clean_text(_decoded(data), "the file", MAX_CHARACTERS)
            columns |= {"type": _TYPE_OF_SUFFIX.get(suffix, "text"), "content": text, "picture": None}
        return self.store.filling.insert_documents(place, [columns])[0]

    def _add_picture(self, data: bytes) -> int:
        media_type, width, height = inspect(data)
        number = self.store.filling.last_number("pictures") + 1
        row = {"number": number, "data": data, "media_type": media_type, "width": width, "height": height}
        self.session.execute(insert(Picture), [row])
        return number

    def download(self, file_id: str, path: str) -> tuple[str, int]:
        """Write a document to a file of the workspace; returns the path as shown, and the bytes."""
        item = self.document(file_id)
        row = self.session.get_one(Document, item.number)
        data = (
            self.store.reading.picture(row.picture, row.transform).data
            if row.picture
            else row.content.encode()
        )
        written = self.workspace.write(path, data, self.now)
        return self.workspace.shown(written), len(data)

    # -- changing ---------------------------------------------------------------------------------------

    def update(self, file_id: str, content: str, expected_version: int | None = None) -> Item:
        """Replace the whole text; the text before becomes a version."""
        item = self.document(file_id, "editor")
        row = self.session.get_one(Document, item.number)
        if expected_version is not None and expected_version != row.version:
            raise Conflict(
                f"The document is at version {row.version}, not {expected_version}; read it again."
            )
        self._set_content(row, content)
        return item

    def append(self, file_id: str, content: str) -> Item:
        """Add text at the end, on a line of its own."""
        item = self.document(file_id, "editor")
        row = self.session.get_one(Document, item.number)
        if not content:
            raise Invalid("content is empty: there is nothing to append.")
        joint = "\n" if row.content and not row.content.endswith("\n") else ""
        self._set_content(row, f"{row.content}{joint}{content}")
        return item

    def edit(self, file_id: str, old_text: str, new_text: str, *, replace_all: bool) -> tuple[Item, int]:
        """Replace a passage that occurs exactly once (or everywhere); returns how often it was replaced."""
        item = self.document(file_id, "editor")
        row = self.session.get_one(Document, item.number)
        if not old_text:
            raise Invalid("old_text is empty.")
        if old_text == new_text:
            raise Invalid("old_text and new_text are the same.")
        count = row.content.count(old_text)
        if count == 0:
            raise Invalid("old_text does not occur in the document. It must match exactly, spaces included.")
        if count > 1 and not replace_all:
            raise Invalid(
                f"old_text occurs {count} times; give more of the text around it, or set replace_all."
            )
        # Before it is made: a short text by a long one, a million times, would have terabytes.
        if row.characters + count * (len(new_text) - len(old_text)) > MAX_CHARACTERS:
            raise Invalid(f"The document would have more than {MAX_CHARACTERS} characters.")
        self._set_content(row, row.content.replace(old_text, new_text))
        return item, count

    def restore_version(self, file_id: str, version: int) -> Item:
        """Make an earlier text the present one, as a new version."""
        item = self.document(file_id, "editor")
        text = self.store.reading.version_text(item, version)
        self._set_content(self.session.get_one(Document, item.number), text)
        return item

    def _set_content(self, row: Document, content: str) -> None:
        clean_text(content, "content", MAX_CHARACTERS)
        if content == row.content:
            return  # the same again is no new version
        self.session.add(
            Version(
                document=row.number,
                version=row.version,
                characters=row.characters,
                created_at=row.updated_at,
                created_by=row.updated_by,
                content=row.content,
            )
        )
        row.content, row.characters, row.version = content, len(content), row.version + 1
        row.plain = plain_text(row.type, content)
        row.updated_at, row.updated_by = timestamp(self.now), self.me
        self.session.flush()

    # -- images -----------------------------------------------------------------------------------------

    def transform(self, file_id: str, matrix: Matrix, done: str) -> tuple[str, Image, tuple[int, int]]:
        """A new document in the personal space that shows an image transformed; the stored one stays.

        Returns its id, the image and its size.
        """
        item = self.document(file_id)
        row = self.session.get_one(Document, item.number)
        if row.picture is None:
            raise Invalid(f"{item.id} is not an image.")
        width, height = self.session.execute(
            select(Picture.width, Picture.height).where(Picture.number == row.picture)
        ).one()
        shown = read_matrix(row.transform).then(matrix)
        size = check_size(width, height, shown)
        columns = {
            "title": _derived_title(row.title, done),
            "type": "image",
            "content": row.content,
            "picture": row.picture,
            "transform": shown.text,
            "derived_from": row.number,
            "given": NewDocument(owner=self.me),
        }
        [made] = self.store.filling.insert_documents(self.personal_space(self.me), [columns])
        return made, self.store.reading.picture(row.picture, shown.text), size


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Invalid("The file is neither an image (by its name) nor text in UTF-8.") from None


def _copy_title(title: str) -> str:
    return clean_name(f"Copy of {title}"[:255], "title")


def _derived_title(title: str, done: str) -> str:
    """The title with what was done to the image, kept to the length of titles."""
    return f"{title[: 254 - len(done)]} {done}"
