"""Cost of a list over a vendor's REST API, against a bare FastAPI route that returns the same bytes.

    python benchmarks/rest.py [--calls 1500] [--rounds 5]

Both servers run as processes of their own under the same uvicorn settings; one client sends raw requests
over a kept-alive connection, in turn to the one and the other. Both bare routes answer the very bytes that
ours answers: one is given the rows as data, as a route that has a list returns it; the other has the bytes
ready and does nothing but send them. Ours is asked the same *again*, and something *new* each time (by a
header that makes no difference to the answer), which takes the way through the tables; lists that depend on
the clock, such as a student's of assignments that lock, always take it. Reported are medians over the rounds
of the server's CPU time and of the latency of a request, and their ratios to the first. Target: a latency of
at most 1.5 times the bare route's.
"""

from __future__ import annotations

import argparse
import http.client
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

BARE = """
import json, sys
from pathlib import Path
from typing import Any
import uvicorn
from fastapi import FastAPI
from fastapi.responses import Response
body = Path(sys.argv[2]).read_bytes()
rows = json.loads(body)
app = FastAPI()
@app.get("/rows/{course_id}")
async def of_rows(course_id: int, page: int = 1, per_page: int = 10) -> list[dict[str, Any]] | dict[str, Any]:
    return rows
@app.get("/bytes/{course_id}")
async def of_bytes(course_id: int, page: int = 1, per_page: int = 10) -> Response:
    return Response(body, media_type="application/json")
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
"""
OURS = """
import sys
from pathlib import Path
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import serve
serve(Hosting(Path(sys.argv[2]), admin_token="benchmark"), "127.0.0.1", int(sys.argv[1]))
"""
ROWS = 50
LISTS = {
    "documents": "/documents/v1/documents",
    "assignments": "/canvas/api/v1/courses/1/assignments",
    "users": "/canvas/api/v1/courses/1/users",
}


@dataclass
class Target:
    """One URL on one server."""

    name: str
    process: subprocess.Popen[bytes]
    port: int
    path: str
    token: str
    fresh: bool = False
    """Ask for something new each time."""

    def request(self, line: socket.socket, message: bytes) -> bytes:
        """One request on a kept-alive connection; returns the body."""
        line.sendall(message)
        received = b""
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += line.recv(262_144)
        head = received[:end].lower()
        assert head.startswith(b"http/1.1 200"), received[:500]
        length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
        while len(received) < end + 4 + length:
            received += line.recv(262_144)
        return received[end + 4 :]

    def message(self, number: int = 0) -> bytes:
        """A request as it goes over the wire."""
        head = f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
        accepted = f"*/*;n={number}" if self.fresh else "*/*"
        return f"{head}Authorization: Bearer {self.token}\r\nAccept: {accepted}\r\n\r\n".encode()

    def once(self) -> bytes:
        """The body of one answer."""
        with socket.create_connection(("127.0.0.1", self.port)) as line:
            return self.request(line, self.message())

    def cpu(self) -> float:
        """CPU seconds that the server has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def measure(self, calls: int) -> tuple[float, float]:
        """(CPU ms, latency ms) per request."""
        messages = [self.message(number) for number in range(calls)]
        with socket.create_connection(("127.0.0.1", self.port)) as line:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.request(line, messages[-1])
            cpu, started = self.cpu(), time.perf_counter()
            for message in messages:
                self.request(line, message)
            took = time.perf_counter() - started
        return (self.cpu() - cpu) / calls * 1e3, took / calls * 1e3


def start(code: str, *arguments: str) -> tuple[subprocess.Popen[bytes], int]:
    """A server process and its port, as soon as it answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    process = subprocess.Popen([sys.executable, "-c", code, str(port), *arguments])
    for _ in range(400):
        try:
            http.client.HTTPConnection("127.0.0.1", port, timeout=1).connect()
            return process, port
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the server did not start")


