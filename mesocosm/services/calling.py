"""Calling an episode's tools from a program: what surveys, reference solvers and tests use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from mesocosm.services.service import Image
    from mesocosm.services.world import World


FAULT_TEXT = "Internal error: a fault of the environment, not of this call. It has been recorded."


class ToolError(Exception):
    """Error result of a tool call; the text is what the agent saw."""


class Tools(ABC):
    """The tools of one episode, called one at a time."""

    @abstractmethod
    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        """The text and image blocks of the result; raises ``ToolError`` when the call failed."""

    def read(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str]:
        """The text blocks of the result; raises ``ToolError`` when the call failed."""
        return [block for block in self.look(service, tool, arguments) if isinstance(block, str)]

    def call(self, service: str, tool: str, **arguments: Any) -> Any:
        """The result's first text block: decoded where it is JSON, else the text itself."""
        return decode(self.read(service, tool, arguments)[0])

    def pages(self, service: str, tool: str, **arguments: Any) -> Iterator[Any]:
        """The items of a listing tool that returns arrays (``Page``), over all its pages."""
        page: int | None = arguments.pop("page", 1)
        while page is not None:
            blocks = self.read(service, tool, arguments | ({"page": page} if page > 1 else {}))
            yield from orjson.loads(blocks[0])
            page = orjson.loads(blocks[1])["next_page"] if len(blocks) > 1 else None


def decode(text: str) -> Any:
    """JSON where the text is a JSON object or array, else the text."""
    if text[:1] in ("{", "["):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            return text
    return text


class Direct(Tools):
    """A world's tools without a protocol between."""

    def __init__(self, world: World) -> None:
        self._world = world

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        """Make a call; raises ``ToolError`` when it failed, and ``TimeoutError`` when it took too long: that
        says something about the machine and nothing about the world."""
        outcome = self._world.call(service, tool, arguments)
        if outcome.is_overdue:
            raise TimeoutError(outcome.text)
        if outcome.is_error:
            raise ToolError(outcome.text)
        return list(outcome.blocks)
