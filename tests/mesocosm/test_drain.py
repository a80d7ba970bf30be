"""A server that is drained makes no further episodes, and those that there are go on."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from commands import mesocosm as command
from confinement import needs_sandbox
from patience import PATIENCE

import mesocosm
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.client import Refused, ServerError
from mesocosm.hosting.server import serving
from mesocosm.hosting.tokens import Quota, read_tokens

TOKEN = "token-of-the-test"
ORDER: Any = {"task": "refund_list", "length": "8k", "seed": 1, "tools": "needed"}


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory, built: Path) -> Path:
    state = tmp_path_factory.mktemp("state")
    shutil.copytree(built, state / "instances")
    return state


@pytest.fixture(scope="module")
def server_of_all(state: Path) -> Iterator[str]:
    with serving(Hosting(state, admin_token=TOKEN, tokens=_anna(state))) as base:
        yield base


@pytest.fixture
def base(server_of_all: str) -> Iterator[str]:
    yield server_of_all
    with mesocosm.connect_sync(server_of_all, token=TOKEN) as server:
        server.drain(False)


def _anna(folder: Path) -> list[Quota]:
    """Somebody who makes episodes and does not run the server."""
    path = folder / "tokens.yaml"
    path.write_text(f"anna: {{sha256: {hashlib.sha256(b'of-anna').hexdigest()}}}")
    return read_tokens(path)


def drain(base: str, *options: str, token: str = TOKEN) -> tuple[int, Any]:
    done = command("drain", "--url", base, *options, "--json", MESOCOSM_ADMIN_TOKEN=token)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def test_a_drained_server_goes_on_with_what_there_is_and_makes_no_more(base: str) -> None:
    with mesocosm.connect_sync(base, token=TOKEN, retries=0) as server:
        episode = server.create(**ORDER)
        assert server.drain(None) == {"draining": False, "requests": 0, "active": 1}
        assert drain(base) == (0, {"draining": True, "requests": 0, "active": 1})
        for make in (
            lambda: server.create(**ORDER),
            lambda: server.create_batch([{**ORDER, "count": 2}]),
            episode.fork,
        ):
            with pytest.raises(ServerError, match="being drained") as refused:
                make()
            assert refused.value.status == 503
        assert episode.act("get_emails", {"page_size": 1}).text
        assert episode.grade().reward == 0
        episode.delete()
        assert drain(base, "--wait", "60s") == (0, {"draining": True, "requests": 0, "active": 0})
        assert drain(base, "--undo") == (0, {"draining": False, "requests": 0, "active": 0})
        server.create(**ORDER).delete()


def test_who_only_makes_episodes_cannot_drain(base: str) -> None:
    code, said = drain(base, token="of-anna")
    assert code == 2
    assert "own token" in said
    with mesocosm.connect_sync(base, token="of-anna") as anna:
        assert anna.drain(None)["draining"] is False
        with pytest.raises(Refused, match="own token"):
            anna.drain()
        anna.create(**ORDER).delete()


@needs_sandbox
def test_what_is_waited_for_are_calls_and_episodes_in_use(base: str, state: Path) -> None:
    with mesocosm.connect_sync(base, token=TOKEN) as server:
        episode = server.create(**ORDER, services=["python_execute"])
        code = "import os, time\nwhile not os.path.exists('go.txt'): time.sleep(.02)"
        running = threading.Thread(target=episode.act, args=("python_execute", {"code": code, "timeout": 60}))
        running.start()
        until = time.monotonic() + PATIENCE
        while server.drain(None)["requests"] != 1:
            assert time.monotonic() < until
        code_, found = drain(base, "--wait", "1s")
        assert (code_, found["requests"], found["active"]) == (3, 1, 1)
        (go,) = state.glob("episodes/*/world/workspace")
        (go / "go.txt").touch()
        running.join()
        assert server.drain(None) == {"draining": True, "requests": 0, "active": 1}
        episode.delete()


def test_streams_on_which_clients_listen_end_with_the_server(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """They are answers with an end, and nothing is said of them in the log."""
    said = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": said}
    with httpx2.Client(timeout=PATIENCE) as client:
        with serving(Hosting(state, admin_token=TOKEN)) as base:
            with mesocosm.connect_sync(base, token=TOKEN) as server:
                url = f"{base}/e/{server.create(**ORDER).id}/mcp"
            headers = {"Accept": "application/json, text/event-stream"}
            headers["Mcp-Session-Id"] = client.post(url, json=hello, headers=headers).headers[
                "mcp-session-id"
            ]
            stream = client.send(client.build_request("GET", url, headers=headers), stream=True)
            assert stream.status_code == 200
        assert stream.read() == b""  # a connection that was cut would be an error
    assert not [one for one in caplog.records if one.name.startswith("uvicorn")]
