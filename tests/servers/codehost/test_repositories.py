"""Accounts, repositories and releases."""

from __future__ import annotations

from typing import Any


def test_get_me_describes_the_signed_in_account(host: Any) -> None:
    me = host.call("get_me")
    assert me["login"] == "alice"
    assert me["details"]["name"] == "Alice Doe"
    assert me["details"]["company"] == "Acme"


def test_nobody_signed_in_is_refused_everywhere(new_host: Any) -> None:
    host = new_host(None)
    for tool in ("get_me", "list_branches", "search_users", "search_code"):
        arguments = {"query": "x"} if tool.startswith("search") else {}
        assert "Requires authentication" in host.refused(tool, **arguments)


def test_a_created_repository_has_the_default_labels_and_no_commits(host: Any) -> None:
    made = host.call("create_repository", name="tool", description="A tool")
    assert made["url"].endswith("/alice/tool")
    assert host.call("list_label", owner="alice", repo="tool")["totalCount"] == 9
    assert host.call("list_branches", owner="alice", repo="tool") == []
    assert "Git Repository is empty" in host.refused("list_commits", owner="alice", repo="tool")


def test_the_first_commit_of_an_empty_repository_makes_the_default_branch(host: Any) -> None:
    host.call("create_repository", name="tool")
    files = [{"path": "a.txt", "content": "a"}]
    host.call("push_files", owner="alice", repo="tool", branch="main", files=files, message="Begin")
    assert host.text("a.txt", owner="alice", repo="tool") == "a"


def test_auto_init_commits_a_readme(host: Any) -> None:
    host.call("create_repository", name="tool", description="A tool", autoInit=True, organization="acme")
    assert host.text("README.md", repo="tool") == "# tool\nA tool\n"


def test_repositories_are_private_unless_said_otherwise(host: Any) -> None:
    host.call("create_repository", name="tool")
    host.sign_in("carol")
    assert "Not Found" in host.refused("list_branches", owner="alice", repo="tool")


def test_create_repository_refuses_taken_and_impossible_names(host: Any) -> None:
    host.call("create_repository", name="tool")
    assert "name already exists" in host.refused("create_repository", name="TOOL")
    for name in ("", "a b", "x/y", "..", "a.git", "é", "a\0"):
        assert "not a valid name" in host.refused("create_repository", name=name)


def test_only_members_create_repositories_in_an_organisation(host: Any) -> None:
    host.sign_in("carol")
    assert "member of the organization" in host.refused("create_repository", name="x", organization="acme")
    assert "Not Found" in host.refused("create_repository", name="x", organization="bob")


def test_a_fork_has_the_branches_and_history_of_its_parent(host: Any) -> None:
    host.call("fork_repository")
    assert {branch["name"] for branch in host.call("list_branches", owner="alice")} == {"main", "feature"}
    assert host.head(owner="alice") == host.head()
    assert host.text("src/v0.py", owner="alice") == "def main():\n    return 2\n"


def test_forking_twice_gives_the_same_fork(host: Any) -> None:
    assert host.call("fork_repository") == host.call("fork_repository")


def test_a_fork_takes_another_name_when_its_name_is_taken(host: Any) -> None:
    host.call("create_repository", name="app")
    assert host.call("fork_repository")["url"].endswith("/alice/app-1")


def test_fork_repository_refuses_what_cannot_be_forked(host: Any) -> None:
    host.call("create_repository", name="empty", organization="acme")
    assert "contains no Git content" in host.refused("fork_repository", repo="empty")
    assert "account that owns it" in host.refused("fork_repository", organization="acme")
    assert "Not Found" in host.refused("fork_repository", repo="nothing")


def test_collaborators_are_listed_with_their_roles(host: Any) -> None:
    with host.world.editing():
        host.store.repositories.set_role("acme", "app", "carol", "triage")
    everybody = host.call("list_repository_collaborators")
    roles = {person["login"]: person["role_name"] for person in everybody}
    assert roles == {"alice": "admin", "bob": "write", "carol": "triage"}
    outside = host.call("list_repository_collaborators", affiliation="outside")
    assert [person["login"] for person in outside] == ["carol"]


def test_collaborators_are_shown_to_those_who_can_push(host: Any) -> None:
    host.sign_in("carol")
    assert "push access" in host.refused("list_repository_collaborators")


def test_releases_are_listed_newest_first(host: Any) -> None:
    with host.world.editing():
        host.store.releases.add_release("acme", "app", "v0.9", "alice", created_at="2024-12-01T00:00:00Z")
    assert [release["tag_name"] for release in host.call("list_releases")] == ["v1.0", "v0.9"]
    assert host.call("list_releases", fields=["tag_name"], perPage=1) == [{"tag_name": "v1.0"}]


def test_draft_releases_are_for_those_who_can_write(host: Any) -> None:
    with host.world.editing():
        host.store.releases.add_release("acme", "app", "v2", "alice", draft=True)
    assert "v2" in [release["tag_name"] for release in host.call("list_releases")]
    host.sign_in("carol")
    assert "v2" not in [release["tag_name"] for release in host.call("list_releases")]
    assert "Not Found" in host.refused("get_release_by_tag", tag="v2")


def test_the_latest_release_is_no_prerelease(host: Any) -> None:
    with host.world.editing():
        host.store.releases.add_release("acme", "app", "v0.9", "alice", prerelease=True)
    assert host.call("get_latest_release")["name"] == "One"
    assert "Not Found" in host.refused("get_latest_release", repo="secret")


def test_a_release_is_found_by_its_tag(host: Any) -> None:
    assert host.call("get_release_by_tag", tag="v1.0")["body"] == "The first."
    assert "Not Found" in host.refused("get_release_by_tag", tag="v9")
