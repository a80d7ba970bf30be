"""Tools about branches, tags and commits."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.differences import hunks
from mesocosm.servers.codehost.tools import shapes
from mesocosm.servers.codehost.tools.server import (
    Cursor,
    FilePath,
    LineNumber,
    PageRequest,
    PageSize,
    Readable,
    TagName,
    Writable,
    paged,
    server,
)
from mesocosm.services.service import Page

CommitField = Literal["sha", "html_url", "commit", "author", "committer"]


@server.writes
def create_branch(
    store: CodehostStore, repository: Writable, branch: str, from_branch: str | None = None
) -> dict[str, Any]:
    """Create a branch at the head of another branch.

    Args:
        branch: Name of the new branch.
        from_branch: Branch at whose head the new one begins; the default branch if left out.
    """
    commit = store.commits.create_branch(repository, branch, from_branch)
    return {"ref": f"refs/heads/{branch}", "object": {"type": "commit", "sha": commit["sha"]}}


@server.reads
def list_branches(
    store: CodehostStore, repository: Readable, paging: Annotated[PageRequest, paged("Branches")]
) -> Page:
    """List the branches of a repository by name, each with the SHA of its newest commit."""
    rows, total = store.commits.branches(repository, *paging)
    protected = store.repositories.protected_branches(repository["id"])
    return paging.of([row | {"protected": row["name"] in protected} for row in rows], total)


@server.reads
def list_tags(
    store: CodehostStore, repository: Readable, paging: Annotated[PageRequest, paged("Tags")]
) -> Page:
    """List the tags of a repository, each with the SHA of its commit."""
    rows, total = store.commits.tags(repository, *paging)
    return paging.of(rows, total)


@server.reads
def get_tag(store: CodehostStore, repository: Readable, tag: TagName) -> dict[str, Any]:
    """Show a tag: its message and tagger if it is annotated, and the commit that it marks."""
    found = store.commits.tag_details(repository, tag)
    return shapes.lean(**found)


@server.reads
def list_commits(
    store: CodehostStore,
    repository: Readable,
    sha: str | None = None,
    author: str | None = None,
    path: str | None = None,
    since: str | None = None,
    until: str | None = None,
    fields: list[CommitField] | None = None,
    *,
    paging: Annotated[PageRequest, paged("Commits")],
) -> Page:
    """List the commits of a branch, newest first.

    Args:
        sha: Branch, tag or commit SHA to start from; the default branch if left out.
        author: Only commits by this login or e-mail address.
        path: Only commits that changed this file, or something in this directory.
        since: Only commits from this time on: 2025-01-15T09:00:00Z or 2025-01-15.
        until: Only commits up to this time, written in the same way.
        fields: Return only these fields of each commit.
    """
    rows, total = store.commits.log(
        repository, sha, path=path, author=author, since=since, until=until, **paging._asdict()
    )
    items = shapes.picked((shapes.commit(repository, row) for row in rows), fields)
    return paging.of(items, total)


@server.reads(long=True)
def get_commit(
    store: CodehostStore,
    repository: Readable,
    sha: str,
    detail: Literal["none", "stats", "full_patch"] = "stats",
    *,
    paging: Annotated[PageRequest, paged("Files")],
) -> dict[str, Any]:
    """Show a commit: message, author, and the files that it changed.

    Args:
        sha: Commit SHA (full or short), branch or tag.
        detail: none: no files; stats: files with numbers of lines (default); full_patch: with the diff too.
        page: Page of the files, from 1.
    """
    row, stats, changes = store.commits.commit_details(repository, sha, *paging)
    shape = shapes.commit(repository, row)
    if detail == "none":
        return shape
    objects = store.commits.objects(repository)
    return shape | {
        "stats": stats,
        "files": [
            shapes.changed_file(
                change.path,
                change.previous_path,
                change.status,
                counts,
                hunks(objects, change) if detail == "full_patch" else None,
            )
            for change, counts in changes
        ],
    }


@server.reads
def get_file_blame(
    store: CodehostStore,
    repository: Readable,
    path: FilePath,
    ref: str | None = None,
    start_line: LineNumber | None = None,
    end_line: LineNumber | None = None,
    after: Cursor | None = None,
    perPage: PageSize | None = None,  # noqa: N803 - the product's spelling
) -> dict[str, Any]:
    """Show which commit last changed each line of a file, as ranges of lines.

    The commits are described once each, under their SHAs.

    Args:
        ref: Branch, tag or commit SHA; the default branch if left out.
        start_line: Only lines from this one on.
        end_line: Only lines up to this one.
        perPage: Ranges per page, 1 to 100 (default 30).
    """
    commit, ranges, total, start = store.contents.blame_ranges(
        repository, path, ref, start_line, end_line, after, perPage
    )
    rows = store.commits.commits_by_id(list(dict.fromkeys(item.commit_id for item in ranges)))
    names = {row["id"]: row["sha"] for row in rows}
    end = store.contents.blame_cursor(start + len(ranges)) if ranges else None
    return {
        "path": path.strip("/"),
        "ref": commit["sha"],
        "total_ranges": total,
        "ranges": [
            {"starting_line": item.first, "ending_line": item.last, "commit": names[item.commit_id]}
            for item in ranges
        ],
        "commits": {
            row["sha"]: {
                "message": row["message"].partition("\n")[0],
                "author": shapes.signature(row, "author") | shapes.lean(login=row["author_login"]),
                "html_url": shapes.web(repository, "commit", row["sha"]),
            }
            for row in rows
        },
        "pageInfo": shapes.page_info(start + len(ranges) < total, start > 0, None, end),
    }
