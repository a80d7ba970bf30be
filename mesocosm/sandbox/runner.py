"""The code runner: a process that runs jobs for servers, in a container of its own that holds no worlds.

============================  =========================================================================
``GET /status``               how jobs are kept apart here
``POST /missing``             which of some files, by SHA-256, are to be sent with a job
``POST /runs``                frames of a job; answered by frames of what it does, until it ends
``POST /runs/<id>``           frames for a job that runs: answers to its tool calls, files that these changed
============================  =========================================================================

All of it needs the token. A job sees the files that were sent with it; nothing of it is kept but a bounded
store of files by their hash, into which no job can look.
"""

from __future__ import annotations

import secrets
import socket
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import CalledProcessError

import anyio
import anyio.from_thread
import anyio.to_thread
import orjson
import uvicorn
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

import mesocosm
from mesocosm.errors import UsageError
from mesocosm.sandbox import bubblewrap, runtime, slots
from mesocosm.sandbox.blobs import Blobs
from mesocosm.sandbox.frames import BadFrame, Decoder, encode
from mesocosm.sandbox.job_run import JobOrder, JobRooms, Run
from mesocosm.sandbox.jobs import SandboxFailed
from mesocosm.worlds.limits import settings
from mesocosm.worlds.shares import Shares

WALLS = ("auto", "bubblewrap", "slots")
_BEAT = 1.0
"""Seconds of silence after which a stream says that it lives."""
_LARGEST = 1 << 32


def choose(walls: str, folder: Path) -> JobRooms:
    """Choose the isolation of jobs: namespaces if possible, else slots; raises ``UsageError`` if neither
    works.
    """
    problems = []
    for rooms in (bubblewrap.Rooms(_made(folder / "rooms")), slots.Slots(_made(folder / "slots"))):
        if walls in ("auto", rooms.name):
            problem = rooms.trial()
            if problem is None:
                return rooms
            problems.append(f"{rooms.name}: {problem}")
    raise UsageError("no sandbox for jobs works on this machine: " + "; ".join(problems))


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700)
    return folder


class CodeRunner:
    """The ASGI application."""

    def __init__(self, rooms: JobRooms, folder: Path, token: str) -> None:
        self._rooms = rooms
        self._blobs = Blobs(_made(folder / "blobs"))
        self._runs: dict[str, Run] = {}
        self.jobs = settings().sandbox_jobs
        # Jobs inside of jobs have places of their own: else all could be taken by those that wait for them.
        self._places = {nested: Shares(self.jobs) for nested in (False, True)}
        self._threads = anyio.CapacityLimiter(2 * self.jobs)
        self.app = _Guarded(
            Starlette(
                routes=[
                    Route("/status", self._status),
                    Route("/missing", self._missing, methods=["POST"]),
                    Route("/runs", self._run, methods=["POST"]),
                    Route("/runs/{id}", self._tell, methods=["POST"]),
                ],
                exception_handlers={BadFrame: _refuse},
            ),
            token,
        )

    async def _status(self, _: Request) -> Response:
        return JSONResponse(
            {
                "version": mesocosm.__version__,
                "walls": self._rooms.name,
                "python": runtime.python_version(),
                "missing_libraries": runtime.missing_libraries(),
                "missing_commands": runtime.missing_commands(),
                "jobs": self.jobs,
            }
        )

    async def _missing(self, request: Request) -> Response:
        digests = orjson.loads(await request.body())
        return JSONResponse(self._blobs.missing(digests))

    async def _run(self, request: Request) -> Response:
        stack, order = ExitStack(), None
        try:
            decoder = Decoder(_LARGEST)
            async for chunk in request.stream():
                for header, payload in decoder.feed(chunk):
                    if order is None:
                        order = JobOrder.of(header)
                        stack.enter_context(self._blobs.holding(order.digests))
                    else:
                        self._blobs.put(payload)
            if order is None:
                raise BadFrame("no job")
            if absent := self._blobs.missing(order.digests):
                stack.close()
                return JSONResponse(absent, 409)
        except BadFrame:
            stack.close()
            raise
        except ClientDisconnect:
            stack.close()
            return Response(status_code=400)
        return _Stream(self, order, stack)

    async def _tell(self, request: Request) -> Response:
        run = self._runs.get(request.path_params["id"])
        if run is None:
            return JSONResponse("no such run", 404)
        body = await request.body()
        await anyio.to_thread.run_sync(run.told, list(Decoder(_LARGEST).feed(body)))
        return Response(status_code=202 if run.is_full else 204)

    async def work(
        self, order: JobOrder, held: ExitStack, emit: MemoryObjectSendStream[bytes], gone: threading.Event
    ) -> None:
        """Run a job when there is a place, and emit the frames of what it does."""
        nested = order.parent is not None
        if order.parent in self._runs:
            self._runs[order.parent].adopt(gone)
        elif nested:
            gone.set()  # it has ended already
        id_ = secrets.token_hex(16)

        def send(frame: bytes) -> None:
            anyio.from_thread.run(emit.send, frame)

        def in_thread() -> None:
            with held, self._rooms.room() as room:
                run = Run(order, room, self._blobs, send, gone)
                self._runs[id_] = run
                send(encode("started", id=id_))
                run.carry_out()

        async with emit:
            try:
                async with self._places[nested].place(order.whom):
                    await anyio.to_thread.run_sync(in_thread, limiter=self._threads)
            except anyio.BrokenResourceError:
                pass  # nobody listens any more
            except (SandboxFailed, OSError, BadFrame, CalledProcessError) as error:
                with suppress(anyio.BrokenResourceError):
                    await emit.send(encode("failed", reason=str(error)))
            finally:
                held.close()
                self._runs.pop(id_, None)


