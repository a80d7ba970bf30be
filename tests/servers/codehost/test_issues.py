"""Issues, their comments, fields and sub-issues, and labels."""

from __future__ import annotations

from typing import Any


def numbers(answer: Any) -> list[int]:
    return [issue["number"] for issue in answer["issues"]]


def test_issues_are_listed_newest_first_without_pull_requests(host: Any) -> None:
    listed = host.call("list_issues")
    assert (numbers(listed), listed["totalCount"]) == ([2, 1], 2)
    assert listed["issues"][1]["labels"] == ["bug", "Weird"]
    assert listed["issues"][1]["field_values"] == [{"field": "Priority", "value": "P1"}]
    assert listed["issues"][0]["state"] == "CLOSED"


def test_issues_are_filtered(host: Any) -> None:
    assert numbers(host.call("list_issues", state="OPEN")) == [1]
    assert numbers(host.call("list_issues", labels=["BUG", "weird"])) == [1]
    assert numbers(host.call("list_issues", labels=["bug", "question"])) == []
    assert numbers(host.call("list_issues", since="2024-12-08")) == [2]
    priority = [{"field_name": "priority", "value": "p1"}]
    assert numbers(host.call("list_issues", field_filters=priority)) == [1]


def test_issues_are_ordered_and_paged_by_cursor(host: Any) -> None:
    for title in ("a", "b", "c"):
        host.call("issue_write", method="create", title=title)
    order = {"orderBy": "COMMENTS", "direction": "ASC", "perPage": 2}
    seen, after = [], {}
    while True:
        page = host.call("list_issues", **order, **after)
        seen += numbers(page)
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = {"after": page["pageInfo"]["endCursor"]}
    assert seen == [2, 4, 5, 6, 1]


def test_list_issues_refuses_bad_arguments(host: Any) -> None:
    assert "valid cursor" in host.refused("list_issues", after="abc")
    other = host.call("list_issues")["pageInfo"]["endCursor"]
    assert "valid cursor" in host.refused("list_issues", after=other, orderBy="COMMENTS", direction="ASC")
    assert "ISO 8601" in host.refused("list_issues", since="soon")
    unknown = [{"field_name": "Nope", "value": "x"}]
    assert "was not found" in host.refused("list_issues", field_filters=unknown)


def test_an_issue_is_read_with_its_comments_and_labels(host: Any) -> None:
    issue = host.call("issue_read", method="get", issue_number=1)
    assert (issue["title"], issue["user"]["login"], issue["assignees"]) == (
        "Crash on start",
        "bob",
        ["alice"],
    )
    assert (issue["milestone"], issue["comments"], issue["has_parent"]) == ("M1", 1, False)
    comments = host.call("issue_read", method="get_comments", issue_number=1)
    assert [(comment["user"]["login"], comment["body"]) for comment in comments] == [
        ("alice", "Looking at zebras")
    ]
    labels = host.call("issue_read", method="get_labels", issue_number=1)
    assert (labels["totalCount"], labels["labels"][0]["color"]) == (2, "d73a4a")


def test_issue_read_refuses_issues_that_do_not_exist(host: Any) -> None:
    for number in (0, -1, 99, 2**62):
        assert "Not Found" in host.refused("issue_read", method="get", issue_number=number)
    assert 'one of "get"' in host.refused("issue_read", method="all", issue_number=1)


def test_an_issue_is_opened_with_everything(host: Any) -> None:
    fields = [{"field_name": "Estimate", "value": 3}, {"field_name": "priority", "field_option_name": "p0"}]
    made = host.call(
        "issue_write",
        method="create",
        title=" New ",
        body="Text",
        labels=["bug", "fresh"],
        assignees=["bob"],
        milestone=1,
        type="feature",
        issue_fields=fields,
    )
    assert made["url"].endswith("/acme/app/issues/4")
    issue = host.call("issue_read", method="get", issue_number=4)
    assert (issue["title"], issue["issue_type"], issue["id"]) == ("New", "Feature", int(made["id"]))
    values = {item["field"]: item["value"] for item in issue["field_values"]}
    assert values == {"Priority": "P0", "Estimate": "3"}


