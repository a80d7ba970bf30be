"""The client of a server: both twins, batches, rewards, and what it does about lost answers."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from patience import PATIENCE

import mesocosm
from mesocosm.errors import UsageError
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.client import (
    BlockingServer,
    CallFailed,
    Episode,
    Refused,
    Unauthorised,
    UnknownEpisode,
    Unreachable,
)
from mesocosm.hosting.server import serving

TOKEN = "token-of-the-test"
ORDER: Any = {"task": "refund_list", "length": "8k", "seed": 1, "tools": "needed"}


@dataclass
class Host:
    app: Hosting
    base: str

    def open(self) -> BlockingServer:
        return mesocosm.connect_sync(self.base, token=TOKEN)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, built: Path) -> Iterator[Host]:
    state = tmp_path_factory.mktemp("client")
    shutil.copytree(built, state / "instances")
    app = Hosting(state, admin_token=TOKEN)
    with serving(app) as base:
        yield Host(app, base)


@pytest.fixture
def server(host: Host) -> Iterator[BlockingServer]:
    with host.open() as server:
        yield server


def test_the_life_of_an_episode(server: BlockingServer) -> None:
    episode = server.create(**ORDER)
    assert {tool.name for tool in episode.tools()} >= {"get_emails", "write_file", *episode.view.ending}
    read = episode.call("email", "get_emails", page_size=1)
    with pytest.raises(CallFailed, match="page"):
        episode.call("email", "get_emails", page="two")
    episode.call("filesystem", "write_file", path="notes.txt", content="first")
    fork = episode.fork()
    fork.call("filesystem", "write_file", path="notes.txt", content="second")
    assert "first" in episode.act("read_text_file", {"path": "notes.txt"}).text
    assert fork.call("email", "get_emails", page_size=1) == read
    assert episode.grade().reward == 0
    assert [call["tool"] for call in episode.journal()][:2] == ["get_emails", "get_emails"]
    assert episode.reset().calls == 0
    episode.act("claim_done")
    assert episode.look().ended
    for one in (episode, fork):
        one.delete()
        with pytest.raises(UnknownEpisode):
            one.act("claim_done")


def test_a_client_goes_back_to_a_step(server: BlockingServer) -> None:
    episode = server.create(**ORDER)
    for text in ("first", "second"):
        episode.call("filesystem", "write_file", path="notes.txt", content=text)
    episode.act("claim_done")
    assert episode.rollback(1).calls == 1
    assert not episode.view.ended
    assert "first" in episode.act("read_text_file", {"path": "notes.txt"}).text
    with pytest.raises(Refused, match=r"no step 7: there are 0 \(as it was built\) to 2"):
        episode.rollback(7)
    with pytest.raises(Refused, match="greater than or equal to 0"):
        episode.rollback(-1)
    episode.delete()
    with pytest.raises(UnknownEpisode):
        episode.rollback(0)


def test_what_a_model_makes_up_is_answered_as_an_agent_reads_it(server: BlockingServer) -> None:
    episode = server.create(**ORDER)
    for name in ("no_such_tool", "werkzeug_ä", "x" * 200, ""):
        answer = episode.act(name)
        assert (answer.is_error, answer.text) == (True, f"Unknown tool: {name}")
    assert "Unknown argument" in episode.act("get_emails", {"pgae": 1}).text
    episode.delete()


def test_others_go_on_meanwhile(host: Host) -> None:
    async def act() -> list[str]:
        async with mesocosm.connect(host.base, token=TOKEN) as server:
            one = await server.create(**ORDER)
            other = await one.fork()
            seen: list[str] = []

            async def write(episode: Episode, text: str) -> None:
                for number in range(5):
                    await episode.call("filesystem", "write_file", path="a.txt", content=f"{text}{number}")
                seen.append((await episode.act("read_text_file", {"path": "a.txt"})).text)

            async with anyio.create_task_group() as group:
                group.start_soon(write, one, "x")
                group.start_soon(write, other, "y")
            graded = await server.grade_batch([one, other], "gained", strict=True, delete=True)
            assert [grade.reward for grade in graded] == [0, 0]
            with pytest.raises(UnknownEpisode):
                await server.episode(one.id)
            return seen

    assert sorted(anyio.run(act)) == ["x4", "y4"]


def test_a_batch_is_made_whole_or_not_at_all(host: Host, server: BlockingServer) -> None:
    before = host.app.pool.ids()
    for wrong in ({"task": "nope"}, {"task": "refund_list", "parameters": {"nonsense": 1}}):
        with pytest.raises(Refused, match="episode 2 of the batch"):
            server.create_batch([{**ORDER, "count": 2}, wrong])
    with pytest.raises(Refused, match="at most 1,000"):
        server.create_batch([{**ORDER, "count": 600}] * 2)
    assert host.app.pool.ids() == before
    episodes = server.create_batch([{**ORDER, "count": 2}, {**ORDER, "services": ["memory_tool"]}])
    assert ["memory_tool" in episode.view.data["services"] for episode in episodes] == [False, False, True]
    assert len({episode.id for episode in episodes}) == 3
    gone = episodes[0]
    gone.delete()
    with pytest.raises(UnknownEpisode):
        server.grade_batch([*episodes[1:], gone], delete=True)
    assert [grade.verdict for grade in server.grade_batch(episodes[1:], delete=True)] == ["failed", "failed"]
    assert host.app.pool.ids() == before


def test_findings_pay_for_doing_nothing_and_what_was_gained_does_not(server: BlockingServer) -> None:
    episode = server.create(**ORDER)
    found = episode.grade("findings")
    passed = [finding.passed for finding in found.findings]
    assert found.reward == sum(passed) / len(passed) > 0.5
    assert (episode.grade().reward, episode.grade("gained").reward) == (0, 0)
    episode.delete()


class Loses:
    """A way to a server that loses the next answers, to requests that were done."""

    lost = 0

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with client, socket.create_connection(("127.0.0.1", self._to)) as server:
                    client.settimeout(PATIENCE)
                    head, _, body = _request(client)
                    server.sendall(head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + body)
                    answer = b"".join(iter(lambda: server.recv(65536), b""))
                    if b" /ready " in head or not self.lost:
                        client.sendall(answer)
                    else:
                        self.lost -= 1

    def close(self) -> None:
        self._listener.close()


def _request(client: socket.socket) -> tuple[bytes, bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        data += client.recv(65536)
    head, end, body = data.partition(b"\r\n\r\n")
    sizes = [
        line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
    ]
    while sizes and len(body) < int(sizes[0]):
        body += client.recv(65536)
    return head + end, end, body


def test_what_was_done_is_not_done_again_when_its_answer_was_lost(host: Host) -> None:
    before = host.app.pool.ids()
    way = Loses(int(host.base.rpartition(":")[2]))
    with mesocosm.connect_sync(way.base, token=TOKEN) as server:
        way.lost = 2
        episode = server.create(**ORDER)
        way.lost = 2
        fork = episode.fork()
        way.lost = 2
        assert episode.snapshot("one").data["snapshots"] == ["one"]
        way.lost = 2
        episode.call("filesystem", "write_file", path="a.txt", content="x")
        assert [call["status"] for call in episode.journal()] == ["ok"]
        assert len(host.app.pool.ids()) == len(before) + 2
        way.lost = 2
        assert server.grade_batch([fork], delete=True)[0].verdict == "failed"
        way.lost = 2
        episode.delete()
    way.close()
    assert host.app.pool.ids() == before


def test_a_key_stands_for_one_request(host: Host) -> None:
    with host.open() as server:
        first = server.create(**ORDER)
    with host.open() as server:
        server._steps._name = "taken"
        one = server.create(**ORDER)
    with host.open() as server:
        server._steps._name = "taken"
        assert server.create(**ORDER).id == one.id
    with host.open() as server:
        server._steps._name = "taken"
        with pytest.raises(Refused, match="used for another request"):
            server.create(**{**ORDER, "seed": 2})
        server.grade_batch([first, one], delete=True)


def test_what_is_wrong_has_a_name(host: Host) -> None:
    with (
        mesocosm.connect_sync(host.base, token="wrong") as server,
        pytest.raises(Unauthorised, match="token"),
    ):
        server.tasks()
    with host.open() as server:
        assert "refund_list" in server.tasks()
        with pytest.raises(Refused, match="unknown task"):
            server.create("nope")
        with pytest.raises(Refused, match="seed"):
            server.create("refund_list", seed=-1)
        with pytest.raises(UnknownEpisode):
            server.episode("../tasks")
    with pytest.raises(UsageError, match="MESOCOSM_URL"):
        mesocosm.connect_sync()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (
        mesocosm.connect_sync(f"http://127.0.0.1:{port}", token="x", retries=1, wait=0) as server,
        pytest.raises(Unreachable, match="cannot reach"),
    ):
        server.tasks()


def test_the_client_needs_nothing_of_the_machinery() -> None:
    """A trainer that wants another release of ``mcp`` installs this package without what it requires."""
    program = (
        "import sys, mesocosm; mesocosm.connect_sync; names = {name.split('.')[0] for name in sys.modules};"
        "print(names & {'mcp', 'mcp_types', 'fastapi', 'pydantic', 'sqlalchemy', 'orjson', 'yaml', 'numpy'})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "train-agents.md"


def test_the_examples_of_the_guide_work(host: Host, capfd: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.S | re.M)
    for code in examples:
        exec(compile(code, GUIDE.name, "exec"), {"url": host.base, "token": TOKEN})  # noqa: S102 - our own
    assert "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]" in capfd.readouterr().out
