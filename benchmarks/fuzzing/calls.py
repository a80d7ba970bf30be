"""Calls of tools and requests to the vendors' APIs that nobody would make."""

from __future__ import annotations

import base64
import copy
import json
import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from fuzzing.inputs import Inputs
from fuzzing.odd import QUERIES
from fuzzing.programs import program
from mesocosm.doors.gateway import load_api, respond
from mesocosm.doors.rest import Route
from mesocosm.services.calls import Outcome
from mesocosm.services.service import Action, Tool, load_service
from mesocosm.services.world import World

_FINAL = 0.0001
"""Share of tools that end the episode: after them nothing is accepted."""
_CODE = 1 / 1500
"""Share of calls that run code: each starts a sandbox."""
_SIGN_IN = {
    "canvas": [("canvas_login", {"login_id": f"user{n}@uni.edu", "password": "secret"}) for n in (1, 2, 3)],
    "email": [("login", {"email": "ann@mcp.com", "password": "secret"})],
}
_SIGNED_OUT = re.compile("not logged in|sign in|authorization required|no user is", re.IGNORECASE)


class Made(NamedTuple):
    """A call that is ready to be made."""

    name: str
    arguments: Any
    make: Callable[[], Outcome]
    service: str = ""


Source = Iterator[Made]


class Tools:
    """Calls of tools."""

    def __init__(
        self, world: World, inputs: Inputs, *, code: bool, services: Collection[str] | None = None
    ) -> None:
        self._world, self._inputs = world, inputs
        named = [
            (service, tool)
            for service in world.services.values()
            for tool in service.tools.values()
            if services is None or service.name in services
        ]
        self._tools = [(s.name, t) for s, t in named if not s.runs_code and not t.ends_episode]
        self._ends = [(s.name, t) for s, t in named if t.ends_episode]
        self._code = [(s.name, t) for s, t in named if s.runs_code] if code else []
        # Small services would hardly be met among so many tools.
        self._by_service: dict[str, list[tuple[str, Tool]]] = {}
        for name, tool in self._tools:
            self._by_service.setdefault(name, []).append((name, tool))
        self._signed_out = ""

    def __iter__(self) -> Source:
        while True:
            yield self._next()

    def _next(self) -> Made:
        dice = self._inputs.dice
        if self._signed_out:
            tool_name, arguments = dice.choice(_SIGN_IN[self._signed_out])
            service, self._signed_out = self._signed_out, ""
            return self._made(service, load_service(service).tools[tool_name], arguments)
        roll = dice.random()
        if self._ends and roll < _FINAL:
            service, tool = dice.choice(self._ends)
        elif self._code and roll < _FINAL + _CODE:
            service, tool = dice.choice(self._code)
            self._inputs.of(service)
            return self._made(service, tool, program(tool.name, self._inputs))
        elif roll < 0.3:
            service, tool = dice.choice(self._by_service[dice.choice(list(self._by_service))])
        else:
            service, tool = dice.choice(self._tools)
        name = f"{service}.{tool.name}"
        return self._made(service, tool, self._inputs.arguments(service, name, tool.signature.schema))

    def _made(self, service: str, tool: Tool, arguments: dict[str, Any]) -> Made:
        def make() -> Outcome:
            outcome = self._world.call(service, tool.name, arguments)
            if outcome.status == "refused" and service in _SIGN_IN and _SIGNED_OUT.search(outcome.text[:300]):
                self._signed_out = service
            return outcome

        return Made(f"{service}.{tool.name}", arguments, make, service)


