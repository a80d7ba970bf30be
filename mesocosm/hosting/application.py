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

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType

import orjson
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from mesocosm.doors.connections import RAW_REQUEST_ID, accepted_id, current_request, new_request_id
from mesocosm.doors.episodes import BEING_MOVED, UnknownEpisode
from mesocosm.doors.gateway import load_api, respond
from mesocosm.doors.mcp import HttpEndpoints, error_body
from mesocosm.doors.rooted import Rooted, RootedByToken, rooted_at
from mesocosm.errors import InUse, NotNow, OtherVersion, UsageError
from mesocosm.families.store import EpisodeStore
from mesocosm.hosting.control_plane import control_plane
from mesocosm.hosting.hosts.placement import Seat
from mesocosm.hosting.metrics import (
    LINES_LOST,
    REFUSED,
    RETRY_AFTER,
    Drain,
    Draining,
    RequestLog,
    gauge_draining,
)
from mesocosm.hosting.pool import EpisodePool, HostedEpisode, kind_of, log_request
from mesocosm.hosting.quotas import Quotas, answer_within
from mesocosm.hosting.replication import KEEP_EVERY
from mesocosm.hosting.tokens import Keys, Quota
from mesocosm.hosting.views import OTHER_TABLES
from mesocosm.worlds.deadlines import request_came

