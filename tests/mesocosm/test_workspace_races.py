"""Whatever the agent's code exchanges for a link, at whatever moment, tools touch nothing outside of it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mesocosm.errors import Refusal
from mesocosm.worlds.workspace import Workspace

MOMENT = datetime(2025, 1, 1, tzinfo=UTC)
TOUCHING = {"open", "os.mkdir", "os.chmod", "os.utime", "os.rename", "os.remove", "os.rmdir", "os.scandir"}
ACTIONS: dict[str, Callable[[Workspace], Any]] = {
    "write": lambda w: w.write("a/b/new/deep/file", b"x" * 100, MOMENT),
    "replace": lambda w: w.write("a/b/token", b"x" * 100, MOMENT),
    "make a folder": lambda w: w.make_folder("a/b/new/deep", MOMENT),
    "move": lambda w: w.move("a/b/token", "a/moved", MOMENT),
    "move here": lambda w: w.move("a/other", "a/b/other", MOMENT),
    "delete": lambda w: w.delete("a/b/token", MOMENT),
    "read": lambda w: w.read("a/b/token") == b"secret" and pytest.fail("what is outside was read"),
}
SWAPPED = ("a", "a/b", "a/b/new", "a/b/new/deep", "a/b/token")
_attack: list[Callable[[], None]] = []


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if _attack and event in TOUCHING:
        attack = _attack.pop()
        attack()
        _attack.append(attack)


sys.addaudithook(_listen)  # cannot be taken away again, and costs nothing while nobody attacks


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside"
    for folder in ("b/new/deep", "new/deep", "deep", "empty", "b/empty"):
        (path / folder).mkdir(parents=True)
    for name in ("token", "b/token", "new/token", "file", "other"):
        (path / name).write_bytes(b"secret")
    for found in [path, *path.rglob("*")]:
        found.chmod(0o700 if found.is_dir() else 0o600)
        os.utime(found, (1, 1))
    return path


def state(folder: Path) -> list[tuple[object, ...]]:
    found = []
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found.append((str(path), status.st_mode, status.st_mtime_ns, status.st_size, content))
    return found


def fresh(root: Path) -> Workspace:
    shutil.rmtree(root, ignore_errors=True)
    (root / "a/b/empty").mkdir(parents=True)
    (root / "a/b/token").write_bytes(b"mine")
    (root / "a/other").write_bytes(b"mine")
    return Workspace(root)


def swap(path: Path, outside: Path, kept: Path) -> None:
    """Put a link where something is, or where something will be."""
    target = outside if path.name != "token" else outside / "token"
    with suppress(OSError):
        if os.path.lexists(path):
            os.rename(path, kept)
        os.symlink(target, path)


@pytest.mark.parametrize("action", ACTIONS)
def test_no_exchange_at_any_moment_reaches_out(tmp_path: Path, outside: Path, action: str) -> None:
    before = state(outside)
    made = 0
    for name in SWAPPED:
        moment = 0
        while True:
            workspace = fresh(tmp_path / "workspace")
            looks = [moment]

            def attack(name: str = name, looks: list[int] = looks) -> None:
                looks[0] -= 1
                if looks[0] == -1:
                    swap(tmp_path / "workspace" / name, outside, tmp_path / "workspace" / "kept")

            _attack.append(attack)
            try:
                with suppress(Refusal):
                    ACTIONS[action](workspace)
            finally:
                _attack.clear()
            assert state(outside) == before, f"{action}: {name} exchanged at moment {moment}"
            made += 1
            if looks[0] >= 0:
                break  # it ended before its moment came
            moment += 1
    assert made > 2 * len(SWAPPED)
