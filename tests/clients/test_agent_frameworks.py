"""Google's own converter of MCP tools, on every tool of every server."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mesocosm.services.service import Tool, load_service, service_names


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
