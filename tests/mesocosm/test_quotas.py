"""Tokens with quotas, and orders beyond what a server builds at a time."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import ssl
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from fcntl import LOCK_EX, flock
from itertools import islice
from pathlib import Path
from typing import Any

import commands
import httpx
import pytest
from patience import PATIENCE

import mesocosm
from mesocosm.doors.mcp import McpTools
from mesocosm.errors import UsageError
from mesocosm.families.cache import InstanceCache
from mesocosm.families.family import load_family
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.client import Refused, ServerError, Unauthorised
from mesocosm.hosting.expiry import alone
from mesocosm.hosting.metrics import RequestLog
from mesocosm.hosting.pool import folder_of
from mesocosm.hosting.server import serving
from mesocosm.hosting.tls import certificate
from mesocosm.hosting.tokens import read_tokens

OWN = "the-server's-own-token"
ORDER: Any = {"task": "refund_list", "length": "8k", "seed": 1, "tools": "needed"}


def tokens_file(folder: Path, **quotas: str) -> Path:
    path = folder / "tokens.yaml"
    texts = (
        f"{name}:\n  sha256: {hashlib.sha256(f'{name}-s'.encode()).hexdigest()}\n  {quota}\n"
        for name, quota in quotas.items()
    )
    path.write_text("".join(texts))
    return path


def hosting(state: Path, **quotas: str) -> Hosting:
    state.mkdir(exist_ok=True)
    return Hosting(state, admin_token=OWN, tokens=read_tokens(tokens_file(state, **quotas)))


def test_a_token_has_so_many_episodes_and_others_are_free(tmp_path: Path, built: Path) -> None:
    shutil.copytree(built, tmp_path / "state" / "instances")
    quotas = {"anna": "episodes: 3", "bob": "creations: 3/h", "carl": "bytes: 1KiB"}
    with serving(hosting(tmp_path / "state", **quotas)) as base:
        with mesocosm.connect_sync(base, token="anna-s", retries=0) as anna:
            one, two = anna.create_batch([{**ORDER, "count": 2}])
            fork = one.fork()
            for too_much in (one.fork, lambda: anna.create(**ORDER)):
                with pytest.raises(ServerError, match="3 episodes at a time; there are 3") as caught:
                    too_much()
                assert caught.value.status == 429
            with pytest.raises(Refused, match="too many for one request"):
                anna.create_batch([{**ORDER, "count": 4}])
            fork.delete()
            anna.grade_batch([two], delete=True)
            with pytest.raises(Refused):
                anna.create_batch([{**ORDER, "count": 1}, {"task": "none"}])
            anna.create_batch([{**ORDER, "count": 2}])
        with mesocosm.connect_sync(base, token="bob-s", retries=0) as bob:
            with pytest.raises(Refused, match="none"):
                bob.create("none")
            group = bob.create_batch([{**ORDER, "count": 3}])
            bob.grade_batch(group, delete=True)
        answer = httpx.post(
            f"{base}/episodes", json=ORDER, headers={"Authorization": "Bearer bob-s"}, timeout=PATIENCE
        )
        assert (answer.status_code, "3/h new episodes" in answer.text) == (429, True)
        assert 1100 <= int(answer.headers["retry-after"]) <= 1200
        with mesocosm.connect_sync(base, token="carl-s", retries=0) as carl:
            carl.create(**ORDER)
            with pytest.raises(ServerError, match="on disk"):
                carl.create(**ORDER)
        with mesocosm.connect_sync(base, token="nobody", retries=0) as nobody, pytest.raises(Unauthorised):
            nobody.create(**ORDER)
        with mesocosm.connect_sync(base, token=OWN) as own:
            own.create_batch([{**ORDER, "count": 5}])
        page = httpx.get(f"{base}/metrics", headers={"Authorization": "Bearer anna-s"}, timeout=PATIENCE)
        if page.status_code != 501:
            assert 'mesocosm_token_episodes{token="anna"} 3.0' in page.text
            assert 'mesocosm_token_refused_total{limit="creations",token="bob"} 1.0' in page.text
    # What there is is known after a restart.
    with (
        serving(hosting(tmp_path / "state", **quotas)) as base,
        mesocosm.connect_sync(base, token="anna-s", retries=0) as anna,
        pytest.raises(ServerError, match="3 episodes"),
    ):
        anna.create(**ORDER)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1", "write NAME"),
        ("a: {sha256: short}", "a.sha256"),
        (f"a: {{sha256: {'a' * 64}, creations: many}}", "as in 2000/h"),
        (f"a: {{sha256: {'a' * 64}}}\nb: {{sha256: {'a' * 64}}}", "one name"),
        (f"admin: {{sha256: {'a' * 64}}}", "none is named admin"),
    ],
)
def test_a_file_of_tokens_that_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "tokens.yaml").write_text(text)
    with pytest.raises(UsageError, match=said):
        read_tokens(tmp_path / "tokens.yaml")


def test_a_token_opens_what_its_scopes_say(tmp_path: Path) -> None:
    scopes = {"maker": "scopes: [serve]", "judge": "scopes: [grade]", "looker": "scopes: [read]"}
    with serving(hosting(tmp_path / "state", **scopes)) as base:
        with mesocosm.connect_sync(base, token="maker-s") as maker:
            id_ = maker.create(**ORDER).id

        def ask(name: str, method: str, path: str, **body: Any) -> int:
            headers = {"Authorization": f"Bearer {name}-s"}
            return httpx.request(
                method, base + path, headers=headers, json=body or None, timeout=PATIENCE
            ).status_code

        one = f"/episodes/{id_}"
        asked = [
            ("serve", "GET", "/episodes", {}),
            ("serve", "POST", f"{one}/reset", {}),
            ("serve", "POST", f"{one}/fork", {}),
            ("grade", "POST", f"{one}/grade", {}),
            ("grade", "POST", "/grade", {"ids": [id_]}),
            ("grade", "GET", f"{one}/truth", {}),
            ("grade", "GET", f"{one}/archive", {}),
            ("read", "GET", one, {}),
            ("read", "GET", f"{one}/journal", {}),
            ("read", "GET", "/tasks", {}),
            ("read", "GET", "/metrics", {}),
        ]
        holders = {"maker": "serve", "judge": "grade", "looker": "read"}
        for scope, method, path, body in asked:
            for name, has in holders.items():
                status = ask(name, method, path, **body)
                assert (status == 403) is (scope != has), (name, method, path, status)
        assert ask("judge", "POST", "/grade", ids=[id_], delete=True) == 403
        assert ask("judge", "DELETE", one) == 403
        assert ask("maker", "DELETE", one) == 204


def test_orders_beyond_what_may_wait_are_told_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_BUILDS_WAITING", "1")
    with serving(Hosting(tmp_path, admin_token=OWN)) as base, httpx.Client(timeout=PATIENCE) as client:

        def order(seed: int) -> httpx.Response:
            body = {**ORDER, "seed": seed}
            return client.post(f"{base}/episodes", json=body, headers={"Authorization": f"Bearer {OWN}"})

        cache, family = InstanceCache(tmp_path / "instances"), load_family(ORDER["task"])
        with ThreadPoolExecutor(6) as pool, ExitStack() as builders:
            for seed in range(
                6
            ):  # as if other servers were building them: nothing is built before all have asked
                path = cache.path(family, seed, 8000, {})
                path.parent.mkdir(exist_ok=True)
                flock(builders.enter_context(path.with_name(f".{path.name}.lock").open("w")), LOCK_EX)
            asked = [pool.submit(order, seed) for seed in range(6)]
            first = list(islice(as_completed(asked), 3))
            builders.close()
            answers = [answer.result() for answer in asked]
        assert {answer.result().status_code for answer in first} == {503}
        refused = [answer for answer in answers if answer.status_code == 503]
        assert {answer.status_code for answer in answers} == {201, 503}
        assert len(refused) == 3
        for answer in refused:
            assert "wait to be built" in answer.text
            assert int(answer.headers["retry-after"]) >= 1


def test_tokens_change_while_the_server_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mesocosm.hosting.tokens.TokenFile.LOOKED_EVERY", 0.05)
    path = tokens_file(tmp_path, anna="episodes: 3")
    app = Hosting(tmp_path / "state", admin_token=OWN, tokens=read_tokens(path), token_file=path)
    with serving(app) as base:

        def status(path: str, token: str) -> int:
            return httpx.get(
                base + path, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE
            ).status_code

        def wait_for(path: str, token: str, wanted: int) -> None:
            until = time.monotonic() + PATIENCE
            while status(path, token) != wanted:
                assert time.monotonic() < until
                time.sleep(0.02)

        assert (status("/tasks", "anna-s"), status("/tasks", "ben-s")) == (200, 401)
        tokens_file(tmp_path, ben="scopes: [read]")
        wait_for("/tasks", "ben-s", 200)
        assert (status("/tasks", "anna-s"), status("/episodes", "ben-s")) == (401, 403)
        path.write_text("ben: [")
        wait_for("/ready", OWN, 503)
        assert (status("/tasks", "ben-s"), status("/tasks", OWN)) == (200, 200)
        tokens_file(tmp_path, ben="episodes: 0")
        wait_for("/ready", OWN, 200)
        with (
            mesocosm.connect_sync(base, token="ben-s", retries=0) as ben,
            pytest.raises(Refused, match="quota"),
        ):
            ben.create(**ORDER)


def test_a_request_is_found_again_by_its_id_and_its_token_by_name(tmp_path: Path, built: Path) -> None:
    shutil.copytree(built, tmp_path / "s" / "instances")
    path = tokens_file(tmp_path, anna="episodes: 3")
    log = tmp_path / "log"
    app = Hosting(tmp_path / "s", admin_token=OWN, tokens=read_tokens(path), log=RequestLog(str(log)))
    with serving(app) as base, httpx.Client(base_url=base, timeout=PATIENCE) as client:
        client.headers["Authorization"] = "Bearer anna-s"
        made = client.post("/episodes", json=ORDER, headers={"X-Request-Id": "mine-1"})
        assert (made.status_code, made.headers["x-request-id"]) == (201, "mine-1")
        id_ = made.json()["id"]
        for era in ("auto", "legacy"):
            with McpTools(f"{base}/e/{id_}/mcp", era=era) as tools:
                tools.call("email", "get_folders")
        odd = client.get("/tasks", headers={"X-Request-Id": "x" * 100})
        assert len(odd.headers["x-request-id"]) == 16
        calls = client.get(f"/episodes/{id_}/journal").json()["calls"]
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert (lines[0]["request"], lines[0]["token"], lines[0]["path"]) == ("mine-1", "anna", "/episodes")
    by_id = {line["request"]: line for line in lines}
    assert len(by_id) == len(lines)
    assert [by_id[call["request"]]["path"] for call in calls] == ["/e/{id}/mcp"] * 2
    assert by_id[calls[0]["request"]]["operation"] == "tools/call get_folders"
    assert "token" not in by_id[calls[0]["request"]]
    assert id_ not in log.read_text()


def test_a_certificate_of_ones_own_is_served_and_its_key_has_to_fit(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path / "one", ["localhost", "127.0.0.1"])
    other = certificate(tmp_path / "two", ["localhost"])[1]
    command = ["serve", "--port", "0", "--state", tmp_path / "state"]
    wrong = commands.mesocosm(*command, "--tls-cert", cert, "--tls-key", other)
    assert wrong.returncode == 2
    assert "--tls-key" in wrong.stderr
    with commands.Started(*command, "--tls-cert", cert, "--tls-key", key) as process:
        try:
            found = re.search(r"https://\S+?:\d+", process.stderr.readline())
            assert found
            trusting = ssl.create_default_context(cafile=str(cert))
            assert httpx.get(f"{found[0]}/health", verify=trusting, timeout=PATIENCE).status_code == 200
        finally:
            process.terminate()


def test_a_certificate_that_is_replaced_is_served_without_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesocosm.hosting.server.RENEWING", 0.05)
    cert, key = certificate(tmp_path / "one", ["localhost", "127.0.0.1"])
    new_cert, new_key = certificate(tmp_path / "two", ["localhost", "127.0.0.1"])
    before, after = (ssl.PEM_cert_to_DER_cert(one.read_text()) for one in (cert, new_cert))
    with serving(Hosting(tmp_path / "s", admin_token=OWN), tls=(cert, key)) as base:
        port = int(base.rpartition(":")[2])

        def shown() -> bytes:
            return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", port)))

        with httpx.Client(
            base_url=base, verify=ssl.create_default_context(cafile=str(cert)), timeout=PATIENCE
        ) as open_since:
            assert open_since.get("/health").status_code == 200
            cert.write_bytes(new_cert.read_bytes())  # does not fit its key yet
            time.sleep(0.3)
            assert shown() == before
            key.write_bytes(new_key.read_bytes())
            until = time.monotonic() + PATIENCE
            while shown() != after:
                assert time.monotonic() < until
                time.sleep(0.02)
            assert open_since.get("/health").status_code == 200


def test_episodes_that_nobody_uses_are_removed(tmp_path: Path, built: Path) -> None:
    state = tmp_path / "state"
    shutil.copytree(built, state / "instances")
    with serving(Hosting(state, admin_token=OWN)) as base, mesocosm.connect_sync(base, token=OWN) as server:
        left, used, kept = server.create_batch([{**ORDER, "count": 3}])
        with pytest.raises(UsageError, match="a server uses"), alone(state):
            pass
    folder = state / "episodes" / folder_of(left.id)
    age(folder, 8 * 86_400)
    command = ["gc", "--state", state, "--older-than", "7d", "--json"]
    for more, removed in (["--dry-run"], False), ([], True):
        ran = commands.mesocosm(*command, *more)
        assert json.loads(ran.stdout) == {"episodes": 1, "instances": 0, "removed": removed}
        assert folder.is_dir() is not removed
    age(state / "episodes" / folder_of(used.id), 100)
    age(state / "episodes" / folder_of(kept.id), 100)
    [instance] = (path for path in (state / "instances").iterdir() if path.name[0] != ".")
    age(instance, 100)
    app = Hosting(state, admin_token=OWN, expire_after=60)
    app.pool.get(used.id).asked = 1  # as while it is being asked for something
    with serving(app) as base, mesocosm.connect_sync(base, token=OWN) as server:
        until = time.monotonic() + PATIENCE
        while instance.is_dir() or len(app.pool.ids()) > 1:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert app.pool.ids() == [used.id]
        assert server.create(**ORDER).grade().verdict == "failed"


def age(folder: Path, seconds: float) -> None:
    """As if nobody had been there for so long."""
    for path in (folder, *(folder / "world").glob("journal.db*")):
        if path.exists():
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - seconds))


def test_the_page_of_the_control_plane_asks_no_other_host(tmp_path: Path) -> None:
    with serving(Hosting(tmp_path, admin_token=OWN)) as base:
        page = httpx.get(f"{base}/docs", timeout=PATIENCE).text
        described = httpx.get(f"{base}/openapi.json", timeout=PATIENCE).json()
    assert not re.search("(?i)<script|https?://", page)
    for path, methods in described["paths"].items():
        assert all(f"{method.upper()} {path}" in page for method in methods)
