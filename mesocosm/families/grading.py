"""Judging of episodes in a separate process with limits of time and memory.

What an agent left may be made to take all the time or memory of whoever reads it. The process that judges is
kept for as long as episodes are judged, because to start one costs more than to judge; it is killed when an
episode takes too much. Whose fault that is shows in the world as it was built: where judging that ends within
the limits, the rest is what the agent made, and the episode is *failed* for it.
"""

# Agents leave arbitrary files, so judging needs limits that it cannot escape (decision 030).

from __future__ import annotations

import atexit
import json
import os
import queue
import resource
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import ceil
from pathlib import Path
from time import monotonic, process_time
from typing import IO, Any, Literal

from pydantic import BaseModel, ValidationError

from mesocosm.errors import OtherVersion
from mesocosm.families import trust
from mesocosm.families.episode import GRADING, Episode
from mesocosm.families.faults import faults_of
from mesocosm.families.verdict import Check, Verdict
from mesocosm.worlds.descriptors import readable
from mesocosm.worlds.error_mapping import declined
from mesocosm.worlds.garbage import look_rarely
from mesocosm.worlds.limits import setting

_PATIENCE = 10
"""Seconds of waiting per second of a processor: the machine may have other things to do."""
_ANY_SIZE = 2**62
# -P: no code of whoever may write to the working directory.
_COMMAND = (sys.executable, "-P", "-m", "mesocosm.families.grading")
_LONGEST = 64 * 2**20
"""Bytes of an answer."""


class _Answer(BaseModel):
    """Result of judging one state."""

    findings: list[Check] = []
    too_much: str | None = None
    """Unreadable parts of the state, if the state is to blame."""
    fault: str | None = None
    """The traceback of a fault of ours."""


def grade(episode: Episode) -> Verdict:
    """Judge the present state of an episode. A verdict is always made."""
    faults = episode.faults()
    episode.note_touched()
    with _graders(os.environ.get(trust.VARIABLE, "")).one() as grader:
        answer = grader.ask(episode, "world")
        if answer.too_much and (base := grader.ask(episode, "base")).too_much:
            answer = _Answer(fault=f"{base.too_much}\nRaised by the world as it was built.")
    if answer.too_much:
        detail = f"what the agent left cannot be judged: {answer.too_much}"
        return Verdict.of([Check(name=GRADING, passed=False, detail=detail)]).model_copy(
            update={"faults": faults}
        )
    if answer.fault:
        return Verdict.of([], [*faults_of([(GRADING, answer.fault)]), *faults])
    return Verdict.of([*answer.findings, *episode.provoked()], faults)


def untouched(episode: Episode) -> list[Check]:
    """Return the checker's findings in the world as built; empty if it cannot be judged."""
    with _graders(os.environ.get(trust.VARIABLE, "")).one() as grader:
        findings = grader.ask(episode, "base").findings
    return [*findings, *(check.model_copy(update={"passed": True}) for check in episode.provoked())]


def prepare() -> None:
    """Start a process ahead of time; returns at once."""
    with _graders(os.environ.get(trust.VARIABLE, "")).one() as grader:
        grader.start()


class _Grader:
    """The grading process, started on demand and restarted after it was killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """The process, which may still be starting."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            # Ctrl-C at the terminal is for who started it, whose end is that of the requests.
            self._process = subprocess.Popen(
                _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
            )
        return self._process

    def ask(self, episode: Episode, state: Literal["world", "base"]) -> _Answer:
        """Let a state be judged."""
        was_used = self._process is not None
        try:
            return self._asked(episode, state)
        except ValidationError as error:
            self.close()
            # It may be by what another episode has left that it makes no sense.
            return self.ask(episode, state) if was_used else _Answer(fault=f"no verdict, but {error}"[:1000])

    def _asked(self, episode: Episode, state: Literal["world", "base"]) -> _Answer:
        process = self.start()
        seconds, memory = setting("grading_timeout"), setting("grading_memory")
        if process.stdout and readable(process.stdout.fileno(), 0):
            self.close()  # it says what nobody asked
            process = self.start()
        request = [str(episode.path.absolute()), state, seconds, memory]
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = _line(process.stdout, monotonic() + _PATIENCE * seconds)
        except (BrokenPipeError, TimeoutError):
            line = b""
        if line:
            return _Answer.model_validate_json(line)
        self.close()
        return _Answer(too_much=f"it takes more than {seconds} seconds, or too much memory")

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            with self._process:
                self._process = None


def _line(stream: IO[bytes], until: float) -> bytes:
    """Read one line; nothing if the stream ends before, or the line does not end.

    Raises ``TimeoutError`` when it is not there in time.
    """
    line = bytearray()
    while not line.endswith(b"\n"):
        if not readable(stream.fileno(), until - monotonic()):
            raise TimeoutError
        part = os.read(stream.fileno(), 1 << 20)
        if not part or len(line) > _LONGEST:
            return b""
        line += part
    return bytes(line)


class _Graders:
    """As many processes as there are processors, each started when it is first needed."""

    def __init__(self) -> None:
        self._idle: queue.LifoQueue[_Grader] = queue.LifoQueue()
        self._places = threading.BoundedSemaphore(os.cpu_count() or 1)
        atexit.register(self.close)

    @contextmanager
    def one(self) -> Iterator[_Grader]:
        """Reserve an idle grader."""
        with self._places:
            try:
                grader = self._idle.get_nowait()
            except queue.Empty:
                grader = _Grader()
            try:
                yield grader
            finally:
                self._idle.put(grader)

    def close(self) -> None:
        """End those that are idle."""
        while not self._idle.empty():
            self._idle.get_nowait().close()


@cache
def _graders(trusted: str) -> _Graders:
    """Some for each set of task files whose Python may be run, which a process knows from its start."""
    return _Graders()


# -- in the other process --------------------------------------------------------------------------------


def serve(requests: IO[str], answers: IO[str]) -> None:
    """Judge what is asked for, until the requests end."""
    for line in requests:
        path, state, seconds, memory = json.loads(line)
        _limit(seconds, memory)
        answer = _judge(Path(path), of_base=state == "base")
        print(answer.model_dump_json(), file=answers, flush=True)


def _judge(path: Path, *, of_base: bool) -> _Answer:
    try:
        episode = Episode(path)
        episode.world.check_tables()
        return _Answer(findings=episode.findings(of_base=of_base))
    except OtherVersion as error:
        return _Answer(fault=str(error))
    except Exception as error:  # noqa: BLE001 - the episode boundary: what is no refusal is a checker's fault
        refusal = declined(error, _ANY_SIZE)
        return _Answer(too_much=refusal.message) if refusal else _Answer(fault=traceback.format_exc())


def _limit(seconds: int, memory: int) -> None:
    """Limit further CPU time and memory; the kernel kills a process that exceeds them."""
    used = int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()
    for kind, wanted in (
        (resource.RLIMIT_CPU, ceil(process_time()) + seconds),
        (resource.RLIMIT_AS, used + memory),
    ):
        _, most = resource.getrlimit(kind)
        resource.setrlimit(kind, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


def main() -> Any:
    """Serve the process that started this one."""
    # Nothing that is printed by mistake may come between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    look_rarely()
    return serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
