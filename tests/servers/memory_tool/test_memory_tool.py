"""The memory folder."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.servers.memory_tool.store import MemoryToolStore
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World

NOTES = "/memories/notes.txt"


def fill(world: World) -> None:
    files = [(NOTES, "one\ntwo\nthree\n"), ("/memories/a/b/deep.md", "x" * 2_000), ("/memories/.hidden", "h")]
    world.store(MemoryToolStore).add_files(files)


@pytest.fixture
def tools(open_tools: Any) -> Any:
    return open_tools(fill, "memory_tool")


def call(tools: Any, tool: str, **arguments: Any) -> str:
    return str(tools.call("memory_tool", tool, **arguments))


def test_the_folder_is_listed_two_levels_deep_with_sizes(tools: Any) -> None:
    assert call(tools, "view", path="/memories") == (
        "Here're the files and directories up to 2 levels deep in /memories,"
        " excluding hidden items and node_modules:\n"
        "2.0K\t/memories\n2.0K\t/memories/a\n2.0K\t/memories/a/b\n14B\t/memories/notes.txt"
    )


def test_an_empty_memory_can_be_viewed(open_tools: Any) -> None:
    assert call(open_tools(None, "memory_tool"), "view", path="/memories").endswith("\n0B\t/memories")


@pytest.mark.parametrize(
    ("view_range", "lines"),
    [
        (None, "     1\tone\n     2\ttwo\n     3\tthree"),
        ([2, 3], "     2\ttwo\n     3\tthree"),
        ([3, -1], "     3\tthree"),
    ],
)
def test_a_file_is_viewed_with_line_numbers(tools: Any, view_range: list[int] | None, lines: str) -> None:
    text = call(tools, "view", path=NOTES, view_range=view_range)

    assert text == f"Here's the content of {NOTES} with line numbers:\n{lines}"


def test_a_file_is_created_with_its_folders(tools: Any) -> None:
    text = call(tools, "create", path="/memories/new/file.txt", file_text="hello")

    assert text == "File created successfully at: /memories/new/file.txt"
    assert "     1\thello" in call(tools, "view", path="/memories/new/file.txt")


def test_a_passage_is_replaced_and_shown_in_its_place(tools: Any) -> None:
    text = call(tools, "str_replace", path=NOTES, old_str="two", new_str="2\n2b")

    assert text == "The memory file has been edited.\n     1\tone\n     2\t2\n     3\t2b\n     4\tthree"


@pytest.mark.parametrize(
    ("line", "content"),
    [(0, "new\none\ntwo\nthree\n"), (2, "one\ntwo\nnew\nthree\n"), (3, "one\ntwo\nthree\nnew")],
)
def test_text_is_inserted_after_a_line(tools: Any, line: int, content: str) -> None:
    assert call(tools, "insert", path=NOTES, insert_line=line, insert_text="new") == (
        f"The file {NOTES} has been edited."
    )
    assert tools.world.store(MemoryToolStore).content(NOTES) == content


def test_files_and_folders_are_deleted(tools: Any) -> None:
    assert call(tools, "delete", path="/memories/a") == "Successfully deleted /memories/a"
    call(tools, "delete", path=NOTES)

    assert call(tools, "view", path="/memories").endswith(":\n0B\t/memories")


def test_files_and_folders_are_renamed(tools: Any) -> None:
    call(tools, "rename", old_path=NOTES, new_path="/memories/c/n.txt")
    text = call(tools, "rename", old_path="/memories/a", new_path="/memories/c/a")

    assert text == "Successfully renamed /memories/a to /memories/c/a"
    assert "three" in call(tools, "view", path="/memories/c/n.txt")
    assert "     1\tx" in call(tools, "view", path="/memories/c/a/b/deep.md")


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("view", {"path": "/memories/nope"}, "The path /memories/nope does not exist"),
        ("view", {"path": "/etc/passwd"}, "must start with /memories"),
        ("view", {"path": "/memories/../etc"}, "must start with /memories"),
        ("view", {"path": "/memoriesx"}, "must start with /memories"),
        ("view", {"path": ""}, "Not a usable path"),
        ("view", {"path": NOTES, "view_range": [0, 2]}, "Invalid `view_range`"),
        ("view", {"path": NOTES, "view_range": [2]}, "two line numbers"),
        ("create", {"path": NOTES}, "already exists"),
        ("create", {"path": "/memories/a"}, "already exists"),
        ("create", {"path": "/memories"}, "is a directory"),
        ("create", {"path": NOTES + "/x"}, "is a file, not a directory"),
        ("create", {"path": "/memories/big", "file_text": "x" * 1_000_001}, "may have 1,000,000"),
        ("create", {"path": "/memories/x", "file_text": "a\0"}, "not allowed"),
        ("str_replace", {"path": NOTES, "old_str": "four"}, "did not appear verbatim"),
        ("str_replace", {"path": NOTES, "old_str": "e", "new_str": "x"}, "occurrences .* in lines: 1, 3"),
        ("str_replace", {"path": NOTES, "old_str": ""}, "must not be empty"),
        ("str_replace", {"path": "/memories/a", "old_str": "x"}, "does not exist"),
        ("insert", {"path": NOTES, "insert_line": 4}, r"within the range of lines of the file: \[0, 3\]"),
        ("insert", {"path": NOTES, "insert_line": -1}, "Invalid `insert_line`"),
        ("insert", {"path": "/memories/nope", "insert_line": 0}, "does not exist"),
        ("delete", {"path": "/memories"}, "cannot be deleted"),
        ("delete", {"path": "/memories/"}, "cannot be deleted"),
        ("delete", {"path": "/memories/a/.."}, "cannot be deleted"),
        ("delete", {"path": "/memories/nope"}, "The path /memories/nope does not exist"),
        ("rename", {"old_path": NOTES, "new_path": "/memories/a"}, "destination /memories/a already exists"),
        ("rename", {"old_path": "/memories/a", "new_path": "/memories/a/b/c"}, "into itself"),
        ("rename", {"old_path": "/memories", "new_path": "/memories/x"}, "cannot be renamed"),
        ("rename", {"old_path": "/memories/nope", "new_path": "/memories/x"}, "does not exist"),
        ("rename", {"old_path": NOTES, "new_path": "/tmp/x"}, "must start with /memories"),
    ],
)
def test_bad_arguments_are_refused_and_leave_no_trace(
    tools: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = (tools.world.path / "memory_tool.db").read_bytes()

    with pytest.raises(ToolError, match=message):
        call(tools, tool, **arguments)

    assert (tools.world.path / "memory_tool.db").read_bytes() == before


def test_a_file_too_large_for_one_result_is_viewed_in_parts(tools: Any) -> None:
    call(tools, "create", path="/memories/long.txt", file_text="line\n" * 100_000)

    with pytest.raises(ToolError, match="show fewer of its 100,000 lines with view_range"):
        call(tools, "view", path="/memories/long.txt")
    assert call(tools, "view", path="/memories/long.txt", view_range=[99_999, -1]).endswith("100000\tline")
