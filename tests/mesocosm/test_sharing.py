"""Copies of a world that share the files which neither replaces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from confinement import needs_sandbox

from mesocosm.services.world import World
from mesocosm.worlds.copies import copy_world

MakeWorld = Callable[..., World]


def _pair(make_world: MakeWorld, path: Path) -> tuple[World, World]:
    files = [("notes/a.txt", b"old"), ("b.txt", b"kept")]
    origin = make_world(lambda world: world.workspace.fill(files, world.now), "filesystem", "python_execute")
    copy_world(origin.path, path, sharing_files=True)
    return origin, World(path, sharing_files=True)


def test_what_tools_write_in_a_copy_its_origin_does_not_have(make_world: MakeWorld, tmp_path: Path) -> None:
    origin, other = _pair(make_world, tmp_path / "other")
    with other:
        for tool, arguments in [
            ("write_file", {"path": "notes/a.txt", "content": "new"}),
            ("move_file", {"source": "b.txt", "destination": "c.txt"}),
        ]:
            assert other.call("filesystem", tool, arguments).status == "ok"
        assert {name: path.read_bytes() for name, path in other.workspace.files()} == {
            "c.txt": b"kept",
            "notes/a.txt": b"new",
        }
    there = {name: path.read_bytes() for name, path in origin.workspace.files()}
    assert there == {"b.txt": b"kept", "notes/a.txt": b"old"}


@needs_sandbox
def test_what_code_writes_into_a_file_of_a_copy_its_origin_does_not_have(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    origin, other = _pair(make_world, tmp_path / "other")
    with other:
        code = "with open('notes/a.txt', 'a') as file: file.write(' and more')"
        assert other.call("python_execute", "python_execute", {"code": code}).status == "ok"
        assert other.workspace.read("notes/a.txt") == b"old and more"
    assert (origin.path / "workspace/notes/a.txt").read_bytes() == b"old"
