"""Runs a program on some inputs, inside the sandbox; prints one JSON string per input.

It is given to the sandbox as a file and imports the standard library only.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any

FOLDER = "/run/code"
MOST = 1_000_000
INCLUDE = re.compile(r"\s*#\s*include\s*<")


def main() -> None:
    with open(f"{FOLDER}/plan.json", encoding="utf-8") as file:
        plan = json.load(file)
    command = [sys.executable, "-I", f"{FOLDER}/program"]
    if plan["language"] == "cpp":
        command = compiled(plan)
    for text in plan["inputs"]:
        say(outcome(command, text, plan["seconds"]))


def say(value: str) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def compiled(plan: dict[str, Any]) -> list[str]:
    folder = tempfile.mkdtemp()
    for name in os.listdir(FOLDER):
        if name not in ("harness.py", "program", "plan.json", "headers.h"):
            shutil.copyfile(f"{FOLDER}/{name}", f"{folder}/{name}")
            os.chmod(f"{folder}/{name}", 0o755)
    with open(f"{FOLDER}/program", encoding="utf-8") as file:
        # The headers are there already, and as files they are not.
        lines = ["" if INCLUDE.match(line) else line for line in file.read().split("\n")]
    with open(f"{FOLDER}/headers.h", encoding="utf-8") as file:
        text = file.read() + '\nusing namespace std;\n#line 1 "program"\n' + "\n".join(lines)
    with open(f"{folder}/whole.cpp", "w", encoding="utf-8") as file:
        file.write(text)
    # Which every compilation begins with; what it defines is among the headers.
    with open(f"{folder}/stdc-predef.h", "w", encoding="utf-8"):
        pass
    binary = f"{folder}/program"
    command = [
        f"{folder}/g++",
        f"-B{folder}/",
        f"-I{folder}",
        "-std=c++17",
        "-O1",
        "-w",
        "-fno-use-linker-plugin",
        "-o",
        binary,
    ]
    problem = compiling(command, f"{folder}/whole.cpp", plan["compile"])
    # Whether the compiler works is asked with a text of our own: no answer can say that it does not.
    if problem and compiling(command, own_text(folder), plan["compile"]):
        say("no compiler: g++ does not work in the sandbox")
        sys.exit()
    if problem:
        for _ in plan["inputs"]:
            say(f"does not compile: {problem}")
        sys.exit()
    return [binary]


def compiling(command: list[str], path: str, seconds: float) -> str:
    """Compile a file; return the error, or ""."""
    try:
        done = subprocess.run([*command, path], capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return "it takes too long"
    return done.stderr.decode("utf-8", "replace")[:200] or "it fails" if done.returncode else ""


def own_text(folder: str) -> str:
    path = f"{folder}/own.cpp"
    with open(f"{FOLDER}/headers.h", encoding="utf-8") as file:
        headers = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(headers + "\nint main() { return 0; }\n")
    return path


def outcome(command: list[str], text: str, seconds: float) -> str:
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(
                command, input=text.encode(), stdout=out, stderr=subprocess.PIPE, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return f"takes longer than {seconds} s"
        if done.returncode:
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [""]
            return f"ends with status {done.returncode} {last[0][:200]}"
        if out.tell() > MOST:
            return "prints too much"
        out.seek(0)
        lines = [line.rstrip() for line in out.read().decode("utf-8", "replace").split("\n")]
        return hashlib.sha256("\n".join(lines).rstrip().encode()).hexdigest()


main()
