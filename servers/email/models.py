"""Tables of the email service.

Times are ISO-8601 UTC text (``2025-01-15T09:00:00Z``): fixed width, so text order is time order.
"""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, LargeBinary, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``email.db``."""


class Account(Base):
    """A person with a mailbox on this server."""

    __tablename__ = "accounts"

    email: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    password: Mapped[str] = mapped_column(Text)
    created_at: Mapped[str] = mapped_column(Text)


class SignIn(Base):
    """Who is signed in: one row, or none."""

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(ForeignKey("accounts.email"))


class Folder(Base):
    """A folder of a mailbox."""

    __tablename__ = "folders"
    __table_args__ = (UniqueConstraint("account", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    account: Mapped[str] = mapped_column(ForeignKey("accounts.email"))
    name: Mapped[str] = mapped_column(Text)


class Email(Base):
    """One mailbox's copy of a message."""

    __tablename__ = "emails"
    __table_args__ = (
        # The listing order of a folder, and its unread count, are read from these alone.
        Index("emails_by_date", "folder_id", "date", "id"),
        Index("emails_unread", "folder_id", "is_read"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    folder_id: Mapped[int] = mapped_column(ForeignKey("folders.id"))
    message_id: Mapped[str] = mapped_column(Text)
    in_reply_to: Mapped[str | None] = mapped_column(Text)
    references: Mapped[str | None] = mapped_column(Text)
    sender: Mapped[str] = mapped_column(Text)
    to: Mapped[str] = mapped_column(Text)
    cc: Mapped[str | None] = mapped_column(Text)
    bcc: Mapped[str | None] = mapped_column(Text)
    subject: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    html_body: Mapped[str | None] = mapped_column(Text)
    date: Mapped[str] = mapped_column(Text)
    is_read: Mapped[bool] = mapped_column(default=False)
    is_important: Mapped[bool] = mapped_column(default=False)


class Attachment(Base):
    """A file that came with a message."""

    __tablename__ = "attachments"
    __table_args__ = (Index("attachments_by_email", "email_id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    email_id: Mapped[int] = mapped_column(ForeignKey("emails.id", ondelete="CASCADE"))
    filename: Mapped[str] = mapped_column(Text)
    content_type: Mapped[str] = mapped_column(Text)
    data: Mapped[bytes] = mapped_column(LargeBinary)
