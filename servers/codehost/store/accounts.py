"""Accounts, and the signed-in one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, insert, select

from mesocosm.errors import Invalid
from mesocosm.servers.codehost.models import Account, Member, Repository, SignIn, Team, TeamMember
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import known, timestamp
from mesocosm.services.service import Row

ROLES = ("none", "read", "triage", "write", "maintain", "admin")
"""Roles in a repository, from least to most."""

_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}", re.ASCII)
_EMAIL = re.compile(r"[^@\s<>\0]+@[^@\s<>\0]+")

_BY_LOGIN = select(*Account.__table__.c).where(Account.login == bindparam("login"))
_BY_ID = select(*Account.__table__.c).where(Account.id == bindparam("id"))
_TEAM = (
    select(Team.id, Team.slug, Account.login.label("organization"))
    .join(Account, Account.id == Team.organization_id)
    .where(Account.login == bindparam("organization"), Team.slug == bindparam("slug"))
)
_MEMBER = select(Member.role).where(
    Member.organization_id == bindparam("organization"), Member.account_id == bindparam("account")
)
_REPOSITORY_COUNTS = select(
    func.count().filter(~Repository.private).label("public_repos"),
    func.count().filter(Repository.private).label("private_repos"),
).where(Repository.owner_id == bindparam("owner"))


class Accounts(StorePart):
    """Accounts, and the signed-in one."""

    def account(self, login: str) -> Row:
        return self.one(_BY_LOGIN, login=login)

    def account_by_id(self, account_id: int) -> Row:
        return self.one(_BY_ID, id=known(account_id))

    def member_role(self, organization_id: int, account_id: int) -> str | None:
        """``member`` or ``admin`` of an organisation, or ``None``."""
        rows = self.fetch(_MEMBER, organization=organization_id, account=account_id)
        return str(rows[0]["role"]) if rows else None

    def team(self, organization: str, slug: str) -> Row:
        """A team by the organisation's login and its slug."""
        return self.one(_TEAM, organization=organization, slug=slug)

    def teams(self, *, organization_id: int | None = None, member_id: int | None = None) -> Sequence[Row]:
        """The teams of an organisation, or those that somebody belongs to."""
        found = select(Team.id.label("team_id"), Team.slug, Team.name, Team.organization_id).order_by(Team.id)
        if organization_id is not None:
            found = found.where(Team.organization_id == organization_id)
        if member_id is not None:
            found = found.join(TeamMember, TeamMember.team_id == Team.id).where(
                TeamMember.account_id == member_id
            )
        return self.fetch(found)

    def team_members(self, team_id: int) -> Sequence[Row]:
        """List a team's members by login."""
        found = select(Account.id, Account.login).join(TeamMember, TeamMember.account_id == Account.id)
        return self.fetch(found.where(TeamMember.team_id == team_id).order_by(func.lower(Account.login)))

    def repository_counts(self, account_id: int) -> Row:
        """Count an account's public and private repositories."""
        return self.fetch(_REPOSITORY_COUNTS, owner=account_id)[0]

    # -- filling ----------------------------------------------------------------------------------------

    def create_account(
        self,
        login: str,
        name: str = "",
        email: str | None = None,
        *,
        created_at: datetime | None = None,
        **profile: Any,
    ) -> int:
        """A new person; returns the id.

        ``profile``: company, blog, location, bio, followers, following. Without ``email`` the account has the
        product's no-reply address.
        """
        address = email or f"{login}@users.noreply.github.com"
        return self._add_account("User", login, name, address, profile, created_at)

    def create_organization(
        self,
        login: str,
        name: str = "",
        members: Mapping[str, str] | None = None,
        *,
        default_role: str = "read",
    ) -> int:
        """A new organisation; ``members`` maps logins to ``member`` or ``admin``."""
        if default_role not in ("none", "read", "write", "admin"):
            raise Invalid(f"An organisation's default role cannot be {default_role!r}.")
        organization = self._add_account("Organization", login, name, None, {"default_role": default_role})
        for member, role in (members or {}).items():
            if role not in ("member", "admin"):
                raise Invalid(f"A member's role is member or admin, not {role!r}.")
            self.session.execute(
                insert(Member),
                {"organization_id": organization, "account_id": self.account(member)["id"], "role": role},
            )
        return organization

    def create_team(self, organization: str, slug: str, name: str = "", members: Sequence[str] = ()) -> int:
        """A new team of an organisation."""
        row = {"organization_id": self.account(organization)["id"], "slug": slug, "name": name or slug}
        team = self.insert(Team, row)
        for member in members:
            self.session.execute(
                insert(TeamMember), {"team_id": team, "account_id": self.account(member)["id"]}
            )
        return team

    def sign_in(self, login: str) -> None:
        """Make this the account that the tools act for."""
        account = self.account(login)
        if account["kind"] != "User":
            raise Invalid(f"{login} is an organisation; people sign in.")
        self.session.merge(SignIn(id=1, account_id=account["id"]))
        self.session.flush()

    def _add_account(
        self,
        kind: str,
        login: str,
        name: str,
        email: str | None,
        more: Mapping[str, Any],
        created_at: datetime | None = None,
    ) -> int:
        if not _LOGIN.fullmatch(login):
            raise Invalid(
                f"Username {login!r} may only contain alphanumeric characters or single hyphens,"
                " and cannot begin or end with a hyphen."
            )
        if email is not None and not _EMAIL.fullmatch(email):
            raise Invalid(f"{email!r} is not an e-mail address.")
        if self.fetch(_BY_LOGIN, login=login):
            raise Invalid(f"Username {login} is not available.")
        row = {"login": login, "kind": kind, "name": name or login, "email": email} | dict(more)
        created = timestamp(created_at or self.now)
        row |= {"created_at": created, "updated_at": created}
        return self.insert(Account, row)
