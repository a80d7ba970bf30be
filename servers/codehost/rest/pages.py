"""Web pages for programs: raw files, diffs and patches.

Whoever has the address of a page has the episode's id, which is in it: like the product's own addresses with
a token, they need no header.
"""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.contents import look
from mesocosm.servers.codehost.rest.context import AtRepo, RepositoryContext
from mesocosm.servers.codehost.rest.history import changes, compared, patches
from mesocosm.servers.codehost.store.contents import Entry
from mesocosm.servers.codehost.store.differences import Difference, unified
from mesocosm.services.service import Reply


@api.get("/{owner}/{repo}/raw/{address:path}")
def get_raw(at: AtRepo, address: str) -> Reply:
    """Return a raw file; the address begins with a ref, which may contain slashes."""
    parts = address.split("/")
    for end in range(1, len(parts)):
        ref, path = "/".join(parts[:end]), "/".join(parts[end:])
        if at.store.commits.find_commit(at.repository, ref.removeprefix("refs/heads/")) is not None:
            entry, found = look(at, path, ref)
            if isinstance(found, bytes):
                return _raw(entry, found)
    raise NotFound("Not Found")


def _raw(entry: Entry, content: bytes) -> Reply:
    is_text = b"\0" not in content[:8000]
    return Reply(content, media_type="text/plain; charset=utf-8" if is_text else "application/octet-stream")


@api.get("/{owner}/{repo}/pull/{file}")
def get_pull_page(at: AtRepo, file: str) -> Reply:
    """``N.diff`` or ``N.patch``: what a pull request changes, at once or commit by commit."""
    number, kind = _named(file)
    if not number.isdecimal():
        raise NotFound("Not Found")
    found = at.store.pulls.compare(at.repository, at.pull(int(number)))
    return _as(at, kind, found.differences, found.commits)


@api.get("/{owner}/{repo}/commit/{file}")
def get_commit_page(at: AtRepo, file: str) -> Reply:
    """``SHA.diff`` or ``SHA.patch``: what a commit changes."""
    sha, kind = _named(file)
    row = at.store.commits.find_commit(at.repository, sha)
    if row is None:
        raise NotFound("Not Found")
    return _as(at, kind, changes(at, row), [row["id"]])


@api.get("/{owner}/{repo}/compare/{file:path}")
def get_compare_page(at: AtRepo, file: str) -> Reply:
    """``BASE...HEAD.diff`` or ``.patch``: what a comparison shows."""
    names, kind = _named(file)
    base, head, _, found = compared(at, names)
    return _as(at, kind, found, at.store.commits.commits_between(base, head))


def _named(file: str) -> tuple[str, str]:
    name, dot, kind = file.rpartition(".")
    if not dot or kind not in ("diff", "patch"):
        raise NotFound("Not Found")
    return name, kind


def _as(at: RepositoryContext, kind: str, found: Sequence[Difference], commits: Sequence[int]) -> Reply:
    shown = (
        unified(at.store.commits.objects(at.repository), found) if kind == "diff" else patches(at, commits)
    )
    return Reply(shown.encode(), media_type="text/plain; charset=utf-8")
