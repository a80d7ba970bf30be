"""Agent frameworks, unmodified: each converts every tool of every server, and solves a task with a scripted
model. MESOCOSM_CLIENTS names the folder of their environments (``tests/clients/environments.sh`` makes it).
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dialects import openai
from rest.hosted import HostedWorld

from mesocosm.agents.scripted.serving import model_server
from mesocosm.hosting.client import connect_sync
from mesocosm.services.service import Tool, load_service, load_services, service_names

ENVIRONMENTS = Path(os.environ.get("MESOCOSM_CLIENTS") or "none")
SCRIPTS = Path(__file__).parent / "elsewhere" / "frameworks"
LEFT_OUT = {"programmatic_tool_calling"}


def _converted(tool: Tool) -> Any:
    helpers = pytest.importorskip("google.genai._mcp_utils")
    listing = tool.listing
    shown = SimpleNamespace(
        name=listing["name"], description=listing["description"], inputSchema=listing["inputSchema"]
    )
    return helpers.mcp_to_gemini_tool(shown).function_declarations[0].parameters


@pytest.mark.parametrize("service", service_names())
def test_google_genai_converts_every_tool(service: str) -> None:
    for tool in load_service(service).tools.values():
        schema = tool.listing["inputSchema"]
        found = _converted(tool)
        assert set(found.properties or {}) == set(schema["properties"]), tool.name
        assert set(found.required or ()) == set(schema["required"]), tool.name


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with model_server() as base:
        yield f"{base}/v1"


@pytest.fixture(scope="module")
def every(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    """A world with all servers."""
    return episode_of([*service_names()], lambda world: None)


def _python(script: str) -> str:
    python = ENVIRONMENTS / script / "bin" / "python"
    if not python.is_file():
        pytest.skip(f"MESOCOSM_CLIENTS has no environment {script}")
    return str(python)


@pytest.mark.parametrize("script", sorted(path.stem for path in SCRIPTS.glob("*.py")))
def test_a_framework_reads_every_tool_and_solves_a_task(
    server: Any, model: str, every: HostedWorld, script: str
) -> None:
    python = _python(script)
    with connect_sync(server[1], token="admin-token-of-the-tests") as plane:
        episode = plane.create("bug_triage", length="8k")
        url = f"{server[1]}/e/{episode.id}/mcp"
        told = {"url": url, "every": f"{every.base}/e/{every.id}/mcp", "model": model}
        done = subprocess.run(
            [
                python,
                "-W",
                "ignore",
                str(SCRIPTS / f"{script}.py"),
                json.dumps({**told, "prompt": episode.prompt}),
            ],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        said = json.loads(done.stdout.splitlines()[-1])
        assert episode.grade().outcome == "passed", said["said"]
    for service in load_services().values():
        for tool in service.tools.values():
            schema = said["schemas"][f"{service.name}_{tool.name}"]
            openai(tool.name, tool.description, schema)
            assert set(schema.get("properties", {})) == set(tool.listing["inputSchema"]["properties"]), (
                tool.name
            )
