"""REST: a vendor's HTTP API over the store that the tools of the service use.

A service whose vendor has SDKs keeps its API in ``servers/<name>/rest.py`` as an ``Api`` named ``api``::

    api = Api("woocommerce", "/wp-json/wc/v3", authenticate=signed, error=error_body, page_headers=totals)

    @api.get("/products/{id}")
    def get_product(store: WooStore, id: int) -> dict[str, Any]:
        return product_view(store.product(id))

A route's function gets the store and, by their names, the values of the path, the query and the body; with a
parameter ``request`` it also gets the whole ``Request``. What it returns is the body; ``Page`` is answered as
an array with the vendor's paging headers, ``None`` as 204, and ``Reply`` as it is. A ``Refusal`` becomes the
vendor's error body. Each request is one transaction and is journalled like a tool call.
"""

from __future__ import annotations

import base64
import binascii
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlencode

import orjson
from starlette.routing import compile_path

import mesocosm
from mesocosm.errors import Invalid, Refusal
from mesocosm.services.schema import Signature, description_of, signature_of
from mesocosm.services.service import Operation, Page, Reply

F = TypeVar("F", bound=Callable[..., Any])

KEPT_HEADERS = ("accept", "content-type", "if-match", "if-none-match", "git-protocol")
"""Request headers that reach the API, and the journal; credentials are not among them."""
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Request:
    """One HTTP request to a service's API, as it is journalled."""

    method: str
    path: str
    """Below the service's URL, percent-encoded as it came."""
    query: str
    headers: Mapping[str, str]
    """Those of ``KEPT_HEADERS`` that were sent, in lower case."""
    body: bytes
    base: str
    """URL of the service in this episode, without a slash at the end."""
    params: Mapping[str, str] = field(default_factory=dict)
    """Values of the placeholders of the path, decoded."""

    @property
    def url(self) -> str:
        """The URL that was asked for."""
        return self.base + self.path + ("?" + self.query if self.query else "")

    def without(self, prefixes: tuple[str, ...]) -> Request:
        """The same request without the parameters of the query whose names begin so."""
        if not prefixes:
            return self
        kept = [(name, value) for name, value in self.pairs if not name.startswith(prefixes)]
        return replace(self, query=urlencode(kept))

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Names and values of the query, in order."""
        return parse_qsl(self.query, keep_blank_values=True)

    @property
    def media_type(self) -> str:
        """What the body is, without parameters such as the character set."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @cached_property
    def json(self) -> Any:
        """The body read as JSON, ``None`` if there is none."""
        if not self.body:
            return None
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise Invalid(f"The body is not JSON: {error}") from None

    @cached_property
    def form(self) -> list[tuple[str, str]]:
        """Names and values of a body that is a form."""
        try:
            return parse_qsl(self.body.decode(), keep_blank_values=True)
        except UnicodeDecodeError:
            raise Invalid("The body is not a form in UTF-8.") from None

    @cached_property
    def values(self) -> dict[str, Any]:
        """What the query and the body say, by name; of the same name, the body's."""
        values = nested(self.pairs)
        return values | (nested(self.form) if self.media_type == _FORM else self.data)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The body where it is JSON, which must be an object then; nothing otherwise."""
        if not self.body or self.media_type not in ("application/json", "text/json", ""):
            return {}
        if not isinstance(self.json, dict):
            raise Invalid("The body must be a JSON object.")
        return self.json

    def arguments(self) -> dict[str, Any]:
        """The request as the journal keeps it."""
        try:
            body: Any = self.body.decode()
        except UnicodeDecodeError:
            body = {"base64": base64.b64encode(self.body).decode()}
        return {
            "path": self.path,
            "query": self.query,
            "headers": dict(self.headers),
            "body": body,
            "base": self.base,
        }

    @classmethod
    def of(cls, method: str, arguments: Mapping[str, Any], params: Mapping[str, str]) -> Request:
        """The request of which ``arguments`` were kept."""
        body = arguments["body"]
        return cls(
            method,
            arguments["path"],
            arguments["query"],
            arguments["headers"],
            body.encode() if isinstance(body, str) else binascii.a2b_base64(body["base64"]),
            arguments["base"],
            params,
        )


@dataclass(frozen=True)
class Route:
    """A method and a path, and the function that answers."""

    method: str
    template: str
    pattern: re.Pattern[str]
    signature: Signature
    wants_request: bool
    status: int
    operation: Operation
    function: Callable[..., Any]

    def described(self) -> dict[str, Any]:
        """The route as an operation of an OpenAPI document."""
        properties: dict[str, Any] = self.signature.schema["properties"]
        required = self.signature.schema["required"]
        in_path = set(self.pattern.groupindex)
        in_query = set(properties) - in_path if self.method in ("GET", "DELETE") else set()
        parameters = [
            {
                "name": name,
                "in": "path" if name in in_path else "query",
                "required": name in required,
                "schema": {key: value for key, value in schema.items() if key != "description"},
                "description": schema.get("description", ""),
            }
            for name, schema in properties.items()
            if name in in_path | in_query
        ]
        described: dict[str, Any] = {
            "operationId": self.function.__name__,
            "summary": description_of(self.function).partition("\n")[0],
            "parameters": parameters,
            "responses": {str(self.status): {"description": "Done"}, "default": {"description": "Refused"}},
        }
        in_body = {n: s for n, s in properties.items() if n not in in_path | in_query}
        if in_body:
            schema = {
                "type": "object",
                "properties": in_body,
                "required": [name for name in required if name in in_body],
            }
            described["requestBody"] = {
                "required": bool(schema["required"]),
                "content": {"application/json": {"schema": schema}},
            }
        return described

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What the function gets; ``Invalid`` names what is wrong."""
        found = self.pattern.fullmatch(arguments["path"])
        assert found, f"{arguments['path']} is not of the form {self.template}"
        params = {name: unquote(value) for name, value in found.groupdict().items()}
        request = Request.of(self.method, arguments, params)
        bound: dict[str, Any] = {"request": request} if self.wants_request else {}
        properties = self.signature.schema["properties"]
        if properties:
            given = request.values | params
            bound |= self.signature.bind(
                {name: coerced(given[name], schema) for name, schema in properties.items() if name in given}
            )
        return bound


