"""Many episodes for a long time on a server that is killed again and again.

    python benchmarks/soak.py --episodes 1000 --minutes 60 --kill-every 60 [--workers 16] [--json]

Every episode writes a file and a folder of mail of its own name at each step, with an idempotency key, and
tries the same call again until it is answered. The server process is killed (SIGKILL) every so many seconds
and started anew on the same state. At the end each episode is read: every write that was acknowledged must be
there (*lost*), and nothing of another episode (*crossed*). Reported, too: descriptors and resident memory of
the server at the beginning and at the end of its last life. Exit code 1 if anything was lost or crossed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
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

TASK = "apply_phd_email"
TOKEN = "benchmark"


class Killed:
    """A server that is killed again and again, and what is known of its last life."""

    def __init__(self, folder: Path, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self._command = [sys.executable, "-m", "mesocosm", "serve", "--port", str(port)]
        self._command += ["--admin-token", TOKEN, "--state", str(folder / "state")]
        self.kills = 0
        self.start()

    def start(self) -> None:
        """A new life."""
        self._process = Popen(self._command, stdout=DEVNULL, stderr=DEVNULL)
        for _ in range(1200):
            with suppress(httpx2.HTTPError):
                if httpx2.get(f"{self.base}/health").status_code == 200:
                    return
            time.sleep(0.1)
        raise RuntimeError("the server did not start")

    def kill(self) -> None:
        """As a machine that fails."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self.kills += 1

    def usage(self) -> dict[str, int]:
        """Descriptors, and MiB of resident memory."""
        process = Path(f"/proc/{self._process.pid}")
        pages = int((process / "statm").read_text().split()[1])
        return {
            "descriptors": len(os.listdir(process / "fd")),
            "mib": pages * os.sysconf("SC_PAGESIZE") >> 20,
        }

    def close(self) -> None:
        """The end."""
        self._process.terminate()
        self._process.wait()


class Worker:
    """An episode's agent."""

    def __init__(self, server: Killed, number: int) -> None:
        self.number = number
        self.steps = 0
        self._server = server
        headers = {"Authorization": f"Bearer {TOKEN}"}
        body = {"task": TASK, "length": "8k"}
        answer = httpx2.post(f"{server.base}/episodes", json=body, headers=headers, timeout=300)
        self.id = str(answer.raise_for_status().json()["id"])

    def step(self, client: httpx2.Client, until: float) -> None:
        """One write of each kind; a call that is not answered is made again with its key."""
        name = f"e{self.number}-{self.steps}"
        for service, tool, arguments in (
            ("filesystem", "write_file", {"path": f"{name}.txt", "content": name}),
            ("email", "create_folder", {"folder_name": name}),
        ):
            while not self._call(client, service, tool, arguments, f"{name}-{tool}"):
                if time.monotonic() > until + 120:
                    return
                time.sleep(0.2)
        self.steps += 1

    def _call(
        self, client: httpx2.Client, service: str, tool: str, arguments: dict[str, Any], key: str
    ) -> str:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
            "Idempotency-Key": key,
        }
        try:
            answer = client.post(
                f"{self._server.base}/e/{self.id}/{service}/mcp",
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
                headers=headers,
            )
        except httpx2.HTTPError:
            return ""
        return answer.text if answer.status_code == 200 else ""

    def judge(self, client: httpx2.Client) -> tuple[int, int]:
        """How many acknowledged writes are gone, and how much there is of other episodes."""
        files = self._call(client, "filesystem", "list_directory", {"path": "."}, "files")
        folders = self._call(client, "email", "get_folders", {}, "folders")
        lost = crossed = 0
        for text, end in ((files, ".txt"), (folders, "")):
            lost += sum(f"e{self.number}-{step}{end}" not in text for step in range(self.steps))
            words = text.replace('"', " ").replace("\\", " ").replace("\\n", " ").split()
            crossed += sum(
                word.startswith("e")
                and "-" in word
                and word[1:].partition("-")[0] not in ("", str(self.number))
                for word in words
                if word[1:].partition("-")[0].isdigit()
            )
        return lost, crossed


def main() -> int:
    """Make the run and say what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--kill-every", type=float, default=20, help="seconds")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--port", type=int, default=8399)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mesocosm-soak-") as folder:
        server = Killed(Path(folder), options.port)
        workers = [Worker(server, number) for number in range(options.episodes)]
        until = time.monotonic() + 60 * options.minutes
        over = threading.Event()

        def act(part: int) -> None:
            dice = random.Random(part)
            mine = workers[part :: options.workers]
            with httpx2.Client(timeout=60) as client:
                while mine and not over.is_set():
                    dice.choice(mine).step(client, until)

        first = server.usage()
        with ThreadPoolExecutor(options.workers) as pool:
            acting = [pool.submit(act, part) for part in range(options.workers)]
            while (left := until - time.monotonic()) > 0:
                time.sleep(min(options.kill_every, left))
                if until - time.monotonic() > 1:
                    server.kill()
                    server.start()
                    first = server.usage()
            over.set()
            for done in acting:
                done.result()
        last = server.usage()
        with httpx2.Client(timeout=60) as client:
            judged = [worker.judge(client) for worker in workers]
        server.close()
    found = {
        "episodes": options.episodes,
        "steps": sum(worker.steps for worker in workers),
        "kills": server.kills,
        "lost": sum(lost for lost, _ in judged),
        "crossed": sum(crossed for _, crossed in judged),
        "first": first,
        "last": last,
    }
    print(json.dumps(found) if options.json else "\n".join(f"{k:<12}{v}" for k, v in found.items()))
    return 1 if found["lost"] or found["crossed"] else 0


if __name__ == "__main__":
    sys.exit(main())
