"""Web pages for programs: raw files, diffs and patches.

Whoever has the address of a page has the episode's id, which is in it: like the product's own addresses with
a token, they need no header.
"""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.doors.request import Request
from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.contents import look
from mesocosm.servers.codehost.rest.history import compared
from mesocosm.servers.codehost.rest.patches import changes, patches
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.contents import Entry
from mesocosm.servers.codehost.store.differences import Difference, unified
from mesocosm.services.service import Reply, Row


@api.get("/{owner}/{repo}/raw/{address:path}")
def get_raw(store: CodehostStore, request: Request, owner: str, repo: str, address: str) -> Reply:
    """Return a raw file; the address begins with a ref, which may contain slashes."""
    repository, parts = store.repositories.repository(owner, repo), address.split("/")
    for at in range(1, len(parts)):
        ref, path = "/".join(parts[:at]), "/".join(parts[at:])
        if store.commits.find_commit(repository, ref.removeprefix("refs/heads/")) is not None:
            entry, found = look(store, repository, path, ref)
            if isinstance(found, bytes):
                return _raw(entry, found)
    raise NotFound("Not Found")


def _raw(entry: Entry, content: bytes) -> Reply:
    is_text = b"\0" not in content[:8000]
    return Reply(content, media_type="text/plain; charset=utf-8" if is_text else "application/octet-stream")


@api.get("/{owner}/{repo}/pull/{file}")
def get_pull_page(store: CodehostStore, request: Request, owner: str, repo: str, file: str) -> Reply:
    """``N.diff`` or ``N.patch``: what a pull request changes, at once or commit by commit."""
    number, kind = _named(file)
    if not number.isdecimal():
        raise NotFound("Not Found")
    repository = store.repositories.repository(owner, repo)
    found = store.pulls.compare(repository, store.pulls.pull(repository, int(number)))
    return _as(kind, store, repository, found.differences, found.commits)


@api.get("/{owner}/{repo}/commit/{file}")
def get_commit_page(store: CodehostStore, request: Request, owner: str, repo: str, file: str) -> Reply:
    """``SHA.diff`` or ``SHA.patch``: what a commit changes."""
    sha, kind = _named(file)
    repository = store.repositories.repository(owner, repo)
    row = store.commits.find_commit(repository, sha)
    if row is None:
        raise NotFound("Not Found")
    return _as(kind, store, repository, changes(store, repository, row), [row["id"]])


@api.get("/{owner}/{repo}/compare/{file:path}")
def get_compare_page(store: CodehostStore, request: Request, owner: str, repo: str, file: str) -> Reply:
    """``BASE...HEAD.diff`` or ``.patch``: what a comparison shows."""
    names, kind = _named(file)
    repository = store.repositories.repository(owner, repo)
    base, head, _, found = compared(store, repository, names)
    return _as(kind, store, repository, found, store.commits.commits_between(base, head))


def _named(file: str) -> tuple[str, str]:
    name, dot, kind = file.rpartition(".")
    if not dot or kind not in ("diff", "patch"):
        raise NotFound("Not Found")
    return name, kind


def _as(
    kind: str, store: CodehostStore, repository: Row, found: Sequence[Difference], commits: Sequence[int]
) -> Reply:
    shown = (
        unified(store.commits.objects(repository), found)
        if kind == "diff"
        else patches(store, repository, commits)
    )
    return Reply(shown.encode(), media_type="text/plain; charset=utf-8")
