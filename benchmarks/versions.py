"""A state that two versions of Mesocosm serve in turn: an upgrade, and the way back.

    python benchmarks/versions.py --other REVISION [--tasks refund_list,apply_phd_email] [--hosts 2]

The other version (a revision of this repository, with the libraries that are installed here) makes episodes,
acts on them and keeps snapshots; this one serves the same state directory: journals must be what they were,
what is read the same text, calls are made, snapshots restored, episodes forked and graded, and new ones made.
Then the other version serves the state again and must find all of that. Exit code 1 if anything is missing,
differs, or is errored; but where a task has another version there, or services other tables, and that is
said, it is only told.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mesocosm
from mesocosm.hosting.client import BlockingEpisode, BlockingServer, ServerError

TOKEN = "versions"
HERE = Path(__file__).resolve().parents[1]
_SAME = ("tool", "arguments", "status", "result")


def _pass_on(lines: Iterable[str]) -> None:
    """Forward further output of a server."""
    for line in lines:
        print(f"  {line.rstrip()}", file=sys.stderr, flush=True)


@contextmanager
def serving(source: Path, state: Path, hosts: int) -> Iterator[BlockingServer]:
    """A server of the program in a folder, on a state."""
    command = [sys.executable, "-m", "mesocosm", "serve", "--port", "0", "--state", str(state)]
    command += ["--hosts", str(hosts)] if hosts else []
    environment = {**os.environ, "MESOCOSM_ADMIN_TOKEN": TOKEN, "PYTHONPATH": str(source)}
    process = subprocess.Popen(command, cwd=source, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr
        said = process.stderr.readline()
        found = re.search(r"http://\S+?:\d+", said)
        if not found:
            raise RuntimeError(said + process.stderr.read())
        threading.Thread(target=_pass_on, args=(process.stderr,), daemon=True).start()
        with mesocosm.connect_sync(found[0], token=TOKEN) as server:
            yield server
    finally:
        process.terminate()
        process.wait(60)


@dataclass
class Known:
    """An episode, and what was seen of it last."""

    id: str
    task: str
    version: int
    """Of its task, in the program that made it."""
    files: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    listing: str = ""

    def see(self, episode: BlockingEpisode) -> None:
        """Take note of what it is like now."""
        self.listing = episode.act("list_directory", {"path": "."}).text
        self.calls = [{key: call.get(key) for key in _SAME} for call in episode.journal()]


class Trial:
    """A sequence of steps with two versions, and its problems."""

    def __init__(self, tasks: list[str]) -> None:
        self.tasks = tasks
        self.known: list[Known] = []
        self.wrong: list[str] = []
        self.other_rules: list[str] = []
        self.versions: dict[str, int] = {}
        self.checks = 0

    def check(self, fine: bool, text: str) -> None:
        """Take note of what has to be so."""
        self.checks += 1
        if not fine:
            self.wrong.append(text)

    def turn(self, server: BlockingServer, name: str, source: Path) -> None:
        """One version serves: what there is is looked at and gone on with, and something new is made."""
        self.versions = {task: _version(source, task) for task in self.tasks}
        for one in self.known:
            try:
                self._go_on(server.episode(one.id), one, name)
            except (ServerError, AssertionError) as error:
                if isinstance(error, ServerError) and error.status == 409:  # it is left as it is
                    self.other_rules.append(f"{name}, {one.task}: {error}")
                    continue
                self.check(False, f"{name}, {one.task}: {type(error).__name__} {error}")
        for task in self.tasks:
            episode = server.create(task, length="8k", seed=3)
            self._act(episode, one := Known(episode.id, task, self.versions[task]), name)
            episode.snapshot(f"by-{name}")
            self.known.append(one)

    def _go_on(self, episode: BlockingEpisode, one: Known, name: str) -> None:
        calls = [{key: call.get(key) for key in _SAME} for call in episode.journal()]
        self.check(calls == one.calls, f"{name}, {one.task}: the journal is not what it was")
        listing = episode.act("list_directory", {"path": "."}).text
        self.check(
            listing == one.listing, f"{name}, {one.task}: {listing[:200]!r}, not {one.listing[:200]!r}"
        )
        fork = episode.fork()
        self.check(
            fork.act("list_directory", {"path": "."}).text == listing, f"{name}, {one.task}: a fork differs"
        )
        fork.delete()
        self._act(episode, one, name)
        grade = episode.grade()
        error = str(grade.data["verdict"].get("error"))
        said = name in ("other", "again") or "was built by version" in error
        if grade.verdict == "errored" and one.version != self.versions[one.task] and said:
            self.other_rules.append(f"{name}: {error}")
        else:
            self.check(grade.verdict != "errored", f"{name}, {one.task}: errored, {error[:1500]}")
        episode.snapshot(f"all-{name}")
        episode.restore(f"by-{one.files[0].partition('-')[0]}")
        text = episode.act("list_directory", {"path": "."}).text
        self.check(one.files[0] in text, f"{name}, {one.task}: a snapshot has not what was in it")
        self.check(one.files[-1] not in text, f"{name}, {one.task}: a snapshot has what came later")
        episode.restore(f"all-{name}")
        one.see(episode)

    def _act(self, episode: BlockingEpisode, one: Known, name: str) -> None:
        path = f"{name}-{len(one.files)}.txt"
        episode.call("filesystem", "write_file", path=path, content="x")
        one.files.append(path)
        one.see(episode)
        self.check(all(file in one.listing for file in one.files), f"{name}, {one.task}: a file is gone")


def _version(source: Path, task: str) -> int:
    found = re.search(r"^version: (\d+)", (source / f"tasks/{task}.yaml").read_text(), re.MULTILINE)
    return int(found[1]) if found else 1


def main() -> int:
    """Try it and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--other", required=True, help="a revision of this repository")
    parser.add_argument("--tasks", default="refund_list,apply_phd_email,canvas_arrange_exam")
    parser.add_argument("--hosts", type=int, default=0, help="0: one process")
    options = parser.parse_args()
    trial = Trial(options.tasks.split(","))
    with tempfile.TemporaryDirectory(prefix="mesocosm-versions-") as folder:
        other, state = Path(folder) / "other", Path(folder) / "state"
        other.mkdir()
        packed = subprocess.run(
            ["git", "archive", options.other], cwd=HERE, check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", str(other)], input=packed, check=True)
        for source, name in ((other, "other"), (HERE, "this"), (other, "again"), (HERE, "last")):
            with serving(source, state, options.hosts) as server:
                trial.turn(server, name, source)
            print(f"{name}: {trial.checks} checks, {len(trial.wrong)} wrong", file=sys.stderr, flush=True)
    print(
        json.dumps(
            {
                "other": options.other,
                "checks": trial.checks,
                "wrong": trial.wrong,
                "other_rules": trial.other_rules,
            },
            indent=1,
        )
    )
    return 1 if trial.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
