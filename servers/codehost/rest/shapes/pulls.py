"""Pull requests and their reviews."""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.servers.codehost.rest.context import Context, node_id
from mesocosm.servers.codehost.rest.shapes.accounts import repository, user
from mesocosm.servers.codehost.rest.shapes.issues import issues, reactions
from mesocosm.servers.codehost.store.differences import hunks, place_of
from mesocosm.services.schema import Json
from mesocosm.services.service import Row, same

_OF_ISSUE = (
    *(
        "labels",
        "assignee",
        "assignees",
        "milestone",
        "body",
        "user",
        "state",
        "locked",
        "active_lock_reason",
    ),
    *("created_at", "updated_at", "closed_at", "author_association", "number", "title", "comments_url"),
)


def pulls(at: Context, repo: Row, rows: Sequence[Row]) -> list[Json]:
    """Pull requests as a list shows them."""
    asked = at.store.pulls.requested([row["id"] for row in rows])
    as_issues = issues(at, at.store.issue_search.issues_by_id([row["id"] for row in rows]))
    homes: dict[int, Json] = {}
    for home in dict.fromkeys((repo["id"], *(row["head_repository_id"] for row in rows))):
        homes[home] = repository(at, at.store.repositories.repository_by_id(home))
    return [
        {name: issue[name] for name in _OF_ISSUE}
        | _pull(at, repo, row, homes)
        | _asked(at, repo, [item for item in asked if item["pull_id"] == row["id"]])
        for row, issue in zip(rows, as_issues, strict=True)
    ]


def _pull(at: Context, repo: Row, row: Row, homes: dict[int, Json]) -> Json:
    url, page = at.repo(repo, "pulls", row["number"]), at.page(repo, "pull", row["number"])
    issue = at.repo(repo, "issues", row["number"])
    statuses = at.repo(repo, "statuses", row["head_sha"])
    return {
        "id": row["id"],
        "node_id": node_id("PullRequest", row["id"]),
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue,
        "commits_url": f"{url}/commits",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": at.repo(repo, "pulls/comments") + "{/number}",
        "statuses_url": statuses,
        "draft": bool(row["draft"]),
        "merged_at": row["merged_at"],
        "merge_commit_sha": row["merge_sha"],
        "auto_merge": None,
        "head": _branch(at, homes[row["head_repository_id"]], row["head_ref"], row["head_sha"]),
        "base": _branch(at, homes[repo["id"]], row["base_ref"], row["base_sha"]),
        "_links": {
            name: {"href": href}
            for name, href in (
                ("self", url),
                ("html", page),
                ("issue", issue),
                ("comments", f"{issue}/comments"),
                ("review_comments", f"{url}/comments"),
                ("review_comment", at.repo(repo, "pulls/comments") + "{/number}"),
                ("commits", f"{url}/commits"),
                ("statuses", statuses),
            )
        },
    }


def _branch(at: Context, home: Json, ref: str, sha: str) -> Json:
    return {
        "label": f"{home['owner']['login']}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": home["owner"],
        "repo": home,
    }


def team(at: Context, organization: str, row: Row) -> Json:
    """A team that was asked to review, in short."""
    return {
        "id": row["team_id"],
        "node_id": node_id("Team", row["team_id"]),
        **same(row, "slug", "name"),
        "url": at.api("orgs", organization, "teams", row["slug"]),
        "html_url": at.web("orgs", organization, "teams", row["slug"]),
        "members_url": at.api("orgs", organization, "teams", row["slug"], "members{/member}"),
        "repositories_url": at.api("orgs", organization, "teams", row["slug"], "repos"),
        "description": None,
        "privacy": "closed",
        "notification_setting": "notifications_enabled",
        "permission": "pull",
        "type": "organization",
        "parent": None,
    }


def _asked(at: Context, repo: Row, asked: Sequence[Row]) -> Json:
    people = [item for item in asked if item["login"] is not None]
    teams = [item for item in asked if item["login"] is None]
    return {
        "requested_reviewers": [user(at, item["account_id"], item["login"]) for item in people],
        "requested_teams": [team(at, repo["owner"], item) for item in teams],
    }


