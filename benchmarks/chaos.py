"""A server for a team while everything around it fails.

    python benchmarks/chaos.py [--clients 250] [--minutes 60] [--hosts 2] [--pause 1.0] [--only disk,store]

Clients write files, run code, and programs that call tools, each in an episode of its own, with the pauses
of an agent. Meanwhile, in turn: a host is killed (SIGKILL), the disk is filled and freed, the store is
stopped and continued (SIGSTOP), the code runner is killed and started again, the door is killed and started
again. The disk is a small one of its own, which only root can make; the store is moto's S3
(``moto[server]``), with a relay before it that sees how long each request of the servers is left without an
answer. What cannot be had here is left out and said.

Told to end (SIGTERM, SIGINT), it counts what came of it until then.

Exit code 1 if a write that was acknowledged is not there or was done twice, an episode is errored, or
``/ready`` was wrong: 200 while the disk is full or the store silent (after the time in which that is found
out), or 503 in calm; that the store does not answer is right where the relay saw that, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

import mesocosm
from mesocosm.hosting.client import Episode, ServerError

TOKEN = "chaos"
TASK, LENGTH = "apply_phd_email", "8k"
DISK, DISK_PER_CLIENT = 300 * 2**20, 10 * 2**20
"""Bytes: what an hour of a client writes has to fit, or the disk stays full."""
_SILENT = 5.0
"""Seconds without an answer after which the store counts as silent; servers ask several things in a row."""
CODE = "open('by-code-{0}.txt', 'w').write('x'); print('ran {0}')"
PROGRAM = "write_file(path='by-code-{0}.txt', content='x'); print('ran {0}')"
SERVICES = ["python_execute", "programmatic_tool_calling"]
_AT_ONCE = 8


def say(text: str) -> None:
    """To whoever waits."""
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


def free_port() -> int:
    """A port that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def relay(port: int, silent: list[tuple[float, float]]) -> int:
    """A way to a port, in a thread; notes from when until when what was asked was left without an answer."""

    async def carry(near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        asked: float | None = None

        def answered() -> None:
            nonlocal asked
            if asked is not None and time.monotonic() - asked > _SILENT:
                silent.append((asked, time.monotonic()))
            asked = None

        async def ask(writer: asyncio.StreamWriter) -> None:
            nonlocal asked
            while data := await near.read(65_536):
                asked = time.monotonic()
                writer.write(data)
                await writer.drain()

        async def answer(reader: asyncio.StreamReader) -> None:
            while data := await reader.read(65_536):
                answered()
                back.write(data)
                await back.drain()

        with suppress(OSError):
            far, writer = await asyncio.open_connection("127.0.0.1", port)
            ways = [asyncio.create_task(ask(writer)), asyncio.create_task(answer(far))]
            _, left = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in left:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            answered()
            writer.close()
        back.close()

    near = socket.create_server(("127.0.0.1", 0), backlog=1024)

    async def serve() -> None:
        async with await asyncio.start_server(carry, sock=near) as server:
            await server.serve_forever()

    threading.Thread(target=asyncio.run, args=(serve(),), daemon=True).start()
    return int(near.getsockname()[1])


class Process:
    """A program that is killed and started again."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str], log: Path) -> None:
        self.name, self._command, self._environment, self._log = name, command, environment, log
        self.start()

    def start(self) -> None:
        """Begin it (again)."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=self._environment, start_new_session=True
            )

    def send(self, number: int) -> None:
        """A signal."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """End it in good order."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(60)
        self._process.kill()


@dataclass
class Fault:
    """Something that is amiss for a while."""

    kind: str
    began: float
    ended: float = float("inf")
    found_within: float | None = None
    """Seconds after which ``/ready`` has to say so; ``None``: it need not."""
    over_within: float = 60.0
    """Seconds after the end after which it has to be forgotten."""

    def has_to_be_said(self, at: float) -> bool:
        """True if ``/ready`` has to report it by then."""
        return self.found_within is not None and self.began + self.found_within <= at < self.ended - 1


