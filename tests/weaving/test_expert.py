"""The expert level: errors of documents are silent, and every operation of a program counts."""

from __future__ import annotations

import random
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.oracle import Made

RUNNER = Path(__file__).parents[1] / "virtual_time.py"
MEASURES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "headroom.py"))
changed, composed, silent = (MEASURES[name] for name in ("changed", "composed", "silent"))


def test_a_wrong_result_leads_on_to_another_end() -> None:
    found = [
        silent(composed("lore_documents_expert", 25, seed), 20, random.Random(seed)) for seed in range(4)
    ]
    assert sum(one for one, _ in found) >= 0.95 * sum(of for _, of in found), found
    assert silent(composed("lore_documents_hard", 25, 0), 10, random.Random(0))[0] == 0, "elsewhere to none"


def test_a_wrong_result_changes_what_a_program_returns() -> None:
    found = [changed(composed("lore_code_expert", 25, seed), 20, random.Random(seed)) for seed in range(4)]
    assert sum(one for one, _ in found) >= 0.95 * sum(of for _, of in found), found


def test_values_hold_for_a_time_or_as_another_value_is() -> None:
    made = composed("lore_documents_expert", 40, 3)
    nodes = [node for node in made.tree.nodes() if node.role == "value"]
    restricted = [node for node in nodes if node.validity]
    assert 0.35 * len(nodes) < len(restricted) < 0.65 * len(nodes)
    texts = {file.id: file.text for file in made.files}
    order = {node: at for at, node in enumerate(made.tree.bottom_up())}
    for node in restricted:
        [said] = [line for line in texts[node.id].split("\n") if re.search(rf"\b{node.variable}\b", line)]
        for value in (node.value, node.validity.other):
            assert re.search(rf"(?<![-\w]){value}\b", said), said
        if node.validity.given:
            assert order[node.validity.given] < order[node], "so that it can be settled"
    assert {bool(node.validity.given) for node in restricted} == {True, False}
    assert made.public["today"] in load_family("lore_documents_expert").task.render_prompt(made.public)


def test_what_stands_at_wrong_identifiers_is_another_thing_of_the_same_kind() -> None:
    made = composed("lore_documents_expert", 12, 1)
    right = {node.id: node for node in made.tree.nodes()}
    for node in right.values():
        if not node.rule:
            continue
        beside = [file for file in made.files if file.id.startswith(f"{node.rule.target}%")]
        assert len(beside) >= 3, "the right one and wrong ones"
        if node.role == "value":
            assert all(f"{node.variable}" in file.text for file in beside)
            told = [file for file in beside if f"{node.value}" in file.text.replace(file.id, "")]
            assert [file.id for file in told] == [node.id], "only the right one says the right value"


@pytest.mark.parametrize("operations", [1, 40, 400])
def test_programs_run_as_they_are_computed(operations: int, tmp_path: Path) -> None:
    made = composed("lore_code_expert", operations, 2)
    for file in made.files:
        (tmp_path / file.id).write_text(file.text)
    done = subprocess.run([sys.executable, RUNNER, tmp_path], capture_output=True, text=True, check=False)
    assert done.stdout == made.answer, done.stderr


@pytest.mark.parametrize("task", ["lore_documents_expert", "lore_code_expert"])
def test_the_oracle_leads_to_the_answer(task: str, tmp_path: Path) -> None:
    family = load_family(task)
    instance = build_instance(family, 1, tmp_path / "instance", parameters={"operations": 15})
    episode = Episode.create(tmp_path / "episode", instance.path, family)
    made: list[Made] = []
    while steps := episode.oracle.plan(episode.world, made):
        call = steps[0].calls[0]
        assert episode.world.call(call.service, call.tool, call.arguments).status == "ok"
        made = episode.history()
    assert len(made) == instance.expected.least_calls
    assert episode.grade().verdict == "passed"
    known = episode.oracle.state(episode.world, made).facts["values"]
    assert instance.expected.answer in map(str, known.values()), "all was settled on the way"
    assert episode.oracle.judge(made) == [True] * len(made)
    episode.close()
