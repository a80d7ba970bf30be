"""A directory of built instances, so that many episodes of one instance cost one build."""

from __future__ import annotations

import fcntl
import hashlib
import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import anyio.to_process
import orjson

from mesocosm.errors import NotNow, UsageError
from mesocosm.families import program
from mesocosm.families.family import Family, load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.store import EpisodeStore
from mesocosm.worlds.limits import settings

_BUILDING_AT_ONCE = 2
_LONGEST_WAIT = 60


class TooManyBuilds(NotNow):
    """Enough instances wait to be built.

    Args:
        waiting: How many.
        seconds: How long one takes.
    """

    def __init__(self, waiting: int, seconds: float) -> None:
        super().__init__(f"{waiting:,} instances wait to be built")
        wait = math.ceil(seconds * waiting / _BUILDING_AT_ONCE)
        self.seconds = min(max(wait, 1), _LONGEST_WAIT)


class InstanceCache:
    """Built instances by what they were built from, the program included."""

    def __init__(self, root: Path, store: str | None = None) -> None:
        self.root = root
        self._store = store
        """URL of where others find them, too."""
        self._building = anyio.Semaphore(_BUILDING_AT_ONCE)
        self.takes = 1.0
        """Seconds of a build, of late."""
        self._locks: dict[str, anyio.Lock] = {}

    def path(self, family: Family, seed: int, target: int | None, parameters: Mapping[str, Any]) -> Path:
        """Return the folder of an instance, whether it exists or not."""
        what = {"seed": seed, "target": target, "parameters": dict(parameters), "program": _program()}
        what["task"] = hashlib.sha256(family.path.read_bytes()).hexdigest()
        try:
            key = hashlib.sha256(orjson.dumps(what, option=orjson.OPT_SORT_KEYS)).hexdigest()
        except orjson.JSONEncodeError as error:
            raise UsageError(f"these parameters cannot be used: {error}") from None
        return self.root / f"{family.name}-{seed}-{key[:24]}"

    def get(self, family: Family, seed: int, target: int | None, parameters: Mapping[str, Any]) -> Path:
        """Directory of the instance; built here if nobody did before."""
        path = self.path(family, seed, target, parameters)
        if not path.is_dir():
            _build_once(family, seed, path, target, parameters, self._store)
        os.utime(path)  # it is used: what is not for long may be removed
        return path

    @property
    def waiting(self) -> int:
        """Number of builds that wait for others."""
        return self._building.statistics().tasks_waiting

    @property
    def running(self) -> int:
        """Number of running builds."""
        return _BUILDING_AT_ONCE - self._building.value

    async def prepare(
        self, family: Family, seed: int, target: int | None, parameters: Mapping[str, Any]
    ) -> None:
        """Build the instance if necessary, in a separate process so that the server stays responsive.

        Raises ``TooManyBuilds`` where others wait for that, and enough of them.
        """
        path = self.path(family, seed, target, parameters)
        try:
            async with self._locks.setdefault(path.name, anyio.Lock()):
                if not path.is_dir():
                    build = partial(_build, str(family.path), seed, str(path), target, dict(parameters))
                    await self._build_apart(build)
        finally:
            self._locks.pop(path.name, None)

    async def _build_apart(self, build: Callable[[str | None], None]) -> None:
        if self._building.value == 0 and self.waiting >= settings().builds_waiting:
            raise TooManyBuilds(self.waiting, self.takes)
        async with self._building:
            began = time.monotonic()
            await anyio.to_process.run_sync(build, self._store)
            self.takes += (time.monotonic() - began - self.takes) / 4


def _build(
    task: str, seed: int, path: str, target: int | None, parameters: dict[str, Any], store: str | None
) -> None:
    # A program that is no file (``python -c``, a notebook) leaves this process without one, and the standard
    # library's ``multiprocessing`` cannot be imported then.
    sys.modules.setdefault("__main__", ModuleType("__main__"))
    _build_once(load_family(task), seed, Path(path), target, parameters, store)


def _build_once(
    family: Family,
    seed: int,
    path: Path,
    target: int | None,
    parameters: Mapping[str, Any],
    store: str | None,
) -> None:
    """Build an instance, unless another process that shares the directory, or the store, has done so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_name(f".{path.name}.lock")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not path.is_dir():
            shared = EpisodeStore(store) if store else None
            if not (shared and shared.bring_instance(path)):
                build_instance(family, seed, path, target=target, parameters=parameters)
                if shared:
                    shared.keep_instance(path)
    # Who waits holds the same file open, and finds the instance; who comes later needs no lock.
    lock.unlink(missing_ok=True)


@cache
def _program() -> str:
    """A digest of all code and data and of the libraries: what they made before they changed is stale."""
    return hashlib.sha256(orjson.dumps(program.parts(), option=orjson.OPT_SORT_KEYS)).hexdigest()