def listen_at(place: str) -> socket.socket:
    """Listen at ``HOST:PORT`` or ``unix:PATH``; ``UsageError`` if that cannot be had."""
    try:
        if place.startswith("unix:"):
            return _listen_in_files(Path(place.removeprefix("unix:")))
        host, _, port = place.rpartition(":")
        host = host.strip("[]")
        if not 0 <= int(port) <= 65_535:
            raise ValueError("a port is at most 65535")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, int(port)), family=family, backlog=512)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot listen at {place!r} (HOST:PORT or unix:PATH): {error}") from None


def _listen_in_files(path: Path) -> socket.socket:
    if path.is_socket():
        path.unlink()  # of a runner that was killed
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(path))
        path.chmod(0o666)  # who may come in, the token says
        listener.listen()
        stack.pop_all()
        return listener


def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Serve until interrupted."""
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=2
    )
    uvicorn.Server(config).run(sockets=[listener])


class _Stream(Response):
    """The frames of a run, until it ends or nobody listens any more."""

    def __init__(self, runner: CodeRunner, order: JobOrder, held: ExitStack) -> None:
        super().__init__(media_type="application/octet-stream")
        del self.headers["content-length"]
        self._runner, self._order, self._held = runner, order, held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        emit, frames = anyio.create_memory_object_stream[bytes](4)
        gone = threading.Event()
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._runner.work, self._order, self._held, emit, gone)
            tasks.start_soon(_hear_of_leaving, receive, gone, frames)
            async with frames:
                await _forward(frames, send)
            gone.set()
            tasks.cancel_scope.cancel()


async def _forward(frames: MemoryObjectReceiveStream[bytes], send: Send) -> None:
    while True:
        frame = encode("beat")
        with anyio.move_on_after(_BEAT):
            try:
                frame = await frames.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                break
        await send({"type": "http.response.body", "body": frame, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _hear_of_leaving(
    receive: Receive, gone: threading.Event, frames: MemoryObjectReceiveStream[bytes]
) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    gone.set()
    frames.close()


class _Guarded:
    """Admits only requests with the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not secrets.compare_digest(given, self._token):
                await JSONResponse("the code runner needs its token", 401)(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _refuse(_: Request, error: Exception) -> Response:
    return JSONResponse(str(error), 400)
