"""A C++ compiler for the sandbox, which has none: the machine's own, taken along with each job.

The headers are preprocessed outside, where only our own list of them is read; what an answer says is read by
the compiler inside of the sandbox alone. Definitions are kept, so that macros such as ``INT_MAX`` are there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

HEADERS = (  # noqa: SIM905 - a table
    "algorithm array bitset cassert climits cmath cstdio cstdlib cstring deque iomanip iostream list map "
    "numeric queue set sstream stack string unordered_map unordered_set utility vector"
).split()
_TOOLS = ("g++", "as", "ld")
_PARTS = (
    *("cc1plus", "collect2", "libgcc.a", "libgcc_s.so", "libstdc++.so"),
    *("crtbegin.o", "crtbeginS.o", "crtend.o", "crtendS.o"),
)
"""What g++ needs of its own folder, which the sandbox does not have."""


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
