"""Accounts, organisations and repositories."""

from __future__ import annotations

from typing import Any, Literal

from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import RATE, api
from mesocosm.servers.codehost.rest.bodies import read
from mesocosm.servers.codehost.rest.context import PREFIX, At, AtRepo, Context
from mesocosm.servers.codehost.rest.shapes.accounts import (
    full_repository,
    organization,
    profile,
    repositories,
    user,
)
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Row

Direction = Literal["asc", "desc"]
RepositorySort = Literal["created", "updated", "pushed", "full_name"]
_PERMISSIONS = {"maintain": "write", "triage": "read"}
"""Roles that the older of the product's two words for them does not know."""


_PAGED = "{&page,per_page,sort,order}"
_PLACES = {
    "current_user": "user",
    "current_user_repositories": "user/repos{?type,page,per_page,sort}",
    "emails": "user/emails",
    "emojis": "emojis",
    "events": "events",
    "feeds": "feeds",
    "followers": "user/followers",
    "following": "user/following{/target}",
    "gists": "gists{/gist_id}",
    "issues": "issues",
    "keys": "user/keys",
    "notifications": "notifications",
    "organization": "orgs/{org}",
    "organization_repositories": "orgs/{org}/repos{?type,page,per_page,sort}",
    "organization_teams": "orgs/{org}/teams",
    "public_gists": "gists/public",
    "rate_limit": "rate_limit",
    "repository": "repos/{owner}/{repo}",
    "starred": "user/starred{/owner}{/repo}",
    "starred_gists": "gists/starred",
    "user": "users/{user}",
    "user_organizations": "user/orgs",
    "user_repositories": "users/{user}/repos{?type,page,per_page,sort}",
    **{
        f"{name}_search": f"search/{path}?q={{query}}{_PAGED}"
        for name, path in (
            ("code", "code"),
            ("commit", "commits"),
            ("issue", "issues"),
            ("repository", "repositories"),
            ("user", "users"),
        )
    },
    "label_search": "search/labels?q={query}&repository_id={repository_id}{&page,per_page}",
}
"""Documented URLs; not all are served."""


@api.get(PREFIX)
@api.get(f"{PREFIX}/")
def root(at: At) -> Json:
    """List the API's endpoints."""
    shown = {f"{name}_url": at.api("") + path for name, path in _PLACES.items()}
    return shown | {"current_user_authorizations_html_url": at.web("settings/connections/applications")}


@api.get(f"{PREFIX}/rate_limit")
def rate_limit(store: CodehostStore) -> dict[str, Any]:
    """Return the rate limit, which never changes."""
    resources = {name: RATE | {"resource": name} for name in ("core", "search", "code_search", "graphql")}
    return {"resources": resources, "rate": RATE}


@api.get(f"{PREFIX}/user")
def get_authenticated_user(at: At) -> Json:
    """The account that is signed in."""
    return profile(at, at.store.me)


@api.get(f"{PREFIX}/user/orgs")
def list_own_organizations(at: At) -> Page:
    """The organisations of the signed-in account."""
    return _organizations(at, at.store.me["id"])


@api.get(f"{PREFIX}/users/{{username}}")
def get_user(at: At, username: str) -> Json:
    return profile(at, at.store.accounts.account(username))


@api.get(f"{PREFIX}/users/{{username}}/orgs")
def list_organizations(at: At, username: str) -> Page:
    """The organisations of somebody."""
    return _organizations(at, at.store.accounts.account(username)["id"])


def _organizations(at: Context, account_id: int) -> Page:
    return at.listed(at.store.listing.organizations(account_id), lambda row: organization(at, row))


@api.get(f"{PREFIX}/orgs/{{org}}")
def get_organization(at: At, org: str) -> Json:
    """An organisation."""
    return organization(at, _organization(at.store, org))


def _organization(store: CodehostStore, org: str) -> Row:
    account = store.accounts.account(org)
    if account["kind"] != "Organization":
        raise NotFound("Not Found")
    return account


@api.get(f"{PREFIX}/orgs/{{org}}/members")
def list_members(at: At, org: str, role: Literal["all", "admin", "member"] = "all") -> Page:
    """The members of an organisation by login."""
    return at.listed(
        at.store.listing.members(_organization(at.store, org)["id"], role),
        lambda row: user(at, row["id"], row["login"]),
    )


@api.get(f"{PREFIX}/orgs/{{org}}/members/{{username}}")
def check_member(store: CodehostStore, org: str, username: str) -> None:
    """204 if somebody belongs to an organisation, else 404."""
    if (
        store.accounts.member_role(_organization(store, org)["id"], store.accounts.account(username)["id"])
        is None
    ):
        raise NotFound("Not Found")


# -- repositories -------------------------------------------------------------------------------------------


@api.get(f"{PREFIX}/user/repos")
def list_own_repositories(
    at: At,
    visibility: Literal["all", "public", "private"] = "all",
    affiliation: str = "owner,collaborator,organization_member",
    type: Literal["all", "owner", "public", "private", "member"] | None = None,
    sort: RepositorySort = "full_name",
    direction: Direction | None = None,
) -> Page:
    """The repositories of the signed-in account, and those that it has access to otherwise."""
    if type in ("public", "private"):
        visibility = type
    elif type in ("owner", "member"):
        affiliation = "owner" if type == "owner" else "collaborator,organization_member"
    rows, total = at.store.listing.repositories(
        affiliation=[part.strip() for part in affiliation.split(",")],
        visibility=visibility,
        sort=sort,
        direction=direction,
        **at.window,
    )
    return at.paged(repositories(at, rows), total)


