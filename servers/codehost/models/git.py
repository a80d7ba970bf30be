"""Git objects and refs, and what is derived from them so that it can be listed and searched quickly."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, LargeBinary, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.codehost.models.declarative import Base, Name


class Object(Base):
    """A git object of a network of forks. Objects are added, never changed or removed."""

    __tablename__ = "objects"

    network: Mapped[int] = mapped_column(primary_key=True)
    sha: Mapped[str] = mapped_column(Text, primary_key=True)
    type: Mapped[int]
    """Git's number of the type: 1 commit, 2 tree, 3 blob, 4 tag."""
    size: Mapped[int]
    # Not deflated: zlib's output differs between its builds, and a world is the same bytes everywhere.
    data: Mapped[bytes] = mapped_column(LargeBinary)


class Ref(Base):
    """A branch, a tag or the head of a pull request, by its full name (``refs/heads/main``)."""

    __tablename__ = "refs"

    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"), primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    sha: Mapped[str] = mapped_column(Text)


class Commit(Base):
    """Commit object. A parent always has the smaller id."""

    __tablename__ = "commits"
    __table_args__ = (UniqueConstraint("network", "sha"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    network: Mapped[int]
    sha: Mapped[str] = mapped_column(Text)
    tree: Mapped[str] = mapped_column(Text)
    author_name: Mapped[str] = mapped_column(Text)
    author_email: Mapped[str] = mapped_column(Name)
    author_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    authored_at: Mapped[str] = mapped_column(Text)
    committer_name: Mapped[str] = mapped_column(Text)
    committer_email: Mapped[str] = mapped_column(Name)
    committer_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    committed_at: Mapped[str] = mapped_column(Text)
    corrected_at: Mapped[str] = mapped_column(Text)
    """The newest ``committed_at`` of the commit and its ancestors: never before that of a parent."""
    message: Mapped[str] = mapped_column(Text)


class CommitParent(Base):
    """An edge of the commit graph."""

    __tablename__ = "commit_parents"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - how SQLAlchemy takes it

    commit_id: Mapped[int] = mapped_column(ForeignKey("commits.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    parent_id: Mapped[int] = mapped_column(ForeignKey("commits.id"))


class Change(Base):
    """A file that a commit changed, compared with its first parent."""

    __tablename__ = "changes"
    __table_args__ = (
        Index("changes_by_path", "path", "commit_id", "own"),
        Index("changes_by_previous_path", "previous_path", "commit_id", "own"),
        {"sqlite_with_rowid": False},
    )

    commit_id: Mapped[int] = mapped_column(ForeignKey("commits.id"), primary_key=True)
    path: Mapped[str] = mapped_column(Text, primary_key=True)
    previous_path: Mapped[str | None] = mapped_column(Text)
    status: Mapped[str] = mapped_column(Text)
    """``added``, ``modified``, ``removed`` or ``renamed``."""
    old_sha: Mapped[str | None] = mapped_column(Text)
    new_sha: Mapped[str | None] = mapped_column(Text)
    old_mode: Mapped[int | None]
    new_mode: Mapped[int | None]
    additions: Mapped[int]
    deletions: Mapped[int]
    own: Mapped[bool]
    """Of a merge: whether the file is as in none of the parents."""


class History(Base):
    """A commit that the default branch of a repository contains."""

    __tablename__ = "history"
    __table_args__ = (Index("history_by_commit", "commit_id"), {"sqlite_with_rowid": False})

    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"), primary_key=True)
    commit_id: Mapped[int] = mapped_column(ForeignKey("commits.id"), primary_key=True)


class File(Base):
    """A file at the head of a repository's default branch. Rows are added and removed, never changed."""

    __tablename__ = "files"
    __table_args__ = (UniqueConstraint("repository_id", "path"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    network: Mapped[int]
    path: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Name)
    extension: Mapped[str] = mapped_column(Name)
    mode: Mapped[int]
    sha: Mapped[str] = mapped_column(Text)
    size: Mapped[int]
    searchable: Mapped[bool]
    """True if it is text and short enough for search."""