BAD_ISSUES: list[tuple[dict[str, Any], str]] = [
    ({}, "title"),
    ({"title": " "}, "can't be blank"),
    ({"title": "x" * 257}, "too long"),
    ({"title": "a\0"}, "null"),
    ({"title": "t", "body": "x" * 65_537}, "too long"),
    ({"title": "t", "assignees": ["nobody"]}, "assignee"),
    ({"title": "t", "milestone": 9}, "milestone"),
    ({"title": "t", "type": "Epic"}, "issue type"),
    ({"title": "t", "labels": [""]}, "blank"),
    ({"title": "t", "issue_fields": [{"field_name": "Priority", "value": "P9"}]}, "option"),
    ({"title": "t", "issue_fields": [{"field_name": "Priority"}]}, "exactly one"),
    ({"title": "t", "issue_fields": [{"field_name": "Estimate", "value": "many"}]}, "takes a number"),
    (
        {"title": "t", "issue_fields": [{"field_name": "Estimate", "field_option_name": "x"}]},
        "cannot be used",
    ),
]


def test_an_issue_is_not_opened_with_bad_arguments(host: Any) -> None:
    for change, reason in BAD_ISSUES:
        assert reason in host.refused("issue_write", method="create", **change)


def test_an_issue_is_changed_where_something_is_given(host: Any) -> None:
    cleared = [{"field_name": "Priority", "delete": True}]
    host.call("issue_write", method="update", issue_number=1, labels=[], milestone=0, issue_fields=cleared)
    issue = host.call("issue_read", method="get", issue_number=1)
    assert (issue["title"], issue["body"]) == ("Crash on start", "It crashes badly")
    assert not issue.keys() & {"labels", "milestone", "field_values"}


def test_a_type_is_removed_by_null_only(host: Any) -> None:
    host.call("issue_write", method="update", issue_number=1, type="Bug")
    host.call("issue_write", method="update", issue_number=1, title="T")
    assert host.call("issue_read", method="get", issue_number=1)["issue_type"] == "Bug"
    host.call("issue_write", method="update", issue_number=1, type=None)
    assert "issue_type" not in host.call("issue_read", method="get", issue_number=1)


def test_an_issue_is_closed_and_reopened(host: Any) -> None:
    host.call("issue_write", method="update", issue_number=1, state="closed", state_reason="not_planned")
    issue = host.call("issue_read", method="get", issue_number=1)
    assert (issue["state"], issue["state_reason"], issue["closed_by"]) == ("closed", "not_planned", "alice")
    host.call("issue_write", method="update", issue_number=1, state="open")
    issue = host.call("issue_read", method="get", issue_number=1)
    assert (issue["state"], issue["state_reason"]) == ("open", "reopened")
    assert "closed_at" not in issue


def test_a_duplicate_names_the_issue_that_it_repeats(host: Any) -> None:
    change = {"method": "update", "issue_number": 1, "state": "closed", "state_reason": "duplicate"}
    assert "must be provided" in host.refused("issue_write", **change)
    assert "duplicate of itself" in host.refused("issue_write", **change, duplicate_of=1)
    assert "Not Found" in host.refused("issue_write", **change, duplicate_of=77)
    host.call("issue_write", **change, duplicate_of=2)
    assert host.call("issue_read", method="get", issue_number=1)["duplicate_of"] == 2


def test_issue_write_refuses_what_does_not_fit(host: Any) -> None:
    assert "issue_number" in host.refused("issue_write", method="update", title="x")
    assert "Not Found" in host.refused("issue_write", method="update", issue_number=50, title="x")
    wrong = {"method": "update", "issue_number": 1, "duplicate_of": 2, "state": "closed"}
    assert "only be used" in host.refused("issue_write", **wrong)
    assert "update_pull_request" in host.refused(
        "issue_write", method="update", issue_number=3, state="closed"
    )


