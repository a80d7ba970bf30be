"""Checks of ``mesocosm doctor``: which sandbox is active, what each one lacks, and whether it isolates."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import mesocosm
from mesocosm.sandbox import bubblewrap, runtime, seccomp, slots
from mesocosm.sandbox.jobs import CODE, Job, JobLimits, SandboxFailed
from mesocosm.sandbox.levels import RUNNER, VARIABLE, Sandbox, Unavailable, active, chosen
from mesocosm.sandbox.remote import RemoteSandbox
from mesocosm.worlds.limits import Settings, settings


class Level(BaseModel):
    """One way to run code of agents."""

    name: str
    active: bool
    works: bool
    problem: str | None = None
    """Why it does not work here."""
    uses: str | None = None
    """Which program it is done with."""
    lacks: list[str] = []


class SandboxCheck(BaseModel):
    """Something that was tried inside the active sandbox."""

    name: str
    passed: bool
    detail: str = ""


class Diagnosis(BaseModel):
    """The state of code execution on this machine."""

    chosen: str
    active: str | None
    python: str
    missing_libraries: list[str]
    missing_commands: list[str]
    levels: list[Level]
    checks: list[SandboxCheck]
    settings: Settings
    """The limits of workspaces and code."""

    @property
    def sound(self) -> bool:
        """True if code runs, isolated, with everything that the tools promise."""
        isolated = any(level.active and level.name != "subprocess" for level in self.levels)
        return isolated and not self.missing_libraries and all(check.passed for check in self.checks)


def diagnose() -> Diagnosis:
    """Look at this machine, and try the active sandbox."""
    try:
        sandbox: Sandbox | None = active()
    except Unavailable:
        sandbox = None
    name = sandbox.name if sandbox else None
    return Diagnosis(
        chosen=chosen(),
        active=name,
        python=runtime.python_version(),
        missing_libraries=runtime.missing_libraries(),
        missing_commands=runtime.missing_commands(),
        levels=[_bubblewrap(name), _code_runner(sandbox), _subprocess(name)],
        settings=settings(),
        checks=_checks(sandbox) if sandbox else [],
    )


def _bubblewrap(name: str | None) -> Level:
    binary, problem = bubblewrap.chosen()
    lacks = [*_WATCHED, _CLOCK]
    if seccomp.program() is None:
        lacks.insert(0, f"no filter of system calls is known for {os.uname().machine}")
    return Level(
        name="bubblewrap",
        active=name == "bubblewrap",
        works=problem is None,
        uses=str(binary) if binary else None,
        problem=problem,
        lacks=lacks,
    )


_WATCHED = (
    "memory of all processes together and the size of the workspace are watched ten times a second, "
    "not limited by the kernel",
)
_CLOCK = "Python and date show the world's time; what else asks the clock sees the machine's"
_SLOTS = (
    "walls are chroot, a user of its own and a filter of system calls, not namespaces",
    "the size of /tmp is watched, not limited by the kernel",
    "removed files that are still open are not counted where the container lacks CAP_SYS_PTRACE",
)


def _code_runner(sandbox: Sandbox | None) -> Level:
    lacks = [
        *_WATCHED,
        _CLOCK,
        "the workspace is copied to the runner and back, and files as large take as long",
    ]
    if not isinstance(sandbox, RemoteSandbox):
        problem = f"not set: {RUNNER}=http://HOST:PORT of a process `mesocosm code-runner`, and its token"
        return Level(name="code-runner", active=False, works=False, problem=problem, lacks=lacks)
    try:
        status = sandbox.status()
    except SandboxFailed as error:
        return Level(name="code-runner", active=True, works=False, problem=str(error), lacks=lacks)
    if status.walls == slots.Slots.name:
        lacks += _SLOTS
    if status.version != mesocosm.__version__ or status.missing_libraries:
        missing = ", ".join(status.missing_libraries) or "none"
        lacks.append(f"the runner is version {status.version}, missing libraries: {missing}")
    return Level(name=f"code-runner ({status.walls})", active=True, works=True, lacks=lacks)


def _subprocess(name: str | None) -> Level:
    lacks = [
        "everything but limits of time, memory, file size and output: code sees the worlds, the answers, the "
        "source, the network, and the server's own files",
        f"it is used only with {VARIABLE}=subprocess",
    ]
    return Level(name="subprocess", active=name == "subprocess", works=True, lacks=lacks)


def _checks(sandbox: Sandbox) -> list[SandboxCheck]:
    with tempfile.TemporaryDirectory(prefix="mesocosm-doctor-") as folder:
        probe = Path(__file__).with_name("probe.py").read_bytes()
        source = Path(mesocosm.__file__).resolve().parents[1]
        asked = {
            "source": str(source),
            "libraries": [name for name in runtime.LIBRARIES if name not in runtime.missing_libraries()],
        }
        command = (runtime.PYTHON, "-P", f"{CODE}/probe.py", json.dumps(asked))
        job = Job(command, Path(folder), JobLimits.configured(60), {"probe.py": probe})
        try:
            ended = sandbox.run(job)
        except SandboxFailed as error:
            return [SandboxCheck(name="the sandbox starts", passed=False, detail=str(error))]
    if ended.status != 0:
        return [SandboxCheck(name="the probe runs", passed=False, detail=ended.stderr.text()[-500:])]
    found: list[dict[str, Any]] = json.loads(ended.stdout.text())
    return [SandboxCheck.model_validate(item) for item in found]
