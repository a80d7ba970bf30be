"""Searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from mesocosm.doors.request import Request
from mesocosm.servers.codehost.rest.api import api, paged_object, window_of
from mesocosm.servers.codehost.rest.links import PREFIX, Links
from mesocosm.servers.codehost.rest.shapes import accounts, git
from mesocosm.servers.codehost.rest.shapes.issues import issues
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.contents import FILE, Entry
from mesocosm.servers.codehost.store.queries import MAX_RESULTS
from mesocosm.services.service import Reply

Order = Literal["asc", "desc"]


def _found(request: Request, items: Sequence[Any], total: int) -> Reply:
    """One page of results; only the first 1,000 can be had."""
    shape = {
        "total_count": total,
        "incomplete_results": False,
        "search_type": "lexical",
        "items": items,
    }
    return paged_object(request, shape, min(total, MAX_RESULTS))


@api.get(f"{PREFIX}/search/code")
def search_code(
    store: CodehostStore, request: Request, q: str, sort: str | None = None, order: Order | None = None
) -> Reply:
    """Files at the head of default branches."""
    links = Links(request)
    rows, total, _ = store.code_search.search_code(q, sort, order, *window_of(request))
    items = []
    for row in rows:
        repository = store.repositories.repository(row["owner"], row["repository"])
        entry = Entry(row["path"], FILE, row["sha"], None)
        ref = repository["default_branch"]
        shape = git.content(links, repository, entry, ref)
        kept = {name: shape[name] for name in ("name", "path", "sha", "url", "git_url", "html_url")}
        items.append(kept | {"repository": accounts.repository(links, store, repository), "score": 1.0})
    return _found(request, items, total)


@api.get(f"{PREFIX}/search/commits")
def search_commits(
    store: CodehostStore,
    request: Request,
    q: str,
    sort: Literal["author-date", "committer-date"] | None = None,
    order: Order | None = None,
) -> Reply:
    """Commits on default branches."""
    links = Links(request)
    found, total = store.code_search.search_commits(q, sort, order, *window_of(request))
    items = [
        git.commit(links, store, repository, row)
        | {"repository": accounts.repository(links, store, repository), "score": 1.0}
        for row, repository in found
    ]
    return _found(request, items, total)


@api.get(f"{PREFIX}/search/issues")
def search_issues(
    store: CodehostStore, request: Request, q: str, sort: str | None = None, order: Order | None = None
) -> Reply:
    """Issues and pull requests; ``is:issue`` or ``is:pr`` leaves only the ones."""
    page, per_page = window_of(request)
    rows, total = store.issue_search.search_issues(
        q, pulls=None, owner=None, repo=None, sort=sort, order=order, page=page, per_page=per_page
    )
    items = [issue | {"score": 1.0} for issue in issues(Links(request), store, rows)]
    return _found(request, items, total)


@api.get(f"{PREFIX}/search/repositories")
def search_repositories(
    store: CodehostStore, request: Request, q: str, sort: str | None = None, order: Order | None = None
) -> Reply:
    """Repositories by name, description and topics."""
    rows, total = store.account_search.search_repositories(q, sort, order, *window_of(request))
    items = accounts.repositories(Links(request), store, rows)
    return _found(request, [item | {"score": 1.0} for item in items], total)


@api.get(f"{PREFIX}/search/users")
def search_users(
    store: CodehostStore, request: Request, q: str, sort: str | None = None, order: Order | None = None
) -> Reply:
    """People and organisations."""
    links = Links(request)
    rows, total = store.account_search.search_users(q, sort, order, *window_of(request))
    items = [accounts.user(links, row["id"], row["login"], row["kind"]) | {"score": 1.0} for row in rows]
    return _found(request, items, total)
