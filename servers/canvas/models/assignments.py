"""Assignments, submissions and rubrics."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.canvas.models.tables import COUNTED, Base, course_key, user_key


class Assignment(Base):
    """A piece of work of a course. A published graded quiz has one too."""

    __tablename__ = "assignments"
    __table_args__ = (
        Index("assignments_by_course", "course_id", "position", "id"),
        Index("assignments_by_due", "course_id", "due_at", "id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    quiz_id: Mapped[int | None] = mapped_column(ForeignKey("quizzes.id", ondelete="CASCADE"), unique=True)
    name: Mapped[str]
    description: Mapped[str | None]
    due_at: Mapped[str | None]
    unlock_at: Mapped[str | None]
    lock_at: Mapped[str | None]
    points_possible: Mapped[float]
    grading_type: Mapped[str]
    submission_types: Mapped[list[str]]
    allowed_attempts: Mapped[int]
    """-1: unlimited."""
    omit_from_final_grade: Mapped[bool]
    published: Mapped[bool]
    position: Mapped[int]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class Submission(Base):
    """Latest submission of a student for an assignment, with its grade."""

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("assignment_id", "user_id"),
        Index("submissions_by_user", "user_id", "graded_at"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    user_id: Mapped[int] = user_key()
    attempt: Mapped[int | None]
    """``None`` for work that was graded without having been handed in."""
    submission_type: Mapped[str | None]
    body: Mapped[str | None]
    url: Mapped[str | None]
    file_ids: Mapped[list[int]]
    submitted_at: Mapped[str | None]
    workflow_state: Mapped[str]
    grade: Mapped[str | None]
    score: Mapped[float | None]
    graded_at: Mapped[str | None]
    graded_attempt: Mapped[int | None]
    grader_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))


class EarlierAttempt(Base):
    """Earlier submission, replaced by a later attempt."""

    __tablename__ = "earlier_attempts"

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    attempt: Mapped[int] = mapped_column(primary_key=True)
    submission_type: Mapped[str | None]
    body: Mapped[str | None]
    url: Mapped[str | None]
    file_ids: Mapped[list[int]]
    submitted_at: Mapped[str | None]
    grade: Mapped[str | None]
    score: Mapped[float | None]


class SubmissionComment(Base):
    """A remark on a submission."""

    __tablename__ = "submission_comments"
    __table_args__ = (Index("comments_by_submission", "submission_id", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))
    author_id: Mapped[int] = user_key()
    attempt: Mapped[int | None]
    comment: Mapped[str]
    created_at: Mapped[str]


class Rubric(Base):
    """A scheme by which work is judged."""

    __tablename__ = "rubrics"
    __table_args__ = (Index("rubrics_by_course", "course_id", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    title: Mapped[str]
    description: Mapped[str | None]
    free_form_criterion_comments: Mapped[bool]
    hide_score_total: Mapped[bool]
    criteria: Mapped[list[dict[str, Any]]]
