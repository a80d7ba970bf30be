"""The MCP configuration of an episode in each client's own dialect."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mesocosm.errors import UsageError

Servers = Mapping[str, str]
"""Name of a server to the URL of its endpoint."""


def _json(data: Any) -> str:
    return json.dumps(data, indent=2)


def _mcp_servers(entry: Callable[[str], dict[str, Any]]) -> Callable[[Servers], str]:
    return lambda servers: _json({"mcpServers": {name: entry(url) for name, url in servers.items()}})


def _codex(servers: Servers) -> str:
    return "\n\n".join(f"[mcp_servers.{name}]\nurl = {json.dumps(url)}" for name, url in servers.items())


def _opencode(servers: Servers) -> str:
    entries = {name: {"type": "remote", "url": url, "oauth": False} for name, url in servers.items()}
    return _json({"mcp": entries})


def _goose(servers: Servers) -> str:
    blocks = [
        f"  {name}:\n    type: streamable_http\n    name: {name}\n"
        f"    description: {json.dumps(f'Tools of {name}')}\n"
        f"    uri: {json.dumps(url)}\n    enabled: true"
        for name, url in servers.items()
    ]
    return "extensions:\n" + "\n".join(blocks)


def _harbor(servers: Servers) -> str:
    return "\n\n".join(
        "[[environment.mcp_servers]]\n"
        f'name = "{name}"\ntransport = "streamable-http"\nurl = {json.dumps(url)}'
        for name, url in servers.items()
    )


def _openai_agents(servers: Servers) -> str:
    entries = "\n".join(
        f"    MCPServerStreamableHttp(\n        name={name!r}, params={{'url': {url!r}}},"
        " client_session_timeout_seconds=60\n    ),"
        for name, url in servers.items()
    )
    return f"from agents.mcp import MCPServerStreamableHttp\n\nmcp_servers = [\n{entries}\n]"


def _inspect(servers: Servers) -> str:
    entries = "\n".join(f"    mcp_server_http(name={name!r}, url={url!r})," for name, url in servers.items())
    return f"from inspect_ai.tool import mcp_server_http\n\nservers = [\n{entries}\n]"


def _claude_code_commands(servers: Servers) -> str:
    return "\n".join(f"claude mcp add --transport http {name} {url}" for name, url in servers.items())


def _program() -> str:
    """Return the absolute path of the command: clients start it without a shell."""
    beside = Path(sys.executable).with_name("mesocosm")
    return str(beside) if beside.is_file() else shutil.which("mesocosm") or "mesocosm"


def _stdio(servers: Servers) -> str:
    return _mcp_servers(lambda url: {"command": _program(), "args": ["bridge", url]})(servers)


DIALECTS: dict[str, Callable[[Servers], str]] = {
    "claude-code": _mcp_servers(lambda url: {"type": "http", "url": url}),
    "claude-code-commands": _claude_code_commands,
    "claude-desktop": _stdio,
    "codex": _codex,
    "copilot": _mcp_servers(lambda url: {"type": "http", "url": url, "tools": ["*"]}),
    "cursor": _mcp_servers(lambda url: {"url": url}),
    "gemini": _mcp_servers(lambda url: {"httpUrl": url}),
    "goose": _goose,
    "harbor": _harbor,
    "inspect": _inspect,
    "openai-agents": _openai_agents,
    "opencode": _opencode,
    "qwen": _mcp_servers(lambda url: {"httpUrl": url}),
    "stdio": _stdio,
}
"""Client to the function that writes its configuration."""


def client_config(client: str, servers: Servers) -> str:
    """The configuration of these servers for a client; ``UsageError`` for a client we do not know."""
    if client not in DIALECTS:
        raise UsageError(f"unknown client {client!r}; known: {', '.join(DIALECTS)}")
    return DIALECTS[client](servers)