class _Answered:
    """The episode as the door to the vendors' APIs sees it: its requests are made at once."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.outcome: Outcome | None = None
        self.is_open = world.is_open
        self.operation = world.operation

    async def make(
        self, service: str, action: Action, arguments: Mapping[str, Any], key: str | None
    ) -> Outcome:
        self.outcome = self._world.calls.make(service, action, arguments, idempotency_key=key)
        return self.outcome

    async def revision(self, service: str) -> int | None:
        return self._world.revision(service)


_TOKEN = "episode"
_WITHIN = ("",) * 6 + ("[]", "[a]", "[a][]", "[0]")
"""Behind the name of a field: what makes a list or an object of it."""
_UNKNOWN = ("field_of_nobody", "kept, or refused by name")
"""A field that no vendor has: what takes it with a success status drops it, unless the answer shows it."""


_LENIENT = ("snowflake",)
"""Services whose messages carry much that only the vendor takes notice of."""
_LENIENT_LISTS = ("woocommerce",)
"""Services that pass over parameters that a GET does not have, as the vendor does."""
_ANSWERED = ("creator", "organizer")
"""Objects of answers that clients send back, and that the vendor passes over with all that is in them."""


class Requests:
    """Requests to the vendors' APIs, through their door."""

    def __init__(self, world: World, inputs: Inputs, *, services: Collection[str] | None = None) -> None:
        self._inputs = inputs
        self._client = _Answered(world)
        names = [
            name
            for name in world.all_services
            if load_api(name) and world.is_open(name) and (services is None or name in services)
        ]
        self._routes = [(name, route) for name in names if (api := load_api(name)) for route in api.routes]

    def __bool__(self) -> bool:
        return bool(self._routes)

    def __iter__(self) -> Source:
        while True:
            service, route = self._inputs.dice.choice(self._routes)
            schema, places = self._schema(route), tuple(route.pattern.groupindex)
            name = f"{service} {route.operation.name}"
            given = self._inputs.arguments(service, name, schema, places)
            scope, body = self._request(service, route, given, places)
            yield Made(
                name,
                given,
                partial(self._send, service, scope, body),
                service,
            )

    def _schema(self, route: Route) -> dict[str, Any]:
        properties = dict(route.signature.schema["properties"])
        for name in route.pattern.groupindex:
            kind = "integer" if f"{{{name}:int}}" in route.template else "string"
            properties.setdefault(name, {"type": kind})
        return {**route.signature.schema, "properties": properties}

    def _request(
        self, service: str, route: Route, given: dict[str, Any], places: tuple[str, ...]
    ) -> tuple[dict[str, Any], bytes]:
        dice, path = self._inputs.dice, route.template
        for name in places:
            text = _flat(given[name])[:300]
            path = re.sub(
                rf"{{{name}(:\w+)?}}",
                partial(_quoted, text.encode("utf-8", "replace")),
                path,
                count=1,
            )
        said = {name: value for name, value in given.items() if name not in places}
        query, headers = {}, _authorized(service)
        headers["content-type"] = _flat(said.pop("(type)", "text/plain"))
        whole, body = said.pop("(body)", None), b""
        if whole is not None:
            query, body = said, _flat(whole).encode("utf-8", "replace")
        elif route.method in ("GET", "DELETE") or dice.random() < 0.1:
            query = said
            if dice.random() < 0.4:
                name = dice.choice(QUERIES)
                query = {
                    **said,
                    name: self._inputs.text(name) if dice.random() < 0.7 else self._inputs.number(name),
                }
        else:
            if route.wants_request and dice.random() < 0.5:
                # These vendors have some parameters in the query, and an object in the body.
                declared = route.signature.schema["properties"]
                query = {name: said.pop(name) for name in list(said) if name in declared}
            elif route.wants_request and dice.random() < 0.8:
                said = self._by_hand(route, said)
            body = self._body(service, said, headers)
        if dice.random() < 0.005:
            headers["x-http-method-override"] = dice.choice(["PUT", "DELETE", "x", "patch"])
        if dice.random() < 0.1:
            query = {name + dice.choice(_WITHIN): value for name, value in query.items()}
        if dice.random() < 0.02:
            query = {**query, _UNKNOWN[0]: _UNKNOWN[1]}
        scope = {
            "method": route.method,
            "raw_path": b"/s" + path.encode("utf-8", "replace"),
            "query_string": urlencode(
                [(name, _flat(value)) for name, value in query.items()], errors="replace"
            ).encode(),
            "scheme": "http",
            "headers": [
                (name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()
            ],
        }
        return scope, body

    def _by_hand(self, route: Route, said: dict[str, Any]) -> dict[str, Any]:
        """List fields that a route may read from a body beyond its signature."""
        fields = said | self._inputs.fields()
        if self._inputs.dice.random() < 0.4:
            nouns = [part for part in route.template.split("/") if part and "{" not in part]
            return {nouns[-1].removesuffix("s") if nouns else "data": fields}
        return fields

    def _body(self, service: str, said: Any, headers: dict[str, str]) -> bytes:
        dice = self._inputs.dice
        if dice.random() < 0.85:
            headers["content-type"] = "application/json"
            if dice.random() < 0.02:
                said = self._inputs.value("", {})
            elif isinstance(said, dict) and dice.random() < 0.1:
                api = load_api(service)
                said = _with_unknown(said, dice, {*_ANSWERED, *(api.read_only if api else ())})
            try:
                return json.dumps(said).encode()
            except (RecursionError, ValueError):
                return b"[" * 5_000
        headers["content-type"] = dice.choice(
            ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", ""]
        )
        if headers["content-type"].startswith("multipart"):
            part = '--x\r\nContent-Disposition: form-data; name="{}{}"{}\r\n\r\n{}\r\n'
            parts = [
                part.format(
                    name, dice.choice(_WITHIN), dice.choice(["", "", '; filename="a.txt"']), _flat(value)
                )
                for name, value in said.items()
            ]
            return ("".join(parts) + "--x--\r\n").encode("utf-8", "replace")
        form = [(name + dice.choice(_WITHIN), _flat(value)) for name, value in said.items()]
        return urlencode(form, errors="replace").encode()

    def _send(self, service: str, scope: dict[str, Any], body: bytes) -> Outcome:
        api = load_api(service)
        assert api
        answered: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(message: dict[str, Any]) -> None:
            answered.append(message)

        self._client.outcome = None
        going = respond(api, self._client, _TOKEN, "/s", scope, receive, send)  # type: ignore[arg-type]
        try:
            going.send(None)
        except StopIteration:
            pass
        else:
            raise AssertionError("a request that nothing keeps waiting waits")
        status = answered[0]["status"]
        if self._client.outcome is None:
            assert status < 500, f"{status} {answered[1]['body'][:300]!r}"
            return Outcome("refused", (str(status),))
        # What is uploaded without a word on how is content, of which no field is read.
        path = scope["raw_path"]
        content = b"/upload/" in path and b"uploadType" not in scope["query_string"]
        content |= b"/releases/" in path and path.endswith(b"/assets")
        fields = scope["query_string"] + (b"" if content else body)
        passed_over = service in _LENIENT or (service in _LENIENT_LISTS and scope["method"] == "GET")
        sent = not passed_over and _UNKNOWN[0].encode() in fields
        # Of a batch, each object is refused for itself.
        said = answered[-1]["body"]
        refused = b'"error":{' in said or b'"insertErrors":[' in said
        # Lists of what there is none of take any filter: there is nothing that it could have left out.
        none = scope["method"] == "GET" and bool(
            said == b"[]"
            or re.fullmatch(rb'\{"\w+":\[\]\}', said)
            or re.search(rb'"total_count":0[,}]', said)
        )
        dropped = sent and _UNKNOWN[1].encode() not in said and not refused and not none
        assert status >= 300 or not dropped, (
            f"{scope['method']} answers {status} and drops a field of {body[:800]!r}"
        )
        return self._client.outcome


def _with_unknown(said: dict[str, Any], dice: random.Random, passed_over: Collection[str]) -> dict[str, Any]:
    """Add an unknown field to one of the objects, however deep, except those that the vendor ignores."""
    try:
        said = copy.deepcopy(said)
    except RecursionError:
        return {**said, _UNKNOWN[0]: _UNKNOWN[1]}
    objects: list[Any] = [said]
    for value in objects:  # which grows while it is walked through
        inside = (
            value if isinstance(value, list) else [value[name] for name in value if name not in passed_over]
        )
        objects += [item for item in inside if isinstance(item, dict | list)]
    chosen = dice.choice([value for value in objects if isinstance(value, dict)])
    chosen[_UNKNOWN[0]] = _UNKNOWN[1]
    return said


def _authorized(service: str) -> dict[str, str]:
    pair = base64.b64encode(f"{_TOKEN}:{_TOKEN}".encode()).decode()
    kind = f"Basic {pair}" if service in ("woocommerce", "codehost") else f"Bearer {_TOKEN}"
    if service == "snowflake":
        kind = f'Snowflake Token="{_TOKEN}"'
    return {"host": "127.0.0.1", "authorization": kind}


def _flat(value: Any) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except (RecursionError, ValueError):
        return "["


def _quoted(text: bytes, place: re.Match[str]) -> str:
    """Fill a route's path parameter."""
    return quote(text, safe="/" if place[1] == ":path" else "")
