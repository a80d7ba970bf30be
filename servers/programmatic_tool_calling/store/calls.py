"""Answering the calls that a program makes while it runs in the sandbox."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

import orjson

from mesocosm.services.calls import Outcome
from mesocosm.services.service import Image, UnknownTool
from mesocosm.services.world import World
from mesocosm.worlds.journal import Entry

MAX_CALLS = 2_000
"""Number of calls one program may make."""
MAX_REQUEST_BYTES = 16 * 1024 * 1024
MAX_UNDER_WAY = 256
"""Maximum number of calls that wait for answers: more than the possible threads."""
MAX_VALUE_BYTES = 20_000
_PATIENCE = 6.0
"""Seconds in which, while replaying, the call that came next shall come again: as long as a thread of the
program may compute in between, on a busy machine."""


class Calls:
    """One program's calls, made one after the other through the world, like those of the agent itself.

    When an episode is replayed, calls of several threads are made in the order in which they were made then.
    """

    def __init__(
        self,
        world: World,
        offered: Mapping[str, tuple[str, str]],
        after_write: Callable[[], None],
    ) -> None:
        self.made = 0
        self.return_value: Any = None
        self.error: str | None = None
        self._world = world
        self._offered = set(offered.values())
        self._after_write = after_write
        self._order: list[Entry] = list(world.calls.order_inside)
        self._buffer = bytearray()
        self._requests: list[dict[str, Any]] = []
        self._quiet_since = monotonic()
        self.broken = False
        self.over = False
        self.awake: int | None = None

    def receive(self, data: bytes) -> None:
        """Take in what the program sent."""
        self._buffer += data
        if len(self._buffer) > MAX_REQUEST_BYTES:
            self.broken = True
        while not self.broken and (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            self._take(line)
        if self.broken:
            self._buffer.clear()
        self._quiet_since = monotonic()

    def replies(self) -> bytes:
        """Make the next call, and return what is to be sent to the program."""
        if self.over or (request := self._next()) is None:
            return b""
        return json.dumps(self._answer(request)).encode() + b"\n"

    def _take(self, line: bytes) -> None:
        """Code can send anything; what is not of our module's making ends the conversation."""
        try:
            message = orjson.loads(line)
            orjson.dumps(message)  # refuses what is nested too deeply, which would break others later
        except (orjson.JSONDecodeError, TypeError):
            message = None
        if isinstance(message, dict) and "return_value" in message:
            self.return_value = _bounded(message["return_value"])
            self.error = str(message["error"])[:2000] if message.get("error") else None
        elif isinstance(message, dict) and _well_formed(message):
            self._requests.append(message)
            self.broken = len(self._requests) > MAX_UNDER_WAY
        else:
            self.broken = True

    def _next(self) -> dict[str, Any] | None:
        if not self._requests:
            return None
        if self._order:
            for number, request in enumerate(self._requests):
                if _same(request, self._order[0]):
                    del self._order[0]
                    return self._requests.pop(number)
            if monotonic() < self._quiet_since + _PATIENCE:
                return None
            self._order.clear()
        return self._requests.pop(0)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        outcome = self._call(request["service"], request["tool"], request["arguments"])
        blocks = _blocks(outcome.blocks)
        return {"id": request["id"], "status": outcome.status, "text": outcome.text, "blocks": blocks}

    def _call(self, service: str, tool: str, arguments: dict[str, Any]) -> Outcome:
        if self.made >= MAX_CALLS:
            return Outcome("refused", (f"One program may make {MAX_CALLS:,} tool calls.",))
        if (service, tool) not in self._offered:
            return Outcome("refused", (f"Unknown tool: {service}_{tool}",))
        self.made += 1
        try:
            outcome = self._world.call(service, tool, arguments)
        except UnknownTool as error:
            return Outcome("refused", (str(error),))
        called = self._world.tool(service, tool)
        if called.writes:
            self._after_write()
        # What the program would do after it has declared the task done would be graded all the same.
        self.over |= called.ends_episode and not outcome.is_error
        return outcome


def _bounded(value: Any) -> Any:
    """Return a value if it is small enough to print, else its beginning as text."""
    text = orjson.dumps(value)
    if len(text) <= MAX_VALUE_BYTES:
        return value
    return text[:MAX_VALUE_BYTES].decode("utf-8", "ignore") + " [... truncated]"


def _well_formed(message: dict[str, Any]) -> bool:
    kinds = {"id": int, "service": str, "tool": str, "arguments": dict}
    return all(isinstance(message.get(name), kind) for name, kind in kinds.items())


def _same(request: dict[str, Any], entry: Entry) -> bool:
    return (request["service"], request["tool"], request["arguments"]) == (
        entry.service,
        entry.tool,
        entry.arguments,
    )


def _blocks(blocks: Sequence[str | Image]) -> list[Any]:
    return [
        {"data": base64.b64encode(block.data).decode(), "media_type": block.media_type}
        if isinstance(block, Image)
        else block
        for block in blocks
    ]
