"""An agent that is a program of somebody else, started as a command.

It is given a folder with its prompt and the addresses of its tools. It runs as the user who evaluates it, so
the answer, the world's files and the source from which the answer could be computed are hidden from it; and
the answer is not on the disk at all while it acts. The code that judges it is not its to write, nor that of
anything else that this process may load.
"""

from __future__ import annotations

import logging
import os
import shlex
import signal
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import mesocosm
from mesocosm.errors import UsageError
from mesocosm.families import trust
from mesocosm.families.leases import IN_STATE, IN_USE
from mesocosm.sandbox.jobs import SandboxFailed
from mesocosm.sandbox.screen import closed_to_others, screen
from mesocosm.sandbox.supervisor import kill_with_namespace
from mesocosm.services.content import roots
from mesocosm.worlds.workspace import keep_for_owner

# The agent runs as the user, so the answer has to be hidden from it by mounts (decision 033).


_CONTENT = ("generators", "checkers", "solvers", "tasks")


_TAIL = 8
"""Lines of what a program wrote that are shown where it failed."""
_TAIL_LETTERS = 600


@dataclass(frozen=True)
class ProgramEnded:
    confined: bool
    """True if it was isolated from the run."""
    failure: str = ""
    """Error with which it ended, with its last lines; no result then."""


def check_command(command: str) -> None:
    """``UsageError`` where the shell does not find the program that a command begins with."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--agent-command {command!r}: {error}") from None
    first = next((word for word in words if "=" not in word), "")
    if not first or not all(letter.isalnum() or letter in "_-./+" for letter in first):
        return  # the shell will have to say
    if "/" in first and not first.startswith("/"):
        raise UsageError(
            f"--agent-command: it runs in a folder of its own, from where {first!r} is not found: name it "
            f"with its whole path, {Path(first).absolute()}"
        )
    known = subprocess.run(
        ["/bin/sh", "-c", 'command -v "$1"', "sh", first], capture_output=True, check=False
    )
    if known.returncode:
        raise UsageError(
            f"--agent-command: there is no program {first!r}: install it, or name it with its whole path"
        )


def act(
    command: str,
    given: Mapping[str, str],
    files: Mapping[str, bytes],
    seconds: int,
    out: Path,
    *,
    hidden: Sequence[Path] = (),
    walls: bool = True,
) -> ProgramEnded:
    """Run a shell command as the agent, in a folder of its own.

    Args:
        command: For the shell.
        given: Environment variables for it; ``{folder}`` stands for its folder.
        files: What lies in its folder, by name.
        seconds: Time that it has; what is left of it then is killed.
        out: The run directory; ``agent.log`` in it is what the agent writes.
        hidden: What else belongs to runs.
        walls: Whether to hide from it what it must not see.
    """
    close_other_ways()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mesocosm-agent-")))
        for name, data in files.items():
            (folder / name).write_bytes(data)
        environment = {key: value for key, value in os.environ.items() if not _is_ours(key)}
        environment |= {name: value.replace("{folder}", str(folder)) for name, value in given.items()}
        covered, code = [*hidden_places(out), *hidden], code_places()
        shown = _screen(covered, code) if walls else []
        if not shown:
            stack.enter_context(closed_to_others())
        unchanged = Unchanged(code, [out, *hidden])
        started = [*shown, "/bin/sh", "-c", command]
        status = _run(started, folder, environment, seconds, out / "agent.log", alone=bool(shown))
        if shown:
            unchanged.check()
    return ProgramEnded(bool(shown), _failure(status, out / "agent.log"))


def _failure(status: int, log: Path) -> str:
    """Describe a program that ended with an error; "" if it did not."""
    if not status:
        return ""
    how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"
    lines = log.read_text(encoding="utf-8", errors="replace")[-_TAIL_LETTERS:].splitlines()
    lines = [line for line in lines if line.strip()][-_TAIL:]
    wrote = "its last lines:\n" + "\n".join(lines) if lines else "it wrote nothing"
    return f"the agent program ended with {how}; {wrote}"


def _is_ours(variable: str) -> bool:
    return variable.startswith("MESOCOSM_") or variable in OWN_VARIABLES


@contextmanager
def withheld(path: Path) -> Iterator[None]:
    """A file is nowhere on the disk meanwhile, and then its owner's alone."""
    data = path.read_bytes()
    path.unlink()
    try:
        yield
    finally:
        keep_for_owner(path, data)


def hidden_places(out: Path) -> list[Path]:
    """List what an agent must not see: runs, its own included, states of servers, and the definitions of
    tasks.
    """
    package = Path(mesocosm.__file__).parent
    named = [
        Path(".mesocosm"),
        Path.home() / ".mesocosm",
        Path(os.environ.get("MESOCOSM_STATE") or ".mesocosm"),
    ]
    states = [*named, *_states_in_use()]
    folders = [
        out,
        Path("runs"),
        *(path.parents[1] for path in out.absolute().parent.glob("*/episode/expected.json")),
        *states,
        *(state / name for state in states for name in IN_STATE),
        *(package / name for name in _CONTENT),
        *_history(package.resolve().parent),
    ]
    # Nothing in which there is what the agent needs, should a state be kept in the home folder itself.
    needed = [Path.cwd(), Path.home(), Path(tempfile.gettempdir()), Path(sys.prefix)]
    return [folder for folder in folders if not any(one.is_relative_to(folder.resolve()) for one in needed)]


