"""Accounts, organisations and repositories."""

from __future__ import annotations

from typing import Any, Literal

from mesocosm.doors.request import Request
from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import RATE, api, cut, paged, window_of
from mesocosm.servers.codehost.rest.bodies import body_of, read
from mesocosm.servers.codehost.rest.links import PREFIX, Links
from mesocosm.servers.codehost.rest.shapes.accounts import (
    full_repository,
    organization,
    profile,
    repositories,
    user,
)
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.fields import Fields
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
def root(store: CodehostStore, request: Request) -> dict[str, Any]:
    """List the API's endpoints."""
    links = Links(request)
    shown = {f"{name}_url": links.api("") + path for name, path in _PLACES.items()}
    return shown | {"current_user_authorizations_html_url": links.web("settings/connections/applications")}


@api.get(f"{PREFIX}/rate_limit")
def rate_limit(store: CodehostStore) -> dict[str, Any]:
    """Return the rate limit, which never changes."""
    resources = {name: RATE | {"resource": name} for name in ("core", "search", "code_search", "graphql")}
    return {"resources": resources, "rate": RATE}


@api.get(f"{PREFIX}/user")
def get_authenticated_user(store: CodehostStore, request: Request) -> dict[str, Any]:
    """The account that is signed in."""
    return profile(Links(request), store, store.me)


@api.get(f"{PREFIX}/user/orgs")
def list_own_organizations(store: CodehostStore, request: Request) -> Page:
    """The organisations of the signed-in account."""
    return _organizations(store, request, store.me["id"])


@api.get(f"{PREFIX}/users/{{username}}")
def get_user(store: CodehostStore, request: Request, username: str) -> dict[str, Any]:
    return profile(Links(request), store, store.accounts.account(username))


@api.get(f"{PREFIX}/users/{{username}}/orgs")
def list_organizations(store: CodehostStore, request: Request, username: str) -> Page:
    """The organisations of somebody."""
    return _organizations(store, request, store.accounts.account(username)["id"])


def _organizations(store: CodehostStore, request: Request, account_id: int) -> Page:
    rows, total = cut(request, store.listing.organizations(account_id))
    links = Links(request)
    return paged(request, [organization(links, store, row) for row in rows], total)


@api.get(f"{PREFIX}/orgs/{{org}}")
def get_organization(store: CodehostStore, request: Request, org: str) -> dict[str, Any]:
    """An organisation."""
    return organization(Links(request), store, _organization(store, org))


def _organization(store: CodehostStore, org: str) -> Row:
    account = store.accounts.account(org)
    if account["kind"] != "Organization":
        raise NotFound("Not Found")
    return account


@api.get(f"{PREFIX}/orgs/{{org}}/members")
def list_members(
    store: CodehostStore, request: Request, org: str, role: Literal["all", "admin", "member"] = "all"
) -> Page:
    """The members of an organisation by login."""
    rows, total = cut(request, store.listing.members(_organization(store, org)["id"], role))
    links = Links(request)
    return paged(request, [user(links, row["id"], row["login"]) for row in rows], total)


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
    store: CodehostStore,
    request: Request,
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
    page, per_page = window_of(request)
    rows, total = store.listing.repositories(
        affiliation=[part.strip() for part in affiliation.split(",")],
        visibility=visibility,
        sort=sort,
        direction=direction,
        page=page,
        per_page=per_page,
    )
    return paged(request, repositories(Links(request), store, rows), total)


@api.get(f"{PREFIX}/users/{{login}}/repos")
@api.get(f"{PREFIX}/orgs/{{login}}/repos")
def list_repositories(
    store: CodehostStore,
    request: Request,
    login: str,
    sort: RepositorySort | None = None,
    direction: Direction | None = None,
) -> Page:
    """The repositories of somebody, or of an organisation."""
    page, per_page = window_of(request)
    rows, total = store.listing.repositories(
        owner=login, sort=sort, direction=direction, page=page, per_page=per_page
    )
    return paged(request, repositories(Links(request), store, rows), total)


@api.post(f"{PREFIX}/user/repos", status=201)
def create_repository(store: CodehostStore, request: Request) -> dict[str, Any]:
    """A new repository of the signed-in account."""
    return _create(store, request, None)


@api.post(f"{PREFIX}/orgs/{{org}}/repos", status=201)
def create_organization_repository(store: CodehostStore, request: Request, org: str) -> dict[str, Any]:
    """A new repository of an organisation."""
    return _create(store, request, org)


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


