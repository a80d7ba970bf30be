"""Plays calls through OpenEnv's own server and client, with the Python that has it (``test_parity.py``).

Reads ``{"url", "token", "task", "length", "seed", "calls"}`` and prints the reward.
"""

from __future__ import annotations

import json
import socket
import sys
import threading

import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from openenv.core.generic_client import GenericEnvClient

from mesocosm.training.openenv import factory


def main() -> None:
    asked = json.load(sys.stdin)
    make = factory(asked["task"], length=asked["length"], url=asked["url"], token=asked["token"])
    app = create_fastapi_app(make, CallToolAction, CallToolObservation, max_concurrent_envs=4)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with (
        GenericEnvClient(base_url=address).sync() as client,
        GenericEnvClient(base_url=address).sync() as other,
    ):
        prompt = client.reset(seed=asked["seed"]).observation["prompt"]
        assert other.reset(seed=asked["seed"]).observation["prompt"] == prompt
        tools = client.step({"type": "list_tools"}).observation["tools"]
        assert "claim_done" in {tool["name"] for tool in tools}
        for tool, arguments in asked["calls"]:
            result = client.step({"type": "call_tool", "tool_name": tool, "arguments": arguments})
        assert result.done
    server.should_exit = True
    thread.join(180)
    print(json.dumps({"reward": result.reward}))


if __name__ == "__main__":
    main()
