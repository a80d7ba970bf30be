"""The campus as the tests of the tools act on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from campus import fill_campus

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.services.calling import ToolError, Tools
from mesocosm.services.world import World

TABLES = sorted(CanvasStore.metadata.tables)


class Campus:
    """The campus as one person sees it."""

    def __init__(self, tools: Tools, world: World) -> None:
        self.tools = tools
        self.world = world

    def as_(self, person: str) -> Campus:
        """Let another person act from here on."""
        self("login", login_id=f"{person}@uni.edu", password=f"{person}-secret")
        return self

    def __call__(self, tool: str, **arguments: Any) -> Any:
        """Call a tool by its name without ``canvas_``."""
        return self.tools.call("canvas", f"canvas_{tool}", **arguments)

    def blocks(self, tool: str, **arguments: Any) -> list[str]:
        """All text blocks of a result."""
        return self.tools.read("canvas", f"canvas_{tool}", arguments)

    def rows(self) -> dict[str, list[Any]]:
        """Every row of every table."""
        with closing(sqlite3.connect(self.world.path / "canvas.db")) as database:
            return {name: database.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES}

    def refuses(self, tool: str, **arguments: Any) -> str:
        """Why a call is refused; it must not have left a trace, nor be a fault of ours."""
        before = self.rows()
        with pytest.raises(ToolError) as refusal:
            self(tool, **arguments)
        assert "Internal error" not in str(refusal.value)
        assert self.rows() == before
        return str(refusal.value)


@pytest.fixture
def campus(open_tools: Callable[..., Any]) -> Campus:
    """The campus, with the student signed in."""
    tools = open_tools(fill_campus, "canvas")
    return Campus(tools, tools.world)
