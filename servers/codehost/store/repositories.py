"""Repositories: finding them, what one may do in them, making and forking them."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import bindparam, literal, select, text, union_all
from sqlalchemy.orm import aliased

from mesocosm.errors import Denied, Invalid, NotFound
from mesocosm.servers.codehost.models import (
    Account,
    Collaborator,
    Member,
    Protection,
    Ref,
    Repository,
)
from mesocosm.servers.codehost.store.accounts import ROLES
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import Unprocessable, clean, window
from mesocosm.services.service import Row

_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)

_OWNER = aliased(Account, name="owner")
_REPOSITORY = (
    select(
        *Repository.__table__.c,
        _OWNER.login.label("owner"),
        _OWNER.kind.label("owner_kind"),
        _OWNER.default_role,
        Collaborator.role.label("collaborator_role"),
        Member.role.label("member_role"),
    )
    .join(_OWNER, _OWNER.id == Repository.owner_id)
    .outerjoin(
        Collaborator,
        (Collaborator.repository_id == Repository.id) & (Collaborator.account_id == bindparam("me")),
    )
    .outerjoin(
        Member, (Member.organization_id == Repository.owner_id) & (Member.account_id == bindparam("me"))
    )
)
_BY_NAME = _REPOSITORY.where(_OWNER.login == bindparam("owner_login"), Repository.name == bindparam("name"))
_BY_ID = _REPOSITORY.where(Repository.id == bindparam("id"))
_TAKEN = select(Repository.id).where(
    Repository.owner_id == bindparam("owner"), Repository.name == bindparam("name")
)
_FORK = select(Repository.id).where(
    Repository.owner_id == bindparam("owner"), Repository.parent_id == bindparam("parent")
)
_PEOPLE = union_all(
    select(Collaborator.account_id, Collaborator.role, literal(1).label("direct")).where(
        Collaborator.repository_id == bindparam("repository")
    ),
    select(Member.account_id, Member.role, literal(0).label("direct")).where(
        Member.organization_id == bindparam("owner")
    ),
    select(Account.id, literal("admin"), literal(1)).where(
        Account.id == bindparam("owner"), Account.kind == "User"
    ),
).subquery("people")
_COLLABORATORS = select(Account.id, Account.login, _PEOPLE.c.role, _PEOPLE.c.direct).join(
    Account, Account.id == _PEOPLE.c.account_id
)


def role_of(row: Row, me: int) -> str:
    """Return the role of ``me`` in a repository, from a row that relates them."""
    if row["owner_id"] == me or row["member_role"] == "admin":
        return "admin"
    candidates = [row["collaborator_role"] or "none", "none" if row["private"] else "read"]
    if row["member_role"]:
        candidates.append(row["default_role"])
    return max(candidates, key=ROLES.index)


class Repositories(StorePart):
    """Repositories, and access to them."""

    def repository(self, owner: str, name: str, need: str = "read") -> Row:
        """A repository in which the signed-in account has at least the role ``need``.

        One that it may not even read does not exist for it.
        """
        me = self.me["id"]
        rows = self.fetch(_BY_NAME, owner_login=owner, name=name, me=me)
        if not rows or role_of(rows[0], me) == "none":
            raise NotFound("Not Found")
        self.require(rows[0], need)
        return rows[0]

    def repository_by_id(self, repository_id: int) -> Row:
        """A repository by its id, whoever asks."""
        return self.fetch(_BY_ID, id=repository_id, me=self.me["id"])[0]

    def find_repository(self, repository_id: int) -> Row | None:
        """A repository by its id, if the signed-in account may read it."""
        rows = self.fetch(_BY_ID, id=repository_id, me=self.me["id"])
        return rows[0] if rows and self.role(rows[0]) != "none" else None

    def role(self, repository: Row) -> str:
        """Return the signed-in account's role in a repository."""
        return role_of(repository, self.me["id"])

    def may(self, repository: Row, need: str) -> bool:
        """True if the signed-in account has at least the role ``need``."""
        return ROLES.index(self.role(repository)) >= ROLES.index(need)

    def require(self, repository: Row, need: str) -> None:
        """Refuse unless the signed-in account has at least the role ``need``; nobody writes to an archive."""
        if not self.may(repository, need):
            raise Denied(f"Must have {need} access to {repository['owner']}/{repository['name']}.")
        if need != "read" and repository["archived"]:
            raise Denied("Repository was archived so is read-only.")

    def writable(self, repository: Row) -> None:
        """Refuse to add to an archived repository."""
        if repository["archived"]:
            raise Denied("Repository was archived so is read-only.")

    def role_of_account(self, repository: Row, account_id: int) -> str:
        """Return an account's role in a repository."""
        return role_of(self.fetch(_BY_ID, id=repository["id"], me=account_id)[0], account_id)

    def new_repository(
        self,
        name: str,
        *,
        description: str | None = None,
        organization: str | None = None,
        private: bool = True,
        default_branch: str = "main",
        parent: Row | None = None,
    ) -> Row:
        """An empty repository, owned by the signed-in account or by an organisation that it belongs to."""
        owner = self._owner(self.me, organization)
        return self.repository_by_id(
            self.add_repository(
                owner,
                name,
                description=description,
                private=private,
                default_branch=default_branch,
                parent=parent,
            )
        )

    def add_repository(
        self,
        owner: Row,
        name: str,
        *,
        description: str | None,
        private: bool,
        default_branch: str,
        parent: Row | None = None,
    ) -> int:
        """An empty repository of an account; returns its id."""
        self.check_name(owner["id"], name)
        row = {
            "owner_id": owner["id"],
            "name": name,
            "description": clean(description or "", "description", limit=350) or None,
            "private": private,
            "default_branch": default_branch,
            "network": parent["network"] if parent else 0,
            "parent_id": parent["id"] if parent else None,
            "language": parent["language"] if parent else None,
            "created_at": self.today,
            "updated_at": self.today,
            "pushed_at": self.today,
        }
        new = self.insert(Repository, row)
        if not parent:
            self.update_row(Repository, new, network=new)
        return new

    def check_name(self, owner_id: int, name: str, own: int | None = None) -> None:
        """Refuse what is no name, or the name of another repository than ``own``."""
        if not _NAME.fullmatch(name) or name in (".", "..") or name.lower().endswith((".git", ".wiki")):
            raise Unprocessable(
                f"Repository creation failed: {name!r} is not a valid name. A name has up to 100 ASCII"
                " letters, digits and the characters . - _"
            )
        if any(row["id"] != own for row in self.fetch(_TAKEN, owner=owner_id, name=name)):
            raise Unprocessable("Repository creation failed: name already exists on this account")

    def fork_repository(self, parent: Row, organization: str | None = None) -> Row:
        """A fork of a repository; forking again gives the fork that is there."""
        target = self._owner(self.me, organization)
        if found := self.fetch(_FORK, owner=target["id"], parent=parent["id"]):
            return self.repository_by_id(found[0]["id"])
        if target["id"] == parent["owner_id"]:
            raise Denied("You cannot fork a repository to the account that owns it.")
        if not self.fetch(select(Ref.name).where(Ref.repository_id == parent["id"]).limit(1)):
            raise Denied(
                "The repository exists, but it contains no Git content. Empty repositories cannot be forked."
            )
        fork = self.new_repository(
            self._free_name(target["id"], parent["name"]),
            description=parent["description"],
            organization=organization,
            private=parent["private"],
            default_branch=parent["default_branch"],
            parent=parent,
        )
        for statement in (
            "INSERT INTO refs (repository_id, name, sha) SELECT :fork, name, sha FROM refs"
            " WHERE repository_id = :parent AND name NOT LIKE 'refs/pull/%'",
            "INSERT INTO history (repository_id, commit_id) SELECT :fork, commit_id FROM history"
            " WHERE repository_id = :parent",
        ):
            self.session.execute(text(statement), {"fork": fork["id"], "parent": parent["id"]})
        return fork

    def collaborators(
        self, repository: Row, affiliation: str, page: int | None, per_page: int | None
    ) -> tuple[list[dict[str, Any]], int]:
        """One page of those with access to a repository, by login, and how many there are."""
        if not self.may(repository, "write"):
            raise Denied("Must have push access to view repository collaborators.")
        limit, offset = window(page, per_page)
        people = self.people(repository)
        if affiliation == "outside":
            people = [person for person in people if not person["member"]]
        elif affiliation == "direct":
            people = [person for person in people if person["direct"]]
        return people[offset : offset + limit], len(people)

    def is_collaborator(self, repository: Row, account_id: int) -> bool:
        """True if an account has more rights than every reader."""
        if not self.may(repository, "write"):
            raise Denied("Must have push access to view repository collaborators.")
        return any(person["id"] == account_id for person in self.people(repository))

    def people(self, repository: Row) -> list[dict[str, Any]]:
        """Those with more access than everybody has, by login, each with the role."""
        people: dict[int, dict[str, Any]] = {}
        for row in self.fetch(_COLLABORATORS, repository=repository["id"], owner=repository["owner_id"]):
            role = row["role"]
            if not row["direct"]:
                role = "admin" if role == "admin" else repository["default_role"]
            person = people.setdefault(
                row["id"],
                {"id": row["id"], "login": row["login"], "role": "none", "direct": False, "member": False},
            )
            person["role"] = max(person["role"], role, key=ROLES.index)
            person["direct"] |= bool(row["direct"])
            person["member"] |= not row["direct"]
        able = [person for person in people.values() if person["role"] != "none"]
        return sorted(able, key=lambda person: str(person["login"]).lower())

    def protected_branches(self, repository_id: int) -> dict[str, int]:
        """Protected branches with the number of approvals that each asks for."""
        rows = self.fetch(
            select(Protection.branch, Protection.required_approvals).where(
                Protection.repository_id == repository_id
            )
        )
        return {row["branch"]: row["required_approvals"] for row in rows}

    # -- filling ----------------------------------------------------------------------------------------

    def set_role(self, owner: str, name: str, login: str, role: str) -> None:
        """Give somebody a role (``read``, ``triage``, ``write``, ``maintain``, ``admin``) in a repository."""
        if role not in ROLES[1:]:
            raise Invalid(f"A role is one of {', '.join(ROLES[1:])}, not {role!r}.")
        repository = self.any_repository(owner, name)
        self.session.merge(
            Collaborator(
                repository_id=repository["id"], account_id=self.store.accounts.account(login)["id"], role=role
            )
        )
        self.session.flush()

    def protect_branch(self, owner: str, name: str, branch: str, *, required_approvals: int = 0) -> None:
        """Have a branch change through pull requests only, each with so many approvals."""
        repository = self.any_repository(owner, name)
        self.session.merge(
            Protection(repository_id=repository["id"], branch=branch, required_approvals=required_approvals)
        )
        self.session.flush()

    def describe_repository(self, owner: str, name: str, **columns: Any) -> None:
        """Set what no tool sets: ``language``, ``topics`` (a list), ``stars``, ``homepage``, ``archived``."""
        allowed = {"description", "language", "topics", "stars", "homepage", "archived"}
        if unknown := sorted(columns.keys() - allowed):
            raise Invalid(f"A repository has no settable {unknown[0]!r}.")
        if "topics" in columns:
            columns["topics"] = " ".join(columns["topics"])
        repository = self.any_repository(owner, name)
        self.update_row(Repository, repository["id"], **columns)

    def any_repository(self, owner: str, name: str) -> Row:
        """Return a repository by name for generators, whoever is signed in."""
        rows = self.fetch(_BY_NAME, owner_login=owner, name=name, me=0)
        if not rows:
            raise NotFound(f"There is no repository {owner}/{name}.")
        return rows[0]

    def _owner(self, me: Row, organization: str | None) -> Row:
        if organization is None or organization.lower() == me["login"].lower():
            return me
        owner = self.store.accounts.account(organization)
        if owner["kind"] != "Organization":
            raise NotFound("Not Found")
        if self.store.accounts.member_role(owner["id"], me["id"]) is None:
            raise Denied("You need to be a member of the organization to create a repository in it.")
        return owner

    def _free_name(self, owner_id: int, name: str) -> str:
        free, count = name, 0
        while self.fetch(_TAKEN, owner=owner_id, name=free):
            count += 1
            free = f"{name}-{count}"
        return free
