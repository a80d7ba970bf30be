"""Pull requests: branches to be merged, reviews, and the checks of their commits."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.codehost.models.declarative import Base


class PullRequest(Base):
    """Pull request's data beyond that of an issue."""

    __tablename__ = "pull_requests"
    __table_args__ = (Index("pull_requests_by_head", "head_repository_id", "head_ref"),)

    issue_id: Mapped[int] = mapped_column(ForeignKey("issues.id"), primary_key=True)
    head_repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    head_ref: Mapped[str] = mapped_column(Text)
    """Name of the branch, without ``refs/heads/``; likewise ``base_ref``."""
    head_sha: Mapped[str] = mapped_column(Text)
    base_ref: Mapped[str] = mapped_column(Text)
    base_sha: Mapped[str] = mapped_column(Text)
    """Tip of the base branch when the pull request was opened, or, once it is closed, when that happened."""
    draft: Mapped[bool] = mapped_column(default=False)
    maintainer_can_modify: Mapped[bool] = mapped_column(default=False)
    merged_at: Mapped[str | None] = mapped_column(Text)
    merged_by_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    merge_sha: Mapped[str | None] = mapped_column(Text)


class ReviewRequest(Base):
    """Requested reviewer, a user or a team."""

    __tablename__ = "review_requests"
    __table_args__ = (Index("review_requests_by_pull", "pull_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    pull_id: Mapped[int] = mapped_column(ForeignKey("pull_requests.issue_id"))
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    team_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id"))


class Review(Base):
    """A review; while it is pending only its author sees it."""

    __tablename__ = "reviews"
    __table_args__ = (Index("reviews_by_pull", "pull_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    pull_id: Mapped[int] = mapped_column(ForeignKey("pull_requests.issue_id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    state: Mapped[str] = mapped_column(Text)
    """``PENDING``, ``APPROVED``, ``CHANGES_REQUESTED``, ``COMMENTED`` or ``DISMISSED``."""
    body: Mapped[str] = mapped_column(Text)
    commit_sha: Mapped[str] = mapped_column(Text)
    submitted_at: Mapped[str | None] = mapped_column(Text)


class ReviewThread(Base):
    """A conversation about a line of the diff."""

    __tablename__ = "review_threads"
    __table_args__ = (Index("review_threads_by_pull", "pull_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    pull_id: Mapped[int] = mapped_column(ForeignKey("pull_requests.issue_id"))
    path: Mapped[str] = mapped_column(Text)
    line: Mapped[int]
    side: Mapped[str] = mapped_column(Text, default="RIGHT")
    blob_sha: Mapped[str] = mapped_column(Text)
    """The version of the file that the line was counted in."""
    resolved: Mapped[bool] = mapped_column(default=False)


class ReviewComment(Base):
    """A comment in such a conversation."""

    __tablename__ = "review_comments"
    __table_args__ = (Index("review_comments_by_thread", "thread_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    thread_id: Mapped[int] = mapped_column(ForeignKey("review_threads.id"))
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    body: Mapped[str] = mapped_column(Text)
    created_at: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[str] = mapped_column(Text)


class Status(Base):
    """A commit status, as external services report it."""

    __tablename__ = "statuses"
    __table_args__ = (
        Index("statuses_by_commit", "repository_id", "sha", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    sha: Mapped[str] = mapped_column(Text)
    context: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    """``error``, ``failure``, ``pending`` or ``success``."""
    description: Mapped[str] = mapped_column(Text, default="")
    target_url: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[str] = mapped_column(Text)


class CheckRun(Base):
    """A run of a check on a commit."""

    __tablename__ = "check_runs"
    __table_args__ = (
        UniqueConstraint("repository_id", "sha", "name"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    sha: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(Text)
    """``queued``, ``in_progress`` or ``completed``."""
    conclusion: Mapped[str | None] = mapped_column(Text)
    started_at: Mapped[str] = mapped_column(Text)
    completed_at: Mapped[str | None] = mapped_column(Text)
