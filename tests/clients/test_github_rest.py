"""GitHub's REST API beyond issues and pull requests: what PyGithub, github3.py and githubkit ask for."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from githost import PULL_NUMBER, fill
from patience import PATIENCE
from rest.hosted import HostedWorld

REPO = "/api/v3/repos/acme/app"


@pytest.fixture
def http(episode_of: Callable[..., HostedWorld]) -> Iterator[httpx2.Client]:
    hosted = episode_of(["codehost"], fill)
    headers = {"Authorization": f"token {hosted.id}", "Accept": "application/vnd.github+json"}
    with httpx2.Client(base_url=hosted.api("codehost"), headers=headers, timeout=PATIENCE) as client:
        yield client


def said(answer: httpx2.Response, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json() if answer.content else None


def test_bodies_come_as_the_media_type_says(http: httpx2.Client) -> None:
    made = said(http.post(f"{REPO}/issues", json={"title": "x", "body": "**Bold** <b>&</b>"}), 201)
    path = f"{REPO}/issues/{made['number']}"
    full = said(http.get(path, headers={"Accept": "application/vnd.github.v3.full+json"}))
    assert (full["body"], full["body_text"]) == ("**Bold** <b>&</b>", "Bold <b&</b")
    assert full["body_html"] == "<p><strong>Bold</strong> &lt;b&gt;&amp;&lt;/b&gt;</p>\n"
    html = said(http.get(f"{REPO}/issues", headers={"Accept": "application/vnd.github.html+json"}))[0]
    assert "body" not in html
    assert html["body_html"]


def test_what_has_not_changed_is_not_sent_again(http: httpx2.Client) -> None:
    first = http.get(f"{REPO}/issues")
    again = http.get(f"{REPO}/issues", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    said(http.post(f"{REPO}/issues", json={"title": "new"}), 201)
    assert http.get(f"{REPO}/issues", headers={"If-None-Match": first.headers["etag"]}).status_code == 200


def test_settings_of_a_repository(http: httpx2.Client) -> None:
    changed = said(http.patch(REPO, json={"description": "New", "homepage": "", "has_wiki": False}))
    assert (changed["description"], changed["homepage"]) == ("New", "")
    assert "colour" in said(http.patch(REPO, json={"colour": "red"}), 422)["message"]
    assert said(http.put(f"{REPO}/topics", json={"names": ["cli", "API"]}))["names"] == ["cli", "api"]
    assert said(http.get(f"{REPO}/topics"))["names"] == ["cli", "api"]
    assert said(http.get(f"{REPO}/languages"))["Python"] > 0
    people = said(http.get(f"{REPO}/contributors"))
    assert people[0]["contributions"] >= people[-1]["contributions"] > 0


def test_releases_are_made_changed_and_deleted(http: httpx2.Client) -> None:
    body = {"tag_name": "v9", "name": "Nine", "body": "* more", "draft": True}
    made = said(http.post(f"{REPO}/releases", json=body), 201)
    assert (made["draft"], made["published_at"]) == (True, None)
    path = f"{REPO}/releases/{made['id']}"
    assert said(http.patch(path, json={"draft": False}))["published_at"]
    assert said(http.get(f"{REPO}/releases/latest"))["tag_name"] == "v9"
    assert said(http.get(f"{REPO}/git/ref/tags/v9"))["ref"] == "refs/tags/v9"
    assert said(http.post(f"{REPO}/releases", json=body), 422)
    assert said(http.get(f"{path}/assets")) == []
    said(http.delete(path), 204)
    said(http.get(path), 404)


def test_an_archive_has_the_files_of_a_commit(http: httpx2.Client) -> None:
    answer = http.get(f"{REPO}/tarball/main")
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
        names = archive.getnames()
    assert any(name.endswith("/src/v0.py") for name in names)
    assert http.get(f"{REPO}/tarball/main").content == answer.content
    assert http.get(f"{REPO}/zipball").content.startswith(b"PK")
    said(http.get(f"{REPO}/tarball/nope"), 404)


def test_conversations_are_locked_and_what_happened_is_listed(http: httpx2.Client) -> None:
    number = said(http.post(f"{REPO}/issues", json={"title": "x"}), 201)["number"]
    path = f"{REPO}/issues/{number}"
    said(http.put(f"{path}/lock", json={"lock_reason": "resolved"}), 204)
    assert said(http.get(path))["locked"] is True
    said(http.delete(f"{path}/lock"), 204)
    said(http.post(f"{path}/comments", json={"body": "First"}), 201)
    said(http.patch(path, json={"state": "closed"}))
    assert [one["event"] for one in said(http.get(f"{path}/events"))] == ["closed"]
    assert [one["event"] for one in said(http.get(f"{path}/timeline"))] == ["commented", "closed"]
    newest = said(http.get(f"{REPO}/issues/comments", params={"direction": "desc", "sort": "created"}))
    assert newest[0]["body"] == "First"


def test_statuses_are_set_on_commits(http: httpx2.Client) -> None:
    sha = said(http.get(f"{REPO}/commits/main"))["sha"]
    body = {
        "state": "success",
        "context": "ci/test",
        "description": "ok",
        "target_url": "https://ci.example/1",
    }
    assert said(http.post(f"{REPO}/statuses/{sha}", json=body), 201)["context"] == "ci/test"
    found = said(http.get(f"{REPO}/commits/main/status"))
    assert [one["state"] for one in found["statuses"] if one["context"] == "ci/test"] == ["success"]
    assert said(http.post(f"{REPO}/statuses/{sha}", json={"state": "great"}), 422)


def test_fields_that_strict_models_ask_for(http: httpx2.Client) -> None:
    label = said(http.get(f"{REPO}/labels"))[0]
    assert label["archived_at"] is None
    made = said(http.post(f"{REPO}/milestones", json={"title": "M"}), 201)
    assert made["created_at"]
    assert made["updated_at"]
    closed = said(http.post(f"{REPO}/milestones", json={"title": "Done", "state": "closed"}), 201)
    assert (closed["state"], closed["closed_at"] is None) == ("closed", False)
    assert said(http.post(f"{REPO}/milestones", json={"title": "Odd", "state": "half"}), 422)
    assert [one["title"] for one in said(http.get(f"{REPO}/milestones"))][-1] == "M"
    assert said(http.get("/api/v3/search/issues", params={"q": "repo:acme/app"}))["search_type"] == "lexical"
    content = {"message": "m", "content": "eA==", "branch": "main"}
    assert said(http.put(f"{REPO}/contents/x.txt", params={"ref": "main"}, json=content), 201)


def test_a_repository_is_deleted_with_all_that_is_in_it(http: httpx2.Client) -> None:
    name = said(http.post("/api/v3/user/repos", json={"name": "gone", "auto_init": True}), 201)["full_name"]
    base = f"/api/v3/repos/{name}"
    issue = said(http.post(f"{base}/issues", json={"title": "One"}), 201)["number"]
    comment = said(http.post(f"{base}/issues/{issue}/comments", json={"body": "Yes"}), 201)["id"]
    said(http.post(f"{base}/issues/comments/{comment}/reactions", json={"content": "+1"}), 201)
    said(http.post(f"{base}/labels", json={"name": "kept", "color": "ff0000"}), 201)
    said(http.post(f"{base}/milestones", json={"title": "M"}), 201)
    said(http.post(f"{base}/releases", json={"tag_name": "v1"}), 201)
    said(http.delete(base), 204)
    said(http.get(base), 404)
    again = said(http.post("/api/v3/user/repos", json={"name": "gone"}), 201)
    assert again["open_issues_count"] == 0
    assert said(http.get(f"{base}/issues")) == []
    said(http.delete(REPO), 204)  # with pull requests, reviews and commits
    assert said(http.get("/api/v3/search/issues", params={"q": "is:open"}))["total_count"] == 0


def test_what_happened_in_a_repository_and_what_is_mine(http: httpx2.Client) -> None:
    issue = said(http.post(f"{REPO}/issues", json={"title": "x", "assignees": ["alice"]}), 201)
    mine = said(http.get("/api/v3/issues"))
    assert [one["number"] for one in mine] == [issue["number"], 1]
    assert mine[0]["repository"]["full_name"] == "acme/app"
    assert said(http.get("/api/v3/orgs/acme/issues", params={"filter": "created"}))[0]["id"] == issue["id"]
    said(http.patch(f"{REPO}/issues/{issue['number']}", json={"state": "closed"}))
    newest = said(http.get(f"{REPO}/issues/events"))[0]
    assert (newest["event"], newest["issue"]["number"]) == ("closed", issue["number"])
    assert said(http.get(f"{REPO}/issues/events/{newest['id']}")) == newest
    said(http.get(f"{REPO}/issues/events/99999"), 404)
    assert [one["number"] for one in said(http.get("/api/v3/user/issues"))] == [1]
    assert said(http.get("/api/v3/user/emails"))[0]["email"] == "alice@example.com"


def test_teams_and_memberships(http: httpx2.Client) -> None:
    team = said(http.get("/api/v3/orgs/acme/teams"))[0]
    assert (team["slug"], team["name"]) == ("core", "Core")
    people = said(http.get("/api/v3/orgs/acme/teams/core/members"))
    assert [one["login"] for one in people] == ["alice", "bob"]
    assert said(http.get("/api/v3/orgs/acme/teams/core"))["members_count"] == 2
    said(http.get("/api/v3/orgs/acme/teams/core/memberships/carol"), 404)
    assert [one["slug"] for one in said(http.get("/api/v3/user/teams"))] == ["core"]
    assert said(http.get("/api/v3/user/memberships/orgs/acme"))["role"] == "admin"
    assert said(http.get("/api/v3/orgs/acme/memberships/bob"))["role"] == "member"


def test_lists_of_what_there_is_none_of_are_empty(http: httpx2.Client) -> None:
    assert said(http.get(f"{REPO}/hooks")) == said(http.get("/api/v3/notifications?all=true")) == []
    assert said(http.get(f"{REPO}/environments")) == {"total_count": 0, "environments": []}
    said(http.get("/api/v3/repos/acme/no/hooks"), 404)
    said(http.get(f"{REPO}/commits/nope/check-suites"), 422)
    said(http.post(f"{REPO}/hooks", json={"config": {}}), 404)


def test_branches_are_merged_without_a_pull_request(http: httpx2.Client) -> None:
    body = {"base": "main", "head": "feature", "commit_message": "Bring it in"}
    merged = said(http.post(f"{REPO}/merges", json=body), 201)
    assert (merged["commit"]["message"], len(merged["parents"])) == ("Bring it in", 2)
    said(http.post(f"{REPO}/merges", json=body), 204)
    said(http.post(f"{REPO}/merges", json=body | {"head": "nope"}), 404)
    said(http.post(f"{REPO}/merges", json=body | {"base": "guarded"}), 409)
    heads = said(http.get(f"{REPO}/commits/{merged['sha']}/branches-where-head"))
    assert [one["name"] for one in heads] == ["main"]


def test_files_are_committed_in_others_names(http: httpx2.Client) -> None:
    author = {"name": "Ann", "email": "ann@example.org", "date": "2024-05-06T07:08:09Z"}
    body = {"message": "m", "content": "eA==", "author": author}
    commit = said(http.put(f"{REPO}/contents/y.txt", json=body), 201)["commit"]
    assert (commit["author"], commit["committer"]) == (author, author)
    sha = said(http.get(f"{REPO}/contents/y.txt"))["sha"]
    gone = {"message": "m", "sha": sha, "committer": author}
    commit = said(http.request("DELETE", f"{REPO}/contents/y.txt?ref=main", json=gone))["commit"]
    assert (commit["author"]["name"], commit["committer"]["name"]) == ("Ann", "Ann")


def test_comments_on_lines_say_where_they_are(http: httpx2.Client) -> None:
    pull = f"{REPO}/pulls/{PULL_NUMBER}"
    body = {
        "body": "Why 42?",
        "path": "src/v1.py",
        "line": 2,
        "commit_id": said(http.get(pull))["head"]["sha"],
    }
    made = said(http.post(f"{pull}/comments", json=body), 201)
    assert (made["position"], made["original_position"], made["start_line"]) == (2, 2, None)
    assert made["diff_hunk"].splitlines()[-1] == "+    return 42"
    assert made in said(http.get(f"{REPO}/pulls/comments"))


def test_settings_without_effect_are_taken_and_others_refused_by_name(http: httpx2.Client) -> None:
    given = {"name": "fresh", "has_wiki": True, "gitignore_template": "", "allow_squash_merge": True}
    said(http.post("/api/v3/user/repos", json=given), 201)
    wrong = {"name": "other", "license_template": "mit"}
    assert "license_template" in said(http.post("/api/v3/user/repos", json=wrong), 422)["message"]
    notes = {"tag_name": "v8", "generate_release_notes": False}
    said(http.post(f"{REPO}/releases", json=notes), 201)
    assert (
        "generate_release_notes"
        in said(http.post(f"{REPO}/releases", json={"tag_name": "v7", "generate_release_notes": True}), 422)[
            "message"
        ]
    )
    reviewers = {"reviewers": ["carol"]}
    said(http.post(f"{REPO}/pulls/{PULL_NUMBER}/requested_reviewers", json=reviewers), 201)
    left = said(http.request("DELETE", f"{REPO}/pulls/{PULL_NUMBER}/requested_reviewers", json=reviewers))
    assert left["requested_reviewers"] == []
    renamed = said(http.patch(f"{REPO}/labels/bug", json={"name": "defect"}))
    assert renamed["name"] == "defect"
