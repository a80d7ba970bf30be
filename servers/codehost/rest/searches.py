"""Searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.context import PREFIX, At, Context
from mesocosm.servers.codehost.rest.shapes import accounts, git
from mesocosm.servers.codehost.rest.shapes.issues import issues
from mesocosm.servers.codehost.store.contents import FILE, Entry
from mesocosm.servers.codehost.store.queries import MAX_RESULTS
from mesocosm.services.service import Reply

Order = Literal["asc", "desc"]


def _found(at: Context, items: Sequence[Any], total: int) -> Reply:
    """One page of results; only the first 1,000 can be had."""
    shape = {
        "total_count": total,
        "incomplete_results": False,
        "search_type": "lexical",
        "items": items,
    }
    return at.paged_object(shape, min(total, MAX_RESULTS))


@api.get(f"{PREFIX}/search/code")
def search_code(at: At, q: str, sort: str | None = None, order: Order | None = None) -> Reply:
    """Files at the head of default branches."""
    rows, total, _ = at.store.code_search.search_code(q, sort, order, **at.window)
    items = []
    for row in rows:
        repository = at.store.repositories.repository(row["owner"], row["repository"])
        entry = Entry(row["path"], FILE, row["sha"], None)
        ref = repository["default_branch"]
        shape = git.content(at, repository, entry, ref)
        kept = {name: shape[name] for name in ("name", "path", "sha", "url", "git_url", "html_url")}
        items.append(kept | {"repository": accounts.repository(at, repository), "score": 1.0})
    return _found(at, items, total)


@api.get(f"{PREFIX}/search/commits")
def search_commits(
    at: At, q: str, sort: Literal["author-date", "committer-date"] | None = None, order: Order | None = None
) -> Reply:
    """Commits on default branches."""
    found, total = at.store.code_search.search_commits(q, sort, order, **at.window)
    items = [
        git.commit(at, repository, row) | {"repository": accounts.repository(at, repository), "score": 1.0}
        for row, repository in found
    ]
    return _found(at, items, total)


@api.get(f"{PREFIX}/search/issues")
def search_issues(at: At, q: str, sort: str | None = None, order: Order | None = None) -> Reply:
    """Issues and pull requests; ``is:issue`` or ``is:pr`` leaves only the ones."""
    rows, total = at.store.issue_search.search_issues(
        q, pulls=None, owner=None, repo=None, sort=sort, order=order, **at.window
    )
    items = [issue | {"score": 1.0} for issue in issues(at, rows)]
    return _found(at, items, total)


@api.get(f"{PREFIX}/search/repositories")
def search_repositories(at: At, q: str, sort: str | None = None, order: Order | None = None) -> Reply:
    """Repositories by name, description and topics."""
    rows, total = at.store.account_search.search_repositories(q, sort, order, **at.window)
    items = accounts.repositories(at, rows)
    return _found(at, [item | {"score": 1.0} for item in items], total)


@api.get(f"{PREFIX}/search/users")
def search_users(at: At, q: str, sort: str | None = None, order: Order | None = None) -> Reply:
    """People and organisations."""
    rows, total = at.store.account_search.search_users(q, sort, order, **at.window)
    items = [accounts.user(at, row["id"], row["login"], row["kind"]) | {"score": 1.0} for row in rows]
    return _found(at, items, total)
