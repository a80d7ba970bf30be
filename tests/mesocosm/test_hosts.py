"""Several hosts behind one door: the same address, the same answers, whoever dies."""

from __future__ import annotations

import hashlib
import imaplib
import importlib.util
import json
import os
import re
import shutil
import signal
import smtplib
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from commands import Started
from confinement import needs_sandbox
from patience import PATIENCE

import mesocosm
from mesocosm.doors.mcp import McpTools
from mesocosm.hosting.client import (
    BlockingEpisode,
    BlockingServer,
    CallFailed,
    Refused,
    ServerError,
    Unauthorised,
    UnknownEpisode,
)
from mesocosm.hosting.hosts.placement import Ids
from mesocosm.hosting.pool import folder_of, public_number
from mesocosm.worlds.journal import Journal

TOKEN = "token-of-the-test"
ORDER: Any = {"task": "refund_list", "length": "8k", "seed": 1, "tools": "needed"}


IMPATIENT = """
import sys
from mesocosm.hosting.hosts import relay
relay.INTRODUCTION = relay.BODY = float(sys.argv.pop(1))
from mesocosm.cli import main
main()
"""


class Served:
    """Hosts behind a door (0: one process without), which waits for whole requests for ``patience``."""

    def __init__(self, state: Path, patience: float | None = None, hosts: int = 2) -> None:
        self.log = state / "requests.jsonl"
        options = ["--hosts", str(hosts)] if hosts else []
        options += ["--port", "0", "--state", str(state), "--log", str(self.log)]
        digest = hashlib.sha256(b"token-of-anna").hexdigest()
        (state / "tokens.yaml").write_text(f"anna: {{sha256: {digest}, episodes: 3}}")
        options += ["--tokens", str(state / "tokens.yaml")]
        if importlib.util.find_spec("pymap"):
            options += ["--imap-port", "0", "--smtp-port", "0"]
        self.state = state
        self.process: Started | subprocess.Popen[str]
        if patience is None:
            self.process = Started("serve", *options, MESOCOSM_ADMIN_TOKEN=TOKEN)
        else:
            command = [sys.executable, "-c", IMPATIENT, str(patience), "serve", *options]
            environment = {**os.environ, "MESOCOSM_ADMIN_TOKEN": TOKEN}
            self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        assert self.process.stderr
        found = re.search(r"http://\S+?:(\d+)", self.process.stderr.readline())
        assert found
        self.port = int(found[1])
        self.base = f"http://127.0.0.1:{self.port}"

    def open(self) -> BlockingServer:
        return mesocosm.connect_sync(self.base, token=TOKEN)

    def get(self, path: str) -> bytes:
        asked = urllib.request.Request(self.base + path, headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(asked) as response:
            body: bytes = response.read()
            return body

    def ask_host(self, number: int, path: str) -> tuple[int, bytes]:
        """What a host says that is asked past the door, as by a request that was on its way for long."""
        hosts = json.loads(self.get("/hosts"))["hosts"]
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(next(host["address"] for host in hosts if host["number"] == number))
            request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
            connection.sendall(f"{request}Connection: close\r\n\r\n".encode())
            said = b"".join(iter(lambda: connection.recv(65_536), b""))
        return int(said.split()[1]), said

    def hosts(self) -> dict[int, int]:
        return {host["number"]: host["pid"] for host in json.loads(self.get("/hosts"))["hosts"]}

    def ids(self) -> set[str]:
        return set(json.loads(self.get("/episodes"))["episodes"])

    def all_hosts(self) -> dict[int, int]:
        until = time.monotonic() + PATIENCE
        while len(hosts := self.hosts()) < 2:
            assert time.monotonic() < until, "a host does not come back"
            time.sleep(0.05)
        return hosts

    def host_of(self, episode: BlockingEpisode) -> int:
        return Ids(bytes.fromhex((self.state / "ids-key").read_text())).host(episode.id)

    def raw(self, request: bytes) -> bytes:
        """All that is answered on a connection, to its end."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(request)
            return b"".join(iter(lambda: connection.recv(65_536), b""))


def asked(method: str, path: str, host: str = "localhost", body: str = "") -> bytes:
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {host}",
        "Connection: close",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*lines, "Content-Type: application/json", "", body]).encode()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, built: Path) -> Iterator[Served]:
    state = tmp_path_factory.mktemp("hosts")
    shutil.copytree(built, state / "instances")
    served = Served(state)
    with served.open():
        served.all_hosts()
    yield served
    served.process.send_signal(signal.SIGTERM)
    _, errors = served.process.communicate(timeout=PATIENCE)
    assert served.process.returncode == 0
    assert "Traceback" not in errors
    told = [line for line in errors.splitlines() if "has ended" in line]
    assert all(re.match(r"\d{4}-\d\d-\d\dT[\d:.]+Z WARNING mesocosm.hosting: host ", line) for line in told)


@pytest.fixture
def server(served: Served) -> Iterator[BlockingServer]:
    served.all_hosts()
    with served.open() as server:
        yield server


def test_an_episode_lives_as_in_one_process(server: BlockingServer, tmp_path: Path) -> None:
    episode = server.create(**ORDER)
    text = "x" * 90_000
    episode.call("filesystem", "write_file", path="notes.txt", content=text)
    fork = episode.fork()
    episode.snapshot("full")
    episode.call("filesystem", "write_file", path="notes.txt", content="")
    episode.restore("full")
    assert text in fork.act("read_text_file", {"path": "notes.txt"}).text
    assert text in episode.act("read_text_file", {"path": "notes.txt"}).text
    assert (episode.grade().reward, fork.grade().reward) == (0, 0)
    episode.archive(tmp_path / "episode.tgz")
    assert (tmp_path / "episode.tgz").read_bytes()[:2] == b"\x1f\x8b"
    for one in (episode, fork):
        one.delete()
        with pytest.raises(UnknownEpisode):
            one.act("claim_done")


@pytest.mark.parametrize(("era", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_both_protocol_eras_pass(server: BlockingServer, era: Any, version: str) -> None:
    episode = server.create(**ORDER)
    with McpTools(episode.url, era=era) as tools:
        assert tools.protocol_version == version
        assert tools.call("email", "get_emails", page_size=1)["total"] > 1
    episode.delete()


def test_a_batch_is_on_all_hosts_and_whole_or_not_at_all(served: Served, server: BlockingServer) -> None:
    before = served.ids()
    group = server.create_batch([{**ORDER, "count": 5}, {**ORDER, "seed": 2}])
    assert Counter(map(served.host_of, group)) == {0: 3, 1: 3}
    assert [one.view.data["seed"] for one in group] == [1] * 5 + [2]
    with pytest.raises(Refused, match="episode 4 of the batch"):
        server.create_batch([{**ORDER, "count": 4}, {"task": "refund_list", "parameters": {"nonsense": 1}}])
    with pytest.raises(Refused, match="at most 1,000"):
        server.create_batch([{**ORDER, "count": 600}] * 2)
    assert served.ids() == before | {one.id for one in group}
    grades = server.grade_batch(group[::-1], delete=True)
    assert [grade.data["id"] for grade in grades] == [one.id for one in group[::-1]]
    assert served.ids() == before
    with pytest.raises(UnknownEpisode):
        server.grade_batch(group)


def test_all_hosts_are_drained_together(served: Served, server: BlockingServer) -> None:
    group = server.create_batch([{**ORDER, "count": 4}])
    assert {served.host_of(one) for one in group} == {0, 1}
    before = server.drain(None)
    try:
        assert server.drain() == {"draining": True, "requests": 0, "active": before["active"]}
        with mesocosm.connect_sync(served.base, token=TOKEN, retries=0) as impatient:
            for make in (lambda: impatient.create(**ORDER), lambda: impatient.create_batch([ORDER])):
                with pytest.raises(ServerError, match="being drained"):
                    make()
        assert all(one.act("get_emails", {"page_size": 1}).text for one in group)
        server.grade_batch(group, delete=True)
        assert server.drain(None)["active"] == before["active"] - 4
    finally:
        server.drain(False)
    server.create(**ORDER).delete()


def test_quotas_are_those_of_all_hosts_together(served: Served, server: BlockingServer) -> None:
    with mesocosm.connect_sync(served.base, token="token-of-anna", retries=0) as anna:
        group = anna.create_batch([{**ORDER, "count": 2}])
        group.append(group[0].fork())
        with pytest.raises(ServerError, match="3 episodes at a time"):
            anna.create(**ORDER)
        server.create(**ORDER).delete()
        anna.grade_batch(group, delete=True)
        anna.create(**ORDER).delete()


def test_the_same_is_refused_as_in_one_process(served: Served, server: BlockingServer) -> None:
    with (
        mesocosm.connect_sync(served.base, token="wrong") as stranger,
        pytest.raises(Unauthorised),
    ):
        stranger.create_batch([ORDER])
    episode = server.create(**ORDER)
    assert b"HTTP/1.1 421" in served.raw(asked("POST", f"/e/{episode.id}/mcp", "evil.example", "{}"))
    for wrong in ("/hosts", "/hosts/up"):
        assert b"HTTP/1.1 40" in served.raw(asked("GET", wrong))
    assert served.raw(b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")
    two = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2
    assert b"pipelining" in served.raw(two)
    assert served.raw(b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000) == b""
    episode.delete()


def test_a_body_that_waits_for_a_word_gets_it(served: Served, server: BlockingServer) -> None:
    episode = server.create(**ORDER)
    for path in (f"/e/{episode.id}/mcp", "/episodes/batch"):  # which a host reads, and which the door does
        head, _, body = asked("POST", path, body="{}").partition(b"\r\n\r\n")
        with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as connection:
            connection.sendall(head + b"\r\nExpect: 100-continue\r\n\r\n")
            assert connection.recv(65_536).startswith(b"HTTP/1.1 100 ")
            connection.sendall(body)
            assert connection.recv(65_536).startswith(b"HTTP/1.1 4")
    episode.delete()


def test_a_request_has_to_be_there_in_time(tmp_path: Path, built: Path) -> None:
    shutil.copytree(built, tmp_path / "instances")
    served = Served(tmp_path, patience=0.5)
    try:
        hosts = served.all_hosts()
        with served.open() as server:
            episode = server.create(**ORDER)
        path, host = f"/e/{episode.id}/mcp", hosts[served.host_of(episode)]
        resting = len(os.listdir(f"/proc/{host}/fd"))
        whole = asked("POST", path, body="{}")
        large = asked("POST", path, body="{" + " " * 100_000 + "}")  # a host has the beginning of it
        batch = asked("POST", "/episodes/batch", body="{}")
        late = (b"", whole[:9], whole[:-1], large[:-1], batch[:-1])
        for request in late:
            answer = served.raw(request)
            assert answer.startswith(b"HTTP/1.1 408 "), (request, answer)
            assert answer.endswith(b"connection: close\r\n\r\n")
        until = time.monotonic() + PATIENCE
        while len(os.listdir(f"/proc/{host}/fd")) > resting:  # it has nothing left of what was cut off
            assert time.monotonic() < until
            time.sleep(0.05)
        assert served.raw(whole).startswith(b"HTTP/1.1 4")
        with served.open() as server:
            assert server.episode(episode.id).act("get_emails", {"page_size": 1}).text
    finally:
        served.process.terminate()
        _, errors = served.process.communicate(timeout=PATIENCE)
    assert "Traceback" not in errors


def test_mail_reaches_the_host_that_its_password_names(served: Served, server: BlockingServer) -> None:
    pytest.importorskip("pymap")
    group = server.create_batch([{**ORDER, "tools": "all", "count": 2}])
    assert {served.host_of(one) for one in group} == {0, 1}
    ports = group[0].view.data["mail"]
    for number, episode in enumerate(group):
        with (
            imaplib.IMAP4("127.0.0.1", ports["imap"], timeout=PATIENCE) as box,
            smtplib.SMTP("127.0.0.1", ports["smtp"], timeout=PATIENCE) as sender,
        ):
            for wrong in ("0" * 32, "nonsense"):
                with pytest.raises(imaplib.IMAP4.error, match="AUTHENTICATIONFAILED"):
                    box.login("me", wrong)
                with pytest.raises(smtplib.SMTPAuthenticationError, match="535"):
                    sender.login("me", wrong)
            with pytest.raises(imaplib.IMAP4.error, match="AUTHENTICATIONFAILED"):
                box.login("somebody@else.example", episode.id)
            if number:
                box.authenticate("PLAIN", lambda _, id_=episode.id: f"\0me\0{id_}".encode())
            else:
                box.login("me", episode.id)
            before = int(box.select("INBOX")[1][0] or b"")
            box.send(b"x IDLE\r\n")
            assert box.readline().startswith(b"+")
            me = episode.call("email", "get_current_user")["email"]
            sender.login("me", episode.id)
            body = ("x" * 70 + "\r\n") * 2000
            sender.sendmail(me, [me], f"From: {me}\r\nTo: {me}\r\nSubject: Hello\r\n\r\n{body}")
            assert box.readline() == b"* %d EXISTS\r\n" % (before + 1)
            box.send(b"DONE\r\n")
            while not box.readline().startswith(b"x OK"):
                pass
            read = box.fetch(str(before + 1), "(BODY[TEXT])")[1][0]
            assert isinstance(read, tuple)
            assert read[1] == body.encode()
    server.grade_batch(group, delete=True)


def test_what_was_acknowledged_is_there_after_a_host_is_killed(
    served: Served, server: BlockingServer
) -> None:
    group = server.create_batch([{**ORDER, "count": 12}])
    hosts = served.all_hosts()

    def write(episode: BlockingEpisode) -> int:
        for number in range(15):
            episode.call("filesystem", "write_file", path=f"{number}.txt", content=str(number))
        return len(re.findall(r"\b\d+\.txt", episode.act("list_directory", {"path": "."}).text))

    with ThreadPoolExecutor(12) as pool:
        writing = [pool.submit(write, one) for one in group]
        time.sleep(0.2)
        os.kill(hosts[0], signal.SIGKILL)
        assert served.get("/ready")  # whichever host was asked
        assert {done.result() for done in writing} == {15}
    again = served.all_hosts()
    assert (again[1], again[0] == hosts[0]) == (hosts[1], False)
    for one in group:  # the other host took them over, gives them back, and does not take them again
        assert one.call("filesystem", "write_file", path="last.txt", content="") is not None
        if served.host_of(one) == 0:
            status, said = served.ask_host(1, f"/episodes/{one.id}")
            assert (status, b"being moved" in said) == (503, True)
        assert one.look().calls in (17, 18)  # one may have begun when its host died, and again
    assert {grade.verdict for grade in server.grade_batch(group, delete=True)} == {"failed"}


def test_a_host_that_is_slow_does_not_make_all_look_so(served: Served) -> None:
    host = served.all_hosts()[0]
    os.kill(host, signal.SIGSTOP)
    try:
        assert all(served.get("/ready") for _ in range(2))
    finally:
        os.kill(host, signal.SIGCONT)


def test_what_is_counted_and_logged_tells_no_id(served: Served, server: BlockingServer) -> None:
    before = len(served.log.read_text().splitlines())
    episodes = server.create_batch([{**ORDER, "count": 2}])
    for episode in episodes:
        episode.call("email", "get_folders")
        episode.act("get_emails", {"page": "two"})
    numbers = {public_number(one.id): served.host_of(one) for one in episodes}
    until = time.monotonic() + PATIENCE
    while True:  # a line is written when the client has its answer
        lines = [json.loads(line) for line in served.log.read_text().splitlines()]
        calls = [line for line in lines if line["kind"] == "mcp" and line["episode"] in numbers]
        if len(calls) >= 4:
            break
        assert time.monotonic() < until, lines
    assert {(line["status"], line["method"]) for line in calls} == {(200, "POST")}
    assert {line["episode"]: line["host"] for line in calls} == numbers
    journaled = {call["request"] for one in episodes for call in one.journal()}
    assert journaled <= {line["request"] for line in calls}
    made = [line for line in lines[before:] if line["path"] == "/episodes/batch"]
    assert {line["token"] for line in made} == {"admin"}
    pytest.importorskip("prometheus_client")
    page = served.get("/metrics").decode()
    for host in "01":
        counted = rf'mesocosm_call_seconds_count\{{host="{host}",service="email",status="ok"\}} [1-9]'
        assert re.search(counted, page), page
    assert "mesocosm_hosts_up 2.0" in page
    assert f"mesocosm_episodes {len(served.ids())}.0" in page
    assert 'mesocosm_door_request_seconds_count{kind="mcp",status="200"}' in page
    dashboard = (Path(__file__).parents[2] / "docs" / "guides" / "grafana.json").read_text()
    for name in set(re.findall(r"mesocosm_\w+", dashboard)):
        assert f"# TYPE {name.removesuffix('_count').removesuffix('_bucket')} " in page, name
    rules = (Path(__file__).parents[2] / "docs" / "guides" / "alerts.yaml").read_text()
    of_a_store = {"mesocosm_store_failing", "mesocosm_episodes_not_kept"}
    for name in set(re.findall(r"mesocosm_\w+", rules)) - of_a_store:
        assert f"# TYPE {name.removesuffix('_count').removesuffix('_total')}" in page, name
    assert "mesocosm_process_resident_memory_bytes{" in page
    for text in (page, served.log.read_text()):
        assert not any(one.id in text for one in episodes)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{served.base}/metrics")
    server.grade_batch(episodes, delete=True)


@pytest.mark.parametrize("hosts", [0, pytest.param(2, marks=needs_sandbox)])
def test_a_server_that_is_told_to_end_has_done_what_it_acknowledged_and_no_more(
    tmp_path: Path, built: Path, hosts: int
) -> None:
    shutil.copytree(built, tmp_path / "instances")
    served = Served(tmp_path, hosts=hosts)
    acknowledged: Counter[str] = Counter()
    enough = threading.Event()

    def write(episode: BlockingEpisode) -> None:
        while True:
            name = f"{acknowledged[episode.id]}.txt"
            try:
                episode.call("filesystem", "write_file", path=name, content="x")
            except (ServerError, CallFailed):
                return
            acknowledged[episode.id] += 1
            if sum(acknowledged.values()) > 100:
                enough.set()

    with mesocosm.connect_sync(served.base, token=TOKEN, retries=0) as server, ThreadPoolExecutor(12) as pool:
        group = server.create_batch([{**ORDER, "count": 8}])
        long = _run_long(served, pool, server) if hosts else []
        writing = [pool.submit(write, one) for one in group]
        assert enough.wait(PATIENCE)
        served.process.terminate()
        for done in writing:
            done.result()
        assert all("done" in one.result().text for one in long)  # what was being done is done and answered
    served.process.communicate(timeout=PATIENCE)
    for one in group:
        folder = tmp_path / "episodes" / folder_of(one.id) / "world"
        with closing(Journal(folder / "journal.db")) as journal:
            assert len([1 for call in journal.entries() if call.status == "ok"]) == acknowledged[one.id]
        assert len(list((folder / "workspace").glob("[0-9]*.txt"))) == acknowledged[one.id]
    found = [path.read_text() for path in tmp_path.glob("episodes/*/world/workspace/done.txt")]
    assert found == ["x"] * len(long)


def _run_long(served: Served, pool: ThreadPoolExecutor, server: BlockingServer) -> list[Future[Any]]:
    """Programs that go on for some seconds, once they are on their way."""
    code = "import time; time.sleep(3); open('done.txt', 'w').write('x'); print('done')"
    episodes = server.create_batch([{**ORDER, "services": ["python_execute"], "count": 4}])
    arguments = {"code": code, "timeout": 60}
    asked = [pool.submit(one.act, "python_execute", arguments, service="python_execute") for one in episodes]
    deadline = time.monotonic() + PATIENCE
    while b"mesocosm_busy 4.0" not in served.get("/metrics"):
        assert time.monotonic() < deadline
    return asked


def test_hosts_that_join_serve_and_leave(tmp_path: Path, built: Path) -> None:
    shutil.copytree(built, tmp_path / "state" / "instances")
    begun: list[Started] = []

    def start(*options: str) -> str:
        begun.append(Started("serve", "--port", "0", *options, MESOCOSM_ADMIN_TOKEN=TOKEN))
        return begun[-1].stderr.readline()

    try:
        found = re.search(r"http://\S+?:\d+", start("--hosts", "0", "--state", str(tmp_path / "state")))
        assert found
        door = found[0]
        assert "not the state directory" in start("--join", door, "--state", str(tmp_path / "other"))
        for _ in range(2):
            assert "host " in start("--join", door, "--state", str(tmp_path / "state"))
        with mesocosm.connect_sync(door, token=TOKEN, retries=20) as server:
            group = server.create_batch([{**ORDER, "count": 6}])
            begun[2].send_signal(signal.SIGTERM)
            with mesocosm.connect_sync(door, token=TOKEN, retries=0) as impatient:
                found_again = [impatient.episode(episode.id) for episode in group]
                while begun[2].poll() is None:  # its episodes are on the other before it ends
                    for episode in found_again:
                        assert episode.act("get_emails", {"page_size": 1}).text
            server.grade_batch(group, delete=True)
    finally:
        for process in begun:
            process.terminate()
            process.communicate(timeout=PATIENCE)
