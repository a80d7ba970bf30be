"""Branches, tags, commits and blame."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from mesocosm.servers.codehost.store import CodehostStore, NewCommit
from mesocosm.services.world import World


def test_a_branch_begins_at_the_default_branch_or_another_one(host: Any) -> None:
    made = host.call("create_branch", branch="dev/one")
    assert made == {"ref": "refs/heads/dev/one", "object": {"type": "commit", "sha": host.head()}}
    assert host.call("create_branch", branch="two", from_branch="feature")["object"]["sha"] == host.head(
        "feature"
    )


def test_a_branch_needs_a_name_that_git_takes(host: Any) -> None:
    for name in ("", "a..b", "a b", "x/", "/x", "a~1", "a.lock", "-x", "@{", "main/sub", "x\0"):
        host.refused("create_branch", branch=name)


def test_create_branch_refuses_taken_names_unknown_sources_and_readers(host: Any) -> None:
    assert "Reference already exists" in host.refused("create_branch", branch="feature")
    assert "not found" in host.refused("create_branch", branch="x", from_branch="nope")
    host.sign_in("carol")
    assert "write access" in host.refused("create_branch", branch="x")


def test_branches_are_listed_in_pages(host: Any) -> None:
    for number in range(3):
        host.call("create_branch", branch=f"b{number}")
    with host.world.editing():
        host.store.repositories.protect_branch("acme", "app", "main")
    names = [
        branch["name"]
        for branch in host.tools.pages("codehost", "list_branches", owner="acme", repo="app", perPage=2)
    ]
    assert names == ["b0", "b1", "b2", "feature", "main"]
    assert [b["name"] for b in host.call("list_branches") if b["protected"]] == ["main"]


def test_tags_are_listed_with_their_commits(host: Any) -> None:
    tags = host.call("list_tags")
    assert [tag["name"] for tag in tags] == ["v1.0", "v0.9"]
    assert tags[0]["sha"] == host.head()


def test_an_annotated_tag_shows_its_message(host: Any) -> None:
    tag = host.call("get_tag", tag="v1.0")
    assert tag["message"] == "First release"
    assert tag["tagger"]["date"] == "2024-12-05T00:00:00Z"
    assert tag["object"]["sha"] == host.head()
    assert host.call("get_tag", tag="v0.9")["object"]["type"] == "commit"
    assert "Not Found" in host.refused("get_tag", tag="v7")


def messages(host: Any, **arguments: Any) -> list[str]:
    commits = host.call("list_commits", **arguments)
    return [commit["commit"]["message"].partition("\n")[0] for commit in commits]


def test_commits_are_listed_newest_first_from_any_ref(host: Any) -> None:
    assert messages(host) == ["Greet", "Return two", "Initial commit"]
    assert messages(host, sha="feature") == ["Add v1", "Return two", "Initial commit"]
    assert messages(host, sha="v0.9") == ["Initial commit"]


def test_commits_are_filtered_by_path_author_and_date(host: Any) -> None:
    assert messages(host, path="src/v0.py") == ["Return two", "Initial commit"]
    assert messages(host, path="/src/") == ["Return two", "Initial commit"]
    assert messages(host, path="docs/guide") == ["Initial commit"]
    assert messages(host, author="BOB") == messages(host, author="bob@example.com") == ["Return two"]
    assert messages(host, since="2024-12-02", until="2024-12-02") == ["Return two"]
    assert messages(host, since="2024-12-02T00:00:01Z") == ["Greet"]
    assert messages(host, path="sr") == messages(host, author="nobody") == []


def test_commit_lists_are_paged_and_cut_to_fields(host: Any) -> None:
    blocks = host.read("list_commits", perPage=2, fields=["sha"])
    assert blocks[1] == '{"next_page":2,"total":3}'
    assert list(host.call("list_commits", perPage=2, page=2, fields=["sha"])[0]) == ["sha"]


def test_list_commits_refuses_bad_arguments(host: Any) -> None:
    assert "ISO 8601" in host.refused("list_commits", since="yesterday")
    assert "ISO 8601" in host.refused("list_commits", until="2024-13-01")
    assert "No commit found" in host.refused("list_commits", sha="abcdef1")
    for page in ({"page": 0}, {"perPage": 101}, {"page": 1.5}, {"page": 10**30}):
        host.refused("list_commits", **page)


def test_a_commit_shows_its_statistics_and_patches(host: Any) -> None:
    sha = host.call("list_commits")[1]["sha"]
    commit = host.call("get_commit", sha=sha[:8], detail="full_patch")
    assert commit["stats"] == {"additions": 1, "deletions": 1, "total": 2}
    patch = "@@ -1,2 +1,2 @@\n def main():\n-    return 1\n+    return 2"
    assert commit["files"] == [
        {
            "filename": "src/v0.py",
            "status": "modified",
            "additions": 1,
            "deletions": 1,
            "changes": 2,
            "patch": patch,
        }
    ]
    assert "patch" not in host.call("get_commit", sha=sha)["files"][0]
    assert "files" not in host.call("get_commit", sha=sha, detail="none")


def test_the_files_of_a_commit_are_paged(host: Any) -> None:
    first = host.call("get_commit", sha="v0.9", perPage=3)
    assert (len(first["files"]), first["stats"]["additions"]) == (3, 7)
    assert [f["filename"] for f in host.call("get_commit", sha="v0.9", perPage=3, page=2)["files"]] == [
        "src/v0.py"
    ]


def test_get_commit_refuses_what_is_no_commit(host: Any) -> None:
    for name in ("nope", "0" * 40, "abc", "é", "\0"):
        host.refused("get_commit", sha=name)


def test_a_renamed_file_is_shown_as_renamed(host: Any) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    host.put("old.txt", text)
    with host.world.editing():
        change = {"old.txt": None, "new.txt": text + "more\n"}
        host.store.filling.add_commits("acme", "app", [NewCommit("Rename", change, "alice", host.world.now)])
    file = host.call("get_commit", sha="main")["files"][0]
    assert (file["status"], file["filename"], file["previous_filename"]) == ("renamed", "new.txt", "old.txt")
    blame = host.call("get_file_blame", path="new.txt")
    assert [(item["starting_line"], item["ending_line"]) for item in blame["ranges"]] == [(1, 20), (21, 21)]


def test_blame_names_the_commit_of_each_line(host: Any) -> None:
    blame = host.call("get_file_blame", path="src/v0.py")
    commits = host.call("list_commits", path="src/v0.py")
    assert blame["ranges"] == [
        {"starting_line": 1, "ending_line": 1, "commit": commits[1]["sha"]},
        {"starting_line": 2, "ending_line": 2, "commit": commits[0]["sha"]},
    ]
    assert blame["commits"][commits[0]["sha"]]["author"]["login"] == "bob"


def start(world: World) -> CodehostStore:
    store = world.store(CodehostStore)
    store.accounts.create_account("alice")
    store.filling.create_repository("alice", "app")
    store.accounts.sign_in("alice")
    return store


def test_blame_follows_both_sides_of_a_merge(new_host: Any) -> None:
    def fill(world: World) -> None:
        lines = [f"{number}\n" for number in range(9)]
        at = [datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number) for number in range(4)]
        ours, theirs = ["zero\n", *lines[1:]], [*lines[:8], "eight\n"]
        commits = [
            NewCommit("base", {"a": "".join(lines)}, "alice", at[0]),
            NewCommit("theirs", {"a": "".join(theirs)}, "alice", at[1], branch="side"),
            NewCommit("ours", {"a": "".join(ours)}, "alice", at[2]),
            NewCommit("merge", {}, "alice", at[3], merges="side"),
        ]
        start(world).filling.add_commits("alice", "app", commits)

    host = new_host(fill)
    blame = host.call("get_file_blame", owner="alice", path="a")
    said = [blame["commits"][item["commit"]]["message"] for item in blame["ranges"]]
    assert said == ["ours", "base", "theirs"]
    assert messages(host, owner="alice", path="a") == ["merge", "ours", "theirs", "base"]


def test_blame_is_windowed_and_paged(host: Any) -> None:
    assert len(host.call("get_file_blame", path="src/v0.py", start_line=2, end_line=2)["ranges"]) == 1
    first = host.call("get_file_blame", path="src/v0.py", perPage=1)
    assert first["pageInfo"]["hasNextPage"] is True
    second = host.call("get_file_blame", path="src/v0.py", perPage=1, after=first["pageInfo"]["endCursor"])
    assert second["ranges"][0]["starting_line"] == 2
    assert second["pageInfo"]["hasNextPage"] is False


def test_blame_refuses_bad_arguments(host: Any) -> None:
    assert "is not a file" in host.refused("get_file_blame", path="src")
    assert "must not be greater" in host.refused("get_file_blame", path="README.md", start_line=3, end_line=1)
    assert "valid cursor" in host.refused("get_file_blame", path="README.md", after="x")
    assert "Not Found" in host.refused("get_file_blame", path="nothing")
