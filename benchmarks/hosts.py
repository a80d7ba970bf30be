"""Several hosts behind one door: what the door adds, what a second host brings, and what deaths cost.

    python benchmarks/hosts.py added [--calls 2000]
    python benchmarks/hosts.py hosts [--seconds 4] [--connections 64]
    python benchmarks/hosts.py processors [--seconds 4] [--connections 64] [--rounds 4]
    python benchmarks/hosts.py kills [--episodes 200] [--kills 20] [--minutes 9]

*added*: one host, the same calls in turn through the door and straight to the host's own socket. *hosts*:
calls a second of one host and of two, in turn, with clients that are processes of their own, and what
processors spent for a call in hosts, door and clients, from which follows what more cores would bring.
*processors*: calls for each second of a processor that the server spent (door and hosts), with two and with
four hosts, against one process without a door, all of them standing while they are measured in turn; exit
code 1 if either is below .85 of it. As many single processes without a door beside show what of it is the
door's, and what the machine's, whose processors find less in their caches the more processes share them.
*kills*: a host is killed (SIGKILL) again and again while all its episodes are written to; how long until each
of them has answered again, and how many of the writes that were acknowledged are not there at the end; for
that a third of the minutes is left, however many kills there were. Exit code 1 if one is not there, an
episode took longer than 10 seconds, or there were fewer kills than asked for.

"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wire import tool_call

import mesocosm
from mesocosm.hosting.client import BlockingEpisode, BlockingServer
from mesocosm.hosting.hosts.placement import Ids

TOKEN = "benchmark"
TASK, LENGTH = "apply_phd_email", "8k"


@dataclass
class Serving:
    """``mesocosm serve --hosts``, as a process."""

    base: str
    process: subprocess.Popen[str]
    state: Path

    def hosts(self) -> list[dict[str, Any]]:
        """Return the door's list of hosts."""
        connection = http.client.HTTPConnection(self.base.removeprefix("http://"), timeout=30)
        connection.request("GET", "/hosts", headers={"Authorization": f"Bearer {TOKEN}"})
        found: list[dict[str, Any]] = json.loads(connection.getresponse().read())["hosts"]
        connection.close()
        return found

    def all_up(self, count: int) -> list[dict[str, Any]]:
        """The same when all of them serve."""
        for _ in range(3000):
            if len(hosts := self.hosts()) == count:
                return hosts
            time.sleep(0.02)
        raise RuntimeError("a host does not come")

    def open(self) -> BlockingServer:
        """A client that tries again for long."""
        return mesocosm.connect_sync(self.base, token=TOKEN, retries=12)


@contextmanager
def serving(hosts: int | None) -> Iterator[Serving]:
    """So many hosts on a state of their own; ``None``: one process without a door."""
    with tempfile.TemporaryDirectory(prefix="mesocosm-hosts-") as folder:
        command = [sys.executable, "-m", "mesocosm", "serve", "--port", "0"]
        command += [] if hosts is None else ["--hosts", str(hosts)]
        environment = {**os.environ, "MESOCOSM_ADMIN_TOKEN": TOKEN, "MESOCOSM_STATE": folder}
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        try:
            assert process.stderr
            found = re.search(r"http://\S+?:\d+", process.stderr.readline())
            assert found
            threading.Thread(target=process.stderr.read, daemon=True).start()
            served = Serving(found[0], process, Path(folder))
            with served.open():
                if hosts is not None:
                    served.all_up(hosts)
            yield served
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def cpu(pid: int) -> float:
    """Seconds of processors that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Straight(http.client.HTTPConnection):
    """To a unix socket."""

    def connect(self) -> None:
        """Of ``http.client``."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)


def call(connection: http.client.HTTPConnection, path: str) -> None:
    """One call that reads a little."""
    headers, body = tool_call("get_folders", {})
    connection.request("POST", path, json.dumps(body), {**headers, "Host": "localhost"})
    answer = connection.getresponse().read()
    assert b'"isError":false' in answer or b'"result"' in answer, answer[:500]


# -- added ----------------------------------------------------------------------------------------------


def added(options: argparse.Namespace) -> dict[str, Any]:
    """Measure the door's overhead per call."""
    with serving(1) as served, served.open() as server:
        path = f"/e/{server.create(TASK, length=LENGTH).id}/email/mcp"
        host = served.hosts()[0]
        ways = {
            "straight": Straight(host["address"]),
            "through": http.client.HTTPConnection(served.base.removeprefix("http://")),
        }
        taken: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(options.calls + 100):
            if number == 100:
                before = cpu(served.process.pid), cpu(host["pid"])
            for way, connection in ways.items():
                began = time.perf_counter()
                call(connection, path)
                if number >= 100:
                    taken[way].append((time.perf_counter() - began) * 1e3)
        door, hosts = cpu(served.process.pid) - before[0], cpu(host["pid"]) - before[1]
    median = {way: statistics.median(times) for way, times in taken.items()}
    p99 = {way: statistics.quantiles(times, n=100)[98] for way, times in taken.items()}
    return {
        "load": os.getloadavg()[0],
        "median_ms": median,
        "p99_ms": p99,
        "added_median_ms": median["through"] - median["straight"],
        "added_p99_ms": p99["through"] - p99["straight"],
        "door_cpu_ms_per_call": door / options.calls * 1e3,
        "host_cpu_ms_per_call": hosts / options.calls / 2 * 1e3,
    }


