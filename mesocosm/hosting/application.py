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

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import orjson
from starlette.types import Receive, Scope, Send

from mesocosm.doors.episodes import UnknownEpisode
from mesocosm.doors.gateway import load_api, respond
from mesocosm.doors.mcp import HttpEndpoints, error_body
from mesocosm.doors.rooted import Rooted, rooted_at
from mesocosm.errors import InUse, UsageError
from mesocosm.hosting.collecting import leave_modules_out
from mesocosm.hosting.control_plane import control_plane
from mesocosm.hosting.hosts.placement import Seat
from mesocosm.hosting.pool import EpisodePool
from mesocosm.hosting.views import BEING_MOVED

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
    ) -> None:
        hosts = [pattern for host in LOOPBACK for pattern in (host, f"{host}:*")] + ["[::1]", "[::1]:*"]
        self.pool = EpisodePool(root, max_open, seat.new_id if seat else None)
        self.endpoints = HttpEndpoints(hosts + (allowed_hosts or []))
        self.control = control_plane(self.pool, self.endpoints, admin_token, seat)

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
        except InUse:
            await _refuse(send, 503, BEING_MOVED, {b"retry-after": b"1"})
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
