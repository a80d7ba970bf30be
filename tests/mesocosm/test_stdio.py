"""One world over stdio, and the bridge from stdio to a running server."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from mailbox import fill_mailbox
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands import Started, mesocosm, stand_in
from patience import PATIENCE

from mesocosm.doors import handshake
from mesocosm.doors.mcp import Era, McpTools
from mesocosm.errors import UsageError
from mesocosm.hosting.pool import EpisodePool
from mesocosm.services.calling import ToolError
from mesocosm.services.service import load_service, service_names
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

ERAS: list[tuple[Era, str]] = [("auto", "2026-07-28"), ("legacy", "2025-11-25")]
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
TASK: Any = SimpleNamespace(name="mailbox", path=Path("tasks/mailbox.yaml"), task=SimpleNamespace(servers={}))


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    path = tmp_path / "instance"
    with World.create(path / "world", Manifest(services={"email": None, "claim_done": None})) as world:
        fill_mailbox(world)
        world.finish_building()
    (path / "expected.json").write_text("{}")
    (path / "prompt.md").write_text("Read your mail.\n")
    return path


@pytest.mark.parametrize(("era", "version"), ERAS)
def test_one_service_of_a_world_is_served_over_stdio(instance: Path, era: Era, version: str) -> None:
    command = [*stand_in(), "serve", "--stdio", "email", "--world", str(instance)]
    with McpTools(command, era=era) as tools:
        assert tools.protocol_version == version
        assert tools.call("email", "get_emails")["total"] == 30
        with pytest.raises(ToolError, match="required"):
            tools.call("email", "read_email")
    with World(instance / "world") as world:
        assert [entry.status for entry in world.journal.entries()] == ["ok", "refused"]


def test_all_services_are_served_with_prefixed_names(instance: Path) -> None:
    command = [*stand_in(), "serve", "--stdio", "all", "--world", str(instance / "world")]
    with McpTools(command) as tools:
        names = {tool.name for tool in tools.list_tools()}
        assert {"read_email", "claim_done"} <= names


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--stdio", "canvas", "--world", "{world}"], "no service 'canvas'"),
        (["--stdio", "email"], "--world"),
        (["--stdio", "email", "--world", "/nowhere"], "world.json"),
    ],
)
def test_what_cannot_be_served_is_said(instance: Path, arguments: list[str], words: str) -> None:
    refused = mesocosm("serve", *(word.replace("{world}", str(instance)) for word in arguments))
    assert refused.returncode == 2
    assert words in refused.stderr
    assert not refused.stdout


def test_what_was_asked_before_the_end_of_the_input_is_answered(instance: Path) -> None:
    lines = [
        {"id": 0, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        *(
            {"id": n, "method": "tools/call", "params": {"name": "get_emails", "arguments": {"page": n}}}
            for n in range(1, 21)
        ),
    ]
    said = b"".join(json.dumps({"jsonrpc": "2.0"} | line).encode() + b"\n" for line in lines)
    command = [*stand_in(), "serve", "--stdio", "email", "--world", str(instance)]
    done = subprocess.run(command, input=said, capture_output=True, check=True, timeout=PATIENCE)
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == list(range(21))


def test_servers_of_several_services_share_a_world(instance: Path) -> None:
    def command(service: str) -> list[str]:
        return [*stand_in(), "serve", "--stdio", service, "--world", str(instance)]

    with McpTools(command("email")) as one, McpTools(command("all")) as other:
        with ThreadPoolExecutor(2) as pool:
            for tools in (one, other) * 5:
                pool.submit(tools.call, "email", "send_email", to="x@y.net", subject="s", body="b")
        assert one.call("email", "get_emails", folder="Sent")["total"] == 10
        other.call("claim_done", "claim_done")
        with pytest.raises(ToolError, match="declared done"):
            one.call("email", "send_email", to="x@y.net", subject="late", body="b")
    with World(instance / "world") as world:
        assert [entry.seq for entry in world.journal.entries()] == list(range(1, 14))


class Server(SimpleNamespace):
    """A server process on a state directory."""

    base: str
    episode: str
    stop: Callable[[int], None]
    start: Callable[[], None]


@pytest.fixture
def server(instance: Path, tmp_path: Path) -> Iterator[Server]:
    state = tmp_path / "state"
    pool = EpisodePool(state)
    episode = pool.adopt(instance, TASK)
    pool.close()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    base = f"http://127.0.0.1:{port}"
    processes: list[Started] = []

    def start() -> None:
        processes.append(Started("serve", "--port", port, "--state", state))
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                urllib.request.urlopen(base + "/health").close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError("the server did not start")

    def stop(how: int) -> None:
        processes[-1].send_signal(how)
        processes[-1].communicate(PATIENCE)

    start()
    yield Server(base=base, episode=episode, start=start, stop=stop)
    if processes[-1].poll() is None:
        stop(signal.SIGTERM)


@pytest.mark.parametrize(("era", "version"), ERAS)
def test_the_bridge_passes_both_eras_on(server: Server, era: Era, version: str) -> None:
    url = f"{server.base}/e/{server.episode}/mcp"
    with McpTools([*stand_in(), "bridge", url], era=era) as tools:
        assert tools.protocol_version == version
        assert tools.call("email", "get_emails", page_size=1)["total"] == 30
        with pytest.raises(ToolError, match="not found"):
            tools.call("email", "read_email", email_id="999")


def test_the_bridge_lives_on_after_what_is_no_message(server: Server) -> None:
    url = f"{server.base}/e/{server.episode}/mcp"
    lines = [b"{", b"[1]", b"null", b'"x"', b'{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}', b"\xff"]
    hello = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": HELLO}).encode()
    said = b"\n".join([*lines, hello, b""])
    done = subprocess.run(
        [*stand_in(), "bridge", url], input=said, capture_output=True, check=True, timeout=PATIENCE
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["error"]["code"] for a in answers[:-1]] == [-32700, -32600, -32600, -32600, -32600, -32700]
    assert (answers[-1]["id"], "result" in answers[-1]) == (7, True)


def test_the_bridge_says_when_there_is_no_server() -> None:
    command = [*stand_in(), "bridge", "http://127.0.0.1:9/mcp"]
    hello = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n'
    answered = subprocess.run(command, input=hello, capture_output=True, check=True, timeout=PATIENCE)
    assert b'"id": 1' in answered.stdout
    assert b"cannot reach" in answered.stdout


def test_the_bridge_needs_nothing_but_the_standard_library() -> None:
    code = (
        "import sys, mesocosm.doors.bridge; print([m for m in ('mcp', 'typer', 'rich') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_a_killed_server_loses_no_acknowledged_write(server: Server) -> None:
    url = f"{server.base}/e/{server.episode}/mcp"
    with McpTools(url) as tools:
        for number in range(20):
            tools.call("email", "send_email", to="x@elsewhere.net", subject=f"Note {number}", body="b")
    server.stop(signal.SIGKILL)
    server.start()
    with McpTools(url) as tools:
        assert tools.call("email", "get_emails", folder="Sent")["total"] == 20
        tools.call("email", "send_email", to="x@elsewhere.net", subject="after", body="b")
        assert tools.call("email", "get_emails", folder="Sent")["total"] == 21


def test_a_world_that_is_being_served_is_not_opened_by_another_process(
    server: Server, tmp_path: Path
) -> None:
    url = f"{server.base}/e/{server.episode}/mcp"
    with McpTools(url) as tools:
        tools.call("email", "get_emails")
    [world] = (tmp_path / "state" / "episodes").glob("*/world")
    with World(world) as second, pytest.raises(UsageError, match="in use by another process"):
        second.call("email", "get_emails", {})


def test_the_admin_token_is_kept_readable_by_its_owner_alone(server: Server, tmp_path: Path) -> None:
    token = tmp_path / "state" / "admin-token"
    assert len(token.read_text().strip()) > 30
    assert os.stat(token).st_mode & 0o077 == 0


def test_a_client_whose_probe_timed_out_may_shake_hands(instance: Path) -> None:
    envelope = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    about = {"clientInfo": HELLO["clientInfo"], "clientCapabilities": {}}
    meta = envelope | {f"io.modelcontextprotocol/{key}": value for key, value in about.items()}
    lines = [
        {"id": 0, "method": "server/discover", "params": {"_meta": meta}},
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "get_emails", "arguments": {"page": None}}},
    ]
    said = b"".join(json.dumps({"jsonrpc": "2.0"} | line).encode() + b"\n" for line in lines)
    command = [*stand_in(), "serve", "--stdio", "email", "--world", str(instance)]
    done = subprocess.run(command, input=said, capture_output=True, check=True, timeout=PATIENCE)
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert "2026-07-28" in answers[0]["result"]["supportedVersions"]
    assert answers[1]["result"]["protocolVersion"] == HELLO["protocolVersion"]
    assert json.loads(answers[2]["result"]["content"][0]["text"])["total"] == 30


META = {
    f"io.modelcontextprotocol/{name}": value
    for name, value in (
        ("protocolVersion", "2026-07-28"),
        ("clientCapabilities", {}),
        ("clientInfo", HELLO["clientInfo"]),
    )
}


def test_the_greeting_knows_what_the_server_knows() -> None:
    from mcp_types import version

    assert handshake.HANDSHAKES == version.HANDSHAKE_PROTOCOL_VERSIONS
    assert handshake.MODERN == version.MODERN_PROTOCOL_VERSIONS
    for name in service_names():
        assert handshake.instructions(name) == load_service(name).instructions, name


@pytest.mark.parametrize(
    ("service", "id_", "method", "params"),
    [
        ("email", 7, "initialize", HELLO | {"protocolVersion": "1999-01-01"}),
        ("all", "x", "server/discover", {"_meta": META}),
        pytest.param("email", 7, "initialize", {}, marks=pytest.mark.long),
        pytest.param("email", 7, "tools/list", {"_meta": META}, marks=pytest.mark.long),
    ],
    ids=["an old client", "a question", "nothing said", "no greeting"],
)
def test_the_greeting_says_what_the_server_would_say(
    instance: Path, service: str, id_: int | str, method: str, params: dict[str, Any]
) -> None:
    message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
    said = json.dumps(message).encode() + b"\n"
    command = [*stand_in(), "serve", "--stdio", service, "--world", str(instance)]
    # With one more option the greeting is left to the server.
    one, other = (
        subprocess.run(
            [*command, *more], input=said, capture_output=True, check=True, timeout=PATIENCE
        ).stdout
        for more in ([], ["--tools", "all"])
    )
    assert len(one.splitlines()) == len(other.splitlines()) == 1
    assert json.loads(one) == json.loads(other)
