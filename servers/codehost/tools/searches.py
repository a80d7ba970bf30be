"""Tools that search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.tools import shapes
from mesocosm.servers.codehost.tools.server import Direction, Order, Results, server
from mesocosm.services.schema import About
from mesocosm.services.service import same

# Where the words of a code search stand in a file.

MAX_FRAGMENTS = 2
MAX_FRAGMENT = 240
"""Characters of a fragment at most."""
MAX_MATCHES = 10

_WORD = re.compile(r"[^\W_]+")


def text_matches(content: str, words: Sequence[str]) -> list[dict[str, Any]]:
    """Fragments of a text with the words that were searched for, in the product's shape."""
    patterns = [r"[\W_]+".join(_WORD.findall(word)) for word in words]
    if not any(patterns):
        return []
    either = "|".join(pattern for pattern in patterns if pattern)
    search = re.compile(rf"(?<![^\W_])(?:{either})(?![^\W_])", re.IGNORECASE)
    fragments: list[dict[str, Any]] = []
    end = 0
    for found in search.finditer(content):
        if found.start() < end:
            continue
        if len(fragments) == MAX_FRAGMENTS:
            break
        start, end = _around(content, found.start(), found.end())
        fragment = content[start:end]
        matches = [
            {"text": match[0], "indices": [match.start(), match.end()]} for match in search.finditer(fragment)
        ]
        fragments.append({"property": "content", "fragment": fragment, "matches": matches[:MAX_MATCHES]})
    return fragments


