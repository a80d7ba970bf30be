"""Reading and committing files."""

from __future__ import annotations

import base64
from typing import Any

from dulwich.patch import unified_diff
from hypothesis import given, settings
from hypothesis import strategies as st

from mesocosm.servers.codehost.store import NewCommit
from mesocosm.servers.codehost.store.differences import _hunks, line_at, place_of


def test_a_file_is_read_at_any_ref(host: Any) -> None:
    first = host.call("list_commits")[-1]["sha"]
    for ref in (first, first[:7], "v0.9", "refs/tags/v0.9", "tags/v0.9"):
        assert "return 1" in host.text("src/v0.py", ref=ref)
    for ref in ("main", "refs/heads/main", "v1.0", "HEAD", "feature", "refs/pull/3/head"):
        assert "return 2" in host.text("/src/v0.py", ref=ref)


def test_a_file_comes_with_the_sha_that_updating_needs(host: Any) -> None:
    said = host.read("get_file_contents", path="README.md")[0]
    sha = said.partition("SHA: ")[2].rstrip(")")
    host.call("create_or_update_file", path="README.md", content="New", message="m", branch="main", sha=sha)
    assert host.text("README.md") == "New"


def test_a_commit_sha_goes_before_a_ref(host: Any) -> None:
    first = host.call("list_commits")[-1]["sha"]
    assert "return 1" in host.text("src/v0.py", ref="main", sha=first)


def test_a_directory_is_listed_folders_first(host: Any) -> None:
    root = host.call("get_file_contents")
    assert [(item["name"], item["type"]) for item in root] == [
        ("docs", "dir"),
        ("src", "dir"),
        ("README.md", "file"),
    ]
    assert host.call("get_file_contents", path="src/", fields=["name", "size"])[1] == {
        "name": "v0.py",
        "size": 25,
    }


def test_binary_files_come_in_base64_and_text_with_any_characters(host: Any) -> None:
    data = b"\x00\xff\xfe binary"
    with host.world.editing():
        commit = NewCommit("Data", {"data.bin": data, "日本 .txt": "é☃"}, "alice")
        host.store.filling.add_commits("acme", "app", [commit])
    blocks = host.read("get_file_contents", path="data.bin")
    assert base64.b64decode(blocks[1]) == data
    assert host.text("日本 .txt") == "é☃"


def test_a_picture_comes_as_an_image(host: Any) -> None:
    with host.world.editing():
        host.store.filling.add_commits(
            "acme", "app", [NewCommit("Icon", {"icon.png": b"\x89PNG\r\n\x00"}, "alice")]
        )
    outcome = host.world.calls.peek(
        "codehost", "get_file_contents", {"owner": "acme", "repo": "app", "path": "icon.png"}
    )
    assert outcome.blocks[1].media_type == "image/png"


def test_a_path_that_is_not_there_is_refused(host: Any) -> None:
    for path in ("nothing.txt", "src/v0.py/x", "src//v0.py", "..", "src/\0"):
        assert "Not Found" in host.refused("get_file_contents", path=path)


def test_unknown_refs_and_repositories_are_refused(host: Any) -> None:
    assert "No commit found for SHA: nope" in host.refused("get_file_contents", path="README.md", ref="nope")
    assert "Not Found" in host.refused("get_file_contents", path="README.md", repo="nope")


def test_a_tree_is_listed_with_modes_and_sizes(host: Any) -> None:
    tree = host.call("get_repository_tree")
    assert [entry["path"] for entry in tree["tree"]] == ["README.md", "docs", "src"]
    assert tree["tree"][0] | {"sha": ""} == {
        "path": "README.md",
        "type": "blob",
        "mode": "100644",
        "size": 14,
        "sha": "",
    }


def test_a_tree_is_listed_recursively_below_a_prefix_and_by_its_own_sha(host: Any) -> None:
    below = host.call("get_repository_tree", recursive=True, path_filter="docs/")
    assert [entry["path"] for entry in below["tree"]] == ["docs/guide", "docs/guide/intro.md"]
    again = host.call("get_repository_tree", tree_sha=host.call("get_repository_tree")["tree"][2]["sha"])
    assert [entry["path"] for entry in again["tree"]] == ["main.py", "v0.py"]
    assert "No commit found" in host.refused("get_repository_tree", tree_sha="0" * 40)


