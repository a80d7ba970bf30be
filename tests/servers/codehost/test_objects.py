"""Git's side: real objects in the world's database, packs, rollback and determinism."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dulwich.object_format import SHA1
from dulwich.objects import Blob, Commit, Tree
from dulwich.pack import write_pack_objects
from dulwich.refs import Ref
from dulwich.repo import MemoryRepo

from mesocosm.servers.codehost.store import CodehostStore, NewCommit
from mesocosm.servers.codehost.store.objects import GitRepository
from mesocosm.services.world import World

HEAD, MAIN = Ref(b"HEAD"), Ref(b"refs/heads/main")


def git(store: CodehostStore) -> tuple[Any, GitRepository]:
    repository = store.repositories.repository("acme", "app")
    return repository, GitRepository(store.session, repository["id"], repository["network"])


def test_a_blob_has_the_name_that_git_gives_it(host: Any) -> None:
    entry = next(item for item in host.call("get_file_contents") if item["name"] == "README.md")
    assert entry["sha"].encode() == Blob.from_string(b"# App\n\nHello.\n").id


def test_refs_are_seen_as_git_sees_them(host: Any) -> None:
    with host.looking() as store:
        repo = git(store)[1]
        assert repo.refs.follow(HEAD)[0] == [HEAD, MAIN]
        names = (b"refs/heads/feature", b"refs/pull/3/head", b"refs/tags/v0.9", b"refs/tags/v1.0")
        assert set(repo.get_refs()) == {HEAD, MAIN, *names}


def test_refs_are_set_and_removed_only_as_expected(host: Any) -> None:
    with host.world.editing():
        refs = git(host.store)[1].refs
        feature, tag = Ref(b"refs/heads/feature"), Ref(b"refs/tags/v0.9")
        assert refs.add_if_new(MAIN, refs[feature]) is False
        assert refs.set_if_equals(MAIN, refs[feature], refs[feature]) is False
        assert refs.remove_if_equals(tag, refs[MAIN]) is False
        assert refs.remove_if_equals(tag, None) is True
        assert tag not in refs
        refs.set_symbolic_ref(HEAD, feature)
    assert host.call("list_commits")[0]["commit"]["message"] == "Add v1"


def test_everything_is_fetched_in_a_pack(host: Any) -> None:
    copy = MemoryRepo()
    with host.looking() as store:
        refs = git(store)[1].fetch(copy)
    assert refs[MAIN] == host.head().encode()
    commits = [copy.object_store[sha] for sha in copy.object_store]
    for item in commits:
        item.check()
    assert sum(isinstance(item, Commit) for item in commits) == 4


def test_objects_that_a_client_pushes_become_history(host: Any) -> None:
    blob, tree, commit = Blob.from_string(b"pushed\n"), Tree(), Commit()
    tree.add(b"pushed.txt", 0o100644, blob.id)
    commit.tree, commit.parents, commit.message = tree.id, [host.head().encode()], b"Pushed"
    commit.author = commit.committer = b"Bob Roe <bob@example.com>"
    commit.author_time = commit.commit_time = 1_736_000_000
    commit.author_timezone = commit.commit_timezone = 0
    pack = io.BytesIO()
    write_pack_objects(pack, [(blob, None), (tree, None), (commit, None)], object_format=SHA1)
    pack.seek(0)
    with host.world.editing():
        repository, repo = git(host.store)
        repo.object_store.add_thin_pack(pack.read, None)
        host.store.commits.move_branch(
            repository, "main", host.store.commits.learn_commits(repository, commit.id.decode())
        )
    assert host.call("get_commit", sha="main")["author"]["login"] == "bob"
    assert host.call("search_code", query="pushed")["total_count"] == 1
    assert [item["name"] for item in host.call("get_file_contents")] == ["pushed.txt"]


def test_a_refused_merge_stores_no_object(host: Any) -> None:
    number = host.open_pull("next", {"README.md": "theirs", "fine.txt": "x"})
    host.put("README.md", "ours")
    assert "not mergeable" in host.refused("merge_pull_request", pullNumber=number)


def test_a_branch_can_move_back(host: Any) -> None:
    with host.world.editing():
        repository = git(host.store)[0]
        host.store.commits.move_branch(repository, "main", host.store.commits.commit(repository, "v0.9"))
    assert [commit["commit"]["message"] for commit in host.call("list_commits")] == ["Initial commit"]
    assert host.call("search_code", query="hello")["total_count"] == 0
    assert host.call("search_commits", query="greet")["total_count"] == 0


def test_the_same_calls_give_the_same_bytes(make_world: Callable[..., World], tmp_path: Path) -> None:
    def fill(world: World) -> None:
        store = world.store(CodehostStore)
        store.accounts.create_account("alice")
        store.filling.create_repository("alice", "app")
        store.filling.add_commits("alice", "app", [NewCommit("a", {"a": "1", "b/c": "2"}, "alice")])
        store.accounts.sign_in("alice")

    files = [{"path": "x", "content": "y"}]
    push = {"owner": "alice", "repo": "app", "branch": "main", "files": files, "message": "m"}
    worlds = [make_world(fill, "codehost") for _ in range(2)]
    results = [world.call("codehost", "push_files", push).text for world in worlds]
    databases = [(world.path / "codehost.db").read_bytes() for world in worlds]
    assert results[0] == results[1]
    assert databases[0] == databases[1]


def test_a_copy_of_a_world_has_the_objects_too(host: Any, tmp_path: Path) -> None:
    host.world.copy_to(tmp_path / "copy")
    sha = host.put("later.txt", "later")
    home = {"owner": "acme", "repo": "app"}
    with World(tmp_path / "copy") as copy:
        assert copy.call("codehost", "get_commit", home | {"sha": sha}).status == "refused"
        assert "Hello." in copy.call("codehost", "get_file_contents", home | {"path": "README.md"}).text


@pytest.mark.parametrize("name", ["main", "feature", "v1.0"])
def test_every_tree_is_sound_and_without_empty_folders(host: Any, name: str) -> None:
    host.call("delete_file", path="docs/guide/intro.md", message="m", branch="main")
    with host.looking() as store:
        repository, repo = git(store)
        tree = store.commits.commit(repository, name)["tree"].encode()
        entries = list(repo.object_store.iter_tree_contents(tree, include_trees=True))
        found = [repo.object_store[entry.sha] for entry in entries]
    for item in found:
        item.check()
        assert not isinstance(item, Tree) or len(item)