def pull(at: Context, repo: Row, row: Row) -> Json:
    """A pull request by itself: with its numbers, and whether it can be merged."""
    state = at.store.pulls.mergeable_state(repo, row)
    merger = user(at, row["merged_by_id"], row["merged_by"]) if row["merged_by"] else None
    return pulls(at, repo, [row])[0] | {
        "merged": row["merged_at"] is not None,
        "mergeable": None if row["state"] == "closed" else state != "dirty",
        "rebaseable": None if row["state"] == "closed" else state != "dirty",
        "mergeable_state": state,
        "merged_by": merger,
        "comments": row["comments"],
        "review_comments": len(at.store.listing.review_comments(row)),
        "maintainer_can_modify": bool(row["maintainer_can_modify"]),
        **at.store.pulls.numbers(repo, row),
    }


def review(at: Context, repo: Row, number: int, row: Row) -> Json:
    """A review without its comments."""
    page = at.page(repo, "pull", number) + f"#pullrequestreview-{row['id']}"
    url = at.repo(repo, "pulls", number)
    shape = {
        "id": row["id"],
        "node_id": node_id("PullRequestReview", row["id"]),
        "user": user(at, row["user_id"], row["user"]),
        **same(row, "body", "state"),
        "html_url": page,
        "pull_request_url": url,
        "author_association": "OWNER" if row["user_id"] == repo["owner_id"] else "CONTRIBUTOR",
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "commit_id": row["commit_sha"],
    }
    return shape | ({"submitted_at": row["submitted_at"]} if row["submitted_at"] else {})


def review_comments(at: Context, repo: Row, number: int, rows: Sequence[Row]) -> list[Json]:
    """Comments on lines of a pull request."""
    given = at.store.issues.reactions_of("review_comment", [row["id"] for row in rows])
    pull_url = at.repo(repo, "pulls", number)
    pull = at.store.pulls.pull(repo, number) if rows else None
    found = at.store.pulls.compare(repo, pull).differences if pull else ()
    patches = {item.path: hunks(at.store.commits.objects(repo), item) or "" for item in found}
    shapes = []
    for row in rows:
        position, hunk = place_of(patches.get(row["path"], ""), row["side"], row["line"])
        url = at.repo(repo, "pulls/comments", row["id"])
        page = at.page(repo, "pull", number) + f"#discussion_r{row['id']}"
        shape = {
            "id": row["id"],
            "node_id": node_id("PullRequestReviewComment", row["id"]),
            "pull_request_review_id": row["review_id"],
            "url": url,
            "html_url": page,
            "pull_request_url": pull_url,
            **same(row, "path", "line"),
            "original_line": row["line"],
            "start_line": None,
            "original_start_line": None,
            "side": row["side"],
            "start_side": None,
            "position": position,
            "original_position": position,
            "subject_type": "line",
            "diff_hunk": hunk,
            "commit_id": row["commit_sha"],
            "original_commit_id": row["commit_sha"],
            "body": row["body"],
            "user": user(at, row["user_id"], row["user"]),
            **same(row, "created_at", "updated_at"),
            "author_association": "OWNER" if row["user_id"] == repo["owner_id"] else "CONTRIBUTOR",
            "reactions": reactions(url, given[row["id"]]),
            "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull_url}},
        }
        shapes.append(shape | ({"in_reply_to_id": row["reply_to"]} if row["reply_to"] else {}))
    return shapes


def check_run(at: Context, repo: Row, row: Row) -> Json:
    return {
        "id": row["id"],
        "node_id": node_id("CheckRun", row["id"]),
        "name": row["name"],
        "head_sha": row["sha"],
        **same(row, "status", "conclusion"),
        "url": at.repo(repo, "check-runs", row["id"]),
        "html_url": at.page(repo, "runs", row["id"]),
        "details_url": at.page(repo, "runs", row["id"]),
        **same(row, "started_at", "completed_at"),
        "external_id": "",
        "output": {"title": None, "summary": None, "text": None, "annotations_count": 0},
        "pull_requests": [],
    }


def status(at: Context, repo: Row, row: Row) -> Json:
    """A commit status."""
    return {
        "id": row["id"],
        "node_id": node_id("StatusContext", row["id"]),
        "url": at.repo(repo, "statuses", row["sha"]),
        **same(row, "state", "context"),
        "description": row["description"] or None,
        "target_url": row["target_url"],
        "avatar_url": None,
        "created_at": row["created_at"],
        "updated_at": row["created_at"],
    }
