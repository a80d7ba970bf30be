"""Pull requests: opening, reading, changing, updating and merging them."""

from __future__ import annotations

from typing import Any

import pytest


def pull(host: Any, number: int) -> Any:
    return host.call("pull_request_read", method="get", pullNumber=number)


def test_a_pull_request_is_read_with_its_statistics(host: Any) -> None:
    shown = pull(host, 3)
    assert (shown["title"], shown["user"]["login"], shown["mergeable_state"]) == ("Add v1", "bob", "clean")
    assert (shown["additions"], shown["deletions"], shown["changed_files"], shown["commits"]) == (2, 0, 1, 1)
    assert shown["head"] == {"ref": "feature", "sha": host.head("feature"), "repo": {"full_name": "acme/app"}}
    # Who has reviewed is no longer asked to.
    assert shown["requested_reviewers"] == ["acme/core"]


def test_a_pull_request_shows_its_changes(host: Any) -> None:
    diff = host.call("pull_request_read", method="get_diff", pullNumber=3)
    assert diff.startswith("diff --git a/src/v1.py b/src/v1.py\nnew file mode 100644\nindex 0000000..")
    assert diff.endswith(
        "--- /dev/null\n+++ b/src/v1.py\n@@ -0,0 +1,2 @@\n+def main():\n+    return 40 + 2\n"
    )
    (file,) = host.call("pull_request_read", method="get_files", pullNumber=3)
    assert (file["filename"], file["status"], file["additions"]) == ("src/v1.py", "added", 2)
    (commit,) = host.call("pull_request_read", method="get_commits", pullNumber=3)
    assert (commit["message"], commit["author"]["name"]) == ("Add v1", "Bob Roe")


def test_a_pull_request_shows_checks_and_statuses(host: Any) -> None:
    status = host.call("pull_request_read", method="get_status", pullNumber=3)
    assert (status["state"], status["statuses"][0]["context"]) == ("success", "lint")
    runs = host.call("pull_request_read", method="get_check_runs", pullNumber=3)
    assert (runs["total_count"], runs["check_runs"][0]["conclusion"]) == (1, "success")
    with host.world.editing():
        host.store.filling.add_statuses(
            "acme", "app", [{"sha": "feature", "context": "lint", "state": "failure"}]
        )
    assert host.call("pull_request_read", method="get_status", pullNumber=3)["state"] == "failure"
    assert pull(host, 3)["mergeable_state"] == "unstable"


def test_pull_request_read_refuses_issues_and_unknown_numbers(host: Any) -> None:
    for number in (1, 0, 99, -5, 2**62):
        assert "Not Found" in host.refused("pull_request_read", method="get", pullNumber=number)
    assert "valid cursor" in host.refused(
        "pull_request_read", method="get_review_comments", pullNumber=3, after="?"
    )


def test_comments_on_a_pull_request_are_those_of_its_conversation(host: Any) -> None:
    host.call("add_issue_comment", issue_number=3, body="Nice")
    (comment,) = host.call("pull_request_read", method="get_comments", pullNumber=3)
    assert comment["html_url"].startswith("https://github.com/acme/app/pull/3#issuecomment-")


def test_pull_requests_are_listed_filtered_and_sorted(host: Any) -> None:
    number = host.open_pull("next", {"n.txt": "n"}, draft=True)
    listed = host.call("list_pull_requests", fields=["number", "draft"])
    assert listed == [{"number": number, "draft": True}, {"number": 3, "draft": False}]
    assert [p["number"] for p in host.call("list_pull_requests", sort="updated")] == [3, number]
    assert [p["number"] for p in host.call("list_pull_requests", head="acme:next")] == [number]
    assert [p["number"] for p in host.call("list_pull_requests", head="feature", base="main")] == [3]
    assert host.call("list_pull_requests", state="closed") == host.call("list_pull_requests", base="x") == []
    assert [p["number"] for p in host.call("list_pull_requests", perPage=1, page=2)] == [3]
    assert "perPage" in host.refused("list_pull_requests", perPage=0)


def test_a_pull_request_is_opened_with_reviewers(host: Any) -> None:
    number = host.open_pull("next", {"n.txt": "n"}, reviewers=["bob", "acme/core"], body="B")
    shown = pull(host, number)
    assert (shown["requested_reviewers"], shown["body"]) == (["bob", "acme/core"], "B")


