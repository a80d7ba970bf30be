"""Runs the agent's program and carries its tool calls to the server. Runs in the sandbox, not in the server.

The server answers one line of JSON for each line that it gets; calls of several threads may be under way at
the same time. What this module does is for the program's comfort only: the server trusts nothing it sends.
"""

from __future__ import annotations

import ast
import base64
import json
import os
import queue
import re
import socket
import sys
import threading
import traceback
import types
from collections.abc import Iterator
from typing import Any, Literal

DESCRIPTOR = 9
"""Descriptor of the socket, fixed."""


class ToolError(Exception):
    """A tool call that was answered with an error."""


class ToolList(list[Any]):
    """A list that a tool returned; ``next_page`` is the number of the page after it, if there is one."""

    next_page: int | None = None
    total: int | None = None


class Connection:
    """The calls that are under way."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._waiting: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}
        self._last = 0
        self._reader: threading.Thread | None = None

    def call(self, service: str, tool: str, arguments: dict[str, Any]) -> Any:
        """Make one call and wait for its result."""
        if os.getpid() != self._process:
            raise ToolError("Tools can be called from the program's first process and its threads only.")
        box: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        with self._lock:
            self._last += 1
            request = {"id": self._last, "service": service, "tool": tool, "arguments": arguments}
            # As text beyond ASCII, so that half a surrogate pair is refused here and not by the server.
            line = json.dumps(request, ensure_ascii=False, allow_nan=False).encode() + b"\n"
            self._waiting[self._last] = box
            if self._reader is None:
                self._reader = threading.Thread(target=self._read, daemon=True)
                self._reader.start()
            self._socket.sendall(line)
        reply = box.get()
        if reply["status"] != "ok":
            raise ToolError(reply["text"])
        return decoded(reply["blocks"])

    def report(self, value: Any, error: str | None) -> None:
        """Say how the program ended."""
        with self._lock:
            self._socket.sendall(json.dumps({"return_value": value, "error": error}).encode() + b"\n")

    def _read(self) -> None:
        for line in self._socket.makefile("rb"):
            reply = json.loads(line)
            self._waiting.pop(reply["id"]).put(reply)
        for box in self._waiting.values():
            box.put({"status": "refused", "text": "The connection to the tools was lost."})


def decoded(blocks: list[Any]) -> Any:
    """A result: data where it is JSON, text otherwise, bytes for a picture."""
    first = blocks[0] if blocks else ""
    if not isinstance(first, str):
        return base64.b64decode(first["data"])
    try:
        value = json.loads(first) if first[:1] in ("{", "[") else first
    except ValueError:
        return first
    if not isinstance(value, list):
        return value
    result = ToolList(value)
    if len(blocks) > 1 and isinstance(blocks[1], str):
        more = json.loads(blocks[1])
        result.next_page, result.total = more["next_page"], more["total"]
    return result


class ToolModule(types.ModuleType):
    """The module ``tools``: a function for each tool, made when it is first asked for."""

    def __init__(self, connection: Connection, sources: dict[str, str]) -> None:
        super().__init__("tools", "The tools of this episode, as functions.")
        self._sources = sources
        self.__all__ = [*sources, "ToolError"]
        self.ToolError = ToolError
        self._namespace: dict[str, Any] = {
            "Any": Any, "Literal": Literal, "call": connection.call, "OMITTED": ..., "__name__": "tools"
        }  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if name not in self._sources:
            known = [tool for tool in self._sources if not name.startswith("_") and name in tool]
            hint = f"; did you mean {' or '.join(known[:5])}?" if known else ""
            raise AttributeError(f"there is no tool {name!r}{hint}")
        exec(compiled(self._sources[name], "<tools>"), self._namespace)  # noqa: S102 - the server's text
        setattr(self, name, self._namespace[name])
        return self._namespace[name]

    def __dir__(self) -> list[str]:
        return list(self.__all__)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)


def compiled(source: str | ast.Module | ast.Expression, path: str) -> types.CodeType:
    """Code without the future that this module is compiled with."""
    mode = "eval" if isinstance(source, ast.Expression) else "exec"
    code = compile(source, path, mode, dont_inherit=True)
    assert isinstance(code, types.CodeType)
    return code


def run(source: str, path: str, namespace: dict[str, Any]) -> Any:
    """Run a program; its value is that of its last statement, if that is an expression."""
    tree = ast.parse(source, path)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compiled(tree, path), namespace)  # noqa: S102 - what this program is for
    if isinstance(last, ast.Expr):
        return eval(compiled(ast.Expression(last.value), path), namespace)  # noqa: S307
    return None


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return repr(value)[:10_000]


def main() -> None:
    """Run the program that the server has put beside this one."""
    folder = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(folder, sys.argv[1])
    # The number under which it came tells how busy the server is, which is different each time.
    given = int(os.environ.pop("SESSION_FD"))
    if given != DESCRIPTOR:
        os.dup2(given, DESCRIPTOR, inheritable=False)
        os.close(given)
    connection = Connection(DESCRIPTOR)
    with open(os.path.join(folder, "tools.json"), encoding="utf-8") as file:
        tools = ToolModule(connection, json.load(file))
    with open(path, encoding="utf-8") as file:
        source = file.read()
    program = types.ModuleType("__main__")
    program.__dict__.update({"__file__": path, "tools": tools, "ToolError": ToolError})
    named = set(re.findall(r"\w+", source)) & set(tools)
    program.__dict__.update({name: getattr(tools, name) for name in named})
    sys.modules |= {"__main__": program, "tools": tools}
    sys.argv[:] = [path]
    # Only now: modules of the workspace shall not take the place of those that this one needs.
    sys.path.insert(0, os.getcwd())
    error, value, status = None, None, 0
    try:
        value = run(source, path, program.__dict__)
    except SystemExit as exit_:
        if exit_.code not in (None, 0):
            error, status = f"SystemExit: {exit_.code}", exit_.code if isinstance(exit_.code, int) else 1
    except BaseException as exception:  # noqa: BLE001 - whatever the program raises is its result
        own = exception.__traceback__
        while own and own.tb_frame.f_code.co_filename == __file__:
            own = own.tb_next
        traceback.print_exception(type(exception), exception, own)
        error, status = traceback.format_exception_only(exception)[-1].strip(), 1
    connection.report(plain(value), error)
    sys.stdout.flush()
    sys.exit(status)


if __name__ == "__main__":
    main()
