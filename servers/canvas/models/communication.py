"""Announcements, discussions, conversations, events and reports."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.canvas.models.tables import COUNTED, Base, account_key, course_key, user_key


class DiscussionTopic(Base):
    """A discussion of a course, or an announcement."""

    __tablename__ = "discussion_topics"
    __table_args__ = (
        Index("topics_by_posting", "course_id", "is_announcement", "posted_at", "id"),
        Index("topics_by_reply", "course_id", "is_announcement", "pinned", "last_reply_at", "id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    user_id: Mapped[int] = user_key()
    is_announcement: Mapped[bool]
    title: Mapped[str]
    message: Mapped[str]
    posted_at: Mapped[str]
    last_reply_at: Mapped[str]
    """When the last entry was made; without entries, when the topic was posted."""
    published: Mapped[bool]
    locked: Mapped[bool]
    pinned: Mapped[bool]
    require_initial_post: Mapped[bool]


class DiscussionEntry(Base):
    """A post in a discussion."""

    __tablename__ = "discussion_entries"
    __table_args__ = (Index("entries_by_topic", "topic_id", "created_at", "id", "user_id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("discussion_topics.id", ondelete="CASCADE"))
    user_id: Mapped[int] = user_key()
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("discussion_entries.id", ondelete="CASCADE"))
    message: Mapped[str]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class Conversation(Base):
    """An exchange of messages between users."""

    __tablename__ = "conversations"
    __table_args__ = COUNTED

    id: Mapped[int] = mapped_column(primary_key=True)
    subject: Mapped[str | None]
    private: Mapped[bool]
    """Between two users only."""
    course_id: Mapped[int | None] = mapped_column(ForeignKey("courses.id"))
    last_message_at: Mapped[str]


class Participant(Base):
    """A user who takes part in a conversation."""

    __tablename__ = "conversation_participants"
    __table_args__ = (Index("conversations_by_user", "user_id", "conversation_id"),)

    conversation_id: Mapped[int] = mapped_column(ForeignKey("conversations.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    workflow_state: Mapped[str]
    """``read``, ``unread`` or ``archived``."""
    starred: Mapped[bool]


class Message(Base):
    """A message of a conversation."""

    __tablename__ = "conversation_messages"
    __table_args__ = (Index("messages_by_conversation", "conversation_id", "created_at", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    conversation_id: Mapped[int] = mapped_column(ForeignKey("conversations.id"))
    author_id: Mapped[int] = user_key()
    body: Mapped[str]
    created_at: Mapped[str]


class CalendarEvent(Base):
    """An event of a course or of a user."""

    __tablename__ = "calendar_events"
    __table_args__ = (
        Index("events_by_course", "course_id", "start_at", "id"),
        Index("events_by_user", "user_id", "start_at", "id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int | None] = mapped_column(ForeignKey("courses.id"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    title: Mapped[str]
    description: Mapped[str | None]
    location_name: Mapped[str | None]
    start_at: Mapped[str]
    end_at: Mapped[str]
    all_day: Mapped[bool]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class AccountReport(Base):
    """A report that an administrator asked for."""

    __tablename__ = "account_reports"
    __table_args__ = (Index("reports_by_account", "account_id", "report", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = account_key()
    user_id: Mapped[int] = user_key()
    report: Mapped[str]
    parameters: Mapped[dict[str, Any]]
    status: Mapped[str]
    progress: Mapped[int]
    content: Mapped[str]
    """The report itself, as CSV."""
    lines: Mapped[int]
    created_at: Mapped[str]
    ended_at: Mapped[str]
