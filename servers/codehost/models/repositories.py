"""Repositories, access to them, and their releases."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, LargeBinary, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.codehost.models.declarative import Base, Name


class Repository(Base):
    __tablename__ = "repositories"
    __table_args__ = (
        UniqueConstraint("owner_id", "name"),
        Index("repositories_by_name", "name"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    owner_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str] = mapped_column(Name)
    description: Mapped[str | None] = mapped_column(Text)
    homepage: Mapped[str | None] = mapped_column(Text)
    language: Mapped[str | None] = mapped_column(Text)
    topics: Mapped[str] = mapped_column(Text, default="")
    """Separated by spaces."""
    private: Mapped[bool]
    archived: Mapped[bool] = mapped_column(default=False)
    default_branch: Mapped[str] = mapped_column(Text, default="main")
    network: Mapped[int]
    """The repository that this one descends from by forking, or itself: forks share git objects."""
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("repositories.id"))
    stars: Mapped[int] = mapped_column(default=0)
    last_number: Mapped[int] = mapped_column(default=0)
    """Number of the newest issue or pull request."""
    created_at: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[str] = mapped_column(Text)
    pushed_at: Mapped[str] = mapped_column(Text)


class Collaborator(Base):
    """Role in a repository, granted to one account."""

    __tablename__ = "collaborators"
    __table_args__ = (Index("collaborators_by_account", "account_id"),)

    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    role: Mapped[str] = mapped_column(Text)
    """``read``, ``triage``, ``write``, ``maintain`` or ``admin``."""


class Protection(Base):
    """A branch that changes through pull requests only."""

    __tablename__ = "protections"

    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"), primary_key=True)
    branch: Mapped[str] = mapped_column(Text, primary_key=True)
    required_approvals: Mapped[int] = mapped_column(default=0)


class Release(Base):
    """A release: a tag with notes."""

    __tablename__ = "releases"
    __table_args__ = (
        UniqueConstraint("repository_id", "tag_name"),
        Index("releases_by_date", "repository_id", "created_at", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    tag_name: Mapped[str] = mapped_column(Text)
    target: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    draft: Mapped[bool] = mapped_column(default=False)
    prerelease: Mapped[bool] = mapped_column(default=False)
    author_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[str] = mapped_column(Text)
    published_at: Mapped[str | None] = mapped_column(Text)


class ReleaseAsset(Base):
    """A file of a release."""

    __tablename__ = "release_assets"
    __table_args__ = (UniqueConstraint("release_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    release_id: Mapped[int] = mapped_column(ForeignKey("releases.id"))
    name: Mapped[str] = mapped_column(Text)
    label: Mapped[str | None] = mapped_column(Text)
    content_type: Mapped[str] = mapped_column(Text)
    data: Mapped[bytes] = mapped_column(LargeBinary)
    uploader_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[str] = mapped_column(Text)
