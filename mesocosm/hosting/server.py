"""Running the hosting application: in the foreground, or in a thread of a program that also needs it."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import ssl
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import uvicorn

from mesocosm.doors.connections import IDLE, Answering, Http
from mesocosm.errors import UsageError
from mesocosm.hosting.application import LOOPBACK, Hosting
from mesocosm.worlds.garbage import leave_modules_out

_log = logging.getLogger(__name__)

RENEWING = 5.0
"""Seconds between two looks whether there is another certificate."""
DRAINING = 30.0
"""Seconds in which what is being answered has to be, when a server ends."""
_DOOR_KEEPS = 86_400
"""Seconds for which a connection of a door may rest: it closes those itself; a host that did so could meet a
request on its way."""


def admin_token(root: Path, host: str, given: str | None) -> str:
    """The admin token to use; on loopback one is made and kept, elsewhere it has to be given."""
    if given:
        return given
    if host not in LOOPBACK:
        raise UsageError(
            f"refusing to serve on {host} without an admin token: give --admin-token or MESOCOSM_ADMIN_TOKEN"
        )
    path = root / "admin-token"
    if path.is_file() and (kept := path.read_text(encoding="ascii").strip()):
        return kept
    root.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    token = secrets.token_urlsafe(32)
    path.write_text(token + "\n", encoding="ascii")
    return token


def listen(host: str, port: int) -> socket.socket:
    """Take a port before anything else is done; ``UsageError`` if it cannot be had."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None


def authority(name: str, port: int) -> str:
    """A name or an address with a port, as in URLs: ``[::1]:8321``."""
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def listen_at(address: str) -> socket.socket:
    """The same on the path of a unix socket, or on ``name:port``."""
    if "/" not in address:
        name, _, port = address.rpartition(":")
        return listen(name.strip("[]"), int(port))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(2048)
    return listener


class _Server(uvicorn.Server):
    """uvicorn with something else in the same event loop, such as the mail ports."""

    def __init__(
        self, app: Hosting, beside: AbstractAsyncContextManager[object] | None, **options: Any
    ) -> None:
        super().__init__(_config(app, **options))
        self._app = app
        self.is_up = threading.Event()
        self._beside = beside
        self._running: AsyncExitStack | None = None
        self._renewing: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.ends = False
        await super().startup(sockets)
        leave_modules_out()
        if not self.should_exit:
            self._running = AsyncExitStack()
            if self._beside is not None:
                await self._running.enter_async_context(self._beside)
            if self.config.ssl is not None:
                self._renewing = asyncio.create_task(self._renew())
            self.is_up.set()

    async def _renew(self) -> None:
        """Serve the certificate that lies in the files now: connections that are open keep theirs."""
        context, cert, key = self.config.ssl, self.config.ssl_certfile, self.config.ssl_keyfile
        assert context
        assert cert
        assert key
        seen = await anyio.to_thread.run_sync(_content, cert, key)
        while True:
            await anyio.sleep(RENEWING)
            now = await anyio.to_thread.run_sync(_content, cert, key)
            if now == seen:
                continue
            seen = now
            try:
                # What does not fit together, as when one of them is yet to be written, would leave neither.
                ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
                context.load_cert_chain(cert, key, password="")
            except (OSError, ssl.SSLError) as error:
                _log.warning("the certificate was changed and cannot be used, the old one is: %s", error)
            else:
                _log.warning("the certificate was changed: the new one is used")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down once requests are answered and none are accepted any more."""
        self._app.ends = True
        until = anyio.current_time() + DRAINING
        while self._app.busy and anyio.current_time() < until:
            await anyio.sleep(0.02)
        self._app.endpoints.end_streams()
        if self._renewing is not None:
            self._renewing.cancel()
        if self._running is not None:
            await self._running.aclose()
        await super().shutdown(sockets)


def serve(
    app: Hosting,
    host: str,
    port: int,
    listener: socket.socket | None = None,
    beside: AbstractAsyncContextManager[object] | None = None,
    tls: tuple[Path, Path] | None = None,
) -> None:
    """Serve until interrupted, on a port that ``listen`` took already if it is given.

    ``tls``: the files of a certificate and of its key, which may be replaced meanwhile.
    """
    # Beside a call that works in a thread, whoever is served waits for so long at every turn.
    sys.setswitchinterval(0.001)
    with listener or listen(host, port) as taken:
        _Server(app, beside, host=host, port=port, **_secured(tls)).run(sockets=[taken])


def serve_at(
    app: Hosting,
    address: str,
    ready: Callable[[], None],
    beside: AbstractAsyncContextManager[object],
    *,
    behind_proxy: bool,
) -> None:
    """Serve until shutdown, on a unix socket's path or on ``name:port``; calls ``ready`` once requests are
    answered. ``behind_proxy`` trusts forwarding headers.
    """
    sys.setswitchinterval(0.001)
    name, _, port = address.rpartition(":")
    where: dict[str, Any]
    if "/" in address:
        # Nobody but the door comes in there, and it has seen to limits of time and size.
        where = {"uds": address, "http": Answering}
    else:
        where = {"host": name.strip("[]"), "port": int(port)}

    @asynccontextmanager
    async def telling() -> AsyncIterator[None]:
        async with beside:
            ready()
            yield

    more: dict[str, Any] = {
        "timeout_keep_alive": _DOOR_KEEPS,
        "forwarded_allow_ips": "*" if behind_proxy else "127.0.0.1",
    }
    _Server(app, telling(), **where, **more).run()


@contextmanager
def serving(
    app: Hosting,
    beside: AbstractAsyncContextManager[object] | None = None,
    door: socket.socket | None = None,
    tls: tuple[Path, Path] | None = None,
) -> Iterator[str]:
    """Serve on a free loopback port in a thread; yields the base URL.

    With ``door``, serve a door of ours on this, which listens already.
    """
    listener = door or socket.create_server(("127.0.0.1", 0))
    more = {} if door is None else {"timeout_keep_alive": _DOOR_KEEPS, "proxy_headers": False}
    server = _Server(app, beside, **more, **_secured(tls))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        if not server.is_up.wait(30):
            raise RuntimeError("the server did not start within 30 seconds")
        scheme = "https" if tls else "http"
        yield f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


def _content(*paths: str | os.PathLike[str]) -> tuple[bytes, ...]:
    """Read the certificate files; empty for those that cannot be read."""
    found = []
    for path in paths:
        try:
            found.append(Path(path).read_bytes())
        except OSError:
            found.append(b"")
    return tuple(found)


def _secured(tls: tuple[Path, Path] | None) -> dict[str, Any]:
    return {"ssl_certfile": str(tls[0]), "ssl_keyfile": str(tls[1])} if tls else {}


def _config(app: Hosting, **where: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        **{"timeout_keep_alive": int(IDLE), "http": Http, **where},
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,
    )
