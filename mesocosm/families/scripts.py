"""Scripts: the calls with which a task is solved, as they are written down for its oracle; and what was
delivered to an agent.

Two calls may deliver the same in different ways (other pages, other fields), so what was read is compared
record by record: the scalar fields of every object of a JSON result, or the lines of a text.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from mesocosm.families.family import Expected, Family
from mesocosm.families.length import evidence_finders
from mesocosm.families.oracle import Call
from mesocosm.services.calling import ToolError, Tools, decode
from mesocosm.services.service import Image, load_service
from mesocosm.services.world import World
from mesocosm.worlds.copies import copy_world

Record = frozenset[str]
"""The fields of an object, each as ``name=value``; or one line of a text."""


def records_of(result: str) -> Iterator[tuple[Record, str]]:
    """The records of a result, each with how it stands there."""
    for block in result.split("\n") if result[:1] in "{[" else [result]:
        value = decode(block)
        if isinstance(value, str):
            for line in value.splitlines():
                if line.strip():
                    yield frozenset({line.strip()}), line
        else:
            yield from _objects(value)


def _objects(value: Any, name: str = "") -> Iterator[tuple[Record, str]]:
    if isinstance(value, dict):
        plain = {key: one for key, one in value.items() if not isinstance(one, dict | list)}
        if plain:
            yield frozenset(f"{key}={one}" for key, one in plain.items()), orjson.dumps(plain).decode()
        for key, one in value.items():
            yield from _objects(one, key)
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, dict | list):
                yield from _objects(one, name)
            else:
                yield frozenset({f"{name}={one}"}), f"{name}: {one}"


@dataclass
class Delivered:
    """All that was delivered so far."""

    _with: dict[tuple[str, str], list[Record]] = field(default_factory=dict)
    """By service and field: the records that have it."""
    values: set[str] = field(default_factory=set)
    """All values that were seen, of any service."""

    def take(self, service: str, result: str) -> None:
        for record, _ in records_of(result):
            for one in record:
                self._with.setdefault((service, one), []).append(record)
                self.values.add(one.partition("=")[2] or one)

    def holds(self, service: str, record: Record) -> bool:
        """True if one delivered record contains all parts of ``record``."""
        found = min((self._with.get((service, one), []) for one in record), key=len, default=[])
        return any(record <= other for other in found)


@dataclass(frozen=True)
class ScriptStep:
    """One call of the solver."""

    call: Call
    key: str
    writes: bool
    ends: bool
    repeatable: bool
    """True if it writes a file and can safely be repeated."""
    records: tuple[Record, ...]
    """The records that it delivers."""
    evidence: frozenset[int] = frozenset()
    """Of a step that is read for its evidence: the pieces that it delivers."""
    opens: frozenset[str] = frozenset()
    """Of a step that is read to find others: the values in it by which these are called."""


@dataclass
class _Recorder(Tools):
    """Tools of a world that take down what is called."""

    world: World
    tracelessly: bool = False
    """True if the world stays unchanged, for calls that only read."""
    steps: list[ScriptStep] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        make = self.world.calls.peek if self.tracelessly else self.world.call
        outcome = make(service, tool, arguments)
        if outcome.is_error:
            raise ToolError(outcome.text)
        offered = self.world.tool(service, tool)
        self.texts.append(outcome.text)
        self.steps.append(
            ScriptStep(
                call=Call(service=service, tool=tool, arguments=arguments),
                key=key_of(service, tool, arguments),
                writes=offered.writes,
                ends=offered.ends_episode,
                repeatable=load_service(service).metadata is None and offered.idempotent,
                records=() if offered.writes else tuple(record for record, _ in records_of(outcome.text)),
            )
        )
        return list(outcome.blocks)


def key_of(service: str, tool: str, arguments: Any) -> str:
    """By which calls are compared: arguments that are not given may as well be ``None``."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return f"{service}.{tool} {orjson.dumps(given, option=orjson.OPT_SORT_KEYS).decode()}"


def write_script(family: Family, prompt: str, base: Path, expected: Expected) -> list[ScriptStep]:
    """The calls of the reference solver on the world as it was built.

    A walk reads nothing, since it is told the truth. So what it is told is read before it.
    """
    with tempfile.TemporaryDirectory(prefix="mesocosm-oracle-") as folder:
        copy_world(base, Path(folder) / "world")
        with World(Path(folder) / "world") as world:
            reading = list(_reading(family, prompt, world, expected)) if family.solver == "solution" else []
            solving = _Recorder(world)
            family.solve(solving, prompt, expected)
    return [*reading, *solving.steps]


def _reading(family: Family, prompt: str, world: World, expected: Expected) -> Iterator[ScriptStep]:
    """The calls of the survey that deliver evidence, and those by which one gets to them."""
    survey = _Recorder(world, tracelessly=True)
    family.survey(survey, expected)
    finders, offered = evidence_finders(expected.evidence), family.task.offered("needed")
    usable = []
    for step, text in zip(survey.steps, survey.texts, strict=True):
        tools = offered.get(step.call.service, ())
        if tools is None or step.call.tool in tools:
            finder = finders.get(step.call.service)
            usable.append(replace(step, evidence=frozenset(finder.held_by(text) if finder else ())))
    # From the last to the first: whatever names a value that a later call needs is read before it.
    wanted: set[str] = set()
    chosen: list[ScriptStep] = []
    for step in reversed(usable):
        values = {field.partition("=")[2] or field for record in step.records for field in record}
        opens = frozenset(wanted & values)
        if not (step.evidence or opens):
            continue
        wanted -= opens
        wanted |= {value for value in _arguments(step) if value not in prompt}
        chosen.append(replace(step, opens=opens))
    yield from reversed(chosen)


def _arguments(step: ScriptStep) -> Iterator[str]:
    """Arguments by which something is named, which one must have read somewhere."""
    for name, value in step.call.arguments.items():
        if isinstance(value, str | int) and name not in _NO_NAMES:
            yield str(value)


_NO_NAMES = frozenset({"page", "page_size", "per_page", "perPage", "limit", "method", "start_cell", "offset"})
