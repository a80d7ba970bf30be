"""Reviews: pending and submitted, threads and replies."""

from __future__ import annotations

from typing import Any


def review(host: Any, method: str, **more: Any) -> Any:
    return host.call("pull_request_review_write", method=method, pullNumber=3, **more)


def refused(host: Any, method: str, **more: Any) -> str:
    return str(host.refused("pull_request_review_write", method=method, pullNumber=3, **more))


def reviews(host: Any) -> list[tuple[str, str]]:
    shown = host.call("pull_request_read", method="get_reviews", pullNumber=3)
    return [(item["user"]["login"], item["state"]) for item in shown]


def thread(host: Any) -> Any:
    return host.call("pull_request_read", method="get_review_comments", pullNumber=3)["review_threads"][0]


def comment_id(host: Any) -> int:
    return int(thread(host)["comments"][0]["html_url"].rpartition("_r")[2])


def test_a_review_is_submitted_at_once(host: Any) -> None:
    assert review(host, "create", event="APPROVE") == "pull request review submitted successfully"
    assert reviews(host) == [("alice", "COMMENTED"), ("alice", "APPROVED")]


def test_a_pending_review_is_seen_by_its_author_only_until_submitted(host: Any) -> None:
    review(host, "create")
    assert ("alice", "PENDING") in reviews(host)
    host.sign_in("dave")
    assert reviews(host) == [("alice", "COMMENTED")]
    host.sign_in("alice")
    review(host, "submit_pending", event="REQUEST_CHANGES", body="No")
    assert reviews(host)[1] == ("alice", "CHANGES_REQUESTED")


def test_a_pending_review_is_deleted(host: Any) -> None:
    review(host, "create")
    review(host, "delete_pending")
    assert reviews(host) == [("alice", "COMMENTED")]


def test_reviews_are_refused_where_the_product_refuses_them(host: Any) -> None:
    assert "leave a comment" in refused(host, "create", event="REQUEST_CHANGES")
    assert "leave a comment" in refused(host, "create", event="COMMENT", body=" ")
    assert "not a commit of pull request #3" in refused(host, "create", event="APPROVE", commitID="main")
    assert "No pending review" in refused(host, "submit_pending", event="APPROVE")
    assert "No pending review" in refused(host, "delete_pending")
    review(host, "create")
    assert "one pending review" in refused(host, "create", event="APPROVE")
    assert "event is required" in refused(host, "submit_pending")


def test_nobody_approves_their_own_pull_request(host: Any) -> None:
    host.sign_in("bob")
    assert "Can not approve your own" in refused(host, "create", event="APPROVE")
    assert "Can not request changes on your own" in refused(host, "create", event="REQUEST_CHANGES", body="x")
    review(host, "create", event="COMMENT", body="Ready")


def test_threads_show_their_comments_and_become_outdated(host: Any) -> None:
    shown = thread(host)
    assert (shown["is_resolved"], shown["is_outdated"]) == (False, False)
    assert (shown["comments"][0]["path"], shown["comments"][0]["line"]) == ("src/v1.py", 1)
    host.put("src/v1.py", "def main():\n    return 42\n", "feature")
    assert thread(host)["is_outdated"] is True


def test_threads_are_paged_by_cursor(host: Any) -> None:
    page = host.call("pull_request_read", method="get_review_comments", pullNumber=3, perPage=1)
    assert (page["totalCount"], page["pageInfo"]["hasNextPage"]) == (1, False)
    end = page["pageInfo"]["endCursor"]
    after = host.call("pull_request_read", method="get_review_comments", pullNumber=3, after=end)
    assert after["review_threads"] == []


def test_a_thread_is_resolved_and_unresolved(host: Any) -> None:
    name = thread(host)["id"]
    assert review(host, "resolve_thread", threadId=name) == "review thread resolved successfully"
    review(host, "resolve_thread", threadId=name)
    assert thread(host)["is_resolved"] is True
    review(host, "unresolve_thread", threadId=name)
    assert thread(host)["is_resolved"] is False


def test_unknown_threads_are_refused(host: Any) -> None:
    for name in ("", "PRRT_kwDO", "PRRT_kwDOAAAAAAAJ", "x", "PRRT_kwDO\0", "PRRT_kwDOé"):
        refused(host, "resolve_thread", threadId=name)


def test_threads_are_resolved_by_the_author_and_by_writers(host: Any) -> None:
    name = thread(host)["id"]
    host.sign_in("carol")
    assert "write access" in refused(host, "resolve_thread", threadId=name)
    host.sign_in("bob")
    review(host, "resolve_thread", threadId=name)


def test_a_comment_is_replied_to_and_reacted_to(host: Any) -> None:
    made = host.call(
        "add_reply_to_pull_request_comment",
        pullNumber=3,
        commentId=comment_id(host),
        body="Because",
        reaction="+1",
    )
    assert made["url"].endswith(f"#discussion_r{made['id']}")
    assert [comment["body"] for comment in thread(host)["comments"]] == ["Why?", "Because"]


def test_replies_are_refused_where_they_do_not_fit(host: Any) -> None:
    tool, comment = "add_reply_to_pull_request_comment", comment_id(host)
    assert "At least one" in host.refused(tool, commentId=comment)
    assert "pullNumber is required" in host.refused(tool, commentId=comment, body="x")
    assert "Not Found" in host.refused(tool, commentId=7, body="x", pullNumber=3)
    assert "Not Found" in host.refused(tool, commentId=2**62, reaction="eyes")
    assert "blank" in host.refused(tool, commentId=comment, body=" ", pullNumber=3)
    other = host.open_pull("next", {"n": "n"})
    assert "Not Found" in host.refused(tool, commentId=comment, body="x", pullNumber=other)
