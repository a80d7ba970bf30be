"""A client of a server that is not there yet waits for it, for a bounded time, and says so."""

from __future__ import annotations

import logging
import socket
import subprocess
from pathlib import Path
from time import monotonic

import pytest
from commands import stand_in
from patience import PATIENCE

from mesocosm.errors import UsageError
from mesocosm.hosting.client import connect_sync
from mesocosm.hosting.client.exchange import WAIT


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def test_a_server_that_comes_up_late_is_waited_for(
    port: int, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WAIT, str(PATIENCE))
    serve = [*stand_in(), "serve", "--port", str(port), "--state", str(tmp_path)]
    late = subprocess.Popen(["sh", "-c", 'sleep 1; exec "$@"', "sh", *serve])
    try:
        with caplog.at_level(logging.WARNING), pytest.raises(UsageError, match="answered 401"):
            connect_sync(f"http://127.0.0.1:{port}", token="wrong").known("0" * 32).grade()
    finally:
        late.terminate()
        late.wait(PATIENCE)
    assert f"waiting for http://127.0.0.1:{port}, at most {PATIENCE} seconds" in caplog.text


def test_it_is_waited_for_no_longer_than_was_said(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WAIT, "0.6")
    started = monotonic()
    server = connect_sync(f"http://127.0.0.1:{port}", token="x")
    for _ in range(2):
        with pytest.raises(UsageError, match="cannot reach"):
            server.known("0" * 32).grade()
    assert monotonic() - started < 110  # where nothing is said, it is waited for 60 seconds each time


@pytest.mark.parametrize("value", ["x", "-1", "nan", "1e9"])
def test_what_is_no_time_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WAIT, value)
    with pytest.raises(UsageError, match=WAIT):
        connect_sync("http://127.0.0.1:9", token="x")
