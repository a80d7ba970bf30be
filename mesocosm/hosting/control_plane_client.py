"""The control plane of a running server, as our own commands call it: with episodes by their ids."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mesocosm.hosting.client.blocking import BlockingEpisode, connect_sync
from mesocosm.hosting.client.requests import EpisodeSteps
from mesocosm.hosting.client.shapes import View


class ControlPlane:
    """A server that hosts episodes, and the token that opens its control plane."""

    def __init__(self, base: str, token: str) -> None:
        self.base = base.rstrip("/")
        self._server = connect_sync(base, token=token)
        # Nobody says when the last command was made; connections are left open between them.
        weakref.finalize(self, self._server.close)

    def create(
        self,
        task: str,
        length: int | None,
        seed: int,
        parameters: Mapping[str, Any],
        tools: str = "all",
        services: Sequence[str] = (),
        disturb: str = "",
    ) -> Mapping[str, Any]:
        """A new episode, with further services if any are named, as the control plane shows it."""
        created = self._server.create(
            task,
            length=length,
            seed=seed,
            parameters=dict(parameters),
            tools=tools,
            services=list(services),
            disturb=disturb,
        )
        return created.view.data

    def grade(self, episode: str) -> Mapping[str, Any]:
        """The verdict, with the number of calls and of tokens delivered."""
        return self._episode(episode).grade().data

    def truth(self, episode: str) -> bytes:
        """Return what the checker knows of an episode, as JSON."""
        return json.dumps(self._episode(episode).truth()).encode()

    def journal(self, episode: str) -> Iterator[dict[str, Any]]:
        """All calls of an episode, in order."""
        yield from self._episode(episode).journal()

    def fetch(self, episode: str, path: Path) -> None:
        """Write the archive of an episode to a file."""
        self._episode(episode).archive(path)

    def delete(self, episode: str) -> None:
        self._episode(episode).delete()

    def _episode(self, id_: str) -> BlockingEpisode:
        """Make a handle for an episode of which only the id is known."""
        return BlockingEpisode(self._server, EpisodeSteps(self._server.plane, View({"id": id_})))
