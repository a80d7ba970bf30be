"""Building instances a second time, in another process with another hash seed, to compare the bytes.

One such process is kept for as long as instances are proven: to start one costs more than to build a short
instance. It also has another history of builds behind it, which must not show in the bytes either.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any

from mesocosm.families import trust
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance, fingerprint
from mesocosm.worlds.garbage import look_rarely

OTHER_HASH_SEED = "4711"


class RebuildFailed(Exception):
    """An instance that could be built here could not be built in the other process."""


class Rebuilder:
    """The other process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mesocosm.families.rebuilds"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": OTHER_HASH_SEED},
            process_group=0,  # Ctrl-C at the terminal is for who started it
            text=True,
        )
        atexit.register(self.close)

    @property
    def alive(self) -> bool:
        """True if the process answers."""
        return self._process.poll() is None

    def fingerprint(self, task: str, length: int, seed: int, parameters: Mapping[str, Any]) -> str:
        """The fingerprint of the instance as the other process builds it."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        print(json.dumps([task, length, seed, dict(parameters)]), file=stdin, flush=True)
        answer = stdout.readline()
        if not answer:
            raise RebuildFailed(f"the process ended with status {self._process.wait()}")
        found, error = json.loads(answer)
        if found is None:
            raise RebuildFailed(error)
        return str(found)

    def close(self) -> None:
        """End the process."""
        with self._process:
            self._process.communicate()


@cache
def _rebuilder(trusted: str) -> Rebuilder:
    """One for each set of task files whose Python may be run, which a process knows from its start."""
    return Rebuilder()


def rebuilt_fingerprint(
    task: str, length: int, seed: int, parameters: Mapping[str, Any] | None = None
) -> str:
    """Return the fingerprint of an instance rebuilt elsewhere; ``RebuildFailed`` explains a failure."""
    trusted = os.environ.get(trust.VARIABLE, "")
    if not _rebuilder(trusted).alive:
        _rebuilder.cache_clear()
    return _rebuilder(trusted).fingerprint(task, length, seed, parameters or {})


def serve(requests: IO[str], answers: IO[str]) -> None:
    """Build what is asked for, until the requests end."""
    for line in requests:
        task, length, seed, parameters = json.loads(line)
        found, error = None, None
        with tempfile.TemporaryDirectory(prefix="mesocosm-rebuild-") as folder:
            try:
                instance = build_instance(
                    load_family(task), seed, Path(folder) / "again", target=length, parameters=parameters
                )
                found = fingerprint(instance.path)
            except Exception:  # noqa: BLE001 - whatever goes wrong is said by the process that asked
                error = traceback.format_exc()
        print(json.dumps([found, error]), file=answers, flush=True)


if __name__ == "__main__":
    # Nothing that is printed by mistake may come between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    look_rarely()
    serve(sys.stdin, answers)
