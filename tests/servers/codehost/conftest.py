"""A small code host: one repository of an organisation, with history, issues and a pull request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from mesocosm.servers.codehost.store import (
    CodehostStore,
    NewComment,
    NewCommit,
    NewIssue,
    NewPull,
    NewReview,
)
from mesocosm.services.calling import ToolError, decode
from mesocosm.services.world import World
from mesocosm.worlds.database import driver_connection, rollback


def day(number: int) -> datetime:
    """A day before the world's clock."""
    return datetime(2024, 12, number, tzinfo=UTC)


COMMITS = [
    NewCommit(
        "Initial commit",
        {
            "README.md": "# App\n",
            "src/main.py": "import v0\n\nprint(v0.main())\n",
            "src/v0.py": "def main():\n    return 1\n",
            "docs/guide/intro.md": "Start here.\n",
        },
        "alice",
        day(1),
    ),
    NewCommit("Return two\n\nIt crashed.", {"src/v0.py": "def main():\n    return 2\n"}, "bob", day(2)),
    NewCommit("Add v1", {"src/v1.py": "def main():\n    return 40 + 2\n"}, "bob", day(3), branch="feature"),
    NewCommit("Greet", {"README.md": "# App\n\nHello.\n"}, ("Zed", "zed@example.org"), day(4)),
]


def fill(world: World) -> None:
    """The world of these tests; alice (an owner of acme) is signed in."""
    store = world.store(CodehostStore)
    store.accounts.create_account("alice", "Alice Doe", "alice@example.com", company="Acme")
    for login in ("bob", "carol", "dave"):
        store.accounts.create_account(login, f"{login.title()} Roe", f"{login}@example.com")
    store.accounts.create_organization(
        "acme", "Acme", {"alice": "admin", "bob": "member"}, default_role="write"
    )
    store.accounts.create_team("acme", "core", "Core", ["alice", "bob"])
    store.filling.create_repository(
        "acme", "app", description="The app", language="Python", topics=["web"], stars=5
    )
    store.filling.create_repository("acme", "secret", private=True)
    shas = store.filling.add_commits("acme", "app", COMMITS)
    store.filling.add_commits(
        "acme", "secret", [NewCommit("Hide", {"plan.txt": "the treasure map"}, "alice", day(1))]
    )
    store.filling.add_tag("acme", "app", "v1.0", message="First release", tagger="alice", date=day(5))
    store.filling.add_tag("acme", "app", "v0.9", shas[0])
    store.releases.add_release("acme", "app", "v1.0", "alice", title="One", body="The first.")
    store.fields.add_milestone("acme", "app", "M1")
    store.fields.add_issue_field("acme", "Priority", "single_select", ["P0", "P1"])
    store.fields.add_issue_field("acme", "Estimate", "number")
    store.filling.add_issues("acme", "app", ISSUES)
    store.accounts.sign_in("alice")
    store.filling.add_pull_requests("acme", "app", [PULL])
    store.filling.add_check_runs("acme", "app", [{"sha": "feature", "name": "tests"}])
    store.filling.add_statuses("acme", "app", [{"sha": "feature", "context": "lint", "state": "success"}])


ISSUES = [
    NewIssue(
        "Crash on start",
        "bob",
        "It crashes badly",
        labels=["bug", "Weird"],
        assignees=["alice"],
        comments=[NewComment("alice", "Looking at zebras", day(7))],
        milestone=1,
        fields={"Priority": "P1"},
        created_at=day(6),
    ),
    NewIssue("Write docs", "carol", state="closed", closed_by="alice", created_at=day(7), closed_at=day(8)),
]
PULL = NewPull(
    "Add v1",
    "feature",
    "bob",
    body="Fixes #1",
    reviewers=["alice", "acme/core"],
    reviews=[NewReview("alice", "COMMENT", "See below", [("src/v1.py", 1, "Why?")], at=day(10))],
    created_at=day(9),
)


class Host:
    """The tools of the code host, on ``acme/app`` unless told otherwise."""

    def __init__(self, tools: Any) -> None:
        self.tools = tools
        self.world: World = tools.world

    def read(self, tool: str, **arguments: Any) -> list[str]:
        """The text blocks of a result."""
        parameters = self.world.tool("codehost", tool).signature.schema["properties"]
        home = {"owner": "acme", "repo": "app"} if "repo" in parameters and "query" not in parameters else {}
        blocks: list[str] = self.tools.read("codehost", tool, home | arguments)
        return blocks

    def call(self, tool: str, **arguments: Any) -> Any:
        """The first block of a result, decoded."""
        return decode(self.read(tool, **arguments)[0])

    def refused(self, tool: str, **arguments: Any) -> str:
        """Why a call is refused; it must leave no trace."""
        before = self.contents()
        with pytest.raises(ToolError) as refusal:
            self.call(tool, **arguments)
        assert "Internal error" not in str(refusal.value)
        assert self.contents() == before
        return str(refusal.value)

    def contents(self) -> str:
        """A digest of everything in the database."""
        lines = driver_connection(self.store.session).iterdump()
        return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()

    @contextmanager
    def looking(self) -> Iterator[CodehostStore]:
        """The store between two calls, to read from."""
        try:
            yield self.store
        finally:
            rollback(self.store.session)

    @property
    def store(self) -> CodehostStore:
        return self.world.store(CodehostStore)

    def sign_in(self, login: str) -> None:
        """Act as somebody else from here on."""
        with self.world.editing():
            self.store.accounts.sign_in(login)

    def text(self, path: str, **arguments: Any) -> str:
        """The contents of a file."""
        return self.read("get_file_contents", path=path, **arguments)[1]

    def head(self, branch: str = "main", **arguments: Any) -> str:
        """The SHA at the end of a branch."""
        commits = self.call("list_commits", sha=branch, perPage=1, **arguments)
        return str(commits[0]["sha"])

    def put(self, path: str, content: str, branch: str = "main") -> str:
        """Commit a file, whatever was there; returns the commit."""
        files = [{"path": path, "content": content}]
        pushed = self.call("push_files", branch=branch, files=files, message=f"Write {path}")
        return str(pushed["object"]["sha"])

    def open_pull(self, branch: str, files: dict[str, str], title: str = "Change", **more: Any) -> int:
        """A new branch with these files, and a pull request for it."""
        self.call("create_branch", branch=branch)
        pushed = [{"path": path, "content": content} for path, content in files.items()]
        self.call("push_files", branch=branch, files=pushed, message=title)
        made = self.call("create_pull_request", title=title, head=branch, base="main", **more)
        return int(made["url"].rpartition("/")[2])


@pytest.fixture
def host(open_tools: Callable[..., Any]) -> Host:
    """The small code host, served."""
    return Host(open_tools(fill, "codehost"))


@pytest.fixture
def new_host(open_tools: Callable[..., Any]) -> Callable[..., Host]:
    """``new_host(fill)``: a code host filled by the test."""
    return lambda filler: Host(open_tools(filler, "codehost"))
