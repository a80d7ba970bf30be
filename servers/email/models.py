"""Tables of the email service.

Times are ISO-8601 UTC text (``2025-01-15T09:00:00Z``): fixed width, so text order is time order. The columns
``sender``, ``to``, ``cc`` and ``bcc`` hold address lists as a header shows them, in one normal form
(``Ann Lee <ann@example.com>, bob@example.com``); ``addresses`` reads them.
"""

from __future__ import annotations

from sqlalchemy import DDL, ForeignKey, Index, LargeBinary, Text, UniqueConstraint, event
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``email.db``."""


class Account(Base):
    """A person with a mailbox on this server; addresses are kept in lower case."""

    __tablename__ = "accounts"

    email: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    password: Mapped[str] = mapped_column(Text)
    created_at: Mapped[str] = mapped_column(Text)


class SignIn(Base):
    """Signed-in account: one row, or none."""

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
    """One mailbox's copy of a message. Its id is also its IMAP UID; the booleans are its IMAP flags."""

    __tablename__ = "emails"
    __table_args__ = (
        # The listing order of a folder, and its unread count, are read from these alone.
        Index("emails_by_date", "folder_id", "date", "id"),
        Index("emails_unread", "folder_id", "is_read"),
        {"sqlite_autoincrement": True},
    )

    # The bodies stand last, so that reading the other columns does not walk over them.
    id: Mapped[int] = mapped_column(primary_key=True)
    folder_id: Mapped[int] = mapped_column(ForeignKey("folders.id"))
    date: Mapped[str] = mapped_column(Text)
    is_read: Mapped[bool] = mapped_column(default=False)
    r"""``\Seen``"""
    is_important: Mapped[bool] = mapped_column(default=False)
    r"""``\Flagged``"""
    is_answered: Mapped[bool] = mapped_column(default=False)
    r"""``\Answered``"""
    is_deleted: Mapped[bool] = mapped_column(default=False)
    r"""``\Deleted``: set by IMAP clients between their two steps of deleting; the tools never set it."""
    is_draft: Mapped[bool] = mapped_column(default=False)
    r"""``\Draft``"""
    message_id: Mapped[str] = mapped_column(Text)
    in_reply_to: Mapped[str | None] = mapped_column(Text)
    references: Mapped[str | None] = mapped_column(Text)
    """Message-ids of the conversation, oldest first, separated by blanks."""
    sender: Mapped[str] = mapped_column(Text)
    to: Mapped[str] = mapped_column(Text)
    cc: Mapped[str | None] = mapped_column(Text)
    bcc: Mapped[str | None] = mapped_column(Text)
    """Only ever set on the sender's own copy."""
    subject: Mapped[str] = mapped_column(Text)
    drafted_at: Mapped[str | None] = mapped_column(Text)
    """When a draft was first saved; ``date`` is when it was last changed."""
    body: Mapped[str] = mapped_column(Text)
    html_body: Mapped[str | None] = mapped_column(Text)


class Attachment(Base):
    """A file that came with a message; within one message the names differ."""

    __tablename__ = "attachments"
    __table_args__ = (UniqueConstraint("email_id", "filename"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    email_id: Mapped[int] = mapped_column(ForeignKey("emails.id", ondelete="CASCADE"))
    filename: Mapped[str] = mapped_column(Text)
    content_type: Mapped[str] = mapped_column(Text)
    size: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary)


class Delivery(Base):
    """Delivery in the server's log. It stays, whatever happens to the copies."""

    __tablename__ = "deliveries"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(primary_key=True)
    email_id: Mapped[int]
    """The sender's copy, as long as there is one."""
    sender: Mapped[str] = mapped_column(Text)
    recipients: Mapped[str] = mapped_column(Text)
    """Addresses of the envelope."""


# Which messages hold which three characters in a row: finds any part of a word, as mail servers do. With
# ``detail=none`` it is a third of the size, and says which messages may match; the search then looks.
SEARCHED = ("subject", "sender", "to", "cc", "bcc", "body")
_COLUMNS = ", ".join(f'"{name}"' for name in SEARCHED)


def _values(row: str) -> str:
    return ", ".join([f"{row}.id", *(f'{row}."{name}"' for name in SEARCHED)])


_FORGET = f"INSERT INTO emails_text (emails_text, rowid, {_COLUMNS}) VALUES ('delete', {_values('old')});"
_LEARN = f"INSERT INTO emails_text (rowid, {_COLUMNS}) VALUES ({_values('new')});"

for _statement in (
    f"CREATE VIRTUAL TABLE emails_text USING fts5({_COLUMNS}, content='emails', content_rowid='id',"
    " tokenize='trigram', detail=none)",
    f"CREATE TRIGGER emails_text_added AFTER INSERT ON emails BEGIN {_LEARN} END",
    f"CREATE TRIGGER emails_text_removed AFTER DELETE ON emails BEGIN {_FORGET} END",
    f"CREATE TRIGGER emails_text_changed AFTER UPDATE OF {_COLUMNS} ON emails BEGIN {_FORGET} {_LEARN} END",
):
    event.listen(Base.metadata, "after_create", DDL(_statement))  # type: ignore[no-untyped-call]
