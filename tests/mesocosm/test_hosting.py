"""Hosting: many episodes in one process, each reachable by its own id alone."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from mailbox import fill_mailbox
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp import MCPError
from patience import PATIENCE
from samples import sampled

from mesocosm.doors.mcp import Era, McpTools
from mesocosm.families.family import load_family
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.pool import EpisodePool, folder_of
from mesocosm.hosting.server import serving
from mesocosm.services.calling import ToolError
from mesocosm.services.service import load_service
from mesocosm.services.world import World
from mesocosm.worlds.journal import Journal
from mesocosm.worlds.manifest import Manifest

TOKEN = "admin-token-of-the-test"
TASK: Any = SimpleNamespace(name="mailbox", path=Path("tasks/mailbox.yaml"), task=SimpleNamespace(servers={}))


class Host(SimpleNamespace):
    """A served hosting application, and ways to talk to it."""

    app: Hosting
    base: str
    instance: Path

    def open(self) -> str:
        return self.app.pool.adopt(self.instance, TASK)

    def tools(self, id_: str, era: Era = "auto") -> McpTools:
        return McpTools(f"{self.base}/e/{id_}/mcp", era=era)

    def ask(
        self,
        path: str,
        body: Any = None,
        *,
        method: str | None = None,
        token: str | None = TOKEN,
        **headers: str,
    ) -> tuple[int, Any]:
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request) as response:
                text = response.read()
                return response.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            with error:
                text = error.read()
                return error.code, json.loads(text) if text[:1] in b"{[" else text.decode()


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    root = tmp_path_factory.mktemp("hosting")
    instance = root / "instance"
    with World.create(instance / "world", Manifest(services={"email": None, "claim_done": None})) as world:
        fill_mailbox(world)
        world.finish_building()
    (instance / "expected.json").write_text("{}")
    (instance / "prompt.md").write_text("Read your mail.\n")
    app = Hosting(root / "state", admin_token=TOKEN, max_open=16)
    with serving(app) as base:
        yield Host(app=app, base=base, instance=instance)


@pytest.mark.parametrize(("era", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_both_protocol_eras_are_served(host: Host, era: Era, version: str) -> None:
    with host.tools(host.open(), era) as tools:
        assert tools.protocol_version == version
        assert "get_emails" in {tool.name for tool in tools.list_tools()}
        assert tools.call("email", "get_emails", page_size=2)["total"] == 30
        with pytest.raises(ToolError, match="'page'"):
            tools.call("email", "get_emails", page="two")
        with pytest.raises(ToolError, match="Unknown argument 'pgae'"):
            tools.call("email", "get_emails", pgae=2)


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_one_service_has_its_tools_under_their_own_names(host: Host, era: Era) -> None:
    with McpTools(f"{host.base}/e/{host.open()}/email/mcp", era=era) as tools:
        assert "get_emails" in {tool.name for tool in tools.list_tools()}
        assert tools.call("email", "get_emails")["total"] == 30


def test_tools_say_whether_they_change_anything(host: Host) -> None:
    status, answer = host.ask(
        f"/e/{host.open()}/email/mcp",
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/list",
            "params": {
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                }
            },
        },
        **{
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/list",
            "Accept": "application/json, text/event-stream",
        },
    )
    assert status == 200
    hints = {tool["name"]: tool["annotations"]["readOnlyHint"] for tool in answer["result"]["tools"]}
    assert hints["get_emails"] is True
    assert hints["send_email"] is False


def test_two_agents_at_once_do_not_see_each_other(host: Host) -> None:
    ids = [host.open(), host.open()]
    seen: dict[str, list[str]] = {}

    def act(id_: str, name: str) -> None:
        with host.tools(id_) as tools:
            for number in range(10):
                tools.call("email", "send_email", to="x@elsewhere.net", subject=f"{name} {number}", body="b")
            page = tools.call("email", "get_emails", folder="Sent")
            seen[name] = [email["subject"] for email in page["emails"]]

    threads = [threading.Thread(target=act, args=(id_, name)) for id_, name in zip(ids, "ab", strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in "ab":
        assert sorted(seen[name]) == [f"{name} {number}" for number in range(10)]


def test_the_first_requests_to_a_service_may_come_at_once(tmp_path: Path) -> None:
    instance = tmp_path / "instance"
    with World.create(instance / "world", Manifest(services={"memory": None})) as world:
        world.finish_building()
    (instance / "expected.json").write_text("{}")
    (instance / "prompt.md").write_text("Remember.\n")
    app = Hosting(tmp_path / "state", admin_token=TOKEN)
    with serving(app) as base:
        fresh = Host(app=app, base=base, instance=instance)
        ids = [fresh.open() for _ in range(6)]
        together = threading.Barrier(len(ids))

        def read(id_: str) -> Any:
            together.wait()
            with fresh.tools(id_) as tools:
                return tools.call("memory", "read_graph")

        with ThreadPoolExecutor(len(ids)) as pool:
            assert list(pool.map(read, ids)) == [{"entities": [], "relations": []}] * len(ids)


def test_a_session_opened_under_one_episode_is_refused_under_another(host: Host) -> None:
    mine, other = host.open(), host.open()
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    }
    accept = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{host.base}/e/{mine}/email/mcp", json.dumps(hello).encode(), accept)
    with urllib.request.urlopen(request) as response:
        session = response.headers["mcp-session-id"]
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    status, answer = host.ask(f"/e/{other}/email/mcp", listing, **accept, **{"Mcp-Session-Id": session})
    assert status == 404
    assert "Session not found" in answer["error"]["message"]


@pytest.mark.parametrize("id_", ["0" * 32, "..", "a", "%2e%2e", "Z" * 32])
def test_an_unknown_episode_is_a_protocol_error(host: Host, id_: str) -> None:
    status, answer = host.ask(f"/e/{id_}/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert status == 404
    assert answer["error"]["message"] == "unknown episode"


def test_an_episode_that_opens_many_sessions_loses_its_oldest_and_nobody_else_any(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesocosm.doors.mcp.MOST_SESSIONS", 3)
    greedy, other = host.open(), host.open()
    information = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

    def ask(id_: str, method: str, params: Any, **session: str) -> tuple[int, str]:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        sent = headers | {name.replace("_", "-"): value for name, value in session.items()}
        request = urllib.request.Request(f"{host.base}/e/{id_}/email/mcp", body, sent)
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, response.headers.get("mcp-session-id", "")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, ""

    with host.tools(other, "legacy") as tools:
        opened = [ask(greedy, "initialize", information)[1] for _ in range(9)]
        found = [ask(greedy, "tools/list", {}, mcp_session_id=session)[0] for session in opened]
        assert found == [404] * 6 + [200] * 3
        assert tools.call("email", "get_folders") is not None


def test_a_reset_does_not_wait_until_all_that_was_there_is_removed(host: Host) -> None:
    id_ = host.open()
    workspace = host.app.pool.path(id_) / "world" / "workspace"
    for number in range(2500):
        (workspace / str(number)).mkdir()
    assert host.ask(f"/episodes/{id_}/reset", method="POST")[0] == 200
    assert list(workspace.iterdir()) == []
    left = workspace.parents[2]
    deadline = time.monotonic() + PATIENCE
    while any(path.name.endswith(".gone") for path in left.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("folders_of_999", sampled((20, 100), {20}))
def test_very_many_folders_are_copied_reset_and_removed_while_others_are_served(
    host: Host, folders_of_999: int
) -> None:
    """A fifth of what a workspace may hold; all of it is long."""
    id_, other = host.open(), host.open()
    workspace = host.app.pool.path(id_) / "world" / "workspace"
    for number in range(folders_of_999):
        (workspace / str(number)).mkdir()
        for inner in range(999):
            os.mkdir(workspace / str(number) / str(inner))
    with ThreadPoolExecutor(1) as pool, host.tools(other) as tools:
        for act, method, status in (("/fork", "POST", 201), ("/reset", "POST", 200), ("", "DELETE", 204)):
            doing = pool.submit(host.ask, f"/episodes/{id_}{act}", method=method)
            served = 0
            while not doing.done():
                assert tools.call("email", "get_folders") is not None
                served += 1
            assert doing.result()[0] == status
            if act == "/fork":
                assert served > 10  # a copy takes long, and nobody waits for it
                copy = doing.result()[1]["id"]
    folders = host.app.pool.path(copy) / "world" / "workspace"
    assert sum(len(names) for _, names, _ in os.walk(folders)) == 1000 * folders_of_999
    assert host.ask(f"/episodes/{copy}", method="DELETE")[0] == 204


def test_an_unknown_endpoint_names_those_there_are(host: Host) -> None:
    status, answer = host.ask(f"/e/{host.open()}/canvas/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert status == 404
    assert "email, claim_done" in answer["error"]["message"]


def test_a_foreign_host_header_is_refused(host: Host) -> None:
    status, _ = host.ask(
        f"/e/{host.open()}/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, Host="evil.example"
    )
    assert status == 421


@pytest.mark.parametrize("path", ["/openapi.json", "/episodes", "/tasks", "/"])
def test_the_control_plane_answers_to_its_own_names_only(host: Host, path: str) -> None:
    assert host.ask(path, Host="evil.example")[0] == 421
    assert host.ask(path)[0] in (200, 404)
    for probe in ("/health", "/ready"):  # by address, as orchestrators ask
        assert host.ask(probe, Host="10.0.0.7:8321")[0] == 200


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/episodes"),
        ("POST", "/episodes"),
        ("GET", "/tasks"),
        ("GET", "/services"),
        ("DELETE", "/episodes/x"),
    ],
)
def test_the_control_plane_needs_the_admin_token(
    host: Host, token: str | None, method: str, path: str
) -> None:
    status, answer = host.ask(path, method=method, token=token)
    assert status == 401
    assert "admin token" in answer["detail"]


def test_an_episode_id_does_not_open_the_control_plane(host: Host) -> None:
    id_ = host.open()
    for path in ("/episodes", f"/episodes/{id_}"):
        assert host.ask(path, token=id_)[0] == 401
    for path in (f"/e/{id_}/episodes", f"/e/{id_}/../../episodes", f"/e/{id_}/mcp/../../episodes"):
        assert host.ask(path, token=id_)[0] in (401, 404)


def test_a_fault_is_told_in_log_and_metrics_without_the_id(
    host: Host, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bug(*_: Any, **__: Any) -> str:
        raise RuntimeError("a bug of ours")

    id_ = host.open()
    tools = load_service("email").tools
    monkeypatch.setitem(tools, "get_folders", replace(tools["get_folders"], function=bug))
    with host.tools(id_) as client, pytest.raises(ToolError, match="has been recorded"):
        client.call("email", "get_folders")
    [record] = [record for record in caplog.records if "a fault of ours" in record.message]
    assert f"episode {folder_of(id_)[:12]}, call 1, email.get_folders, request " in record.message
    assert "RuntimeError: a bug of ours" in record.message
    assert id_ not in record.message
    request = urllib.request.Request(f"{host.base}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request) as page:
        assert b'mesocosm_call_seconds_count{service="email",status="fault"} 1.0' in page.read()


def test_who_leaves_amid_a_request_is_no_fault(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    id_, at = host.open(), urllib.parse.urlsplit(host.base)
    for path in (f"/e/{id_}/mcp", f"/e/{id_}/email/mcp"):
        with socket.create_connection((at.hostname, at.port)) as leaving:
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            head += "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
            leaving.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
            while not host.app.busy:
                time.sleep(0.01)
        while host.app.busy:
            time.sleep(0.01)
    assert not [record for record in caplog.records if record.exc_info]


def test_health_and_readiness_need_no_token(host: Host) -> None:
    assert host.ask("/health", token=None)[1]["status"] == "ok"
    assert host.ask("/ready", token=None)[0] == 200


def test_an_episode_is_rewound_forked_and_deleted(host: Host) -> None:
    id_ = host.open()

    def sent(episode: str) -> int:
        with host.tools(episode) as tools:
            return int(tools.call("email", "get_emails", folder="Sent")["total"])

    def send(episode: str) -> None:
        with host.tools(episode) as tools:
            tools.call("email", "send_email", to="x@elsewhere.net", subject="s", body="b")

    send(id_)
    assert host.ask(f"/episodes/{id_}/snapshots", {"name": "one"})[1]["snapshots"] == ["one"]
    send(id_)
    status, fork = host.ask(f"/episodes/{id_}/fork", method="POST")
    assert (status, sent(fork["id"]), sent(id_)) == (201, 2, 2)
    send(fork["id"])
    assert (sent(fork["id"]), sent(id_)) == (3, 2)
    assert host.ask(f"/episodes/{id_}/restore", {"name": "one"})[0] == 200
    assert sent(id_) == 1
    assert host.ask(f"/episodes/{id_}/reset", method="POST")[1]["calls"] == 0
    assert sent(id_) == 0
    assert host.ask(f"/episodes/{id_}", method="DELETE")[0] == 204
    assert host.ask(f"/episodes/{id_}")[0] == 404
    assert sent(fork["id"]) == 3


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("snapshots", {"name": "../x"}, "not a name"),
        ("snapshots", {"name": "twice"}, "already"),
        ("restore", {"name": "nothing"}, "no snapshot"),
    ],
)
def test_what_cannot_be_done_to_an_episode_is_said(host: Host, path: str, body: Any, words: str) -> None:
    id_ = host.open()
    host.ask(f"/episodes/{id_}/snapshots", {"name": "twice"})
    status, answer = host.ask(f"/episodes/{id_}/{path}", body)
    assert status == 400
    assert words in answer["detail"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"task": "nope"}, 400, "unknown task"),
        ({"task": "x", "seed": -1}, 422, "seed"),
        ({"task": "x", "sede": 1}, 422, "sede"),
        (b"{", 422, ""),
    ],
)
def test_an_episode_that_cannot_be_built_is_refused(host: Host, body: Any, status: int, words: str) -> None:
    before = host.ask("/episodes")[1]["total"]
    answer = host.ask("/episodes", body, **{"Content-Type": "application/json"})
    assert answer[0] == status
    assert words in json.dumps(answer[1])
    assert host.ask("/episodes")[1]["total"] == before


def test_more_episodes_than_may_be_open_are_served_all_the_same(host: Host) -> None:
    ids = [host.open() for _ in range(20)]
    for id_ in [*ids, *ids]:
        assert host.app.pool.get(id_).episode.world.call("email", "get_emails", {}).status == "ok"
    assert len(host.app.pool._open) <= 16


def test_a_missing_checker_makes_the_episode_errored(host: Host) -> None:
    status, grade = host.ask(f"/episodes/{host.open()}/grade", method="POST")
    assert status == 200
    assert (grade["verdict"]["verdict"], grade["verdict"]["reward"]) == ("errored", None)


def test_the_journal_is_read_in_pages(host: Host) -> None:
    id_ = host.open()
    with host.tools(id_) as tools:
        for page in range(1, 6):
            tools.call("email", "get_emails", page=page, page_size=1)
    _, first = host.ask(f"/episodes/{id_}/journal?limit=3")
    _, second = host.ask(f"/episodes/{id_}/journal?after={first['calls'][-1]['seq']}")
    calls = first["calls"] + second["calls"]
    assert [call["arguments"]["page"] for call in calls] == [1, 2, 3, 4, 5]
    assert first["last"] == 5
    assert "error" not in calls[0]


def test_the_openapi_description_lists_the_control_plane(host: Host) -> None:
    _, document = host.ask("/openapi.json", token=None)
    assert {"/episodes", "/episodes/{id}/fork", "/episodes/{id}/grade", "/health"} <= document["paths"].keys()


def test_an_episode_may_offer_only_the_tools_that_its_task_needs(host: Host) -> None:
    body = {"task": "excel_market_research", "length": "8k", "seed": 1, "tools": "needed"}
    status, view = host.ask("/episodes", body)
    assert (status, view["tools"]) == (201, "needed")
    needed = load_family("excel_market_research").task.needed
    assert set(view["services"]) == set(needed)
    _, fork = host.ask(f"/episodes/{view['id']}/fork", method="POST")
    host.ask(f"/episodes/{view['id']}/reset", method="POST")
    for id_ in (view["id"], fork["id"]):
        with host.tools(id_) as tools:
            names = {tool.name for tool in tools.list_tools()}
            assert names == {"claim_done", *needed["excel"], *needed["filesystem"]}
            with pytest.raises(MCPError, match="Unknown tool: create_chart"):
                tools.call("excel", "create_chart")
    _, everything = host.ask("/episodes", body | {"tools": "all"})
    assert everything["edl"] == view["edl"]
    with host.tools(everything["id"]) as tools:
        assert "create_chart" in {tool.name for tool in tools.list_tools()}
    assert host.ask("/episodes", body | {"tools": "some"})[0] == 400


def test_where_an_episode_lies_does_not_tell_its_id(host: Host) -> None:
    id_ = host.open()
    pool = host.app.pool
    assert pool.get(id_).episode.world.path.is_dir()
    assert id_ not in str(pool.get(id_).episode.world.path)
    assert id_ in pool.ids()
    assert pool.path(id_).name not in pool.ids()


def test_a_list_of_episodes_passes_over_one_that_is_being_removed(host: Host) -> None:
    id_ = host.open()
    going = host.app.pool.root / "episodes" / "0123456789abcdef"
    going.mkdir()  # what a listing sees of an episode when its folder's name was read before it went
    try:
        assert id_ in host.app.pool.ids()
        assert host.ask("/episodes", method="GET")[0] in (200, 405)
    finally:
        going.rmdir()


def test_the_name_of_the_folder_does_not_open_the_episode(tmp_path: Path, host: Host) -> None:
    before = EpisodePool(tmp_path)
    id_ = before.adopt(host.instance, TASK)
    before.close()
    folder = folder_of(id_)
    assert (tmp_path / "episodes" / folder).is_dir()
    app = Hosting(tmp_path, admin_token=TOKEN)
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with serving(app) as base:
        own = Host(app=app, base=base, instance=host.instance)
        # The name comes first, so that it would have the world to itself.
        for path in (f"/e/{folder}/mcp", f"/e/{folder}/email/mcp", f"/e/{folder}/email/gmail/v1/users/me"):
            status, answer = own.ask(path, ping, token=None)
            assert (status, answer["error"]["message"]) == (404, "unknown episode")
        for method, rest in (("GET", ""), ("GET", "/archive"), ("POST", "/fork"), ("DELETE", "")):
            assert own.ask(f"/episodes/{folder}{rest}", method=method)[0] == 404
        assert own.ask("/grade", {"ids": [folder]})[0] == 404
        assert app.pool.ids() == [id_]
        with own.tools(id_) as tools:
            assert tools.call("email", "get_folders") is not None


def test_nobody_else_waits_for_a_world_that_another_process_still_has(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesocosm.hosting.pool._PATIENCE", 60.0)
    held, other = host.open(), host.open()
    folder = host.app.pool.path(held) / "world"
    journal = Journal(folder / "journal.db")  # as a process that is ending
    with ThreadPoolExecutor(2) as pool:

        def names(id_: str) -> Any:
            with host.tools(id_) as tools:
                return tools.call("email", "get_folders")

        waiting = pool.submit(names, held)
        try:
            assert names(other) is not None
            assert not waiting.done()
        finally:
            journal.close()
        assert waiting.result() is not None


def test_what_a_killed_server_left_half_made_is_removed_when_nobody_uses_it(tmp_path: Path) -> None:
    draft = tmp_path / "episodes" / ".half"
    (draft / "world").mkdir(parents=True)
    first = EpisodePool(tmp_path)
    assert not draft.exists()
    draft.mkdir()
    second = EpisodePool(tmp_path)  # while the first may be making it
    assert draft.exists()
    for pool in (first, second):
        pool.close()
    EpisodePool(tmp_path).close()
    assert not draft.exists()


def test_a_request_has_to_say_in_time_what_it_wants(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("INTRODUCTION", "BODY"):
        monkeypatch.setattr(f"mesocosm.doors.connections.{name}", 0.3)
    where = urllib.parse.urlsplit(host.base)
    head = b"POST /episodes HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n"
    for sent in (head, head + b"\r\n{"):
        with socket.create_connection((where.hostname or "", where.port or 0), 20) as client:
            client.sendall(sent)
            answer = client.makefile("rb").read()  # a TimeoutError would say that the server has waited on
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert answer.endswith(b"\r\nConnection: close\r\n\r\n")


def test_a_few_requests_may_be_sent_ahead_and_no_thousands(host: Host) -> None:
    where = urllib.parse.urlsplit(host.base)
    one = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for ahead, fewest, most in ((10, 11, 11), (5000, 0, 20)):
        said = b""
        with socket.create_connection((where.hostname or "", where.port or 0), 60) as client:
            client.sendall(one * ahead + one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            with suppress(ConnectionResetError):
                while part := client.recv(65_536):
                    said += part
        assert fewest <= said.count(b"HTTP/1.1 200 OK") <= most


def test_a_body_that_comes_a_byte_at_a_time_is_ended_as_one_that_stalls(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesocosm.doors.connections.BODY", 0.5)
    where, id_ = urllib.parse.urlsplit(host.base), host.open()
    for path in ("/episodes", f"/e/{id_}/email/mcp"):
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        with socket.create_connection((where.hostname or "", where.port or 0), 0.05) as client:
            client.sendall(f"{head}Content-Length: 900000\r\n\r\n".encode())
            answer = b""
            for _ in range(400):  # 20 seconds
                client.sendall(b"[")
                with suppress(TimeoutError):
                    answer = client.recv(1000)
                    break
            assert answer.startswith(b"HTTP/1.1 408 ")
    with host.tools(id_) as tools:
        assert tools.call("email", "get_folders") is not None


def test_a_call_of_more_lists_than_anybody_needs_is_not_read(host: Host) -> None:
    # To read it would hold up everybody, for a second a megabyte.
    id_ = host.open()
    status, answer = host.ask(f"/e/{id_}/email/mcp", b"[" * 60_000 + b"]" * 60_000, token=None)
    assert (status, answer["error"]["message"]) == (
        413,
        "A call may have 50,000 lists and objects; this one has more.",
    )
    arguments = {"query": "x" * 60_000}
    with host.tools(id_) as tools, pytest.raises(ToolError, match=r"1,?000|long|at most"):
        tools.call("email", "search_emails", **arguments)
