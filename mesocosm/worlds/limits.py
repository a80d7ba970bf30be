"""Limits that an operator can set: size of workspaces, resources of agents' code, size of queues.

Each setting is the environment variable ``MESOCOSM_<NAME>``, or ``NAME=VALUE`` given to ``mesocosm serve`` as
``--limit``. Sizes are bytes or carry a unit, as in ``64MiB``. They can show in results (a write is refused, a
program is stopped), so runs that shall be compared are to be made under the same settings;
``mesocosm doctor`` prints them.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ByteSize, ConfigDict, Field, ValidationError

from mesocosm.errors import UsageError

_MIB = 1024 * 1024
PREFIX = "MESOCOSM_"
STRUCTURED = "structured_results=true"
"""The setting of ``--structured``."""


def _size(mib: int, description: str, *, least: int = 1) -> ByteSize:
    size: ByteSize = Field(default=ByteSize(mib * _MIB), ge=least, description=description)
    return size


class Settings(BaseModel):
    """The limits of workspaces and of code, in bytes, seconds or numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workspace_file_size: ByteSize = _size(64, "Largest file that tools read or write and code may write")
    workspace_size: ByteSize = _size(1024, "All files of a workspace together")
    workspace_entries: int = Field(default=100_000, ge=1, description="Files and folders in a workspace")
    workspace_depth: int = Field(default=64, ge=1, le=200, description="Folders nested in a workspace")
    service_size: ByteSize = _size(1024, "What one service of an episode may keep")
    structured_results: bool = Field(
        default=False, description="Whether tools whose result is an object give it to clients as one, too"
    )
    call_timeout: int = Field(
        default=20, ge=1, le=86_400, description="Seconds of a call; what takes longer is refused and undone"
    )
    steps_kept: int = Field(
        default=100, ge=0, description="Latest changes of an episode to which it can go back at once"
    )
    steps_size: ByteSize = _size(64, "What these take together", least=0)
    steps_entries: int = Field(
        default=1000, ge=0, description="Files and folders up to which a workspace is kept for that"
    )
    query_memory: ByteSize = _size(256, "Memory that one statement on a warehouse may take", least=32 * _MIB)
    query_result: ByteSize = _size(16, "Result of a statement on a warehouse; to store it, 16 times")
    query_copies: ByteSize = _size(512, "Columns of warehouses in memory, of all episodes")
    query_jobs: int = Field(
        default=8, ge=1, description="Statements on warehouses at the same time; others wait for their turn"
    )
    grading_timeout: int = Field(
        default=120, ge=1, le=86_400, description="Seconds of a processor that judging one episode may take"
    )
    grading_memory: ByteSize = _size(2048, "Memory that judging one episode may take", least=64 * _MIB)
    builds_waiting: int = Field(
        default=100, ge=0, description="Instances that may wait to be built; who orders more is to come again"
    )
    sandbox_timeout: int = Field(
        default=30, ge=1, le=86_400, description="Seconds of a command, or of code that names none"
    )
    sandbox_max_timeout: int = Field(
        default=120, ge=1, le=86_400, description="Seconds that code may ask for"
    )
    sandbox_memory: ByteSize = _size(1024, "Memory of a process, and of all of one run", least=64 * _MIB)
    sandbox_processes: int = Field(default=64, ge=4, description="Processes and threads of one run")
    sandbox_open_files: int = Field(default=256, ge=32, description="Open files of a process")
    sandbox_scratch: ByteSize = _size(256, "The private /tmp of one run", least=_MIB)
    sandbox_output: ByteSize = _size(16, "Output after which a run is stopped", least=1024)
    sandbox_jobs: int = Field(
        default_factory=lambda: max(32, 8 * (os.cpu_count() or 1)),
        ge=1,
        description="Runs at the same time; others wait for their turn",
    )


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper()


def settings() -> Settings:
    """The settings in force; ``UsageError`` names the variable that has no usable value."""
    return _parsed(tuple((name, os.environ.get(variable(name))) for name in Settings.model_fields))


def setting(name: str) -> Any:
    """One of them, without reading the others: what is asked with every call."""
    return getattr(_parsed(((name, os.environ.get(variable(name))),)), name)


def override(assignment: str) -> None:
    """Set one from ``NAME=VALUE`` for this process and what it starts."""
    name, equals, value = assignment.partition("=")
    name = name.strip().lower().removeprefix(PREFIX.lower())
    if not equals or name not in Settings.model_fields:
        raise UsageError(
            f"--limit {assignment!r}: write NAME=VALUE with one of {', '.join(Settings.model_fields)}"
        )
    os.environ[variable(name)] = value.strip()
    settings()


@lru_cache
def _parsed(given: tuple[tuple[str, str | None], ...]) -> Settings:
    try:
        return Settings.model_validate({name: value for name, value in given if value})
    except ValidationError as error:
        first = error.errors()[0]
        name = variable(str(first["loc"][0]))
        raise UsageError(f"{name}={first['input']!r}: {first['msg']}") from None
