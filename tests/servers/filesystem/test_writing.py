"""Writing, editing and moving files of the workspace."""

from __future__ import annotations

import os
from typing import Any

import pytest

from mesocosm.servers.filesystem.words import TextFile
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World


def fill(world: World) -> None:
    world.workspace.write("notes.txt", b"one\n  two\nthree\n", world.now)
    world.workspace.write("folder/a.txt", b"a", world.now)


@pytest.fixture
def tools(open_tools: Any) -> Any:
    return open_tools(fill, "filesystem")


def contents(world: World) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in world.workspace.files()}


def test_a_file_is_written_and_replaced_at_the_worlds_time(tools: Any) -> None:
    for text in ("first", "second é"):
        result = tools.call("filesystem", "write_file", path="new.txt", content=text)

    assert result == "Successfully wrote to new.txt"
    path = tools.world.workspace.root / "new.txt"
    assert path.read_text() == "second é"
    assert path.stat().st_mtime == tools.world.manifest.start.timestamp() + 2
    assert not list(path.parent.glob(".*"))


def test_an_edit_returns_a_git_style_diff(tools: Any) -> None:
    diff = tools.call("filesystem", "edit_file", path="notes.txt", edits=[{"oldText": "two", "newText": "2"}])

    assert diff == (
        "```diff\nIndex: /workspace/notes.txt\n" + "=" * 67 + "\n"
        "--- /workspace/notes.txt\toriginal\n+++ /workspace/notes.txt\tmodified\n"
        "@@ -1,3 +1,3 @@\n one\n-  two\n+  2\n three\n```\n\n"
    )
    assert contents(tools.world)["notes.txt"] == b"one\n  2\nthree\n"


def test_an_edit_may_differ_in_white_space_and_keeps_the_indentation(tools: Any) -> None:
    edits = [{"oldText": "two\nthree", "newText": "2\n3"}]

    tools.call("filesystem", "edit_file", path="notes.txt", edits=edits)

    assert contents(tools.world)["notes.txt"] == b"one\n  2\n3\n"


def test_a_dry_run_changes_nothing(tools: Any) -> None:
    before = contents(tools.world)

    edits = [{"oldText": "one", "newText": "```"}]
    diff = tools.call("filesystem", "edit_file", path="notes.txt", edits=edits, dryRun=True)

    assert diff.startswith("````diff\n")
    assert contents(tools.world) == before


def test_windows_line_ends_survive_an_edit(tools: Any) -> None:
    tools.world.workspace.write("w.txt", b"a\r\nb\r\n")

    tools.call("filesystem", "edit_file", path="w.txt", edits=[{"oldText": "a\nb", "newText": "c\nd"}])

    assert contents(tools.world)["w.txt"] == b"c\r\nd\r\n"


def test_edits_far_apart_make_hunks_of_their_own(tools: Any) -> None:
    tools.world.workspace.write("long.txt", "".join(f"{n}\n" for n in range(100)).encode())
    edits = [{"oldText": "\n5\n", "newText": "\nfive\n"}, {"oldText": "\n90\n", "newText": "\n"}]

    diff = tools.call("filesystem", "edit_file", path="long.txt", edits=edits)

    hunks = [line for line in diff.splitlines() if line.startswith("@@")]
    assert hunks == ["@@ -2,9 +2,9 @@", "@@ -87,9 +87,8 @@"]


def test_a_huge_edit_is_quick(tools: Any) -> None:
    tools.world.workspace.write("big.txt", b"a\nb\n" * 100_000)
    edits = [{"oldText": "a\nb\n" * 90_000, "newText": "b\na\n" * 90_000}]

    diff = tools.call("filesystem", "edit_file", path="big.txt", edits=edits)

    assert len(diff) < 101_000


def test_directories_are_made_with_those_above_them(tools: Any) -> None:
    for _ in range(2):
        text = tools.call("filesystem", "create_directory", path="x/y/z")

    assert text == "Successfully created directory x/y/z"
    assert (tools.world.workspace.root / "x/y/z").is_dir()


def test_files_and_directories_are_moved(tools: Any) -> None:
    tools.call("filesystem", "move_file", source="folder", destination="moved")
    text = tools.call("filesystem", "move_file", source="notes.txt", destination="moved/n.txt")

    assert text == "Successfully moved notes.txt to moved/n.txt"
    assert sorted(contents(tools.world)) == ["moved/a.txt", "moved/n.txt"]


