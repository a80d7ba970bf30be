"""Plays calls through an environment of verifiers, with the Python that has it (``test_parity.py``).

Reads ``{"url", "token", "task", "length", "seed", "calls"}`` and prints the reward. The agent is a harness
that makes the calls over MCP as they are written down, and then asks a model, which says that it is done.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import verifiers.v1 as vf
from mcp import MCPError
from mcp.client import Client
from verifiers.v1.clients import ModelContext

from mesocosm.training.verifiers import load_environment

__all__ = ["Script"]
CALLS: list[tuple[str, dict[str, Any]]] = []


class ScriptConfig(vf.HarnessConfig):
    pass


class Script(vf.Harness[ScriptConfig]):
    """Makes the calls that were given."""

    SUPPORTS_MCP = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data) -> vf.ProgramResult:  # type: ignore[no-untyped-def]
        async with Client(mcp_urls["mesocosm"]) as client:
            assert "claim_done" in {tool.name for tool in (await client.list_tools()).tools}
            for tool, arguments in CALLS:
                with suppress(MCPError):  # an unknown tool
                    await client.call_tool(tool, arguments)
        async with httpx.AsyncClient(timeout=180) as http:
            asked = {"model": ctx.model, "messages": [{"role": "user", "content": data.prompt}]}
            answer = await http.post(
                f"{endpoint}/chat/completions", json=asked, headers={"Authorization": f"Bearer {secret}"}
            )
            assert answer.status_code == 200, answer.text
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class Model(BaseHTTPRequestHandler):
    """Says that it is done."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "Done."}
        body = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "script",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


async def play(asked: dict[str, Any], model: str) -> float:
    agent = {"harness": {"id": "verifiers_player"}, "runtime": {"type": "subprocess"}}
    env = load_environment(
        asked["task"], url=asked["url"], length=asked["length"], seeds=[asked["seed"]], agent=agent
    )
    client = vf.EvalClientConfig(base_url=model, api_key_var="NO_KEY")
    async with env.serving():
        (task,) = env.taskset
        episode = await env.run_episode(task, ModelContext("script", client))
    assert episode.ok, [error.message for error in episode.errors]
    (trace,) = episode.traces
    assert trace.metrics["tool_calls"] >= 1
    return float(trace.reward)


def main() -> None:
    asked = json.load(sys.stdin)
    CALLS.extend((tool, arguments) for tool, arguments in asked["calls"])
    sys.modules["verifiers_player"] = sys.modules["__main__"]
    os.environ |= {"MESOCOSM_ADMIN_TOKEN": asked["token"], "NO_KEY": "none"}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    reward = asyncio.run(play(asked, f"http://127.0.0.1:{server.server_port}/v1"))
    print(json.dumps({"reward": reward}))


if __name__ == "__main__":
    main()
