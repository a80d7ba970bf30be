"""PyGithub, unmodified, against an episode."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from githost import PULL_NUMBER, Tools, fill
from later import Later
from patience import PATIENCE
from rest.hosted import HostedWorld

from mesocosm.services.service import load_operations, load_service

if TYPE_CHECKING:
    from github import Github
    from github.Repository import Repository

pygithub = Later("github")
EpisodeOf = Callable[..., HostedWorld]

COUNTERPARTS = {
    "get_me": "GET /user",
    "create_repository": "POST /user/repos",
    "fork_repository": "POST /repos/{owner}/{repo}/forks",
    "list_repository_collaborators": "GET /repos/{owner}/{repo}/collaborators",
    "create_branch": "POST /repos/{owner}/{repo}/git/refs",
    "list_branches": "GET /repos/{owner}/{repo}/branches",
    "list_tags": "GET /repos/{owner}/{repo}/tags",
    "get_tag": "GET /repos/{owner}/{repo}/git/tags/{sha}",
    "list_commits": "GET /repos/{owner}/{repo}/commits",
    "get_commit": "GET /repos/{owner}/{repo}/commits/{ref:path}",
    "get_file_contents": "GET /repos/{owner}/{repo}/contents/{path:path}",
    "get_repository_tree": "GET /repos/{owner}/{repo}/git/trees/{sha:path}",
    "create_or_update_file": "PUT /repos/{owner}/{repo}/contents/{path:path}",
    "push_files": "POST /repos/{owner}/{repo}/git/trees",
    "delete_file": "DELETE /repos/{owner}/{repo}/contents/{path:path}",
    "list_issues": "GET /repos/{owner}/{repo}/issues",
    "issue_read": "GET /repos/{owner}/{repo}/issues/{number:int}",
    "issue_write": "PATCH /repos/{owner}/{repo}/issues/{number:int}",
    "add_issue_comment": "POST /repos/{owner}/{repo}/issues/{number:int}/comments",
    "sub_issue_write": "POST /repos/{owner}/{repo}/issues/{number:int}/sub_issues",
    "get_label": "GET /repos/{owner}/{repo}/labels/{name:path}",
    "list_label": "GET /repos/{owner}/{repo}/labels",
    "label_write": "POST /repos/{owner}/{repo}/labels",
    "list_pull_requests": "GET /repos/{owner}/{repo}/pulls",
    "pull_request_read": "GET /repos/{owner}/{repo}/pulls/{number:int}",
    "create_pull_request": "POST /repos/{owner}/{repo}/pulls",
    "update_pull_request": "PATCH /repos/{owner}/{repo}/pulls/{number:int}",
    "merge_pull_request": "PUT /repos/{owner}/{repo}/pulls/{number:int}/merge",
    "update_pull_request_branch": "PUT /repos/{owner}/{repo}/pulls/{number:int}/update-branch",
    "pull_request_review_write": "POST /repos/{owner}/{repo}/pulls/{number:int}/reviews",
    "add_reply_to_pull_request_comment": (
        "POST /repos/{owner}/{repo}/pulls/{number:int}/comments/{id:int}/replies"
    ),
    "list_releases": "GET /repos/{owner}/{repo}/releases",
    "get_latest_release": "GET /repos/{owner}/{repo}/releases/latest",
    "get_release_by_tag": "GET /repos/{owner}/{repo}/releases/tags/{tag:path}",
    "search_code": "GET /search/code",
    "search_commits": "GET /search/commits",
    "search_issues": "GET /search/issues",
    "search_pull_requests": "GET /search/issues",
    "search_repositories": "GET /search/repositories",
    "search_users": "GET /search/users",
}
WITHOUT = {"get_file_blame": "the product has it in its GraphQL API only"}


def test_every_tool_has_a_counterpart() -> None:
    assert set(load_service("codehost").tools) == COUNTERPARTS.keys() | WITHOUT.keys()
    routes = {name.replace(" /api/v3", " ") for name in load_operations("codehost")}
    assert set(COUNTERPARTS.values()) <= routes


@pytest.fixture(scope="module")
def reading(episode_of: EpisodeOf) -> HostedWorld:
    """A code host that the tests only read."""
    return episode_of(["codehost"], fill)


@pytest.fixture
def hosted(episode_of: EpisodeOf) -> HostedWorld:
    """A code host for one test."""
    return episode_of(["codehost"], fill)


@pytest.fixture
def tools(hosted: HostedWorld) -> Tools:
    return Tools(hosted)


def client(hosted: HostedWorld, token: str | None = None, **options: Any) -> Github:
    url = hosted.api("codehost") + "/api/v3"
    auth = pygithub.Auth.Token(token or hosted.id)
    return pygithub.Github(
        base_url=url,
        auth=auth,
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
        **options,
    )


@pytest.fixture
def hub(hosted: HostedWorld) -> Iterator[Github]:
    with client(hosted) as github:
        yield github


@pytest.fixture
def app(hub: Github) -> Repository:
    return hub.get_repo("acme/app")


@pytest.fixture
def known(reading: HostedWorld) -> Iterator[Repository]:
    with client(reading) as github:
        yield github.get_repo("acme/app")


@pytest.fixture
def there(reading: HostedWorld) -> Iterator[Github]:
    with client(reading, per_page=2) as github:
        yield github


# -- reading ----------------------------------------------------------------------------------------------


def test_accounts(there: Github, reading: HostedWorld) -> None:
    me = there.get_user()
    assert (me.login, me.name, me.company, me.public_repos) == ("alice", "Alice Doe", "Acme", 3)
    assert there.get_user("bob").email == "bob@example.com"
    organization = there.get_organization("acme")
    assert [repo.name for repo in organization.get_repos()] == ["app"]
    assert [org.login for org in me.get_orgs()] == ["acme"]
    assert [person.login for person in organization.get_members()] == ["alice", "bob"]
    assert [person.login for person in organization.get_members(role="admin")] == ["alice"]
    assert organization.has_in_members(there.get_user("bob"))
    assert not organization.has_in_members(there.get_user("carol"))
    assert there.get_rate_limit().resources.core.limit == 5000
    assert me.avatar_url.startswith(reading.api("codehost"))


def test_repositories_are_walked_page_by_page(there: Github) -> None:
    repos = there.get_user().get_repos()
    assert repos.totalCount == 5
    names = [repo.full_name for repo in repos]
    assert names == ["acme/app", "alice/empty", "alice/one", "alice/three", "alice/two"]
    assert [repo.full_name for repo in repos.reversed] == names[::-1]
    assert [repo.name for repo in there.get_user().get_repos(visibility="private")] == ["three"]
    assert [repo.name for repo in there.get_user("carol").get_repos()] == ["public-thing"]


def test_a_page_that_is_no_number_is_the_first(reading: HostedWorld) -> None:
    headers = {"Authorization": f"Bearer {reading.id}"}
    pages = [
        httpx.get(
            f"{reading.api('codehost')}/api/v3/repos/acme/app/branches?per_page=1{said}",
            headers=headers,
            timeout=PATIENCE,
        )
        for said in ("", "&page[]=2", "&page[a]=b", "&page=\N{SUPERSCRIPT TWO}")
    ]
    assert {(page.status_code, page.text) for page in pages} == {(200, pages[0].text)}


def test_a_repository(known: Repository, reading: HostedWorld) -> None:
    assert (known.full_name, known.language, known.stargazers_count) == ("acme/app", "Python", 5)
    assert known.clone_url == f"{reading.api('codehost')}/acme/app.git"
    assert known.permissions.admin
    assert known.get_topics() == ["web"]
    assert known.open_issues_count == 8
    assert known.organization.login == "acme"
    assert {person.login for person in known.get_collaborators()} == {"alice", "bob"}
    assert known.get_collaborator_permission("bob") == "write"
    assert [person.login for person in known.get_assignees()] == ["alice", "bob"]
    assert known.has_in_assignees("bob")
    assert not known.has_in_assignees("carol")
    assert known.has_in_collaborators("bob")
    assert not known.has_in_collaborators("carol")


def test_branches_tags_and_refs(known: Repository) -> None:
    assert [branch.name for branch in known.get_branches()] == ["feature", "guarded", "main"]
    assert known.get_branch("guarded").protected
    main = known.get_branch("main")
    assert main.commit.commit.message == "Step 7"
    assert [tag.name for tag in known.get_tags()] == ["v1.0", "v0.9"]
    ref = known.get_git_ref("tags/v1.0")
    assert ref.object.type == "tag"
    assert known.get_git_tag(ref.object.sha).message == "First release"
    assert known.get_git_ref("heads/main").object.sha == main.commit.sha
    names = [ref.ref for ref in known.get_git_matching_refs("heads")]
    assert names == ["refs/heads/feature", "refs/heads/guarded", "refs/heads/main"]


def test_commits_and_comparisons(there: Github) -> None:
    repo = there.get_repo("acme/app")
    commits = repo.get_commits()
    assert commits.totalCount == 7
    assert [commit.commit.message for commit in commits] == [*(f"Step {n}" for n in range(7, 1, -1)), "Begin"]
    assert [c.sha for c in repo.get_commits(path="src/v0.py", author="bob")] == [c.sha for c in commits[:6]]
    commit = repo.get_commit("main")
    assert (commit.author.login, commit.stats.total) == ("bob", 2)
    assert [(item.filename, item.status) for item in commit.files] == [("src/v0.py", "modified")]
    assert "+    return 7" in commit.files[0].patch
    assert commit.parents[0].commit.message == "Step 6"
    comparison = repo.compare("v0.9", "main")
    assert (comparison.status, comparison.ahead_by, comparison.behind_by) == ("ahead", 6, 0)
    assert [item.filename for item in comparison.files] == ["src/v0.py"]
    assert len(list(comparison.get_commits())) == 6
    assert repo.compare("main", "feature").status == "ahead"


def test_files_and_trees(known: Repository) -> None:
    file = known.get_contents("docs/größe.md")
    assert file.decoded_content.decode() == "Grüße\n"
    assert known.get_contents("logo.bin", ref="v0.9").decoded_content == bytes(range(256))
    assert [entry.name for entry in known.get_contents("src")] == ["main.py", "v0.py"]
    assert {entry.type for entry in known.get_contents("")} == {"dir", "file"}
    assert known.get_readme().path == "README.md"
    tree = known.get_git_tree("main", recursive=True)
    assert "src/main.py" in [element.path for element in tree.tree]
    blob = known.get_git_blob(file.sha)
    assert base64.b64decode(blob.content).decode() == "Grüße\n"
    assert known.get_git_commit(known.get_branch("main").commit.sha).message == "Step 7"


def test_raw_files_and_diffs_are_served_by_media_type(reading: HostedWorld) -> None:
    head, body = ask(reading, "/repos/acme/app/contents/README.md", accept="application/vnd.github.raw")
    assert (head["Content-Type"], body) == ("application/vnd.github.raw; charset=utf-8", b"# App\n")
    _, body = ask(reading, f"/repos/acme/app/pulls/{PULL_NUMBER}", accept="application/vnd.github.v3.diff")
    assert body.startswith(b"diff --git a/src/v1.py b/src/v1.py\nnew file mode 100644")


def ask(hosted: HostedWorld, path: str, accept: str = "*/*") -> tuple[Any, bytes]:
    request = urllib.request.Request(hosted.api("codehost") + "/api/v3" + path)
    request.add_header("Authorization", f"Bearer {hosted.id}")
    request.add_header("Accept", accept)
    with urllib.request.urlopen(request) as answer:
        return answer.headers, answer.read()


def test_the_link_header_leads_through_a_list(reading: HostedWorld) -> None:
    head, body = ask(reading, "/repos/acme/app/issues?per_page=3&page=2&state=all")
    assert len(json.loads(body)) == 3
    url = reading.api("codehost") + "/api/v3/repos/acme/app/issues?state=all&page={}&per_page=3"
    relations = ("prev", 1), ("next", 3), ("last", 3), ("first", 1)
    assert head["Link"] == ", ".join(f'<{url.format(page)}>; rel="{name}"' for name, page in relations)
    assert head["X-GitHub-Media-Type"] == "github.v3; format=json"
    assert head["X-RateLimit-Remaining"] == "5000"
    head, body = ask(reading, "/repos/acme/app/issues?per_page=1000")
    assert len(json.loads(body)) == 8
    assert head["Link"] is None


def test_issues(there: Github) -> None:
    repo = there.get_repo("acme/app")
    issues = repo.get_issues(state="all", sort="created", direction="asc")
    assert issues.totalCount == 8
    assert [issue.number for issue in issues] == list(range(1, 9))
    first = repo.get_issue(1)
    assert (first.title, first.user.login, first.user.name) == ("Problem 1", "bob", "Bob Roe")
    assert [label.name for label in first.labels] == ["bug"]
    assert (first.assignees[0].login, first.milestone.title, first.comments) == ("alice", "M1", 3)
    assert [comment.body for comment in first.get_comments()] == [f"Comment {n}" for n in range(3)]
    assert first.get_comment(first.get_comments()[0].id).user.login == "alice"
    assert repo.get_issue(PULL_NUMBER).pull_request.html_url.endswith(f"/acme/app/pull/{PULL_NUMBER}")
    assert [issue.number for issue in repo.get_issues(labels=["bug"])] == [1]
    assert [issue.number for issue in repo.get_issues(milestone=repo.get_milestone(1))] == [1]
    assert [issue.number for issue in repo.get_issues(assignee="none", creator="carol")] == [6, 4, 2]
    assert repo.get_milestones()[0].open_issues == 1


def test_pull_requests(known: Repository) -> None:
    pull = known.get_pulls()[0]
    assert (pull.number, pull.head.ref, pull.base.ref, pull.user.login) == (
        PULL_NUMBER,
        "feature",
        "main",
        "bob",
    )
    assert pull.head.repo.full_name == "acme/app"
    assert (pull.commits, pull.additions, pull.mergeable, pull.mergeable_state) == (1, 2, True, "clean")
    assert [item.filename for item in pull.get_files()] == ["src/v1.py"]
    assert [commit.commit.message for commit in pull.get_commits()] == ["Add v1"]
    assert [(review.user.login, review.state) for review in pull.get_reviews()] == [("alice", "COMMENTED")]
    comment = pull.get_review_comments()[0]
    assert (comment.path, comment.line, comment.body) == ("src/v1.py", 1, "Why?")
    people, teams = pull.get_review_requests()
    assert ([person.login for person in people], [team.slug for team in teams]) == ([], ["core"])
    assert not pull.is_merged()
    head = known.get_commit(pull.head.sha)
    assert head.get_combined_status().state == "success"
    assert [run.name for run in head.get_check_runs()] == ["tests"]


def test_releases(known: Repository) -> None:
    release = known.get_latest_release()
    assert (release.tag_name, release.name, release.body) == ("v1.0", "One", "The first.")
    assert known.get_release("v1.0").id == release.id
    assert known.get_release(release.id).tag_name == "v1.0"
    assert [found.tag_name for found in known.get_releases()] == ["v1.0"]


def test_searches(there: Github) -> None:
    assert [item.path for item in there.search_code("return repo:acme/app")] == ["src/v0.py"]
    assert there.search_commits("step").totalCount == 6
    issues = there.search_issues("crashes", repo="acme/app", **{"is": "issue"})
    assert issues.totalCount == 7
    assert len(list(issues)) == 7
    assert [issue.number for issue in there.search_issues("is:pr repo:acme/app")] == [PULL_NUMBER]
    assert [repo.full_name for repo in there.search_repositories("app")] == ["acme/app"]
    assert [user.login for user in there.search_users("roe", sort="joined", order="asc")] == ["bob", "carol"]


# -- changing ---------------------------------------------------------------------------------------------


def test_repositories_are_made_and_forked(hub: Github, tools: Tools) -> None:
    made = hub.get_user().create_repo("fresh", description="New", private=True, auto_init=True)
    assert (made.full_name, made.private, made.default_branch) == ("alice/fresh", True, "main")
    assert tools("get_file_contents", owner="alice", repo="fresh")[0]["name"] == "README.md"
    assert hub.get_organization("acme").create_repo("tool").owner.login == "acme"
    fork = hub.get_repo("carol/public-thing").create_fork()
    assert (fork.full_name, fork.fork, fork.parent.full_name) == (
        "alice/public-thing",
        True,
        "carol/public-thing",
    )
    assert [repo.full_name for repo in hub.get_repo("carol/public-thing").get_forks()] == [
        "alice/public-thing"
    ]


def test_files_are_written_and_seen_by_the_tools_and_back(app: Repository, tools: Tools) -> None:
    made = app.create_file("notes/a.txt", "Add notes", "ä\n", branch="main")
    assert made["commit"].author.name == "Alice Doe"
    assert tools("get_file_contents", path="notes/a.txt")
    changed = app.update_file("notes/a.txt", "Change notes", b"\x00\xff", made["content"].sha)
    assert app.get_contents("notes/a.txt").decoded_content == b"\x00\xff"
    with pytest.raises(pygithub.GithubException) as stale:
        app.update_file("notes/a.txt", "Again", "x", made["content"].sha)
    assert stale.value.status == 409
    with pytest.raises(pygithub.GithubException) as stale:
        app.delete_file("notes/a.txt", "Remove", made["content"].sha)
    assert stale.value.status == 409
    app.delete_file("notes/a.txt", "Remove", changed["content"].sha)
    with pytest.raises(pygithub.UnknownObjectException):
        app.get_contents("notes/a.txt")
    tools("push_files", branch="main", files=[{"path": "b.txt", "content": "b\n"}], message="By a tool")
    assert app.get_contents("b.txt").decoded_content == b"b\n"


def test_branches_are_made_moved_and_removed(app: Repository, tools: Tools) -> None:
    sha, old = app.get_branch("main").commit.sha, app.get_commit("v0.9").sha
    ref = app.create_git_ref("refs/heads/next/one", old)
    ref.edit(sha)
    assert app.get_branch("next/one").commit.sha == sha
    with pytest.raises(pygithub.GithubException) as refusal:
        ref.edit(old)
    assert (refusal.value.status, refusal.value.message) == (422, "Update is not a fast forward")
    ref.edit(old, force=True)
    assert "next/one" in [branch["name"] for branch in tools("list_branches")]
    ref.delete()
    with pytest.raises(pygithub.UnknownObjectException):
        app.get_branch("next/one")


def test_commits_are_made_of_blobs_and_trees(app: Repository, tools: Tools) -> None:
    head = app.get_git_commit(app.get_branch("main").commit.sha)
    blob = app.create_git_blob(base64.b64encode(b"\x01\x02").decode(), "base64")
    elements = [
        pygithub.InputGitTreeElement("bin/data", "100644", "blob", sha=blob.sha),
        pygithub.InputGitTreeElement("bin/run", "100755", "blob", content="#!/bin/sh\n"),
        pygithub.InputGitTreeElement("README.md", "100644", "blob", sha=None),
    ]
    tree = app.create_git_tree(elements, base_tree=head.tree)
    commit = app.create_git_commit("Build", tree, [head])
    assert commit.author.name == "Alice Doe"
    app.get_git_ref("heads/main").edit(commit.sha)
    tag = app.create_git_tag("v3", "Third", commit.sha, "commit")
    app.create_git_ref("refs/tags/v3", tag.sha)
    assert {item["path"] for item in tools("get_repository_tree", recursive=True)["tree"]} >= {
        "bin/data",
        "bin/run",
    }
    assert tools("get_tag", tag="v3")["object"]["sha"] == commit.sha
    assert app.get_contents("bin/data").decoded_content == b"\x01\x02"


def test_files_of_releases_are_fetched_by_their_addresses(app: Repository, tmp_path: Path) -> None:
    file = tmp_path / "a b.bin"
    file.write_bytes(b"\0\xff")
    release = app.create_git_release("v7", "Seven", "New")
    asset = release.upload_asset(str(file), label="A file", name="a b.bin")
    assert (asset.name, asset.label, asset.size, asset.uploader.login) == ("a.b.bin", "A file", 2, "alice")
    with urllib.request.urlopen(asset.browser_download_url) as answer:
        assert answer.read() == b"\0\xff"
    asset.update_asset("c.bin", "Same")
    assert [one.name for one in app.get_release(release.id).get_assets()] == ["c.bin"]
    asset.delete_asset()
    assert list(release.get_assets()) == []


def test_milestones_say_when_and_by_whom(app: Repository) -> None:
    milestone = app.create_milestone("Dated")
    assert (milestone.creator.login, milestone.closed_at) == ("alice", None)
    assert milestone.created_at == milestone.updated_at > app.created_at
    milestone.edit("Dated", state="closed")
    assert milestone.closed_at == milestone.updated_at >= milestone.created_at
    milestone.edit("Dated", state="open")
    assert milestone.closed_at is None


def test_issues_are_opened_changed_and_closed(app: Repository, tools: Tools) -> None:
    issue = app.create_issue("Leak", "It leaks", assignees=["bob"], labels=["bug", "urgent"])
    shown = tools("issue_read", method="get", issue_number=issue.number)
    assert (shown["title"], shown["labels"], shown["assignees"]) == ("Leak", ["bug", "urgent"], ["bob"])
    milestone = app.create_milestone("M2", description="Next")
    issue.edit(title="Leak!", milestone=milestone, state="closed", state_reason="not_planned")
    assert (issue.state, issue.state_reason, issue.milestone.number) == ("closed", "not_planned", 2)
    issue.edit(state="open", milestone=None)
    assert (issue.state, issue.milestone) == ("open", None)
    issue.add_to_labels("question")
    issue.remove_from_labels("bug")
    assert [label.name for label in issue.get_labels()] == ["question", "urgent"]
    issue.set_labels("bug")
    issue.add_to_assignees("alice")
    issue.remove_from_assignees("bob")
    assert tools("issue_read", method="get", issue_number=issue.number)["assignees"] == ["alice"]
    comment = issue.create_comment("Looking")
    comment.create_reaction("heart")
    assert [(r.content, r.user.login) for r in comment.get_reactions()] == [("heart", "alice")]
    tools("add_issue_comment", issue_number=issue.number, body="By a tool")
    assert [found.body for found in issue.get_comments()] == ["Looking", "By a tool"]
    comment.edit("Looked")
    comment.delete_reaction(comment.get_reactions()[0].id)
    assert (issue.get_comment(comment.id).body, comment.get_reactions().totalCount) == ("Looked", 0)
    comment.create_reaction("heart")
    comment.delete()
    issue.delete_reaction(issue.create_reaction("eyes").id)
    assert [found.body for found in issue.get_comments()] == ["By a tool"]
    assert tools("search_issues", query="Looked in:comments")["total_count"] == 0
    issue.edit(milestone=milestone)
    milestone.edit("M3", state="closed", due_on=date(2026, 1, 2))
    assert (milestone.title, milestone.state, str(milestone.due_on)[:10]) == ("M3", "closed", "2026-01-02")
    milestone.delete()
    assert app.get_issue(issue.number).milestone is None
    child = app.get_issue(2)
    issue.add_sub_issue(child.id)
    assert [found.number for found in issue.get_sub_issues()] == [2]
    issue.remove_sub_issue(child.id)
    assert issue.get_sub_issues().totalCount == 0


def test_labels(app: Repository, tools: Tools) -> None:
    label = app.create_label("needs care", "abcdef", "Look twice")
    label.edit("careful", "000000")
    assert tools("get_label", name="careful")["color"] == "000000"
    app.get_label("careful").delete()
    assert "careful" not in [found.name for found in app.get_labels()]


def test_labels_may_have_slashes(app: Repository, tools: Tools) -> None:
    label = app.create_label("p/1", "ff0000")
    assert label.url.endswith("/labels/p%2F1")
    label.edit("type/a b", "00ff00")
    assert app.get_label("type/a b").color == "00ff00"
    issue = app.get_issue(2)
    issue.add_to_labels("type/a b", "x y/z")
    issue.remove_from_labels("x y/z")
    assert tools("issue_read", method="get", issue_number=2)["labels"] == ["type/a b"]
    issue.remove_from_labels(app.get_label("type/a b"))
    assert issue.get_labels().totalCount == 0
    app.get_label("type/a b").delete()
    assert "type/a b" not in [found.name for found in app.get_labels()]


def test_an_empty_repository_has_no_files(there: Github) -> None:
    empty = there.get_repo("alice/empty")
    for find in (lambda: empty.get_contents(""), lambda: empty.get_contents("a.txt"), empty.get_readme):
        with pytest.raises(pygithub.UnknownObjectException):
            find()
    with pytest.raises(pygithub.GithubException) as refusal:
        empty.get_commits()[0]
    assert refusal.value.status == 409


def test_a_large_file_is_given_raw_only(app: Repository, hosted: HostedWorld) -> None:
    data = bytes(range(256)) * 5000
    blob = app.create_git_blob(base64.b64encode(data).decode(), "base64")
    head = app.get_git_commit(app.get_branch("main").commit.sha)
    entry = pygithub.InputGitTreeElement("large.bin", "100644", "blob", sha=blob.sha)
    commit = app.create_git_commit("Large", app.create_git_tree([entry], head.tree), [head])
    app.get_git_ref("heads/main").edit(commit.sha)
    file = app.get_contents("large.bin")
    assert (file.encoding, file.content, file.size, file.sha) == ("none", "", len(data), blob.sha)
    path = "/repos/acme/app/contents/large.bin"
    assert ask(hosted, path, accept="application/vnd.github.raw")[1] == data
    app.delete_file("large.bin", "Too large", file.sha)
    with pytest.raises(pygithub.UnknownObjectException):
        app.get_contents("large.bin")


@pytest.mark.parametrize("method", ["merge", "squash"])
def test_a_commit_knows_its_pull_requests(method: str, app: Repository) -> None:
    head = app.get_commit("feature")
    assert [pull.number for pull in head.get_pulls()] == [PULL_NUMBER]
    assert list(app.get_commit("main").get_pulls()) == []
    merged = app.get_pull(PULL_NUMBER).merge(merge_method=method)
    for sha in (head.sha, merged.sha):
        assert [pull.number for pull in app.get_commit(sha).get_pulls()] == [PULL_NUMBER]
    with pytest.raises(pygithub.GithubException) as refusal:
        list(head.requester.requestJsonAndCheck("GET", f"{app.url}/commits/{'0' * 40}/pulls"))
    assert refusal.value.status == 422


def test_a_pull_request_is_reviewed_and_merged(app: Repository, tools: Tools, hosted: HostedWorld) -> None:
    app.create_git_ref("refs/heads/topic", app.get_branch("main").commit.sha)
    app.create_file("topic.txt", "Begin", "one\n", branch="topic")
    pull = app.create_pull(base="main", head="topic", title="Topic", body="Fixes #3", draft=False)
    pull.create_review_request(reviewers=["bob"], team_reviewers=["core"])
    pull.edit(title="The topic")
    pull.create_review(
        body="Hm", event="COMMENT", comments=[{"path": "topic.txt", "line": 1, "body": "One?"}]
    )
    comment = pull.get_review_comments()[0]
    pull.create_review_comment_reply(comment.id, "One.")
    assert [(c.body, c.in_reply_to_id) for c in pull.get_review_comments()] == [
        ("One?", None),
        ("One.", comment.id),
    ]
    reply = pull.get_review_comments()[1]
    reply.edit("Two.")
    reply.delete_reaction(reply.create_reaction("+1").id)
    assert pull.get_comment(reply.id).body == "Two."
    reply.delete()
    assert pull.get_review_comments().totalCount == 1
    pending = pull.create_review()
    assert pending.state == "PENDING"
    pending.delete()
    app.create_file("meanwhile.txt", "Meanwhile", "m\n", branch="main")
    assert pull.update_branch()
    threads = tools("pull_request_read", method="get_review_comments", pullNumber=pull.number)
    assert threads["totalCount"] == 1
    merged = pull.merge(commit_title="Topic done", merge_method="squash")
    assert merged.merged
    assert app.get_pull(pull.number).merged_by.login == "alice"
    assert app.get_commit("main").commit.message.startswith("Topic done")
    assert app.get_issue(3).state == "closed"
    with pytest.raises(pygithub.GithubException) as again:
        pull.merge()
    assert again.value.status == 405
    assert "PUT /api/v3/repos/{owner}/{repo}/pulls/{number:int}/merge" in [e.tool for e in hosted.journal()]
    assert hosted.replay().identical


def test_a_pull_request_is_closed_and_reopened(app: Repository, tools: Tools) -> None:
    pull = app.get_pull(PULL_NUMBER)
    pull.edit(state="closed")
    assert tools("pull_request_read", method="get", pullNumber=PULL_NUMBER)["state"] == "closed"
    pull.as_issue().edit(state="open")
    assert app.get_pull(PULL_NUMBER).state == "open"


# -- refusals ---------------------------------------------------------------------------------------------


def test_what_is_unknown_or_hidden_is_not_found(there: Github, known: Repository) -> None:
    for find in (
        lambda: there.get_repo("carol/diary"),
        lambda: there.get_repo("acme/none"),
        lambda: there.get_user("nobody"),
        lambda: there.get_organization("bob"),
        lambda: known.get_issue(999).title,
        lambda: known.get_pull(1).title,
        lambda: known.get_label("none").color,
        lambda: known.get_branch("none").commit,
        lambda: known.get_contents("none.txt"),
        lambda: known.get_git_blob("0" * 40),
        lambda: known.get_release("none"),
    ):
        with pytest.raises(pygithub.UnknownObjectException) as refusal:
            find()
        body = refusal.value.data
        assert body["status"] == "404"
        assert "ot found" in body["message"].lower()
        assert body["documentation_url"]


Refused = Callable[["Repository"], Any]
REFUSED: list[tuple[str, Refused, int, str]] = [
    (
        "no title",
        lambda r: r.requester.requestJsonAndCheck("POST", f"{r.url}/issues", input={}),
        422,
        "title",
    ),
    (
        "wrong type",
        lambda r: r.requester.requestJsonAndCheck("POST", f"{r.url}/issues", input={"title": 5}),
        422,
        "title",
    ),
    (
        "no object",
        lambda r: r.requester.requestJsonAndCheck("POST", f"{r.url}/labels", input=["a"]),
        400,
        "JSON object",
    ),
    ("taken label", lambda r: r.create_label("bug", "ffffff"), 422, "already_exists"),
    ("taken ref", lambda r: r.create_git_ref("refs/heads/main", r.get_commit("main").sha), 422, "exists"),
    ("no such commit", lambda r: r.create_git_ref("refs/heads/x", "0" * 40), 422, "Object does not exist"),
    ("protected", lambda r: r.create_file("a", "m", "c", branch="guarded"), 409, "through a pull request"),
    ("nothing to merge", lambda r: r.create_pull(base="main", head="main", title="t"), 422, "No commits"),
    ("stale head", lambda r: r.get_pull(PULL_NUMBER).merge(sha="0" * 40), 409, "modified"),
    ("unknown assignee", lambda r: r.get_issue(1).add_to_assignees("nobody"), 422, "nobody"),
    ("bad base64", lambda r: r.create_git_blob("%", "base64"), 422, "Base64"),
]


@pytest.mark.parametrize(
    ("refused", "status", "reason"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_refusals_say_why_and_leave_no_trace(
    refused: Refused, status: int, reason: str, known: Repository, reading: HostedWorld
) -> None:
    before = reading.tables("codehost")
    with pytest.raises(pygithub.GithubException) as refusal:
        refused(known)
    assert refusal.value.status == status, refusal.value.data
    assert reason in json.dumps(refusal.value.data)
    assert reading.tables("codehost") == before


def test_nobody_approves_their_own_pull_request(app: Repository) -> None:
    app.create_git_ref("refs/heads/own", app.get_commit("feature").sha)
    pull = app.create_pull(base="main", head="own", title="Own")
    with pytest.raises(pygithub.GithubException) as refusal:
        pull.create_review(event="APPROVE")
    assert (refusal.value.status, refusal.value.message) == (422, "Can not approve your own pull request")


def test_nobody_writes_where_they_may_not(hub: Github, hosted: HostedWorld) -> None:
    before = hosted.tables("codehost")
    with pytest.raises(pygithub.GithubException) as refusal:
        hub.get_repo("carol/public-thing").create_file("a", "m", "c")
    assert refusal.value.status == 403
    assert hosted.tables("codehost") == before


def test_a_body_that_is_no_json_is_refused(hosted: HostedWorld) -> None:
    url = hosted.api("codehost") + "/api/v3/repos/acme/app/issues"
    headers = {"Authorization": f"token {hosted.id}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, b"{", headers, method="POST")
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request)
    with refusal.value as answer:
        assert (answer.code, json.loads(answer.read())["message"]) == (400, "Problems parsing JSON")


def test_a_wrong_token_opens_nothing(hosted: HostedWorld) -> None:
    with client(hosted, token="0" * 32) as github, pytest.raises(pygithub.BadCredentialsException) as refusal:
        github.get_user().login  # noqa: B018 - reading it asks
    assert refusal.value.status == 401
    assert hosted.journal() == []


def test_everything_is_journalled_and_can_be_made_again(hub: Github, hosted: HostedWorld) -> None:
    repo = hub.get_repo("acme/app")
    repo.create_issue("One more")
    with pytest.raises(pygithub.UnknownObjectException):
        repo.get_issue(99).title  # noqa: B018 - reading it asks
    entries = hosted.journal()
    assert [(entry.tool.partition(" ")[0], entry.status) for entry in entries] == [
        ("GET", "ok"),
        ("POST", "ok"),
        ("GET", "refused"),
    ]
    assert "authorization" not in entries[0].arguments["headers"]
    assert hosted.replay().identical