@dataclass
class Client:
    """An agent with an episode of its own, and what was acknowledged to it."""

    episode: Episode
    written: list[str] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)

    async def act(self, pause: float, over: asyncio.Event, seed: int, code: bool) -> None:
        """Write until it is over."""
        dice = random.Random(seed)
        number = 0
        while not over.is_set():
            number += 1
            runs = code and number % 10 == 0
            name = f"by-code-{number}.txt" if runs else f"{number}.txt"
            tool, arguments = "write_file", {"path": name, "content": "x"}
            if runs:
                tool, source = ("python_execute", CODE) if number % 20 else ("code_execution", PROGRAM)
                arguments = {"code": source.format(number)}
            try:
                result = await self.episode.act(tool, arguments)
            except ServerError as error:
                self.unknown.add(name)
                self.refused[str(error.status)] += 1
                await asyncio.sleep(1)
                continue
            if result.is_error or (runs and f"ran {number}" not in result.text):
                self.refused[result.text[:80]] += 1
                self.unknown.add(name)
            else:
                self.written.append(name)
            await asyncio.sleep(pause * dice.uniform(0.5, 1.5))

    async def lost(self) -> tuple[list[str], list[str]]:
        """Return acknowledged calls that are missing, and calls executed twice."""
        calls = [call for call in await self.episode.journal() if call["status"] == "ok"]
        done = Counter(call["arguments"]["path"] for call in calls if call["tool"] == "write_file")
        ran = "\n".join(call["arguments"]["code"] for call in calls if "code" in call["arguments"])
        text, page = "", 0
        while page == 0 or f"page={page + 1}" in text or f"page {page + 1}" in text:
            page += 1
            text += (await self.episode.act("list_directory", {"path": ".", "page": page})).text
        there = set(re.findall(r"[\w-]*\b\d+\.txt", text))
        lost = [
            name for name in self.written if name not in there or not (name in done or f"'{name}'" in ran)
        ]
        return lost, [name for name, count in done.items() if count > 1]


