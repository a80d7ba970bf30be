"""Releases and their files."""

from __future__ import annotations

from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.bodies import read
from mesocosm.servers.codehost.rest.context import REPO, AtRepo, RepositoryContext
from mesocosm.servers.codehost.rest.shapes.git import asset, release
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Reply, Row


def whole_release(at: RepositoryContext, row: Row) -> Json:
    """A release with its files."""
    return release(at, at.repository, row, at.store.assets.of_releases([row])[row["id"]])


@api.get(f"{REPO}/releases")
def list_releases(at: AtRepo) -> Page:
    """The releases of a repository, newest first."""
    rows, total = at.store.releases.listed(at.repository, **at.window)
    assets = at.store.assets.of_releases(rows)
    return at.paged([release(at, at.repository, row, assets[row["id"]]) for row in rows], total)


@api.get(f"{REPO}/releases/latest")
def get_latest_release(at: AtRepo) -> Json:
    """The newest release that is neither a draft nor a prerelease."""
    return whole_release(at, at.store.releases.latest_release(at.repository))


@api.get(f"{REPO}/releases/tags/{{tag:path}}")
def get_release_by_tag(at: AtRepo, tag: str) -> Json:
    return whole_release(at, at.store.releases.release(at.repository, tag))


@api.get(f"{REPO}/releases/{{id:int}}")
def get_release(at: AtRepo, id: int) -> Json:
    return whole_release(at, at.store.releases.release_by_id(at.repository, id))


# The files of releases.

_OF_RELEASE = f"{REPO}/releases/{{id:int}}/assets"
_ASSET = f"{REPO}/releases/assets/{{id:int}}"


@api.get(_OF_RELEASE)
def list_assets(at: AtRepo, id: int) -> Page:
    """The files of a release."""
    release = at.store.releases.release_by_id(at.repository, id)
    return at.listed(
        at.store.assets.of_releases([release])[release["id"]], lambda row: asset(at, at.repository, row)
    )


@api.route("POST", _OF_RELEASE, status=201, raw=True)
def upload_asset(at: AtRepo, id: int, name: str, label: str | None = None) -> Json:
    """A new file of a release: the body as it is."""
    media_type = at.request.media_type or "application/octet-stream"
    row = at.store.assets.add(at.repository, id, name, label, media_type, at.request.body)
    return asset(at, at.repository, row)


@api.get(_ASSET)
def get_asset(at: AtRepo, id: int) -> Json | Reply:
    """A file of a release: about it, or what it holds (media type ``application/octet-stream``)."""
    row = at.store.assets.asset(at.repository, id)
    if "application/octet-stream" in at.request.headers.get("accept", ""):
        return _file(at.store, row)
    return asset(at, at.repository, row)


@api.patch(_ASSET)
def update_asset(at: AtRepo, id: int) -> Json:
    """A file with another name or label."""
    body = at.body
    changes = {name: read.text(body, name) for name in ("name", "label") if name in body}
    return asset(at, at.repository, at.store.assets.change(at.repository, id, changes))


@api.delete(_ASSET)
def delete_asset(at: AtRepo, id: int) -> None:
    """Delete a file of a release."""
    at.store.assets.remove(at.repository, id)


@api.get("/{owner}/{repo}/releases/download/{address:path}")
def download_asset(at: AtRepo, address: str) -> Reply:
    """Download a release asset by its release's tag, which may contain slashes, and its name."""
    tag, _, name = address.rpartition("/")
    release = at.store.releases.release(at.repository, tag)
    for row in at.store.assets.of_releases([release])[release["id"]]:
        if row["name"] == name:
            return _file(at.store, row)
    raise NotFound("Not Found")


def _file(store: CodehostStore, row: Row) -> Reply:
    headers = {"Content-Disposition": f"attachment; filename={ascii(row['name'])[1:-1]}"}
    return Reply(store.assets.data(row), 200, headers, row["content_type"])
