"""``gh``, GitHub's command line, unmodified: what coding agents use. Run where it is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from githost import PULL_NUMBER, fill
from patience import PATIENCE
from rest.hosted import HostedWorld
from secure_host import SecureHost

SecureEpisodeOf = Callable[..., tuple[HostedWorld, SecureHost]]
GH = shutil.which("gh") or os.environ.get("MESOCOSM_TEST_GH")
pytestmark = pytest.mark.skipif(not GH, reason="gh is not installed")


class Gh:
    """gh in a home of its own, on an episode that a server has under a name and a certificate of its own."""

    def __init__(self, home: Path, hosted: HostedWorld, secure: SecureHost) -> None:
        self.home, self.hosted = home, hosted
        config = home / "gh"
        config.mkdir()
        (config / "config.yml").write_text("git_protocol: https\nprompt: disabled\n")
        helper = f"!{GH} auth git-credential"
        (home / ".gitconfig").write_text(
            "[user]\n\tname = Alice\n\temail = alice@acme.example\n"
            f'[credential "https://{secure.name}"]\n\thelper = "{helper}"\n'
        )
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GH_CONFIG_DIR": str(config),
            "GH_HOST": secure.name,
            "GH_ENTERPRISE_TOKEN": hosted.id,
            "GH_NO_UPDATE_NOTIFIER": "1",
            "HTTPS_PROXY": secure.proxy,
            "SSL_CERT_FILE": str(secure.certificate),
            "GIT_SSL_CAINFO": str(secure.certificate),
            "NO_COLOR": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GH_REPO": f"{secure.name}/acme/app",
        }

    def __call__(self, *words: str, at: Path | None = None, repo: bool = True) -> str:
        environment = dict(self.environment)
        if not repo:
            del environment["GH_REPO"]
        done = subprocess.run(
            [str(GH), *words],
            cwd=at or self.home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, (words, done.stderr, done.stdout)
        return done.stdout

    def refused(self, *words: str) -> str:
        """What gh says of a command that fails."""
        with pytest.raises(AssertionError) as failed:
            self(*words)
        return str(failed.value)

    def json(self, *words: str, fields: str) -> Any:
        return json.loads(self(*words, "--json", fields))

    def git(self, *words: str, at: Path) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=at,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout


@pytest.fixture
def gh(tmp_path: Path, secure_episode_of: SecureEpisodeOf) -> Gh:
    return Gh(tmp_path, *secure_episode_of(["codehost"], fill))


def test_who_is_signed_in_and_what_the_repository_is(gh: Gh) -> None:
    assert "alice" in gh("api", "user")
    gh("auth", "status")
    assert gh.json("repo", "view", "acme/app", fields="nameWithOwner,defaultBranchRef") == {
        "nameWithOwner": "acme/app",
        "defaultBranchRef": {"name": "main"},
    }
    assert "acme/app" in gh("repo", "view", "acme/app")
    assert "acme/app" in gh("repo", "list", "acme")


def test_issues_from_opening_to_closing(gh: Gh) -> None:
    listed = gh.json("issue", "list", "--limit", "5", fields="number,title,state,labels,author")
    assert len(listed) == 5
    assert "open" in gh("issue", "list").lower() or gh("issue", "list")
    url = gh(
        "issue", "create", "--title", "Too slow", "--body", "Very.", "--label", "bug", "--assignee", "@me"
    ).strip()
    number = url.rpartition("/")[2]
    assert "Too slow" in gh("issue", "view", number)
    assert "issuecomment" in gh("issue", "comment", number, "--body", "Seen.")
    gh("issue", "edit", number, "--title", "Slow", "--remove-label", "bug", "--body", "Quite.")
    shown = gh.json("issue", "view", number, fields="title,body,labels,assignees,comments,state")
    assert (shown["title"], shown["labels"], shown["comments"][0]["body"]) == ("Slow", [], "Seen.")
    assert [one["login"] for one in shown["assignees"]] == ["alice"]
    gh("issue", "close", number, "--reason", "not planned", "--comment", "No.")
    closed = gh.json("issue", "view", number, fields="state")
    assert closed["state"] == "CLOSED"
    gh("issue", "reopen", number)
    assert gh.json("issue", "list", "--author", "@me", fields="number")[0]["number"] == int(number)
    assert gh.json("issue", "list", "--search", "Slow in:title", fields="number")
    gh("issue", "status")


def test_pull_requests_from_a_branch_to_the_merge(gh: Gh) -> None:
    gh("repo", "clone", "acme/app", repo=False)
    app = gh.home / "app"
    gh.git("switch", "-q", "-c", "topic", at=app)
    (app / "new.txt").write_text("new\n")
    gh.git("add", ".", at=app)
    gh.git("commit", "-q", "-m", "Add a file", at=app)
    gh.git("push", "-q", "-u", "origin", "topic", at=app)
    made = gh(
        "pr",
        "create",
        "--title",
        "A file",
        "--body",
        "It is new.",
        "--head",
        "topic",
        "--base",
        "main",
        at=app,
    )
    number = made.strip().rpartition("/")[2]
    assert "A file" in gh("pr", "list")
    shown = gh.json(
        "pr",
        "view",
        number,
        fields="title,state,mergeable,additions,files,commits,headRefName,isDraft,reviews",
    )
    assert (shown["title"], shown["additions"], shown["mergeable"]) == ("A file", 1, "MERGEABLE")
    assert "new.txt" in gh("pr", "diff", number)
    gh("pr", "comment", number, "--body", "Mine.")
    gh("pr", "edit", number, "--title", "One file", "--add-label", "bug")
    gh("pr", "status", at=app)
    gh("pr", "merge", number, "--squash", "--subject", "One file")
    assert gh.json("pr", "view", number, fields="state,mergedAt,mergedBy")["state"] == "MERGED"
    assert gh.json("pr", "list", "--state", "merged", fields="number")


def test_a_pull_request_is_checked_out_and_closed(gh: Gh) -> None:
    gh("repo", "clone", "acme/app", repo=False)
    app = gh.home / "app"
    gh("pr", "checkout", str(PULL_NUMBER), at=app)
    assert gh.git("rev-parse", "--abbrev-ref", "HEAD", at=app).strip() == "feature"
    assert gh("pr", "view", str(PULL_NUMBER))
    gh("pr", "review", str(PULL_NUMBER), "--comment", "--body", "Fine so far.")
    gh("pr", "close", str(PULL_NUMBER))
    assert gh.json("pr", "view", str(PULL_NUMBER), fields="state")["state"] == "CLOSED"
    gh("pr", "reopen", str(PULL_NUMBER))


def test_labels_releases_runs_and_searches(gh: Gh) -> None:
    assert "bug" in gh("label", "list")
    gh("label", "create", "urgent", "--color", "ff0000", "--description", "Now")
    assert "urgent" in {one["name"] for one in gh.json("label", "list", "--limit", "100", fields="name")}
    gh("label", "create", "urgent", "--color", "00ff00", "--force")
    shown = gh.json("label", "list", "--search", "urgent", fields="name,color")
    assert shown == [{"name": "urgent", "color": "00ff00"}]
    gh("label", "edit", "urgent", "--name", "later")
    gh("label", "delete", "later", "--yes")
    gh("release", "create", "v9", "--title", "Nine", "--notes", "New.")
    gh("release", "edit", "v9", "--title", "Ten")
    assert gh.json("release", "view", "v9", fields="name,body") == {"name": "Ten", "body": "New."}
    gh("release", "delete", "v9", "--yes")
    assert "v9" not in gh("release", "list")
    gh("run", "list")
    assert gh.json("search", "issues", "repo:acme/app", "--limit", "2", fields="number")
    assert (
        json.loads(gh("api", "graphql", "-f", "query={viewer{login}}"))["data"]["viewer"]["login"] == "alice"
    )


def test_repositories_are_made_and_pushed_to(gh: Gh) -> None:
    gh("repo", "create", "acme/tools", "--public", repo=False)
    gh("repo", "create", "scratch", "--private", "--description", "Mine", "--clone", repo=False)
    scratch = gh.home / "scratch"
    (scratch / "a.txt").write_text("a\n")
    gh.git("add", ".", at=scratch)
    gh.git("commit", "-q", "-m", "Begin", at=scratch)
    gh.git("push", "-q", "-u", "origin", "HEAD:main", at=scratch)
    fields = "description,isPrivate,isEmpty,owner"
    made = gh.json("repo", "view", "alice/scratch", fields=fields)
    assert (made.pop("owner")["login"], made) == (
        "alice",
        {"description": "Mine", "isPrivate": True, "isEmpty": False},
    )
    assert gh.json("repo", "view", "acme/tools", fields="isPrivate")["isPrivate"] is False


def test_conversations_are_locked_and_reviews_asked_for(gh: Gh) -> None:
    number = str(gh.json("issue", "list", "--limit", "1", fields="number")[0]["number"])
    gh("issue", "lock", number, "--reason", "resolved")
    assert json.loads(gh("api", f"repos/acme/app/issues/{number}"))["locked"] is True
    gh("issue", "unlock", number)
    assert json.loads(gh("api", f"repos/acme/app/issues/{number}"))["locked"] is False
    gh("pr", "edit", str(PULL_NUMBER), "--add-reviewer", "alice,acme/core")
    asked = gh.json("pr", "view", str(PULL_NUMBER), fields="reviewRequests")["reviewRequests"]
    assert {one.get("login") or one["slug"].rpartition("/")[2] for one in asked} == {"alice", "core"}
    assert "acme/app" in gh("status")


def test_repositories_are_renamed_and_archived_and_issues_pinned_and_deleted(gh: Gh) -> None:
    gh("repo", "rename", "tool", "--repo", gh.environment["GH_REPO"], "--yes")
    gh.environment["GH_REPO"] = gh.environment["GH_REPO"].replace("/app", "/tool")
    pinned = (
        'query={repository(owner:"acme",name:"tool"){pinnedIssues(first:3){nodes{issue{number isPinned}}}}}'
    )
    for words, numbers in (("pin", [1]), ("unpin", [])):
        gh("issue", words, "1")
        answer = json.loads(gh("api", "graphql", "-f", pinned))["data"]["repository"]["pinnedIssues"]
        assert [one["issue"]["number"] for one in answer["nodes"]] == numbers
    gh("issue", "delete", "2", "--yes")
    assert "Could not resolve" in gh.refused("issue", "view", "2")
    assert "Transferring issues is not supported here" in gh.refused("issue", "transfer", "1", "acme/tool")
    assert "Auto merge is not allowed" in gh.refused("pr", "merge", str(PULL_NUMBER), "--disable-auto")
    gh("repo", "archive", "acme/tool", "--yes")
    assert gh.json("repo", "view", "acme/tool", fields="isArchived") == {"isArchived": True}
    assert "archived" in gh.refused("issue", "comment", "1", "--body", "No.")
    gh("api", "-X", "PATCH", "repos/acme/tool", "-F", "archived=false")
    gh("issue", "comment", "1", "--body", "Yes.")
    assert gh("gist", "list") == ""
    (gh.home / "a.txt").write_text("a")
    assert "Gists are not supported here" in gh.refused("gist", "create", "a.txt")


def test_files_of_releases(gh: Gh) -> None:
    (gh.home / "tool.json").write_text('{"a": 1}')
    gh("release", "create", "v9", "tool.json#The tool", "--notes", "New.")
    [asset] = gh.json("release", "view", "v9", fields="assets")["assets"]
    assert (asset["name"], asset["label"], asset["size"]) == ("tool.json", "The tool", 8)
    assert "already exists" in gh.refused("release", "upload", "v9", "tool.json")
    (gh.home / "tool.json").write_text('{"a": 22}')
    gh("release", "upload", "v9", "tool.json", "--clobber")
    [asset] = json.loads(gh("api", "repos/acme/app/releases/tags/v9"))["assets"]
    assert asset["browser_download_url"].endswith("/acme/app/releases/download/v9/tool.json")
    gh("release", "download", "v9", "--dir", "down")
    assert (gh.home / "down" / "tool.json").read_text() == '{"a": 22}'
    gh("release", "delete-asset", "v9", "tool.json", "--yes")
    assert gh.json("release", "view", "v9", fields="assets")["assets"] == []
    gh("release", "upload", "v9", "tool.json")
    gh("release", "delete", "v9", "--yes")
