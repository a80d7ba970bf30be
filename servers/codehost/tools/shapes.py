"""The JSON shapes of what the code host returns.

They are those of GitHub's own MCP server: GitHub's REST objects without what is empty or can be derived.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.contents import Entry
from mesocosm.services.schema import Json
from mesocosm.services.service import Row, same

WEB = "https://github.com"
API = "https://api.github.com"
REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def lean(**values: Any) -> Json:
    """An object without what is missing or empty."""
    return {key: value for key, value in values.items() if value is not None and value not in ("", [], {})}


def picked(items: Iterable[Json], fields: Sequence[str] | None) -> list[Json]:
    """The objects with only some of their fields, if that is asked for."""
    if not fields:
        return list(items)
    return [{name: item[name] for name in fields if name in item} for item in items]


# -- accounts and repositories ------------------------------------------------------------------------------


def user(account_id: int, login: str) -> Json:
    """An account, in short."""
    return {
        "login": login,
        "id": account_id,
        "profile_url": f"{WEB}/{login}",
        "avatar_url": f"https://avatars.githubusercontent.com/u/{account_id}?v=4",
    }


def profile(account: Row, counts: Row) -> Json:
    """An account with what it says about itself."""
    return user(account["id"], account["login"]) | {
        "details": lean(
            **same(account, "name", "company", "blog", "location", "email", "bio"),
        )
        | {
            "public_repos": counts["public_repos"],
            "public_gists": 0,
            **same(account, "followers", "following", "created_at", "updated_at"),
            "owned_private_repos": counts["private_repos"],
        }
    }


def full_name(repository: Row) -> str:
    """``owner/name``."""
    return f"{repository['owner']}/{repository['name']}"


def web(repository: Row, *path: object) -> str:
    """The address of a page of a repository."""
    return "/".join((WEB, full_name(repository), *(str(part) for part in path)))


def repository(row: Row) -> Json:
    """A repository as a search finds it."""
    return lean(
        **same(row, "id", "name"),
        full_name=full_name(row),
        description=row["description"],
        html_url=web(row),
        **same(row, "language", "updated_at", "created_at"),
        topics=row["topics"].split(),
        default_branch=row["default_branch"],
    ) | {
        "stargazers_count": row["stars"],
        "forks_count": row["forks"],
        "open_issues_count": row["open_issues"],
        "private": bool(row["private"]),
        "fork": row["parent_id"] is not None,
        "archived": bool(row["archived"]),
    }


def full_repository(row: Row) -> Json:
    """A repository with all that is known of it."""
    return repository(row) | {
        "owner": {"login": row["owner"], "id": row["owner_id"]},
        **same(row, "description", "homepage"),
        "url": f"{API}/repos/{full_name(row)}",
        "clone_url": f"{web(row)}.git",
        "visibility": "private" if row["private"] else "public",
        "watchers_count": row["stars"],
        "pushed_at": row["pushed_at"],
    }


def created(identity: int, url: str) -> Json:
    """What a tool that makes something answers."""
    return {"id": str(identity), "url": url}


# -- git ----------------------------------------------------------------------------------------------------


def signature(row: Row, who: str) -> Json:
    """Who wrote a commit, and when, as the commit says."""
    date = row["authored_at" if who == "author" else "committed_at"]
    return lean(name=row[f"{who}_name"], email=row[f"{who}_email"], date=date)


def commit(repo: Row, row: Row) -> Json:
    """A commit without its files."""
    people = {
        who: user(row[f"{who}_id"], row[f"{who}_login"])
        for who in ("author", "committer")
        if row[f"{who}_id"] is not None
    }
    return {
        "sha": row["sha"],
        "html_url": web(repo, "commit", row["sha"]),
        "commit": {
            "message": row["message"],
            "author": signature(row, "author"),
            "committer": signature(row, "committer"),
        },
        **people,
    }


def changed_file(
    path: str, previous: str | None, status: str, counts: tuple[int, int], patch: str | None
) -> Json:
    """A file that a commit or a pull request changes."""
    additions, deletions = counts
    shape = {"filename": path, "status": status, "additions": additions, "deletions": deletions}
    return shape | {"changes": additions + deletions} | lean(patch=patch, previous_filename=previous)


def file_commit(repo: Row, row: Row) -> Json:
    """The commit that a tool for files has made."""
    return {
        **same(row, "sha", "message"),
        "html_url": web(repo, "commit", row["sha"]),
        "author": signature(row, "author"),
    }


def entry(repo: Row, item: Entry, ref: str) -> Json:
    """A file or directory as a listing shows it."""
    folder = item.type == "dir"
    git = f"{API}/repos/{full_name(repo)}/git/{'trees' if folder else 'blobs'}/{item.sha}"
    shape = {
        "type": item.type,
        "size": item.size or 0,
        "name": item.name,
        "path": item.path,
        "sha": item.sha,
        "url": f"{API}/repos/{full_name(repo)}/contents/{item.path}?ref={ref}",
        "git_url": git,
        "html_url": web(repo, "tree" if folder else "blob", ref, item.path),
    }
    if item.type == "file":
        shape["download_url"] = f"https://raw.githubusercontent.com/{full_name(repo)}/{ref}/{item.path}"
    return shape


def tree_entry(item: Entry) -> Json:
    """A file or directory as a tree shows it."""
    kind = {"dir": "tree", "submodule": "commit"}.get(item.type, "blob")
    size = {} if item.size is None else {"size": item.size}
    return {"path": item.path, "type": kind, "mode": f"{item.mode:06o}", **size, "sha": item.sha}


def release(repo: Row, row: Row) -> Json:
    """A release."""
    return lean(
        **same(row, "id", "tag_name", "name", "body"),
        html_url=web(repo, "releases", "tag", row["tag_name"]),
        published_at=row["published_at"],
    ) | {
        "prerelease": bool(row["prerelease"]),
        "draft": bool(row["draft"]),
        "author": user(row["author_id"], row["author"]),
    }


def full_release(repo: Row, row: Row) -> Json:
    """A release with all that is known of it."""
    return release(repo, row) | {
        "target_commitish": row["target"],
        **same(row, "created_at", "body"),
        "assets": [],
    }


# -- issues -------------------------------------------------------------------------------------------------


def reactions(counts: Mapping[str, int]) -> Json | None:
    """How often each emoji was given; nothing if none was."""
    return (
        {"total_count": sum(counts.values())} | {name: counts.get(name, 0) for name in REACTIONS}
        if counts
        else None
    )


def label(row: Row) -> Json:
    """A label."""
    return {"id": row["id"], "name": row["name"], "color": row["color"], "description": row["description"]}


def issues(store: CodehostStore, rows: Sequence[Row]) -> list[Json]:
    """Issues with everything that belongs to them, as ``issue_read`` and ``list_issues`` show them."""
    ids = [row["id"] for row in rows]
    labels, assignees = store.issues.labels_of(ids), store.issues.assignees_of(ids)
    given = store.issues.reactions_of("issue", ids)
    fields = store.fields.fields_of(ids)
    return [
        lean(
            **same(row, "id", "number", "title", "body", "state", "state_reason"),
            draft=bool(row["draft"]) or None,
            locked=bool(row["locked"]) or None,
            html_url=issue_url(row),
            user={"login": row["user"], "id": row["user_id"]},
            labels=[item["name"] for item in labels[row["id"]]],
            assignees=[item["login"] for item in assignees[row["id"]]],
            **same(row, "milestone", "comments"),
            reactions=reactions(given[row["id"]]),
            **same(row, "created_at", "updated_at", "closed_at", "closed_by"),
            issue_type=row["type"],
            duplicate_of=row["duplicate_of"],
            field_values=_fields(fields, row["id"]),
        )
        for row in rows
    ]


def found_issues(store: CodehostStore, rows: Sequence[Row]) -> list[Json]:
    """Issues as a search finds them: with their labels and people in full, as GitHub's REST API has them."""
    ids = [row["id"] for row in rows]
    labels, assignees = store.issues.labels_of(ids), store.issues.assignees_of(ids)
    given, fields = store.issues.reactions_of("issue", ids), store.fields.fields_of(ids)
    return [
        _found_issue(
            row, labels[row["id"]], assignees[row["id"]], given[row["id"]], _fields(fields, row["id"])
        )
        for row in rows
    ]


