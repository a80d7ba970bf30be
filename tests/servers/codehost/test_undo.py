"""Taking back changes of issues, with the tools alone."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.services.undo import Done, load_undo

PRIORITY = {"field_name": "priority", "field_option_name": "P0"}
ESTIMATE = {"field_name": "Estimate", "value": 3}
CHANGES: list[dict[str, Any]] = [
    {"title": "Else"}, {"body": ""}, {"labels": ["fresh"]}, {"assignees": []}, {"milestone": 0},
    {"type": "Bug"}, {"issue_fields": [PRIORITY, ESTIMATE]},
    {"state": "closed", "state_reason": "duplicate", "duplicate_of": 2},
]  # fmt: skip
ALL: dict[str, Any] = {name: value for change in CHANGES for name, value in change.items()}
BACK: list[dict[str, Any]] = [
    {"type": None}, {"state": "open"}, {"milestone": 1},
    {"issue_fields": [{"field_name": "Estimate", "delete": True}]},
]  # fmt: skip


def change_and_take_back(host: Any, change: dict[str, Any]) -> None:
    arguments = {"owner": "acme", "repo": "app", "method": "update", "issue_number": 1, **change}

    def before(tool: str, given: dict[str, Any]) -> str:
        text: str = host.world.calls.peek("codehost", tool, given).text
        return text

    def seen() -> dict[str, Any]:
        issue: dict[str, Any] = host.call("issue_read", method="get", issue_number=1)
        # An issue that was closed says for ever that it was reopened.
        passing = {"updated_at", "closed_at", *(["state_reason"] if issue["state"] == "open" else [])}
        return {name: issue[name] for name in issue if name not in passing}

    first = seen()
    calls = load_undo("codehost")["issue_write"](Done("issue_write", arguments, "", before))
    host.call("issue_write", **arguments)
    assert seen() != first
    for tool, given in calls:
        host.call(tool, **given)
    assert seen() == first


@pytest.mark.parametrize("change", [*CHANGES, ALL], ids=lambda change: " ".join(change))
def test_a_change_of_an_issue_is_taken_back(host: Any, change: dict[str, Any]) -> None:
    change_and_take_back(host, change)


@pytest.mark.parametrize("change", BACK, ids=lambda change: " ".join(change))
def test_a_change_back_of_all_of_it_is_taken_back(host: Any, change: dict[str, Any]) -> None:
    host.call("issue_write", method="update", issue_number=1, **ALL)
    change_and_take_back(host, change)
