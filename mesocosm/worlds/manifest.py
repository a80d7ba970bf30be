"""The manifest of a world, ``world.json``. It holds nothing of the answer."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict

from mesocosm.errors import UsageError
from mesocosm.worlds.workspace import replace_file

FORMAT = 1
"""Version of the layout of a world's directory."""
DEFAULT_START = datetime(2025, 1, 15, 9, 0, tzinfo=UTC)
MANIFEST = "world.json"
"""The file in a world's folder: it is replaced, never written in place."""


class Length(BaseModel):
    """A world's environment description length, in tokens."""

    model_config = ConfigDict(extra="forbid")

    target: int | None
    measured: int
    tokenizer: str
    by_service: dict[str, int]
    adequate: int
    """Tokens of the survey's results that hold evidence: the adequate context length."""
    evidence: int | None = None
    """Tokens of the items of these results that hold it; ``None`` in worlds that were built before it was
    measured."""
    calls: int
    """Number of calls in the survey."""


class Manifest(BaseModel):
    """Content of ``world.json``."""

    model_config = ConfigDict(extra="forbid")

    format: int = FORMAT
    family: str = ""
    version: int = 1
    seed: int = 0
    parameters: dict[str, Any] = {}
    services: dict[str, list[str] | None]
    """The services of the world, each with the tools that are offered (``None``: all)."""
    start: datetime = DEFAULT_START
    tick_seconds: int = 1
    """How far the clock moves with every tool call."""
    refusals: int = 0
    """After so many refused calls no change is accepted any more; 0: no number of them is too many."""
    length: Length | None = None

    @classmethod
    def read(cls, world: Path) -> Manifest:
        """The manifest of the world in a directory; ``UsageError`` where there is none."""
        try:
            return cls.model_validate_json((world / MANIFEST).read_bytes())
        except FileNotFoundError:
            raise UsageError(f"{world} is not a world: it has no {MANIFEST}") from None
        except ValueError as error:
            raise UsageError(f"{world / MANIFEST} is damaged: {error}") from None

    def write(self, world: Path) -> None:
        """Write it into the directory of a world."""
        data = orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_INDENT_2) + b"\n"
        replace_file(world / MANIFEST, data)
