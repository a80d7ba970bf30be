"""Courses and enrollments."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.canvas.models.tables import COUNTED, Base, account_key, course_key, user_key


class Course(Base):
    __tablename__ = "courses"
    __table_args__ = (Index("courses_by_account", "account_id", "name", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = account_key()
    name: Mapped[str]
    course_code: Mapped[str]
    workflow_state: Mapped[str]
    """``unpublished``, ``available``, ``completed`` or ``deleted``."""
    start_at: Mapped[str | None]
    end_at: Mapped[str | None]
    syllabus_body: Mapped[str | None]
    is_public: Mapped[bool]
    time_zone: Mapped[str]
    sis_course_id: Mapped[str | None]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class Enrollment(Base):
    """A user's part in a course."""

    __tablename__ = "enrollments"
    __table_args__ = (
        UniqueConstraint("user_id", "course_id", "type"),
        Index("enrollments_by_course", "course_id", "type", "enrollment_state", "user_id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    user_id: Mapped[int] = user_key()
    type: Mapped[str]
    enrollment_state: Mapped[str]
    """``active``, ``invited``, ``inactive`` or ``completed``."""
    associated_user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    """The student that an observer observes."""
    created_at: Mapped[str]
    updated_at: Mapped[str]
