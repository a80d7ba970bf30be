"""Modules, pages and files."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.canvas.models.tables import COUNTED, Base, course_key


class Module(Base):
    """A unit of a course."""

    __tablename__ = "modules"
    __table_args__ = (Index("modules_by_course", "course_id", "position", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    name: Mapped[str]
    position: Mapped[int]
    unlock_at: Mapped[str | None]
    require_sequential_progress: Mapped[bool]
    prerequisite_module_ids: Mapped[list[int]]
    published: Mapped[bool]


class ModuleItem(Base):
    """A step of a module, which points to something of the course or outside."""

    __tablename__ = "module_items"
    __table_args__ = (
        Index("items_by_module", "module_id", "position", "id"),
        Index("items_by_content", "type", "content_id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    module_id: Mapped[int] = mapped_column(ForeignKey("modules.id", ondelete="CASCADE"))
    title: Mapped[str]
    type: Mapped[str]
    content_id: Mapped[int | None]
    external_url: Mapped[str | None]
    position: Mapped[int]
    indent: Mapped[int]
    published: Mapped[bool]


class ItemCompletion(Base):
    """A student has done a module item."""

    __tablename__ = "item_completions"

    item_id: Mapped[int] = mapped_column(ForeignKey("module_items.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    completed_at: Mapped[str]


class WikiPage(Base):
    """A page of a course."""

    __tablename__ = "pages"
    __table_args__ = (
        UniqueConstraint("course_id", "url"),
        Index("pages_by_title", "course_id", "title", "id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    url: Mapped[str]
    """The title as it stands in the page's address."""
    title: Mapped[str]
    body: Mapped[str]
    published: Mapped[bool]
    front_page: Mapped[bool]
    last_edited_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[str]
    updated_at: Mapped[str]


class Folder(Base):
    """A folder of a course's files."""

    __tablename__ = "folders"
    __table_args__ = (UniqueConstraint("course_id", "full_name"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    parent_folder_id: Mapped[int | None] = mapped_column(ForeignKey("folders.id"))
    name: Mapped[str]
    full_name: Mapped[str]
    hidden: Mapped[bool]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class File(Base):
    """The record of a file in a course, or of one that a user uploaded to hand in."""

    __tablename__ = "files"
    __table_args__ = (
        Index("files_by_folder", "folder_id", "display_name", "id"),
        Index("files_by_course", "course_id", "display_name", "id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int | None] = mapped_column(ForeignKey("courses.id"))
    """``None`` for a user's own file."""
    folder_id: Mapped[int | None] = mapped_column(ForeignKey("folders.id"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    display_name: Mapped[str]
    content_type: Mapped[str]
    size: Mapped[int]
    hidden: Mapped[bool]
    locked: Mapped[bool]
    created_at: Mapped[str]
    updated_at: Mapped[str]
