"""Accounts, users, and who is signed in."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.canvas.models.tables import COUNTED, Base, account_key, user_key


class Account(Base):
    """An institution (root account) or a part of one."""

    __tablename__ = "accounts"
    __table_args__ = (Index("accounts_by_parent", "parent_account_id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    parent_account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    root_account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    """``None`` for a root account itself."""
    default_time_zone: Mapped[str]
    sis_account_id: Mapped[str | None]
    workflow_state: Mapped[str]


class User(Base):
    """A person who can sign in."""

    __tablename__ = "users"
    __table_args__ = (
        Index("users_by_name", "sortable_name", "id"),
        Index("users_by_email", "primary_email", "id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = account_key()
    """The root account."""
    name: Mapped[str]
    short_name: Mapped[str]
    sortable_name: Mapped[str]
    login_id: Mapped[str] = mapped_column(Text(collation="NOCASE"), unique=True)
    password: Mapped[str | None]
    primary_email: Mapped[str | None]
    sis_user_id: Mapped[str | None] = mapped_column(unique=True)
    bio: Mapped[str | None]
    title: Mapped[str | None]
    time_zone: Mapped[str]
    last_login: Mapped[str | None]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class SignIn(Base):
    """Signed-in user: one row, or none."""

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = user_key()


class AccountAdmin(Base):
    """A user who administers an account and all accounts below it."""

    __tablename__ = "account_admins"
    __table_args__ = (UniqueConstraint("user_id", "account_id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = user_key()
    account_id: Mapped[int] = account_key()


class Preference(Base):
    """Setting of a user, or a value that an application stores for the user."""

    __tablename__ = "preferences"
    __table_args__ = (UniqueConstraint("user_id", "name"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = user_key()
    name: Mapped[str]
    value: Mapped[str]
    """A JSON object."""
