"""What generators fill worlds with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.codehost.store import CodehostStore, NewCommit, NewIssue, NewPull, NewReview
from mesocosm.services.world import World

AT = datetime(2024, 6, 1, tzinfo=UTC)


@pytest.fixture
def store(make_world: Any) -> CodehostStore:
    def fill(world: World) -> None:
        store = world.store(CodehostStore)
        for login in ("alice", "bob"):
            store.accounts.create_account(login)
        store.filling.create_repository("alice", "app")

    world: World = make_world(fill, "codehost")
    world._building = (world.now, world.rng)
    return world.store(CodehostStore)


def test_a_repository_with_a_thousand_files_is_one_commit(store: CodehostStore) -> None:
    files = {f"pkg/v{number}.py": f"def main():\n    return {number}\n" for number in range(1000)}
    store.filling.add_commits("alice", "app", [NewCommit("Import", files, "alice", AT)])
    store.accounts.sign_in("alice")
    repository = store.repositories.repository("alice", "app")
    assert store.contents.walk(repository, None, recursive=False, prefix="pkg")[1][0].type == "dir"
    assert store.code_search.search_code("return 777", None, None, None, None)[1] == 1


def test_history_has_branches_and_merges(store: CodehostStore) -> None:
    shas = store.filling.add_commits(
        "alice",
        "app",
        [
            NewCommit("a", {"a": "1"}, "alice", AT),
            NewCommit("b", {"b": "1"}, "bob", AT + timedelta(days=1), branch="side"),
            NewCommit("c", {"c": "1", "a": None}, "alice", AT + timedelta(days=2)),
            NewCommit("m", {}, "alice", AT + timedelta(days=3), merges="side"),
        ],
    )
    store.accounts.sign_in("alice")
    repository = store.repositories.repository("alice", "app")
    rows, total = store.commits.log(repository, None)
    assert (total, [row["sha"] for row in rows]) == (4, shas[::-1])
    assert [
        entry.path for entry in store.contents.walk(repository, None, recursive=True, prefix=None)[1]
    ] == [
        "b",
        "c",
    ]


def test_impossible_history_is_refused(store: CodehostStore) -> None:
    first = NewCommit("a", {"a": "1"}, "alice", AT)
    for wrong in (
        NewCommit("old", {"b": "1"}, "alice", AT - timedelta(days=1)),
        NewCommit("path", {"../b": "1"}, "alice", AT),
        NewCommit("both", {"b": "1", "b/c": "1"}, "alice", AT),
        NewCommit("both", {"b/c": "1", "b": "1"}, "alice", AT),
        NewCommit("none", {"b": "1"}, "alice", AT, branch="x", merges="nope"),
    ):
        with pytest.raises((Invalid, NotFound)):
            store.filling.add_commits("alice", "app", [first, wrong])


def test_pull_requests_are_opened_reviewed_and_merged_at_their_times(store: CodehostStore) -> None:
    commits = [
        NewCommit("a", {"a": "1\n"}, "alice", AT),
        NewCommit("b", {"a": "2\n"}, "bob", AT, branch="side"),
    ]
    store.filling.add_commits("alice", "app", commits)
    store.repositories.set_role("alice", "app", "bob", "write")
    review = NewReview("alice", "APPROVE", "Fine", [("a", 1, "Good")], at=AT + timedelta(days=1))
    ended = AT + timedelta(days=2)
    pull = NewPull("P", "side", "bob", reviews=[review], merged_by="alice", created_at=AT, ended_at=ended)
    (number,) = store.filling.add_pull_requests("alice", "app", [pull])
    store.accounts.sign_in("bob")
    row = store.pulls.pull(store.repositories.repository("alice", "app"), number)
    assert (row["created_at"], row["merged_at"]) == ("2024-06-01T00:00:00Z", "2024-06-03T00:00:00Z")
    assert store.now > ended


def test_what_the_product_would_not_hold_is_refused(store: CodehostStore) -> None:
    with pytest.raises(NotFound):
        store.filling.add_issues("alice", "app", [NewIssue("t", "nobody")])
    with pytest.raises(Invalid):
        store.filling.add_issues("alice", "app", [NewIssue("", "alice")])
    with pytest.raises(Invalid):
        store.accounts.create_account("-x")
    with pytest.raises(Invalid):
        store.accounts.create_account("ALICE")
    with pytest.raises(Invalid):
        store.repositories.set_role("alice", "app", "bob", "owner")
    with pytest.raises(Invalid):
        store.releases.add_release("alice", "app", "v1", "alice")


def test_issues_are_filled_with_parents_and_consecutive_numbers(store: CodehostStore) -> None:
    issues = [NewIssue(f"Issue {number}", "alice", labels=["Bug", "bug"]) for number in range(50)]
    assert store.filling.add_issues("alice", "app", issues) == list(range(1, 51))
    assert store.filling.add_issues("alice", "app", [NewIssue("Part", "bob", parent=50)]) == [51]
    store.accounts.sign_in("alice")
    repository = store.repositories.repository("alice", "app")
    assert [row["number"] for row in store.issues.sub_issues(store.issues.issue(repository, 50))] == [51]
    assert (
        len(
            store.issues.labels_of([store.issues.issue(repository, 7)["id"]])[
                store.issues.issue(repository, 7)["id"]
            ]
        )
        == 1
    )


def test_branches_labels_and_check_runs_are_added(store: CodehostStore) -> None:
    store.filling.add_commits("alice", "app", [NewCommit("a", {"a": "1"}, "alice", AT)])
    store.filling.add_branch("alice", "app", "dev")
    store.filling.add_labels("alice", "app", [("urgent", "ff0000", "Now")])
    store.filling.add_check_runs("alice", "app", [{"sha": "dev", "name": "tests", "status": "queued"}])
    store.accounts.sign_in("alice")
    repository = store.repositories.repository("alice", "app")
    assert store.fields.label(repository, "urgent")["color"] == "ff0000"
    (run,) = store.pulls.check_runs(repository, store.commits.commit(repository, "dev")["sha"])
    assert (run["status"], run["conclusion"]) == ("queued", None)