@api.get(f"{PREFIX}/users/{{login}}/repos")
@api.get(f"{PREFIX}/orgs/{{login}}/repos")
def list_repositories(
    at: At, login: str, sort: RepositorySort | None = None, direction: Direction | None = None
) -> Page:
    """The repositories of somebody, or of an organisation."""
    rows, total = at.store.listing.repositories(owner=login, sort=sort, direction=direction, **at.window)
    return at.paged(repositories(at, rows), total)


@api.post(f"{PREFIX}/user/repos", status=201)
def create_repository(at: At) -> Json:
    """A new repository of the signed-in account."""
    return _create(at, None)


@api.post(f"{PREFIX}/orgs/{{org}}/repos", status=201)
def create_organization_repository(at: At, org: str) -> Json:
    """A new repository of an organisation."""
    return _create(at, org)


def settings(body: Fields) -> None:
    """Accept settings of a repository whose value is fixed here anyway.

    Tabs for a wiki, projects and discussions may be shown or not: there is nothing on them.
    """
    for name in ("has_wiki", "has_projects", "has_discussions", "has_downloads"):
        read.changed_flag(body, name)
    for name in ("allow_update_branch", "web_commit_signoff_required", "use_squash_pr_title_as_default"):
        read.without_effect(body, name, False)
    for name in ("gitignore_template", "license_template"):
        read.without_effect(body, name, "")
    read.without_effect(body, "team_id", 0)


def _create(at: Context, organization: str | None) -> Json:
    body = at.body
    private = read.changed_flag(body, "private")
    made = at.store.fields.start_repository(
        read.required(body, "name"),
        read.text(body, "description"),
        organization,
        private=read.text(body, "visibility") == "private" if private is None else private,
        with_readme=read.flag(body, "auto_init"),
    )
    settings(body)
    if homepage := read.text(body, "homepage"):
        at.store.administering.change_repository(made, {"homepage": homepage})
    return full_repository(at, at.store.repositories.repository_by_id(made["id"]))


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}")
def get_repository(at: AtRepo) -> Json:
    return full_repository(at, at.repository)


@api.get(f"{PREFIX}/repositories/{{id:int}}")
def get_repository_by_id(at: At, id: int) -> Json:
    found = at.store.repositories.find_repository(id)
    if found is None:
        raise NotFound("Not Found")
    return full_repository(at, found)


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/forks")
def list_forks(at: AtRepo) -> Page:
    """The forks of a repository, the newest first."""
    fork_of = at.repository["id"]
    rows, total = at.store.listing.repositories(fork_of=fork_of, sort="created", **at.window)
    return at.paged(repositories(at, rows), total)


@api.post(f"{PREFIX}/repos/{{owner}}/{{repo}}/forks", status=202)
def create_fork(at: AtRepo) -> Json:
    """Fork a repository; it is there at once."""
    fork = at.store.repositories.fork_repository(at.repository, read.text(at.body, "organization"))
    return full_repository(at, at.store.repositories.repository_by_id(fork["id"]))


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/topics")
def list_topics(at: AtRepo) -> Json:
    """The topics of a repository."""
    return {"names": at.repository["topics"].split()}


# -- assignees ----------------------------------------------------------------------------------------------


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/assignees")
def list_assignees(at: AtRepo) -> Page:
    """List the possible assignees of a repository: those with access."""
    return at.listed(
        at.store.repositories.people(at.repository), lambda row: user(at, row["id"], row["login"])
    )


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/assignees/{{username}}")
def check_assignee(at: AtRepo, username: str) -> None:
    """Answer 204 for a possible assignee, else 404."""
    people, account = (
        at.store.repositories.people(at.repository),
        at.store.accounts.account(username),
    )
    if all(person["id"] != account["id"] for person in people):
        raise NotFound("Not Found")


# -- collaborators ------------------------------------------------------------------------------------------


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/collaborators")
def list_collaborators(at: AtRepo, affiliation: Literal["outside", "direct", "all"] = "all") -> Page:
    """List the accounts with access to a repository, with their roles."""
    people, total = at.store.repositories.collaborators(at.repository, affiliation, **at.window)
    items = [
        user(at, person["id"], person["login"])
        | {"role_name": person["role"], "permissions": _permissions(person["role"])}
        for person in people
    ]
    return at.paged(items, total)


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/collaborators/{{username}}")
def check_collaborator(at: AtRepo, username: str) -> None:
    """204 if somebody has access to a repository, else 404."""
    if not at.store.repositories.is_collaborator(at.repository, at.store.accounts.account(username)["id"]):
        raise NotFound("Not Found")


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/collaborators/{{username}}/permission")
def get_permission(at: AtRepo, username: str) -> Json:
    """Return an account's permission in a repository."""
    at.repository, account = at.repository, at.store.accounts.account(username)
    role = at.store.repositories.role_of_account(at.repository, account["id"])
    shape = user(at, account["id"], account["login"], account["kind"])
    return {
        "permission": _PERMISSIONS.get(role, role),
        "role_name": role,
        "user": shape | {"role_name": role, "permissions": _permissions(role)},
    }


def _permissions(role: str) -> dict[str, bool]:
    levels = {"pull": "read", "triage": "triage", "push": "write", "maintain": "maintain", "admin": "admin"}
    order = ["none", *levels.values()]
    return {name: order.index(role) >= order.index(needed) for name, needed in levels.items()}