Authenticate = Callable[[Request, Mapping[str, str], str], bool]
"""Whether a request with these headers carries the episode's token."""


class Api:
    """The HTTP API of one service.

    Args:
        service: Name of the service.
        prefix: What the vendor's paths begin with.
        authenticate: Whether a request with these headers (all of them) carries the token of the episode.
        error: The vendor's error body (data) for a status, a text and a code.
        page_headers: The vendor's headers for a page of a list.
        challenge: The ``WWW-Authenticate`` header of a 401.
        credentials: Beginnings of query parameters that carry credentials; they do not reach the routes.
        headers: Headers of every answer.
        described: Whether ``/openapi.json`` describes it; for APIs of our own, whose routes are typed.
    """

    def __init__(
        self,
        service: str,
        prefix: str = "",
        *,
        authenticate: Authenticate,
        error: Callable[[int, str, str | None], Any],
        page_headers: Callable[[Page, Request], Mapping[str, str]] = lambda page, request: {},
        challenge: str = "Bearer",
        credentials: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        described: bool = False,
    ) -> None:
        self.service = service
        self.prefix = prefix
        self.authenticate = authenticate
        self.challenge = challenge
        self.credentials = tuple(credentials)
        self.headers = dict(headers or {})
        self.described = described
        self.operations: dict[str, Operation] = {}
        self.routes: list[Route] = []
        self._error = error
        self._page_headers = page_headers
        self._index: dict[tuple[str, int], list[Route]] = {}
        # Clients ask for the same paths again and again, and there may be a hundred routes to try.
        self._found = lru_cache(maxsize=4096)(self._find)

    def get(self, path: str, **options: Any) -> Callable[[F], F]:
        """Register a function that answers GET; see ``route``."""
        return self.route("GET", path, **options)

    def post(self, path: str, **options: Any) -> Callable[[F], F]:
        """Register a function that answers POST; see ``route``."""
        return self.route("POST", path, **options)

    def put(self, path: str, **options: Any) -> Callable[[F], F]:
        """Register a function that answers PUT; see ``route``."""
        return self.route("PUT", path, **options)

    def patch(self, path: str, **options: Any) -> Callable[[F], F]:
        """Register a function that answers PATCH; see ``route``."""
        return self.route("PATCH", path, **options)

    def delete(self, path: str, **options: Any) -> Callable[[F], F]:
        """Register a function that answers DELETE; see ``route``."""
        return self.route("DELETE", path, **options)

    def route(
        self,
        method: str,
        path: str,
        *,
        status: int = 200,
        writes: bool | None = None,
        threaded: bool = False,
    ) -> Callable[[F], F]:
        """Register a function for a method and a path below the prefix.

        Args:
            method: The HTTP method.
            path: As in ``/courses/{id}``; ``{path:path}`` stands for any number of segments.
            status: That of an answer that is no refusal.
            writes: Whether it may change the world; by default, unless it answers GET.
            threaded: Run it in a worker thread, for answers that take more than some milliseconds.
        """

        def register(function: F) -> F:
            template = self.prefix + path
            name = f"{method} {template}"
            if name in self.operations:
                raise TypeError(f"{self.service}: {name} is defined twice")
            wants_request = "request" in inspect.signature(function).parameters
            operation = Operation(
                name,
                lambda store, **bound: self._reply(function(store, **bound), route, bound.get("request")),
                writes=method != "GET" if writes is None else writes,
                bind=lambda arguments: route.bind(arguments),
                threaded=threaded,
            )
            pattern, _, _ = compile_path(template)
            signature = signature_of(function, skip=2 if wants_request else 1)
            route = Route(method, template, pattern, signature, wants_request, status, operation, function)
            self.routes.append(route)
            self.operations[name] = operation
            # A path that may have any number of segments is looked up as having none.
            depth = -1 if ":path}" in template else template.count("/")
            self._index.setdefault((method, depth), []).append(route)
            return function

        return register

    def match(self, method: str, path: str) -> Route | None:
        """The route of a request; those without placeholders at the place come first."""
        return self._found(method, path)

    def _find(self, method: str, path: str) -> Route | None:
        for depth in (path.count("/"), -1):
            matching = [r for r in self._index.get((method, depth), ()) if r.pattern.fullmatch(path)]
            if matching:
                return min(matching, key=lambda route: route.template.count("{"))
        return None

    def methods(self, path: str) -> list[str]:
        """The methods that a path has routes for."""
        return sorted({route.method for route in self.routes if route.pattern.fullmatch(path)})

    def error(self, status: int, message: str, code: str | None = None) -> Reply:
        """An answer that says what went wrong, as the vendor says it."""
        headers = {"WWW-Authenticate": self.challenge} if status == 401 else {}
        return Reply(orjson.dumps(self._error(status, message, code)), status, headers)

    def refusal(self, refusal: Refusal) -> Reply:
        """The answer to a request that the service declined."""
        return self.error(refusal.status, refusal.message, refusal.code)

    def openapi(self, base: str) -> Reply:
        """The description of the API (OpenAPI 3.1), from the routes' functions."""
        paths: dict[str, dict[str, Any]] = {}
        for route in self.routes:
            path = re.sub(r":\w+}", "}", route.template)
            paths.setdefault(path, {})[route.method.lower()] = route.described()
        document = {
            "openapi": "3.1.0",
            "info": {"title": f"Mesocosm {self.service}", "version": mesocosm.__version__},
            "servers": [{"url": base}],
            "paths": paths,
            "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
            "security": [{"token": []}],
        }
        return Reply(orjson.dumps(document))

    def _reply(self, result: Any, route: Route, request: Request | None) -> Reply:
        if isinstance(result, Reply):
            return result
        if result is None:
            return Reply(b"", 204)
        if isinstance(result, Page):
            assert request is not None, f"{route.template}: a function that returns pages takes the request"
            headers = self._page_headers(result, request)
            return Reply(orjson.dumps(list(result.items)), route.status, headers)
        return Reply(orjson.dumps(result), route.status)


