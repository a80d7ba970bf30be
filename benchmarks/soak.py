"""Many episodes for a long time on a server that is killed again and again.

    python benchmarks/soak.py --episodes 1000 --minutes 60 --kill-every 60 --calm 5 [--workers 16] [--json]

Every episode writes a file and a folder of mail of its own name at each step, with an idempotency key, and
tries the same call again until it is answered; some run a program that writes a file. Beside them episodes
are created, forked, kept, reset, judged and deleted all the time. The server process is killed (SIGKILL)
every so many seconds and started anew on the same state; then it is left alone for the calm minutes. Found
are:

- *lost*: writes that were acknowledged and are not there; *crossed*: anything of another episode;
- *faults*: answers that say that something of ours is broken;
- *leaks* of the calm minutes: descriptors and resident memory of the server in their last third over those in
  the third before it (16 MiB and 5 % are allowed, 20 descriptors);
- *leftovers*: folders that belong to no episode, files in the folder for temporary files, and processes that
  outlive the server.

A line is printed every minute. Exit code 1 if anything of all that was found.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any

import httpx2
from wire import tool_call

TASK = "apply_phd_email"
TOKEN = "benchmark"
_ADMIN = {"Authorization": f"Bearer {TOKEN}"}
_CODE = 0.01
"""Share of steps that run a program."""
_FOLDERS = 150
"""A mailbox takes no more than 200."""
_PATIENCE = 600
"""Seconds until a server that does not start is given up."""
_MORE_MIB, _MORE_SHARE, _MORE_DESCRIPTORS = 16, 0.05, 20


class Server:
    """A server that is killed again and again."""

    def __init__(self, folder: Path, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.state, self.temporary = folder / "state", folder / "tmp"
        self.temporary.mkdir()
        self._log = (folder / "server.log").open("ab")
        self._command = [sys.executable, "-m", "mesocosm", "serve", "--port", str(port)]
        self._command += ["--admin-token", TOKEN, "--state", str(self.state)]
        self.kills = 0
        self.slowest_start = 0.0
        self._pids: set[int] = set()
        self.start()

    def start(self) -> None:
        """A new life."""
        began = time.monotonic()
        environment = {**os.environ, "TMPDIR": str(self.temporary)}
        # A session of its own, by which whatever it leaves behind can be found.
        self._process = Popen(
            self._command, stdout=DEVNULL, stderr=self._log, env=environment, start_new_session=True
        )
        self._pids.add(self._process.pid)
        while time.monotonic() < began + _PATIENCE:
            with suppress(httpx2.HTTPError):
                if httpx2.get(f"{self.base}/health").status_code == 200:
                    self.slowest_start = max(self.slowest_start, time.monotonic() - began)
                    return
            time.sleep(0.1)
        raise RuntimeError(f"the server did not start within {_PATIENCE} seconds")

    def kill(self) -> None:
        """As a machine that fails."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self.kills += 1

    def usage(self) -> tuple[int, int]:
        """Descriptors, and MiB of resident memory."""
        process = Path(f"/proc/{self._process.pid}")
        pages = int((process / "statm").read_text().split()[1])
        return len(os.listdir(process / "fd")), pages * os.sysconf("SC_PAGESIZE") >> 20

    def survivors(self) -> list[str]:
        """Processes that a life of the server left behind."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
                if session in self._pids and int(folder.name) != self._process.pid:
                    found.append((folder / "cmdline").read_text().replace("\0", " ")[:120])
        return found

    def close(self) -> None:
        """The end."""
        self._process.terminate()
        self._process.wait()
        self._log.close()


class Acting:
    """A client of the server, which may be dead at the moment."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.faults: list[str] = []

    def create(self, client: httpx2.Client) -> str:
        """A new episode, be it that the server has to come back first."""
        body = {"task": TASK, "length": "8k", "services": ["python_execute"]}
        while (answer := self.ask(client, "POST", "/episodes", body)) is None:
            time.sleep(0.2)
        return str(answer["id"])

    def ask(self, client: httpx2.Client, method: str, path: str, body: Any = None) -> Any:
        """Return the control plane's answer; ``None`` while there is none."""
        try:
            answer = client.request(method, self.server.base + path, json=body, headers=_ADMIN)
        except httpx2.HTTPError:
            return None
        if answer.status_code >= 500:
            self.faults.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        return None if answer.status_code >= 400 else answer.json() if answer.content else {}

    def call(
        self,
        client: httpx2.Client,
        episode: str,
        service: str,
        tool: str,
        arguments: dict[str, Any],
        key: str = "",
    ) -> str | None:
        """The result of a tool call; nothing while there is no server, or if it was refused."""
        headers, body = tool_call(tool, arguments)
        if key:
            headers["Idempotency-Key"] = key
        try:
            answer = client.post(
                f"{self.server.base}/e/{episode}/{service}/mcp",
                json=body,
                headers=headers,
            )
            if answer.status_code != 200:
                self.faults.append(f"{service}.{tool}: {answer.status_code} {answer.text[:200]}")
                return None
            # A call that takes long is answered as a stream of events, of which the last is the answer.
            text = answer.text
            if not text.startswith("{"):
                text = [line for line in text.splitlines() if line.startswith("data:")][-1][5:]
            said = json.loads(text)["result"]
        except httpx2.HTTPError:
            return None
        text = "\n".join(block["text"] for block in said["content"])
        if said.get("isError"):
            self.faults.append(f"{service}.{tool}: {text[:200]}")
            return None
        return text