_log = logging.getLogger("mesocosm.hosting")
_PROBES = ("/health", "/ready", "/metrics")
"""Health checks, requested by address."""
ENDING = "the server is ending"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Hosting:
    """The ASGI application: episodes' endpoints in front, the control plane behind."""

    def __init__(
        self,
        root: Path,
        *,
        admin_token: str,
        allowed_hosts: list[str] | None = None,
        max_open: int | None = None,
        seat: Seat | None = None,
        log: RequestLog | None = None,
        store: EpisodeStore | None = None,
        keep_every: float = KEEP_EVERY,
        tokens: Sequence[Quota] = (),
        token_file: Path | None = None,
        server: str | None = None,
        alone: bool = False,
        expire_after: float | None = None,
        expire_abandoned: bool = True,
    ) -> None:
        hosts = [pattern for host in LOOPBACK for pattern in (host, f"{host}:*")] + ["[::1]", "[::1]:*"]
        self.pool = EpisodePool(
            root,
            max_open,
            seat.new_id if seat else None,
            store,
            keep_every,
            server,
            alone,
            expire_after,
            expire_abandoned,
        )
        self.busy = 0
        """Requests that are being answered, streams left out."""
        self.ends = False
        """True if no further requests are taken."""
        self.log = log
        if log is not None:
            self.pool.metrics.gauge("mesocosm_log_lines_lost", LINES_LOST, lambda: log.lost)
        if seat is None or alone:
            self.pool.metrics.gauge("mesocosm_episodes", "Episodes that there are", self.pool.count)
        self.endpoints = HttpEndpoints(hosts + (allowed_hosts or []))
        keys = self._keys = Keys(admin_token, tokens)
        self._draining = Draining()
        gauge_draining(self.pool.metrics, self._draining)
        self.control = control_plane(
            self.pool, self.endpoints, keys, self._take_tokens, self._drain, seat, token_file
        )
        self.quotas: Quotas | None = None
        # With several hosts, the door counts.
        if (tokens or token_file) and seat is None:
            self.quotas = Quotas(root, keys, tokens, self.pool.metrics, prune=store is None)

    def _take_tokens(self, tokens: Sequence[Quota]) -> None:
        """From now on these are the tokens, besides the server's own."""
        self._keys.take(tokens)
        if self.quotas is not None:
            self.quotas.take(tokens)

    def _drain(self, within: float, on: bool | None) -> Drain:
        """Start or stop draining, and report what still runs."""
        if on is not None:
            self._draining.on = on
        others = self.busy - (on is not None)  # what only looks is not counted there
        return Drain(draining=self._draining.on, requests=others, active=self.pool.used.within(within))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, and take note of it."""
        if scope["type"] != "http":
            await self.control(scope, receive, send)
            return
        request_came()
        scope, request = _with_id(scope)
        began, status, sent = time.perf_counter(), 500, 0
        stream = scope["method"] == "GET"

        async def noting(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), (RAW_REQUEST_ID, request)]}
            else:
                sent += len(message.get("body", b""))
            await send(message)

        self.busy += not stream
        try:
            if self.ends and scope["path"] not in _PROBES:
                await _refuse(noting, 503, ENDING, {b"retry-after": b"5"})
            else:
                await self._route(scope, receive, noting)
        finally:
            self.busy -= not stream
            self._noted(scope, status, time.perf_counter() - began, sent)

    def _noted(self, scope: Scope, status: int, seconds: float, sent: int) -> None:
        kind, metrics = kind_of(scope["path"]), self.pool.metrics
        metrics.requests.labels(kind, status).observe(seconds)
        metrics.sent.labels(kind).inc(sent)
        if self.log is not None:
            headers = Headers(scope=scope)
            token = self._keys.holder(headers.get("authorization"))
            log_request(self.log, scope["method"], scope["path"], headers, token, status, seconds, sent)

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        """By path; the episodes' calls are many, so they take the short way."""
        if scope["path"].startswith("/e/"):
            await self._serve_episode(scope, receive, send)
        elif rooted := rooted_at(scope["path"]):
            await self._serve_rooted(rooted, scope, receive, send)
        elif scope["path"] not in _PROBES and (refused := await self.endpoints.refused(scope)):
            await refused(scope, receive, send)
        elif self._draining.refuses(scope["method"], scope["path"]):
            await _send_json(
                send, 503, orjson.dumps({"detail": REFUSED}), {b"retry-after": b"%d" % RETRY_AFTER}
            )
        elif self.quotas is not None and Quotas.concern(scope["method"], scope["path"]):
            await answer_within(self.quotas, self.control, scope, receive, send)
        else:
            await self.control(scope, receive, send)

    async def _serve_rooted(
        self, rooted: Rooted | RootedByToken, scope: Scope, receive: Receive, send: Send
    ) -> None:
        found = await rooted.placed(scope, receive)
        if found is None or not self.pool.has(found[0]["path"].split("/")[2]):
            more = {b"www-authenticate": rooted.challenge.encode()} if rooted.challenge else {}
            await _send_json(send, rooted.status, orjson.dumps(rooted.refused), more)
            return
        await self._serve_episode(*found, send)

    async def _serve_episode(self, scope: Scope, receive: Receive, send: Send) -> None:
        _, _, id_, *rest = scope["path"].split("/")
        try:
            await self.pool.bring(id_)
            hosted = self.pool.get(id_)
            offered = hosted.services
            with self.pool.asking(id_):
                await hosted.fit()
        except UnknownEpisode:
            await _refuse(send, 404, "unknown episode")
            return
        except NotNow as error:
            await _refuse(send, 503, str(error), {b"retry-after": b"%d" % error.seconds})
            return
        except InUse:
            await _refuse(send, 503, BEING_MOVED, {b"retry-after": b"1"})
            return
        except OtherVersion as error:
            _log.warning("%s", error)
            await _refuse(send, 409, OTHER_TABLES)
            return
        except UsageError:
            await _refuse(send, 500, "the episode cannot be opened")
            return
        # What is got are streams, which end when their client wants it.
        with nullcontext() if scope["method"] == "GET" else self.pool.asking(id_):
            await self._answer(hosted, offered, id_, rest, scope, receive, send)

    async def _answer(
        self,
        hosted: HostedEpisode,
        offered: Collection[str],
        id_: str,
        rest: list[str],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
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


def _with_id(scope: Scope) -> tuple[Scope, bytes]:
    """A request with its id, which is known wherever it is answered."""
    for name, value in scope["headers"]:
        if name == RAW_REQUEST_ID and (given := accepted_id(value.decode("latin-1"))):
            current_request.set(given)
            return scope, value
    made = new_request_id()
    current_request.set(made)
    others = [header for header in scope["headers"] if header[0] != RAW_REQUEST_ID]
    return {**scope, "headers": [*others, (RAW_REQUEST_ID, made.encode())]}, made.encode()


async def _refuse(
    send: Send, status: int, message: str, headers: Mapping[bytes, bytes] = MappingProxyType({})
) -> None:
    await _send_json(send, status, error_body(message), headers)


async def _send_json(
    send: Send, status: int, body: bytes, more: Mapping[bytes, bytes] = MappingProxyType({})
) -> None:
    headers = [(b"content-type", b"application/json"), *more.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
