"""A tool call as it stands on the wire, for programs that make many and need no SDK."""

from __future__ import annotations

from typing import Any


def tool_call(tool: str, arguments: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Headers and body of a call in the 2026 revision, which has no session."""
    headers, body = _request("tools/call", {"name": tool, "arguments": arguments})
    return {**headers, "Mcp-Name": tool}, body


def listing() -> tuple[dict[str, str], dict[str, Any]]:
    """Headers and body of the request for a list of the tools."""
    return _request("tools/list", {})


def _request(method: str, params: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
    }
    return headers, {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
