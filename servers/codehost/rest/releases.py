"""Releases."""

from __future__ import annotations

from typing import Any

from mesocosm.doors.request import Request
from mesocosm.servers.codehost.rest.api import api, paged, window_of
from mesocosm.servers.codehost.rest.history import REPO
from mesocosm.servers.codehost.rest.links import Links
from mesocosm.servers.codehost.rest.shapes.git import release
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.service import Page, Row


def whole_release(store: CodehostStore, request: Request, repository: Row, row: Row) -> dict[str, Any]:
    """A release with its files."""
    return release(Links(request), repository, row, store.assets.of_releases([row])[row["id"]])


@api.get(f"{REPO}/releases")
def list_releases(store: CodehostStore, request: Request, owner: str, repo: str) -> Page:
    """The releases of a repository, newest first."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    page, per_page = window_of(request)
    rows, total = store.releases.listed(repository, page, per_page)
    assets = store.assets.of_releases(rows)
    return paged(request, [release(links, repository, row, assets[row["id"]]) for row in rows], total)


@api.get(f"{REPO}/releases/latest")
def get_latest_release(store: CodehostStore, request: Request, owner: str, repo: str) -> dict[str, Any]:
    """The newest release that is neither a draft nor a prerelease."""
    repository = store.repositories.repository(owner, repo)
    return whole_release(store, request, repository, store.releases.latest_release(repository))


@api.get(f"{REPO}/releases/tags/{{tag:path}}")
def get_release_by_tag(
    store: CodehostStore, request: Request, owner: str, repo: str, tag: str
) -> dict[str, Any]:
    repository = store.repositories.repository(owner, repo)
    return whole_release(store, request, repository, store.releases.release(repository, tag))


@api.get(f"{REPO}/releases/{{id:int}}")
def get_release(store: CodehostStore, request: Request, owner: str, repo: str, id: int) -> dict[str, Any]:
    repository = store.repositories.repository(owner, repo)
    return whole_release(store, request, repository, store.releases.release_by_id(repository, id))
