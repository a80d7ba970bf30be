"""What the learning platform says of itself where a task file sets it up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trials import call

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance


@pytest.mark.parametrize("seed", [0, 1])
def test_a_university_has_the_name_and_the_clocks_that_the_prompt_says(seed: int, tmp_path: Path) -> None:
    family = load_family("oral_exams")
    instance = build_instance(family, seed, tmp_path / "instance", target=8_000)
    episode = Episode.create(tmp_path / "episode", instance.path, family)

    def asked(tool: str, **arguments: Any) -> Any:
        return json.loads(call(episode, "canvas", tool, **arguments))

    account = asked("canvas_get_account", account_id=1)
    assert account["name"] in episode.prompt
    assert account["default_time_zone"] in episode.prompt
    courses = asked("canvas_list_courses")
    assert {course["time_zone"] for course in courses} == {account["default_time_zone"]}
    for course in courses:
        syllabus = asked("canvas_get_syllabus", course_id=course["id"])
        assert course["teachers"][0]["display_name"] in json.dumps(syllabus, ensure_ascii=False)
        for work in asked("canvas_list_assignments", course_id=course["id"]):
            assert work["created_at"] < work["due_at"]
    episode.close()
