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

# Vendors' clients check what they get, so routes follow the vendors' documents, not ours (decision 023).

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import unquote, urlencode

import orjson
from starlette.routing import compile_path

import mesocosm
from mesocosm.doors.request import Request
from mesocosm.errors import Invalid, Refusal, Temporary, WrongArgument
from mesocosm.services.schema import Signature, description_of, resolved, signature_of, wants_request
from mesocosm.services.service import Operation, Page, Reply

F = TypeVar("F", bound=Callable[..., Any])


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
    raw: bool = False
    """True if the function reads the body itself: arguments come from path and query only."""

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
        """Convert arguments for the function; ``Invalid`` names the wrong one."""
        found = self.pattern.fullmatch(arguments["path"])
        assert found, f"{arguments['path']} is not of the form {self.template}"
        params = {name: unquote(value) for name, value in found.groupdict().items()}
        request = Request.of(self.method, arguments, params)
        if self.raw:
            request.__dict__["json"] = None  # so that nobody looks what of the body was left over
        bound: dict[str, Any] = {"request": request}
        properties = self.signature.schema["properties"]
        if properties:
            values = request.asked if self.raw else request.values
            bound |= self.signature.bind(
                {
                    name: coerced(params[name] if name in params else values[name], schema)
                    for name, schema in properties.items()
                    if name in params or name in values
                },
                lenient=True,
            )
        return bound


Authenticate = Callable[[Request, Mapping[str, str], str], bool]
"""Check that a request with these headers carries the episode's token."""


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
        conventions: Parameters of queries that every route takes and that change nothing here.
        read_only: Fields of bodies that only the product writes: clients send them back as they were read.
            Any other parameter or field that a route takes no notice of is refused.
        unknown_method: The status where a path has routes, but none of the method.
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
        conventions: Collection[str] = (),
        read_only: Collection[str] = (),
        unknown_method: int = 405,
    ) -> None:
        self.service = service
        self.prefix = prefix
        self.authenticate = authenticate
        self.challenge = challenge
        self.credentials = tuple(credentials)
        self.headers = dict(headers or {})
        self.described = described
        self.unknown_method = unknown_method
        self._conventions = frozenset(conventions)
        self.read_only = frozenset({"_method", *read_only})
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
        raw: bool = False,
    ) -> Callable[[F], F]:
        """Register a function for a method and a path below the prefix.

        Args:
            method: The HTTP method.
            path: As in ``/courses/{id}``; ``{path:path}`` stands for any number of segments.
            status: That of an answer that is no refusal.
            writes: Whether it may change the world; by default, unless it answers GET.
            raw: The body is bytes of whatever type, which the function reads from the request.
        """

        def register(function: F) -> F:
            template = self.prefix + path
            name = f"{method} {template}"
            if name in self.operations:
                raise TypeError(f"{self.service}: {name} is defined twice")
            operation = Operation(
                name=name,
                function=lambda store, **bound: self._answer(store, route, bound),
                writes=method != "GET" if writes is None else writes,
                bound_by=lambda arguments: route.bind(arguments),
            )
            pattern, _, _ = compile_path(template)
            route = Route(
                method,
                template,
                pattern,
                signature_of(function),
                wants_request(function),
                status,
                operation,
                resolved(function),
                raw,
            )
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
        """Make an error answer in the vendor's form."""
        headers = {"WWW-Authenticate": self.challenge} if status == 401 else {}
        return Reply(orjson.dumps(self._error(status, message, code)), status, headers)

    def refusal(self, refusal: Refusal) -> Reply:
        """The answer to a request that the service declined."""
        if isinstance(refusal, Temporary):
            said = self.error(refusal.http_status, refusal.message, refusal.code)
            return replace(said, headers={**said.headers, **refusal.headers})
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

    def _answer(self, store: Any, route: Route, bound: dict[str, Any]) -> Reply:
        request: Request = bound["request"]
        if not route.wants_request:
            del bound["request"]
        result = route.function(store, **bound)
        reply = self._reply(result, route, request)
        # Last, because what a function takes of a request shows when it has run; a refusal undoes all of it.
        for name in request.left_over(_shown(result), self._conventions, self.read_only):
            raise self.unknown(name)
        return reply

    def nothing(self, method: str, path: str) -> str:
        """Return the error for an unknown path."""
        return "There is nothing at this path."

    def unknown(self, name: str) -> Refusal:
        """The refusal of a parameter or a field that would be dropped."""
        return WrongArgument(name, "is not supported here, so nothing was done.")

    def _reply(self, result: Any, route: Route, request: Request) -> Reply:
        if isinstance(result, Reply):
            return result
        if result is None:
            return Reply(b"", 204)
        if isinstance(result, Page):
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


def _shown(result: Any) -> Any:
    """Convert an answer to plain data."""
    if not isinstance(result, Reply):
        return result
    try:
        return orjson.loads(result.body)
    except orjson.JSONDecodeError:
        return None


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
    """Convert a text of a URL or form for the function; unsuitable values pass and are refused there.

    Of an object only the known fields are taken, as of the parameters themselves; ``null`` is no text.
    """
    kind = schema.get("type")
    if kind == "object" and "properties" in schema and isinstance(value, dict):
        known = schema["properties"]
        return {name: coerced(value[name], field) for name, field in known.items() if name in value}
    if kind == "array":
        items = value if isinstance(value, list) else value.split(",") if isinstance(value, str) else value
        if not isinstance(items, list):
            return value
        return [coerced(item, schema.get("items", {})) for item in items]
    if not isinstance(value, str):
        return "" if value is None and kind == "string" else value
    if kind == "object" and "properties" in schema:
        # Tools take the JSON of an object; here fields that are not known would come in with it.
        raise Invalid(f"An object was expected, not the text {value[:60]!r}.")
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
        texts = any(option.get("type") == "string" for option in schema["anyOf"])
        for option in schema["anyOf"]:
            if texts and option.get("type") == "object":
                continue
            if (converted := coerced(value, option)) is not value:
                return converted
    return value