class Agent(Acting):
    """An episode's agent."""

    def __init__(self, server: Server, number: int, client: httpx2.Client) -> None:
        super().__init__(server)
        self.number = number
        self.steps = 0
        self.programs: list[int] = []
        self.episode = self.create(client)

    def step(self, client: httpx2.Client, dice: random.Random, over: threading.Event) -> None:
        """One write of each kind; a call that is not answered is made again with its key."""
        name = f"e{self.number}-{self.steps}"
        calls = [
            ("filesystem", "write_file", {"path": f"{name}.txt", "content": name}),
        ]
        if self.steps < _FOLDERS:
            calls.append(("email", "create_folder", {"folder_name": name}))
        if dice.random() < _CODE:
            program = f"open('{name}.code', 'w').write('x')"
            calls.append(("python_execute", "python_execute", {"code": program}))
        for service, tool, arguments in calls:
            while self.call(client, self.episode, service, tool, arguments, f"{name}-{tool}") is None:
                if over.is_set() or self.faults:
                    return
                time.sleep(0.2)
            if service == "python_execute":
                self.programs.append(self.steps)
        self.steps += 1

    def judge(self, client: httpx2.Client) -> tuple[int, int]:
        """Count acknowledged writes that are gone, and data of other episodes."""
        files, page = "", 0
        while page == 0 or f"page={page + 1}" in files or f"page {page + 1}" in files:
            page += 1
            where = {"path": ".", "page": page}
            files += self.call(client, self.episode, "filesystem", "list_directory", where) or ""
        folders = self.call(client, self.episode, "email", "get_folders", {}) or ""
        lost = crossed = 0
        texts = {int(step) for number, step in re.findall(r"\be(\d+)-(\d+)\.txt\b", files)}
        programs = {int(step) for number, step in re.findall(r"\be(\d+)-(\d+)\.code\b", files)}
        named = {int(step) for number, step in re.findall(r"\be(\d+)-(\d+) \(", folders)}
        lost += len(set(range(self.steps)) - texts)
        lost += len(set(range(min(self.steps, _FOLDERS))) - named)
        lost += len(set(self.programs) - programs)
        for number, _ in re.findall(r"\be(\d+)-(\d+)\b", files + folders):
            crossed += int(number) != self.number
        return lost, crossed


