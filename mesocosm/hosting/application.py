"""Hosting: many episodes in one HTTP process.

=====================================  ================================================================
``/e/<episode>/<service>/mcp``         one service of an episode over MCP
``/e/<episode>/mcp``                   all its services together
``/e/<episode>/<service>/...``         the vendor's own API of a service that has one
``/episodes ...``                      the control plane, for holders of the admin token
``/health``, ``/ready``                for load balancers and compose files
=====================================  ================================================================

The episode's id is an unguessable capability: whoever has it may call that episode's tools and nothing else.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.to_process
import anyio.to_thread
import orjson
from anyio.from_thread import BlockingPortal
from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import Receive, Scope, Send

import mesocosm
from mesocosm.doors.episodes import UnknownEpisode
from mesocosm.doors.gateway import load_api, respond
from mesocosm.doors.mail import MAIL_SERVICE
from mesocosm.doors.mcp import HttpEndpoints, error_body
from mesocosm.doors.rooted import Rooted, rooted_at
from mesocosm.errors import UsageError
from mesocosm.families import grading
from mesocosm.families.archives import pack
from mesocosm.families.episode import Episode
from mesocosm.families.family import family_names, load_family
from mesocosm.families.oracle import StepAccuracy
from mesocosm.families.quantities import MAX_SEED, parse_length
from mesocosm.families.reading import Reading, read_journal
from mesocosm.families.task import Offer
from mesocosm.families.verdict import Verdict
from mesocosm.hosting.collecting import leave_modules_out
from mesocosm.hosting.pool import EpisodePool, HostedEpisode
from mesocosm.services.content import service_names

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewEpisode(_Body):
    """What to build. Give a length, or the generator's parameters, or neither for the shortest default."""

    task: str = Field(description="Name of a task", examples=["canvas_arrange_exam"])
    length: str | int | None = Field(
        default=None, description="Target length in tokens", examples=["32k", 64000]
    )
    seed: int = Field(default=0, ge=0, le=MAX_SEED)
    parameters: dict[str, Any] = Field(default={}, description="Parameters of the generator")
    tools: Offer = Field(default="all", description="Offer all tools of the task, or those that it needs")
    services: list[str] = Field(
        default=[],
        max_length=100,
        description="Services to offer besides the task's own",
        examples=[["memory_tool"]],
    )


class SnapshotName(_Body):
    """Which snapshot."""

    name: str = Field(examples=["before-sending"])


class EpisodeView(BaseModel):
    """An episode as the control plane shows it."""

    id: str
    task: str
    seed: int
    target: int | None
    edl: int
    tools: Offer
    calls: int
    ended: bool
    snapshots: list[str]
    prompt: str
    mcp: str = Field(description="Path of the endpoint with all services")
    services: dict[str, str] = Field(description="Path of each service's endpoint")
    apis: dict[str, str] = Field(description="Base path of each vendor's API; the token is the episode's id")
    mail: dict[str, int] = Field(
        description="Ports of IMAP and SMTP. User: the mailbox's address; password: the episode's id"
    )


class EpisodePage(BaseModel):
    """One page of the list of episodes."""

    episodes: list[str]
    total: int


class Grade(BaseModel):
    """The judgement of an episode, and what the agent used."""

    verdict: Verdict
    tool_calls: int
    delivered_tokens: int
    measures: dict[str, int]
    steps: StepAccuracy | None = Field(description="How many calls were among the best, where that is known")
    reading: Reading = Field(description="What was read of the evidence, and what was read again")


class JournalPage(BaseModel):
    """Some calls of an episode."""

    calls: list[dict[str, Any]]
    last: int = Field(description="Number of the last call of the episode")


class Health(BaseModel):
    """That the process is alive, and what it runs."""

    status: Literal["ok"] = "ok"
    version: str = mesocosm.__version__


async def _view(hosted: HostedEpisode) -> EpisodeView:
    def look(episode: Episode) -> EpisodeView:
        prefix = f"/e/{hosted.id}"
        return EpisodeView(
            id=hosted.id,
            **episode.info.model_dump(),
            calls=episode.world.calls.counted,
            ended=episode.world.calls.ended,
            snapshots=episode.snapshots(),
            prompt=episode.prompt,
            mcp=f"{prefix}/mcp",
            services={name: f"{prefix}/{name}/mcp" for name in episode.world.services},
            apis={name: f"{prefix}/{name}" for name in hosted.apis},
            mail=hosted.mail_ports if episode.world.is_open(MAIL_SERVICE) else {},
        )

    view: EpisodeView = await hosted.do(look)
    return view