def _create(store: CodehostStore, request: Request, organization: str | None) -> dict[str, Any]:
    body = body_of(request)
    private = read.changed_flag(body, "private")
    made = store.fields.start_repository(
        read.required(body, "name"),
        read.text(body, "description"),
        organization,
        private=read.text(body, "visibility") == "private" if private is None else private,
        with_readme=read.flag(body, "auto_init"),
    )
    settings(body)
    if homepage := read.text(body, "homepage"):
        store.administering.change_repository(made, {"homepage": homepage})
    return full_repository(Links(request), store, store.repositories.repository_by_id(made["id"]))


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}")
def get_repository(store: CodehostStore, request: Request, owner: str, repo: str) -> dict[str, Any]:
    return full_repository(Links(request), store, store.repositories.repository(owner, repo))


@api.get(f"{PREFIX}/repositories/{{id:int}}")
def get_repository_by_id(store: CodehostStore, request: Request, id: int) -> dict[str, Any]:
    found = store.repositories.find_repository(id)
    if found is None:
        raise NotFound("Not Found")
    return full_repository(Links(request), store, found)


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/forks")
def list_forks(store: CodehostStore, request: Request, owner: str, repo: str) -> Page:
    """The forks of a repository, the newest first."""
    page, per_page = window_of(request)
    fork_of = store.repositories.repository(owner, repo)["id"]
    rows, total = store.listing.repositories(fork_of=fork_of, sort="created", page=page, per_page=per_page)
    return paged(request, repositories(Links(request), store, rows), total)


@api.post(f"{PREFIX}/repos/{{owner}}/{{repo}}/forks", status=202)
def create_fork(store: CodehostStore, request: Request, owner: str, repo: str) -> dict[str, Any]:
    """Fork a repository; it is there at once."""
    fork = store.repositories.fork_repository(owner, repo, read.text(body_of(request), "organization"))
    return full_repository(Links(request), store, store.repositories.repository_by_id(fork["id"]))


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/topics")
def list_topics(store: CodehostStore, owner: str, repo: str) -> dict[str, Any]:
    """The topics of a repository."""
    return {"names": store.repositories.repository(owner, repo)["topics"].split()}


# -- assignees ----------------------------------------------------------------------------------------------


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/assignees")
def list_assignees(store: CodehostStore, request: Request, owner: str, repo: str) -> Page:
    """List the possible assignees of a repository: those with access."""
    rows, total = cut(request, store.repositories.people(store.repositories.repository(owner, repo)))
    links = Links(request)
    return paged(request, [user(links, row["id"], row["login"]) for row in rows], total)


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/assignees/{{username}}")
def check_assignee(store: CodehostStore, owner: str, repo: str, username: str) -> None:
    """Answer 204 for a possible assignee, else 404."""
    people, account = (
        store.repositories.people(store.repositories.repository(owner, repo)),
        store.accounts.account(username),
    )
    if all(person["id"] != account["id"] for person in people):
        raise NotFound("Not Found")


# -- collaborators ------------------------------------------------------------------------------------------


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/collaborators")
def list_collaborators(
    store: CodehostStore,
    request: Request,
    owner: str,
    repo: str,
    affiliation: Literal["outside", "direct", "all"] = "all",
) -> Page:
    """List the accounts with access to a repository, with their roles."""
    page, per_page = window_of(request)
    people, total = store.repositories.collaborators(owner, repo, affiliation, page, per_page)
    links = Links(request)
    items = [
        user(links, person["id"], person["login"])
        | {"role_name": person["role"], "permissions": _permissions(person["role"])}
        for person in people
    ]
    return paged(request, items, total)


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/collaborators/{{username}}")
def check_collaborator(store: CodehostStore, owner: str, repo: str, username: str) -> None:
    """204 if somebody has access to a repository, else 404."""
    if not store.repositories.is_collaborator(
        store.repositories.repository(owner, repo), store.accounts.account(username)["id"]
    ):
        raise NotFound("Not Found")


@api.get(f"{PREFIX}/repos/{{owner}}/{{repo}}/collaborators/{{username}}/permission")
def get_permission(
    store: CodehostStore, request: Request, owner: str, repo: str, username: str
) -> dict[str, Any]:
    """Return an account's permission in a repository."""
    repository, account = store.repositories.repository(owner, repo), store.accounts.account(username)
    role = store.repositories.role_of_account(repository, account["id"])
    shape = user(Links(request), account["id"], account["login"], account["kind"])
    return {
        "permission": _PERMISSIONS.get(role, role),
        "role_name": role,
        "user": shape | {"role_name": role, "permissions": _permissions(role)},
    }


def _permissions(role: str) -> dict[str, bool]:
    levels = {"pull": "read", "triage": "triage", "push": "write", "maintain": "maintain", "admin": "admin"}
    order = ["none", *levels.values()]
    return {name: order.index(role) >= order.index(needed) for name, needed in levels.items()}
