"""Teams and memberships of organisations, and what is the signed-in account's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.context import PREFIX, At, Context
from mesocosm.servers.codehost.rest.shapes import issues as issue_shapes
from mesocosm.servers.codehost.rest.shapes.accounts import organization, profile, repository, user
from mesocosm.servers.codehost.rest.shapes.pulls import team
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Row

_ORG = f"{PREFIX}/orgs/{{org}}"


# -- teams --------------------------------------------------------------------------------------------------


def _full(at: Context, row: Row) -> Json:
    """Format a team with its organisation and number of members."""
    owner = at.store.accounts.account_by_id(row["organization_id"])
    return team(at, owner["login"], row) | {
        "organization": organization(at, owner),
        "members_count": len(at.store.accounts.team_members(row["team_id"])),
        "repos_count": 0,
        "created_at": owner["created_at"],
        "updated_at": owner["created_at"],
    }


@api.get(f"{_ORG}/teams")
def list_teams(at: At, org: str) -> Page:
    """The teams of an organisation."""
    owner = at.store.accounts.account(org)
    return at.listed(
        at.store.accounts.teams(organization_id=owner["id"]), lambda row: team(at, owner["login"], row)
    )


@api.get(f"{PREFIX}/user/teams")
def list_own_teams(at: At) -> Page:
    """The teams that the signed-in account belongs to."""
    return at.listed(at.store.accounts.teams(member_id=at.store.me["id"]), lambda row: _full(at, row))


def _team(store: CodehostStore, org: str, slug: str) -> Row:
    wanted = store.accounts.team(org, slug)["id"]
    teams = store.accounts.teams(organization_id=store.accounts.account(org)["id"])
    return next(row for row in teams if row["team_id"] == wanted)


@api.get(f"{_ORG}/teams/{{slug}}")
def get_team(at: At, org: str, slug: str) -> Json:
    return _full(at, _team(at.store, org, slug))


@api.get(f"{_ORG}/teams/{{slug}}/members")
def list_team_members(
    at: At, org: str, slug: str, role: Literal["member", "maintainer", "all"] = "all"
) -> Page:
    """List a team's members. Nobody is its maintainer."""
    people = (
        at.store.accounts.team_members(_team(at.store, org, slug)["team_id"]) if role != "maintainer" else ()
    )
    return at.listed(people, lambda row: user(at, row["id"], row["login"]))


@api.get(f"{_ORG}/teams/{{slug}}/memberships/{{username}}")
def get_team_membership(at: At, org: str, slug: str, username: str) -> Json:
    """Return an account's membership in a team, else 404."""
    row, login = _team(at.store, org, slug), at.store.accounts.account(username)["login"]
    if all(person["login"] != login for person in at.store.accounts.team_members(row["team_id"])):
        raise NotFound("Not Found")
    url = at.api("orgs", org, "teams", slug, "memberships", login)
    return {"url": url, "role": "member", "state": "active"}


# -- memberships --------------------------------------------------------------------------------------------


def _membership(at: Context, owner: Row, account: Row) -> Json:
    role = at.store.accounts.member_role(owner["id"], account["id"])
    if role is None:
        raise NotFound("Not Found")
    return {
        "url": at.api("orgs", owner["login"], "memberships", account["login"]),
        "state": "active",
        "role": role,
        "organization_url": at.api("orgs", owner["login"]),
        "organization": organization(at, owner),
        "user": user(at, account["id"], account["login"]),
        "permissions": {"can_create_repository": role == "admin"},
    }


@api.get(f"{PREFIX}/user/memberships/orgs")
def list_memberships(at: At, state: Literal["active", "pending"] = "active") -> Page:
    """List the signed-in account's memberships in organisations."""
    found = at.store.listing.organizations(at.store.me["id"]) if state == "active" else ()
    return at.listed(found, lambda row: _membership(at, row, at.store.me))


@api.get(f"{PREFIX}/user/memberships/orgs/{{org}}")
def get_own_membership(at: At, org: str) -> Json:
    """Return the signed-in account's membership in an organisation."""
    return _membership(at, at.store.accounts.account(org), at.store.me)


@api.get(f"{_ORG}/memberships/{{username}}")
def get_membership(at: At, org: str, username: str) -> Json:
    """Return an account's membership in an organisation."""
    account = at.store.accounts.account(username)
    return _membership(at, at.store.accounts.account(org), account)


# -- one's own ----------------------------------------------------------------------------------------------


@api.get(f"{PREFIX}/user/emails")
def list_emails(at: At) -> Page:
    """The address of the signed-in account."""
    address = at.store.me["email"]
    found = {"email": address, "primary": True, "verified": True, "visibility": "public"}
    return at.listed([found] if address else [])


@api.get(f"{PREFIX}/user/{{id:int}}")
def get_user_by_id(at: At, id: int) -> Json:
    """An account by its id."""
    return profile(at, at.store.accounts.account_by_id(id))


@api.get(f"{PREFIX}/issues")
@api.get(f"{PREFIX}/user/issues")
@api.get(f"{_ORG}/issues")
def list_own_issues(
    at: At,
    filter: Literal["assigned", "created", "mentioned", "subscribed", "repos", "all"] = "assigned",
    state: Literal["open", "closed", "all"] = "open",
    labels: str = "",
    since: str | None = None,
    sort: Literal["created", "updated", "comments"] = "created",
    direction: Literal["asc", "desc"] = "desc",
    pulls: Literal["true", "false"] = "true",
) -> Page:
    """The issues, of all repositories or those of an organisation, that concern the signed-in account.

    ``subscribed`` are those that it opened, is assigned to or is mentioned in.
    """
    org = at.request.params.get("org")
    rows, total = at.store.listing.own_issues(
        filter,
        owner_id=at.store.accounts.account(org)["id"] if org else None,
        state=state,
        labels=[label.strip() for label in labels.split(",") if label.strip()],
        since=since,
        pulls=None if pulls == "true" else False,
        sort=sort,
        direction=direction,
        **at.window,
    )
    homes = {id_: repository(at, at.store.repositories.repository_by_id(id_)) for id_ in _homes(rows)}
    shown = issue_shapes.issues(at, rows)
    with_homes = [
        one | {"repository": homes[row["repository_id"]]} for one, row in zip(shown, rows, strict=True)
    ]
    return at.paged(with_homes, total)


def _homes(rows: Sequence[Row]) -> dict[int, None]:
    return dict.fromkeys(row["repository_id"] for row in rows)