def _around(content: str, start: int, end: int) -> tuple[int, int]:
    """The lines around a match: the one before and the one after, if they are not too long."""
    first = content.rfind("\n", 0, max(content.rfind("\n", 0, start), 0)) + 1
    after = content.find("\n", end)
    last = content.find("\n", after + 1) if after >= 0 else -1
    last = last if last >= 0 else len(content)
    return max(first, start - MAX_FRAGMENT // 2), min(last, max(end, start + MAX_FRAGMENT // 2))


CodeField = Literal["name", "path", "sha", "repository", "text_matches"]
PullSearchField = Literal[
    "number",
    "title",
    "body",
    "state",
    "state_reason",
    "draft",
    "locked",
    "html_url",
    "user",
    "author_association",
    "labels",
    "assignee",
    "assignees",
    "milestone",
    "comments",
    "reactions",
    "created_at",
    "updated_at",
    "closed_at",
    "closed_by",
    "pull_request",
    "repository_url",
]
IssueSearchField = Literal[
    "number",
    "title",
    "body",
    "state",
    "state_reason",
    "draft",
    "locked",
    "html_url",
    "user",
    "author_association",
    "labels",
    "assignee",
    "assignees",
    "milestone",
    "comments",
    "reactions",
    "created_at",
    "updated_at",
    "closed_at",
    "closed_by",
    "type",
    "repository_url",
    "pull_request",
    "field_values",
]
IssueSort = Annotated[
    Literal[
        "comments",
        "reactions",
        "reactions-+1",
        "reactions--1",
        "reactions-smile",
        "reactions-thinking_face",
        "reactions-heart",
        "reactions-tada",
        "interactions",
        "created",
        "updated",
    ],
    About("What to sort by; best match if left out."),
]
OfRepository = Annotated[str, About("With repo: search only this repository.")]
InRepository = Annotated[str, About("With owner: search only this repository.")]


def _results(total: int, items: Sequence[Any]) -> dict[str, Any]:
    return {"total_count": total, "incomplete_results": False, "items": items}


@server.reads
def search_code(
    store: CodehostStore,
    query: str,
    sort: str | None = None,
    order: Order | None = None,
    fields: list[CodeField] | None = None,
    *,
    paging: Results,
) -> dict[str, Any]:
    """Search the files on the default branches of all repositories that you can read (but forks).

    Words are found as whole words, in any case; punctuation only separates words, also within identifiers.

    Args:
        query: Words (all must occur), "exact phrases", NOT, OR, and qualifiers: repo:owner/name, user:, org:,
            language:, path:dir, filename:name.ext, extension:, in:file, in:path, size:>1000, is:private.
        sort: indexed, or best match if left out.
        order: In which direction to sort.
        fields: Return only these fields of each result.
    """
    rows, total, parsed = store.code_search.search_code(query, sort, order, *paging)
    wanted = not fields or "text_matches" in fields
    items = [
        {
            **same(row, "name", "path", "sha"),
            "repository": f"{row['owner']}/{row['repository']}",
        }
        | shapes.lean(
            text_matches=text_matches(store.contents.file_text(row), parsed.words) if wanted else None
        )
        for row in rows
    ]
    return _results(total, shapes.picked(items, fields))


@server.reads(long=True)
def search_commits(
    store: CodehostStore,
    query: str,
    sort: Literal["author-date", "committer-date"] | None = None,
    order: Direction | None = None,
    *,
    paging: Results,
) -> dict[str, Any]:
    """Search the messages of the commits on default branches.

    Args:
        query: Words, "exact phrases", and qualifiers: repo:owner/name, user:, org:, author:login, committer:,
            author-name:, author-email:, author-date:>=2025-01-01, committer-date:2025-01-01..2025-02-01,
            merge:true, hash:, tree:, parent:, is:public.
        sort: Sort by a date; best match if left out.
    """
    rows, total = store.code_search.search_commits(query, sort, order, *paging)
    items = [
        shapes.commit(repository, commit)
        | {
            "repository": {
                "full_name": shapes.full_name(repository),
                "html_url": shapes.web(repository),
                "private": bool(repository["private"]),
            }
        }
        for commit, repository in rows
    ]
    return _results(total, items)


@server.reads(long=True)
def search_issues(
    store: CodehostStore,
    query: str,
    owner: OfRepository | None = None,
    repo: InRepository | None = None,
    sort: IssueSort | None = None,
    order: Direction | None = None,
    fields: list[IssueSearchField] | None = None,
    *,
    paging: Results,
) -> dict[str, Any]:
    """Search issues (no pull requests) by their titles, texts and comments.

    Args:
        query: Words, "exact phrases", and qualifiers: repo:owner/name, user:, org:, is:open, state:closed,
            author:login, assignee:, mentions:, commenter:, involves:, label:bug, milestone:, no:label,
            in:title, created:>=2025-01-01, updated:, closed:, comments:>5, reason:completed; - negates.
        fields: Return only these fields of each issue; leaving out body shortens the answer most.
    """
    rows, total = store.issue_search.search_issues(
        query, pulls=False, owner=owner, repo=repo, sort=sort, order=order, **paging._asdict()
    )
    return _results(total, shapes.picked(shapes.found_issues(store, rows), fields))


@server.reads(long=True)
def search_pull_requests(
    store: CodehostStore,
    query: str,
    owner: OfRepository | None = None,
    repo: InRepository | None = None,
    sort: IssueSort | None = None,
    order: Direction | None = None,
    fields: list[PullSearchField] | None = None,
    *,
    paging: Results,
) -> dict[str, Any]:
    """Search pull requests by their titles, texts and comments.

    Args:
        query: As in search_issues, and also is:merged, is:draft, head:branch, base:branch,
            merged:>=2025-01-01, review:approved, reviewed-by:, review-requested:.
        fields: Return only these fields of each pull request; leaving out body shortens the answer most.
    """
    rows, total = store.issue_search.search_issues(
        query, pulls=True, owner=owner, repo=repo, sort=sort, order=order, **paging._asdict()
    )
    return _results(total, shapes.picked(shapes.found_issues(store, rows), fields))


@server.reads
def search_repositories(
    store: CodehostStore,
    query: str,
    sort: Literal["stars", "forks", "help-wanted-issues", "updated"] | None = None,
    order: Direction | None = None,
    minimal_output: bool = True,
    *,
    paging: Results,
) -> dict[str, Any]:
    """Search repositories by name, description and topics.

    Args:
        query: Words, and qualifiers: user:, org:, language:, topic:, stars:>100, forks:, created:, pushed:,
            is:private, archived:true, fork:true, in:name.
        sort: What to sort by; best match if left out.
        minimal_output: Whether to leave out the less needed fields.
    """
    rows, total = store.account_search.search_repositories(query, sort, order, *paging)
    shape = shapes.repository if minimal_output else shapes.full_repository
    return _results(total, [shape(row) for row in rows])


@server.reads
def search_users(
    store: CodehostStore,
    query: str,
    sort: Literal["followers", "repositories", "joined"] | None = None,
    order: Direction | None = None,
    *,
    paging: Results,
) -> dict[str, Any]:
    """Search accounts by login, name and e-mail address.

    Args:
        query: Words, and qualifiers: type:user, type:org, in:login, repos:>5, followers:>100, location:,
            created:.
        sort: What to sort by; followers if left out.
    """
    rows, total = store.account_search.search_users(query, sort, order, *paging)
    return _results(total, [shapes.user(row["id"], row["login"]) for row in rows])
