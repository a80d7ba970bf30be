"""Chains of documents: what their worlds contain, what the checker finds, that the solver follows them."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesocosm.checkers.lore_documents import MUTANTS
from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.errors import UsageError
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family, load_family
from mesocosm.families.instances import Instance, build_instance
from mesocosm.generators.lore_documents import Expected, Params, generate
from mesocosm.servers.documents.models import Document
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.world import World
from mesocosm.solvers.lore_documents import Notes
from mesocosm.worlds.manifest import Manifest

STANDARD, HARD = load_family("lore_documents"), load_family("lore_documents_hard")

Build = Callable[..., Instance]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """``build(seed, operations=5, ...)``: an instance with these parameters."""
    built: list[Path] = []

    def make(
        seed: int = 0, *, family: Family = STANDARD, target: int | None = None, **parameters: Any
    ) -> Instance:
        path = tmp_path / f"instance-{len(built)}"
        built.append(path)
        return build_instance(family, seed, path, target=target, parameters=parameters)

    return make


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    return build_instance(STANDARD, 1, tmp_path_factory.mktemp("lore_documents") / "instance", target=8_000)


@pytest.fixture
def episode(instance: Instance, tmp_path: Path) -> Episode:
    return Episode.create(tmp_path / "episode", instance.path, STANDARD)


def expected_of(instance: Instance) -> Expected:
    assert isinstance(instance.expected, Expected)
    return instance.expected


def contents(instance: Instance) -> dict[str, str]:
    connection = sqlite3.connect(instance.path / "world" / "documents.db")
    try:
        return dict(connection.execute("SELECT id, content FROM documents"))
    finally:
        connection.close()


def listed_in_prompt(instance: Instance) -> list[str]:
    found = re.search(r"Start by reading the documents: (.*)\.\n", instance.prompt)
    assert found
    return found[1].split(", ")


def submit(episode: Episode, answer: str) -> set[str]:
    """The checks that fail after this answer."""
    outcome = episode.world.call("submit_answer", "submit_answer", {"answer": answer})
    assert outcome.status == "ok", outcome.text
    return failures(episode)


def failures(episode: Episode) -> set[str]:
    verdict = episode.grade()
    assert verdict.verdict in ("passed", "failed"), verdict.error
    return {check.name for check in verdict.findings if not check.passed}


def solve(instance: Instance, path: Path, family: Family) -> Episode:
    episode = Episode.create(path, instance.path, family)
    with McpTools(world_server(episode.world)) as tools:
        family.solve(tools, episode.prompt)
    return episode


# -- worlds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [STANDARD, HARD], ids=["standard", "hard"])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_variable_is_defined_once_also_by_distractors(build: Build, family: Family, seed: int) -> None:
    documents = contents(build(seed, family=family, distractor_documents=300))
    definitions: Counter[str] = Counter()
    for text in documents.values():
        notes = Notes()
        list(notes.take_in(text))
        definitions.update(notes.values.keys())
    assert definitions["v0"] == 1
    assert max(definitions.values()) == 1
    assert len(definitions) > 300


def test_the_answer_is_in_one_document_that_nothing_names(instance: Instance) -> None:
    expected, documents = expected_of(instance), contents(instance)
    holding = [name for name, text in documents.items() if expected.answer in text]
    assert holding == [expected.steps[-1].document]
    assert not any(holding[0] in text for text in [*documents.values(), instance.prompt])
    assert expected.answer not in instance.prompt


def test_the_prompt_lists_what_exists_and_nothing_that_is_computed(instance: Instance) -> None:
    listed, documents = listed_in_prompt(instance), contents(instance)
    computed = {step.document for step in expected_of(instance).steps}
    assert len(set(listed)) == len(listed)
    assert set(listed) <= documents.keys()
    assert not computed & set(listed)
    assert not any(name in text for name in listed for text in documents.values())
    # They are exactly the leaves: what holds evidence, and is neither computed nor on a list.
    pieces = [piece.contains for piece in expected_of(instance).evidence]
    holding = [name for name, text in documents.items() if any(piece in text for piece in pieces)]
    on_lists = {name for text in documents.values() for name in re.findall(r"^- (\S+)$", text, re.MULTILINE)}
    assert set(listed) == set(holding) - computed - on_lists


def test_every_document_is_given_listed_or_computed(instance: Instance) -> None:
    expected, documents = expected_of(instance), contents(instance)
    assert sorted(expected.documents) == sorted(documents)


def test_distractors_change_neither_the_tree_nor_its_documents(build: Build) -> None:
    few, many = build(3, filler_tokens=500), build(3, filler_tokens=9_000)
    one, other = contents(few), contents(many)
    assert expected_of(few).steps == expected_of(many).steps
    assert expected_of(few).answer == expected_of(many).answer
    assert listed_in_prompt(few) == listed_in_prompt(many)
    for piece in expected_of(few).evidence:
        (text,) = [text for text in one.values() if piece.contains in text]
        if not piece.contains.startswith("- "):  # lists also name distractors
            assert text in other.values()


def test_numbers_and_names_of_distractors_are_of_the_same_size_as_the_evidence(build: Build) -> None:
    instance = build(0, distractor_documents=600)
    notes, expected = Notes(), expected_of(instance)
    for text in contents(instance).values():
        list(notes.take_in(text))
    inside = {name: value for step in expected.steps for name, value in step.values.items()}
    outside = {name: value for name, value in notes.values.items() if name not in inside}
    for some, others in (
        (
            [v for v in inside.values() if isinstance(v, int)],
            [v for v in outside.values() if isinstance(v, int)],
        ),
        ([int(name[1:]) for name in inside], [int(name[1:]) for name in outside]),
    ):
        assert sum(some) / len(some) == pytest.approx(sum(others) / len(others), rel=0.35)


def test_n_and_the_height_are_recorded(build: Build) -> None:
    expected = expected_of(build(0, operations=33))
    assert expected.operations == len(expected.steps) == 33
    assert 3 <= expected.height <= 33
    assert expected.public["operations"] == "33"
    assert expected.public["height"] == str(expected.height)


def test_without_distractors_there_is_the_tree_and_nothing_else(build: Build) -> None:
    instance = build(0, operations=2, distractor_fields=0, remark_tokens=0, collection_probability=0)
    documents = contents(instance)
    assert len(documents) == len(expected_of(instance).evidence)
    assert all("\n" not in text for text in documents.values())


def test_documents_hold_at_most_so_many_irrelevant_fields(build: Build) -> None:
    instance = build(0, distractor_fields=4, remark_tokens=0, distractor_documents=100, leaf_threshold=500)
    lengths = Counter(len(text.splitlines()) for text in contents(instance).values())
    assert set(range(1, 6)) <= lengths.keys()
    assert sum(size > 5 for size in lengths.elements()) <= 1  # the list


def test_negative_values_occur_where_asked_for(build: Build) -> None:
    values = [v for step in expected_of(build(0, family=HARD)).steps for v in step.values.values()]
    assert any(isinstance(value, int) and value < 0 for value in values)
    values = [v for step in expected_of(build(0)).steps for v in step.values.values()]
    assert not any(isinstance(value, int) and value < 0 for value in values)


def test_the_agent_can_do_no_more_than_read_and_answer(instance: Instance) -> None:
    with World(instance.path / "world") as world:
        tools = {(service.name, tool) for service in world.services.values() for tool in service.tools}
    assert tools == {("documents", "read_document"), ("submit_answer", "submit_answer")}


def test_an_identifier_that_is_computed_wrongly_is_a_clear_error(episode: Episode) -> None:
    step = expected_of_episode(episode).steps[0]
    outcome = episode.world.call("documents", "read_document", {"file_id": f"{step.document}1"})
    assert outcome.status == "refused"
    assert outcome.text == f"File not found: {step.document}1"


def expected_of_episode(episode: Episode) -> Expected:
    expected = episode.family.read_expected((episode.path / "expected.json").read_bytes())
    assert isinstance(expected, Expected)
    return expected


@pytest.mark.parametrize(
    "wrong", [{"operations": 0}, {"operators": ["rooting"]}, {"min_children": 5}, {"operators": []}]
)
def test_parameters_that_make_no_tree_are_refused(build: Build, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        build(0, **wrong)


# -- the checker -------------------------------------------------------------------------------------------


def test_the_very_value_passes(episode: Episode, instance: Instance) -> None:
    assert submit(episode, expected_of(instance).answer) == set()


@pytest.mark.parametrize(
    "change",
    [str.lower, "{} ".format, "{}\n".format, "'{}'".format, "v0: {}".format, "{}.".format, lambda a: a[1:]],
)
def test_anything_near_it_fails(episode: Episode, instance: Instance, change: Callable[[str], str]) -> None:
    assert submit(episode, change(expected_of(instance).answer)) == {"answer"}


def test_no_answer_fails(episode: Episode) -> None:
    assert failures(episode) == {"submitted", "answer"}


def test_a_changed_document_fails(episode: Episode, instance: Instance) -> None:
    assert submit(episode, expected_of(instance).answer) == set()
    with episode.world.editing() as world:
        world.store(DocumentsStore).session.query(Document).limit(1).one().title = "changed"
    assert failures(episode) == {"documents"}


def test_every_wrong_rule_has_its_place_in_the_hard_task(build: Build, tmp_path: Path) -> None:
    solved = solve(build(0, family=HARD), tmp_path / "solved", HARD)
    assert failures(solved) == set()
    for number, mutant in enumerate(MUTANTS):
        fork = solved.fork(tmp_path / f"fork-{number}")
        with fork.world.editing() as world:
            mutant.apply(world, expected_of_episode(fork))
        assert mutant.breaks in failures(fork), mutant.name


# -- the solver --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "operations", "distractors"),
    [
        (STANDARD, 1, 0),
        (STANDARD, 1, 30),
        (STANDARD, 2, 5),
        pytest.param(STANDARD, 100, 20, marks=pytest.mark.long),
        pytest.param(STANDARD, 350, 0, marks=pytest.mark.long),
        (HARD, 1, 0),
        (HARD, 60, 50),
    ],
    ids=lambda value: value.name if isinstance(value, Family) else str(value),
)
def test_a_chain_of_any_length_is_followed_without_a_wrong_step(
    build: Build, tmp_path: Path, family: Family, operations: int, distractors: int
) -> None:
    instance = build(1, family=family, operations=operations, distractor_documents=distractors)
    episode = solve(instance, tmp_path / "episode", family)
    assert failures(episode) == set()
    assert not episode.world.journal.with_status("refused"), "the solver guessed"


def test_identifiers_cannot_be_guessed(build: Build, tmp_path: Path) -> None:
    instance = build(1, operations=1)
    assert "after\n100 refused calls" in instance.prompt
    episode = Episode.create(tmp_path / "episode", instance.path, STANDARD)
    for number in range(100):
        missing = episode.world.call("documents", "read_document", {"file_id": f"v0%{number}x"})
        assert missing.status == "refused"
    answer = episode.world.call("submit_answer", "submit_answer", {"answer": expected_of(instance).answer})
    assert answer.text == "100 calls were refused; no further changes are accepted."
    assert "submitted" in failures(episode)


def test_a_list_that_is_longer_than_one_reading_is_read_to_its_end(build: Build, tmp_path: Path) -> None:
    instance = build(2, operations=3, remark_tokens=0, distractor_documents=700, collection_probability=0)
    assert max(len(text.splitlines()) for text in contents(instance).values()) > 500
    assert failures(solve(instance, tmp_path / "episode", STANDARD)) == set()


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(
    seed=st.integers(0, 10**6),
    operations=st.integers(1, 80),
    children=st.integers(2, 5),
    threshold=st.integers(2, 40),
    probability=st.sampled_from([0.0, 0.5, 1.0]),
    fields=st.integers(0, 3),
    distractors=st.integers(0, 40),
)
def test_reading_and_computing_finds_the_value_in_any_world(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    operations: int,
    children: int,
    threshold: int,
    probability: float,
    fields: int,
    distractors: int,
) -> None:
    params = Params(
        operations=operations,
        max_children=children,
        leaf_threshold=threshold,
        collection_probability=probability,
        distractor_fields=fields,
        distractor_documents=distractors,
        remark_tokens=0,
        negative_share=0.2,
        operators=["addition", "subtraction", "multiplication", "concatenation", "reversal"],
    )
    manifest = Manifest(family="lore_documents", seed=seed, services={"documents": None})
    with World.create(tmp_path_factory.mktemp("world") / "world", manifest) as world:
        expected = generate(world, params)
        world.finish_building()
        rows = world.store(DocumentsStore).session.query(Document.id, Document.content)
        documents = {row.id: row.content for row in rows}
    notes = Notes()
    queue = expected.public["documents"].split(", ")
    seen = set(queue)
    while queue:
        for found in notes.take_in(documents[queue.pop()]):
            if found not in seen:
                seen.add(found)
                queue.append(found)
    assert notes.values["v0"] == expected.answer
    assert seen == documents.keys() == set(expected.documents)
