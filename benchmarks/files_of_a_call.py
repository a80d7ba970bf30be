"""Which files of the project a call passes, from the socket to SQLite and back, and which a run does.

    python benchmarks/files_of_a_call.py [--run]

A server is started in this process and asked over HTTP; functions of the project that are called meanwhile
are noted. The call is made twice, so that what is done once (imports, opening files) does not count. With
``--run``, the command ``mesocosm run`` with the reference solver is traced instead, all of it.
"""

from __future__ import annotations

import argparse
import http.client
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tool_call import Target, build_episode, free_port

import mesocosm

ROOT = Path(mesocosm.__file__).parent.parent


@cache
def _shown(file: str) -> str | None:
    """The name of one of the project's files; none for others."""
    path = Path(file)
    own = path.is_relative_to(ROOT) and not {".venv", "benchmarks"} & set(path.parts)
    return str(path.relative_to(ROOT)) if own else None


class Trace:
    """The project's files whose functions were called while it records, in the order of the first call."""

    def __init__(self) -> None:
        self.files: dict[str, set[str]] = {}
        self.records = False
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: Any, event: str, argument: Any) -> None:
        if self.records and event == "call" and (name := _shown(frame.f_code.co_filename)):
            self.files.setdefault(name, set()).add(frame.f_code.co_qualname)

    def of(self, work: Callable[[], Any]) -> dict[str, set[str]]:
        """Return the files, each with the functions that were called, of some work."""
        self.files, self.records = {}, True
        try:
            work()
        finally:
            self.records = False
        return self.files


def read_call(trace: Trace, folder: Path) -> dict[str, set[str]]:
    """The files of a list of assignments over MCP."""
    from mesocosm.hosting.application import Hosting
    from mesocosm.hosting.server import serve

    state, port = folder / "state", free_port()
    id_ = build_episode(state, folder, "canvas_list_test", 8_000)
    hosting = Hosting(state, admin_token="benchmark")
    threading.Thread(target=serve, args=(hosting, "127.0.0.1", port), daemon=True).start()
    while True:
        try:
            http.client.HTTPConnection("127.0.0.1", port, timeout=1).connect()
            break
        except OSError:
            pass
    line, arguments = http.client.HTTPConnection("127.0.0.1", port), {"course_id": 1, "per_page": 10}
    call = Target(
        "",
        None,  # type: ignore[arg-type]
        line,
        f"/e/{id_}/canvas/mcp",
        "canvas_list_assignments",
        arguments,
    )
    while b"points_possible" not in call.call():  # a course without assignments
        call.arguments["course_id"] += 1
    call.arguments["per_page"] += 1  # the same list again would be known from the last time
    return trace.of(call.call)


def run(trace: Trace, folder: Path) -> dict[str, set[str]]:
    """The files of an episode that the reference solver plays, from the command to the verdict."""
    from mesocosm.cli.commands import app

    arguments = ["run", "refund_list", "--length", "8k", "--agent", "reference", "--out", str(folder / "run")]
    return trace.of(lambda: app(arguments, standalone_mode=False))


def main() -> None:
    """Trace and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true")
    options = parser.parse_args()
    trace = Trace()
    with tempfile.TemporaryDirectory() as folder:
        files = (run if options.run else read_call)(trace, Path(folder))
    for name, functions in files.items():
        print(f"{name}: {', '.join(sorted(functions)[:6])}{' ...' if len(functions) > 6 else ''}")
    print(f"{len(files)} files")


if __name__ == "__main__":
    main()
