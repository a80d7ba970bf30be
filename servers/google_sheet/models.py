"""Tables of the google_sheet service: the files of a drive, and what is in its spreadsheets.

Instants are UTC text (``2025-01-15T09:00:00.000Z``). Rows and columns count from 0, ends of areas are
exclusive.
"""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, Text, UniqueConstraint, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

_COUNTED = {"sqlite_autoincrement": True}


class Base(DeclarativeBase):
    """The tables of ``google_sheet.db``."""


class Account(Base):
    """A person with a drive."""

    __tablename__ = "accounts"

    email: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text)


class SignIn(Base):
    """Signed-in account: one row, or none."""

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(ForeignKey("accounts.email"))


class File(Base):
    """A spreadsheet or a folder."""

    __tablename__ = "files"
    __table_args__ = (Index("files_by_parent", "parent", "number"), _COUNTED)

    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(Text, unique=True)
    kind: Mapped[str] = mapped_column(Text)
    """``spreadsheet``, ``folder`` or ``root`` (the folder of an account that holds all of its files)."""
    name: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text, default="")
    owner: Mapped[str] = mapped_column(ForeignKey("accounts.email"))
    parent: Mapped[int | None] = mapped_column(ForeignKey("files.number"))
    starred: Mapped[bool] = mapped_column(default=False)
    trashed: Mapped[bool] = mapped_column(default=False)
    created: Mapped[str] = mapped_column(Text)
    modified: Mapped[str] = mapped_column(Text)
    modified_by: Mapped[str] = mapped_column(Text)
    version: Mapped[int] = mapped_column(default=1)
    """Counts the changes."""
    properties: Mapped[str] = mapped_column(Text, default="{}")
    """Properties that clients keep with it: a JSON object of texts."""


