"""The first answer over stdio, given before the server is loaded: ``mesocosm serve --stdio``.

To load the SDK, the tables and a service takes a second or more, and some clients wait one second for an
answer to their first message. What that asks is what the server is, which its source says: so it is answered
at once, and the server, when it is there, hears the message too, and its own answer is dropped.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions that begin with ``initialize``; the newest is offered to clients that ask for another one."""
MODERN = ("2026-07-28",)
"""Revisions that begin with ``server/discover``."""
_FORMS = ("tools.py", "tools/service.py", "tools/server.py", "tools/__init__.py")
_META = "io.modelcontextprotocol/"


@dataclass(frozen=True)
class Greeting:
    """A message that was read before the server was there."""

    line: bytes
    answered: Any
    """Its id, if it was answered."""


greeting: Greeting | None = None
"""That of this process."""


def greet(words: Sequence[str]) -> None:
    """Read the first message of a client, and answer it if it asks what is served.

    Args:
        words: The command line behind ``serve``; where it is not understood here, nothing is read.
    """
    global greeting
    asked = _asked(words)
    if asked is None:
        return
    service, services = asked
    about = _about(service, services)
    if about is None:
        return
    line = _line()
    answer = _answer(line, about)
    if answer is not None:
        os.write(1, json.dumps(answer, separators=(",", ":")).encode() + b"\n")
    greeting = Greeting(line, None if answer is None else answer["id"])


def _asked(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """The service that is served, and those of the world; ``None`` where something else is said."""
    options = dict(zip(words[::2], words[1::2], strict=False))
    if len(words) % 2 or options.keys() - {"--stdio", "--world"} or len(options) * 2 != len(words):
        return None
    folder = Path(options.get("--world", ""))
    try:
        there = folder / "world" if (folder / "world").is_dir() else folder
        services = list(json.loads((there / "world.json").read_bytes())["services"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    service = options.get("--stdio", "")
    return (service, services) if service in (*services, "all") else None


def _about(service: str, services: list[str]) -> dict[str, Any] | None:
    """Return the server's introduction, read from source; ``None`` if the source does not have it as a
    literal.
    """
    import mesocosm

    served = services if service == "all" else [service]
    told = {name: instructions(name) for name in served}
    if None in told.values():
        return None
    text = str(told[service]) if service != "all" else _together(told)
    capabilities: dict[str, Any] = {"tools": {"listChanged": False}}
    if any(_folder(name, "resources.py") for name in served):
        capabilities["resources"] = {"listChanged": False, "subscribe": False}
    name = "mesocosm" if service == "all" else service
    about: dict[str, Any] = {
        "capabilities": capabilities,
        "serverInfo": {"name": name, "version": mesocosm.__version__},
    }
    return about | ({"instructions": text} if text else {})


def _together(told: dict[str, str | None]) -> str:
    lines = [
        "Tools of several services. What holds for each:",
        *(f"{name}: {text}" for name, text in told.items()),
    ]
    return "\n\n".join(lines)


def instructions(service: str) -> str | None:
    """The instructions of a service, as its source says them."""
    for form in _FORMS:
        if (path := _folder(service, form)) is None:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Call)
                and ast.unparse(node.targets[0]) == "server"
            ):
                return _said(node.value)
    return None


def _said(call: ast.Call) -> str | None:
    values = [keyword.value for keyword in call.keywords if keyword.arg == "instructions"] or call.args[2:3]
    if not values:
        return ""
    return (
        values[0].value if isinstance(values[0], ast.Constant) and isinstance(values[0].value, str) else None
    )


def _folder(service: str, name: str) -> Path | None:
    from mesocosm.services.content import roots

    found = [root.path / "servers" / service / name for root in roots()]
    return next((path for path in found if path.is_file()), None)


def _line() -> bytes:
    """One line, and no byte more: the rest is the server's to read."""
    read = bytearray()
    while not read.endswith(b"\n") and (byte := os.read(0, 1)):
        read += byte
    return bytes(read)


def _answer(line: bytes, about: dict[str, Any]) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
        method, params, identity = message["method"], message.get("params") or {}, message["id"]
        told = {"jsonrpc": "2.0", "id": identity}
        if method == "initialize":
            wanted = params["protocolVersion"]
            version = wanted if wanted in HANDSHAKES else HANDSHAKES[-1]
            return told | {"result": {"protocolVersion": version, **about}} if _is_whole(params) else None
        meta = params["_meta"]
        if (
            method == "server/discover"
            and meta[f"{_META}protocolVersion"] in MODERN
            and f"{_META}clientCapabilities" in meta
        ):
            server = about["serverInfo"]
            result = {
                "cacheScope": "private",
                "resultType": "complete",
                "supportedVersions": list(MODERN),
                "ttlMs": 0,
                "_meta": {f"{_META}serverInfo": server},
            }
            return told | {"result": result | {name: about[name] for name in about if name != "serverInfo"}}
    except (ValueError, KeyError, TypeError, AttributeError):
        pass  # for the server to refuse
    return None


def _is_whole(params: dict[str, Any]) -> bool:
    client = params["clientInfo"]
    names = isinstance(client.get("name"), str) and isinstance(client.get("version"), str)
    return names and isinstance(params["capabilities"], dict) and isinstance(params["protocolVersion"], str)
