"""Exchange of a request for an answer: retries, when to give up, and the client's exceptions.

What a client does is written as generators that yield what is to be sent or waited for, and are told what
came of it. Who drives them decides whether others run meanwhile.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from http import HTTPStatus
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import httpx2

from mesocosm.errors import UsageError

# Retries are safe because every request has a key, and the server remembers its answers (decision 077).


WAIT = "MESOCOSM_SERVER_WAIT"
"""Names the seconds that a server may take to come up."""
_WAIT = 60.0
_MOST_WAIT = 86_400

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class ClientRequest:
    """One request."""

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    into: Path | None = None
    """The file that a successful answer's body is written to, instead of being kept."""


@dataclass(frozen=True)
class HttpAnswer:
    """Answer to a request. ``status`` is 0 if none came, and ``body`` then says why."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """True for a status of success."""
        return 200 <= self.status < 300

    @property
    def detail(self) -> str:
        """The server's error message."""
        try:
            said = json.loads(self.body)
            return str(said["detail"] if "detail" in said else said["error"]["message"])
        except (ValueError, KeyError, TypeError):
            return self.body.decode(errors="replace")[:500]


@dataclass(frozen=True)
class Pause:
    """Some seconds in which nothing is sent."""

    seconds: float


Steps = Generator[ClientRequest | Pause, HttpAnswer | None, R]

_AGAIN = {
    0,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}
_LONGEST_PAUSE = 60.0


@dataclass(frozen=True)
class ServerAddress:
    """Address of a server, the token for its control plane, and how long to wait for it."""

    base: str
    token: str
    retries: int
    wait: float
    """Seconds for which the first request waits for a server that is not there yet."""


class Exchange:
    """Requests to one server."""

    def __init__(self, address: ServerAddress) -> None:
        self.address = address
        self._wait = address.wait

    def answer(self, request: ClientRequest) -> Steps[tuple[HttpAnswer, int]]:
        """Return the answer and the number of earlier tries. Repeats a request that was lost or met an
        overloaded server.
        """
        yield from self._until_up()
        tries = 0
        while (answer := (yield request)) and answer.status in _AGAIN and tries < self.address.retries:
            yield Pause(_pause(answer, tries))
            tries += 1
        assert answer
        return answer, tries

    def success(self, request: ClientRequest) -> Steps[HttpAnswer]:
        """Return the answer; raises ``ServerError`` unless it is a success."""
        answer, _ = yield from self.answer(request)
        if not answer.is_success:
            raise self.failure(request, answer)
        return answer

    def failure(self, request: ClientRequest, answer: HttpAnswer) -> ServerError:
        """Turn an unsuccessful answer into an error."""
        if not answer.status:
            return Unreachable(f"cannot reach {self.address.base}: {answer.detail}")
        return failure(self.address.base, request.path, answer.status, answer.detail)

    def _until_up(self) -> Steps[None]:
        """Before the first request: until the server is there, as it may be starting beside this program."""
        waited, told = 0.0, False
        while self._wait:
            answer = yield ClientRequest("GET", "/ready")
            # Something else than a server of Mesocosm is there, which the request will tell.
            if (answer and 0 < answer.status < 500) or waited >= self._wait:
                self._wait = 0.0
                return
            if not told:
                logging.getLogger("mesocosm.hosting").warning(
                    "waiting for %s, at most %g seconds", self.address.base, self._wait
                )
            told = True
            yield Pause(0.5)
            waited += 0.5


def _pause(answer: HttpAnswer, tries: int) -> float:
    try:
        wanted = float(answer.headers.get("retry-after", ""))
    except ValueError:  # none, or a date
        wanted = 0.0
    return float(min(max(wanted, 0.1 * 2**tries), _LONGEST_PAUSE))


def patience() -> float:
    """Seconds that the environment gives a server to come up."""
    value = os.environ.get(WAIT) or str(_WAIT)
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= _MOST_WAIT:
        raise UsageError(f"{WAIT} must be a number of seconds, got {value!r}")
    return seconds


class _Awaiting(Protocol):
    _steps: Any

    async def _do(self, steps: Steps[R]) -> R: ...


class _Blocking(Protocol):
    _steps: Any

    def _do(self, steps: Steps[R]) -> R: ...


def awaited(
    steps: Callable[Concatenate[Any, P], Steps[R]],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    """A method that does these steps while others run."""

    @wraps(steps)
    async def method(self: _Awaiting, /, *arguments: P.args, **options: P.kwargs) -> R:
        return await self._do(steps(self._steps, *arguments, **options))

    return method


def blocking(steps: Callable[Concatenate[Any, P], Steps[R]]) -> Callable[Concatenate[Any, P], R]:
    """A method that does these steps and returns when they are done."""

    @wraps(steps)
    def method(self: _Blocking, /, *arguments: P.args, **options: P.kwargs) -> R:
        return self._do(steps(self._steps, *arguments, **options))

    return method


class ServerError(UsageError):
    """A request that a server did not do.

    ``status`` is the HTTP status that it answered; ``None`` where it answered nothing.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Unreachable(ServerError):
    """There is no server at that address, or the connection to it broke, however often it was tried."""


class Unauthorised(ServerError):
    """The token is not that of the server's control plane."""


class UnknownEpisode(ServerError):
    """There is no such episode, or no more."""


class Refused(ServerError):
    """It cannot be done as asked: an unknown task or parameter, a snapshot that is not there."""


class Busy(ServerError):
    """The server has too much to do, and had for as long as it was tried."""


class ServerFault(ServerError):
    """The server failed: a fault of ours."""


class CallFailed(Exception):
    """Error result of a tool, or an unknown tool; the text is what the agent sees."""


def failure(base: str, path: str, status: int, detail: str) -> ServerError:
    """The exception for an answer that is no success."""
    kinds = {401: Unauthorised, 404: UnknownEpisode, 429: Busy, 503: Busy}
    kind = kinds.get(status, ServerFault if status >= 500 else Refused)
    return kind(f"{base}{path} answered {status}: {detail}", status)


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
