"""Lists of what this host has none of, and has no way to make: empty ones, as the product would give."""

from __future__ import annotations

from collections.abc import Callable

from mesocosm.doors.request import Request
from mesocosm.servers.codehost.rest.api import api, paged
from mesocosm.servers.codehost.rest.history import REPO, named_commit
from mesocosm.servers.codehost.rest.links import PREFIX
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.refusals import Unprocessable
from mesocosm.services.schema import Json
from mesocosm.services.service import Page

OF_REPOSITORIES = (
    *("hooks", "keys", "deployments", "autolinks", "events", "teams", "projects", "invitations"),
    # on commits
    *("comments", "commits/{ref}/comments"),
)
OF_ACCOUNTS = (
    *("notifications", "gists", "events", "user/keys", "user/gpg_keys", "user/ssh_signing_keys"),
    *(
        "user/repository_invitations",
        "users/{login}/events",
        "users/{login}/received_events",
        "users/{login}/gists",
        "users/{login}/keys",
    ),
    *("orgs/{org}/events", "orgs/{org}/hooks", "orgs/{org}/invitations", "orgs/{org}/teams/{slug}/repos"),
)
COUNTED = {
    "environments": "environments",
    "actions/secrets": "secrets",
    "actions/variables": "variables",
    "actions/artifacts": "artifacts",
    "commits/{ref}/check-suites": "check_suites",
}
"""Below a repository: the path, and the field that holds the list."""


def _looked_at(store: CodehostStore, request: Request) -> None:
    """Refuse if the parent of the list does not exist; filters do not matter."""
    list(request.asked)
    named = request.params
    if "repo" in named:
        repository = store.repositories.repository(named["owner"], named["repo"])
        if "ref" in named:
            named_commit(store, repository, named["ref"])
    elif login := named.get("login") or named.get("org"):
        store.accounts.account(login)


def list_none(store: CodehostStore, request: Request) -> Page:
    """An empty list."""
    _looked_at(store, request)
    return paged(request, (), 0)


def _counting(field: str) -> Callable[[CodehostStore, Request], Json]:
    def count_none(store: CodehostStore, request: Request) -> Json:
        """An empty list, with its length."""
        _looked_at(store, request)
        return {"total_count": 0, field: []}

    return count_none


@api.post(f"{PREFIX}/gists")
def create_gist(store: CodehostStore, request: Request) -> None:
    """Refuses: files are in repositories here."""
    raise Unprocessable("Gists are not supported here.")


for _path in OF_REPOSITORIES:
    api.get(f"{REPO}/{_path}")(list_none)
for _path in OF_ACCOUNTS:
    api.get(f"{PREFIX}/{_path}")(list_none)
for _path, _field in COUNTED.items():
    api.get(f"{REPO}/{_path}")(_counting(_field))
