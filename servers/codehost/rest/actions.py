"""Endpoints beside repositories: the host's metadata, and workflow runs, of which there are none."""

from __future__ import annotations

from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.context import PREFIX, REPO, AtRepo
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.schema import Json


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
