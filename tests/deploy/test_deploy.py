"""The container files say what they should, and their commands work without a container.

``compose_spec.json`` is the JSON schema of the Compose specification as docker-compose 1.29.2 ships it
(Apache License 2.0).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[2]
TOKEN = "token-of-the-deployment-test"


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_the_compose_file_follows_the_specification(compose: Any) -> None:
    schema = json.loads((ROOT / "tests/deploy/compose_spec.json").read_text())
    jsonschema.Draft201909Validator(schema).validate(compose)


def test_podman_compose_understands_the_file(tmp_path: Path) -> None:
    # It asks podman for its version before it does anything; no container is started by `config`.
    (tmp_path / "podman").write_text("#!/bin/sh\necho podman version 5.0.0\n")
    (tmp_path / "podman").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "LENGTH": "64k"}
    command = [sys.executable, "-m", "podman_compose", "-f", str(ROOT / "docker-compose.yml"), "config"]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=tmp_path)
    services = yaml.safe_load(shown.stdout)["services"]
    assert "64k" in services["evaluation"]["command"]
    assert services["servers"]["healthcheck"]


def container_command(compose: Any, service: str, port: int) -> list[str]:
    """What the container would run, on this machine's loopback."""
    dockerfile = (ROOT / "Dockerfile").read_text()
    [entry] = [
        json.loads(line.partition(" ")[2])
        for line in dockerfile.splitlines()
        if line.startswith("ENTRYPOINT")
    ]
    assert entry == ["mesocosm"]
    values = {"TASK": "canvas_arrange_exam", "LENGTH": "8k", "SEED": "0", "AGENT": "reference"}
    words = []
    for word in compose["services"][service]["command"]:
        name = word[2:].partition(":-")[0] if word.startswith("${") else ""
        words.append(values.get(name, word).replace("servers:8321", f"127.0.0.1:{port}"))
    words = ["127.0.0.1" if word == "0.0.0.0" else str(port) if word == "8321" else word for word in words]
    return [sys.executable, "-m", "mesocosm", *words]


@pytest.fixture
def server(compose: Any, tmp_path: Path) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    environment = {**os.environ, "MESOCOSM_STATE": str(tmp_path / "state"), "MESOCOSM_ADMIN_TOKEN": TOKEN}
    process = subprocess.Popen(container_command(compose, "servers", port), env=environment)
    try:
        yield port
    finally:
        process.terminate()
        process.wait(10)


def healthy(compose: Any, port: int) -> bool:
    """The health check of the compose file, as the container would run it."""
    test = compose["services"]["servers"]["healthcheck"]["test"]
    assert test[:3] == ["CMD", "python", "-c"]
    code = test[3].replace("127.0.0.1:8321", f"127.0.0.1:{port}")
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_the_evaluation_runs_against_the_servers(compose: Any, server: int, tmp_path: Path) -> None:
    deadline = time.monotonic() + 30
    while not healthy(compose, server):
        assert time.monotonic() < deadline, "the server did not become healthy"
        time.sleep(0.2)
    command = [*container_command(compose, "evaluation", server), "--json"]
    environment = {**os.environ, "MESOCOSM_ADMIN_TOKEN": TOKEN}
    ran = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert (result["verdict"], result["reward"]) == ("passed", 1.0)
    assert result["tool_calls"] > 5
    [run] = (tmp_path / "runs").iterdir()
    assert {"run.json", "verdict.json", "prompt.md", "trajectory.jsonl"} <= {
        path.name for path in run.iterdir()
    }


def test_the_server_refuses_to_listen_elsewhere_without_a_token(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mesocosm", "serve", "--host", "0.0.0.0", "--state", str(tmp_path)]
    environment = {key: value for key, value in os.environ.items() if key != "MESOCOSM_ADMIN_TOKEN"}
    refused = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=30
    )
    assert refused.returncode == 2
    assert "admin token" in refused.stderr
