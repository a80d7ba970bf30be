"""Hosting: many episodes in one HTTP process.

=====================================  ================================================================
``/e/<episode>/<service>/mcp``         one service of an episode over MCP
``/e/<episode>/mcp``                   all its services, tool names prefixed by service
``/e/<episode>/<service>/...``         the vendor's own API of a service that has one
``/episodes ...``                      the control plane, for holders of the admin token
``/health``, ``/ready``                for load balancers and compose files
=====================================  ================================================================

The episode's id is an unguessable capability: whoever has it may call that episode's tools and nothing else.
"""

from __future__ import annotations

import resource
import secrets
import shutil
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.to_process
import anyio.to_thread
from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import Receive, Scope, Send

import mesocosm
from mesocosm.doors.gateway import load_api, respond
from mesocosm.doors.mail import MAIL_SERVICE
from mesocosm.doors.mcp import HttpEndpoints, error_body, run_call
from mesocosm.errors import UsageError
from mesocosm.evaluation.runs import trajectory_line
from mesocosm.families.cache import InstanceCache
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family, family_names, load_family
from mesocosm.families.quantities import MAX_SEED, parse_length
from mesocosm.families.verdict import Verdict
from mesocosm.services.service import Operation, Service, service_names
from mesocosm.worlds.world import Outcome

LOOPBACK = ("127.0.0.1", "localhost", "::1")
FILES_PER_EPISODE = 8
"""File descriptors that an open episode needs at most, about."""


class HostedEpisode:
    """An episode that is being served: its calls come one after the other."""

    def __init__(self, pool: EpisodePool, id_: str, path: Path) -> None:
        self.id = id_
        self.episode = Episode(path)
        self.turn = anyio.Lock(fast_acquire=True)
        self._pool = pool
        self._closed = False

    @cached_property
    def services(self) -> Mapping[str, Service[Any]]:
        """The services of its world, which nothing changes."""
        return self.episode.world.services

    async def call(self, service: str, tool: str, arguments: Mapping[str, Any], key: str | None) -> Outcome:
        """Make one call when its turn has come."""
        async with self.turn:
            if not self._closed:
                outcome = await run_call(self.episode.world, service, tool, arguments, key)
                self._pool.notify(self.id)
                return outcome
        # Closed as surplus or deleted while this call was on its way here: no two may have a world open.
        return await self._pool.get(self.id).call(service, tool, arguments, key)

    @property
    def mail_ports(self) -> dict[str, int]:
        """Ports of the mail protocols that are served beside."""
        return self._pool.mail_ports

    @property
    def apis(self) -> list[str]:
        """The services whose vendors' own APIs it offers."""
        return [name for name in self.services if load_api(name) and self.is_open(name)]

    def is_open(self, service: str) -> bool:
        """Whether clients of a service's own protocols may use it."""
        return self.episode.world.is_open(service)

    async def request(
        self, service: str, operation: Operation, arguments: Mapping[str, Any], key: str | None
    ) -> Outcome:
        """Do what a client of another protocol asks, when its turn has come."""
        async with self.turn:
            if not self._closed:
                make = partial(
                    self.episode.world.request, service, operation.name, arguments, idempotency_key=key
                )
                outcome = await anyio.to_thread.run_sync(make) if operation.threaded else make()
                self._pool.notify(self.id)
                return outcome
        return await self._pool.get(self.id).request(service, operation, arguments, key)

    async def revision(self, service: str) -> int | None:
        """Number of the last call that changed a service, between two calls."""
        async with self.turn:
            if not self._closed:
                return self.episode.world.revision(service)
        return await self._pool.get(self.id).revision(service)

    async def do(self, action: Callable[[Episode], Any]) -> Any:
        """Something longer between two calls, such as a fork; in a thread, so that others are served."""
        async with self.turn:
            if not self._closed:
                result = await anyio.to_thread.run_sync(action, self.episode)
                self._pool.notify(self.id)
                return result
        return await self._pool.get(self.id).do(action)

    def close(self) -> None:
        """Close its files for good; whoever still holds this object is led to the one opened next."""
        self._closed = True
        self.episode.close()


class UnknownEpisode(UsageError):
    """There is no episode of that id."""


