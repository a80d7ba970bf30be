"""Tools about pull requests."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required, TypedDict, Unpack

from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.differences import hunks, statistics, unified
from mesocosm.servers.codehost.store.reviews import thread_name
from mesocosm.servers.codehost.tools import shapes
from mesocosm.servers.codehost.tools.server import PageRequest, PullNumber, Readable, paged, server
from mesocosm.services.schema import Number
from mesocosm.services.service import Page, Row, same

PullField = Literal[
    "number",
    "title",
    "body",
    "state",
    "draft",
    "merged",
    "mergeable_state",
    "html_url",
    "user",
    "labels",
    "assignees",
    "requested_reviewers",
    "merged_by",
    "head",
    "base",
    "additions",
    "deletions",
    "changed_files",
    "commits",
    "comments",
    "created_at",
    "updated_at",
    "closed_at",
    "merged_at",
    "milestone",
]


class NewPull(TypedDict, total=False):
    """What may be said of a new pull request."""

    title: Required[str]
    head: Required[str]
    base: Required[str]
    body: str
    draft: bool
    maintainer_can_modify: bool
    reviewers: list[str]


class PullChanges(TypedDict, total=False):
    """What may be said of one that is there."""

    title: str
    body: str
    state: Literal["open", "closed"]
    draft: bool
    base: str
    maintainer_can_modify: bool
    reviewers: list[str]


@server.reads
def list_pull_requests(
    store: CodehostStore,
    repository: Readable,
    state: Literal["open", "closed", "all"] | None = None,
    head: str | None = None,
    base: str | None = None,
    sort: Literal["created", "updated", "popularity", "long-running"] | None = None,
    direction: Literal["asc", "desc"] | None = None,
    fields: list[PullField] | None = None,
    *,
    paging: Annotated[PageRequest, paged("Pull requests")],
) -> Page:
    """List the pull requests of a repository, open ones and the newest first unless asked otherwise.

    Args:
        state: Which ones (default open).
        head: Only from this branch: owner:branch, or branch.
        base: Only into this branch.
        sort: What to order by (default created).
        direction: In which direction (default desc for created, else asc).
        fields: Return only these fields of each pull request; leaving out body shortens the answer most.
    """
    rows, total = store.pulls.listed(
        repository,
        state=state,
        head=head,
        base=base,
        sort=sort,
        direction=direction,
        **paging._asdict(),
    )
    items = shapes.picked(shapes.pulls(store, repository, rows), fields)
    return paging.of(items, total)


@server.reads(long=True)
def pull_request_read(
    store: CodehostStore,
    method: Literal[
        "get",
        "get_diff",
        "get_status",
        "get_files",
        "get_commits",
        "get_review_comments",
        "get_reviews",
        "get_comments",
        "get_check_runs",
    ],
    repository: Readable,
    pullNumber: PullNumber,  # noqa: N803 - the product's spelling
    paging: Annotated[PageRequest, paged("Items")],
    after: str | None = None,
) -> Any:
    """Read a pull request: the pull request itself, its changes, checks, reviews or comments.

    Args:
        method: get: the pull request; get_diff: the whole diff as text; get_status: commit statuses of its
            head; get_files: the changed files with patches; get_commits: its commits; get_review_comments:
            the threads of comments on lines; get_reviews: the reviews; get_comments: the conversation;
            get_check_runs: the check runs of its head.
        after: With get_review_comments: the endCursor of the previous page.
    """
    pull = store.pulls.pull(repository, pullNumber)
    if method == "get_review_comments":
        return _threads(store, repository, pull, after, paging.per_page)
    if method in _PAGED:
        items, total = _PAGED[method](store, repository, pull, *paging)
        return paging.of(items, total)
    if method == "get_diff":
        return unified(store.commits.objects(repository), store.pulls.compare(repository, pull).differences)
    if method == "get_status":
        return _status(store, repository, pull)
    if method == "get_check_runs":
        runs, total = store.pulls.check_run_page(repository, pull["head_sha"], *paging)
        return {"total_count": total, "check_runs": [shapes.check_run(repository, run) for run in runs]}
    return _pull(store, repository, pull)


def _pull(store: CodehostStore, repository: Row, pull: Row) -> dict[str, Any]:
    numbers = store.pulls.numbers(repository, pull)
    return shapes.pulls(store, repository, [pull])[0] | {
        "mergeable_state": store.pulls.mergeable_state(repository, pull),
        **same(numbers, "additions", "deletions", "changed_files", "commits"),
    }


def _files(
    store: CodehostStore, repository: Row, pull: Row, page: int | None, per_page: int | None
) -> tuple[list[Any], int]:
    found, total = store.pulls.pull_files(repository, pull, page, per_page)
    objects = store.commits.objects(repository)
    return [
        shapes.changed_file(
            item.path, item.previous_path, item.status, statistics(objects, item), hunks(objects, item)
        )
        for item in found
    ], total


def _commits(
    store: CodehostStore, repository: Row, pull: Row, page: int | None, per_page: int | None
) -> tuple[list[Any], int]:
    rows, total = store.pulls.pull_commits(repository, pull, page, per_page)
    return [
        {
            "sha": row["sha"],
            "html_url": shapes.web(repository, "commit", row["sha"]),
            "message": row["message"],
            "author": shapes.signature(row, "author"),
        }
        for row in rows
    ], total


def _reviews(
    store: CodehostStore, repository: Row, pull: Row, page: int | None, per_page: int | None
) -> tuple[list[Any], int]:
    rows, total = store.reviews.listed(pull, page, per_page)
    return [shapes.review(repository, pull, row) for row in rows], total


def _comments(
    store: CodehostStore, repository: Row, pull: Row, page: int | None, per_page: int | None
) -> tuple[list[Any], int]:
    issue = store.issues.issue(repository, pull["number"])
    rows, total = store.issues.comments(issue, page, per_page)
    return shapes.comments(store, issue, rows), total


_PAGED = {"get_files": _files, "get_commits": _commits, "get_reviews": _reviews, "get_comments": _comments}


def _threads(
    store: CodehostStore,
    repository: Row,
    pull: Row,
    after: str | None,
    per_page: int | None,
) -> dict[str, Any]:
    threads, comments, total, more = store.reviews.threads(pull, after, per_page)
    ends = (
        [store.reviews.thread_cursor(row) for row in (threads[0], threads[-1])] if threads else [None, None]
    )
    address = shapes.web(repository, "pull", pull["number"])
    shown = []
    for thread in threads:
        own = [row for row in comments if row["thread_id"] == thread["id"]]
        shown.append(
            {
                "id": thread_name(thread["id"]),
                "is_resolved": bool(thread["resolved"]),
                "is_outdated": store.pulls.is_outdated(repository, pull, thread),
                "is_collapsed": bool(thread["resolved"]),
                "comments": [
                    {
                        "body": row["body"],
                        **same(thread, "path", "line"),
                        "author": row["user"],
                        **same(row, "created_at", "updated_at"),
                        "html_url": f"{address}#discussion_r{row['id']}",
                    }
                    for row in own
                ],
                "total_count": len(own),
            }
        )
    info = shapes.page_info(more, after is not None, ends[0], ends[1])
    return {"review_threads": shown, "totalCount": total, "pageInfo": info}


def _status(store: CodehostStore, repository: Row, pull: Row) -> dict[str, Any]:
    rows = store.pulls.statuses(repository, pull["head_sha"])
    return {
        "state": store.pulls.combined_state(rows),
        "sha": pull["head_sha"],
        "total_count": len(rows),
        "statuses": [
            shapes.lean(
                **same(row, "context", "state", "description", "target_url", "created_at"),
            )
            for row in rows
        ],
    }


@server.writes
def create_pull_request(
    store: CodehostStore, repository: Readable, **pull: Unpack[NewPull]
) -> dict[str, Any]:
    """Open a pull request: ask for the commits of one branch to be merged into another.

    Args:
        owner: Owner of the repository to merge into.
        repo: Name of that repository.
        title: Title of the pull request.
        head: Branch with the changes; for a branch of a fork owner:branch.
        base: Branch to merge into.
        body: Description, in Markdown; "Fixes #7" closes issue 7 on merging.
        draft: Whether it is not ready to be merged yet.
        maintainer_can_modify: Whether those who can write to the repository may update a fork's branch.
        reviewers: Logins, or ORG/team-slug for teams, who are asked to review.
    """
    made = store.pulls.open_pull(repository, **pull)
    return shapes.created(made["id"], shapes.web(repository, "pull", made["number"]))


@server.writes
def update_pull_request(
    store: CodehostStore,
    repository: Readable,
    pullNumber: Number,  # noqa: N803 - the product's spelling
    **changes: Unpack[PullChanges],
) -> dict[str, Any]:
    """Change a pull request; what is left out stays as it is.

    Args:
        owner: Owner of the repository.
        repo: Name of the repository.
        pullNumber: Number of the pull request.
        title: New title.
        body: New description.
        state: Close or reopen it.
        draft: Mark it as a draft, or as ready for review.
        base: Another branch to merge into.
        maintainer_can_modify: Whether those who can write to the repository may update a fork's branch.
        reviewers: Logins, or ORG/team-slug for teams, who are asked to review in addition.
    """
    pull = store.pulls.change_pull(repository, pullNumber, **changes)
    return shapes.created(pull["id"], shapes.web(repository, "pull", pull["number"]))


@server.writes
def merge_pull_request(
    store: CodehostStore,
    repository: Readable,
    pullNumber: PullNumber,  # noqa: N803 - the product's spelling
    commit_title: str | None = None,
    commit_message: str | None = None,
    merge_method: Literal["merge", "squash", "rebase"] | None = None,
) -> dict[str, Any]:
    """Merge a pull request into its base branch; refused when there are conflicts or approvals are missing.

    Args:
        commit_title: First line of the message of the merge or squash commit.
        commit_message: The rest of that message.
        merge_method: merge: a merge commit (default); squash: one commit; rebase: the commits one by one.
    """
    sha = store.pulls.merge_pull(
        repository, pullNumber, merge_method or "merge", commit_title, commit_message
    )
    return {"sha": sha, "merged": True, "message": "Pull Request successfully merged"}


@server.writes
def update_pull_request_branch(
    store: CodehostStore,
    repository: Readable,
    pullNumber: PullNumber,  # noqa: N803 - the product's spelling
    expectedHeadSha: str | None = None,  # noqa: N803
) -> dict[str, Any]:
    """Merge the newest commits of the base branch into the branch of a pull request.

    Args:
        expectedHeadSha: SHA that the branch is expected to end at; refused if it does not.
    """
    store.pulls.update_branch(repository, pullNumber, expectedHeadSha)
    url = shapes.web(repository, "pull", pullNumber)
    return {"message": "Updating pull request branch.", "url": url}