def _grade(episode: Episode, strict: bool) -> Grade:
    verdict, (calls, delivered) = grading.grade(episode), episode.usage()
    verdict = verdict.strictly() if strict else verdict
    return Grade(
        verdict=verdict,
        tool_calls=calls,
        delivered_tokens=delivered,
        measures=episode.measures,
        steps=episode.step_accuracy(),
        reading=Reading() if verdict.verdict == "errored" else read_journal(episode),
    )


def _journal_page(episode: Episode, after: int, limit: int) -> JournalPage:
    journal = episode.world.journal
    calls = [entry.shown() for entry in journal.entries(after, limit)]
    return JournalPage(calls=calls, last=journal.last)


class Hosting:
    """The ASGI application: episodes' endpoints in front, the control plane behind."""

    def __init__(
        self,
        root: Path,
        *,
        admin_token: str,
        allowed_hosts: list[str] | None = None,
        max_open: int | None = None,
    ) -> None:
        hosts = [pattern for host in LOOPBACK for pattern in (host, f"{host}:*")] + ["[::1]", "[::1]:*"]
        self.pool = EpisodePool(root, max_open)
        self.endpoints = HttpEndpoints(hosts + (allowed_hosts or []))
        self.control = _control_plane(self.pool, self.endpoints, admin_token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Route by path; the episodes' calls are many, so they take the short way."""
        if scope["type"] == "http" and scope["path"].startswith("/e/"):
            await self._serve_episode(scope, receive, send)
        elif scope["type"] == "http" and (rooted := rooted_at(scope["path"])):
            await self._serve_rooted(rooted, scope, receive, send)
        else:
            await self.control(scope, receive, send)

    async def _serve_rooted(self, rooted: Rooted, scope: Scope, receive: Receive, send: Send) -> None:
        found = await rooted.placed(scope, receive)
        if found is None or not self.pool.has(found[0]["path"].split("/")[2]):
            await _send_json(send, 200, orjson.dumps(rooted.refused))
            return
        await self._serve_episode(*found, send)

    async def _serve_episode(self, scope: Scope, receive: Receive, send: Send) -> None:
        _, _, id_, *rest = scope["path"].split("/")
        leave_modules_out()
        try:
            hosted = self.pool.get(id_)
            offered = hosted.services
        except UnknownEpisode:
            await _refuse(send, 404, "unknown episode")
            return
        except UsageError:
            await _refuse(send, 500, "the episode cannot be opened")
            return
        service = rest[0] if len(rest) == 2 else None
        if rest and rest[0] in hosted.all_services and rest[1:] != ["mcp"] and (api := load_api(rest[0])):
            if refused := await self.endpoints.refused(scope):
                await refused(scope, receive, send)
                return
            await respond(api, hosted, id_, f"/e/{id_}/{rest[0]}", scope, receive, send)
            return
        if rest[-1:] != ["mcp"] or len(rest) > 2 or (service is not None and service not in offered):
            known = ", ".join(offered)
            await _refuse(send, 404, f"unknown endpoint; this episode has mcp and <service>/mcp for {known}")
            return
        await self.endpoints.handle(service, hosted, id_, scope, receive, send)


async def _refuse(send: Send, status: int, message: str) -> None:
    await _send_json(send, status, error_body(message))


async def _send_json(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _control_plane(pool: EpisodePool, endpoints: HttpEndpoints, admin_token: str) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with endpoints.running(), BlockingPortal() as portal:
            pool.portal = portal
            yield
            pool.portal = None
        pool.close()

    def require_admin(request: Request) -> None:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secrets.compare_digest(token.encode(), admin_token.encode()):
            headers = {"WWW-Authenticate": "Bearer"}
            raise HTTPException(401, "the control plane needs the admin token as bearer token", headers)

    app = FastAPI(
        title="Mesocosm control plane",
        version=mesocosm.__version__,
        description="Create, inspect, rewind, fork, grade and delete episodes.",
        lifespan=lifespan,
    )
    admin: dict[str, Any] = {
        "dependencies": [Depends(require_admin)],
        "responses": {401: {"description": "No admin token, or a wrong one"}},
    }
    known: dict[str, Any] = {
        **admin,
        "responses": {**admin["responses"], 404: {"description": "No such episode"}},
    }

    @app.exception_handler(UsageError)
    async def refuse(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 404 if isinstance(error, UnknownEpisode) else 400)

    @app.get("/health", tags=["status"])
    async def health() -> Health:
        """The process answers."""
        return Health()

    @app.get("/ready", tags=["status"], responses={503: {"description": "Cannot write its state"}})
    async def ready() -> Health:
        """Episodes can be created: the state directory is writable."""
        probe = pool.root / ".ready"
        try:
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise HTTPException(503, f"the state directory is not writable: {error.strerror}") from None
        return Health()

    @app.get("/tasks", tags=["catalogue"], **admin)
    async def tasks() -> list[str]:
        """Names of the tasks that episodes can be created for."""
        return family_names()

    @app.get("/services", tags=["catalogue"], **admin)
    async def services() -> list[str]:
        """Names of the mock services."""
        return list(service_names())

    @app.post(
        "/episodes",
        status_code=201,
        tags=["episodes"],
        **(
            admin | {"responses": {**admin["responses"], 400: {"description": "It cannot be built as asked"}}}
        ),
    )
    async def create(body: NewEpisode) -> EpisodeView:
        """Build an instance (or take one built before) and open an episode on it."""
        family = load_family(body.task)
        if body.length is not None:
            target: int | None = parse_length(body.length)
        else:
            target = None if body.parameters else family.task.lengths[0]
        await pool.instances.prepare(family, body.seed, target, body.parameters)
        id_ = await anyio.to_thread.run_sync(
            pool.create, body.task, body.seed, target, body.parameters, body.tools, body.services
        )
        return await _view(pool.get(id_))

    @app.get("/episodes", tags=["episodes"], **admin)
    async def list_episodes(
        offset: int = Query(0, ge=0, le=10**9), limit: int = Query(100, ge=1, le=1000)
    ) -> EpisodePage:
        """Ids of the episodes, in a stable order."""
        ids = pool.ids()
        return EpisodePage(episodes=ids[offset : offset + limit], total=len(ids))

    @app.get("/episodes/{id}", tags=["episodes"], **known)
    async def get(id: str) -> EpisodeView:
        """One episode."""
        return await _view(pool.get(id))

    @app.post("/episodes/{id}/reset", tags=["episodes"], **known)
    async def reset(id: str) -> EpisodeView:
        """Bring the world back to how it was built."""
        hosted = pool.get(id)
        await hosted.do(Episode.reset)
        return await _view(hosted)

    @app.post("/episodes/{id}/fork", status_code=201, tags=["episodes"], **known)
    async def fork(id: str) -> EpisodeView:
        """A new episode that goes on from this one's present state."""
        return await _view(pool.get(await pool.get(id).do(pool.fork)))

    @app.post("/episodes/{id}/snapshots", status_code=201, tags=["episodes"], **known)
    async def snapshot(id: str, body: SnapshotName) -> EpisodeView:
        """Keep the present state under a name."""
        hosted = pool.get(id)
        await hosted.do(lambda episode: episode.snapshot(body.name))
        return await _view(hosted)

    @app.post("/episodes/{id}/restore", tags=["episodes"], **known)
    async def restore(id: str, body: SnapshotName) -> EpisodeView:
        """Bring the world back to a snapshot."""
        hosted = pool.get(id)
        await hosted.do(lambda episode: episode.restore(body.name))
        return await _view(hosted)

    @app.post("/episodes/{id}/grade", tags=["episodes"], **known)
    async def grade(
        id: str, strict: bool = Query(False, description="Reward 0 instead of null where it is errored")
    ) -> Grade:
        """Judge the present state: passed, failed or errored, with the findings and faults."""
        grade: Grade = await pool.get(id).do(partial(_grade, strict=strict))
        return grade

    @app.get("/episodes/{id}/journal", tags=["episodes"], **known)
    async def journal(
        id: str, after: int = Query(0, ge=0, le=2**62), limit: int = Query(100, ge=1, le=1000)
    ) -> JournalPage:
        """The calls that were made, in order, from the one after ``after``."""
        page: JournalPage = await pool.get(id).do(lambda episode: _journal_page(episode, after, limit))
        return page

    @app.get("/episodes/{id}/truth", tags=["episodes"], **known)
    async def truth(id: str) -> dict[str, Any]:
        """What the checker knows: for reference agents that walk by it. Never to be shown to an agent."""
        expected = await pool.get(id).do(Episode.expected)
        known_by_it: dict[str, Any] = expected.model_dump(mode="json")
        return known_by_it

    @app.get("/episodes/{id}/archive", tags=["episodes"], response_class=StreamingResponse, **known)
    async def archive(id: str) -> StreamingResponse:
        """The whole episode between two calls, without snapshots: a tar file with gzip."""
        packed = await pool.get(id).do(pack)
        return StreamingResponse(iter(partial(packed.read, 2**20), b""), media_type="application/gzip")

    @app.delete("/episodes/{id}", status_code=204, tags=["episodes"], **known)
    async def delete(id: str) -> None:
        """Remove an episode with its world, snapshots and journal."""
        await pool.delete(id)

    return app
