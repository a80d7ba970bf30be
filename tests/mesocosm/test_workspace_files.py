"""What the workspace does with files: whole or not at all, at the world's time, and never outside of it."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mesocosm.errors import Conflict, Denied, Invalid, NotFound
from mesocosm.worlds.limits import settings
from mesocosm.worlds.workspace import Workspace

MOMENT = datetime(2025, 1, 15, 9, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "workspace").mkdir()
    return Workspace(tmp_path / "workspace")


def names(workspace: Workspace) -> list[str]:
    return [entry.path for entry in workspace.walk()]


def test_files_and_folders_bear_the_moment_of_their_change(workspace: Workspace) -> None:
    workspace.write("a/b.txt", b"x", MOMENT)

    assert workspace.details("a/b.txt").modified == MOMENT
    assert workspace.details("a").modified == MOMENT
    (workspace.root / "by_code").touch()
    assert workspace.details("by_code").modified is None


def test_a_failed_write_leaves_no_folders_behind(workspace: Workspace) -> None:
    with pytest.raises(Invalid, match="File name too long"):
        workspace.write("new/folder/" + "x" * 300, b"", MOMENT)

    assert names(workspace) == []


def test_a_replaced_file_keeps_its_permissions(workspace: Workspace) -> None:
    workspace.write("run.sh", b"1").chmod(0o755)

    workspace.write("run.sh", b"2")

    assert workspace.details("run.sh").permissions == 0o755


def test_the_workspace_may_be_full(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_WORKSPACE_SIZE", "10")
    monkeypatch.setenv("MESOCOSM_WORKSPACE_ENTRIES", "2")
    workspace.write("a", b"12345678")

    with pytest.raises(Invalid, match="files may have 10 bytes together"):
        workspace.write("b", b"123")
    workspace.write("a", b"1234567890")
    workspace.write("b", b"")
    with pytest.raises(Invalid, match="may hold 2 files"):
        workspace.write("c", b"")


def test_entries_are_moved_and_deleted(workspace: Workspace) -> None:
    workspace.write("a/b.txt", b"x")

    workspace.move("a", "c")
    workspace.move("c/b.txt", "d.txt")
    workspace.delete("c")

    assert names(workspace) == ["d.txt"]
    workspace.delete("d.txt")
    with pytest.raises(NotFound):
        workspace.delete("d.txt")


@pytest.mark.parametrize(
    ("source", "target", "refusal"),
    [("a", "b", Conflict), ("a", "a/in", Invalid), (".", "x", Invalid), ("no", "x", NotFound)],
)
def test_moves_that_make_no_sense_are_refused(
    workspace: Workspace, source: str, target: str, refusal: type[Exception]
) -> None:
    workspace.make_folder("a")
    workspace.make_folder("b")

    with pytest.raises(refusal):
        workspace.move(source, target)


def test_a_full_folder_is_not_deleted(workspace: Workspace) -> None:
    workspace.write("a/b.txt", b"x")

    with pytest.raises(Conflict, match="not empty"):
        workspace.delete("a")


def test_hard_links_pipes_and_their_like_are_not_opened(workspace: Workspace) -> None:
    os.link(workspace.root.parent / "secret.txt", workspace.root / "hard")
    os.mkfifo(workspace.root / "pipe")

    for name in ("hard", "pipe"):
        for act in (workspace.read, workspace.identity, workspace.existing_file, workspace.details):
            with pytest.raises(Denied):
                act(name)
        with pytest.raises(Denied):
            workspace.write(name, b"x")
    assert (workspace.root.parent / "secret.txt").read_text() == "secret"


def test_a_link_that_appears_after_the_check_is_not_followed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write("a/secret.txt", b"mine")
    checked = workspace.resolve("a/secret.txt")
    os.rename(workspace.root / "a", workspace.root / "old")
    os.symlink("..", workspace.root / "a")
    monkeypatch.setattr(workspace, "resolve", lambda name: checked)

    acts: list[Any] = [lambda: workspace.read("x"), lambda: workspace.write("x", b"y")]
    for act in (*acts, lambda: workspace.delete("x"), lambda: workspace.move("x", "x")):
        with pytest.raises((Denied, Invalid)):
            act()
    assert (workspace.root.parent / "secret.txt").read_text() == "secret"


def test_links_inside_the_workspace_may_be_used(workspace: Workspace) -> None:
    workspace.write("real/a.txt", b"x")
    os.symlink("real", workspace.root / "link")

    assert workspace.read("link/a.txt") == b"x"
    assert [entry.kind for entry in workspace.entries()] == ["other", "folder"]


def test_a_chain_of_folders_without_end_is_not_followed_to_it(workspace: Workspace) -> None:
    folder = os.open(workspace.root, os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)

    try:
        assert len(names(workspace)) == settings().workspace_depth + 1
        assert list(workspace.files()) == []
    finally:  # which is beyond what Python can remove
        subprocess.run(["rm", "-rf", str(workspace.root / "d")], check=True)


def test_a_file_larger_than_the_limit_is_not_read(workspace: Workspace) -> None:
    workspace.write("a", b"12345")

    assert workspace.read("a", 5) == b"12345"
    with pytest.raises(Invalid, match="has 5 bytes; at most 4 can be read"):
        workspace.read("a", 4)


def test_the_identity_changes_with_every_change(workspace: Workspace) -> None:
    seen = set()
    for data in (b"1", b"2", b"2"):
        workspace.write("a", data, MOMENT)
        seen.add(workspace.identity("a"))
    (workspace.root / "a").write_bytes(b"3")
    seen.add(workspace.identity("a"))

    assert workspace.identity("a") == workspace.content("a").identity
    assert len(seen) >= 3


def test_files_that_worlds_share_can_be_read(workspace: Workspace) -> None:
    os.link(workspace.root.parent / "secret.txt", workspace.root / "hard")

    assert Workspace(workspace.root, linked=True).read("hard") == b"secret"