def _found_issue(
    row: Row,
    labels: Sequence[Row],
    assignees: Sequence[Row],
    given: Mapping[str, int],
    fields: list[Json],
) -> Json:
    people = [{"login": item["login"], "id": item["id"]} for item in assignees]
    shape = {
        **same(row, "id", "number", "title", "body", "state"),
        "locked": bool(row["locked"]),
        "html_url": issue_url(row),
        "repository_url": f"{API}/repos/{row['owner']}/{row['repository']}",
        "user": {"login": row["user"], "id": row["user_id"]},
        "author_association": "OWNER" if row["user_id"] == row["owner_id"] else "CONTRIBUTOR",
        "labels": [label(item) for item in labels],
        "assignees": people,
        **same(row, "comments", "created_at", "updated_at"),
    }
    if row["is_pull"]:
        shape["draft"] = bool(row["draft"])
        shape["pull_request"] = lean(html_url=issue_url(row), merged_at=row["merged_at"])
    milestone = {"number": row["milestone_number"], "title": row["milestone"]} if row["milestone"] else None
    return shape | lean(
        assignee=people[0] if people else None,
        state_reason=row["state_reason"],
        milestone=milestone,
        reactions=reactions(given),
        closed_at=row["closed_at"],
        closed_by={"login": row["closed_by"]} if row["closed_by"] else None,
        type={"name": row["type"]} if row["type"] else None,
        field_values=fields,
    )


