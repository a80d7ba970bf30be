"""Issues and what hangs on them. A pull request is an issue too, with a row in ``pull_requests``."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.codehost.models.declarative import Base, Name


class Issue(Base):
    """An issue or the conversation of a pull request."""

    __tablename__ = "issues"
    __table_args__ = (
        UniqueConstraint("repository_id", "number"),
        Index("issues_by_creation", "repository_id", "is_pull", "created_at", "id"),
        Index("issues_by_update", "repository_id", "is_pull", "updated_at", "id"),
        Index("issues_by_state", "repository_id", "is_pull", "state", "created_at", "id"),
        Index("issues_by_author", "user_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    number: Mapped[int]
    is_pull: Mapped[bool] = mapped_column(default=False)
    title: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text, default="open")
    """``open`` or ``closed``."""
    state_reason: Mapped[str | None] = mapped_column(Text)
    """``completed``, ``not_planned``, ``duplicate`` or ``reopened``."""
    duplicate_of: Mapped[int | None]
    """Number of the issue that this one repeats."""
    user_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    locked: Mapped[bool] = mapped_column(default=False)
    pinned: Mapped[bool] = mapped_column(default=False)
    type: Mapped[str | None] = mapped_column(Text)
    milestone_id: Mapped[int | None] = mapped_column(ForeignKey("milestones.id"))
    comments: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[str] = mapped_column(Text)
    closed_at: Mapped[str | None] = mapped_column(Text)
    closed_by_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))


class Comment(Base):
    """A comment in the conversation of an issue or a pull request."""

    __tablename__ = "comments"
    __table_args__ = (Index("comments_by_issue", "issue_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    issue_id: Mapped[int] = mapped_column(ForeignKey("issues.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    body: Mapped[str] = mapped_column(Text)
    created_at: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[str] = mapped_column(Text)


class Reaction(Base):
    """An emoji that somebody put to an issue or to a comment."""

    __tablename__ = "reactions"
    __table_args__ = (
        UniqueConstraint("subject", "subject_id", "content", "user_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(Text)
    """``issue``, ``comment`` or ``review_comment``."""
    subject_id: Mapped[int]
    user_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    content: Mapped[str] = mapped_column(Text)
    created_at: Mapped[str] = mapped_column(Text)


class Label(Base):
    """A label of a repository."""

    __tablename__ = "labels"
    __table_args__ = (UniqueConstraint("repository_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    name: Mapped[str] = mapped_column(Name)
    color: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text, default="")


class IssueLabel(Base):
    __tablename__ = "issue_labels"
    __table_args__ = (Index("issue_labels_by_label", "label_id", "issue_id"), {"sqlite_with_rowid": False})

    issue_id: Mapped[int] = mapped_column(ForeignKey("issues.id"), primary_key=True)
    label_id: Mapped[int] = mapped_column(ForeignKey("labels.id", ondelete="CASCADE"), primary_key=True)


class Assignee(Base):
    """Assignee of an issue."""

    __tablename__ = "assignees"
    __table_args__ = (Index("assignees_by_account", "account_id", "issue_id"), {"sqlite_with_rowid": False})

    issue_id: Mapped[int] = mapped_column(ForeignKey("issues.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)


class Milestone(Base):
    """A milestone of a repository."""

    __tablename__ = "milestones"
    __table_args__ = (UniqueConstraint("repository_id", "number"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    number: Mapped[int]
    title: Mapped[str] = mapped_column(Name)
    description: Mapped[str] = mapped_column(Text, default="")
    state: Mapped[str] = mapped_column(Text, default="open")
    due_on: Mapped[str | None] = mapped_column(Text)
    creator_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[str] = mapped_column(Text)
    closed_at: Mapped[str | None] = mapped_column(Text)


class SubIssue(Base):
    """An issue that is part of another one."""

    __tablename__ = "sub_issues"
    __table_args__ = (Index("sub_issues_by_parent", "parent_id", "position"),)

    child_id: Mapped[int] = mapped_column(ForeignKey("issues.id"), primary_key=True)
    parent_id: Mapped[int] = mapped_column(ForeignKey("issues.id"))
    position: Mapped[int]


class IssueField(Base):
    """A field that an owner has added to the issues of all its repositories."""

    __tablename__ = "issue_fields"
    __table_args__ = (UniqueConstraint("owner_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    owner_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str] = mapped_column(Name)
    data_type: Mapped[str] = mapped_column(Text)
    """``text``, ``number``, ``date`` or ``single_select``."""
    options: Mapped[str] = mapped_column(Text, default="[]")
    """The options of a single-select field: a JSON array."""


class FieldValue(Base):
    """The value of such a field."""

    __tablename__ = "field_values"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - how SQLAlchemy takes it

    issue_id: Mapped[int] = mapped_column(ForeignKey("issues.id"), primary_key=True)
    field_id: Mapped[int] = mapped_column(ForeignKey("issue_fields.id"), primary_key=True)
    value: Mapped[str] = mapped_column(Text)
