"""Issues and what hangs on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from mesocosm.servers.codehost.rest.context import Context, node_id
from mesocosm.servers.codehost.rest.shapes.accounts import user
from mesocosm.services.schema import Json
from mesocosm.services.service import Row, same

REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def reactions(url: str, counts: Mapping[str, int]) -> Json:
    """Format the counts of reactions by emoji."""
    total = {"url": f"{url}/reactions", "total_count": sum(counts.values())}
    return total | {name: counts.get(name, 0) for name in REACTIONS}


def reaction(at: Context, row: Row) -> Json:
    return {
        "id": row["id"],
        "node_id": node_id("Reaction", row["id"]),
        "user": user(at, row["user_id"], row["user"]),
        **same(row, "content", "created_at"),
    }


def label(at: Context, repo: Row, row: Row) -> Json:
    """A label; ``repo`` needs only ``owner`` and ``name``."""
    return {
        "id": row["id"],
        "node_id": node_id("Label", row["id"]),
        "url": at.repo(repo, "labels") + "/" + quote(row["name"], safe=":"),
        **same(row, "name", "color"),
        "default": False,
        "description": row["description"] or None,
        "archived_at": None,
        "archived_by": None,
    }


def milestone(at: Context, repo: Row, row: Row) -> Json:
    url = at.repo(repo, "milestones", row["number"])
    return {
        "id": row["id"],
        "node_id": node_id("Milestone", row["id"]),
        "number": row["number"],
        "url": url,
        "html_url": at.page(repo, "milestone", row["number"]),
        "labels_url": f"{url}/labels",
        "title": row["title"],
        "description": row["description"] or None,
        **same(
            row, "state", "open_issues", "closed_issues", "due_on", "created_at", "updated_at", "closed_at"
        ),
        "creator": user(at, row["creator_id"], row["creator"]) if row["creator"] else None,
    }


def issues(at: Context, rows: Sequence[Row]) -> list[Json]:
    """Issues and pull requests as lists and searches show them."""
    ids = [row["id"] for row in rows]
    labels, assignees = at.store.issues.labels_of(ids), at.store.issues.assignees_of(ids)
    given, fields = at.store.issues.reactions_of("issue", ids), at.store.fields.fields_of(ids)
    homes = [row["repository_id"] for row in rows if row["milestone_id"] is not None]
    milestones = at.store.listing.milestones_by_id(list(dict.fromkeys(homes)))
    shapes = []
    for row in rows:
        repo = {"owner": row["owner"], "name": row["repository"]}
        people = [user(at, item["id"], item["login"]) for item in assignees[row["id"]]]
        shape = _issue(at, repo, row)
        shape["labels"] = [label(at, repo, item) for item in labels[row["id"]]]
        shape["assignee"], shape["assignees"] = (people[0] if people else None), people
        shape["reactions"] = reactions(shape["url"], given[row["id"]])
        if row["milestone_id"] is not None:
            shape["milestone"] = milestone(at, repo, milestones[row["milestone_id"]])
        values = [item for item in fields if item["issue_id"] == row["id"]]
        shape["issue_field_values"] = [_field_value(item) for item in values]
        shapes.append(shape)
    return shapes


def _issue(at: Context, repo: Row, row: Row) -> Json:
    url = at.repo(repo, "issues", row["number"])
    page = at.page(repo, "pull" if row["is_pull"] else "issues", row["number"])
    shape: Json = {
        "id": row["id"],
        "node_id": node_id("PullRequest" if row["is_pull"] else "Issue", row["id"]),
        "url": url,
        "repository_url": at.repo(repo),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": page,
        **same(row, "number", "title"),
        "body": row["body"] or None,
        "user": user(at, row["user_id"], row["user"]),
        **same(row, "state", "state_reason"),
        "locked": bool(row["locked"]),
        "active_lock_reason": None,
        "milestone": None,
        **same(row, "comments", "created_at", "updated_at", "closed_at"),
        "closed_by": user(at, row["closed_by_id"], row["closed_by"]) if row["closed_by"] else None,
        "author_association": "OWNER" if row["user_id"] == row["owner_id"] else "CONTRIBUTOR",
        "type": _type(row["type"]) if row["type"] else None,
    }
    if row["is_pull"]:
        shape["draft"] = bool(row["draft"])
        shape["pull_request"] = {
            "url": at.repo(repo, "pulls", row["number"]),
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": row["merged_at"],
        }
    return shape


def issue(at: Context, row: Row) -> Json:
    """An issue by itself: with its place among others."""
    shape = issues(at, [row])[0]
    shape["sub_issues_summary"] = at.store.issues.sub_issue_summary(row)
    if parent := at.store.issues.parent_issue(row):
        home = {"owner": parent["owner"], "name": parent["repository"]}
        shape["parent_issue_url"] = at.repo(home, "issues", parent["number"])
    return shape


def _type(name: str) -> Json:
    return {
        "id": 1,
        "node_id": node_id("IssueType", name),
        "name": name,
        "description": "",
        "is_enabled": True,
    }


def _field_value(row: Row) -> Json:
    return {
        "issue_field_id": row["id"],
        **same(row, "name", "data_type", "value"),
    }


def comments(at: Context, repo: Row, number: int, rows: Sequence[Row]) -> list[Json]:
    """Comments of a conversation."""
    given = at.store.issues.reactions_of("comment", [row["id"] for row in rows])
    shapes = []
    for row in rows:
        url = at.repo(repo, "issues/comments", row["id"])
        shapes.append(
            {
                "id": row["id"],
                "node_id": node_id("IssueComment", row["id"]),
                "url": url,
                "html_url": at.page(repo, "issues", number) + f"#issuecomment-{row['id']}",
                "issue_url": at.repo(repo, "issues", number),
                "body": row["body"],
                "user": user(at, row["user_id"], row["user"]),
                **same(row, "created_at", "updated_at"),
                "author_association": "OWNER" if row["user_id"] == repo["owner_id"] else "CONTRIBUTOR",
                "reactions": reactions(url, given[row["id"]]),
            }
        )
    return shapes
