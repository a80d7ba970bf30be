"""Running a program of the agent that calls the episode's other tools."""

from __future__ import annotations

import json
import keyword
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mesocosm.sandbox import levels, runtime
from mesocosm.sandbox.jobs import CODE, Job, JobEnded, JobLimits
from mesocosm.sandbox.scripts import checked_code, checked_filename, checked_limits
from mesocosm.servers.programmatic_tool_calling.store.calls import Calls
from mesocosm.services.service import Service, Store, Tool, combined_names, load_service

# The source of a Python function for a tool, typed from its schema.

_TYPES = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict[str, Any]",
    "null": "None",
}  # fmt: skip


def source_of(name: str, service: str, tool: Tool) -> str:
    """A function of that name which makes the tool's call."""
    properties, required = tool.signature.schema["properties"], tool.signature.schema["required"]
    ordered = sorted(properties, key=lambda parameter: parameter not in required)
    parameters, sent = [], []
    for parameter in ordered:
        spelled = f"{parameter}_" if keyword.iskeyword(parameter) else parameter
        default = "" if parameter in required else " = OMITTED"
        parameters.append(f"{spelled}: {_type(properties[parameter])}{default}")
        sent.append(f"{parameter!r}: {spelled}")
    return (
        f"def {name}({', '.join(parameters)}):\n"
        f"    {_documentation(tool)!r}\n"
        f"    _arguments = {{{', '.join(sent)}}}\n"
        f"    return call({service!r}, {tool.name!r},"
        " {k: v for k, v in _arguments.items() if v is not OMITTED})\n"
    )


def _documentation(tool: Tool) -> str:
    lines = [tool.description]
    for name, schema in tool.signature.schema["properties"].items():
        default = f" (default: {schema['default']!r})" if "default" in schema else ""
        lines.append(f"    {name}: {schema.get('description', '')}{default}")
    return "\n".join(lines)


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(_type(option) for option in schema[union])
    if schema.get("type") == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    return _TYPES.get(schema.get("type", ""), "Any")


_RESERVED = {"session.py", "tools.py"}


@dataclass(frozen=True)
class Ran:
    """Outcome of a program."""

    ended: JobEnded
    limits: JobLimits
    calls: int
    return_value: Any
    error: str | None


class ProgrammaticToolCallingStore(Store):
    """Keeps nothing: the calls that a program makes are the other services' and the journal's."""

    def run(self, code: str, filename: str | None, timeout: int | None) -> Ran:
        """Run a program that may call tools, and wait for its end."""
        source, name, limits = (
            checked_code(code),
            checked_filename(filename),
            checked_limits(self.world, timeout),
        )
        if name in _RESERVED:
            name = f"program_{name}"
        sandbox = levels.active()
        names = combined_names(self.world.all_services)
        offered = {
            names[service.name, tool]: (service.name, tool)
            for service in self._others().values()
            for tool in service.tools
        }
        calls = Calls(self.world, offered, lambda: sandbox.share(job))
        files = {name: source, "session.py": _session(), "tools.json": self._functions()}
        job = Job(
            (runtime.PYTHON, "-P", f"{CODE}/session.py", name),
            self.workspace.root,
            limits,
            files,
            moment=self.now,
            conversation=calls,
        )
        ended = sandbox.run(job)
        return Ran(ended, limits, calls.made, calls.return_value, calls.error)

    def _others(self) -> Mapping[str, Service[Any]]:
        """The services whose tools a program may call: all but this one, which would run in circles."""
        return {name: service for name, service in self.world.services.items() if name != self.service}

    def _functions(self) -> bytes:
        tools = tuple((name, tuple(service.tools)) for name, service in self._others().items())
        return _sources(self.world.all_services, tools)


@cache
def _sources(services: tuple[str, ...], offered: tuple[tuple[str, tuple[str, ...]], ...]) -> bytes:
    names = combined_names(services)
    sources = {
        names[service, tool]: source_of(names[service, tool], service, load_service(service).tools[tool])
        for service, tools in offered
        for tool in tools
    }
    return json.dumps(sources).encode()


@cache
def _session() -> bytes:
    return Path(__file__).with_name("session.py").read_bytes()
