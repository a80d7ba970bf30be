"""Endpoints beside repositories: the host's metadata, and workflow runs, of which there are none."""

from __future__ import annotations

from mesocosm.doors.request import Request
from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.history import REPO
from mesocosm.servers.codehost.rest.links import PREFIX
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.schema import Json


@api.get(f"{PREFIX}/meta")
def get_meta(store: CodehostStore) -> Json:
    """Return the host's metadata."""
    return {"verifiable_password_authentication": False, "installed_version": "3.14.0"}


@api.get(f"{REPO}/actions/runs")
def list_runs(store: CodehostStore, request: Request, owner: str, repo: str) -> Json:
    """Runs of workflows: none."""
    store.repositories.repository(owner, repo)
    for name in ("actor", "branch", "event", "status", "created", "exclude_pull_requests", "head_sha"):
        request.asked.get(name)
    return {"total_count": 0, "workflow_runs": []}


@api.get(f"{REPO}/actions/workflows")
def list_workflows(store: CodehostStore, owner: str, repo: str) -> Json:
    """Workflows: none."""
    store.repositories.repository(owner, repo)
    return {"total_count": 0, "workflows": []}
