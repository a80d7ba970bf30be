"""The gateway: HTTP requests to the vendors' APIs of an episode, ``/e/<episode>/<service>/...``."""

from __future__ import annotations

import importlib
import logging
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import anyio.to_thread
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from mesocosm.doors.admission import MAX_QUERY, BodyTooLarge, Full, Take, check_size, intake, received
from mesocosm.doors.episodes import ServedEpisode, why_not_now
from mesocosm.doors.request import FORMS, KEPT_HEADERS, Request
from mesocosm.doors.rest import Api
from mesocosm.errors import Denied, Invalid, Refusal, UnreadableBody
from mesocosm.services.calling import FAULT_TEXT
from mesocosm.services.content import find_module
from mesocosm.services.service import Operation, Reply

_LARGE = 1_000_000
"""Bytes of a body that takes a while to be written down."""
_METHOD = "_method"
"""The parameter of a POST that says which method is meant."""
_IN_FORM, _IN_PARTS = re.compile(rb"_method=(\w+)"), re.compile(rb'_method"?\r?\n\r?\n(\w+)')
"""The same as a field of a form."""
_OVERRIDES = ("GET", "PUT", "PATCH", "DELETE", "POST")

_log = logging.getLogger(__name__)


@cache
def load_api(service: str) -> Api | None:
    """The vendor's API of a service, if it has one."""
    module = find_module("servers", service, "rest")
    if module is None:
        return None
    api = importlib.import_module(module).api
    if not isinstance(api, Api) or api.service != service:
        raise TypeError(f"servers/{service}/rest.py: `api` must be an Api of {service!r}")
    return api


async def respond(
    api: Api, episode: ServedEpisode, token: str, mount: str, scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer one request. ``token`` opens the episode; ``mount`` is the path of the service in it."""
    with intake.of(token) as take:
        try:
            reply = await _answer(api, episode, token, mount, scope, receive, take)
        except ClientDisconnect:
            return
        except Full as full:
            no = api.error(503, str(full))
            reply = Reply(no.body, no.status, {**no.headers, "Retry-After": "1"}, no.media_type)
    headers = {"Content-Type": reply.media_type} if reply.body or reply.status != 204 else {}
    headers |= {"Content-Length": str(len(reply.body))} if reply.status not in (204, 304) else {}
    headers |= api.headers | dict(reply.headers)
    start: Message = {
        "type": "http.response.start",
        "status": reply.status,
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()],
    }
    await send(start)
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else reply.body})


async def _answer(
    api: Api,
    episode: ServedEpisode,
    token: str,
    mount: str,
    scope: Scope,
    receive: Receive,
    take: Take,
) -> Reply:
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    path = scope["raw_path"].decode("latin-1").partition("?")[0].removeprefix(mount)
    try:
        body = await received(receive, headers, take)
    except BodyTooLarge as error:
        return api.error(413, str(error))
    except zlib.error:
        return api.refusal(UnreadableBody("The body cannot be decompressed."))
    request = Request(
        method=method,
        path=path,
        query=scope["query_string"].decode("latin-1"),
        headers={name: headers[name] for name in KEPT_HEADERS if name in headers},
        body=body,
        base=f"{scope['scheme']}://{headers.get('host', 'localhost')}{mount}",
    )
    try:
        check_size(request.query, request.media_type, body)
    except BodyTooLarge as error:
        return api.error(414 if len(request.query) > MAX_QUERY else 413, str(error))
    if path == "/openapi.json" and method == "GET" and api.described:
        return api.openapi(request.base)
    if not api.authenticate(request, headers, token):
        return api.error(401, "The token is missing or wrong; it is the id of the episode.")
    if not episode.is_open(api.service):
        return api.refusal(Denied("This task offers only some of the tools; its API is closed."))
    try:
        request = replace(request, method=_meant(request, headers))
    except Refusal as refusal:
        return api.refusal(refusal)
    route = api.match(request.method, path)
    if route is None:
        known = api.methods(path)
        if not known or api.unknown_method == 404:
            return api.error(404, api.nothing(request.method, path))
        wrong = api.error(405, f"This path takes {', '.join(known)}.")
        return Reply(wrong.body, wrong.status, {**wrong.headers, "Allow": ", ".join(known)})
    key = headers.get("idempotency-key")
    request = request.without((*api.credentials, _METHOD))
    is_large = len(body) > _LARGE
    arguments = await anyio.to_thread.run_sync(request.arguments) if is_large else request.arguments()
    return await _make(api, episode, route.status, route.operation, arguments, key)


def _meant(request: Request, headers: Mapping[str, str]) -> str:
    """The method that a client means that can send no other than POST, as frameworks read it."""
    if request.method != "POST":
        return request.method
    meant = headers.get("x-http-method-override") or request.asked.get(_METHOD)
    if not meant and request.media_type in FORMS:
        meant = _method_in(request.body)
    method = str(meant or "POST").upper()
    if method not in _OVERRIDES:
        raise Invalid(f"POST cannot stand for {method}; it may stand for {', '.join(_OVERRIDES)}.")
    return method


def _method_in(body: bytes) -> str | None:
    """The field of a form that says which method is meant; found without reading all of it."""
    at = body.find(b"_method")
    for _ in range(100):
        if at < 0:
            break
        before = body[at - 1 : at] if at else b"&"
        pattern = _IN_FORM if before == b"&" else _IN_PARTS if before in (b'"', b"=") else None
        if pattern and (found := pattern.match(body, at)):
            return found[1].decode()
        at = body.find(b"_method", at + 1)
    return None


async def _make(
    api: Api,
    episode: ServedEpisode,
    status: int,
    operation: Operation,
    arguments: Mapping[str, Any],
    key: str | None,
) -> Reply:
    try:
        outcome = await episode.make(api.service, operation, arguments, key)
    except Exception as error:  # noqa: BLE001 - the world cannot be used: what is wrong is the operator's alone
        if reason := why_not_now(error):
            no = api.error(503, reason)
            return Reply(no.body, no.status, {**no.headers, "Retry-After": "1"}, no.media_type)
        _log.exception("%s could not be answered", operation.name)
        return api.error(500, FAULT_TEXT)
    if outcome.reply is not None:
        return outcome.reply
    if outcome.refusal is not None:
        return api.refusal(outcome.refusal)
    if outcome.status == "ok":  # made before, with the same idempotency key
        return Reply(outcome.text.encode(), status)
    return api.error(500 if outcome.status == "fault" else 400, outcome.text)