def test_a_reader_opens_issues_but_cannot_mark_or_change_those_of_others(host: Any) -> None:
    host.sign_in("carol")
    host.call("issue_write", method="create", title="Mine", labels=["bug"], assignees=["bob"])
    mine = host.call("issue_read", method="get", issue_number=4)
    assert not mine.keys() & {"labels", "assignees"}
    host.call("issue_write", method="update", issue_number=4, title="Mine!", state="closed")
    assert "triage access" in host.refused("issue_write", method="update", issue_number=1, state="closed")


def test_who_triages_marks_and_closes_but_does_not_rewrite(host: Any) -> None:
    with host.world.editing():
        host.store.repositories.set_role("acme", "app", "carol", "triage")
    host.sign_in("carol")
    host.call("issue_write", method="update", issue_number=1, labels=["question"], state="closed")
    assert host.call("issue_read", method="get", issue_number=1)["labels"] == ["question"]
    assert "write access" in host.refused("issue_write", method="update", issue_number=1, title="x")


def test_a_comment_counts_and_moves_the_issue_up(host: Any) -> None:
    made = host.call("add_issue_comment", issue_number=1, body="Found it")
    assert made["url"].endswith(f"/issues/1#issuecomment-{made['id']}")
    issue = host.call("issue_read", method="get", issue_number=1)
    assert (issue["comments"], issue["updated_at"][:10]) == (2, "2025-01-15")
    assert (
        host.call("issue_read", method="get_comments", issue_number=1, page=2, perPage=1)[0]["body"]
        == "Found it"
    )


def test_reactions_go_to_issues_and_comments_once_each(host: Any) -> None:
    comment = host.call("issue_read", method="get_comments", issue_number=1)[0]["id"]
    host.call("add_issue_comment", issue_number=1, reaction="heart")
    host.call("add_issue_comment", issue_number=1, reaction="heart")
    host.call("add_issue_comment", issue_number=1, reaction="eyes", comment_id=comment)
    assert host.call("issue_read", method="get", issue_number=1)["reactions"]["heart"] == 1
    assert host.call("issue_read", method="get_comments", issue_number=1)[0]["reactions"]["eyes"] == 1


def test_add_issue_comment_refuses_empty_and_misplaced_comments(host: Any) -> None:
    assert "At least one" in host.refused("add_issue_comment", issue_number=1)
    assert "blank" in host.refused("add_issue_comment", issue_number=1, body=" ")
    assert "body" in host.refused("add_issue_comment", issue_number=1, body="")
    assert "Not Found" in host.refused("add_issue_comment", issue_number=9, body="x")
    assert "Not Found" in host.refused("add_issue_comment", issue_number=1, reaction="eyes", comment_id=1)


def children(host: Any, number: int) -> list[str]:
    return [issue["title"] for issue in host.call("issue_read", method="get_sub_issues", issue_number=number)]


def new_issue(host: Any, title: str) -> int:
    return int(host.call("issue_write", method="create", title=title)["id"])


def test_sub_issues_are_added_ordered_and_removed(host: Any) -> None:
    a, b, c = (new_issue(host, title) for title in "abc")
    for issue in (a, b, c):
        host.call("sub_issue_write", method="add", issue_number=1, sub_issue_id=issue)
    host.call("sub_issue_write", method="reprioritize", issue_number=1, sub_issue_id=c, before_id=a)
    assert children(host, 1) == ["c", "a", "b"]
    host.call("sub_issue_write", method="reprioritize", issue_number=1, sub_issue_id=c, after_id=b)
    host.call("sub_issue_write", method="remove", issue_number=1, sub_issue_id=a)
    assert children(host, 1) == ["b", "c"]
    parent = host.call("issue_read", method="get_parent", issue_number=5)["parent"]
    assert (parent["number"], parent["repository"]) == (1, "acme/app")


