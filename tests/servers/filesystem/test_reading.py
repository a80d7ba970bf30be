"""Reading and listing files of the workspace."""

from __future__ import annotations

import fnmatch
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesocosm.servers.filesystem.store import globs
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World


def fill(world: World) -> None:
    write = world.workspace.write
    write("notes.txt", b"one\ntwo\nthree\n", world.now)
    write("data/sales.csv", b"a,b\n1,2\n", world.now)
    write("data/deep/old.csv", b"x\n", world.now)
    write("data/blob.bin", b"a\0b", world.now)


@pytest.fixture
def tools(open_tools: Any) -> Any:
    return open_tools(fill, "filesystem")


@pytest.mark.parametrize("tool", ["read_file", "read_text_file"])
@pytest.mark.parametrize("path", ["notes.txt", "/workspace/notes.txt", "./data/../notes.txt"])
def test_a_file_is_read_by_every_spelling_of_its_path(tools: Any, tool: str, path: str) -> None:
    assert tools.call("filesystem", tool, path=path) == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"head": 2}, "one\ntwo"),
        ({"tail": 2}, "two\nthree"),
        ({"offset": 1, "head": 1}, "two"),
        ({"head": 99}, "one\ntwo\nthree"),
        ({"tail": 99}, "one\ntwo\nthree"),
    ],
)
def test_parts_of_a_file_are_read_by_lines(tools: Any, part: dict[str, int], text: str) -> None:
    assert tools.call("filesystem", "read_text_file", path="notes.txt", **part) == text


def test_a_file_too_large_for_one_result_is_refused_with_advice(tools: Any) -> None:
    tools.world.workspace.write("big.txt", b"line\n" * 50_000)

    with pytest.raises(ToolError, match=r"one result holds at most .* Read fewer lines at once with head"):
        tools.call("filesystem", "read_text_file", path="big.txt")
    assert tools.call("filesystem", "read_text_file", path="big.txt", offset=49_999) == "line"


def test_several_files_are_read_with_an_error_for_each_that_fails(tools: Any) -> None:
    text = tools.call("filesystem", "read_multiple_files", paths=["notes.txt", "nope", "data/sales.csv"])

    assert text == (
        "notes.txt:\none\ntwo\nthree\n\n\n---\n"
        "nope: Error - No such file: /workspace/nope\n---\n"
        "data/sales.csv:\na,b\n1,2\n\n"
    )


def test_several_files_together_stay_within_one_result(tools: Any) -> None:
    tools.world.workspace.write("big.txt", b"x" * 60_000)

    text = tools.call("filesystem", "read_multiple_files", paths=["big.txt"] * 5)

    assert len(text) < 62_000
    assert text.count("read it in another call") == 4


def test_a_picture_is_returned_as_an_image_and_another_file_as_base64(tools: Any) -> None:
    tools.world.workspace.write("p.png", b"\x89PNG")

    image = tools.world.call("filesystem", "read_media_file", {"path": "p.png"}).blocks[0]

    assert (image.data, image.media_type) == (b"\x89PNG", "image/png")
    blob = tools.call("filesystem", "read_media_file", path="data/blob.bin")
    assert blob == {"type": "blob", "data": "YQBi", "mimeType": "application/octet-stream"}


def test_a_directory_is_listed_with_marks(tools: Any) -> None:
    assert tools.call("filesystem", "list_directory", path="/workspace") == "[DIR] data\n[FILE] notes.txt"


def test_sizes_are_listed_with_totals_and_the_largest_first_on_request(tools: Any) -> None:
    text = tools.call("filesystem", "list_directory_with_sizes", path="data", sortBy="size")

    assert text.splitlines() == [
        "[FILE] sales.csv                             8 B",
        "[FILE] blob.bin                              3 B",
        "[DIR] deep",
        "",
        "Total: 2 files, 1 directories",
        "Combined size: 11 B",
    ]


def test_a_large_directory_is_listed_in_pages(tools: Any) -> None:
    for number in range(1_005):
        (tools.world.workspace.root / f"data/f{number:04}").touch()

    first = tools.call("filesystem", "list_directory", path="data").splitlines()

    assert len(first) == 1_001
    assert first[-1] == "[1,000 of 1,008 shown; the next are on page 2]"
    assert len(tools.call("filesystem", "list_directory", path="data", page=2).splitlines()) == 8


def test_the_tree_nests_children_and_leaves_out_what_is_excluded(tools: Any) -> None:
    tree = tools.call("filesystem", "directory_tree", path=".", excludePatterns=["deep", "**/*.bin"])

    assert tree == [
        {"name": "data", "type": "directory", "children": [{"name": "sales.csv", "type": "file"}]},
        {"name": "notes.txt", "type": "file"},
    ]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.csv", "No matches found"),
        ("**/*.csv", "/workspace/data/deep/old.csv\n/workspace/data/sales.csv"),
        ("data/*.{csv,bin}", "/workspace/data/blob.bin\n/workspace/data/sales.csv"),
        ("data/**", "blob.bin deep old.csv sales.csv"),
        ("[!n]*", "/workspace/data"),
        ("note?.txt", "/workspace/notes.txt"),
    ],
)
def test_files_are_found_by_glob_pattern(tools: Any, pattern: str, found: str) -> None:
    text = tools.call("filesystem", "search_files", path="/workspace", pattern=pattern)

    assert text == found or [line.rpartition("/")[2] for line in text.splitlines()] == found.split()


