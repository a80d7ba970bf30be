"""What is written for other people's tools. Verdicts of Harbor's tasks: ``test_parity.py``."""

from __future__ import annotations

import json
import tarfile
import tomllib
from pathlib import Path

import commands
import pytest
import yaml

EXPORT = ("export", "harbor", "refund_list", "--length", "8k", "--seeds", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("harbor") / "tasks"
    done = commands.mesocosm(*EXPORT, "--out", out, "--image", "registry.example/mesocosm:1", "--json")
    assert done.returncode == 0, done.stderr
    (path,) = json.loads(done.stdout)["paths"]
    return Path(path)


def test_a_harbor_task_says_what_harbor_wants_to_know(folder: Path) -> None:
    config = tomllib.loads((folder / "task.toml").read_text())
    assert folder.name == "refund-list-8k-s1"
    assert (config["schema_version"], config["task"]["name"]) == ("1.4", "mesocosm/refund-list-8k-s1")
    assert config["metadata"]["seed"] == 1
    (server,) = config["environment"]["mcp_servers"]
    assert server["transport"] == "streamable-http"
    assert "call claim_done" in (folder / "instruction.md").read_text()
    assert "FROM registry.example/mesocosm:1" in (folder / "environment/world/Dockerfile").read_text()
    compose = yaml.safe_load((folder / "environment/docker-compose.yaml").read_text())
    assert compose["services"]["main"]["depends_on"] == {"mesocosm": {"condition": "service_healthy"}}


def test_only_the_servers_container_has_the_answer_and_the_token(folder: Path) -> None:
    compose = yaml.safe_load((folder / "environment/docker-compose.yaml").read_text())
    token = compose["services"]["mesocosm"]["environment"]["MESOCOSM_ADMIN_TOKEN"]
    texts = {path for path in folder.rglob("*") if path.is_file() and path.suffix != ".tar"}
    assert {path.name for path in texts if token in path.read_text()} == {"docker-compose.yaml"}
    with tarfile.open(folder / "environment/world/state.tar") as tar:
        entries = tar.getmembers()
    assert {(entry.uid, entry.gid, entry.mtime) for entry in entries} == {(10001, 10001, 0)}
    assert any(entry.name.endswith("expected.json") for entry in entries)
    assert {entry.name.partition("/")[0] for entry in entries} == {"state", "verdict"}


def test_the_verifier_is_where_the_agent_never_was(folder: Path) -> None:
    config = tomllib.loads((folder / "task.toml").read_text())
    assert config["verifier"]["environment_mode"] == "separate"
    assert config["artifacts"] == [{"source": "/verdict", "service": "mesocosm"}]
    (collected,) = config["verifier"]["collect"]
    assert (collected["service"], collected["command"]) == ("mesocosm", "python /verdict.py")
    assert "COPY test.sh /tests/test.sh" in (folder / "tests/Dockerfile").read_text()
    for asking in ("http", "python", "token"):
        assert asking not in (folder / "tests/test.sh").read_text().lower()


def test_harbor_itself_reads_the_task(folder: Path) -> None:
    config = pytest.importorskip("harbor.models.task.config", reason="harbor needs Python 3.12")
    read = config.TaskConfig.model_validate_toml((folder / "task.toml").read_text())
    assert read.environment.mcp_servers[0].url.startswith("http://mesocosm:8321/e/")
    mode = pytest.importorskip("harbor.models.task.verifier_mode")
    paths = pytest.importorskip("harbor.models.task.paths")
    definition = mode.resolve_verifier_environment_definition(read, paths.TaskPaths(folder))
    assert (definition.directory, definition.bundled_tests) == (folder / "tests", True)


def test_what_is_there_is_not_written_over(folder: Path) -> None:
    done = commands.mesocosm(*EXPORT, "--out", folder.parent)
    assert (done.returncode, "exists already" in done.stderr) == (2, True)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_data_set_is_read_by_hugging_faces_library(tmp_path: Path, kind: str) -> None:
    datasets = pytest.importorskip("datasets", reason="the extra `datasets` is not installed")
    out = tmp_path / "set"
    wanted = ("listworld", "--length", "8k", "--seeds", "1", "--split", "validation", "--format", kind)
    done = commands.mesocosm("export", "huggingface", *wanted, "--out", out)
    assert done.returncode == 0, done.stderr
    (row,) = datasets.load_dataset(str(out), split="validation", cache_dir=str(tmp_path / "cache"))
    assert (row["id"], row["seed"], row["length"]) == ("listworld-8k-s1", 1, 8000)
    assert "done" in row["prompt"][0]["content"]
    assert "pop" in {tool["function"]["name"] for tool in json.loads(row["tools"])}
    assert row["canary"] in (out / "README.md").read_text()
    assert not {"expected", "answer", "truth"} & set(row)
    assert commands.mesocosm("export", "huggingface", *wanted, "--out", out).returncode == 2
