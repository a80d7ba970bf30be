"""Paths of the agent stay inside its workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mesocosm.errors import Denied, Invalid, NotFound
from mesocosm.worlds.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "workspace"
    root.mkdir()
    (tmp_path / "secret.txt").write_text("answer")
    (tmp_path / "workspace-of-another").mkdir()
    return Workspace(root)


@pytest.mark.parametrize("name", ["a.txt", "./a.txt", "/workspace/a.txt", "b/../a.txt"])
def test_a_file_has_many_names(workspace: Workspace, name: str) -> None:
    (workspace.root / "b").mkdir()
    workspace.write("a.txt", b"x")
    assert workspace.existing_file(name).read_bytes() == b"x"
    assert workspace.shown(workspace.resolve(name)) == "/workspace/a.txt"


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "/etc/passwd",
        "a/../../secret.txt",
        "/workspace/../secret.txt",
        "../workspace-of-another/x",
    ],
)
def test_a_path_that_leaves_is_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(Denied, match="outside the workspace"):
        workspace.resolve(name)


@pytest.mark.parametrize("target", ["../secret.txt", "/etc/passwd", ".."])
def test_a_symbolic_link_that_leaves_is_refused(workspace: Workspace, target: str) -> None:
    os.symlink(target, workspace.root / "link")
    with pytest.raises(Denied):
        workspace.resolve("link")
    with pytest.raises(Denied):
        workspace.write("link/x", b"")


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_what_names_no_file_is_invalid(workspace: Workspace, name: str) -> None:
    with pytest.raises(Invalid):
        workspace.resolve(name)


def test_what_is_not_there_is_not_found(workspace: Workspace) -> None:
    with pytest.raises(NotFound, match="/workspace/nothing"):
        workspace.existing_file("nothing")


def test_a_pipe_is_not_opened(workspace: Workspace) -> None:
    os.mkfifo(workspace.root / "pipe")
    with pytest.raises(Denied):
        workspace.existing_file("pipe")


def test_a_file_that_would_be_too_large_leaves_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_WORKSPACE_FILE_SIZE", "10")
    with pytest.raises(Invalid, match="limit"):
        workspace.write("big", b"x" * 11)
    assert not list(workspace.root.iterdir())
