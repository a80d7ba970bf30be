"""The client for programs in which other things go on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self, TypeVar, Unpack

import httpx2

from mesocosm.hosting.client.exchange import (
    ClientRequest,
    HttpAnswer,
    Pause,
    Steps,
    address_of,
    awaited,
    lost,
    received,
    settings,
)
from mesocosm.hosting.client.requests import EpisodeSteps, Handle, Plane
from mesocosm.hosting.client.shapes import Grade, Options, Order, Reward

R = TypeVar("R")


class Episode(Handle):
    """An episode on a server. Its calls run one at a time, in parallel with other episodes."""

    def __init__(self, server: Server, steps: EpisodeSteps) -> None:
        super().__init__(steps)
        self._server = server

    async def _do(self, steps: Steps[R]) -> R:
        return await self._server._do(steps)

    async def fork(self) -> Episode:
        """A new episode that goes on from this one's present state."""
        return Episode(self._server, await self._do(self._steps.fork()))

    tools = awaited(EpisodeSteps.tools)
    act = awaited(EpisodeSteps.act)
    call = awaited(EpisodeSteps.call)
    look = awaited(EpisodeSteps.look)
    reset = awaited(EpisodeSteps.reset)
    snapshot = awaited(EpisodeSteps.snapshot)
    restore = awaited(EpisodeSteps.restore)
    rollback = awaited(EpisodeSteps.rollback)
    grade = awaited(EpisodeSteps.grade)
    delete = awaited(EpisodeSteps.delete)
    journal = awaited(EpisodeSteps.journal)
    truth = awaited(EpisodeSteps.truth)
    archive = awaited(EpisodeSteps.archive)


class Server:
    """A server of episodes, as ``connect`` gives it; to be used inside ``async with``."""

    def __init__(self, plane: Plane, timeout: float) -> None:
        self._steps = plane
        self._http = httpx2.AsyncClient(base_url=plane.address.base, **settings(timeout))

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    async def _do(self, steps: Steps[R]) -> R:
        answer: HttpAnswer | None = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                done: R = end.value
                return done
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                answer = None
            else:
                answer = await self._send(step)

    async def _send(self, request: ClientRequest) -> HttpAnswer:
        try:
            async with self._http.stream(
                request.method, request.path, content=request.body, headers=dict(request.headers)
            ) as response:
                if request.into is None or not response.is_success:
                    await response.aread()
                    return received(response)
                with request.into.open("wb") as file:
                    async for part in response.aiter_bytes():
                        file.write(part)
                return HttpAnswer(response.status_code, response.headers, b"")
        except httpx2.TransportError as error:
            return lost(error)

    async def create(self, task: str, **options: Unpack[Options]) -> Episode:
        """A new episode of a task (see ``Options``)."""
        return Episode(self, await self._do(self._steps.create(task, options)))

    async def create_batch(self, orders: Iterable[Order]) -> list[Episode]:
        """Up to 1,000 new episodes in one request, in the order of the orders; all of them or none."""
        return [Episode(self, steps) for steps in await self._do(self._steps.create_batch(orders))]

    async def episode(self, id_: str) -> Episode:
        """An episode that is there already."""
        return Episode(self, await self._do(self._steps.find(id_)))

    async def grade_batch(
        self,
        episodes: Sequence[Episode],
        reward: Reward = "verdict",
        *,
        strict: bool = False,
        delete: bool = False,
    ) -> list[Grade]:
        """The judgements of up to 1,000 episodes in one request; ``delete`` removes them afterwards."""
        ids = [episode.id for episode in episodes]
        return await self._do(self._steps.grade_batch(ids, reward, strict=strict, delete=delete))

    tasks = awaited(Plane.tasks)
    drain = awaited(Plane.drain)


def connect(
    url: str | None = None,
    *,
    token: str | None = None,
    retries: int = 5,
    timeout: float = 600,
    wait: float | None = None,
) -> Server:
    """The episodes of a server: ``async with mesocosm.connect(url, token=...) as m``.

    Args:
        url: Its address, as in ``http://127.0.0.1:8321``; else that in ``MESOCOSM_URL``.
        token: The admin token; else that in ``MESOCOSM_ADMIN_TOKEN``.
        retries: How often a request is sent again that was lost, or that the server had no time for.
        timeout: Seconds until an answer is given up. To build millions of tokens takes minutes.
        wait: Seconds for which the first request waits for a server that is not there yet (default: 60, or
            what ``MESOCOSM_SERVER_WAIT`` says).
    """
    return Server(Plane(address_of(url, token, retries, wait)), timeout)
