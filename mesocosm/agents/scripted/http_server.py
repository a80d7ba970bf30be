"""The HTTP server of the scripted models."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import anyio.to_thread
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from mesocosm.agents.scripted.behaviours import BEHAVIOURS, Models
from mesocosm.agents.scripted.exchange import Ask, ModelAnswer, RequestRefused
from mesocosm.agents.scripted.protocols import PROTOCOLS, Protocol

_RESTS = 120
"""Seconds for which a connection may rest, as on our servers: longer than clients use one (httpx: 5)."""


def application() -> Starlette:
    """The three protocols, and the list of the models."""
    models = Models()

    async def answer(request: Request) -> Response:
        protocol = PROTOCOLS[request.url.path]
        data = await request.body()
        try:
            try:
                body = orjson.loads(data)
            except orjson.JSONDecodeError as error:
                raise RequestRefused(400, "invalid_request_error", f"not JSON: {error}") from None
            ask = protocol.read(body, len(data))
            given = await anyio.to_thread.run_sync(models.answer, ask)
        except RequestRefused as refused:
            if refused.kind == "context_length_exceeded":
                refused.message = f"{protocol.too_long}: {refused.message}"
            headers = {"retry-after": "0"} if refused.status == 429 else None
            return JSONResponse(protocol.error(refused), refused.status, headers)
        if ask.stream or given.cut:
            return StreamingResponse(_stream(protocol, ask, given), media_type="text/event-stream")
        return Response(orjson.dumps(protocol.body(ask, given)), media_type="application/json")

    async def count(request: Request) -> Response:
        return JSONResponse({"input_tokens": max(1, len(await request.body()) // 4)})

    async def listing(_: Request) -> Response:
        models = [{"id": name, "object": "model", "owned_by": "mesocosm"} for name in BEHAVIOURS]
        return JSONResponse({"object": "list", "data": models})

    return Starlette(
        routes=[
            *(Route(path, answer, methods=["POST"]) for path in PROTOCOLS),
            Route("/v1/messages/count_tokens", count, methods=["POST"]),
            Route("/v1/models", listing),
        ]
    )


class Cut(ConnectionError):
    """A stream that ends in the middle."""


async def _stream(protocol: Protocol, ask: Ask, answer: ModelAnswer) -> AsyncIterator[bytes]:
    for number, (name, data) in enumerate(protocol.events(ask, answer)):
        if answer.cut and number:
            raise Cut("the connection ends in the middle of a stream, as it was asked to")
        head = f"event: {name}\n".encode() if name else b""
        yield head + b"data: " + orjson.dumps(data) + b"\n\n"
    yield protocol.last


def serve_models(listener: socket.socket) -> None:
    """Serve on a port that was taken already, until interrupted."""
    config = uvicorn.Config(application(), log_level="warning", access_log=False, timeout_keep_alive=_RESTS)
    uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def model_server() -> Iterator[str]:
    """Serve on a free loopback port in a thread; yields the base URL."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    config = uvicorn.Config(application(), log_level="critical", access_log=False, timeout_keep_alive=_RESTS)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        # The port is taken already: what is asked before the server is up waits for it.
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(5)
        listener.close()
