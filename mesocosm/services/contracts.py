"""Contract checks that every service has to pass, usable for your own services."""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mesocosm.services.service import Service, load_service
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

_TEXTS = (
    *("", " ", "1", "-1", "abc", "INBOX", "a@b.org", "2025-01-15", "2025-01-15T10:00:00Z", "../x", "/etc"),
    *("\x00", "\ud800", "%", "_", '"', "'; --", "9" * 30, "\u0130", "x" * 5000, "/workspace/a.xlsx"),
)
_INTEGERS = (*range(-3, 13), 2**31, 2**63, -(2**63), 10**30)
_SIMPLE: dict[str, tuple[Any, ...]] = {
    "string": _TEXTS,
    "integer": _INTEGERS,
    "number": (*_INTEGERS, 1.0, 1.5, -0.0, 1e300),
    "boolean": (False, True),
    "null": (None,),
}


def complaints(name: str, *, calls: int = 200, seed: int = 0) -> Iterator[str]:
    """Everything that a service should promise and does not; ``calls`` are made up on an empty world."""
    service = load_service(name)
    yield from undescribed(service)
    with tempfile.TemporaryDirectory(prefix="mesocosm-check-") as folder:
        yield from traces(service, Path(folder) / "refused")
        if not service.runs_code:
            yield from faults(service, Path(folder) / "made-up", calls, random.Random(seed))


def undescribed(service: Service[Any]) -> Iterator[str]:
    """List what has no description: the service, a tool or an argument."""
    if not service.instructions:
        yield f"{service.name}: the service has no instructions"
    for tool in service.tools.values():
        if not re.match(r"[A-Z].{14,}\.", tool.description, re.DOTALL):
            yield f"{service.name}.{tool.name}: its docstring should say in a sentence what it does"
        for parameter, schema in tool.signature.schema["properties"].items():
            if len(schema.get("description", "")) < 4:
                yield f"{service.name}.{tool.name}: {parameter} is not described in Args"


def traces(service: Service[Any], path: Path) -> Iterator[str]:
    """Tools that take arguments which they should refuse, or leave a trace of a call they refused."""
    with _world(service, path) as world:
        before = state(world)
        for tool in service.tools.values():
            wrong: list[dict[str, Any]] = [{"no such argument": 1}]
            wrong += [{name: {"not": ["right"]}} for name in tool.signature.schema["required"]]
            for arguments in wrong:
                outcome = world.call(service.name, tool.name, arguments)
                if outcome.status != "refused" and not arguments.keys() & {"data", "value"}:
                    yield f"{service.name}.{tool.name}: {arguments} was not refused but {outcome.status}"
        if state(world) != before:
            yield f"{service.name}: a refused call left a trace"


def faults(service: Service[Any], path: Path, calls: int, rng: random.Random) -> Iterator[str]:
    """Calls that the schemas admit and that end as a fault of ours."""
    tools = sorted(service.tools)
    with _world(service, path) as world:
        for _ in range(calls):
            tool = rng.choice(tools)
            arguments = made_up(service.tools[tool].signature.schema, rng)
            if world.call(service.name, tool, arguments).status == "fault":
                error = (world.journal.with_status("fault")[-1].error or "").strip()
                yield f"{service.name}.{tool}: {arguments!r:.500} is a fault:\n{error}"
                return


def made_up(schema: Mapping[str, Any], rng: random.Random) -> Any:
    """A value that a schema admits, nasty ones among them."""
    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("enum")
    if options:
        chosen = rng.choice(options)
        return chosen if "enum" in schema else made_up(chosen, rng)
    kind = schema.get("type") or rng.choice(("string", "integer", "boolean", "null"))
    if isinstance(kind, list):
        kind = rng.choice(kind)
    if kind == "array":
        length = rng.randint(schema.get("minItems", 0), max(3, schema.get("minItems", 0)))
        return [made_up(schema.get("items", {}), rng) for _ in range(length)]
    if kind == "object":
        required = schema.get("required", ())
        properties = schema.get("properties", {}).items()
        return {name: made_up(one, rng) for name, one in properties if name in required or rng.random() < 0.5}
    return rng.choice(_SIMPLE[kind])


def state(world: World) -> dict[str, bytes]:
    """Everything that a call may change: all files but the journal."""
    files = (path for path in world.path.rglob("*") if path.is_file())
    return {path.name: path.read_bytes() for path in files if "journal" not in path.name}


def _world(service: Service[Any], path: Path) -> World:
    world = World.create(path, Manifest(services={service.name: None}))
    world.finish_building()
    return world
