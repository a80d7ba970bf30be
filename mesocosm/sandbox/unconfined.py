"""The level that is only used when the operator asks for it by name: a plain process with limits.

It protects the server from mistakes (endless loops, too much memory or output), not from intent: the code
sees and may change whatever the server's user may.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from mesocosm.sandbox import runtime
from mesocosm.sandbox.jobs import CODE, WORKSPACE, Job, JobEnded
from mesocosm.sandbox.supervisor import Launch, Supervisor, socket_pair
from mesocosm.sandbox.workspace_handover import tidy


class Subprocess:
    """Runs jobs as ordinary processes of the server's user."""

    name: ClassVar[str] = "subprocess"
    isolated: ClassVar[bool] = False

    def run(self, job: Job) -> JobEnded:
        """Run one job and wait for its end."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mesocosm-job-")))
            for name, data in job.files.items():
                (folder / name).write_bytes(data)
            pair = socket_pair(job, stack)
            launch = _launch(job, folder, pair[1].fileno() if pair else None)
            ended = Supervisor(job, launch, pair[0] if pair else None).run()
        return replace(ended, remarks=tidy(job.workspace, job.moment, job.limits.workspace_depth))

    def share(self, job: Job) -> None:
        """Nothing to do: the code runs as the server's user."""


def _launch(job: Job, folder: Path, descriptor: int | None) -> Launch:
    workspace = str(job.workspace.absolute())

    def located(text: str) -> str:
        text = text.replace(CODE, str(folder)).replace(runtime.PYTHON, sys.executable)
        return text.replace(WORKSPACE, workspace) if text == WORKSPACE else text

    environment = runtime.environment(job)
    del environment["LD_LIBRARY_PATH"]
    environment |= {
        "PATH": f"{os.path.dirname(sys.executable)}:{runtime.image()}/usr/bin",
        "PYTHONPATH": ":".join(map(located, environment.get("PYTHONPATH", "").split(":"))),
    }
    if descriptor is not None:
        environment["SESSION_FD"] = str(descriptor)
    limits = job.limits
    # No limit on processes: it would count all of the server's user.
    command = [
        "prlimit", f"--as={limits.memory_bytes}", "--core=0", f"--nofile={limits.open_files}",
        f"--fsize={limits.written_bytes}", f"--cpu={limits.seconds + 1}", "--", *map(located, job.command),
    ]  # fmt: skip
    descriptors = [] if descriptor is None else [descriptor]
    return Launch(command, environment, descriptors, folder=workspace, kill=_kill_group)


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
