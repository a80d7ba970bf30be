"""The client for programs that do one thing at a time; it needs no event loop and no thread."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from time import sleep
from types import TracebackType
from typing import Self, TypeVar, Unpack

import httpx2

from mesocosm.hosting.client.exchange import (
    ClientRequest,
    HttpAnswer,
    Pause,
    Steps,
    address_of,
    blocking,
    lost,
    received,
    settings,
)
from mesocosm.hosting.client.requests import EpisodeSteps, Handle, Plane
from mesocosm.hosting.client.shapes import Grade, Options, Order, Reward, View

R = TypeVar("R")


class BlockingEpisode(Handle):
    """An episode of a server."""

    def __init__(self, server: BlockingServer, steps: EpisodeSteps) -> None:
        super().__init__(steps)
        self._server = server

    def _do(self, steps: Steps[R]) -> R:
        return self._server._do(steps)

    def fork(self) -> BlockingEpisode:
        """A new episode that goes on from this one's present state."""
        return BlockingEpisode(self._server, self._do(self._steps.fork()))

    tools = blocking(EpisodeSteps.tools)
    act = blocking(EpisodeSteps.act)
    call = blocking(EpisodeSteps.call)
    look = blocking(EpisodeSteps.look)
    reset = blocking(EpisodeSteps.reset)
    snapshot = blocking(EpisodeSteps.snapshot)
    restore = blocking(EpisodeSteps.restore)
    rollback = blocking(EpisodeSteps.rollback)
    grade = blocking(EpisodeSteps.grade)
    delete = blocking(EpisodeSteps.delete)
    journal = blocking(EpisodeSteps.journal)
    truth = blocking(EpisodeSteps.truth)
    archive = blocking(EpisodeSteps.archive)


class BlockingServer:
    """A server of episodes, as ``connect_sync`` gives it; to be used inside ``with``."""

    def __init__(self, plane: Plane, timeout: float) -> None:
        self._steps = plane
        self._http = httpx2.Client(base_url=plane.address.base, **settings(timeout))
        # Of programs that neither use ``with`` nor close it.
        weakref.finalize(self, self._http.close)

    def __enter__(self) -> Self:
        self._http.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self._http.__exit__(kind, error, trace)

    def close(self) -> None:
        """Close the connections, for programs that cannot use ``with``."""
        self._http.close()

    @property
    def base(self) -> str:
        """The server's address."""
        return self._steps.address.base

    def _do(self, steps: Steps[R]) -> R:
        answer: HttpAnswer | None = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                done: R = end.value
                return done
            if isinstance(step, Pause):
                sleep(step.seconds)
                answer = None
            else:
                answer = self._send(step)

    def _send(self, request: ClientRequest) -> HttpAnswer:
        try:
            with self._http.stream(
                request.method, request.path, content=request.body, headers=dict(request.headers)
            ) as response:
                if request.into is None or not response.is_success:
                    response.read()
                    return received(response)
                with request.into.open("wb") as file:
                    for part in response.iter_bytes():
                        file.write(part)
                return HttpAnswer(response.status_code, response.headers, b"")
        except httpx2.TransportError as error:
            return lost(error)

    def create(self, task: str, **options: Unpack[Options]) -> BlockingEpisode:
        """A new episode of a task (see ``Options``)."""
        return BlockingEpisode(self, self._do(self._steps.create(task, options)))

    def create_batch(self, orders: Iterable[Order]) -> list[BlockingEpisode]:
        """Up to 1,000 new episodes in one request, in the order of the orders; all of them or none."""
        return [BlockingEpisode(self, steps) for steps in self._do(self._steps.create_batch(orders))]

    def episode(self, id_: str) -> BlockingEpisode:
        """An episode that is there already."""
        return BlockingEpisode(self, self._do(self._steps.find(id_)))

    def known(self, id_: str) -> BlockingEpisode:
        """An episode of which only the id is known: nothing is asked, and its view has no more."""
        return BlockingEpisode(self, EpisodeSteps(self._steps, View({"id": id_})))

    def grade_batch(
        self,
        episodes: Sequence[BlockingEpisode],
        reward: Reward = "verdict",
        *,
        strict: bool = False,
        delete: bool = False,
    ) -> list[Grade]:
        """The judgements of up to 1,000 episodes in one request; ``delete`` removes them afterwards."""
        ids = [episode.id for episode in episodes]
        return self._do(self._steps.grade_batch(ids, reward, strict=strict, delete=delete))

    tasks = blocking(Plane.tasks)
    drain = blocking(Plane.drain)


def connect_sync(
    url: str | None = None,
    *,
    token: str | None = None,
    retries: int = 5,
    timeout: float = 600,
    wait: float | None = None,
) -> BlockingServer:
    """Connect like ``connect``, without ``async``: ``with mesocosm.connect_sync(url, token=...) as m``."""
    return BlockingServer(Plane(address_of(url, token, retries, wait)), timeout)