# -- hosts ----------------------------------------------------------------------------------------------


def act(targets: list[tuple[str, str]], seconds: float, told: Any) -> None:
    """A client: calls one after the other on each of its connections."""
    counts = [0] * len(targets)

    def work(number: int) -> None:
        base, path = targets[number]
        connection = http.client.HTTPConnection(base.removeprefix("http://"))
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            call(connection, path)
            counts[number] += 1

    with ThreadPoolExecutor(len(targets)) as pool:
        list(pool.map(work, range(len(targets))))
    told.put((sum(counts), time.process_time()))


def rate(count: int, seconds: float, connections: int) -> dict[str, float]:
    """Calls a second of so many hosts, and where the processors' time goes."""
    with serving(count) as served, served.open() as server:
        group = server.create_batch([{"task": TASK, "length": LENGTH, "count": connections}])
        paths = [f"/e/{episode.id}/email/mcp" for episode in group]
        for path in paths:
            call(http.client.HTTPConnection(served.base.removeprefix("http://")), path)
        pids = [host["pid"] for host in served.hosts()]
        context = multiprocessing.get_context("spawn")
        told = context.Queue()
        targets = [(served.base, path) for path in paths]
        halves = [targets[0::2], targets[1::2]]
        clients = [context.Process(target=act, args=(half, seconds, told)) for half in halves]
        before = [cpu(pid) for pid in (served.process.pid, *pids)]
        for client in clients:
            client.start()
        said = [told.get() for _ in clients]
        after = [cpu(pid) for pid in (served.process.pid, *pids)]
        for client in clients:
            client.join()
    calls = sum(one for one, _ in said)
    spent = [b - a for a, b in zip(before, after, strict=True)]
    return {
        "calls_per_second": calls / seconds,
        "door_ms": spent[0] / calls * 1e3,
        "host_ms": sum(spent[1:]) / calls * 1e3,
        "client_ms": sum(used for _, used in said) / calls * 1e3,
        "hosts_busy": sum(spent[1:]) / seconds,
    }


def hosts(options: argparse.Namespace) -> dict[str, Any]:
    """One host and two, in turn."""
    rounds = [[rate(count, options.seconds, options.connections) for count in (1, 2)] for _ in range(3)]
    one, two = (
        {name: statistics.median(r[n][name] for r in rounds) for name in rounds[0][0]} for n in (0, 1)
    )
    return {
        "load": os.getloadavg()[0],
        "one": one,
        "two": two,
        "ratio": two["calls_per_second"] / one["calls_per_second"],
        "ratio_of_hosts_alone": 2 * one["host_ms"] / two["host_ms"],
        "hosts_that_one_door_feeds": two["host_ms"] / two["door_ms"],
    }


# -- processors -----------------------------------------------------------------------------------------