BAD_PULLS: list[tuple[dict[str, Any], str]] = [
    ({"head": "nope"}, "head 'nope' is invalid"),
    ({"base": "nope"}, "base 'nope' is invalid"),
    ({"head": "main"}, "No commits between main and main"),
    ({"head": "feature"}, "already exists for acme:feature"),
    ({"head": "nobody:x"}, "is invalid"),
    ({"title": " "}, "blank"),
    ({"reviewers": ["alice"]}, "pull request author"),
    ({"reviewers": ["nobody"]}, "Could not resolve"),
    ({"reviewers": ["other/team"]}, "teams of acme"),
]


def test_a_pull_request_is_not_opened_badly(host: Any) -> None:
    host.call("create_branch", branch="next")
    host.put("n.txt", "n", "next")
    good = {"title": "T", "head": "next", "base": "main"}
    for change, reason in BAD_PULLS:
        assert reason in host.refused("create_pull_request", **good | change)


def test_a_pull_request_comes_from_a_fork(host: Any) -> None:
    host.sign_in("carol")
    host.call("fork_repository")
    files = [{"path": "c.txt", "content": "c"}]
    host.call("push_files", owner="carol", branch="main", files=files, message="From carol")
    host.call("create_pull_request", title="T", head="carol:main", base="main")
    host.sign_in("alice")
    assert pull(host, 4)["head"]["repo"]["full_name"] == "carol/app"
    host.call("merge_pull_request", pullNumber=4)
    assert host.text("c.txt") == "c"


def test_who_cannot_write_opens_no_pull_request_between_branches(host: Any) -> None:
    host.call("create_branch", branch="next")
    host.put("n.txt", "n", "next")
    host.sign_in("carol")
    assert "write access" in host.refused("create_pull_request", title="T", head="next", base="main")


def test_a_pull_request_follows_its_branch(host: Any) -> None:
    sha = host.put("more.txt", "more", "feature")
    assert pull(host, 3)["head"]["sha"] == sha
    assert host.text("more.txt", ref="refs/pull/3/head") == "more"


def test_a_pull_request_is_changed(host: Any) -> None:
    host.call("create_branch", branch="stable")
    host.call("update_pull_request", pullNumber=3, title="T", body="B", draft=True, base="stable")
    shown = pull(host, 3)
    assert (shown["title"], shown["body"], shown["draft"], shown["base"]["ref"]) == ("T", "B", True, "stable")


def test_a_pull_request_is_closed_and_reopened(host: Any) -> None:
    host.call("update_pull_request", pullNumber=3, state="closed")
    host.put("late.txt", "late", "feature")
    assert (pull(host, 3)["state"], pull(host, 3)["commits"]) == ("closed", 1)
    host.call("update_pull_request", pullNumber=3, state="open")
    assert pull(host, 3)["commits"] == 2


def test_update_pull_request_refuses_what_cannot_be(host: Any) -> None:
    assert "is invalid" in host.refused("update_pull_request", pullNumber=3, base="nope")
    assert "no new commits" in host.refused("update_pull_request", pullNumber=3, base="feature")
    assert "Not Found" in host.refused("update_pull_request", pullNumber=1, title="x")
    host.call("merge_pull_request", pullNumber=3)
    assert "is merged" in host.refused("update_pull_request", pullNumber=3, state="open")
    host.sign_in("carol")
    assert "access" in host.refused("update_pull_request", pullNumber=3, title="x")


def test_a_merge_makes_a_merge_commit_and_closes_issues(host: Any) -> None:
    before, head = host.head(), host.head("feature")
    merged = host.call("merge_pull_request", pullNumber=3)
    assert merged == {"sha": host.head(), "merged": True, "message": "Pull Request successfully merged"}
    commit = host.call("get_commit", sha="main")
    assert commit["commit"]["message"] == "Merge pull request #3 from acme/feature\n\nAdd v1"
    assert commit["commit"]["committer"]["name"] == "GitHub"
    assert {before, head} < {commit["sha"] for commit in host.call("list_commits")}
    assert host.call("issue_read", method="get", issue_number=1)["state"] == "closed"
    shown = pull(host, 3)
    assert (shown["merged"], shown["merged_by"], shown["state"], shown["commits"]) == (
        True,
        "alice",
        "closed",
        1,
    )


def test_a_squash_is_one_commit_with_the_message_asked_for(host: Any) -> None:
    host.put("more.txt", "more", "feature")
    arguments = {"merge_method": "squash", "commit_title": "All of it", "commit_message": "At once"}
    host.call("merge_pull_request", pullNumber=3, **arguments)
    first, second, *_ = host.call("list_commits")
    assert first["commit"]["message"] == "All of it\n\nAt once"
    assert second["commit"]["message"] == "Greet"
    assert host.text("src/v1.py")
    assert host.text("more.txt")


