"""How changes to issues are taken back; what was opened, said or pushed, is."""

from __future__ import annotations

from typing import Any

from mesocosm.services.undoing import Done, ToolCall


def _issue(done: Done) -> list[ToolCall]:
    given = done.arguments
    which = {name: given[name] for name in ("owner", "repo", "issue_number") if name in given}
    issue = done.earlier("issue_read", method="get", **which) if given.get("method") == "update" else None
    if not isinstance(issue, dict):
        return []
    before: dict[str, Any] = {
        "title": issue.get("title"),
        "body": issue.get("body") or "",
        "state": issue.get("state"),
        "labels": [_named(label, "name") for label in issue.get("labels") or []],
        "assignees": [_named(person, "login") for person in issue.get("assignees") or []],
    }
    changed = {name: before[name] for name in before if given.get(name) is not None}
    return [("issue_write", {"method": "update", **which, **changed})] if changed else []


def _named(value: Any, name: str) -> Any:
    return value[name] if isinstance(value, dict) else value


UNDO = {"issue_write": _issue}
