"""Undoing changes to issues. Creations, comments and pushes are final."""

from __future__ import annotations

import re

from mesocosm.services.schema import Json
from mesocosm.services.undo import Done, ToolCall

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


def _issue(done: Done) -> list[ToolCall]:
    given = done.arguments
    which = {name: given[name] for name in ("owner", "repo", "issue_number") if name in given}
    issue = done.earlier("issue_read", method="get", **which) if given.get("method") == "update" else None
    if not isinstance(issue, dict):
        return []
    before: Json = {
        "title": issue.get("title"),
        "body": issue.get("body") or "",
        "labels": issue.get("labels") or [],
        "assignees": issue.get("assignees") or [],
        "milestone": _milestone(done, issue.get("milestone")) if "milestone" in given else 0,
        "issue_fields": [_field(change, issue) for change in given.get("issue_fields") or []],
        "state": issue.get("state"),
    }
    changed = {name: before[name] for name in before if given.get(name) is not None}
    if "type" in given:  # which null removes
        changed["type"] = issue.get("issue_type")
    if changed.get("state") == "closed":
        changed |= {name: issue[name] for name in ("state_reason", "duplicate_of") if name in issue}
    return [("issue_write", {"method": "update", **which, **changed})] if changed else []


def _milestone(done: Done, title: str | None) -> int:
    """The number of a milestone, which only searches tell; 0 is none."""
    if title is None:
        return 0
    where = {name: done.arguments[name] for name in ("owner", "repo")}
    found = done.earlier("search_issues", query=f'milestone:"{title}"', perPage=1, **where)
    items = found.get("items") if isinstance(found, dict) else None
    return items[0]["milestone"]["number"] if items else 0


def _field(change: Json, issue: Json) -> Json:
    name = change["field_name"]
    held = {one["field"].casefold(): one["value"] for one in issue.get("field_values") or []}
    value = held.get(name.strip().casefold())
    if value is None:
        return {"field_name": name, "delete": True}
    # Shown as text; which kind the field is tells what was written to it, or how it looks if it was cleared.
    is_number = (
        _NUMBER.fullmatch(value) if change.get("delete") else isinstance(change.get("value"), int | float)
    )
    return {"field_name": name, "value": float(value) if is_number else value}


UNDO = {"issue_write": _issue}
