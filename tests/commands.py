"""The command line as a process that is forked from one that has loaded Mesocosm already.

What it does is what ``python -m mesocosm`` does, with a process, a folder, an environment and streams of its
own; it only saves the second or two in which a fresh interpreter loads everything. Tests that are about
that (other hash seeds, what a process shows of itself, what is installed) start interpreters.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from importlib import import_module
from io import FileIO, TextIOWrapper
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple, Self

import lent_streams
from anyio import fail_after
from patience import PATIENCE

LOADED = (
    "anyio._backends._asyncio",
    "mesocosm.agents.scripted",
    "mesocosm.cli.commands",
    "mesocosm.evaluation.browser.working_out",
    "mesocosm.evaluation.runs",
    "mesocosm.families.description",
    "mesocosm.families.exposure",
    "mesocosm.families.proofs",
    "mesocosm.families.workers",
    "mesocosm.hosting.server",
    "mesocosm.kits.mailbox",
    "mesocosm.kits.organisations.campus",
    "mesocosm.kits.organisations.questions",
    "mesocosm.kits.yaml_tasks.lint",
    "mesocosm.kits.yaml_tasks.written",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)
EVALUATE = ("contamination", "eval", "report", "view")
LOADED_FOR_EVALUATION = (
    "acp",
    "anthropic",
    "inspect_ai.log",
    "markdown_it",
    "matplotlib.figure",
    "mesocosm.evaluation.browser.export",
    "mesocosm.evaluation.evaluation",
    "mesocosm.evaluation.reports",
    "mesocosm.evaluation.sample_episode",
    "openai",
)
"""Modules that are loaded at the first command of ``EVALUATE``."""
PROGRAM = "mesocosm.__main__:main"
ADDRESS = "MESOCOSM_TESTS_COMMANDS"
"""The variable by which the workers of a run find the process that all of them have commands forked from."""


def mesocosm(
    *words: object, cwd: Path | None = None, timeout: float = 300, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What ``mesocosm WORDS`` ends with and writes; it reads nothing from its standard input."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        tempfile.TemporaryFile("w+", encoding="utf-8") as err,
    ):
        with _Forked(words, cwd, environment, (out.fileno(), err.fileno())) as forked:
            status = forked.wait(timeout)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess([*map(str, words)], status, out.read(), err.read())


def stand_in() -> list[str]:
    """What can be written for ``python -m mesocosm`` where somebody else starts the process.

    It is ready at once. A signal is passed on; one that kills the stand-in kills the command a moment later.
    """
    _load_all()
    return _lent(_address(), PROGRAM)


def _lent(address: str, function: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(lent_streams.__file__), address, function]


def fork_helpers(address: str) -> None:
    """Fork the processes, too, in which this one has episodes judged or explained, and instances built."""
    for name in ("mesocosm.families.grading", "mesocosm.evaluation.browser.working_out"):
        import_module(name)._COMMAND = _lent(address, f"{name}:main")
    to_process = import_module("anyio.to_process")
    building = partial(to_process.open_process, _lent(address, "__main__:build"))
    to_process.open_process = lambda _, **options: building(**options)
    # Of whoever is asked first, all has to be loaded before.
    to_process.fail_after = lambda _: fail_after(PATIENCE)


def build() -> None:
    """What ``python -u -m anyio.to_process`` does."""
    sys.stdout = TextIOWrapper(FileIO(1, "w", closefd=False), write_through=True)
    import_module("anyio.to_process").process_worker()


@cache
def _load_all() -> None:
    mesocosm("--help")


class _Forked:
    """A command that runs; it is killed if it still does when this is closed."""

    def __init__(
        self,
        words: Sequence[object],
        cwd: Path | None,
        environment: Mapping[str, str],
        streams: Sequence[int],
    ) -> None:
        self._channel = socket.socket(socket.AF_UNIX)
        self._channel.connect(_address())
        with open(os.devnull) as nothing:
            given = {**os.environ, **environment}
            folder = str(cwd or Path.cwd())
            line = [PROGRAM, *map(str, words)]
            self.pid = lent_streams.ask(self._channel, line, folder, given, (nothing.fileno(), *streams))
        self.returncode: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._channel.close()

    def poll(self) -> int | None:
        return self._status(0)

    def wait(self, timeout: float = 300) -> int:
        if self._status(timeout) is None:
            raise subprocess.TimeoutExpired("mesocosm", timeout)
        assert self.returncode is not None
        return self.returncode

    def _status(self, seconds: float) -> int | None:
        if self.returncode is None:
            self._channel.settimeout(seconds)
            with suppress(BlockingIOError, TimeoutError):
                self.returncode = lent_streams.received(self._channel)
                assert self.returncode is not None, "the process that commands are forked from has ended"
                self._channel.close()
        return self.returncode


class Started(_Forked):
    """A running ``mesocosm WORDS``, such as ``serve``; used as ``subprocess.Popen`` is."""

    def __init__(self, *words: object, **environment: str) -> None:
        pipes = [os.pipe(), os.pipe()]
        super().__init__(words, None, environment, [theirs for _, theirs in pipes])
        for _, theirs in pipes:
            os.close(theirs)
        self.stdout, self.stderr = (open(ours, encoding="utf-8") for ours, _ in pipes)  # noqa: SIM115

    def __exit__(self, *exception: object) -> None:
        self.kill()
        self.communicate()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float = 300) -> tuple[str, str]:
        self.wait(timeout)
        with self.stdout, self.stderr:
            return self.stdout.read(), self.stderr.read()


def _address() -> str:
    return os.environ.get(ADDRESS) or _own()


@cache
def _own() -> str:
    until_the_end = ExitStack()
    address = until_the_end.enter_context(forking())
    atexit.register(until_the_end.close)
    return address


@contextmanager
def forking() -> Iterator[str]:
    """Start the process that commands are forked from, which loads all when first asked; its address."""
    with (
        tempfile.TemporaryDirectory(prefix="mesocosm-commands-") as folder,
        socket.socket(socket.AF_UNIX) as listener,
    ):
        address = f"{folder}/socket"
        listener.bind(address)
        listener.listen(100)
        process = subprocess.Popen(
            [sys.executable, __file__, str(listener.fileno())],
            pass_fds=[listener.fileno()],
            stdin=subprocess.PIPE,
        )
        with process:  # it ends with its standard input
            yield address


class _Child(NamedTuple):
    """A command that was forked: its number, what shows that it ended, and whoever asked for it."""

    number: int
    ended: int
    channel: socket.socket

    def say(self, number: int) -> None:
        """Tell a number to whoever asked, if that is still there."""
        with suppress(BrokenPipeError):
            self.channel.sendall(lent_streams.NUMBER.pack(number))

    def close(self) -> None:
        """Tell how it ended."""
        self.say(os.waitstatus_to_exitcode(os.waitpid(self.number, 0)[1]))
        self.channel.close()
        os.close(self.ended)


def _serve(listener: socket.socket) -> tuple[dict[str, Any], Sequence[int]] | None:
    """Fork what is asked for until the tests are over; what a forked process is to do, and its streams."""
    running: list[_Child] = []
    while True:
        watched: list[Any] = [0, listener, *(one.ended for one in running), *(one.channel for one in running)]
        ready = set(select.select(watched, [], [])[0])
        for one in [one for one in running if one.ended in ready]:
            running.remove(one)
            one.close()
        for one in running:
            if one.channel in ready or 0 in ready:
                os.kill(one.number, signal.SIGKILL)
        if 0 in ready:
            return None
        if listener in ready:
            channel = listener.accept()[0]
            streams, asked = _asked(channel)
            child = os.fork() if asked else None
            if child == 0:
                for other in (channel, listener, *(one.channel for one in running)):
                    other.close()
                for one in running:
                    os.close(one.ended)
                return asked, streams
            for stream in streams:
                os.close(stream)
            if child is None:
                channel.close()
            else:
                running.append(_Child(child, os.pidfd_open(child), channel))
                running[-1].say(child)


def _asked(channel: socket.socket) -> tuple[Sequence[int], dict[str, Any]]:
    """The streams that are lent, and what is asked for: nothing if whoever asks is gone again."""
    streams = socket.recv_fds(channel, 1, 3)[1]
    with channel.makefile("rb") as stream:
        asked: dict[str, Any] = json.loads(stream.readline() or b"{}")
    if asked:
        _load_what_all_need()
        if asked["words"][1:2] in [[word] for word in EVALUATE]:
            _load(*LOADED_FOR_EVALUATION)
        assert threading.active_count() == 1, "a fork has no threads"
    return streams, asked


def _become(asked: dict[str, Any], streams: Sequence[int], address: str) -> Callable[[], Any]:
    """Take on the folder, environment, words and streams of a command; returns what it does."""
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    name, *words = asked["words"]
    function = resolve_name(name)
    program = sys.modules["__main__"] = sys.modules[function.__module__]
    sys.argv[:] = [str(program.__file__), *words]
    if name != PROGRAM:
        del sys.path[0]  # as with ``-P``
    fork_helpers(address)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    return function


@cache
def _load_what_all_need() -> None:
    _load(*LOADED)
    # Asked for the names of services, it would remember them, and not see those of a command's own package.
    for tools in sorted(Path(import_module("mesocosm.servers").__path__[0]).glob("*/tools*")):
        with suppress(ImportError):  # without its extra
            import_module(f"mesocosm.servers.{tools.parent.name}.tools")
    import_module("mesocosm.worlds.tokens").count("")  # loads the tokenizer
    import_module("faker").Faker()  # loads what speaks English
    gc.freeze()


def _load(*names: str) -> None:
    if missing := [name for name in names if name not in sys.modules]:
        for name in missing:
            import_module(name)
        gc.freeze()  # or each fork looks through all that is loaded when it ends


def _main() -> None:
    sys.path[0] = ""  # as of ``python -m``; what lies beside this file are tests
    listener = socket.socket(fileno=int(sys.argv[1]))
    address = listener.getsockname()
    found = _serve(listener)
    if found is not None:
        _become(*found, address)()


if __name__ == "__main__":
    _main()
