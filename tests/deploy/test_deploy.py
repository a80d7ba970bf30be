"""The container files say what they should, and their commands work without a container.

``compose_spec.json`` is the JSON schema of the Compose specification as docker-compose 1.29.2 ships it
(Apache License 2.0).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from commands import mesocosm, stand_in
from patience import PATIENCE

from mesocosm.doors.mcp import McpTools
from mesocosm.families.episode import Episode
from mesocosm.hosting.client import connect_sync

ROOT = Path(__file__).parents[2]
TOKEN = "token-of-the-deployment-test"


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_the_compose_files_follow_the_specification(compose: Any) -> None:
    schema = json.loads((ROOT / "tests/deploy/compose_spec.json").read_text())
    scaled = yaml.safe_load((ROOT / "docker-compose.hosts.yml").read_text())
    for file in (compose, scaled):
        jsonschema.Draft201909Validator(schema).validate(file)
    alone, door = compose["services"]["servers"], scaled["services"]["servers"]
    assert door["command"] == [*alone["command"], "--hosts", "0"]
    assert scaled["services"]["hosts"]["environment"] == alone["environment"]
    assert scaled["services"]["hosts"]["volumes"] == alone["volumes"]


def test_podman_compose_understands_the_file(tmp_path: Path) -> None:
    # It asks podman for its version before it does anything; no container is started by `config`.
    (tmp_path / "podman").write_text("#!/bin/sh\necho podman version 5.0.0\n")
    (tmp_path / "podman").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "LENGTH": "64k"}
    environment |= {"MESOCOSM_ADMIN_TOKEN": "a", "MESOCOSM_CODE_RUNNER_TOKEN": "b"}
    files = [word for name in ("", ".hosts") for word in ("-f", str(ROOT / f"docker-compose{name}.yml"))]
    command = [sys.executable, "-m", "podman_compose", *files, "config"]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=tmp_path)
    services = yaml.safe_load(shown.stdout)["services"]
    assert "64k" in services["evaluation"]["command"]
    assert services["servers"]["healthcheck"]
    assert services["servers"]["command"][-2:] == ["--hosts", "0"]
    assert "http://servers:8321" in services["hosts"]["command"]
    assert services["code-runner"]["build"]["target"] == "code-runner"
    # No token is accepted that everybody could know: without one of their own nothing starts.
    for name in ("MESOCOSM_ADMIN_TOKEN", "MESOCOSM_CODE_RUNNER_TOKEN"):
        without = {key: value for key, value in environment.items() if key != name}
        said = subprocess.run(command, env=without, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert said.returncode != 0
        assert "is made as the top of docker-compose.yml says" in said.stdout + said.stderr


def container_command(compose: Any, service: str, port: int) -> list[str]:
    """What the container would have ``mesocosm`` do, on this machine's loopback."""
    dockerfile = (ROOT / "Dockerfile").read_text()
    entries = {line for line in dockerfile.splitlines() if line.startswith("ENTRYPOINT")}
    assert entries == {'ENTRYPOINT ["mesocosm"]'}
    values = {"TASK": "canvas_arrange_exam", "LENGTH": "8k", "SEEDS": "0", "AGENT": "auto"}
    words = []
    for word in compose["services"][service]["command"]:
        word = re.sub(r"\$\{(\w+):-(.*?)\}", lambda found: values.get(found[1], found[2]), word)
        words.append(word.replace("servers:8321", f"127.0.0.1:{port}"))
    words = ["127.0.0.1" if word == "0.0.0.0" else str(port) if word == "8321" else word for word in words]
    # Tests run side by side: for mail any port will do.
    words = ["0" if word in ("1143", "1025") else word for word in words]
    return [word.replace("0.0.0.0:8322", f"127.0.0.1:{port}") for word in words]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def running(compose: Any, service: str, port: int, environment: Mapping[str, str]) -> Iterator[None]:
    """A service of the compose file as a process, once its health check passes."""
    # The code runner's image is another than what a fork has loaded.
    program = [sys.executable, "-m", "mesocosm"] if service == "code-runner" else stand_in()
    command = [*program, *container_command(compose, service, port)]
    process = subprocess.Popen(command, env={**os.environ, **environment})
    try:
        deadline = time.monotonic() + PATIENCE
        while not healthy(compose, service, port):
            assert time.monotonic() < deadline, f"{service} did not become healthy"
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture(scope="module")
def code_runner(compose: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The code runner from what its image holds: no task, and nothing from which an answer could be made."""
    dockerfile = (ROOT / "Dockerfile").read_text()
    removed = dockerfile.split("&& cd mesocosm")[1].splitlines()[1].split()[3:]
    assert {"checkers", "generators", "solvers", "tasks"} <= set(removed)
    ignored = shutil.ignore_patterns(*removed, "__pycache__")
    image = tmp_path_factory.mktemp("image")
    shutil.copytree(ROOT / "mesocosm", image / "mesocosm", ignore=ignored)
    port = free_port()
    environment = compose["services"]["code-runner"]["environment"] | {
        "MESOCOSM_CODE_RUNNER_TOKEN": TOKEN, "PYTHONPATH": str(image), "PYTHONSAFEPATH": "1"
    }  # fmt: skip
    with running(compose, "code-runner", port, environment):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def server(compose: Any, tmp_path_factory: pytest.TempPathFactory, code_runner: str) -> Iterator[int]:
    port = free_port()
    environment = compose["services"]["servers"]["environment"] | {
        "MESOCOSM_STATE": str(tmp_path_factory.mktemp("state")), "MESOCOSM_ADMIN_TOKEN": TOKEN,
        "MESOCOSM_CODE_RUNNER": code_runner, "MESOCOSM_CODE_RUNNER_TOKEN": TOKEN,
    }  # fmt: skip
    with running(compose, "servers", port, environment):
        yield port


def healthy(compose: Any, service: str, port: int) -> bool:
    """The health check of the compose file, as the container would run it."""
    test = compose["services"][service]["healthcheck"]["test"]
    assert test[:3] == ["CMD", "python", "-c"]
    code = re.sub("127.0.0.1(:|', )832[12]", rf"127.0.0.1\g<1>{port}", test[3])
    assert code != test[3]
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_code_of_agents_runs_in_the_code_runner(server: int, code_runner: str) -> None:
    episode = connect_sync(f"http://127.0.0.1:{server}", token=TOKEN).create("set_conf_cr_ddl", length=8000)
    with McpTools(episode.url) as tools:
        offered = {tool.name for tool in tools.list_tools()}
        assert "python_execute" in offered
        code = "import os; open('made.txt', 'w').write('in the runner'); print(sorted(os.listdir('/')))"
        text = tools.call("python_execute", "python_execute", code=code)
        assert "'workspace'" in text
        assert "Return code: 0" in text
        code = "print(open('/workspace/made.txt').read())"
        assert "in the runner" in tools.call("python_execute", "python_execute", code=code)


def test_the_code_runner_has_nothing_to_tell_and_nobody_to_tell_it(compose: Any) -> None:
    service = compose["services"]["code-runner"]
    assert "volumes" not in service
    assert "ports" not in service
    assert set(service["environment"]) == {"MESOCOSM_CODE_RUNNER_TOKEN"}
    assert service["networks"] == ["code"]
    assert compose["networks"]["code"] == {"internal": True}
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert not {"SYS_ADMIN", "SYS_PTRACE", "NET_ADMIN", "NET_RAW"} & set(service["cap_add"])
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["pids_limit"]
    assert service["mem_limit"]


def test_the_evaluation_runs_against_the_servers(compose: Any, server: int, tmp_path: Path) -> None:
    command = (*container_command(compose, "evaluation", server), "--json")
    ran = mesocosm(*command, cwd=tmp_path, MESOCOSM_ADMIN_TOKEN=TOKEN)
    assert ran.returncode == 0, ran.stderr
    [result] = json.loads(ran.stdout)
    assert (result["model"], result["passed"], result["judged"]) == ("reference", 1, 1)
    assert len(list(tmp_path.glob("runs/first/*.eval"))) == 1
    # What became of the world was fetched from the server, and is judged without it.
    [kept] = tmp_path.glob("runs/first/worlds/*/*/episode")
    episode = Episode(kept)
    assert episode.grade().verdict == "passed"
    episode.close()


def answers(url: str, *, seconds: float) -> bool:
    """Whether something answers there, before so many seconds have passed."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.5)
        else:
            return True
    return False


def test_the_viewer_shows_the_logs(compose: Any, tmp_path: Path) -> None:
    service = compose["services"]["viewer"]
    assert service["entrypoint"] == ["inspect"]
    assert service["volumes"] == compose["services"]["evaluation"]["volumes"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "runs").mkdir()
    words = [{"0.0.0.0": "127.0.0.1", "7575": str(port)}.get(word, word) for word in service["command"]]
    command = [str(Path(sys.executable).with_name("inspect")), *words]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as viewer:
        try:
            assert answers(f"http://127.0.0.1:{port}/api/logs", seconds=180)
        finally:
            viewer.terminate()


def test_the_server_refuses_to_listen_elsewhere_without_a_token(tmp_path: Path) -> None:
    command = [*stand_in(), "serve", "--host", "0.0.0.0", "--state", str(tmp_path)]
    environment = {key: value for key, value in os.environ.items() if key != "MESOCOSM_ADMIN_TOKEN"}
    refused = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert refused.returncode == 2
    assert "admin token" in refused.stderr