class EpisodePool:
    """All episodes below a directory; the least recently used are closed when too many are open."""

    def __init__(self, root: Path, max_open: int | None = None) -> None:
        self.root = root
        self._open: OrderedDict[str, HostedEpisode] = OrderedDict()
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._max_open = max_open or max(16, min(2000, (files - 200) // FILES_PER_EPISODE))
        for folder in ("episodes", "instances"):
            (root / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        self.instances = InstanceCache(root / "instances")
        self.mail_ports: dict[str, int] = {}
        """Ports of the mail protocols (``imap``, ``smtp``) that are served beside."""
        self._watchers: dict[str, list[Callable[[], None]]] = {}

    @contextmanager
    def watching(self, id_: str, tell: Callable[[], None]) -> Iterator[None]:
        """``tell`` is called after every call on an episode."""
        watchers = self._watchers.setdefault(id_, [])
        watchers.append(tell)
        try:
            yield
        finally:
            watchers.remove(tell)
            if not watchers:
                self._watchers.pop(id_, None)

    def notify(self, id_: str) -> None:
        """Something may have changed in an episode."""
        for tell in self._watchers.get(id_, ()):
            tell()

    def path(self, id_: str) -> Path:
        """Where an episode of that id lies."""
        if not (len(id_) == 32 and id_.isalnum() and id_.isascii()):
            raise UnknownEpisode("unknown episode")
        return self.root / "episodes" / id_

    def get(self, id_: str) -> HostedEpisode:
        """A hosted episode, opened if need be."""
        hosted = self._open.get(id_)
        if hosted is None:
            path = self.path(id_)
            if not path.is_dir():
                raise UnknownEpisode("unknown episode")
            hosted = self._open[id_] = HostedEpisode(self, id_, path)
            self._close_surplus(id_)
        self._open.move_to_end(id_)
        return hosted

    def _close_surplus(self, wanted: str) -> None:
        for id_, hosted in list(self._open.items()):
            if len(self._open) <= self._max_open:
                return
            if id_ != wanted and not hosted.turn.statistics().locked:
                hosted.close()
                del self._open[id_]

    def ids(self) -> list[str]:
        """Ids of all episodes, in a stable order."""
        return sorted(path.name for path in (self.root / "episodes").iterdir() if path.name.isalnum())

    def new_id(self) -> str:
        """An id that nobody can guess. It names the episode and never enters its world."""
        return secrets.token_hex(16)

    def create(self, task: str, seed: int, target: int | None, parameters: Mapping[str, Any]) -> str:
        """A new episode; the instance is built unless one of the kind was built before."""
        family = load_family(task)
        return self.adopt(self.instances.get(family, seed, target, parameters), family)

    def adopt(self, instance: Path, family: Family) -> str:
        """A new episode on an instance that was built elsewhere."""
        return self._place(lambda draft: Episode.create(draft, instance, family))

    def fork(self, episode: Episode) -> str:
        """A new episode that goes on from the present state of another."""
        return self._place(episode.fork)

    def _place(self, make: Callable[[Path], Episode]) -> str:
        """Episodes appear whole or not at all: a crash leaves a draft that no id leads to."""
        id_ = self.new_id()
        draft = self.root / "episodes" / f".{id_}"
        try:
            make(draft).close()
            draft.rename(self.path(id_))
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return id_

    async def delete(self, id_: str) -> None:
        """Remove an episode and all that belongs to it."""
        path = self.path(id_)
        while hosted := self._open.get(id_):
            async with hosted.turn:
                if self._open.get(id_) is hosted:
                    hosted.close()
                    del self._open[id_]
                    break
        # It is gone at once; nobody waits between here and the closing above.
        doomed = path.with_name(f".{id_}")
        try:
            path.rename(doomed)
        except FileNotFoundError:
            raise UnknownEpisode("unknown episode") from None
        await anyio.to_thread.run_sync(shutil.rmtree, doomed)

    def close(self) -> None:
        """Close every open episode."""
        for hosted in self._open.values():
            hosted.close()
        self._open.clear()


# -- the control plane ----------------------------------------------------------------------------------


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
            calls=episode.world.journal.last,
            ended=episode.world.ended,
            snapshots=episode.snapshots(),
            prompt=episode.prompt,
            mcp=f"{prefix}/mcp",
            services={name: f"{prefix}/{name}/mcp" for name in episode.world.services},
            apis={name: f"{prefix}/{name}" for name in hosted.apis},
            mail=hosted.mail_ports if episode.world.is_open(MAIL_SERVICE) else {},
        )

    view: EpisodeView = await hosted.do(look)
    return view


def _grade(episode: Episode) -> Grade:
    verdict, (calls, delivered) = episode.grade(), episode.usage()
    return Grade(verdict=verdict, tool_calls=calls, delivered_tokens=delivered, measures=episode.measures)


def _journal_page(episode: Episode, after: int, limit: int) -> JournalPage:
    journal = episode.world.journal
    calls = [trajectory_line(entry) for entry in journal.entries(after, limit)]
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
        else:
            await self.control(scope, receive, send)

    async def _serve_episode(self, scope: Scope, receive: Receive, send: Send) -> None:
        _, _, id_, *rest = scope["path"].split("/")
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
        if rest and rest[0] in offered and rest[1:] != ["mcp"] and (api := load_api(rest[0])):
            await respond(api, hosted, id_, f"/e/{id_}/{rest[0]}", scope, receive, send)
            return
        if rest[-1:] != ["mcp"] or len(rest) > 2 or (service is not None and service not in offered):
            known = ", ".join(offered)
            await _refuse(send, 404, f"unknown endpoint; this episode has mcp and <service>/mcp for {known}")
            return
        await self.endpoints.handle(service, hosted, id_, scope, receive, send)


async def _refuse(send: Send, status: int, message: str) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": error_body(message)})


def _control_plane(pool: EpisodePool, endpoints: HttpEndpoints, admin_token: str) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with endpoints.running():
            yield
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
        id_ = await anyio.to_thread.run_sync(pool.create, body.task, body.seed, target, body.parameters)
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
    async def grade(id: str) -> Grade:
        """Judge the present state: passed, failed or errored, with the findings."""
        grade: Grade = await pool.get(id).do(_grade)
        return grade

    @app.get("/episodes/{id}/journal", tags=["episodes"], **known)
    async def journal(
        id: str, after: int = Query(0, ge=0, le=2**62), limit: int = Query(100, ge=1, le=1000)
    ) -> JournalPage:
        """The calls that were made, in order, from the one after ``after``."""
        page: JournalPage = await pool.get(id).do(lambda episode: _journal_page(episode, after, limit))
        return page

    @app.delete("/episodes/{id}", status_code=204, tags=["episodes"], **known)
    async def delete(id: str) -> None:
        """Remove an episode with its world, snapshots and journal."""
        await pool.delete(id)

    return app
