"""Teams and memberships of organisations, and what is the signed-in account's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mesocosm.doors.request import Request
from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import api, cut, paged, window_of
from mesocosm.servers.codehost.rest.links import PREFIX, Links
from mesocosm.servers.codehost.rest.shapes import issues as issue_shapes
from mesocosm.servers.codehost.rest.shapes.accounts import organization, profile, repository, user
from mesocosm.servers.codehost.rest.shapes.pulls import team
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Row

_ORG = f"{PREFIX}/orgs/{{org}}"


# -- teams --------------------------------------------------------------------------------------------------


def _full(links: Links, store: CodehostStore, row: Row) -> Json:
    """Format a team with its organisation and number of members."""
    owner = store.accounts.account_by_id(row["organization_id"])
    return team(links, owner["login"], row) | {
        "organization": organization(links, store, owner),
        "members_count": len(store.accounts.team_members(row["team_id"])),
        "repos_count": 0,
        "created_at": owner["created_at"],
        "updated_at": owner["created_at"],
    }


@api.get(f"{_ORG}/teams")
def list_teams(store: CodehostStore, request: Request, org: str) -> Page:
    """The teams of an organisation."""
    owner, links = store.accounts.account(org), Links(request)
    rows, total = cut(request, store.accounts.teams(organization_id=owner["id"]))
    return paged(request, [team(links, owner["login"], row) for row in rows], total)


@api.get(f"{PREFIX}/user/teams")
def list_own_teams(store: CodehostStore, request: Request) -> Page:
    """The teams that the signed-in account belongs to."""
    rows, total = cut(request, store.accounts.teams(member_id=store.me["id"]))
    return paged(request, [_full(Links(request), store, row) for row in rows], total)


def _team(store: CodehostStore, org: str, slug: str) -> Row:
    wanted = store.accounts.team(org, slug)["id"]
    teams = store.accounts.teams(organization_id=store.accounts.account(org)["id"])
    return next(row for row in teams if row["team_id"] == wanted)


@api.get(f"{_ORG}/teams/{{slug}}")
def get_team(store: CodehostStore, request: Request, org: str, slug: str) -> Json:
    return _full(Links(request), store, _team(store, org, slug))


@api.get(f"{_ORG}/teams/{{slug}}/members")
def list_team_members(
    store: CodehostStore,
    request: Request,
    org: str,
    slug: str,
    role: Literal["member", "maintainer", "all"] = "all",
) -> Page:
    """List a team's members. Nobody is its maintainer."""
    people = store.accounts.team_members(_team(store, org, slug)["team_id"]) if role != "maintainer" else ()
    rows, total = cut(request, people)
    return paged(request, [user(Links(request), row["id"], row["login"]) for row in rows], total)


@api.get(f"{_ORG}/teams/{{slug}}/memberships/{{username}}")
def get_team_membership(store: CodehostStore, request: Request, org: str, slug: str, username: str) -> Json:
    """Return an account's membership in a team, else 404."""
    row, login = _team(store, org, slug), store.accounts.account(username)["login"]
    if all(person["login"] != login for person in store.accounts.team_members(row["team_id"])):
        raise NotFound("Not Found")
    url = Links(request).api("orgs", org, "teams", slug, "memberships", login)
    return {"url": url, "role": "member", "state": "active"}


# -- memberships --------------------------------------------------------------------------------------------


def _membership(links: Links, store: CodehostStore, owner: Row, account: Row) -> Json:
    role = store.accounts.member_role(owner["id"], account["id"])
    if role is None:
        raise NotFound("Not Found")
    return {
        "url": links.api("orgs", owner["login"], "memberships", account["login"]),
        "state": "active",
        "role": role,
        "organization_url": links.api("orgs", owner["login"]),
        "organization": organization(links, store, owner),
        "user": user(links, account["id"], account["login"]),
        "permissions": {"can_create_repository": role == "admin"},
    }


@api.get(f"{PREFIX}/user/memberships/orgs")
def list_memberships(
    store: CodehostStore, request: Request, state: Literal["active", "pending"] = "active"
) -> Page:
    """List the signed-in account's memberships in organisations."""
    found = store.listing.organizations(store.me["id"]) if state == "active" else ()
    rows, total = cut(request, found)
    links = Links(request)
    return paged(request, [_membership(links, store, row, store.me) for row in rows], total)


@api.get(f"{PREFIX}/user/memberships/orgs/{{org}}")
def get_own_membership(store: CodehostStore, request: Request, org: str) -> Json:
    """Return the signed-in account's membership in an organisation."""
    return _membership(Links(request), store, store.accounts.account(org), store.me)


@api.get(f"{_ORG}/memberships/{{username}}")
def get_membership(store: CodehostStore, request: Request, org: str, username: str) -> Json:
    """Return an account's membership in an organisation."""
    account = store.accounts.account(username)
    return _membership(Links(request), store, store.accounts.account(org), account)


# -- one's own ----------------------------------------------------------------------------------------------


@api.get(f"{PREFIX}/user/emails")
def list_emails(store: CodehostStore, request: Request) -> Page:
    """The address of the signed-in account."""
    address = store.me["email"]
    found = {"email": address, "primary": True, "verified": True, "visibility": "public"}
    rows, total = cut(request, [found] if address else [])
    return paged(request, rows, total)


@api.get(f"{PREFIX}/user/{{id:int}}")
def get_user_by_id(store: CodehostStore, request: Request, id: int) -> Json:
    """An account by its id."""
    return profile(Links(request), store, store.accounts.account_by_id(id))


@api.get(f"{PREFIX}/issues")
@api.get(f"{PREFIX}/user/issues")
@api.get(f"{_ORG}/issues")
def list_own_issues(
    store: CodehostStore,
    request: Request,
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
    org = request.params.get("org")
    page, per_page = window_of(request)
    rows, total = store.listing.own_issues(
        filter,
        owner_id=store.accounts.account(org)["id"] if org else None,
        state=state,
        labels=[label.strip() for label in labels.split(",") if label.strip()],
        since=since,
        pulls=None if pulls == "true" else False,
        sort=sort,
        direction=direction,
        page=page,
        per_page=per_page,
    )
    links = Links(request)
    homes = {id_: repository(links, store, store.repositories.repository_by_id(id_)) for id_ in _homes(rows)}
    shown = issue_shapes.issues(links, store, rows)
    with_homes = [
        one | {"repository": homes[row["repository_id"]]} for one, row in zip(shown, rows, strict=True)
    ]
    return paged(request, with_homes, total)


def _homes(rows: Sequence[Row]) -> dict[int, None]:
    return dict.fromkeys(row["repository_id"] for row in rows)
