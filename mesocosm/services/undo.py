"""Undoing a call with the tools of its service.

A service says it in ``servers/<name>/undo.py``: ``UNDO`` maps names of tools to functions, each of which
gets the call and the service as it was at first, and returns the calls that take it back.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from mesocosm.services.calling import decode
from mesocosm.services.content import find_module

ToolCall = tuple[str, dict[str, Any]]
"""Tool and arguments."""


@dataclass(frozen=True)
class Done:
    """A change by a call, with its result and access to the previous state."""

    tool: str
    arguments: Mapping[str, Any]
    result: str
    before: Callable[[str, dict[str, Any]], str | None]
    """``before(tool, arguments)``: what a reading call said at first; ``None`` if it was refused."""

    @property
    def value(self) -> Any:
        """The result, decoded."""
        return decode(self.result.partition("\n")[0])

    def earlier(self, tool: str, **arguments: Any) -> Any:
        """Return the decoded first result of a reading call; ``None`` if it was refused."""
        text = self.before(tool, arguments)
        return None if text is None else decode(text)


Undo = Callable[[Done], list[ToolCall]]


@cache
def load_undo(service: str) -> Mapping[str, Undo]:
    """Load the undo rules of a service; empty if it has none."""
    name = find_module("servers", service, "undo")
    found: Mapping[str, Undo] = importlib.import_module(name).UNDO if name else {}
    return found