def test_a_rebase_repeats_the_commits_with_their_authors(host: Any) -> None:
    host.put("more.txt", "more", "feature")
    host.call("merge_pull_request", pullNumber=3, merge_method="rebase")
    first, second, third, *_ = host.call("list_commits")
    assert [c["commit"]["message"] for c in (first, second, third)] == ["Write more.txt", "Add v1", "Greet"]
    assert (second["author"]["login"], second["committer"]["login"]) == ("bob", "alice")


def test_changes_to_different_lines_of_a_file_are_merged(host: Any) -> None:
    host.put("list.txt", "".join(f"{n}\n" for n in range(9)))
    number = host.open_pull("next", {"list.txt": "zero\n" + "".join(f"{n}\n" for n in range(1, 9))})
    host.put("list.txt", "".join(f"{n}\n" for n in range(8)) + "eight\n")
    host.call("merge_pull_request", pullNumber=number)
    assert host.text("list.txt").split() == ["zero", *"1234567", "eight"]


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_conflicts_are_refused_and_leave_everything_as_it_was(host: Any, method: str) -> None:
    number = host.open_pull("next", {"README.md": "theirs"})
    host.put("README.md", "ours")
    assert pull(host, number)["mergeable_state"] == "dirty"
    reason = host.refused("merge_pull_request", pullNumber=number, merge_method=method)
    assert reason == "Pull Request is not mergeable"


def test_a_change_to_a_file_that_was_deleted_conflicts(host: Any) -> None:
    number = host.open_pull("next", {"README.md": "theirs"})
    host.call("delete_file", path="README.md", message="m", branch="main")
    assert "not mergeable" in host.refused("merge_pull_request", pullNumber=number)


def test_conflict_markers_in_a_file_are_no_conflict(host: Any) -> None:
    lines = "".join(f"{n}\n" for n in range(9))
    host.put("m.txt", lines + "<<<<<<< ours\n")
    number = host.open_pull("next", {"m.txt": "first\n" + lines + "<<<<<<< ours\n"})
    host.put("m.txt", lines + "<<<<<<< ours\nlast\n")
    host.call("merge_pull_request", pullNumber=number)
    assert host.text("m.txt") == "first\n" + lines + "<<<<<<< ours\nlast\n"


def test_drafts_closed_and_merged_pull_requests_are_not_merged(host: Any) -> None:
    host.call("update_pull_request", pullNumber=3, draft=True)
    assert "draft" in host.refused("merge_pull_request", pullNumber=3)
    host.call("update_pull_request", pullNumber=3, draft=False)
    host.call("merge_pull_request", pullNumber=3)
    assert "not mergeable" in host.refused("merge_pull_request", pullNumber=3)
    assert "Not Found" in host.refused("merge_pull_request", pullNumber=1)


def test_merging_needs_write_access_and_the_approvals_that_a_branch_asks_for(host: Any) -> None:
    with host.world.editing():
        host.store.repositories.protect_branch("acme", "app", "main", required_approvals=1)
    assert "1 approving review is required" in host.refused("merge_pull_request", pullNumber=3)
    assert pull(host, 3)["mergeable_state"] == "blocked"
    host.call("pull_request_review_write", method="create", pullNumber=3, event="APPROVE")
    host.sign_in("carol")
    assert "write access" in host.refused("merge_pull_request", pullNumber=3)
    host.sign_in("bob")
    host.call("merge_pull_request", pullNumber=3)


def test_the_base_is_merged_into_the_branch_of_a_pull_request(host: Any) -> None:
    head = host.head("feature")
    assert "expected head sha" in host.refused(
        "update_pull_request_branch", pullNumber=3, expectedHeadSha="0" * 40
    )
    host.call("update_pull_request_branch", pullNumber=3, expectedHeadSha=head)
    assert "Hello." in host.text("README.md", ref="feature")
    assert pull(host, 3)["commits"] == 2
    assert "no new commits" in host.refused("update_pull_request_branch", pullNumber=3)


def test_a_branch_is_not_updated_over_conflicts_or_by_strangers(host: Any) -> None:
    number = host.open_pull("next", {"README.md": "theirs"})
    host.put("README.md", "ours")
    assert "merge conflict" in host.refused("update_pull_request_branch", pullNumber=number)
    host.sign_in("carol")
    assert "write access" in host.refused("update_pull_request_branch", pullNumber=3)


def test_a_commit_message_on_the_default_branch_closes_issues(host: Any) -> None:
    files = [{"path": "n", "content": "n"}]
    host.call("push_files", branch="main", files=files, message="Fix it\n\nCloses #1, see #2")
    assert host.call("issue_read", method="get", issue_number=1)["closed_by"] == "alice"
