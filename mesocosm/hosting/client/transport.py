"""Use of ``httpx2`` by both clients."""

from __future__ import annotations

import os
from typing import Any

import httpx2

from mesocosm.errors import UsageError
from mesocosm.hosting.client.exchange import HttpAnswer, ServerAddress, patience

URL, TOKEN = "MESOCOSM_URL", "MESOCOSM_ADMIN_TOKEN"
"""Name the server and its token where a program names none."""
_CONNECTING = 10.0


def address_of(url: str | None, token: str | None, retries: int, wait: float | None) -> ServerAddress:
    """Return the server's address; raises ``UsageError`` if it or the token is given nowhere."""
    base = url or os.environ.get(URL) or ""
    if not base.startswith(("http://", "https://")):
        raise UsageError(f"name a server, as in http://127.0.0.1:8321, or set {URL}; got {base!r}")
    known = os.environ.get(TOKEN, "") if token is None else token
    return ServerAddress(base.rstrip("/"), known, retries, patience() if wait is None else wait)


def settings(timeout: float) -> dict[str, Any]:
    """Return the connection settings: unlimited kept-alive connections."""
    return {
        "timeout": httpx2.Timeout(timeout, connect=_CONNECTING, pool=None),
        "limits": httpx2.Limits(max_connections=256, max_keepalive_connections=256),
    }


def received(response: httpx2.Response) -> HttpAnswer:
    """An answer that came."""
    return HttpAnswer(response.status_code, response.headers, response.content)


def lost(error: httpx2.TransportError) -> HttpAnswer:
    """Make the answer for a request that got none."""
    return HttpAnswer(0, {}, (str(error) or type(error).__name__).encode())
