"""A code host for the tests of its REST API and of git: an organisation with work in progress."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rest.hosted import HostedWorld

from mesocosm.servers.codehost.store import (
    CodehostStore,
    NewComment,
    NewCommit,
    NewIssue,
    NewPull,
    NewReview,
)
from mesocosm.services.world import World

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git, whose client is tried")


def day(number: int) -> datetime:
    """A day before the world's clock."""
    return datetime(2024, 12, number, tzinfo=UTC)


FILES = {
    "README.md": "# App\n",
    "src/main.py": "import v0\n\nprint(v0.main())\n",
    "src/v0.py": "def main():\n    return 1\n",
    "docs/größe.md": "Grüße\n",
    "logo.bin": bytes(range(256)),
}


def fill(world: World) -> None:
    """alice owns acme; bob is a member and can write, carol is nobody in particular."""
    store = world.store(CodehostStore)
    store.accounts.create_account("alice", "Alice Doe", "alice@example.com", company="Acme")
    for login in ("bob", "carol"):
        store.accounts.create_account(login, f"{login.title()} Roe", f"{login}@example.com")
    store.accounts.create_organization(
        "acme", "Acme", {"alice": "admin", "bob": "member"}, default_role="write"
    )
    store.accounts.create_team("acme", "core", "Core", ["alice", "bob"])
    store.filling.create_repository(
        "acme", "app", description="The app", language="Python", topics=["web"], stars=5
    )
    store.filling.create_repository("carol", "public-thing")
    store.filling.create_repository("carol", "diary", private=True)
    for name in ("one", "two", "three"):
        store.filling.create_repository("alice", name, private=name == "three")
    store.filling.create_repository("alice", "empty")
    first = NewCommit("Begin", FILES, "alice", day(1))
    steps = [
        NewCommit(
            f"Step {n}", {"src/v0.py": f"def main():\n    return {n}\n"}, "bob", day(2) + timedelta(hours=n)
        )
        for n in range(2, 8)
    ]
    feature = NewCommit(
        "Add v1", {"src/v1.py": "def main():\n    return 42\n"}, "bob", day(3), branch="feature"
    )
    shas = store.filling.add_commits("acme", "app", [first, *steps, feature])
    store.filling.add_commits(
        "carol", "public-thing", [NewCommit("Begin", {"a.txt": "a\n"}, "carol", day(1))]
    )
    store.filling.add_commits("carol", "diary", [NewCommit("Dear diary", {"d.txt": "d\n"}, "carol", day(1))])
    store.filling.add_branch("acme", "app", "guarded")
    store.repositories.protect_branch("acme", "app", "guarded", required_approvals=1)
    store.filling.add_tag("acme", "app", "v1.0", message="First release", tagger="alice", date=day(5))
    store.filling.add_tag("acme", "app", "v0.9", shas[0])
    store.releases.add_release("acme", "app", "v1.0", "alice", title="One", body="The first.")
    store.fields.add_milestone("acme", "app", "M1")
    store.filling.add_issues("acme", "app", [_issue(n) for n in range(1, 8)])
    store.accounts.sign_in("alice")
    store.filling.add_pull_requests("acme", "app", [PULL])
    store.filling.add_check_runs("acme", "app", [{"sha": "feature", "name": "tests"}])
    store.filling.add_statuses("acme", "app", [{"sha": "feature", "context": "lint", "state": "success"}])


def _issue(number: int) -> NewIssue:
    first = number == 1
    return NewIssue(
        f"Problem {number}",
        "bob" if number % 2 else "carol",
        f"It crashes, case {number}",
        labels=["bug"] if first else [],
        assignees=["alice"] if first else [],
        comments=[NewComment("alice", f"Comment {n}", day(7)) for n in range(3)] if first else [],
        milestone=1 if first else None,
        created_at=day(6) + timedelta(hours=number),
    )


PULL = NewPull(
    "Add v1",
    "feature",
    "bob",
    body="Fixes #1",
    reviewers=["alice", "acme/core"],
    reviews=[NewReview("alice", "COMMENT", "See below", [("src/v1.py", 1, "Why?")], at=day(10))],
    created_at=day(9),
)
PULL_NUMBER = 8


class Tools:
    """The MCP tools of a hosted code host."""

    def __init__(self, hosted: HostedWorld) -> None:
        self._hosted = hosted

    def __call__(self, tool: str, **arguments: Any) -> Any:
        """The first block of a result, decoded."""
        home = {} if tool.startswith(("search_", "get_me")) else {"owner": "acme", "repo": "app"}
        with self._hosted.tools() as tools:
            block = tools.read("codehost", tool, home | arguments)[0]
        return json.loads(block) if block[:1] in "[{" else block


class Git:
    """The real git program in a folder of its own, untouched by the machine's settings."""

    def __init__(self, home: Path, hosted: HostedWorld) -> None:
        self.home, self.hosted = home, hosted

    def url(self, repository: str = "acme/app", token: str | None = None) -> str:
        """The URL of a repository, with the token as a password."""
        scheme, _, rest = self.hosted.api("codehost").partition("://")
        return f"{scheme}://x:{token or self.hosted.id}@{rest}/{repository}.git"

    def run(self, *arguments: str, at: str = ".", ok: bool = True) -> str:
        """What git prints, errors too; it must succeed, or else fail."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": "Bob Roe",
            "GIT_AUTHOR_EMAIL": "bob@example.com",
            "GIT_AUTHOR_DATE": "2025-01-10T12:00:00Z",
            "GIT_COMMITTER_NAME": "Bob Roe",
            "GIT_COMMITTER_EMAIL": "bob@example.com",
            "GIT_COMMITTER_DATE": "2025-01-10T12:00:00Z",
        }
        ran = subprocess.run(
            ["git", *arguments],
            cwd=self.home / at,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert (ran.returncode == 0) == ok, ran.stdout
        return ran.stdout.strip()

    def clone(self, *options: str, repository: str = "acme/app", into: str = "app") -> Path:
        """A clone."""
        self.run("clone", "-q", *options, self.url(repository), into)
        return self.home / into

    def commit(self, files: dict[str, str], message: str = "Change", at: str = "app") -> str:
        """Commit files; returns the name of the commit."""
        for path, content in files.items():
            target = self.home / at / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content)
        self.run("add", "-A", at=at)
        self.run("commit", "-q", "-m", message, at=at)
        return self.run("rev-parse", "HEAD", at=at)