def test_a_long_tree_is_listed_in_pages(host: Any) -> None:
    with host.world.editing():
        files = {f"f{number:04}.txt": "x" for number in range(1500)}
        host.store.filling.add_commits("acme", "app", [NewCommit("Many", files, "alice")])
    first = host.call("get_repository_tree", path_filter="f")
    second = host.call("get_repository_tree", path_filter="f", page=2)
    assert (first["truncated"], first["count"], second["truncated"], second["count"]) == (
        True,
        1000,
        False,
        500,
    )
    assert len(host.call("get_file_contents", path="/")) == 1000


def test_a_new_file_is_committed_by_the_signed_in_account(host: Any) -> None:
    made = host.call("create_or_update_file", path="a/b.txt", content="hi\n", message="Add b", branch="main")
    commit = host.call("get_commit", sha=made["commit"]["sha"])
    assert commit["author"]["login"] == "alice"
    assert commit["commit"]["author"]["email"] == "alice@example.com"
    assert commit["commit"]["message"] == "Add b"
    assert commit["files"][0]["filename"] == "a/b.txt"
    assert host.text("a/b.txt") == "hi\n"


def test_updating_a_file_needs_the_sha_of_its_present_version(host: Any) -> None:
    change = {"path": "README.md", "content": "x", "message": "m", "branch": "main"}
    assert '"sha" wasn\'t supplied' in host.refused("create_or_update_file", **change)
    wrong = "f" * 40
    assert f"README.md does not match {wrong}" in host.refused("create_or_update_file", **change, sha=wrong)
    assert "does not exist" in host.refused("create_or_update_file", **change | {"path": "n"}, sha=wrong)


def test_a_file_cannot_be_put_at_an_impossible_path(host: Any) -> None:
    change = {"message": "m", "branch": "main"}
    for path in ("", "/", "a//b", "../a", "a/./b", ".git/config", "a\0b", "src", "README.md/x"):
        host.refused("create_or_update_file", path=path, content="x", **change)
        host.refused("push_files", files=[{"path": path, "content": "x"}], **change)


def test_commits_need_a_message_and_a_branch_that_exists(host: Any) -> None:
    change = {"path": "n.txt", "content": "x"}
    assert "can't be blank" in host.refused("create_or_update_file", **change, message=" ", branch="main")
    assert "Branch no not found" in host.refused("create_or_update_file", **change, message="m", branch="no")
    too_long = change | {"content": "x" * 1_000_001}
    assert "limit" in host.refused("create_or_update_file", **too_long, message="m", branch="main")


def test_several_files_are_pushed_in_one_commit(host: Any) -> None:
    before = host.head()
    files = [{"path": "README.md", "content": "new"}, {"path": "x/y/z.txt", "content": "z"}]
    pushed = host.call("push_files", branch="main", files=files, message="Two files")
    commit = host.call("get_commit", sha=pushed["object"]["sha"])
    assert [file["filename"] for file in commit["files"]] == ["README.md", "x/y/z.txt"]
    assert host.call("list_commits", perPage=2)[1]["sha"] == before


def test_a_push_is_refused_as_a_whole(host: Any) -> None:
    good = {"path": "ok.txt", "content": "x"}
    assert "duplicate" in host.refused("push_files", branch="main", files=[good, good], message="m")
    below = {"path": "ok.txt/below", "content": "x"}
    assert "is a file" in host.refused("push_files", branch="main", files=[good, below], message="m")
    assert "at least one" in host.refused("push_files", branch="main", files=[], message="m")
    assert "content" in host.refused("push_files", branch="main", files=[{"path": "a"}], message="m")


def test_a_deleted_file_is_gone_and_so_is_its_empty_folder(host: Any) -> None:
    host.call("delete_file", path="docs/guide/intro.md", message="Drop", branch="main")
    assert [item["name"] for item in host.call("get_file_contents")] == ["src", "README.md"]
    assert "Start here." in host.text("docs/guide/intro.md", ref="v1.0")


def test_delete_file_refuses_what_is_no_file(host: Any) -> None:
    for path in ("nothing", "src", ""):
        host.refused("delete_file", path=path, message="m", branch="main")
    assert "can't be blank" in host.refused("delete_file", path="README.md", message="", branch="main")


