"""Reference solvers as models: a solver's next call is the model's next answer.

A solver runs in a thread and waits for each result. Which of the conversations of a server a request belongs
to stands in the ids of the calls and in the text of every answer, so that what a strategy leaves of a
conversation is enough to go on from; where nothing is left, the work begins again, as a model's would.
"""

from __future__ import annotations

import json
import re
import threading
from ast import literal_eval
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from queue import SimpleQueue
from typing import Any

from mesocosm.agents.scripted.exchange import NAMESPACED, ModelCall, ModelMessage
from mesocosm.agents.scripted.known_truth import known
from mesocosm.families.family import Expected, Family, family_names, load_family
from mesocosm.services.calling import ToolError, Tools
from mesocosm.services.service import Image

_OWN_ID = re.compile(r"^work([0-9a-f]+)-")
_WRITTEN = re.compile(r"""TextContent\(type='text', text=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_MARK = re.compile(r"\[work ([0-9a-f]+)\]")
MAX_WORKS = 2_000
"""Conversations that a server remembers."""


@dataclass(frozen=True)
class SolverStep:
    """A call that a solver wants to make."""

    service: str
    tool: str
    arguments: dict[str, Any]


class Work(Tools):
    """One conversation's solver."""

    def __init__(self, id_: str, family: Family, prompt: str, expected: Expected | None = None) -> None:
        self.id = id_
        self.made = 0
        """Calls so far."""
        self.pending: SolverStep | None = None
        """``None``: it is done."""
        self.call_id = ""
        self.lock = threading.Lock()
        self._wanted: SimpleQueue[SolverStep | None] = SimpleQueue()
        self._results: SimpleQueue[ModelMessage] = SimpleQueue()
        self._family, self._prompt, self._expected = family, prompt, expected
        threading.Thread(target=self._run, daemon=True, name=f"work-{id_}").start()
        self.pending = self._wanted.get()

    def take(self, result: ModelMessage) -> None:
        """The result of the pending call; the next one is pending then."""
        self._results.put(result)
        self.pending = self._wanted.get()

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        """Ask for a call and wait for its result."""
        self._wanted.put(SolverStep(service, tool, arguments))
        result = self._results.get()
        if result.failed:
            raise ToolError(result.text.removeprefix("Error: "))
        return [*_blocks(result.text), *(Image(data) for data in result.images)]

    def _run(self) -> None:
        with suppress(Exception):  # where a model does not get on, it stops
            self._family.solve(self, self._prompt, self._expected)
        self._wanted.put(None)


class Works:
    """The conversations of a server."""

    def __init__(self) -> None:
        self._works: dict[str, Work] = {}
        self._lock = threading.Lock()
        self._next = 1

    def find(self, messages: list[ModelMessage]) -> Work | None:
        """The work that a conversation tells of last."""
        for message in reversed(messages):
            for text in (*(call.id for call in message.calls), message.text):
                if (marked := _MARK.findall(text) or _OWN_ID.findall(text)) and (
                    work := self._works.get(marked[-1])
                ):
                    return work
        return None

    def begin(self, texts: Sequence[str]) -> Work | None:
        """A new work on what one of the user's texts asks; ``None`` where none asks for a task."""
        truth = next(filter(None, map(known.find, texts)), None)
        found = (truth.family, truth.prompt) if truth else next(filter(None, map(recognise, texts)), None)
        if found is None:
            return None
        with self._lock:
            id_ = f"{self._next:x}"
            self._next += 1
        work = Work(id_, *found, truth.expected if truth else None)
        with self._lock:
            self._works[id_] = work
            while len(self._works) > MAX_WORKS:
                self._works.pop(next(iter(self._works)))
        return work


def call_of(work: Work, tools: frozenset[str]) -> ModelCall | None:
    """The pending call of a work as the model makes it, by the tool's name among those offered."""
    if work.pending is None:
        return None
    work.made += 1
    work.call_id = f"work{work.id}-{work.made}"
    return ModelCall(work.call_id, name_among(work.pending, tools), dict(work.pending.arguments))


def name_among(step: SolverStep, tools: frozenset[str]) -> str:
    """A tool's name among those offered: with the service's where that is needed, or as clients of several
    servers write it (Claude Code; Codex, which has a namespace for each server)."""
    service, tool = step.service, step.tool
    names = (f"{service}_{tool}", f"mcp__{service}__{tool}", f"mcp__{service}{NAMESPACED}{tool}")
    if found := next((name for name in names if name in tools), None):
        return found
    if tool in tools:
        return tool
    # Whatever a harness puts before it: `mesocosm_up`, `world.gridworld_up`.
    ends = [
        name
        for whole in (f"{service}_{tool}", tool)
        for name in sorted(tools, key=_shortest)
        if name.endswith(whole) and not name[: -len(whole)][-1:].isalnum()
    ]
    return ends[0] if ends else tool


def _shortest(name: str) -> tuple[int, str]:
    return len(name), name


def is_own_id(call_id: str) -> bool:
    """True if `call_of` made this call id."""
    return bool(_OWN_ID.match(call_id))


def mark(work: Work) -> str:
    """Return the marker that identifies the work in every answer."""
    return f"[work {work.id}]"


def recognise(prompt: str) -> tuple[Family, str] | None:
    """Find the family of a prompt, and the prompt without additions. Tasks in YAML must have been made known
    (``known_truth``).
    """
    for family, head, pattern in _patterns():
        # Where its first words stand; a pattern that were tried everywhere could take for ever.
        at = prompt.find(head)
        if at >= 0 and (found := pattern.match(prompt, at)):
            return family, found[0].rstrip() + "\n"
    return None


_reading = threading.Lock()


def _patterns() -> list[tuple[Family, str, re.Pattern[str]]]:
    """List the prompts' beginnings and patterns by family, longest first, so that none hides another."""
    # A cache alone would let two hundred first requests read all tasks two hundred times.
    with _reading:
        return _read_patterns()


@cache
def _read_patterns() -> list[tuple[Family, str, re.Pattern[str]]]:
    families = [family for name in family_names() if not (family := load_family(name)).task.is_written]
    families.sort(key=lambda family: -len(family.task.prompt))
    prompts = [(family, family.task.prompt.strip()) for family in families]
    return [(family, prompt.partition("$")[0], _pattern(prompt)) for family, prompt in prompts]


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"(\$\$|\$\{\w+\}|\$[A-Za-z_]\w*)", template)
    written = [re.escape("$" if part == "$$" else part) for part in parts[::2]]
    between = [re.escape("$") if part == "$$" else r"[\s\S]*?" for part in parts[1::2]]
    joined = "".join(a + b for a, b in zip(written, [*between, ""], strict=True))
    # A value at the very end would match nothing if it could be as short as that.
    return re.compile(joined.removesuffix(r"[\s\S]*?") + (r"[^\n]*" if joined.endswith("*?") else ""))


def _blocks(text: str) -> Iterator[str]:
    """The blocks of a result, which protocols put one after the other: several JSON documents are several.
    Some clients (ADK, Haystack, CAMEL) show a model the blocks as MCP writes them, LlamaIndex as Python."""
    if written := _WRITTEN.findall(text):
        yield from map(literal_eval, written)
        return
    with suppress(ValueError, TypeError, KeyError):
        shown = json.loads(text)
        blocks = shown["content"] if isinstance(shown, dict) and "content" in shown else shown
        if blocks and all(block["type"] == "text" for block in blocks):
            yield from (block["text"] for block in blocks)
            return
    decoder, at = json.JSONDecoder(), 0
    ends = []
    while at < len(text):
        try:
            _, end = decoder.raw_decode(text, at)
        except ValueError:
            yield text
            return
        ends.append(text[at:end])
        while end < len(text) and text[end] in " \n\r\t":
            end += 1
        at = end
    yield from ends or [text]