class Chaos:
    """A server with all that it needs, and what befalls it."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.faults: list[Fault] = []
        self._dice = random.Random(0)
        self.seen: list[tuple[float, float, int, str]] = []
        """Answers of ``/ready``: when it was asked and when it answered, status, text."""
        self.silent: list[tuple[float, float]] = []
        """When the store left a request of the servers' without an answer: from, until."""
        self.disk = self._disk()
        self.store = self._store()
        runner_port = free_port()
        environment = {**os.environ, "MESOCOSM_CODE_RUNNER_TOKEN": TOKEN}
        command = [sys.executable, "-m", "mesocosm"]
        self.runner = Process(
            "runner",
            [*command, "code-runner", "--listen", f"127.0.0.1:{runner_port}"],
            environment,
            folder / "runner.log",
        )
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        serve = ["serve", "--hosts", str(options.hosts), "--port", str(port)]
        serve += ["--state", str((self.disk or folder) / "state")]
        if self.store:
            serve += ["--store", "s3://worlds/chaos", "--keep-every", str(options.keep_every)]
        self.door = Process(
            "door",
            [*command, *serve],
            {
                **environment,
                "MESOCOSM_ADMIN_TOKEN": TOKEN,
                "MESOCOSM_CODE_RUNNER": f"http://127.0.0.1:{runner_port}",
            },
            folder / "server.log",
        )

    def _disk(self) -> Path | None:
        disk = self.folder / "disk"
        disk.mkdir()
        size = DISK + self.options.clients * DISK_PER_CLIENT
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(disk)]
        if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
            say("no disk of one's own can be made here: it is not filled")
            return None
        return disk

    def _store(self) -> Process | None:
        program = shutil.which("moto_server", path=Path(sys.executable).parent)
        if program is None:
            say("moto[server] is not here: there is no store")
            return None
        port = free_port()
        os.environ |= {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        store = Process("store", [program, "-p", str(port)], dict(os.environ), self.folder / "store.log")
        os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{relay(port, self.silent)}"
        import s3fs  # type: ignore[import-untyped]

        for _ in range(300):
            try:
                s3fs.S3FileSystem().mkdir("worlds")
                return store
            except Exception:  # noqa: BLE001 - it is not there yet
                time.sleep(0.2)
        raise RuntimeError("the store does not start")

    def close(self) -> None:
        """End all of it."""
        self.door.end()
        self.runner.end()
        if self.store:
            self.store.end()
        if self.disk:
            subprocess.run(["umount", "--lazy", str(self.disk)], check=True)

    # -- what befalls it --------------------------------------------------------------------------------

    async def host(self) -> None:
        """A host is killed."""
        hosts: list[dict[str, Any]] = []
        async with httpx2.AsyncClient(base_url=self.base, timeout=10) as http:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            while not hosts:  # after the door was killed, on a busy machine, none may be up for long
                with suppress(httpx2.TransportError):
                    hosts = (await http.get("/hosts", headers=headers)).json()["hosts"]
                await asyncio.sleep(0.5)
        fault = self._begin("host", over_within=30)
        os.kill(self._dice.choice(hosts)["pid"], signal.SIGKILL)
        fault.ended = time.monotonic()

    async def fill(self) -> None:
        """The disk is full for a while."""
        assert self.disk
        fault = self._begin("disk", found_within=3, over_within=10)
        filler = self.disk / "filler"
        with filler.open("wb") as file, suppress(OSError):
            while True:
                file.write(bytes(2**20))
                file.flush()
        await asyncio.sleep(self.options.fault)
        filler.unlink()
        fault.ended = time.monotonic()

    async def silence(self) -> None:
        """The store says nothing for a while."""
        assert self.store
        fault = self._begin("store", found_within=30, over_within=30)
        self.store.send(signal.SIGSTOP)
        await asyncio.sleep(30 + self.options.fault)
        self.store.send(signal.SIGCONT)
        fault.ended = time.monotonic()

    async def unrunner(self) -> None:
        """The code runner is killed, and somebody starts it again."""
        fault = self._begin("runner", over_within=25)
        self.runner.kill()
        await asyncio.sleep(1)
        self.runner.start()
        fault.ended = time.monotonic()

    async def undoor(self) -> None:
        """The door is killed, and somebody starts it again."""
        fault = self._begin("door", over_within=45)
        self.door.kill()
        await asyncio.sleep(1)
        self.door.start()
        fault.ended = time.monotonic()

    def _begin(self, kind: str, **about: Any) -> Fault:
        fault = Fault(kind, time.monotonic(), **about)
        self.faults.append(fault)
        say(kind)
        return fault

    def end_early(self) -> None:
        """Count what came of it after what goes on now."""
        say("told to end")
        self._until = 0.0

    async def befall(self, until: float) -> None:
        """One after the other, with calm between."""
        self._until = until
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self.end_early)
        kinds = {
            "host": self.host,
            "disk": self.fill if self.disk else None,
            "store": self.silence if self.store else None,
            "runner": self.unrunner,
            "door": self.undoor,
        }
        wanted = self.options.only.split(",") if self.options.only else list(kinds)
        while time.monotonic() < self._until:
            for kind in wanted:
                if (happen := kinds[kind]) and time.monotonic() < self._until:
                    await happen()
                    await asyncio.sleep(self.faults[-1].over_within + self.options.calm)

    # -- what is seen of it -----------------------------------------------------------------------------

    async def look(self, over: asyncio.Event) -> None:
        """Ask again and again whether it is ready."""
        async with httpx2.AsyncClient(base_url=self.base, timeout=15) as http:
            while not over.is_set():
                began = time.monotonic()
                try:
                    answer = await http.get("/ready")
                    status, text = answer.status_code, answer.text[:200]
                except httpx2.TransportError as error:
                    status, text = 0, type(error).__name__
                self.seen.append((began, time.monotonic(), status, text))
                await asyncio.sleep(0.25)

    def slow(self) -> dict[str, float]:
        """Return how often the running store left a request unanswered, and the longest time."""
        stopped = [(fault.began, fault.ended) for fault in self.faults if fault.kind == "store"]
        alone = [
            until - since
            for since, until in self.silent
            if not any(began <= until and since <= ended for began, ended in stopped)
        ]
        return {"requests": len(alone), "seconds_at_most": round(max(alone, default=0), 1)}

    def wrong(self) -> list[str]:
        """List wrong answers of ``/ready``."""
        found = []
        for at, answered, status, text in self.seen:
            # What is asked before a fault may be answered, or cut off, amid it.
            ongoing = [f for f in self.faults if f.began <= answered and at <= f.ended + f.over_within]
            unsaid = (fault for fault in ongoing if fault.has_to_be_said(at))
            if status == 200 and (fault := next(unsaid, None)):
                found.append(f"{fault.kind}, after {at - fault.began:.1f} s: ready")
            # That the store was silent is told until it was written to again.
            silent = "s3://" in text and any(since <= at <= until + 30 for since, until in self.silent)
            if not ongoing and status != 200 and not silent:
                before = max(
                    (fault for fault in self.faults if fault.ended < at), key=lambda f: f.ended, default=None
                )
                since = f"{at - before.ended:.1f} s after {before.kind}" if before else "at first"
                found.append(f"{since}: {status} {text}")
        return found


