"""Lists of what this host has none of, and has no way to make: empty ones, as the product would give.

And the host's metadata.
"""

from __future__ import annotations

from collections.abc import Callable

from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.context import PREFIX, REPO, At, AtRepo, Context, RepositoryContext
from mesocosm.servers.codehost.rest.history import named_commit
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.values import Unprocessable
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


def _looked_at(at: Context) -> None:
    """Refuse if the parent of the list does not exist; filters do not matter."""
    list(at.request.asked)
    named = at.request.params
    if "repo" in named:
        repository = at.store.repositories.repository(named["owner"], named["repo"])
        if "ref" in named:
            named_commit(RepositoryContext(at.store, at.request, repository), named["ref"])
    elif login := named.get("login") or named.get("org"):
        at.store.accounts.account(login)


def list_none(at: At) -> Page:
    """An empty list."""
    _looked_at(at)
    return at.paged((), 0)


def _counting(field: str) -> Callable[[Context], Json]:
    def count_none(at: At) -> Json:
        """An empty list, with its length."""
        _looked_at(at)
        return {"total_count": 0, field: []}

    return count_none


@api.get(f"{PREFIX}/meta")
def get_meta(store: CodehostStore) -> Json:
    """Return the host's metadata."""
    return {"verifiable_password_authentication": False, "installed_version": "3.14.0"}


@api.get(f"{REPO}/actions/runs")
def list_runs(at: AtRepo) -> Json:
    """Runs of workflows: none."""
    for name in ("actor", "branch", "event", "status", "created", "exclude_pull_requests", "head_sha"):
        at.request.asked.get(name)
    return {"total_count": 0, "workflow_runs": []}


@api.get(f"{REPO}/actions/workflows")
def list_workflows(at: AtRepo) -> Json:
    """Workflows: none."""
    return {"total_count": 0, "workflows": []}


@api.post(f"{PREFIX}/gists")
def create_gist(store: CodehostStore) -> None:
    """Refuses: files are in repositories here."""
    raise Unprocessable("Gists are not supported here.")


for _path in OF_REPOSITORIES:
    api.get(f"{REPO}/{_path}")(list_none)
for _path in OF_ACCOUNTS:
    api.get(f"{PREFIX}/{_path}")(list_none)
for _path, _field in COUNTED.items():
    api.get(f"{REPO}/{_path}")(_counting(_field))
