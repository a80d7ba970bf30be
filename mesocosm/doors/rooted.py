"""Clients that can only be configured with a host, such as Snowflake's connectors: their requests go to the
server's root, and their login names the episode.

A service whose clients are such says so in ``servers/<name>/rooted.py``: a ``Rooted`` named ``rooted``. Its
requests are then ones to ``/e/EPISODE/<name>/SESSION/...``. Credentials go no further than here.
"""

# Some clients cannot be given a path, so the token has to name the episode (decision 090).

from __future__ import annotations

import importlib
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

import orjson
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope

from mesocosm.doors.admission import BodyTooLarge, Take, received
from mesocosm.doors.rest import basic_credentials
from mesocosm.services.content import find_module, service_names

_EPISODE = re.compile(r"[\w-]+")
_LOGIN = 65_536
"""Bytes with which a client may sign in."""


@dataclass(frozen=True)
class Rooted:
    """Recognition of requests to the server's root: which service they are for, and which episode."""

    service: str
    paths: re.Pattern[str]
    """Paths that such clients request, from the first slash to the end."""
    login: str
    """The path at which they sign in, with JSON whose ``data`` holds the id of the episode."""
    passwords: Sequence[str]
    """The fields of ``data`` that may hold it: the first that is there does."""
    keeps: Sequence[str]
    """The fields of ``data`` that the service is told."""
    token: re.Pattern[str]
    """Pattern of their ``Authorization`` header; its groups are the episode and the session."""
    authorization: str
    """The same of an episode whose API asks who calls (``{}`` is its id)."""
    refused: Mapping[str, Any]
    """Answer to an unknown password or token."""
    status: int = 200
    challenge: str = ""

    async def placed(self, scope: Scope, receive: Receive) -> tuple[Scope, Receive] | None:
        """The request as one to its episode; ``None`` where it names none."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if scope["path"] != self.login:
            found = self.token.fullmatch(headers.get("authorization", ""))
            return (self._moved(scope, found[1], f"/{found[2]}{scope['path']}"), receive) if found else None
        try:
            given = orjson.loads(await received(receive, headers, _little()))["data"]
            episode = next((given[name] for name in self.passwords if given.get(name)), None)
        except (
            BodyTooLarge,
            ClientDisconnect,
            zlib.error,
            orjson.JSONDecodeError,
            KeyError,
            TypeError,
            AttributeError,
        ):
            return None
        if not isinstance(episode, str) or not _EPISODE.fullmatch(episode):
            return None
        body = orjson.dumps(
            {name: given[name] for name in self.keeps if isinstance(given.get(name), str | dict)}
        )
        kept = [one for one in scope["headers"] if one[0] not in (b"content-encoding", b"content-length")]
        return self._moved({**scope, "headers": kept}, episode, self.login), _saying(body)

    def _moved(self, scope: Scope, episode: str, path: str) -> Scope:
        place = f"/e/{episode}/{self.service}{path}"
        headers = [one for one in scope["headers"] if one[0] != b"authorization"]
        headers.append((b"authorization", self.authorization.format(episode).encode()))
        return {**scope, "path": place, "raw_path": place.encode(), "headers": headers}


@dataclass(frozen=True)
class RootedByToken:
    """Clients that send the episode's id with every request, as a token or as a password."""

    service: str
    paths: re.Pattern[str]
    schemes: Sequence[str]
    """Of ``Authorization``, in lower case, whose value is the id; with Basic it is user or password."""
    refused: Mapping[str, Any]
    status: int = 401
    challenge: str = ""
    """Challenge for a client without credentials."""

    async def placed(self, scope: Scope, receive: Receive) -> tuple[Scope, Receive] | None:
        """The request as one to its episode; ``None`` where it names none."""
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, value = given.decode("latin-1").partition(" ")
        if scheme.lower() == "basic":
            said: Sequence[str] = basic_credentials({"authorization": f"{scheme} {value}"}) or ()
        else:
            said = (value.strip(),) if scheme.lower() in self.schemes else ()
        episode = next((one for one in reversed(said) if _EPISODE.fullmatch(one) and len(one) > 20), None)
        if episode is None:
            return None
        place = f"/e/{episode}/{self.service}{scope['path']}"
        raw = scope.get("raw_path") or quote(scope["path"]).encode()
        return {**scope, "path": place, "raw_path": f"/e/{episode}/{self.service}".encode() + raw}, receive


def _little() -> Take:
    """Return the limits for a client that has not signed in yet."""
    left = _LOGIN

    def take(size: int) -> None:
        nonlocal left
        left -= size
        if left < 0:
            raise BodyTooLarge

    return take


def rooted_at(path: str) -> Rooted | RootedByToken | None:
    """The service whose clients ask for a path at the root."""
    return next((one for one in _all() if one.paths.fullmatch(path)), None)


@cache
def _all() -> tuple[Rooted | RootedByToken, ...]:
    modules = (find_module("servers", name, "rooted") for name in service_names())
    return tuple(importlib.import_module(module).rooted for module in modules if module)


def _saying(body: bytes) -> Receive:
    messages: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else {"type": "http.disconnect"}

    return receive
