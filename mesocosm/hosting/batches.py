"""Many episodes in one request: opened whole or not at all, judged a few at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio
import anyio.to_thread

from mesocosm.errors import NotNow, UsageError
from mesocosm.families.disturbances import read_disturb
from mesocosm.families.family import load_family
from mesocosm.families.quantities import parse_length
from mesocosm.hosting.pool import EpisodePool
from mesocosm.hosting.views import GradedEpisode, GradeOrder, NewEpisode, judge

T = TypeVar("T")
R = TypeVar("R")

_AT_ONCE = 4
"""Episodes that a request works at, so that others are served beside it."""


async def open_one(pool: EpisodePool, order: NewEpisode) -> str:
    """The id of a new episode; its instance is built in another process unless it was built before."""
    return await anyio.to_thread.run_sync(await _prepare(pool, order))


async def _prepare(pool: EpisodePool, order: NewEpisode) -> Callable[[], str]:
    """Have an instance built unless it was built before; returns what opens an episode on it."""
    family = load_family(order.task)
    read_disturb(order.disturb)
    if order.length is not None:
        target: int | None = parse_length(order.length)
    else:
        target = None if order.parameters else family.task.lengths[0]
    await pool.instances.prepare(family, order.seed, target, order.parameters)
    return partial(
        pool.create,
        family,
        order.seed,
        target,
        order.parameters,
        order.tools,
        order.services,
        order.disturb,
        order.abandoned_after,
    )


async def open_all(pool: EpisodePool, orders: Sequence[NewEpisode], first: int = 0) -> list[str]:
    """The ids of new episodes, in the order of the orders, which are numbered from ``first``.

    Raises ``UsageError`` with the number of an order that cannot be met; then none of them is there.
    """
    made: list[str] = []
    prepared: dict[int, Callable[[], str]] = {}
    """By their ids, as the same order stands there as often as it counts."""

    async def open_numbered(numbered: tuple[int, NewEpisode]) -> str:
        number, order = numbered
        try:
            if id(order) not in prepared:
                prepared[id(order)] = await _prepare(pool, order)
            id_ = await anyio.to_thread.run_sync(prepared[id(order)])
        except UsageError as error:
            raise UsageError(f"episode {number} of the batch: {error}") from None
        made.append(id_)
        return id_

    try:
        return await _each(open_numbered, list(enumerate(orders, first)))
    except BaseException:
        with anyio.CancelScope(shield=True):
            await _each(pool.delete, made)
        raise


async def judge_all(pool: EpisodePool, order: GradeOrder) -> list[GradedEpisode]:
    """The verdicts, in the order of the ids; an unknown one is refused before anything is done.

    Episodes that are deleted with it are deleted when all verdicts are there.
    """
    for id_ in order.ids:
        await pool.bring(id_)
    wanted = [pool.get(id_).id for id_ in order.ids]

    async def judge_one(id_: str) -> GradedEpisode:
        grade = await pool.get(id_).do(partial(judge, strict=order.strict, reward=order.reward))
        return GradedEpisode(id=id_, **dict(grade))

    graded = await _each(judge_one, wanted)
    if order.delete:
        await _each(pool.delete, list(dict.fromkeys(wanted)))
    return graded


async def _each(what: Callable[[T], Awaitable[R]], items: Sequence[T]) -> list[R]:
    """Do something with each of them, a few at a time. Where some are refused, no further one is begun, and
    the first refusal is raised when those that were begun have ended."""
    results: dict[int, R] = {}
    refusals: dict[int, UsageError | NotNow] = {}
    left = iter(enumerate(items))

    async def work() -> None:
        for number, item in left:
            try:
                results[number] = await what(item)
            except (UsageError, NotNow) as error:
                refusals[number] = error
            if refusals:
                return

    async with anyio.create_task_group() as group:
        for _ in range(min(_AT_ONCE, len(items))):
            group.start_soon(work)
    if refusals:
        raise refusals[min(refusals)]
    return [results[number] for number in range(len(items))]