def test_a_hostile_pattern_takes_no_time(tools: Any) -> None:
    (tools.world.workspace.root / ("a" * 250)).touch()

    pattern = "*a" * 60 + "b"
    assert tools.call("filesystem", "search_files", path=".", pattern=pattern) == "No matches found"
    assert tools.call("filesystem", "search_files", path=".", pattern="**/" * 200 + "b") == "No matches found"


def test_a_pattern_is_made_once_however_many_files_there_are(tools: Any) -> None:
    for number in range(30):
        (tools.world.workspace.root / f"file {number}").touch()
    excluded = [f"{{x,y}}{number}*" for number in range(500)]
    made = globs._expression.cache_info().misses
    found = tools.call("filesystem", "search_files", path=".", pattern="file*", excludePatterns=excluded)
    assert found.count("\n") == 29
    # A call that takes longer than others may wait is made once more.
    assert globs._expression.cache_info().misses - made <= 2 * (2 * len(excluded) + 1)


@given(
    pattern=st.lists(st.sampled_from(["**", "*", "a", "b", "a*", "?"]), min_size=1, max_size=6),
    path=st.lists(st.sampled_from(["a", "b", "ab", "aab"]), min_size=1, max_size=6),
)
def test_stars_over_folders_stand_for_what_they_say(pattern: list[str], path: list[str]) -> None:
    def matches(parts: list[str], names: list[str]) -> bool:
        if not parts:
            return not names
        if parts[0] == "**":
            least = int(not parts[1:])
            return any(matches(parts[1:], names[n:]) for n in range(least, len(names) + 1))
        return bool(names) and fnmatch.fnmatchcase(names[0], parts[0]) and matches(parts[1:], names[1:])

    single = [part for n, part in enumerate(pattern) if part != "**" or pattern[n - 1 : n] != ["**"]]
    assert globs.Glob("/".join(pattern)).matches("/".join(path)) == matches(single, path)


def test_file_info_shows_the_worlds_time_and_not_the_machines(tools: Any) -> None:
    text = tools.call("filesystem", "get_file_info", path="notes.txt")

    assert text == (
        "size: 14\nmodified: Wed Jan 15 2025 09:00:00 GMT+0000 (Coordinated Universal Time)\n"
        "isDirectory: false\nisFile: true\npermissions: 644"
    )
    (tools.world.workspace.root / "by_code.txt").touch()
    assert "modified: Wed Jan 15 2025" in tools.call("filesystem", "get_file_info", path="by_code.txt")
    assert "isDirectory: true" in tools.call("filesystem", "get_file_info", path="data")


def test_only_the_workspace_is_allowed(tools: Any) -> None:
    assert tools.call("filesystem", "list_allowed_directories") == "Allowed directories:\n/workspace"


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("read_text_file", {"path": "nope.txt"}, "No such file: /workspace/nope.txt"),
        ("read_text_file", {"path": "data"}, "is a directory"),
        ("read_text_file", {"path": "data/blob.bin"}, "null bytes"),
        ("read_text_file", {"path": ""}, "must not be empty"),
        ("read_text_file", {"path": "a\0b"}, "null character"),
        ("read_text_file", {"path": "x" * 5_000}, "File name too long"),
        ("read_text_file", {"path": "notes.txt/x"}, "not a directory"),
        ("read_text_file", {"path": "notes.txt", "head": 1, "tail": 1}, "both head"),
        ("read_text_file", {"path": "notes.txt", "head": 0}, "head must be 1 or more"),
        ("read_text_file", {"path": "notes.txt", "offset": 3}, "only 3 lines"),
        ("read_file", {"path": "../world.json"}, "outside the workspace"),
        ("read_media_file", {"path": "/etc/passwd"}, "outside the workspace"),
        ("read_multiple_files", {"paths": []}, "paths"),
        ("list_directory", {"path": "notes.txt"}, "not a directory"),
        ("list_directory", {"path": ".", "page": 2}, "page must be between 1 and 1"),
        ("list_directory_with_sizes", {"path": "nope"}, "No such directory"),
        ("directory_tree", {"path": "nope"}, "No such directory"),
        ("search_files", {"path": "..", "pattern": "*"}, "outside the workspace"),
        ("search_files", {"path": ".", "pattern": ""}, "must not be empty"),
        ("search_files", {"path": ".", "pattern": "{a,b}" * 20}, "alternatives"),
        ("get_file_info", {"path": "nope"}, "No such file"),
    ],
)
def test_bad_arguments_are_refused_clearly(
    tools: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        tools.call("filesystem", tool, **arguments)


def test_names_that_are_not_text_are_shown_without_harm(tools: Any) -> None:
    root = os.fsencode(tools.world.workspace.root)
    for name in (b"bad\xff", b"two\nlines"):
        with open(root + b"/" + name, "w"):
            pass

    text = tools.call("filesystem", "list_directory", path=".")

    assert "[FILE] bad\ufffd" in text
    assert "[FILE] two\\nlines" in text