# -- what several vendors share ---------------------------------------------------------------------------


def bearer(*schemes: str, parameter: str | None = None) -> Authenticate:
    """Tokens in the ``Authorization`` header under one of these schemes, or in a query parameter."""
    known = {scheme.lower() for scheme in schemes}

    def authenticate(request: Request, headers: Mapping[str, str], token: str) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() in known:
            return given.strip() == token
        return parameter is not None and dict(request.pairs).get(parameter) == token

    return authenticate


def basic_credentials(headers: Mapping[str, str]) -> tuple[str, str] | None:
    """User and password of HTTP Basic authentication."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, colon, password = binascii.a2b_base64(given.strip()).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (user, password) if colon else None


def link_header(
    page: Page, request: Request, relations: Sequence[str] = ("next", "prev", "first", "last")
) -> str:
    """The ``Link`` header (RFC 8288) of a page: absolute URLs that differ from the request's by ``page``."""
    last = max(1, -(-page.total // page.per_page))
    numbers = {
        "current": page.page,
        "next": page.page + 1 if page.page < last else None,
        "prev": min(page.page - 1, last) if page.page > 1 else None,
        "first": 1,
        "last": last,
    }
    others = [(name, value) for name, value in request.pairs if name not in ("page", "per_page")]
    address = f"{request.base}{request.path}?{urlencode([*others, ('page', '')])}"
    return ", ".join(
        f'<{address}{number}&per_page={page.per_page}>; rel="{relation}"'
        for relation in relations
        if (number := numbers[relation])
    )


def nested(pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Forms with brackets as data: ``a[b]=1``, ``c[]=2`` and ``d[0][e]=3``; of a plain name, the last."""
    result: dict[str, Any] = {}
    for name, value in pairs:
        keys = [name.partition("[")[0], *re.findall(r"\[([^\[\]]*)\]", name)] if "[" in name else [name]
        _put(result, keys, value, name)
    return result


def _put(target: dict[str, Any], keys: list[str], value: str, name: str) -> None:
    key, *rest = keys
    if not rest:
        target[key] = value
    elif rest[0] == "" or rest[0].isdigit():
        items = target.setdefault(key, [])
        if not isinstance(items, list):
            raise Invalid(f"The parameter {name!r} is given both as a list and as something else.")
        _put_item(items, rest, value, name)
    else:
        inner = target.setdefault(key, {})
        if not isinstance(inner, dict):
            raise Invalid(f"The parameter {name!r} is given both as an object and as something else.")
        _put(inner, rest, value, name)


def _put_item(items: list[Any], keys: list[str], value: str, name: str) -> None:
    """``keys[0]`` is empty, for a new item, or the number of an item."""
    at, *rest = keys
    if not rest:
        items.append(value)
        return
    begins = not items or not isinstance(items[-1], dict) or (at == "" and rest[0] in items[-1])
    if begins or (at != "" and int(at) >= len(items)):
        items.append({})
    target = items[int(at)] if at != "" and int(at) < len(items) else items[-1]
    if not isinstance(target, dict):
        raise Invalid(f"The parameter {name!r} is given both as an object and as something else.")
    _put(target, rest, value, name)


_BOOLEANS = {
    "true": True,
    "1": True,
    "on": True,
    "yes": True,
    "false": False,
    "0": False,
    "off": False,
    "no": False,
}


def coerced(value: Any, schema: Mapping[str, Any]) -> Any:
    """Text of a URL or a form as what the function takes; what does not fit stays and is refused there.

    Of an object only the known fields are taken, as of the parameters themselves; ``null`` is no text.
    """
    kind = schema.get("type")
    if kind == "object" and "properties" in schema and isinstance(value, dict):
        known = schema["properties"]
        return {name: coerced(item, known[name]) for name, item in value.items() if name in known}
    if kind == "array":
        items = value if isinstance(value, list) else value.split(",") if isinstance(value, str) else value
        if not isinstance(items, list):
            return value
        return [coerced(item, schema.get("items", {})) for item in items]
    if not isinstance(value, str):
        return "" if value is None and kind == "string" else value
    if kind in ("integer", "number"):
        try:
            return int(value)
        except ValueError:
            pass
        try:
            return float(value) if kind == "number" else value
        except ValueError:
            return value
    if kind == "boolean":
        return _BOOLEANS.get(value.lower(), value)
    if "anyOf" in schema:
        for option in schema["anyOf"]:
            if (converted := coerced(value, option)) is not value:
                return converted
    return value
