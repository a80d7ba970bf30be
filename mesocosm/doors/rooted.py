"""Clients that are told a host and nothing else, such as Snowflake's connectors: their requests go to the
root of the server. The password with which they sign in is the episode's id; from then on their session's
token says it.

``Snowflake Token="EPISODE.SESSION"`` at ``/queries/...`` is a request to
``/e/EPISODE/snowflake/SESSION/queries/...``. Credentials go no further than here.
"""

from __future__ import annotations

import re
import zlib
from typing import Any

import orjson
from starlette.types import Message, Receive, Scope

from mesocosm.doors.bodies import TooLarge, received

_SERVICE = "snowflake"
_LOGIN = "/session/v1/login-request"
_PATHS = re.compile(r"/(?:session(?:/v1/login-request|/heartbeat|/token-request)?|queries/v1/\w+-request"
                    r"|telemetry/send|monitoring/queries/[\w-]+)\Z")  # fmt: skip
_TOKEN = re.compile(r'Snowflake Token="([\w-]+)\.(\d+)"')
_EPISODE = re.compile(r"[\w-]+")
_LOGIN_KEEPS = ("LOGIN_NAME", "ACCOUNT_NAME")
REFUSED = {
    "data": {"nextAction": "RETRY_LOGIN", "authnMethod": "USERNAME_PASSWORD", "signInOptions": {}},
    "code": "390100",
    "message": "Incorrect username or password was specified. The password is the id of the episode.",
    "success": False,
    "headers": None,
}
"""What a client is told whose password, or token, is that of no episode."""


def is_rooted(path: str) -> bool:
    """Whether a path at the root is one that such clients ask for."""
    return _PATHS.match(path) is not None


async def placed(scope: Scope, receive: Receive) -> tuple[Scope, Receive] | None:
    """The request as one to its episode; ``None`` where it names none."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    if scope["path"] != _LOGIN:
        found = _TOKEN.fullmatch(headers.get("authorization", ""))
        return (_moved(scope, found[1], f"/{found[2]}{scope['path']}"), receive) if found else None
    try:
        given = orjson.loads(await received(receive, headers))["data"]
        episode = given.get("PASSWORD") or given.get("TOKEN")
    except (TooLarge, zlib.error, orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return None
    if not isinstance(episode, str) or not _EPISODE.fullmatch(episode):
        return None
    body = orjson.dumps({name: given[name] for name in _LOGIN_KEEPS if isinstance(given.get(name), str)})
    kept = [one for one in scope["headers"] if one[0] not in (b"content-encoding", b"content-length")]
    moved = _moved({**scope, "headers": kept}, episode, _LOGIN)
    return moved, _saying(body)


def _moved(scope: Scope, episode: str, path: str) -> Scope:
    """The request at a path of the episode's service, with its id as the token."""
    place = f"/e/{episode}/{_SERVICE}{path}"
    headers = [one for one in scope["headers"] if one[0] != b"authorization"]
    headers.append((b"authorization", f'Snowflake Token="{episode}"'.encode()))
    return {**scope, "path": place, "raw_path": place.encode(), "headers": headers}


def _saying(body: bytes) -> Receive:
    messages: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else {"type": "http.disconnect"}

    return receive