class Permission(Base):
    """Role of an account on a file and its content."""

    __tablename__ = "permissions"
    __table_args__ = (UniqueConstraint("file", "scope"), _COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    file: Mapped[int] = mapped_column(ForeignKey("files.number"))
    scope: Mapped[str] = mapped_column(Text)
    """``user:ADDRESS``, ``group:ADDRESS``, ``domain:NAME`` or ``anyone``."""
    role: Mapped[str] = mapped_column(Text)
    """``reader``, ``commenter``, ``writer`` or ``owner``."""


class Comment(Base):
    """A remark on a file."""

    __tablename__ = "comments"
    __table_args__ = (Index("comments_of_file", "file", "id"), _COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    file: Mapped[int] = mapped_column(ForeignKey("files.number"))
    author: Mapped[str] = mapped_column(Text)
    content: Mapped[str] = mapped_column(Text)
    anchor: Mapped[str | None] = mapped_column(Text)
    quoted: Mapped[str | None] = mapped_column(Text)
    created: Mapped[str] = mapped_column(Text)
    modified: Mapped[str] = mapped_column(Text)
    resolved: Mapped[bool] = mapped_column(default=False)
    deleted: Mapped[bool] = mapped_column(default=False)


class CommentReply(Base):
    """An answer to a remark."""

    __tablename__ = "replies"
    __table_args__ = (Index("replies_of_comment", "comment", "id"), _COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    comment: Mapped[int] = mapped_column(ForeignKey("comments.id"))
    author: Mapped[str] = mapped_column(Text)
    content: Mapped[str] = mapped_column(Text)
    action: Mapped[str | None] = mapped_column(Text)
    """``resolve`` or ``reopen``."""
    created: Mapped[str] = mapped_column(Text)
    modified: Mapped[str] = mapped_column(Text)
    deleted: Mapped[bool] = mapped_column(default=False)


class Revision(Base):
    """Change of a file."""

    __tablename__ = "revisions"
    __table_args__ = (UniqueConstraint("file", "version"), _COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    file: Mapped[int] = mapped_column(ForeignKey("files.number"))
    version: Mapped[int]
    modified: Mapped[str] = mapped_column(Text)
    modified_by: Mapped[str] = mapped_column(Text)


class Spreadsheet(Base):
    """Content of a spreadsheet file."""

    __tablename__ = "spreadsheets"

    file: Mapped[int] = mapped_column(ForeignKey("files.number"), primary_key=True)
    locale: Mapped[str] = mapped_column(Text)
    time_zone: Mapped[str] = mapped_column(Text)
    auto_recalc: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    """A digest of how its content came about: of two with the same digest, the content is the same."""


class Sheet(Base):
    """A sheet of a spreadsheet."""

    __tablename__ = "sheets"
    __table_args__ = (
        UniqueConstraint("spreadsheet", "key"),
        UniqueConstraint("spreadsheet", "sheet_id"),
        _COUNTED,
    )

    number: Mapped[int] = mapped_column(primary_key=True)
    spreadsheet: Mapped[int] = mapped_column(ForeignKey("spreadsheets.file"))
    sheet_id: Mapped[int]
    """The vendor's, unique in the spreadsheet."""
    title: Mapped[str] = mapped_column(Text)
    key: Mapped[str] = mapped_column(Text)
    """The title without regard to case, by which it is unique."""
    position: Mapped[int]
    row_count: Mapped[int]
    column_count: Mapped[int]
    properties: Mapped[str] = mapped_column(Text, default="{}")
    """The other properties (frozen rows, colour, hidden ...) as the vendor's JSON."""


class Cell(Base):
    """A cell that holds something or has a format."""

    __tablename__ = "cells"
    __table_args__ = (
        Index("cells_with_formulas", "sheet", sqlite_where=text("formula IS NOT NULL")),
        Index("cells_spilled", "sheet", sqlite_where=text("anchor IS NOT NULL")),
        {"sqlite_with_rowid": False},
    )

    sheet: Mapped[int] = mapped_column(ForeignKey("sheets.number"), primary_key=True)
    row: Mapped[int] = mapped_column(primary_key=True)
    col: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    """Of the value: ``n`` number, ``s`` text, ``b`` truth value, ``e`` error, or empty for none."""
    number: Mapped[float | None]
    text: Mapped[str | None] = mapped_column(Text)
    """The text, or the error as it is shown."""
    formula: Mapped[str | None] = mapped_column(Text)
    """As it was entered, with its equals sign."""
    message: Mapped[str | None] = mapped_column(Text)
    """Of an error: ``TYPE message``."""
    hint: Mapped[str | None] = mapped_column(Text)
    """Of a formula's number: ``DATE``, ``DATE_TIME`` or ``TIME``, where it is one."""
    anchor: Mapped[str | None] = mapped_column(Text)
    """Of a value that the array formula of another cell puts here: that cell."""
    format: Mapped[int | None] = mapped_column(ForeignKey("formats.number"))
    note: Mapped[str | None] = mapped_column(Text)


class Format(Base):
    """A format that cells of a spreadsheet have."""

    __tablename__ = "formats"
    __table_args__ = (UniqueConstraint("spreadsheet", "content"), _COUNTED)

    number: Mapped[int] = mapped_column(primary_key=True)
    spreadsheet: Mapped[int] = mapped_column(ForeignKey("spreadsheets.file"))
    content: Mapped[str] = mapped_column(Text)
    """The vendor's CellFormat as JSON, its keys in order."""
    type: Mapped[str] = mapped_column(Text)
    """Of its number format, empty for none."""
    pattern: Mapped[str] = mapped_column(Text)


class Merge(Base):
    """Cells that are shown as one."""

    __tablename__ = "merges"
    __table_args__ = _COUNTED

    id: Mapped[int] = mapped_column(primary_key=True)
    sheet: Mapped[int] = mapped_column(ForeignKey("sheets.number"), index=True)
    top: Mapped[int]
    left: Mapped[int]
    bottom: Mapped[int]
    right: Mapped[int]


class NamedRange(Base):
    """A name for an area of a sheet."""

    __tablename__ = "named_ranges"
    __table_args__ = (UniqueConstraint("spreadsheet", "key"), _COUNTED)

    number: Mapped[int] = mapped_column(primary_key=True)
    spreadsheet: Mapped[int] = mapped_column(ForeignKey("spreadsheets.file"))
    id: Mapped[str] = mapped_column(Text, unique=True)
    name: Mapped[str] = mapped_column(Text)
    key: Mapped[str] = mapped_column(Text)
    sheet: Mapped[int] = mapped_column(ForeignKey("sheets.number"))
    top: Mapped[int]
    left: Mapped[int]
    bottom: Mapped[int | None]
    right: Mapped[int | None]


class Line(Base):
    """A row or column whose size is not the usual one, or that is hidden."""

    __tablename__ = "lines"

    sheet: Mapped[int] = mapped_column(ForeignKey("sheets.number"), primary_key=True)
    axis: Mapped[str] = mapped_column(Text, primary_key=True)
    """``ROWS`` or ``COLUMNS``."""
    position: Mapped[int] = mapped_column(primary_key=True)
    pixels: Mapped[int]
    hidden: Mapped[bool] = mapped_column(default=False)
