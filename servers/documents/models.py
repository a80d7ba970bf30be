"""Tables of the documents service.

Spaces hold folders and documents, folders hold both. Every one of these has an opaque id of which no two
are the same, whatever they are. Times are ISO-8601 UTC text (``2025-01-15T09:00:00Z``): fixed width, so
text order is time order.
"""

from __future__ import annotations

from sqlalchemy import DDL, ForeignKey, Index, LargeBinary, Text, UniqueConstraint, event, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``documents.db``."""


class User(Base):
    """A person who uses the document store."""

    __tablename__ = "users"

    email: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text)


class SignIn(Base):
    """Signed-in user: one row, or none."""

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(ForeignKey("users.email"))


class Space(Base):
    """The root of a tree of folders: of one person (``personal``) or of a team."""

    __tablename__ = "spaces"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - SQLAlchemy's way

    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(Text, unique=True)
    name: Mapped[str] = mapped_column(Text)
    description: Mapped[str | None] = mapped_column(Text)
    owner: Mapped[str] = mapped_column(ForeignKey("users.email"))
    personal: Mapped[bool]
    created_at: Mapped[str] = mapped_column(Text)


class Folder(Base):
    """A folder in a space or in another folder."""

    __tablename__ = "folders"
    __table_args__ = (
        Index("folders_in_folder", "space", "parent", "trashed_at", "name"),
        {"sqlite_autoincrement": True},
    )

    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(Text, unique=True)
    space: Mapped[int] = mapped_column(ForeignKey("spaces.number"))
    parent: Mapped[int | None] = mapped_column(ForeignKey("folders.number"))
    trail: Mapped[str] = mapped_column(Text)
    """The numbers of the folders from the root down to this one: ``/3/17/``."""
    name: Mapped[str] = mapped_column(Text)
    owner: Mapped[str] = mapped_column(ForeignKey("users.email"))
    created_at: Mapped[str] = mapped_column(Text)
    trashed_at: Mapped[str | None] = mapped_column(Text)
    trashed_with: Mapped[str | None] = mapped_column(Text)
    """Key of what was deleted: this item or a folder around it (``d7``, ``f3``)."""


class Picture(Base):
    """The bytes of an image, shared by all documents that show it."""

    __tablename__ = "pictures"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012

    number: Mapped[int] = mapped_column(primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)
    media_type: Mapped[str] = mapped_column(Text)
    width: Mapped[int]
    height: Mapped[int]


class Document(Base):
    """Current state of a document; earlier ones are in ``versions``."""

    __tablename__ = "documents"
    __table_args__ = (
        # Rows are long: lists are found, sorted and counted in these alone.
        Index("documents_in_folder", "space", "folder", "trashed_at", "title"),
        Index(
            "documents_by_change", *["trashed_at", "updated_at", "number", "space", "folder", "owner", "type"]
        ),
        Index("documents_in_trash", "trashed_with", sqlite_where=text("trashed_at IS NOT NULL")),
        {"sqlite_autoincrement": True},
    )

    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(Text, unique=True)
    space: Mapped[int] = mapped_column(ForeignKey("spaces.number"))
    folder: Mapped[int | None] = mapped_column(ForeignKey("folders.number"))
    title: Mapped[str] = mapped_column(Text)
    type: Mapped[str] = mapped_column(Text)
    """``text``, ``markdown``, ``html`` or ``image``."""
    owner: Mapped[str] = mapped_column(ForeignKey("users.email"))
    version: Mapped[int]
    characters: Mapped[int]
    """The length of ``content``."""
    picture: Mapped[int | None] = mapped_column(ForeignKey("pictures.number"))
    transform: Mapped[str | None] = mapped_column(Text)
    """Linear map of the picture as JSON [a, b, c, d]; ``None`` for none."""
    derived_from: Mapped[int | None] = mapped_column(ForeignKey("documents.number"))
    created_at: Mapped[str] = mapped_column(Text)
    created_by: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[str] = mapped_column(Text)
    updated_by: Mapped[str] = mapped_column(Text)
    trashed_at: Mapped[str | None] = mapped_column(Text)
    trashed_with: Mapped[str | None] = mapped_column(Text)
    plain: Mapped[str | None] = mapped_column(Text)
    """The text of an HTML document without its tags, for the full-text index."""
    content: Mapped[str] = mapped_column(Text)
    """The text; of an image, what is written beside it. Last, because long rows are read up to here only."""


class Version(Base):
    """State of a document before a change."""

    __tablename__ = "versions"
    __table_args__ = (UniqueConstraint("document", "version"), {"sqlite_autoincrement": True})

    number: Mapped[int] = mapped_column(primary_key=True)
    document: Mapped[int] = mapped_column(ForeignKey("documents.number"))
    version: Mapped[int]
    characters: Mapped[int]
    created_at: Mapped[str] = mapped_column(Text)
    created_by: Mapped[str] = mapped_column(Text)
    content: Mapped[str] = mapped_column(Text)


class Comment(Base):
    """A comment on a document, or a reply to one."""

    __tablename__ = "comments"
    __table_args__ = (
        Index("comments_on_document", "document", "thread", "number"),
        Index("comments_in_thread", "thread", "number"),
        {"sqlite_autoincrement": True},
    )

    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(Text, unique=True)
    document: Mapped[int] = mapped_column(ForeignKey("documents.number"))
    thread: Mapped[int | None] = mapped_column(ForeignKey("comments.number"))
    """Of a reply: the comment that began the thread."""
    author: Mapped[str] = mapped_column(ForeignKey("users.email"))
    text: Mapped[str] = mapped_column(Text)
    quote: Mapped[str | None] = mapped_column(Text)
    """The passage of the document that the comment is about."""
    created_at: Mapped[str] = mapped_column(Text)
    resolved_at: Mapped[str | None] = mapped_column(Text)
    resolved_by: Mapped[str | None] = mapped_column(Text)
    deleted: Mapped[bool] = mapped_column(default=False)


class Share(Base):
    """A role that somebody has on a space, a folder or a document, and on all that is in it."""

    __tablename__ = "shares"
    __table_args__ = (
        UniqueConstraint("item", "principal"),
        Index("shares_of_principal", "principal", "item"),
        {"sqlite_autoincrement": True},
    )

    number: Mapped[int] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(Text)
    """Kind and number: ``s1``, ``f7``, ``d12``."""
    principal: Mapped[str] = mapped_column(Text)
    """An address, or ``anyone``."""
    rank: Mapped[int]
    """1 viewer, 2 commenter, 3 editor, 4 owner."""


_TABLE = "documents_text(rowid, title, body)"
_DELETE = (
    "INSERT INTO documents_text(documents_text, rowid, title, body)"
    " VALUES ('delete', old.number, old.title, coalesce(old.plain, old.content))"
)
_INSERT = f"INSERT INTO {_TABLE} VALUES (new.number, new.title, coalesce(new.plain, new.content))"
TOKENIZER = "porter unicode61 remove_diacritics 2"
"""Tokenizer of the full-text index, with stemming."""
_INDEX = (
    "CREATE VIEW documents_searched AS SELECT number, title, coalesce(plain, content) AS body FROM documents",
    "CREATE VIRTUAL TABLE documents_text USING fts5(title, body, content='documents_searched',"
    f" content_rowid='number', tokenize='{TOKENIZER}')",
    f"CREATE TRIGGER documents_text_insert AFTER INSERT ON documents BEGIN {_INSERT}; END",
    f"CREATE TRIGGER documents_text_delete AFTER DELETE ON documents BEGIN {_DELETE}; END",
    "CREATE TRIGGER documents_text_update AFTER UPDATE OF title, plain, content ON documents"
    f" BEGIN {_DELETE}; {_INSERT}; END",
)
for _statement in _INDEX:
    event.listen(Base.metadata, "after_create", DDL(_statement))  # type: ignore[no-untyped-call]