def test_a_parent_says_how_many_sub_issues_are_done(host: Any) -> None:
    for title in "ab":
        host.call("sub_issue_write", method="add", issue_number=1, sub_issue_id=new_issue(host, title))
    host.call("issue_write", method="update", issue_number=4, state="closed")
    summary = host.call("issue_read", method="get", issue_number=1)["sub_issues_summary"]
    assert summary == {"total": 2, "completed": 1, "percent_completed": 50}


def test_a_sub_issue_has_one_parent_and_no_cycles(host: Any) -> None:
    ids = {n: host.call("issue_read", method="get", issue_number=n)["id"] for n in (1, 2)}
    child = new_issue(host, "child")
    add = {"method": "add", "issue_number": 1, "sub_issue_id": child}
    host.call("sub_issue_write", **add)
    assert "duplicate sub-issues" in host.refused("sub_issue_write", **add)
    assert "only have one parent" in host.refused("sub_issue_write", **add | {"issue_number": 2})
    assert "its own" in host.refused("sub_issue_write", method="add", issue_number=1, sub_issue_id=ids[1])
    assert "ancestor" in host.refused("sub_issue_write", method="add", issue_number=4, sub_issue_id=ids[1])
    host.call("sub_issue_write", **add | {"issue_number": 2}, replace_parent=True)
    assert (children(host, 1), children(host, 2)) == ([], ["child"])


def test_sub_issue_write_refuses_bad_arguments(host: Any) -> None:
    issue = new_issue(host, "x")
    assert "unknown method" in host.refused(
        "sub_issue_write", method="move", issue_number=1, sub_issue_id=issue
    )
    # The number of an issue is not its id.
    assert "Not Found" in host.refused("sub_issue_write", method="add", issue_number=1, sub_issue_id=2)
    assert "not a sub-issue" in host.refused(
        "sub_issue_write", method="remove", issue_number=1, sub_issue_id=issue
    )
    host.call("sub_issue_write", method="add", issue_number=1, sub_issue_id=issue)
    move = {"method": "reprioritize", "issue_number": 1, "sub_issue_id": issue}
    assert "Either after_id or before_id" in host.refused("sub_issue_write", **move)
    assert "same parent" in host.refused("sub_issue_write", **move, after_id=issue)
    host.sign_in("carol")
    assert "triage access" in host.refused(
        "sub_issue_write", method="add", issue_number=1, sub_issue_id=issue
    )


def test_labels_are_read_by_name_in_any_case(host: Any) -> None:
    assert host.call("get_label", name="BUG")["color"] == "d73a4a"
    assert host.call("list_label")["totalCount"] == 10
    assert "label 'nope' not found" in host.refused("get_label", name="nope")


def test_a_label_is_made_changed_and_deleted(host: Any) -> None:
    host.call("label_write", method="create", name="urgent", color="#FF0000", description="Now")
    assert host.call("get_label", name="urgent")["color"] == "ff0000"
    host.call("label_write", method="update", name="bug", new_name="defect")
    assert host.call("issue_read", method="get", issue_number=1)["labels"] == ["defect", "Weird"]
    host.call("label_write", method="delete", name="defect")
    assert host.call("issue_read", method="get", issue_number=1)["labels"] == ["Weird"]


def test_label_write_refuses_bad_labels(host: Any) -> None:
    create = {"method": "create", "name": "x"}
    assert "already_exists" in host.refused("label_write", **create | {"name": "BUG"})
    assert "hexadecimal" in host.refused("label_write", **create, color="red")
    assert "blank" in host.refused("label_write", **create | {"name": " "})
    assert "too long" in host.refused("label_write", **create, description="x" * 101)
    assert "at least one" in host.refused("label_write", method="update", name="bug")
    assert "already_exists" in host.refused("label_write", method="update", name="bug", new_name="question")
    assert "not found" in host.refused("label_write", method="delete", name="nope")
    host.sign_in("carol")
    assert "write access" in host.refused("label_write", **create)
