"""What GitHub's web pages give to programs, and what clients other than PyGithub ask of its API."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import requests
from githost import FILES, fill, needs_git
from patience import PATIENCE
from rest.conftest import EpisodeOf
from rest.hosted import HostedWorld


@pytest.fixture(scope="module")
def hosted(episode_of: EpisodeOf) -> HostedWorld:
    return episode_of(["codehost"], fill)


def ask(hosted: HostedWorld, path: str, method: str = "GET", **options: Any) -> requests.Response:
    headers = {"Authorization": f"token {hosted.id}"} | options.pop("headers", {})
    return requests.request(
        method, f"{hosted.api('codehost')}/api/v3{path}", headers=headers, timeout=PATIENCE, **options
    )


@pytest.mark.parametrize("path", ["README.md", "logo.bin", "docs/größe.md"])
@pytest.mark.parametrize("ref", ["main", "feature", "v1.0"])
def test_the_download_url_of_a_file_gives_the_file(hosted: HostedWorld, path: str, ref: str) -> None:
    url = ask(hosted, f"/repos/acme/app/contents/{path}", params={"ref": ref}).json()["download_url"]
    content = FILES[path]
    expected = content if isinstance(content, bytes) else content.encode()
    assert requests.get(url, timeout=PATIENCE).content == expected
    assert requests.get(url + "x", timeout=PATIENCE).status_code == 404


@needs_git
def test_the_patch_of_a_pull_request_is_one_that_git_takes(hosted: HostedWorld, tmp_path: Path) -> None:
    (pull,) = ask(hosted, "/repos/acme/app/pulls").json()
    patch = requests.get(pull["patch_url"], timeout=PATIENCE).text
    assert patch.startswith("From ")
    media = {"Accept": "application/vnd.github.patch"}
    assert ask(hosted, f"/repos/acme/app/pulls/{pull['number']}", headers=media).text == patch
    diff = requests.get(pull["diff_url"], timeout=PATIENCE).text
    assert diff.startswith("diff --git ")
    assert diff.strip() in patch
    url = f"{hosted.api('codehost')}/acme/app.git".replace("://", f"://x:{hosted.id}@")
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "clone", "-q", url, "app"], cwd=tmp_path, check=True, timeout=PATIENCE)
    (tmp_path / "series.patch").write_text(patch)
    am = [*git, "am", "-q", "../series.patch"]
    subprocess.run(am, cwd=tmp_path / "app", check=True, timeout=PATIENCE, capture_output=True)
    assert (tmp_path / "app" / "src" / "v1.py").read_text() == "def main():\n    return 42\n"


def test_commits_and_comparisons_have_diffs_and_patches(hosted: HostedWorld) -> None:
    compared = ask(hosted, "/repos/acme/app/compare/main...feature").json()
    commit = compared["commits"][0]
    for url in (compared["patch_url"], commit["html_url"] + ".patch"):
        assert f"From {commit['sha']}" in requests.get(url, timeout=PATIENCE).text
    for url in (compared["diff_url"], commit["html_url"] + ".diff"):
        assert requests.get(url, timeout=PATIENCE).text.startswith("diff --git ")
    assert requests.get(commit["html_url"], timeout=PATIENCE).status_code in (401, 404)


def test_a_review_comment_may_name_its_place_in_the_patch(hosted: HostedWorld) -> None:
    (pull,) = ask(hosted, "/repos/acme/app/pulls").json()
    path = f"/repos/acme/app/pulls/{pull['number']}/comments"
    sent = {"body": "Why 42?", "path": "src/v1.py", "position": 2, "commit_id": pull["head"]["sha"]}
    made = ask(hosted, path, "POST", json=sent)
    assert (made.status_code, made.json()["line"], made.json()["side"]) == (201, 2, "RIGHT")
    assert ask(hosted, path, "POST", json=sent | {"position": 99}).status_code == 422
    assert ask(hosted, path, "POST", json={**sent, "position": None}).status_code == 422


def test_the_protection_of_a_branch_is_found(hosted: HostedWorld) -> None:
    found = ask(hosted, "/repos/acme/app/branches/guarded/protection").json()
    assert found["required_pull_request_reviews"]["required_approving_review_count"] == 1
    none = ask(hosted, "/repos/acme/app/branches/main/protection")
    assert (none.status_code, none.json()["message"]) == (404, "Branch not protected")


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/repos/acme/app/issues", {"assignee": "ghost"}),
        ("/repos/acme/app/issues", {"creator": "ghost"}),
        ("/repos/acme/app/issues", {"labels": "ghost"}),
        ("/repos/acme/app/pulls", {"head": "acme:ghost"}),
        ("/repos/acme/app/pulls", {"base": "ghost"}),
        ("/repos/acme/app/commits", {"author": "ghost"}),
        ("/repos/acme/app/commits", {"path": "ghost.py"}),
        ("/search/issues", {"q": "author:ghost"}),
        ("/search/issues", {"q": "label:ghost repo:acme/app"}),
        ("/search/code", {"q": "main language:ghost"}),
        ("/search/repositories", {"q": "topic:ghost"}),
        ("/search/users", {"q": "location:ghost"}),
    ],
)
def test_a_filter_by_what_there_is_not_finds_nothing(
    hosted: HostedWorld, path: str, params: dict[str, str]
) -> None:
    found = ask(hosted, path, params=params)
    assert found.status_code == 200, found.text
    body = found.json()
    assert (body["items"] if isinstance(body, dict) else body) == []
