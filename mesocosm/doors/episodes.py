"""The interface between a door and the episodes behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from mesocosm.errors import InUse, NotNow, UsageError
from mesocosm.services.calls import Outcome
from mesocosm.services.service import Action, Operation, Service

BEING_MOVED = "the episode is on another host, and is being moved"


class UnknownEpisode(UsageError):
    """There is no episode of that id."""


def why_not_now(error: Exception) -> str | None:
    """Return the message for a call that cannot be answered at present but may be repeated soon; ``None`` for
    other errors.
    """
    if isinstance(error, InUse):
        return f"Not done: {BEING_MOVED}; send it again."
    if isinstance(error, NotNow):
        return f"Whether this was done is not known: {error}."
    return None


class Caller(Protocol):
    """The episode on whose behalf a call comes."""

    @property
    def services(self) -> Mapping[str, Service[Any]]:
        """The services of the episode with the tools it offers."""

    @property
    def all_services(self) -> tuple[str, ...]:
        """The services of its world, whether it offers tools of them or not."""

    def is_open(self, service: str) -> bool:
        """True if the episode offers the whole service, including its vendor's API and MCP resources."""

    async def make(
        self, service: str, action: Action, arguments: Mapping[str, Any], key: str | None
    ) -> Outcome:
        """Make one call, by whatever protocol it came, after those that came before it."""


class ServedEpisode(Caller, Protocol):
    """An episode as every door may use it."""

    def operation(self, service: str, name: str) -> Operation:
        """Return the named operation; raises ``UnknownTool``."""

    async def revision(self, service: str) -> int | None:
        """Number of the last call that changed a service, between two calls."""


class EpisodeSource(Protocol):
    """The episodes of a hosting process."""

    mail_ports: dict[str, int]

    async def bring(self, id_: str, /) -> None:
        """Have an episode here, if it was kept elsewhere."""

    def get(self, id_: str, /) -> ServedEpisode:
        """The episode of that id, else ``UnknownEpisode``."""

    def watching(self, id_: str, tell: Callable[[], None], /) -> AbstractContextManager[None]:
        """``tell`` is called after every call on an episode."""
