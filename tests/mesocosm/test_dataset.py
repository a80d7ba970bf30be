"""Datasets: the lines are the instances that are built as worlds, and the file is written whole or not."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm

from mesocosm.doors.mcp import McpTools, WorldCaller, build_server
from mesocosm.errors import UsageError
from mesocosm.families.family import Family, family_names, load_family
from mesocosm.families.instances import Instance, build_instance
from mesocosm.families.quantities import parse_counts
from mesocosm.families.workers.processes import Processes
from mesocosm.kits.weaving.datasets import WovenRecord, find_task, make_record, write_dataset
from mesocosm.servers.documents.store.pictures import combined, draw
from mesocosm.services.service import Image
from mesocosm.services.world import World

TASKS = {name: load_family(name).task for name in family_names()}
FAMILIES = [name for name, task in TASKS.items() if not task.is_written and load_family(name).hook("compose")]
STANDARD = load_family("lore_documents")


def dataset(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return mesocosm("dataset", "lore", *words, cwd=cwd, **environment)


def records(path: Path) -> list[WovenRecord]:
    return [WovenRecord.model_validate_json(line) for line in path.read_bytes().splitlines()]


def write(
    path: Path, *, family: Family = STANDARD, parameters: dict[str, Any] | None = None
) -> list[WovenRecord]:
    list(write_dataset(family, [2, 5], [0, 1], parameters or {}, path, Processes(1)))
    return records(path)


@pytest.fixture(params=FAMILIES)
def built(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[WovenRecord, Instance]:
    """The same instance twice: as a record, and as a world."""
    family = load_family(request.param)
    instance = build_instance(family, 7, tmp_path / "instance", parameters={"operations": 6})
    return make_record(family, 7, {"operations": 6}), instance


def test_a_record_is_the_instance_that_is_built(built: tuple[WovenRecord, Instance]) -> None:
    record, instance = built
    assert record.prompt == instance.prompt
    assert {"operations": record.N, "height": record.height} == instance.expected.measures
    assert str(instance.expected.model_dump()["answer"]) == record.answer
    with World(instance.path / "world") as world:
        manifest = world.manifest
    assert (record.task, record.version, record.seed) == (manifest.family, manifest.version, manifest.seed)
    assert record.parameters == manifest.parameters


def test_the_files_are_what_reading_them_returns(built: tuple[WovenRecord, Instance]) -> None:
    record, instance = built
    with World(instance.path / "world") as world:
        for file_id, text in record.files.items():
            blocks = world.calls.peek(
                "documents", "read_document", {"file_id": file_id, "limit": 100_000}
            ).blocks
            images = [
                {"media_type": block.media_type, "data": base64.b64encode(block.data).decode()}
                for block in blocks
                if isinstance(block, Image)
            ]
            assert blocks[0] == text
            shown = record.images.get(file_id)
            assert images == ([shown.model_dump(include={"media_type", "data"})] if shown else [])
    assert record.images.keys() <= record.files.keys()


def test_a_distorted_picture_comes_with_the_one_before_and_what_was_done() -> None:
    record = make_record(load_family("lore_multimodal_hard"), 7, {"operations": 20})
    distorted = [one for one in record.images.values() if one.upright]
    assert distorted
    for shown in distorted:
        assert shown.upright
        steps = combined([(str(kind), *how) for kind, *how in shown.steps])
        drawn, _ = draw(base64.b64decode(shown.upright), shown.media_type, steps)
        assert base64.b64encode(drawn).decode() == shown.data


def test_the_tools_are_those_that_the_servers_list(built: tuple[WovenRecord, Instance]) -> None:
    record, instance = built
    listed = []
    with World(instance.path / "world") as world:
        caller = WorldCaller(world)
        for service in world.services:
            with McpTools(build_server(service, lambda _: caller)) as tools:
                listed += tools.list_tools()
    assert [(tool["name"], tool["description"], tool["inputSchema"]) for tool in record.tools] == [
        (tool.name, tool.description, tool.input_schema) for tool in listed
    ]


def test_every_domain_is_found_by_the_names_of_the_tasks() -> None:
    assert find_task("lore", "documents", "standard").name == "lore_documents"
    assert find_task("lore", "documents", "hard").name == "lore_documents_hard"
    with pytest.raises(UsageError, match=r"there are .*documents \(hard\), documents \(standard\)"):
        find_task("lore", "music", "standard")


def test_the_same_words_give_the_same_bytes_whatever_the_number_of_processes(tmp_path: Path) -> None:
    words = [
        "--domain",
        "documents",
        "--hard",
        "--n",
        "1-9:4,3",
        "--seeds",
        "0-1",
        "--workers",
        "2",
        "--json",
    ]
    one = dataset(*words, "--out", "new/one.jsonl", cwd=tmp_path, PYTHONHASHSEED="1")
    assert one.returncode == 0, one.stderr
    data = (tmp_path / "new/one.jsonl").read_bytes()
    hard = load_family("lore_documents_hard")
    sizes = list(write_dataset(hard, [1, 5, 9, 3], [0, 1], {}, tmp_path / "other.jsonl", Processes(1)))
    assert data == (tmp_path / "other.jsonl").read_bytes()
    assert sum(sizes) == len(data)
    assert json.loads(one.stdout) == {
        "path": "new/one.jsonl",
        "task": "lore_documents_hard",
        "version": hard.task.version,
        "instances": 8,
        "bytes": len(data),
    }
    written = records(tmp_path / "new/one.jsonl")
    order = [(n, seed) for n in (1, 5, 9, 3) for seed in (0, 1)]
    assert [(record.N, record.seed) for record in written] == order
    assert len({record.id for record in written}) == 8
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["one.jsonl"]


def test_parameters_reach_the_instances(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.jsonl", parameters={"distractor_fields": 0, "remark_tokens": 0})
    crowded = write(tmp_path / "crowded.jsonl", parameters={"distractor_documents": 40})
    texts = [text for record in plain for text in record.files.values()]
    assert all(line.startswith("- ") for text in texts for line in text.split("\n")[1:])
    assert min(len(record.files) for record in crowded) > 40
    assert crowded[0].parameters["distractor_documents"] == 40


@pytest.mark.parametrize("text", ["0", "5-3", "1-9:0", "1-", "x", "1-999999999"])
def test_what_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="count"):
        parse_counts(text)


@pytest.mark.parametrize(
    "parameters",
    [
        {"depth": 4},
        {"operations": 4},
        {"min_children": 9},
        {"min_children": 70, "max_children": 80},
        {"operators": ["addition", "concatenation", "reversal"]},
    ],
)
def test_parameters_that_make_no_instance_are_refused(tmp_path: Path, parameters: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        write(tmp_path / "out.jsonl", parameters=parameters)
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_refuses_and_leaves_nothing(tmp_path: Path) -> None:
    done = dataset("--domain", "music", "--n", "3", "--out", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert "there are" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_exists_is_kept(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text("mine")
    with pytest.raises(UsageError, match="exists"):
        write(tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == "mine"


def test_a_writer_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    writing = write_dataset(STANDARD, [2], [0, 1, 2], {}, tmp_path / "out.jsonl", Processes(1))
    assert next(writing) > 1000
    assert [path.name for path in tmp_path.iterdir()] == [".out.jsonl.writing"]
    writing.close()  # type: ignore[attr-defined]
    assert list(tmp_path.iterdir()) == []