def build_episode(state: Path, folder: Path) -> str:
    """An episode with a course of 50 assignments and 50 students, and 50 documents; its id."""
    from types import SimpleNamespace

    from mesocosm.hosting.pool import EpisodePool
    from mesocosm.servers.canvas.store import CanvasStore
    from mesocosm.servers.documents.store import DocumentsStore
    from mesocosm.services.world import World
    from mesocosm.worlds.manifest import Manifest

    with World.create(folder / "world", Manifest(services={"canvas": None, "documents": None})) as world:
        documents = world.store(DocumentsStore)
        documents.items.create_user("ada@example.org", "Ada")
        documents.sign_in("ada@example.org")
        documents.items.create_space("Library", owner="ada@example.org", space_id="library")
        documents.filling.add_documents(
            "library", [{"title": f"Report {n}", "content": f"Week {n}."} for n in range(ROWS)]
        )
        store = world.store(CanvasStore)
        people = [{"name": f"Person {n}", "login_id": f"person{n}@example.edu"} for n in range(ROWS)]
        users = store.users.add_users(people)
        [course] = store.courses.add_courses([{"name": "Biology", "course_code": "BIO-1"}])
        store.courses.enroll_students([(course, user) for user in users])
        store.assignments.add_assignments(
            [
                {
                    "course_id": course,
                    "name": f"Report on experiment {n}",
                    "description": f"<p>Describe what you did in week {n}, and what came of it.</p>",
                    "due_at": f"2025-02-{n % 28 + 1:02}T23:59:59Z",
                    "points_possible": 10.0,
                }
                for n in range(ROWS)
            ]
        )
        store.sign_in(users[0])
        world.finish_building()
    (folder / "expected.json").write_text("{}")
    (folder / "prompt.md").write_text("Read.\n")
    pool = EpisodePool(state)
    task: Any = SimpleNamespace(
        name="benchmark", path=Path("tasks/benchmark.yaml"), task=SimpleNamespace(servers={})
    )
    id_ = pool.adopt(folder, task)
    pool.close()
    return id_


def main() -> None:
    """Run the comparison and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        id_ = build_episode(folder / "state", folder / "instance")
        ours, port = start(OURS, str(folder / "state"))
        processes = [ours]
        try:
            for what, path in LISTS.items():
                target = Target(f"{what}, again", ours, port, f"/e/{id_}{path}?per_page={ROWS}", id_)
                (folder / what).write_bytes(target.once())
                bare, bare_port = start(BARE, str(folder / what))
                processes.append(bare)
                routes = [
                    Target(f"bare FastAPI, {kind}", bare, bare_port, f"/{kind}/1?per_page={ROWS}", id_)
                    for kind in ("rows", "bytes")
                ]
                report([*routes, target, replace(target, name=f"{what}, new", fresh=True)], options)
        finally:
            for process in processes:
                process.terminate()


def report(targets: list[Target], options: argparse.Namespace) -> None:
    """Measure in turn and print medians and ratios to the first."""
    bodies = {target.once() for target in targets}
    assert len(bodies) == 1, [body[:300] for body in bodies]
    rows: dict[str, list[tuple[float, float]]] = {target.name: [] for target in targets}
    for target in targets:
        target.measure(options.calls // 4)
    for _ in range(options.rounds):
        for target in targets:
            rows[target.name].append(target.measure(options.calls))
    size = len(bodies.pop())
    what = targets[-1].name.partition(",")[0]
    print(
        f"{what}: {ROWS} rows, {size:,} bytes, {options.calls} requests x {options.rounds}\n"
        f"{'':20} {'CPU ms':>8} {'ratio':>6} {'latency ms':>11} {'ratio':>6}"
    )
    for name, measured in rows.items():
        cpu, latency = (statistics.median(row[i] for row in measured) for i in (0, 1))
        pairs = list(zip(measured, rows[targets[0].name], strict=True))
        ratios = [statistics.median(row[i] / other[i] for row, other in pairs) for i in (0, 1)]
        print(f"{name:20} {cpu:8.3f} {ratios[0]:6.2f} {latency:11.3f} {ratios[1]:6.2f}")


if __name__ == "__main__":
    main()
