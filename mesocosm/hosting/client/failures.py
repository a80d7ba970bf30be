"""Exceptions of the client."""

from __future__ import annotations

from mesocosm.errors import UsageError


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
