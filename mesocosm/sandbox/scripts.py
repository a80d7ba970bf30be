"""Shared parts of the tools that run code: parsing arguments, and reporting limits."""

from __future__ import annotations

import re

from mesocosm.errors import Invalid
from mesocosm.sandbox.jobs import MIB, JobEnded, JobLimits, Reached
from mesocosm.sandbox.workspace_handover import bounded
from mesocosm.services.world import World
from mesocosm.worlds.limits import settings

MAX_CODE_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}")


def checked_code(code: str) -> bytes:
    """The bytes of a program."""
    if not code.strip():
        raise Invalid("Argument 'code' must not be empty.")
    if "\0" in code:
        raise Invalid("Argument 'code' must not contain null characters.")
    source = code.encode()
    if len(source) > MAX_CODE_BYTES:
        raise Invalid(f"Argument 'code' has {len(source):,} bytes; at most {MAX_CODE_BYTES:,} are run.")
    return source


def checked_filename(filename: str | None) -> str:
    """The name under which the program appears in error messages."""
    if filename is None:
        return "script.py"
    if not _NAME.fullmatch(filename):
        raise Invalid(
            "Argument 'filename' must be a plain name such as analysis.py: letters, digits, '.', '_', '-' "
            "and spaces, at most 100, and no path."
        )
    return filename if filename.endswith(".py") else f"{filename}.py"


def checked_limits(world: World, timeout: int | None) -> JobLimits:
    """The limits of one run; a longer time than the longest is cut down to it."""
    of = settings()
    seconds = of.sandbox_timeout if timeout is None else timeout
    if seconds < 1:
        raise Invalid(f"Argument 'timeout' must be at least 1 second, got {seconds}.")
    return limits_in(world, JobLimits.configured(min(seconds, of.sandbox_max_timeout), of))


def limits_in(world: World, limits: JobLimits) -> JobLimits:
    """The limits of one run in the workspace of a world."""
    return bounded(limits, world.workspace.root, world.base / "workspace" if world.base else None)


def size(count: int) -> str:
    """A number of bytes for a sentence."""
    return f"{count // MIB:,} MiB" if count % MIB == 0 else f"{count:,} bytes"


def explain(ended: JobEnded, limits: JobLimits) -> list[str]:
    """Explain in a sentence each which limits the code hit, and what was removed from the workspace."""
    said = []
    if ended.reached:
        said.append(_reached(limits)[ended.reached])
    elif ended.status:
        said += _likely(ended, limits)
    return [*said, *ended.remarks]


def _reached(limits: JobLimits) -> dict[Reached, str]:
    return {
        "time": f"Execution timed out after {limits.seconds} seconds; everything it had started was stopped.",
        "memory": f"Stopped: all processes together may use {size(limits.memory_bytes)} of memory "
        "(setting sandbox_memory).",
        "output": f"Stopped: more than {size(limits.output_bytes)} of output (setting sandbox_output).",
        "workspace": f"Stopped: the workspace may hold {size(limits.workspace_bytes)} in "
        f"{limits.workspace_entries:,} files and folders, nested at most {limits.workspace_depth} deep "
        "(settings workspace_size, workspace_entries, workspace_depth). Delete some before you go on.",
        "done": "The episode is over, and so is the program.",
        "scratch": f"Stopped: /tmp may hold {size(limits.scratch_bytes)} (setting sandbox_scratch).",
    }


_SIGNS = (
    ("memory", ("MemoryError", "Cannot allocate memory", "memory exhausted")),
    ("processes", ("Resource temporarily unavailable", "can't start new thread")),
    ("file", ("File too large",)),
    ("scratch", ("No space left on device",)),
)


def _likely(ended: JobEnded, limits: JobLimits) -> list[str]:
    """The limits that the kernel keeps show as errors of the code; which ones, its messages tell."""
    texts = {
        "memory": f"A process may use {size(limits.memory_bytes)} of memory (setting sandbox_memory).",
        "processes": f"At most {limits.processes} processes and threads may run at a time "
        "(setting sandbox_processes).",
        "file": f"A file may have at most {size(limits.file_bytes)} (setting workspace_file_size)."
        if not limits.full
        else "The workspace holds more than it may, so nothing can be written; files can only be removed.",
        "scratch": f"/tmp may hold {size(limits.scratch_bytes)} (setting sandbox_scratch).",
    }
    by_signal = {
        128 + 24: f"Stopped after {limits.seconds} seconds of processor time.",
        128 + 25: texts["file"],
    }
    if ended.status in by_signal:
        return [by_signal[ended.status]]
    message = ended.stderr.text()
    return [f"Limit: {texts[kind]}" for kind, signs in _SIGNS if any(sign in message for sign in signs)]
