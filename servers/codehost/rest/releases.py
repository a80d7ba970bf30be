"""Releases and their files."""

from __future__ import annotations

from typing import Any

from mesocosm.doors.request import Request
from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import api, cut, paged, window_of
from mesocosm.servers.codehost.rest.bodies import body_of, read
from mesocosm.servers.codehost.rest.history import REPO
from mesocosm.servers.codehost.rest.links import Links
from mesocosm.servers.codehost.rest.shapes.git import asset, release
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Reply, Row


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


# The files of releases.

_OF_RELEASE = f"{REPO}/releases/{{id:int}}/assets"
_ASSET = f"{REPO}/releases/assets/{{id:int}}"


@api.get(_OF_RELEASE)
def list_assets(store: CodehostStore, request: Request, owner: str, repo: str, id: int) -> Page:
    """The files of a release."""
    repository = store.repositories.repository(owner, repo)
    release = store.releases.release_by_id(repository, id)
    rows, total = cut(request, store.assets.of_releases([release])[release["id"]])
    return paged(request, [asset(Links(request), repository, row) for row in rows], total)


@api.route("POST", _OF_RELEASE, status=201, raw=True)
def upload_asset(
    store: CodehostStore,
    request: Request,
    owner: str,
    repo: str,
    id: int,
    name: str,
    label: str | None = None,
) -> Json:
    """A new file of a release: the body as it is."""
    repository = store.repositories.repository(owner, repo)
    media_type = request.media_type or "application/octet-stream"
    row = store.assets.add(repository, id, name, label, media_type, request.body)
    return asset(Links(request), repository, row)


@api.get(_ASSET)
def get_asset(store: CodehostStore, request: Request, owner: str, repo: str, id: int) -> Json | Reply:
    """A file of a release: about it, or what it holds (media type ``application/octet-stream``)."""
    repository = store.repositories.repository(owner, repo)
    row = store.assets.asset(repository, id)
    if "application/octet-stream" in request.headers.get("accept", ""):
        return _file(store, row)
    return asset(Links(request), repository, row)


@api.patch(_ASSET)
def update_asset(store: CodehostStore, request: Request, owner: str, repo: str, id: int) -> Json:
    """A file with another name or label."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    changes = {name: read.text(body, name) for name in ("name", "label") if name in body}
    return asset(Links(request), repository, store.assets.change(repository, id, changes))


@api.delete(_ASSET)
def delete_asset(store: CodehostStore, owner: str, repo: str, id: int) -> None:
    """Delete a file of a release."""
    store.assets.remove(store.repositories.repository(owner, repo), id)


@api.get("/{owner}/{repo}/releases/download/{address:path}")
def download_asset(store: CodehostStore, request: Request, owner: str, repo: str, address: str) -> Reply:
    """Download a release asset by its release's tag, which may contain slashes, and its name."""
    repository, (tag, _, name) = store.repositories.repository(owner, repo), address.rpartition("/")
    release = store.releases.release(repository, tag)
    for row in store.assets.of_releases([release])[release["id"]]:
        if row["name"] == name:
            return _file(store, row)
    raise NotFound("Not Found")


def _file(store: CodehostStore, row: Row) -> Reply:
    headers = {"Content-Disposition": f"attachment; filename={ascii(row['name'])[1:-1]}"}
    return Reply(store.assets.data(row), 200, headers, row["content_type"])