def _fields(values: Sequence[Row], issue_id: int) -> list[Json]:
    return [{"field": row["name"], "value": row["value"]} for row in values if row["issue_id"] == issue_id]


def issue_url(row: Row) -> str:
    """The address of an issue or pull request."""
    kind = "pull" if row["is_pull"] else "issues"
    return f"{WEB}/{row['owner']}/{row['repository']}/{kind}/{row['number']}"


def issue_reference(row: Row) -> Json:
    """An issue that another one points at."""
    return {
        **same(row, "number", "title", "state"),
        "url": issue_url(row),
        "repository": f"{row['owner']}/{row['repository']}",
    }


def comments(store: CodehostStore, issue: Row, rows: Sequence[Row]) -> list[Json]:
    """The comments of a conversation."""
    given = store.issues.reactions_of("comment", [row["id"] for row in rows])
    return [
        lean(
            **same(row, "id", "body"),
            html_url=f"{issue_url(issue)}#issuecomment-{row['id']}",
            user=user(row["user_id"], row["user"]),
            reactions=reactions(given[row["id"]]),
            **same(row, "created_at", "updated_at"),
        )
        for row in rows
    ]


# -- pull requests ------------------------------------------------------------------------------------------


def pulls(store: CodehostStore, repo: Row, rows: Sequence[Row]) -> list[Json]:
    """Pull requests as a list shows them."""
    ids = [row["id"] for row in rows]
    labels, assignees, asked = (
        store.issues.labels_of(ids),
        store.issues.assignees_of(ids),
        store.pulls.requested(ids),
    )
    return [
        {
            **same(row, "number", "title", "state"),
            "draft": bool(row["draft"]),
            "merged": row["merged_at"] is not None,
            "html_url": web(repo, "pull", row["number"]),
        }
        | lean(
            body=row["body"],
            user=user(row["user_id"], row["user"]),
            labels=[item["name"] for item in labels[row["id"]]],
            assignees=[item["login"] for item in assignees[row["id"]]],
            requested_reviewers=[
                item["login"] or f"{repo['owner']}/{item['slug']}"
                for item in asked
                if item["pull_id"] == row["id"]
            ],
            merged_by=row["merged_by"],
            head=_branch(row["head_ref"], row["head_sha"], f"{row['head_owner']}/{row['head_name']}"),
            base=_branch(row["base_ref"], row["base_sha"], full_name(repo)),
            **same(row, "comments", "created_at", "updated_at", "closed_at", "merged_at"),
            merge_commit_sha=row["merge_sha"],
        )
        for row in rows
    ]


def _branch(ref: str, sha: str, name: str) -> Json:
    return {"ref": ref, "sha": sha, "repo": {"full_name": name}}


def review(repo: Row, pull: Row, row: Row) -> Json:
    """A review without its comments."""
    return lean(
        **same(row, "id", "state", "body"),
        html_url=f"{web(repo, 'pull', pull['number'])}#pullrequestreview-{row['id']}",
        user=user(row["user_id"], row["user"]),
        commit_id=row["commit_sha"],
        submitted_at=row["submitted_at"],
    )


def check_run(repo: Row, row: Row) -> Json:
    """A run of a check."""
    return lean(
        **same(row, "id", "name", "status", "conclusion"),
        html_url=web(repo, "runs", row["id"]),
        **same(row, "started_at", "completed_at"),
    )


def page_info(has_next: bool, has_previous: bool, start: str | None, end: str | None) -> Json:
    """Where a page lies in a list that is read by cursors."""
    places = lean(startCursor=start, endCursor=end)
    return {"hasNextPage": has_next, "hasPreviousPage": has_previous, **places}
