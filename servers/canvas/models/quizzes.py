"""Quizzes, questions and attempts."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.canvas.models.tables import COUNTED, Base, course_key, user_key


class Quiz(Base):
    """A quiz of a course."""

    __tablename__ = "quizzes"
    __table_args__ = (Index("quizzes_by_course", "course_id", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    title: Mapped[str]
    description: Mapped[str | None]
    quiz_type: Mapped[str]
    time_limit: Mapped[int | None]
    """Minutes."""
    due_at: Mapped[str | None]
    unlock_at: Mapped[str | None]
    lock_at: Mapped[str | None]
    shuffle_answers: Mapped[bool]
    show_correct_answers: Mapped[bool]
    allowed_attempts: Mapped[int]
    """-1: unlimited."""
    scoring_policy: Mapped[str]
    access_code: Mapped[str | None]
    published: Mapped[bool]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class QuizQuestion(Base):
    """A question of a quiz; its answers with their weights are the key."""

    __tablename__ = "quiz_questions"
    __table_args__ = (
        # Counts and points of a quiz are read from the index alone.
        Index("questions_by_quiz", "quiz_id", "position", "id", "question_type", "points_possible"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    quiz_id: Mapped[int] = mapped_column(ForeignKey("quizzes.id", ondelete="CASCADE"))
    position: Mapped[int]
    question_name: Mapped[str]
    question_text: Mapped[str]
    question_type: Mapped[str]
    points_possible: Mapped[float]
    answers: Mapped[list[dict[str, Any]]]


class QuizSubmission(Base):
    """One attempt at a quiz."""

    __tablename__ = "quiz_submissions"
    __table_args__ = (UniqueConstraint("quiz_id", "user_id", "attempt"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    quiz_id: Mapped[int] = mapped_column(ForeignKey("quizzes.id", ondelete="CASCADE"))
    user_id: Mapped[int] = user_key()
    attempt: Mapped[int]
    started_at: Mapped[str]
    end_at: Mapped[str | None]
    """When the attempt's time is up."""
    finished_at: Mapped[str | None]
    workflow_state: Mapped[str]
    """``untaken`` or ``complete``."""
    score: Mapped[float | None]
