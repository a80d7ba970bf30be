"""A server as a process, and clients of its episodes."""

from __future__ import annotations

import base64
import http.client
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx2
from wire import listing, tool_call

TASK = "apply_phd_email"
MORE = ["python_execute", "woocommerce", "excel", "documents", "codehost", "calendar", "canvas"]
MORE += ["snowflake", "google_cloud"]
"""Services beside those of the task, for the hostile episodes."""
SHEETS = "nhl_b2b_analysis"
"""A task with spreadsheets."""
VERSIONS = "bug_triage"
"""A task with repositories."""
HOSTILE, ASKING = 12, 10
"""Hostile episodes at once, and those beside them, in the kinds that need more than one."""
TOKEN = "benchmark"


class Server:
    """A server in a process of its own, with mail ports."""

    def __init__(self, base: str, imap: int, smtp: int) -> None:
        self.base, self.imap, self.smtp = base, imap, smtp

    def create(self, services: list[str], task: str = TASK) -> str:
        """A new episode, with further services."""
        body = json.dumps({"task": task, "length": "16k", "services": services}).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.base}/episodes", body, headers)
        with urllib.request.urlopen(request) as response:
            return str(json.load(response)["id"])


def _request(tool: str, arguments: dict[str, Any]) -> tuple[dict[str, str], bytes]:
    headers, body = tool_call(tool, arguments)
    return headers, json.dumps(body).encode()


class Ordinary:
    """An episode that makes a short call now and then, with as little work for its client as can be."""

    def __init__(
        self, server: Server, episode: str, service: str, tool: str, arguments: dict[str, Any]
    ) -> None:
        self._path = f"/e/{episode}/{service}/mcp"
        self._headers, self._body = _request(tool, arguments)
        self._connection = http.client.HTTPConnection(server.base.removeprefix("http://"), timeout=60)

    def call(self) -> float:
        """Make one call; returns its seconds."""
        started = time.perf_counter()
        try:
            self._connection.request("POST", self._path, self._body, self._headers)
            answer = self._connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):
            # A connection that rested may give way to others; a client makes a new one.
            self._connection.close()
            self._connection.request("POST", self._path, self._body, self._headers)
            answer = self._connection.getresponse()
        said = answer.read()
        assert answer.status == 200, said[:500]
        return time.perf_counter() - started


class Agent:
    """A client of one episode."""

    def __init__(self, server: Server, episode: str) -> None:
        self.episode = episode
        self.server = server
        self._url = f"{server.base}/e/{episode}"
        self._client = httpx2.Client(timeout=60)

    def call(self, service: str, tool: str, **arguments: Any) -> str:
        """Make one call; returns what is answered."""
        headers, body = _request(tool, arguments)
        answer = self._client.post(f"{self._url}/{service}/mcp", content=body, headers=headers)
        assert answer.status_code in (200, 413), answer.text[:500]
        return answer.text

    def list_tools(self) -> None:
        """Ask for the tools of all services."""
        headers, body = listing()
        self._client.post(f"{self._url}/mcp", json=body, headers=headers).raise_for_status()

    def request(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> None:
        """Ask a vendor's API for something."""
        pair = base64.b64encode(f"{self.episode}:{self.episode}".encode()).decode()
        scheme = f"Basic {pair}" if path.startswith("/woocommerce") else f"Bearer {self.episode}"
        headers = {"Content-Type": kind, "Authorization": scheme}
        with suppress(httpx2.TransportError):  # who is refused early may find the line closed
            self._client.request(method, self._url + path, content=body, headers=headers)


def reading(server: Server) -> Ordinary:
    return Ordinary(server, server.create([]), "email", "get_folders", {})


def asking(server: Server) -> Ordinary:
    query = {"query": "select max(length(repeat('x', 9))) n, uuid_string() u"}
    return Ordinary(server, server.create(["snowflake"]), "snowflake", "read_query", query)


def computing(server: Server) -> Ordinary:
    episode = server.create([], SHEETS)
    return Ordinary(
        server, episode, "google_sheet", "update_cells", cell_with(Agent(server, episode), "=1+1")
    )


def cell_with(agent: Agent, formula: str) -> dict[str, Any]:
    """Arguments that write a formula into a new spreadsheet."""
    said = agent.call("google_sheet", "create_spreadsheet", title="x")
    book = re.search(r"spreadsheetId\W+([\w-]+)", said)
    assert book, said[:500]
    return {"spreadsheet_id": book[1], "sheet": "Sheet1", "range": "A1", "data": [[formula]]}


@contextmanager
def serving(hosts: int) -> Iterator[Server]:
    """A server on free ports; 0 hosts: one process that does all."""
    with tempfile.TemporaryDirectory(prefix="mesocosm-neighbours-") as folder:
        command = [sys.executable, "-m", "mesocosm", "serve", "--port", "0", "--imap-port", "0"]
        command += ["--smtp-port", "0", *(["--hosts", str(hosts)] if hosts else [])]
        command += ["--admin-token", TOKEN, "--state", f"{folder}/state"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder)
        try:
            assert process.stderr
            said = ""
            while "imap on" not in said or "smtp on" not in said:
                said += process.stderr.readline()
            threading.Thread(target=process.stderr.read, daemon=True).start()
            base = re.search(r"http://[\d.]+:\d+", said)
            imap, smtp = (re.search(rf"{name} on .*port (\d+)", said) for name in ("imap", "smtp"))
            assert base
            assert imap
            assert smtp
            server = Server(base[0], int(imap[1]), int(smtp[1]))
            for _ in range(600):
                with suppress(OSError):
                    urllib.request.urlopen(f"{server.base}/health").close()
                    break
                time.sleep(0.1)
            yield server
        finally:
            process.terminate()
            process.wait()