class Churn(Acting):
    """Creates episodes and removes them again."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.rounds = 0
        self.kept: set[str] = set()

    def round(self, client: httpx2.Client) -> None:
        """One episode from its creation to its end, whatever fails on the way."""
        made = self.ask(client, "POST", "/episodes", {"task": TASK, "length": "8k"})
        if made is None:
            time.sleep(0.5)
            return
        one = made["id"]
        self.kept.add(one)
        self.call(client, one, "email", "create_folder", {"folder_name": "churn"})
        fork = self.ask(client, "POST", f"/episodes/{one}/fork")
        if fork:
            self.kept.add(fork["id"])
        self.ask(client, "POST", f"/episodes/{one}/snapshots", {"name": "a"})
        self.ask(client, "POST", f"/episodes/{one}/grade")
        self.ask(client, "POST", f"/episodes/{one}/restore", {"name": "a"})
        self.ask(client, "POST", f"/episodes/{one}/reset")
        for id_ in sorted(self.kept):
            if self.ask(client, "DELETE", f"/episodes/{id_}") is not None:
                self.kept.discard(id_)
        self.rounds += 1


class Usage:
    """Descriptors and memory of the calm minutes."""

    def __init__(self) -> None:
        self.samples: list[tuple[int, int]] = []

    def leaks(self) -> list[str]:
        """List what grows without end."""
        third = len(self.samples) // 3
        if third < 3:
            return []
        before, after = self.samples[third : 2 * third], self.samples[-third:]
        files = [statistics.median(sample[0] for sample in part) for part in (before, after)]
        memory = [statistics.median(sample[1] for sample in part) for part in (before, after)]
        found = []
        if files[1] > files[0] + _MORE_DESCRIPTORS:
            found.append(f"descriptors: {files[0]:.0f} to {files[1]:.0f}")
        if memory[1] > memory[0] + max(_MORE_MIB, _MORE_SHARE * memory[0]):
            found.append(f"memory: {memory[0]:.0f} to {memory[1]:.0f} MiB")
        return found


def leftovers(server: Server, agents: list[Agent], client: httpx2.Client) -> list[str]:
    """List what nobody owns. Episodes whose creation was never answered do not count, and are deleted."""
    asking = Acting(server)
    ours = {agent.episode for agent in agents}
    ids: list[str] = []
    while page := asking.ask(client, "GET", f"/episodes?limit=1000&offset={len(ids)}")["episodes"]:
        ids += page
    for id_ in set(ids) - ours:
        asking.ask(client, "DELETE", f"/episodes/{id_}")
    found = [f"episode {id_} is gone" for id_ in ours - set(ids)]
    folders = [path.name for path in (server.state / "episodes").iterdir()]
    if len(folders) != len(ours):
        hidden = sum(name.startswith(".") for name in folders)
        found.append(f"{len(folders)} folders for {len(ours)} episodes, {hidden} of them drafts")
    return found


def run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """The whole run."""
    server, over, calm = Server(folder, options.port), threading.Event(), Usage()
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{(time.monotonic() - began) / 60:6.1f} min  {text}", file=sys.stderr, flush=True)

    def begin(part: int) -> list[Agent]:
        with httpx2.Client(timeout=300) as client:
            return [Agent(server, n, client) for n in range(part, options.episodes, options.workers)]

    def act(part: list[Agent]) -> None:
        dice = random.Random(part[0].number if part else 0)
        with httpx2.Client(timeout=120) as client:
            while part and not over.is_set():
                dice.choice(part).step(client, dice, over)
                over.wait(options.pause)

    def churning(churn: Churn) -> None:
        with httpx2.Client(timeout=120) as client:
            while not over.is_set():
                churn.round(client)
                over.wait(options.pause)

    with ThreadPoolExecutor(options.workers + 1) as pool:
        parts = list(pool.map(begin, range(options.workers)))
        agents = [agent for part in parts for agent in part]
        say(f"{len(agents)} episodes created")
        churn = Churn(server)
        running = [pool.submit(act, part) for part in parts] + [pool.submit(churning, churn)]
        until = time.monotonic() + 60 * options.minutes
        try:
            while time.monotonic() < until:
                time.sleep(max(0.0, min(options.kill_every, until - time.monotonic())))
                files, memory = server.usage()
                steps = sum(agent.steps for agent in agents)
                faults = [fault for each in (*agents, churn) for fault in each.faults]
                say(
                    f"{steps:,} steps, {churn.rounds} rounds, {server.kills} kills, {files} descriptors, "
                    f"{memory} MiB, {len(faults)} faults {faults[-1] if faults else ''}"
                )
                server.kill()
                server.start()
            # After a kill an episode is opened when it is first asked for, which takes memory: what is
            # looked for is what goes on growing when all are open.
            with httpx2.Client(timeout=300) as client:
                for agent in agents:
                    agent.call(client, agent.episode, "email", "get_folders", {})
                    agent.call(client, agent.episode, "filesystem", "list_allowed_directories", {})
            say("calm, all episodes are open")
            until = time.monotonic() + 60 * options.calm
            while time.monotonic() < until:
                time.sleep(min(10, max(0.1, options.calm * 60 / 30)))
                calm.samples.append(server.usage())
        finally:
            over.set()
        for done in running:
            done.result()
    with httpx2.Client(timeout=300) as client:
        say("judging")
        judged = [agent.judge(client) for agent in agents]
        left = leftovers(server, agents, client)
        churn.kept.clear()
    server.close()
    # What tiktoken keeps its ranks in is one file, and stays.
    left += [f"file {path.name}" for path in server.temporary.iterdir() if path.name != "data-gym-cache"]
    time.sleep(5)
    left += [f"process {name}" for name in server.survivors()]
    return {
        "episodes": options.episodes,
        "minutes": round((time.monotonic() - began) / 60, 1),
        "steps": sum(agent.steps for agent in agents),
        "acknowledged": sum(a.steps + min(a.steps, _FOLDERS) + len(a.programs) for a in agents),
        "rounds": churn.rounds,
        "kills": server.kills,
        "slowest_start": round(server.slowest_start, 1),
        "lost": sum(lost for lost, _ in judged),
        "crossed": sum(crossed for _, crossed in judged),
        "faults": sorted({fault for each in (*agents, churn) for fault in each.faults})[:20],
        "calm": calm.samples[:: max(1, len(calm.samples) // 6)],
        "leaks": calm.leaks(),
        "leftovers": left[:20],
    }


def main() -> int:
    """Make the run and say what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--kill-every", type=float, default=20, help="seconds")
    parser.add_argument("--calm", type=float, default=0.5, help="minutes without a kill, at the end")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--pause", type=float, default=0, help="seconds of a worker between two steps")
    parser.add_argument("--port", type=int, default=8399)
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--folder", type=Path, help="where the state lies, and stays; by default it is removed"
    )
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="mesocosm-soak-"))
    folder.mkdir(exist_ok=True)
    found = run(options, folder)
    # Before a million files are removed, which takes longer than anybody waits.
    print(
        json.dumps(found) if options.json else "\n".join(f"{k:<15}{v}" for k, v in found.items()), flush=True
    )
    if options.folder is None:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if any(found[name] for name in ("lost", "crossed", "faults", "leaks", "leftovers")) else 0


if __name__ == "__main__":
    sys.exit(main())