def _states_in_use() -> Iterator[Path]:
    """The state directories of servers of this user, which have admin tokens in them."""
    for process in Path("/proc").glob("[0-9]*/fd"):
        with suppress(OSError):
            for descriptor in os.scandir(process):
                with suppress(OSError):
                    place = Path(os.readlink(descriptor.path))
                    if place.name == IN_USE and (place.parent / "episodes").is_dir():
                        yield place.parent


def _history(checkout: Path) -> list[Path]:
    """Return the folders of a checkout's git history, also of its other worktrees."""
    entry = checkout / ".git"
    with suppress(OSError):
        text = entry.read_text(encoding="utf-8")
        return [Path(text.removeprefix("gitdir:").strip()).parents[1]]
    return [entry]


def _screen(hidden: Sequence[Path], code: Sequence[Path]) -> list[str]:
    try:
        for needed in (Path.home(), Path(tempfile.gettempdir())):
            if holds := next((path for path in code if needed.resolve().is_relative_to(path)), None):
                raise SandboxFailed(f"Python finds code in {holds}, where the agent can write")
        return screen(hidden, code)
    except SandboxFailed as problem:
        logging.getLogger("mesocosm.agents").warning(
            "THE AGENT IS NOT KEPT FROM THIS RUN'S FILES: it runs as your user and could read or change the "
            "world's databases directly, or compute the answer from Mesocosm's source (%s). Trust such a "
            "result only if you trust the agent.",
            problem,
        )
        return []


def _run(
    command: list[str],
    folder: Path,
    environment: Mapping[str, str],
    seconds: int,
    log_path: Path,
    *,
    alone: bool,
) -> int:
    """Run it to its end, or until its time is over; ``alone`` is whether it has a namespace for processes."""
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            log.write(f"\n[stopped: the task's limit of {seconds} seconds was reached]\n".encode())
            return 0
        finally:
            if alone and process.poll() is None:
                kill_with_namespace(process)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


# Code that judges has to be out of the agent's reach, which runs as the same user (decision 033).


# -- the code that judges: read-only for an agent (``_screen``), and looked at afterwards ---
#
# Two ways round that are left: a folder above such a place may be renamed and another one put there, and a
# file may have a second name elsewhere, as installers make them that share files between environments.

_CODE = (".py", ".pyc", ".so", ".pth", ".zip", ".cfg")
_Identity = tuple[int, ...]


def close_other_ways() -> None:
    """From now on, neither this process nor those that it starts find code in folders that anybody may fill:
    the working directory, and a folder for the user's packages that is not there yet."""
    os.environ["PYTHONSAFEPATH"] = "1"
    if sys.path and Path(sys.path[0] or ".").resolve() == Path.cwd() and _package().parent != Path.cwd():
        del sys.path[0]
    if site.getusersitepackages() not in sys.path:
        os.environ["PYTHONNOUSERSITE"] = "1"


OWN_VARIABLES = ("PYTHONSAFEPATH", "PYTHONNOUSERSITE")
"""Variables that this sets for ourselves and hides from the agent."""


def code_places() -> list[Path]:
    """Files and folders from which Python code may be loaded, by this process or one that it starts."""
    trusted = filter(None, os.environ.get(trust.VARIABLE, "").split(os.pathsep))
    found = [
        _package(),
        *(root.path for root in roots()),
        *map(Path, (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)),
        Path(sys.executable).resolve(),
        *(Path(entry or ".") for entry in sys.path),
        *(file for task in trusted for file in (Path(task), trust.code_of(Path(task)))),
    ]
    places = sorted({path.resolve() for path in found if path.exists()})
    return [path for path in places if not any(other in path.parents for other in places)]


def _package() -> Path:
    return Path(mesocosm.__file__).resolve().parent


class Unchanged:
    """Records the state of paths, and checks later that they are unchanged.

    Args:
        code: Places that only those can change who reach what is in them by another name.
        others: Folders of which only where they lie is looked at.
    """

    def __init__(self, code: Iterable[Path], others: Iterable[Path]) -> None:
        code = list(code)
        self._places = {path: _place(path) for path in (*code, *others)}
        self._named_twice = {path: seen for place in code for path, seen in _named_twice(place)}

    def check(self) -> None:
        """``UsageError`` if one of them is another by now: nothing that is judged then can be believed."""
        for path, seen in self._places.items():
            if _place(path) != seen:
                raise _changed(path)
        for name, identity in self._named_twice.items():
            if _identity(os.lstat(name)) != identity:
                raise _changed(Path(name))


def _changed(path: Path) -> UsageError:
    return UsageError(f"{path} was exchanged while the agent acted, so there is no verdict")


def _place(path: Path) -> _Identity:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_dev, status.st_ino


def _identity(status: os.stat_result) -> _Identity:
    # Whoever changes a file cannot set the time at which its inode changed.
    return status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns


def _named_twice(place: Path) -> Iterator[tuple[str, _Identity]]:
    """The files of code below a place that have further names."""
    if place.is_file():
        status = place.stat()
        if status.st_nlink > 1:
            yield str(place), _identity(status)
        return
    folders = [str(place)]
    for folder in folders:
        try:
            entries = os.scandir(folder)
        except FileNotFoundError:  # somebody else's, gone in the meantime
            continue
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif (
                    entry.name.endswith(_CODE) and (status := entry.stat(follow_symlinks=False)).st_nlink > 1
                ):
                    yield entry.path, _identity(status)