def test_a_folder_is_not_moved_to_where_it_would_lie_too_deep(tools: Any) -> None:
    deep, tall = "/".join("e" * 62), "/".join("f" * 4)
    for path in (deep, tall):
        tools.call("filesystem", "create_directory", path=path)
    with pytest.raises(ToolError, match="too deep"):
        tools.call("filesystem", "move_file", source="f", destination=f"{deep}/f")
    higher = f"{'/'.join('e' * 60)}/f"
    assert tools.call("filesystem", "move_file", source="f", destination=higher).startswith("Success")


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("write_file", {"path": "no/x.txt", "content": ""}, "Parent directory does not exist: /workspace/no"),
        ("write_file", {"path": "folder", "content": ""}, "is a directory"),
        ("write_file", {"path": "/workspace", "content": ""}, "workspace itself"),
        ("write_file", {"path": "new/", "content": ""}, "names a folder"),
        ("write_file", {"path": "../x", "content": ""}, "outside the workspace"),
        ("write_file", {"path": "x" * 300, "content": ""}, "File name too long"),
        ("edit_file", {"path": "notes.txt", "edits": []}, "at least one edit"),
        ("edit_file", {"path": "notes.txt", "edits": [{"oldText": "", "newText": ""}]}, "must not be empty"),
        (
            "edit_file",
            {
                "path": "notes.txt",
                "edits": [{"oldText": "one", "newText": "1"}, {"oldText": "four", "newText": "4"}],
            },
            "Could not find exact match for edit:\nfour",
        ),
        ("edit_file", {"path": "notes.txt", "edits": [{"oldText": "one"}]}, "newText"),
        ("create_directory", {"path": "notes.txt"}, "not a directory"),
        ("create_directory", {"path": "notes.txt/x"}, "not a directory"),
        ("create_directory", {"path": "/tmp/x"}, "outside the workspace"),
        ("move_file", {"source": "nope", "destination": "x"}, "No such file"),
        ("move_file", {"source": "notes.txt", "destination": "folder"}, "already exists"),
        ("move_file", {"source": "notes.txt", "destination": "no/x"}, "Parent directory does not exist"),
        ("move_file", {"source": "folder", "destination": "folder/in"}, "inside"),
        ("move_file", {"source": "/workspace", "destination": "x"}, "workspace itself"),
        ("move_file", {"source": "notes.txt", "destination": "/tmp/x"}, "outside the workspace"),
    ],
)
def test_bad_arguments_are_refused_and_leave_no_trace(
    tools: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = contents(tools.world), sorted(os.listdir(tools.world.workspace.root))

    with pytest.raises(ToolError, match=message):
        tools.call("filesystem", tool, **arguments)

    assert (contents(tools.world), sorted(os.listdir(tools.world.workspace.root))) == before


def test_links_out_of_the_workspace_are_neither_read_nor_written(tools: Any) -> None:
    root = tools.world.workspace.root
    os.symlink("../world.json", root / "link")
    os.symlink("..", root / "up")
    os.link(tools.world.path / "world.json", root / "hard")

    for path in ("link", "up/world.json", "hard"):
        with pytest.raises(ToolError, match=r"denied|hard link"):
            tools.call("filesystem", "read_text_file", path=path)
        with pytest.raises(ToolError, match=r"denied|hard link"):
            tools.call("filesystem", "write_file", path=path, content="gone")
    assert "services" in (tools.world.path / "world.json").read_text()


def test_a_trap_at_the_name_of_a_temporary_file_is_not_followed(tools: Any) -> None:
    root = tools.world.workspace.root
    os.symlink("../world.json", root / ".writing-0")

    tools.call("filesystem", "write_file", path="notes.txt", content="new")

    assert "services" in (tools.world.path / "world.json").read_text()
    assert (root / "notes.txt").read_text() == "new"


def test_pipes_do_not_hang_the_server(tools: Any) -> None:
    os.mkfifo(tools.world.workspace.root / "pipe")

    with pytest.raises(ToolError, match="not a regular file"):
        tools.call("filesystem", "read_text_file", path="pipe")
    with pytest.raises(ToolError, match="not a regular file"):
        tools.call("filesystem", "write_file", path="pipe", content="x")


def test_what_would_have_the_name_of_another_file_has_the_next_of_the_series(tools: Any) -> None:
    names = ["memos/note-55293.txt", "memos/note-55293.txt", "may.txt", "may.txt", "may.txt"]
    things = [{"path": name, "content": "Nothing new.", "date": tools.world.now} for name in names]
    given = TextFile().add(tools.world, things)
    expected = ["memos/note-55293.txt", "memos/note-55294.txt", "may.txt", "may-2.txt", "may-3.txt"]
    assert [one["path"] for one in given] == expected
