"""The control plane: what holders of the admin token do with episodes, one or many in a request. Many are
opened whole or not at all, and judged a few at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import anyio
import anyio.to_thread
import sqlalchemy.exc
from anyio.from_thread import BlockingPortal
from fastapi import Depends, FastAPI, Header, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
from starlette.background import BackgroundTask

import mesocosm
from mesocosm.doors.episodes import BEING_MOVED, UnknownEpisode
from mesocosm.doors.mcp import HttpEndpoints
from mesocosm.errors import InUse, NotNow, UsageError
from mesocosm.families.archives import pack
from mesocosm.families.disturbances import read_disturb
from mesocosm.families.episode import Episode
from mesocosm.families.family import family_names, load_family
from mesocosm.families.quantities import parse_length
from mesocosm.hosting.api_page import api_page
from mesocosm.hosting.health import looking_at_the_code_runner
from mesocosm.hosting.hosts.placement import Seat
from mesocosm.hosting.metrics import CONTENT_TYPE, MISSING, QUIET, Drain
from mesocosm.hosting.pool import EpisodePool
from mesocosm.hosting.repeats import Repeats
from mesocosm.hosting.tokens import OWN, Keys, Quota, Scope, following, scope_of
from mesocosm.hosting.views import (
    FIRST,
    MAX_BATCH,
    STRICT,
    EpisodeBatch,
    EpisodePage,
    EpisodeView,
    Grade,
    GradedEpisode,
    GradeOrder,
    Grades,
    Health,
    HostsUp,
    JournalPage,
    NewEpisode,
    Orders,
    RewardKind,
    SnapshotName,
    StepNumber,
    journal_page,
    judge,
    view,
)
from mesocosm.services.content import service_names
from mesocosm.worlds.error_mapping import NO_ROOM, is_no_room

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Sent again with the same key, a request is answered as before and not done again",
    ),
]

Within = Annotated[float, Query(ge=0, le=86_400, description="Seconds in which an episode counts as used")]

First = Annotated[int, Header(alias=FIRST, ge=0, le=MAX_BATCH, include_in_schema=False)]


def control_plane(
    pool: EpisodePool,
    endpoints: HttpEndpoints,
    keys: Keys,
    take_tokens: Callable[[Sequence[Quota]], None],
    drain: Callable[[float, bool | None], Drain],
    seat: Seat | None = None,
    token_file: Path | None = None,
) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with (
            endpoints.running(),
            BlockingPortal() as portal,
            pool.keeping.running(pool.background),
            looking_at_the_code_runner(pool.background),
            following(token_file, take_tokens, pool.background),
            pool.expiring(),
        ):
            pool.portal = portal
            yield
            pool.portal = None
        pool.close()

    async def bring(request: Request) -> AsyncIterator[None]:
        if (id_ := request.path_params.get("id")) is None:
            yield
            return
        await pool.bring(id_)
        with pool.asking(id_):
            yield

    def require_admin(request: Request) -> None:
        holder = keys.holder(request.headers.get("authorization"))
        if holder is None:
            headers = {"WWW-Authenticate": "Bearer"}
            raise HTTPException(401, "the control plane needs the admin token as bearer token", headers)
        allow(holder, scope_of(request.method, request.url.path))

    def allow(holder: str | None, scope: Scope) -> None:
        if holder is None or not keys.may(holder, scope):
            raise HTTPException(403, f"the token {holder!r} has not the scope `{scope}`")

    app = FastAPI(
        title="Mesocosm control plane",
        version=mesocosm.__version__,
        description="Create, inspect, rewind, fork, grade and delete episodes.",
        lifespan=lifespan,
        # The usual pages load their scripts from a host elsewhere.
        docs_url=None,
        redoc_url=None,
    )
    admin: dict[str, Any] = {
        "dependencies": [Depends(require_admin)],
        "responses": {401: {"description": "No admin token, or a wrong one"}},
    }
    known: dict[str, Any] = {
        "dependencies": [*admin["dependencies"], Depends(bring)],
        "responses": {**admin["responses"], 404: {"description": "No such episode"}},
    }

    buildable: dict[str, Any] = {
        **admin,
        "responses": {**admin["responses"], 400: {"description": "It cannot be built as asked"}},
    }
    repeats = Repeats()
    # Threads that wait for a silent store are many, and who asks whether it is silent does not wait for them.
    looking = anyio.CapacityLimiter(1)

    @app.exception_handler(UsageError)
    async def refuse(_: Request, error: Exception) -> JSONResponse:
        if isinstance(error, InUse):
            return JSONResponse({"detail": BEING_MOVED}, 503, {"Retry-After": "1"})
        return JSONResponse({"detail": str(error)}, 404 if isinstance(error, UnknownEpisode) else 400)

    @app.exception_handler(NotNow)
    async def wait(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, NotNow)
        return JSONResponse({"detail": str(error)}, 503, {"Retry-After": str(error.seconds)})

    @app.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(api_page(app.openapi()))

    @app.get("/health", tags=["status"])
    async def health() -> Health:
        """The process answers."""
        return Health()

    @app.exception_handler(OSError)
    @app.exception_handler(sqlite3.OperationalError)
    @app.exception_handler(sqlalchemy.exc.OperationalError)
    async def fail(_: Request, error: Exception) -> JSONResponse:
        """Nothing was done: episodes are made whole or not at all, and calls are undone."""
        if not is_no_room(error):
            raise error
        return JSONResponse({"detail": NO_ROOM}, 507, {"Retry-After": "5"})

    @app.get("/ready", tags=["status"], responses={503: {"description": "Cannot do all it is for"}})
    async def ready() -> Health:
        """Check that episodes can be made and stored: disk space, background work, store and code runner."""
        if pool.portal is None:
            raise HTTPException(503, "the episodes are not being served")
        if trouble := await anyio.to_thread.run_sync(pool.trouble, limiter=looking):
            raise HTTPException(503, trouble)
        return Health()

    @app.get("/metrics", tags=["status"], response_class=PlainTextResponse, **admin)
    async def metrics() -> PlainTextResponse:
        """Metrics for Prometheus."""
        page = pool.metrics.page()
        if page is None:
            raise HTTPException(501, MISSING)
        return PlainTextResponse(page, media_type=CONTENT_TYPE)

    def own(request: Request) -> None:
        require_admin(request)
        if keys.holder(request.headers.get("authorization")) != OWN:
            raise HTTPException(403, "a server is drained with its own token")

    operator: dict[str, Any] = {**admin, "dependencies": [Depends(own)]}

    @app.get("/drain", tags=["status"], **admin)
    async def drained(within: Within = QUIET) -> Drain:
        """Return whether the server is draining, and what still runs."""
        return drain(within, None)

    @app.post("/drain", tags=["status"], **operator)
    async def begin_to_drain(within: Within = QUIET) -> Drain:
        """Stop making episodes, forks included (503); existing ones continue until shutdown. A restart undoes
        it.
        """
        return drain(within, True)

    @app.delete("/drain", tags=["status"], **operator)
    async def end_draining(within: Within = QUIET) -> Drain:
        """Make episodes again."""
        return drain(within, False)

    @app.get("/tasks", tags=["catalogue"], **admin)
    async def tasks() -> list[str]:
        """Names of the tasks that episodes can be created for."""
        return family_names()

    @app.get("/services", tags=["catalogue"], **admin)
    async def services() -> list[str]:
        """Names of the mock services."""
        return list(service_names())

    @app.post("/episodes", status_code=201, tags=["episodes"], **buildable)
    async def create(body: NewEpisode, key: Key = None) -> EpisodeView:
        """Build an instance (or take one built before) and open an episode on it."""

        async def act() -> EpisodeView:
            return await view(pool.get(await open_one(pool, body)))

        return await repeats.once(key, body, act)

    @app.post("/episodes/batch", status_code=201, tags=["episodes"], **buildable)
    async def create_batch(body: Orders, key: Key = None, first: First = 0) -> EpisodeBatch:
        """Open up to 1,000 episodes; if one cannot be, none is."""
        wanted = [order for order in body.episodes for _ in range(order.count)]
        if len(wanted) > MAX_BATCH:
            raise UsageError(f"a batch has at most {MAX_BATCH:,} episodes; these are {len(wanted):,}")

        async def act() -> EpisodeBatch:
            ids = await open_all(pool, wanted, first)
            return EpisodeBatch(episodes=[await view(pool.get(id_)) for id_ in ids])

        return await repeats.once(key, body, act)

    @app.get("/episodes", tags=["episodes"], **admin)
    async def list_episodes(
        offset: int = Query(0, ge=0, le=10**9), limit: int = Query(100, ge=1, le=1000)
    ) -> EpisodePage:
        """Ids of the episodes, in a stable order."""
        ids = await anyio.to_thread.run_sync(pool.ids)
        return EpisodePage(episodes=ids[offset : offset + limit], total=len(ids))

    @app.get("/episodes/{id}", tags=["episodes"], **known)
    async def get(id: str) -> EpisodeView:
        """One episode."""
        return await view(pool.get(id))

    @app.post("/episodes/{id}/reset", tags=["episodes"], **known)
    async def reset(id: str) -> EpisodeView:
        """Bring the world back to how it was built."""
        hosted = pool.get(id)
        await hosted.do(Episode.reset)
        return await view(hosted)

    @app.post("/episodes/{id}/fork", status_code=201, tags=["episodes"], **known)
    async def fork(id: str, key: Key = None) -> EpisodeView:
        """A new episode that goes on from this one's present state."""

        async def act() -> EpisodeView:
            return await view(pool.get(await pool.get(id).do(pool.fork)))

        return await repeats.once(key, ("fork", id), act)

    @app.post("/episodes/{id}/snapshots", status_code=201, tags=["episodes"], **known)
    async def snapshot(id: str, body: SnapshotName, key: Key = None) -> EpisodeView:
        """Keep the present state under a name."""

        async def act() -> EpisodeView:
            hosted = pool.get(id)
            await hosted.do(lambda episode: episode.snapshot(body.name))
            return await view(hosted)

        return await repeats.once(key, ("snapshot", id, body), act)

    @app.post("/episodes/{id}/restore", tags=["episodes"], **known)
    async def restore(id: str, body: SnapshotName) -> EpisodeView:
        """Bring the world back to a snapshot."""
        hosted = pool.get(id)
        await hosted.do(lambda episode: episode.restore(body.name))
        return await view(hosted)

    @app.post("/episodes/{id}/rollback", tags=["episodes"], **known)
    async def rollback(id: str, body: StepNumber) -> EpisodeView:
        """Bring the world back to how it was when a call had been answered; later calls are forgotten."""
        hosted = pool.get(id)
        await hosted.do(lambda episode: episode.rollback(body.step))
        return await view(hosted)

    @app.post("/episodes/{id}/grade", tags=["episodes"], **known)
    async def grade(
        id: str, strict: bool = Query(False, description=STRICT), reward: RewardKind = "verdict"
    ) -> Grade:
        """Judge the present state: passed, failed or errored, with the findings and faults."""
        judged: Grade = await pool.get(id).do(partial(judge, strict=strict, reward=reward))
        return judged

    @app.post("/grade", tags=["episodes"], **known)
    async def grade_batch(request: Request, body: GradeOrder, key: Key = None) -> Grades:
        """Judge up to 1,000 episodes, and remove them afterwards if that is asked for."""
        if body.delete:
            allow(keys.holder(request.headers.get("authorization")), "serve")

        async def act() -> Grades:
            return Grades(grades=await judge_all(pool, body))

        return await repeats.once(key, body, act)

    @app.get("/episodes/{id}/journal", tags=["episodes"], **known)
    async def journal(
        id: str, after: int = Query(0, ge=0, le=2**62), limit: int = Query(100, ge=1, le=1000)
    ) -> JournalPage:
        """The calls that were made, in order, from the one after ``after``."""
        page: JournalPage = await pool.get(id).do(lambda episode: journal_page(episode, after, limit))
        return page

    @app.get("/episodes/{id}/truth", tags=["episodes"], **known)
    async def truth(id: str) -> dict[str, Any]:
        """Return what the checker knows, for reference agents. Never show it to an agent."""
        expected = await pool.get(id).do(Episode.expected)
        known_by_it: dict[str, Any] = expected.model_dump(mode="json")
        return known_by_it

    @app.get("/episodes/{id}/archive", tags=["episodes"], response_class=StreamingResponse, **known)
    async def archive(id: str) -> StreamingResponse:
        """The whole episode between two calls, without snapshots: a tar file with gzip."""
        packed = await pool.get(id).do(pack)
        return StreamingResponse(
            iter(partial(packed.read, 2**20), b""),
            media_type="application/gzip",
            background=BackgroundTask(packed.close),
        )

    @app.delete("/episodes/{id}", status_code=204, tags=["episodes"], **known)
    async def delete(id: str) -> None:
        """Remove an episode with its world, snapshots and journal."""
        await pool.delete(id)

    if seat is not None:
        turn = 0

        @app.put("/hosts/up", status_code=204, include_in_schema=False, **admin)
        async def others(body: HostsUp) -> None:
            """Learn which other hosts serve: close the episodes that are theirs, and do not reopen them."""
            nonlocal turn
            if body.turn > turn:
                turn = body.turn
                take_tokens(body.tokens)
                await pool.let_go(seat.ours(body.up))

    return app


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
