"""Health of a server's dependencies: disk space, and a code runner that answers."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.to_thread

from mesocosm.hosting.background import Background
from mesocosm.sandbox.levels import remote
from mesocosm.worlds.error_mapping import NO_ROOM

LEAST_FREE = 64 * 2**20
"""Bytes on the disk of the episodes with less than which no further one should be made."""
_PROBE = bytes(16_384)
_LOOKED_EVERY = 10.0


def disk_trouble(root: Path) -> str | None:
    """Return why the state directory cannot be written to, or soon cannot be; ``None`` if all is well."""
    probe = root / f".ready-{os.getpid()}"
    try:
        probe.write_bytes(_PROBE)
        free = os.statvfs(root)
    except OSError as error:
        return f"the state directory is not writable: {error.strerror}"
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)
    if free.f_bavail * free.f_frsize < LEAST_FREE:
        return f"{NO_ROOM}: less than {LEAST_FREE // 2**20} MiB"
    return None


@asynccontextmanager
async def looking_at_the_code_runner(background: Background) -> AsyncIterator[None]:
    """Ask the code runner now and then how it is, where one is used."""
    runner = remote()
    if runner is None:
        yield
        return

    async def look() -> None:
        await anyio.to_thread.run_sync(runner.status)

    async with anyio.create_task_group() as group:
        group.start_soon(background.every, _LOOKED_EVERY, "the code runner", look)
        yield
        group.cancel_scope.cancel()
