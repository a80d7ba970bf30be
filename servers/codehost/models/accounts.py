"""People, organisations and teams."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.codehost.models.declarative import Base, Name


class Account(Base):
    """A person or an organisation: whoever can own a repository."""

    __tablename__ = "accounts"
    __table_args__ = (
        UniqueConstraint("login"),
        # Whose commit it is, is known by the address that the commit carries.
        Index("accounts_by_email", "email", unique=True),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    login: Mapped[str] = mapped_column(Name)
    kind: Mapped[str] = mapped_column(Text, default="User")
    """``User`` or ``Organization``."""
    name: Mapped[str] = mapped_column(Text)
    email: Mapped[str | None] = mapped_column(Name)
    company: Mapped[str | None] = mapped_column(Text)
    blog: Mapped[str | None] = mapped_column(Text)
    location: Mapped[str | None] = mapped_column(Text)
    bio: Mapped[str | None] = mapped_column(Text)
    followers: Mapped[int] = mapped_column(default=0)
    following: Mapped[int] = mapped_column(default=0)
    default_role: Mapped[str] = mapped_column(Text, default="read")
    """Of an organisation: what its members may do in each of its repositories."""
    created_at: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[str] = mapped_column(Text)


class SignIn(Base):
    """Signed-in account: one row, or none."""

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))


class Member(Base):
    """Somebody's membership of an organisation."""

    __tablename__ = "members"
    __table_args__ = (Index("members_by_account", "account_id"),)

    organization_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    role: Mapped[str] = mapped_column(Text, default="member")
    """``member`` or ``admin``."""


class Team(Base):
    """A team of an organisation."""

    __tablename__ = "teams"
    __table_args__ = (UniqueConstraint("organization_id", "slug"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    slug: Mapped[str] = mapped_column(Name)
    name: Mapped[str] = mapped_column(Text)


class TeamMember(Base):
    """Somebody's membership of a team."""

    __tablename__ = "team_members"

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
