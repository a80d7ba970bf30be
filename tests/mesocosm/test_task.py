"""Task files are validated, and complaints name the key and the line."""

from __future__ import annotations

from pathlib import Path

import pytest

import mesocosm
from mesocosm.errors import UsageError
from mesocosm.families.family import load_family
from mesocosm.families.task import read_task

GOOD = """\
version: 1
title: A task
prompt: Hello ${name}, it costs $$5.
servers:
  email: all
  canvas: [canvas_list_courses]
growth:
  parameter: num_courses
  points: {8k: 5, 32k: 11, 1m: 90}
lengths: [8k, 32k]
seeds: 0-2
"""


@pytest.fixture
def task_file(tmp_path: Path) -> Path:
    return tmp_path / "my_task.yaml"


def test_a_good_file_is_read(task_file: Path) -> None:
    task_file.write_text(GOOD)
    task = read_task(task_file)
    assert task.family == "my_task"
    assert task.servers == {"email": None, "canvas": ["canvas_list_courses"]}
    assert task.lengths == [8000, 32000]
    assert task.seeds == [0, 1, 2]
    assert task.render_prompt({"name": "Ann"}) == "Hello Ann, it costs $5.\n"


def test_a_file_that_is_written_again_at_once_is_read_again(task_file: Path) -> None:
    text = (Path(mesocosm.__file__).parent / "tasks/visit_calendar.yaml").read_text()
    first = next(line for line in text.splitlines() if line.startswith("title: "))
    for title in ("title: One", "title: Two"):
        task_file.write_text(text.replace(first, title))
        assert load_family(str(task_file)).task.title == title[-3:]


def test_sizes_lie_between_the_points_and_never_fall(task_file: Path) -> None:
    task_file.write_text(GOOD)
    growth = read_task(task_file).growth
    sizes = [
        growth.size_for(length) for length in (1_000, 8_000, 20_000, 32_000, 500_000, 1_000_000, 2_000_000)
    ]
    assert sizes[1] == 5
    assert sizes[3] == 11
    assert sizes[-1] == 180
    assert sizes == sorted(sizes)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("title: A task", "titel: A task", ["line 2", "titel", "unknown key"]),
        ("title: A task\n", "", ["title", "required"]),
        ("version: 1", "version: one", ["line 1", "version", "integer"]),
        ("  parameter: num_courses", "  parameters: x", ["line 8", "growth.parameters", "unknown key"]),
        ("32k: 11", "32k: 3", ["line 9", "growth.points", "must not fall"]),
        ("32k: 11", "32q: 3", ["line 9", "growth.points", "not a length"]),
        ("  email: all", "  email: some", ["line 5", "servers.email", "list"]),
        ("lengths: [8k, 32k]", "lengths: [8k, [32k]", ["not YAML", "line 11"]),
        ("seeds: 0-2", "title: again", ["line 11", "'title'", "twice"]),
        ("seeds: 0-2", "limits: {hours: 3}", ["line 11", "limits.hours", "unknown key"]),
    ],
)
def test_complaints_name_the_key_and_the_line(task_file: Path, old: str, new: str, words: list[str]) -> None:
    assert old in GOOD
    task_file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UsageError) as refused:
        read_task(task_file)
    for word in words:
        assert word in str(refused.value)


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just text", "\x00"])
def test_what_is_no_mapping_is_refused(task_file: Path, text: str) -> None:
    task_file.write_text(text)
    with pytest.raises(UsageError, match="my_task"):
        read_task(task_file)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{a: " * 50_000, "- " * 50_000, "a: [" + "[" * 500 + "]" * 501]
)
def test_what_is_nested_too_deeply_is_refused_at_once(task_file: Path, text: str) -> None:
    task_file.write_text(text)
    with pytest.raises(UsageError, match="line 1: nested too deeply"):
        read_task(task_file)
