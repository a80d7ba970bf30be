"""Running the programs of answers in the sandbox, each test in a process of its own.

What a test should print stays outside: the sandbox holds the program and the inputs only.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import orjson

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


# -- a C++ compiler for the sandbox: the machine's own, taken along with each job -----------------------
#
# The headers are preprocessed outside, where only our own list of them is read; what an answer says is read
# by the compiler inside of the sandbox alone. Definitions are kept, so that macros such as ``INT_MAX`` are
# there.

HEADERS = (  # noqa: SIM905 - a table
    "algorithm array bitset cassert climits cmath cstdio cstdlib cstring deque iomanip iostream list map "
    "numeric queue set sstream stack string unordered_map unordered_set utility vector"
).split()
_TOOLS = ("g++", "as", "ld")
_PARTS = (
    *("cc1plus", "collect2", "libgcc.a", "libgcc_s.so", "libstdc++.so"),
    *("crtbegin.o", "crtbeginS.o", "crtend.o", "crtendS.o"),
)
"""Files that g++ needs of its own folder, which the sandbox does not have."""


class NoCompiler(Exception):
    """There is no working g++ on this machine; the text says why."""


@cache
def compiler_files() -> dict[str, bytes]:
    """The files of a job that make a compiler there: its programs and the headers. Raises ``NoCompiler``."""
    found = {name: shutil.which(name) for name in _TOOLS}
    if missing := [name for name, path in found.items() if path is None]:
        raise NoCompiler(f"there is no {missing[0]} on this machine")
    text = "".join(f"#include <{name}>\n" for name in HEADERS)
    # Judging has no environment, and without a PATH g++ tells of its parts relative to nowhere.
    compiler, environment = str(found["g++"]), {"PATH": os.path.dirname(str(found["g++"]))}
    try:
        headers = subprocess.run(
            [compiler, "-std=c++17", "-E", "-dD", "-P", "-x", "c++", "-"],
            input=text.encode(), capture_output=True, timeout=60, check=True, env=environment,
        )  # fmt: skip
        part = subprocess.run(
            [compiler, "-print-prog-name=cc1plus"],
            capture_output=True, text=True, timeout=60, check=True, env=environment,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        raise NoCompiler(f"g++ does not work on this machine: {error}") from None
    folder = os.path.dirname(part.stdout)
    if not os.path.isabs(folder):
        raise NoCompiler("g++ of this machine has no C++ compiler")
    files = {name: Path(os.path.realpath(path)).read_bytes() for name, path in found.items() if path}
    for name in _PARTS:
        part_path = Path(folder, name)
        if part_path.exists():
            files[name] = part_path.read_bytes()
    return files | {"headers.h": headers.stdout}
