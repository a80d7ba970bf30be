"""Running the programs of answers in the sandbox, each test in a process of its own.

What a test should print stays outside: the sandbox holds the program and the inputs only.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

import orjson

from mesocosm.kits.procedures.programs.compiler import NoCompiler, compiler_files
from mesocosm.sandbox import levels, runtime
from mesocosm.sandbox.jobs import CODE, MIB, Job, JobLimits, SandboxFailed

SECONDS_PER_TEST = 3
SECONDS_TO_COMPILE = 60
MEMORY = 512
"""MiB that a program and all it starts may use."""
_MAX_SOURCE = 4 * MIB


class NotJudged(Exception):
    """This machine cannot run the program; the text says why."""


def outcomes(language: str, source: str, inputs: Sequence[str]) -> list[str]:
    """Return digests of a program's output for each input (see ``digest``), or the error.

    Raises ``NotJudged`` where there is no sandbox or compiler here.
    """
    if len(source) > _MAX_SOURCE or "\0" in source:
        return ["the program is too large"] * len(inputs)
    try:
        sandbox = levels.active()
    except levels.Unavailable as error:
        raise NotJudged(str(error)) from None
    seconds = SECONDS_PER_TEST * len(inputs) + (SECONDS_TO_COMPILE if language == "cpp" else 0) + 5
    limits = JobLimits(
        seconds=seconds,
        memory_bytes=MEMORY * MIB,
        processes=32,
        file_bytes=(64 if language == "cpp" else 16) * MIB,
    )
    plan = {
        "language": language,
        "seconds": SECONDS_PER_TEST,
        "compile": SECONDS_TO_COMPILE,
        "inputs": list(inputs),
    }
    files = {
        "harness.py": Path(__file__).with_name("harness.py").read_bytes(),
        "program": source.encode("utf-8", "replace"),
        "plan.json": orjson.dumps(plan),
    }
    if language == "cpp":
        try:
            files |= compiler_files()
        except NoCompiler as error:
            raise NotJudged(str(error)) from None
    with tempfile.TemporaryDirectory(prefix="mesocosm-program-") as folder:
        job = Job((runtime.PYTHON, "-I", f"{CODE}/harness.py"), Path(folder), limits, files)
        try:
            ended = sandbox.run(job)
        except SandboxFailed as error:
            raise NotJudged(str(error)) from None
    found = _reported(ended.stdout.text(), len(inputs))
    if found and found[0].startswith("no compiler"):
        raise NotJudged(found[0])
    if len(found) < len(inputs):
        found += [f"the program was stopped ({ended.reached or ended.status})"] * (len(inputs) - len(found))
    return found


def _reported(text: str, most: int) -> list[str]:
    found = []
    for line in text.splitlines()[:most]:
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            break
        found.append(str(value)[:300])
    return found


def digest(text: str) -> str:
    """SHA-256 of what is printed, without white space at the ends of lines and empty lines at the end."""
    lines = [line.rstrip() for line in text.split("\n")]
    return hashlib.sha256("\n".join(lines).rstrip().encode()).hexdigest()
