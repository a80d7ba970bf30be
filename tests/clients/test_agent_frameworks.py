"""Agent frameworks, unmodified: each converts every tool of every server, and solves a task with a scripted
model. MESOCOSM_CLIENTS names the folder of their environments (``tests/clients/environments.sh`` makes it).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dialects import openai
from rest.hosted import HostedWorld

from mesocosm.agents.scripted.http_server import model_server
from mesocosm.hosting.client import connect_sync
from mesocosm.services.service import Tool, load_service, load_services, service_names

ENVIRONMENTS = Path(os.environ.get("MESOCOSM_CLIENTS") or "none")
SCRIPTS = Path(__file__).parent / "elsewhere" / "frameworks"
MODULES = Path(
    os.environ.get("MESOCOSM_NODE_MODULES")
    or Path(__file__).parents[1] / "rest" / "javascript" / "node_modules"
)
OTHERWISE = {
    # A function with a parameter for each: one is called `class`.
    "camel_agent": {"woo_tax_rates_create"},
    "mcp_use_agent": {"woo_tax_rates_create"},
    # Lists that may be null lose what their items are.
    "smolagents_tools": {"create_pivot_table", "view"},
}
"""Tools that a framework leaves out, or shows otherwise than the server says."""


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


@pytest.fixture(scope="module")
def expected() -> dict[str, set[str]]:
    """The parameters of every tool that is shown, by its name where all servers are one."""
    listed = [(service.name, tool) for service in load_services().values() for tool in service.tools.values()]
    times = Counter(tool.name for _, tool in listed)
    return {
        tool.name if times[tool.name] == 1 else f"{service}_{tool.name}": set(
            tool.listing["inputSchema"]["properties"]
        )
        for service, tool in listed
    }


def _command(script: Path, folder: Path) -> list[str]:
    if script.suffix == ".mjs":
        if not (shutil.which("node") and (MODULES / "ai").is_dir()):
            pytest.skip("needs Node and npm install --prefix tests/rest/javascript")
        (folder / "node_modules").symlink_to(MODULES)
        return ["node", shutil.copy(script, folder)]
    python = ENVIRONMENTS / script.stem / "bin" / "python"
    if not python.is_file():
        pytest.skip(f"MESOCOSM_CLIENTS has no environment {script.stem}")
    return [str(python), "-W", "ignore", str(script)]


CALLS = [
    ("list_directory", {"path": "."}),
    ("get_workbook_metadata", {"filepath": "Market_Data.xlsx"}),
    ("read_data_from_excel", {"filepath": "Market_Data.xlsx", "sheet_name": "RawData"}),
    ("create_workbook", {"filepath": "made.xlsx"}),
    (
        "write_data_to_excel",
        {"filepath": "made.xlsx", "sheet_name": "Sheet1", "data": [["a", 1], [None, 2.5]]},
    ),
]
"""For frameworks whose agents the scripted model cannot lead."""


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.*")), ids=lambda script: script.stem)
def test_a_framework_reads_every_tool_and_solves_a_task(
    server: Any, model: str, every: HostedWorld, expected: dict[str, set[str]], script: Path, tmp_path: Path
) -> None:
    command = _command(script, tmp_path)
    with connect_sync(server[1], token="admin-token-of-the-tests") as plane:
        episode = plane.create("excel_market_research", length="8k")
        told = {
            "url": f"{server[1]}/e/{episode.id}/mcp",
            "every": f"{every.base}/e/{every.id}/mcp",
            "model": model,
            "prompt": episode.prompt,
            "calls": CALLS,
        }
        done = subprocess.run(
            [*command, json.dumps(told)], capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        said = json.loads(done.stdout.splitlines()[-1])
        if script.stem == "smolagents_tools":
            assert [entry["status"] for entry in episode.journal()] == ["ok"] * len(CALLS)
        else:
            assert episode.grade().verdict == "passed", said["said"]
    shown = {_own_name(name, expected): schema for name, schema in said["schemas"].items()}
    otherwise = OTHERWISE.get(script.stem, set())
    assert shown.keys() | otherwise == expected.keys()
    for name, schema in shown.items():
        if name not in otherwise:
            assert set(schema.get("properties", {})) == expected[name], name
            openai(name, "", schema)


def _own_name(name: str, expected: Collection[str]) -> str:
    """A tool's name without what a framework puts before it."""
    return name if name in expected else name.partition("-")[2]
