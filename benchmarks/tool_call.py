"""Cost of a tool call over HTTP, against an echo tool on the bare MCP SDK server in the same run.

    python benchmarks/tool_call.py [--calls 2000] [--rounds 5]

Both servers run as processes of their own under the same uvicorn settings; one client sends raw requests
over a kept-alive connection, in turn to the one and the other. The echo carries the same text as the message
that read_email returns. Reported are the medians over the rounds of
the server's CPU time and of the latency per call, and their ratios. Target: at most 1.5 for a plain call.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BARE = """
import contextlib, sys
import mcp_types as types, uvicorn
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
async def list_tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema=SCHEMA)])
async def call_tool(context, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text=params.arguments["text"])])
server = Server("echo", on_list_tools=list_tools, on_call_tool=call_tool,
                get_tool_input_schema=lambda name: SCHEMA)
manager = StreamableHTTPSessionManager(server)
async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        async with contextlib.AsyncExitStack() as stack:
            while True:
                message = await receive()
                if message["type"] == "lifespan.startup":
                    await stack.enter_async_context(manager.run())
                    await send({"type": "lifespan.startup.complete"})
                else:
                    await send({"type": "lifespan.shutdown.complete"})
                    return
    await manager.handle_request(scope, receive, send)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
"""
OURS = """
import sys
from pathlib import Path
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import serve
serve(Hosting(Path(sys.argv[2]), admin_token="benchmark"), "127.0.0.1", int(sys.argv[1]))
"""
VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
}


@dataclass
class Target:
    """One tool on one server."""

    name: str
    process: subprocess.Popen[bytes]
    connection: http.client.HTTPConnection
    path: str
    tool: str
    arguments: dict[str, Any]

    def call(self) -> bytes:
        """One tool call; returns the response's body."""
        parameters = {"name": self.tool, "arguments": self.arguments, "_meta": META}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters})
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": self.tool,
        }
        self.connection.request("POST", self.path, body, headers)
        answer = self.connection.getresponse().read()
        assert b'"result"' in answer, answer[:500]
        assert b'"isError":true' not in answer, answer[:500]
        return answer

    def cpu(self) -> float:
        """CPU seconds that the server has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def measure(self, calls: int) -> tuple[float, float]:
        """(CPU ms, latency ms) per call, over a fresh connection: an idle one may have been closed."""
        self.connection.close()
        self.call()
        cpu, started = self.cpu(), time.perf_counter()
        for _ in range(calls):
            self.call()
        return (self.cpu() - cpu) / calls * 1e3, (time.perf_counter() - started) / calls * 1e3


def start(code: str, port: int, *arguments: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", code, str(port), *arguments])
    for _ in range(1200):
        try:
            http.client.HTTPConnection("127.0.0.1", port, timeout=1).connect()
            return process
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the server did not start")


def free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def build_episode(state: Path, folder: Path, task: str = "canvas_arrange_exam", length: int = 64_000) -> str:
    """An episode of a world of some length, and its id."""
    from mesocosm.families.family import load_family
    from mesocosm.families.instances import build_instance
    from mesocosm.hosting.pool import EpisodePool

    family = load_family(task)
    instance = build_instance(family, 0, folder / "instance", target=length)
    pool = EpisodePool(state)
    id_ = pool.adopt(instance.path, family)
    pool.close()
    return id_


def main() -> None:
    """Run the comparison and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        id_ = build_episode(state, Path(folder))
        bare_port, our_port = free_port(), free_port()
        bare, ours = start(BARE, bare_port), start(OURS, our_port, str(state))
        bare_line = http.client.HTTPConnection("127.0.0.1", bare_port)
        our_line = http.client.HTTPConnection("127.0.0.1", our_port)
        email = f"/e/{id_}/email/mcp"
        read = Target("email read_email", ours, our_line, email, "read_email", {"email_id": "1"})
        message = json.loads(read.call())["result"]["content"][0]["text"]
        targets = [
            Target("bare SDK echo of a message", bare, bare_line, "/mcp", "echo", {"text": message}),
            Target("email get_unread_count", ours, our_line, email, "get_unread_count", {}),
            read,
            Target("email list of 50", ours, our_line, email, "get_emails", {"page_size": 50}),
        ]
        page = json.loads(targets[3].call())["result"]["content"][0]["text"]
        targets.append(Target("bare SDK echo of that page", bare, bare_line, "/mcp", "echo", {"text": page}))
        try:
            report(targets, options.calls, options.rounds)
        finally:
            bare.terminate()
            ours.terminate()


def report(targets: list[Target], calls: int, rounds: int) -> None:
    """Measure in turn and print medians and ratios."""
    measured: dict[str, list[tuple[float, float]]] = {target.name: [] for target in targets}
    for target in targets:
        target.measure(calls // 4)
    for _ in range(rounds):
        for target in targets:
            measured[target.name].append(target.measure(calls))
    base = measured[targets[0].name]
    print(
        f"{'tool':28} {'CPU ms':>8} {'ratio':>6} {'latency ms':>11} {'ratio':>6}   ({calls} calls x {rounds})"
    )
    for name, rows in measured.items():
        cpu, latency = (statistics.median(row[i] for row in rows) for i in (0, 1))
        ratios = [
            statistics.median(row[i] / other[i] for row, other in zip(rows, base, strict=True))
            for i in (0, 1)
        ]
        print(f"{name:28} {cpu:8.3f} {ratios[0]:6.2f} {latency:11.3f} {ratios[1]:6.2f}")


if __name__ == "__main__":
    main()