def test_a_symbolic_link_is_only_written_when_that_is_meant(host: Any) -> None:
    with host.world.editing():
        store = host.store
        repository, head = (
            store.repositories.repository("acme", "app"),
            store.commits.branch_head(store.repositories.repository("acme", "app"), "main"),
        )
        store.contents.commit_files(repository, "main", head, {"link": (0o120000, b"README.md")}, "Link")
    link = next(item for item in host.call("get_file_contents") if item["name"] == "link")
    change = {"path": "link", "content": "src", "message": "m", "branch": "main", "sha": link["sha"]}
    assert link["type"] == "symlink"
    assert "symbolic link" in host.refused("create_or_update_file", **change)
    host.call("create_or_update_file", **change, allow_symlink_write=True)


def test_readers_may_not_write(host: Any) -> None:
    host.sign_in("carol")
    change = {"path": "n", "content": "x", "message": "m", "branch": "main"}
    assert "write access" in host.refused("create_or_update_file", **change)
    assert "write access" in host.refused("delete_file", path="README.md", message="m", branch="main")
    assert "write access" in host.refused("push_files", branch="main", files=[], message="m")


def test_a_protected_branch_changes_through_pull_requests_only(host: Any) -> None:
    with host.world.editing():
        host.store.repositories.protect_branch("acme", "app", "main")
    change = {"path": "n", "content": "x", "message": "m"}
    assert "pull request" in host.refused("create_or_update_file", **change, branch="main")
    host.call("create_or_update_file", **change, branch="feature")


def test_nobody_writes_to_an_archived_repository(host: Any) -> None:
    with host.world.editing():
        host.store.repositories.describe_repository("acme", "app", archived=True)
    assert "archived" in host.refused("delete_file", path="README.md", message="m", branch="main")
    assert "archived" in host.refused("issue_write", method="create", title="t")
    assert host.text("README.md")


def test_files_are_pushed_to_a_branch_that_is_not_there_yet(host: Any) -> None:
    change = {"path": "n.txt", "content": "x"}
    pushed = host.call("push_files", branch="new", files=[change], message="m")
    assert pushed["ref"] == "refs/heads/new"
    assert host.text("n.txt", ref="new") == "x"
    assert host.text("README.md", ref="new") == host.text("README.md")
    assert "Not Found" in host.refused("get_file_contents", path="n.txt")


def test_versions_that_would_take_long_to_compare_are_shown_as_replaced(host: Any) -> None:
    # 40 million pairs of equal lines, in every place that compares: a commit, a merge, blame.
    first, second = ("".join(f"{n * factor % 300}\n" for n in range(110_000)) for factor in (7, 11))
    host.put("many.txt", first)
    host.call("create_branch", branch="other")
    sha = host.put("many.txt", second)
    commit = host.call("get_commit", sha=sha)
    assert (commit["stats"]["additions"], commit["stats"]["deletions"]) == (109_999, 109_999)
    host.put("many.txt", f"{first}x\n", branch="other")
    made = host.call("create_pull_request", title="Both", head="other", base="main")
    number = int(made["url"].rpartition("/")[2])
    assert host.call("pull_request_read", method="get", pullNumber=number)["mergeable_state"] == "dirty"


def test_a_line_of_a_patch_is_found_whatever_stands_in_it() -> None:
    old, new = [b"a\r@@ b\n", b"c\n"], [b"a\r@@ b\n", b"\xe2\x80\xa8@@ d\n", b"c"]
    patch = b"".join(_hunks(old, new)).decode()
    assert [line_at(patch, position) for position in range(6)] == [
        None,
        ("RIGHT", 1),
        ("LEFT", 2),
        ("RIGHT", 2),
        ("RIGHT", 3),
        None,
    ]
    assert place_of(patch, "RIGHT", 3) == (4, patch.removesuffix("\n\\ No newline at end of file\n"))


@given(*[st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n"]), max_size=40)] * 2, st.booleans())
@settings(max_examples=25, deadline=None, derandomize=True, database=None)
def test_hunks_are_those_that_dulwich_writes(old: list[bytes], new: list[bytes], cut: bool) -> None:
    new = [*new, b"end"] if cut else new
    assert b"".join(_hunks(old, new)) == b"".join(list(unified_diff(old, new))[2:])