class Standing:
    """A server that stands while others are measured, too: so many hosts, or single processes without a door,
    of which each has its share of the clients."""

    def __init__(self, stack: ExitStack, hosts: int | None, servers: int, connections: int) -> None:
        self._targets: list[tuple[str, str]] = []
        self._pids: list[int] = []
        self.rates: list[float] = []
        self.shares: list[float] = []
        """Of what a single process does."""
        for _ in range(servers):
            served = stack.enter_context(serving(hosts))
            server = stack.enter_context(served.open())
            group = server.create_batch([{"task": TASK, "length": LENGTH, "count": connections // servers}])
            self._targets += [(served.base, f"/e/{episode.id}/email/mcp") for episode in group]
            self._pids += [served.process.pid]
            self._pids += [] if hosts is None else [host["pid"] for host in served.hosts()]
        for base, path in self._targets:
            call(http.client.HTTPConnection(base.removeprefix("http://")), path)

    def measure(self, seconds: float) -> float:
        """Calls for each second of a processor that it spends, all clients at work."""
        context = multiprocessing.get_context("spawn")
        told = context.Queue()
        halves = [self._targets[0::2], self._targets[1::2]]
        clients = [context.Process(target=act, args=(half, seconds, told)) for half in halves]
        before = sum(map(cpu, self._pids))
        for client in clients:
            client.start()
        calls = sum(int(told.get()[0]) for _ in clients)
        after = sum(map(cpu, self._pids))
        for client in clients:
            client.join()
        self.rates.append(calls / (after - before))
        return self.rates[-1]


def processors(options: argparse.Namespace) -> dict[str, Any]:
    """One process, two hosts and four, and as many single processes, in turn."""
    connections = options.connections
    with ExitStack() as stack:
        alone = Standing(stack, None, 1, connections)
        others = {f"{count} hosts": Standing(stack, count, 1, connections) for count in (2, 4)}
        others |= {f"{count} servers": Standing(stack, None, count, connections) for count in (2, 4)}
        for _ in range(options.rounds):
            # What other programs do to the machine changes quickly: each is compared with its neighbours.
            before = alone.measure(options.seconds)
            for other in others.values():
                rate = other.measure(options.seconds)
                after = alone.measure(options.seconds)
                other.shares.append(2 * rate / (before + after))
                before = after
        return {
            "load": os.getloadavg()[0],
            "connections": connections,
            "calls_per_processor_second": {
                name: statistics.median(one.rates) for name, one in {"alone": alone, **others}.items()
            },
            "shares": {name: statistics.median(other.shares) for name, other in others.items()},
            "all_shares": {name: [round(one, 2) for one in other.shares] for name, other in others.items()},
        }


# -- kills ----------------------------------------------------------------------------------------------


@dataclass
class Writer:
    """An episode that is written to, and what of it was acknowledged."""

    episode: BlockingEpisode
    acknowledged: int = 0
    answered: float = 0.0
    """When the last write was."""
    turn: threading.Lock = field(default_factory=threading.Lock)

    def write(self) -> None:
        """One more file."""
        with self.turn:
            self.episode.call(
                "filesystem",
                "write_file",
                path=f"{self.acknowledged // 100}-{self.acknowledged}.txt",
                content="x",
            )
            self.acknowledged += 1
            self.answered = time.monotonic()

    def lost(self) -> int:
        """Writes that were acknowledged and are not in the journal or not on the disk."""
        listed = {call["arguments"]["path"] for call in self.episode.journal() if call["status"] == "ok"}
        text, page = "", 0
        while page == 0 or f"page={page + 1}" in text or f"page {page + 1}" in text:
            page += 1
            text += self.episode.act("list_directory", {"path": ".", "page": page}).text
        there = set(re.findall(r"\b\d+-\d+\.txt", text))
        wanted = {f"{number // 100}-{number}.txt" for number in range(self.acknowledged)}
        return len(wanted - (listed & there))


def kills(options: argparse.Namespace) -> dict[str, Any]:
    """A host dies again and again."""
    enough = time.monotonic() + options.minutes * 60 * 2 / 3
    with serving(2) as served, served.open() as server:
        group: list[BlockingEpisode] = []
        while len(group) < 2 * options.episodes:
            group += server.create_batch(
                [{"task": TASK, "length": LENGTH, "count": min(1000, 2 * options.episodes - len(group))}]
            )
        ids = Ids(bytes.fromhex((served.state / "ids-key").read_text()))
        writers = [Writer(episode) for episode in group if ids.host(episode.id) == 0]
        for episode in group:
            if ids.host(episode.id):
                episode.delete()
        over = threading.Event()

        def keep_writing(seed: int) -> None:
            dice = random.Random(seed)
            while not over.is_set():
                dice.choice(writers).write()

        took: list[float] = []
        with ThreadPoolExecutor(16) as others, ThreadPoolExecutor(16) as pool:
            running = [others.submit(keep_writing, seed) for seed in range(4)]
            for number in range(options.kills):
                if time.monotonic() > enough:
                    break
                list(pool.map(Writer.write, writers))
                pid = next(host["pid"] for host in served.all_up(2) if host["number"] == 0)
                killed = time.monotonic()
                os.kill(pid, signal.SIGKILL)
                list(pool.map(Writer.write, writers))
                took.append(max(writer.answered for writer in writers) - killed)
                print(f"kill {number + 1}: all served after {took[-1]:.2f} s", file=sys.stderr, flush=True)
            over.set()
            for done in running:
                done.result()
            print("counting what was acknowledged", file=sys.stderr, flush=True)
            lost = sum(pool.map(Writer.lost, writers))
    return {
        "load": os.getloadavg()[0],
        "episodes": len(writers),
        "kills": len(took),
        "asked": options.kills,
        "acknowledged": sum(writer.acknowledged for writer in writers),
        "lost": lost,
        "served_again_median_s": statistics.median(took),
        "served_again_most_s": max(took),
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["added", "hosts", "processors", "kills"])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=9)
    options = parser.parse_args()
    found = {"added": added, "hosts": hosts, "processors": processors, "kills": kills}[options.what](options)
    print(json.dumps(found, indent=1))
    missed = found.get("kills", 0) < found.get("asked", 0)
    dear = min(found["shares"][f"{count} hosts"] for count in (2, 4)) < 0.85 if "shares" in found else False
    return 1 if missed or dear or found.get("lost") or found.get("served_again_most_s", 0) > 10 else 0


if __name__ == "__main__":
    sys.exit(main())