async def run(chaos: Chaos) -> dict[str, Any]:
    """All of it, and what came of it."""
    options = chaos.options
    async with mesocosm.connect(chaos.base, token=TOKEN, retries=30, wait=180) as server:
        clients: list[Client] = []
        while len(clients) < options.clients:
            count = min(50, options.clients - len(clients))
            order: Any = {"task": TASK, "length": LENGTH, "count": count, "services": SERVICES}
            clients += [Client(episode) for episode in await server.create_batch([order])]
        say(f"{len(clients)} clients")
        over, done = asyncio.Event(), asyncio.Event()
        began = time.monotonic()
        code = options.code
        acting = [
            asyncio.create_task(client.act(options.pause, over, seed, code))
            for seed, client in enumerate(clients)
        ]
        looking = asyncio.create_task(chaos.look(done))
        await asyncio.sleep(options.calm)
        await chaos.befall(began + options.minutes * 60)
        over.set()
        await asyncio.gather(*acting)
        done.set()
        await looking
        seconds = time.monotonic() - began
        say("counting what was acknowledged")
        lost, twice, unread = [], [], 0
        left = iter(clients)

        async def count_lost() -> None:
            nonlocal unread
            for client in left:
                try:
                    gone, again = await client.lost()
                except ServerError as error:  # an episode that cannot be read has nothing any more
                    say(str(error))
                    gone, again = client.written, []
                    unread += 1
                lost.extend(gone)
                twice.extend(again)

        await asyncio.gather(*(count_lost() for _ in range(_AT_ONCE)))
        grades = []
        for at in range(0, len(clients), 50):
            grades += await server.grade_batch([client.episode for client in clients[at : at + 50]])
    refused: Counter[str] = Counter()
    for client in clients:
        refused += client.refused
    wrong = chaos.wrong()
    return {
        "load": os.getloadavg()[0],
        "clients": len(clients),
        "minutes": round(seconds / 60, 1),
        "faults": Counter(fault.kind for fault in chaos.faults),
        "acknowledged": sum(len(client.written) for client in clients),
        "not_acknowledged": refused,
        "lost": len(lost),
        "lost_first": lost[:10],
        "twice": len(twice),
        "unread": unread,
        "voided": sum(grade.verdict == "errored" for grade in grades),
        "why_voided": Counter(
            str(fault)[:600] for grade in grades for fault in grade.data["verdict"]["faults"]
        ).most_common(5),
        "store_slow": chaos.slow(),
        "ready_asked": len(chaos.seen),
        "ready_wrong": len(wrong),
        "ready_wrong_kinds": Counter(re.sub(r"[\d.]+", "N", text) for text in wrong).most_common(20),
        "ready_wrong_first": wrong[:10],
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=250)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two calls of a client")
    parser.add_argument("--keep-every", type=float, default=5, help="as of `mesocosm serve`")
    parser.add_argument("--fault", type=float, default=15, help="seconds that a disk is full, a store silent")
    parser.add_argument("--calm", type=float, default=10, help="seconds without anything amiss")
    parser.add_argument("--only", default="", help="kinds of faults, such as disk,store")
    parser.add_argument("--log", type=Path, help="where the server's log is kept")
    parser.add_argument("--no-code", dest="code", action="store_false")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mesocosm-chaos-", ignore_cleanup_errors=True) as name:
        chaos = Chaos(options, Path(name))
        try:
            found = asyncio.run(run(chaos))
        finally:
            chaos.close()
            if options.log:
                shutil.copy(Path(name) / "server.log", options.log)
    print(json.dumps(found, indent=1))
    return 1 if found["lost"] or found["twice"] or found["voided"] or found["ready_wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
