"""The packages for other people's hubs (``integrations/``), tried with the programs that they are for.

These have Pythons of their own, which environment variables name: ``MESOCOSM_TEST_VERIFIERS``,
``MESOCOSM_TEST_OPENENV``, ``MESOCOSM_TEST_HARBOR``.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import textwrap
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import yaml
from patience import PATIENCE

from mesocosm.hosting.application import Hosting

ROOT = Path(__file__).parents[2]
INTEGRATIONS = ROOT / "integrations"
TOKEN = "token-of-the-test"


def other_python(package: str) -> Path:
    """The Python that has it."""
    variable = f"MESOCOSM_TEST_{package.upper()}"
    if not (python := os.environ.get(variable)):
        pytest.skip(f"{variable} names no Python that has {package}")
    return Path(python)


def ran(command: list[Any], cwd: Path, paths: tuple[Path, ...] = (), **given: str) -> str:
    """What a program prints."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *paths))), **given}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def model(hosting: Hosting) -> Iterator[str]:
    """The address of the scripted models, as of ``mesocosm model-server --worlds``."""
    from mesocosm.agents.scripted.http_server import application
    from mesocosm.agents.scripted.known_truth import known

    known.look_into([hosting.pool.root])

    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(application(), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    server.should_exit = True
    thread.join(PATIENCE)


def test_the_packages_say_what_they_need() -> None:
    for name in ("verifiers", "openenv"):
        project = tomllib.loads((INTEGRATIONS / name / "pyproject.toml").read_text())["project"]
        assert any(one.startswith(name) for one in project["dependencies"])
        assert (INTEGRATIONS / name / project["readme"]).is_file()
    manifest = yaml.safe_load((INTEGRATIONS / "openenv" / "openenv.yaml").read_text())
    module, _, name = manifest["app"].partition(":")
    source = (INTEGRATIONS / "openenv" / module.replace(".", "/")).with_suffix(".py").read_text()
    assert f"\n{name} = " in source


def test_the_guides_snippet_of_verifiers_runs(base: str, model: str, tmp_path: Path) -> None:
    python = other_python("verifiers")
    guide = (ROOT / "docs" / "guides" / "train-agents.md").read_text()
    (snippet,) = re.findall(r"```py\n(import asyncio\n\nimport verifiers.*?)```", guide, re.S)
    (tmp_path / "snippet.py").write_text(snippet.replace("http://127.0.0.1:8333/v1", model))
    said = ran([python, "snippet.py"], tmp_path, MESOCOSM_URL=base, MESOCOSM_ADMIN_TOKEN=TOKEN)
    assert re.search(r"^True \d\.\d$", said, re.M), said


def test_the_package_for_verifiers_is_evaluated(base: str, model: str, tmp_path: Path) -> None:
    python = other_python("verifiers")
    options = {
        "env.taskset.family": "refund_list",
        "env.taskset.length": "8k",
        "env.taskset.seeds": "[1]",
        "env.taskset.shaping": "0.1",
        "env.agent.harness.id": "null",
        "env.agent.runtime.type": "subprocess",
        "client.base-url": model,
        "model": "solver",
    }
    given = [part for name, value in options.items() for part in (f"--{name}", value)]
    command = [python.with_name("vf-eval"), "mesocosm-episodes", *given, "-n", "1", "--no-push", "--no-rich"]
    where = {"MESOCOSM_URL": base, "MESOCOSM_ADMIN_TOKEN": TOKEN}
    ran(command, tmp_path, (INTEGRATIONS / "verifiers",), **where)
    (traces,) = tmp_path.rglob("traces.jsonl")
    (trace,) = map(json.loads, traces.read_text().splitlines())
    assert '"passed"' in json.dumps(trace)


def test_openenv_takes_the_folder(base: str, tmp_path: Path) -> None:
    python = other_python("openenv")
    folder = INTEGRATIONS / "openenv"
    command = [python.with_name("openenv"), "validate", folder, "--level", "static", "--json"]
    assert json.loads(ran(command, tmp_path))["verdict"].lower() == "pass"
    asked = textwrap.dedent("""
        import socket, threading, uvicorn
        from openenv.core.generic_client import GenericEnvClient
        from server.app import app
        listener = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        with GenericEnvClient(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}").sync() as client:
            client.reset(seed=1)
            calls = [("woo_orders_list", {"perPage": 100}), ("claim_done", {})]
            for tool, arguments in calls:
                result = client.step({"type": "call_tool", "tool_name": tool, "arguments": arguments})
                print(result.done, result.reward)
        server.should_exit = True
        thread.join(30)
    """)
    where = {"MESOCOSM_URL": base, "MESOCOSM_ADMIN_TOKEN": TOKEN, "MESOCOSM_TASK": "refund_list"}
    said = ran([python, "-c", asked], tmp_path, (folder,), MESOCOSM_SHAPING="0.5", **where).splitlines()
    assert re.fullmatch(r"False 0\.\d+", said[0])
    assert said[1].startswith("True 0.")


COMPOSE = """#!{python}
import json, os, pathlib, sys, yaml
path = pathlib.Path(sys.argv[sys.argv.index("-f") + 1])
print(json.dumps(yaml.safe_load(os.path.expandvars(path.read_text()))))
"""
"""Reads a file of Compose as ``docker compose config`` does, where that plugin is not installed: the exported
files have no short forms that it would write out."""


def test_harbor_has_nothing_to_say_against_the_export(tmp_path: Path) -> None:
    python = other_python("harbor")
    wanted = (
        "export",
        "harbor",
        "refund_list",
        "--length",
        "8k",
        "--seeds",
        "1",
        "--out",
        tmp_path / "tasks",
    )
    ran([sys.executable, "-m", "mesocosm", *wanted], tmp_path)
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(COMPOSE.format(python=sys.executable))
    docker.chmod(0o755)
    there = subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0
    path = os.environ["PATH"] if there else f"{docker.parent}{os.pathsep}{os.environ['PATH']}"
    linted = [python.with_name("harbor"), "lint", "--json", tmp_path / "tasks" / "refund-list-8k-s1"]
    assert json.loads(ran(linted, tmp_path, PATH=path)) == []
