"""The API that the routes of every topic register with, and how it speaks of errors and pages."""

from __future__ import annotations

import base64
import hmac
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from functools import partial, wraps
from keyword import iskeyword
from typing import Any, TypedDict, TypeVar
from urllib.parse import quote, unquote, urlencode

import orjson

from mesocosm.doors.request import Request
from mesocosm.doors.rest import Api, Route, basic_credentials, coerced, link_header
from mesocosm.errors import Invalid, MissingArgument, Refusal, WrongArgument
from mesocosm.servers.woocommerce.store import (
    WooCommerceStore,
    coupons,
    customers,
    drafts,
    invalid_parameter,
    product_data,
)
from mesocosm.servers.woocommerce.tools.service import server
from mesocosm.servers.woocommerce.tools.shapes import batch_results
from mesocosm.servers.woocommerce.values import NOT_KEPT
from mesocosm.services.schema import Signature
from mesocosm.services.service import Page, Reply

# API keys: the ways in which WooCommerce lets a client present them.
#
# The consumer key and the consumer secret are both the episode's id. Over HTTP the client signs each request
# with them (OAuth 1.0a, one-legged); over HTTPS it may send them as they are.

CREDENTIALS = ("oauth_", "consumer_key", "consumer_secret")
"""Beginnings of the query parameters that carry keys and signatures."""
_DIGESTS = {"HMAC-SHA1": "sha1", "HMAC-SHA256": "sha256"}


def authenticate(request: Request, headers: Mapping[str, str], token: str) -> bool:
    """True if a request carries the episode's key."""
    # Of a parameter that comes twice the last counts, as PHP has it.
    query = dict(request.pairs)
    if "oauth_signature" in query:
        return _is_signed(request, query, token)
    given = basic_credentials(headers) or (query.get("consumer_key"), query.get("consumer_secret"))
    return given == (token, token)


def _is_signed(request: Request, query: Mapping[str, str], token: str) -> bool:
    digest = _DIGESTS.get(query.get("oauth_signature_method", ""))
    if digest is None or query.get("oauth_consumer_key") != token:
        return False
    parameters = [(name, value) for name, value in query.items() if name != "oauth_signature"]
    url = request.url.partition("?")[0]
    # Clients differ in whether they escape the slashes of a value.
    return any(
        hmac.compare_digest(
            _signature(
                f"{token}&", f"{request.method}&{quote(url, '')}&{_normalised(parameters, safe)}", digest
            ),
            query["oauth_signature"],
        )
        for safe in ("", "/")
    )


def _normalised(parameters: Iterable[tuple[str, str]], safe: str) -> str:
    def escaped(text: str) -> str:
        return quote(unquote(text), safe=safe).replace("%", "%25")

    ordered = sorted(parameters, key=lambda pair: pair[0].partition("[")[0])
    return "%26".join(f"{escaped(name)}%3D{escaped(value)}" for name, value in ordered)


def _signature(secret: str, text: str, digest: str) -> str:
    return base64.b64encode(hmac.new(secret.encode(), text.encode(), digest).digest()).decode()


F = TypeVar("F", bound=Callable[..., Any])

_CODES = {
    400: "rest_invalid_param",
    401: "woocommerce_rest_authentication_error",
    403: "woocommerce_rest_cannot_view",
    404: "rest_no_route",
    409: "woocommerce_rest_conflict",
    413: "woocommerce_rest_request_entity_too_large",
    500: "internal_server_error",
}
_TEXTS = {
    "rest_no_route": "No route was found matching the URL and request method.",
    "woocommerce_rest_authentication_error": "Consumer key or signature is invalid.",
}
_UPDATING = ("PUT", "POST", "PATCH")
"""The methods that change an object: they mean the same."""
_WORDS = (
    *("gatewayId", "groupId", "toolId", "slug"),
    *("settingId", "methodId", "location", "currency", "path"),
)
"""Placeholders of paths that are no numbers."""
MAX_OFFSET = 2**31 - 2
_CONVENTIONS = (
    "context",
    "_fields",
    "_locale",
    "_envelope",
    "_jsonp",
    "_embed",
    "consumer_key",
    "consumer_secret",
    "dates_are_gmt",  # the shop's time zone is UTC
)
_NOT_SERVED = frozenset(
    [
        *("brand", "exclude_category", "exclude_status", "exclude_types", "include_status", "include_types"),
        *("search_fields", "search_name_or_sku", "search_sku", "global_unique_id", "password"),
        *("include_meta", "exclude_meta", "order_item_display_meta", "currency", "author", "author_exclude"),
        *(
            "reviewer",
            "reviewer_email",
            "reviewer_exclude",
            "product_exclude",
            "period",
            "date_min",
            "date_max",
        ),
    ]
)
"""Documented parameters of lists that would change the answer: refused by name where a route lacks them. What
else a route does not register is passed over, as by WordPress."""
_AMOUNTS = re.compile(r"total|subtotal|amount|discount|price|.*_(?:total|tax)")

_READ_ONLY = (
    coupons.COUPONS.read_only | customers.CUSTOMERS.read_only | drafts.READ_ONLY | product_data.READ_ONLY
)
_READ_ONLY -= NOT_KEPT | {"date_created", "date_created_gmt"}  # the vendor takes those of a merchant


def _error(status: int, message: str, code: str | None) -> dict[str, Any]:
    known = code or _CODES.get(status, "rest_error")
    text = message.removeprefix(f"{code}: ") if code else _TEXTS.get(known, message)
    return {"code": known, "message": text, "data": {"status": status}}


def _at_fault(refusal: Invalid, name: str) -> dict[str, Any]:
    """The error of a parameter that is missing or wrong."""
    params: Any
    if isinstance(refusal, MissingArgument):
        code, text, params = "rest_missing_callback_param", f"Missing parameter(s): {name}", name.split(", ")
    else:
        why = f"{name} {refusal.detail}" if isinstance(refusal, WrongArgument) else refusal.detail
        code, text, params = "rest_invalid_param", f"Invalid parameter(s): {name}. {why}", {name: why}
    return {"code": code, "message": text, "data": {"status": refusal.status, "params": params}}


def _page_headers(page: Page, request: Request) -> dict[str, str]:
    last = -(-page.total // page.per_page)
    headers = {"X-WP-Total": str(page.total), "X-WP-TotalPages": str(last)}
    if "offset" in request.values:
        # It overrides the page, so that a link to the next one would lead to the same rows.
        return headers
    # The SDK sends what it is given as params twice.
    once = list({pair if "[" in pair[0] else pair[0]: pair for pair in request.pairs}.values())
    link = link_header(page, replace(request, query=urlencode(once)), ("prev", "next"))
    return headers | ({"Link": link} if link else {})


NAMESPACE = "wc/v3"
"""Path prefix of this API, below that of WordPress."""


class _WooCommerceApi(Api):
    """The API with what holds for all routes of the vendor's."""

    def refusal(self, refusal: Refusal) -> Reply:
        """The answer to a request that was declined; it says which parameters are at fault."""
        if isinstance(refusal, Invalid) and refusal.parameter is not None:
            return Reply(orjson.dumps(_at_fault(refusal, refusal.parameter)), refusal.status)
        return super().refusal(refusal)

    def _reply(self, result: Any, route: Route, request: Request) -> Reply:
        if request.method == "GET":
            for name in request.asked.names() - _NOT_SERVED:
                request.asked.get(name)
        if (digits := request.asked.get("dp")) is not None and "/orders" in request.path:
            if not str(digits).isdecimal() or int(digits) > MAX_DIGITS:
                raise invalid_parameter("dp", f"dp must be a whole number from 0 to {MAX_DIGITS}.")
            if isinstance(result, Page):
                result = replace(result, items=_with_digits(list(result.items), int(digits)))
            else:
                result = _with_digits(result, int(digits))
        return super()._reply(result, route, request)

    def route(self, method: str, path: str, **options: Any) -> Callable[[F], F]:
        """Register a function that answers a method; one that answers PUT also answers POST and PATCH."""
        registered = [
            super(_WooCommerceApi, self).route(each, f"/{NAMESPACE}{path}", **options)
            for each in (_UPDATING if method == "PUT" else (method,))
        ]

        def register(function: F) -> F:
            for each in registered:
                each(_with_offsets(function))
            return function

        return register

    def match(self, method: str, path: str) -> Route | None:
        """The route of a request: to the vendor an id that is no number leads nowhere."""
        route = super().match(method, path)
        found = route.pattern.fullmatch(path) if route else None
        ids = [value for name, value in found.groupdict().items() if name not in _WORDS] if found else []
        return route if all(value.isascii() and value.isdecimal() for value in ids) else None


MAX_DIGITS = 8


def _with_digits(shown: Any, digits: int) -> Any:
    """Round each amount to this many decimals."""
    if isinstance(shown, list):
        return [_with_digits(one, digits) for one in shown]
    if not isinstance(shown, dict):
        return shown
    found = {}
    for name, value in shown.items():
        if isinstance(value, str) and _AMOUNTS.fullmatch(name) and re.fullmatch(r"-?\d+\.\d+", value):
            found[name] = format(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP), "f")
        else:
            found[name] = _with_digits(value, digits)
    return found


def _with_offsets(function: Callable[..., Any]) -> Callable[..., Any]:
    """A route's function, with offsets where it gives pages."""
    is_paged = "per_page" in inspect.signature(function).parameters

    @wraps(function)
    def answer(store: Any, **bound: Any) -> Any:
        if is_paged and (offset := _offset(bound["request"])) is not None:
            return _from_offset(offset, lambda page: function(store, **bound | {"page": page}))
        return function(store, **bound)

    return answer


def _offset(request: Request) -> int | None:
    given = request.values.get("offset")
    if given in (None, ""):
        return None
    offset = coerced(given, {"type": "integer"})
    if not isinstance(offset, int) or not 0 <= offset <= MAX_OFFSET:
        raise invalid_parameter("offset", f"offset must be a whole number from 0 to {MAX_OFFSET}.")
    return offset


def _from_offset(offset: int, read: Callable[[int], Page]) -> Page:
    """As many items as a page has, from any place: they lie on one page or on two in a row."""
    first = read(1)
    number, skipped = divmod(offset, first.per_page)
    items = list((read(number + 1) if number else first).items)
    if skipped:
        items = [*items, *read(number + 2).items][skipped : skipped + first.per_page]
    return replace(first, items=items)


api = _WooCommerceApi(
    "woocommerce",
    "/wp-json",
    authenticate=authenticate,
    credentials=CREDENTIALS,
    error=_error,
    page_headers=_page_headers,
    challenge='Basic realm="WooCommerce API"',
    conventions=_CONVENTIONS,
    read_only=_READ_ONLY,
    unknown_method=404,
)

_RENAMED = {"fields": "_fields", "dateAfter": "after", "dateBefore": "before", "taxClass": "class"}
"""Parameters of tools whose names in the REST API do not follow from them."""
_BODY = "body"


class ListFilters(TypedDict, total=False):
    """Filters for lists of products and orders."""

    search: str
    after: str
    before: str
    modified_after: str
    modified_before: str
    include: list[int]
    exclude: list[int]


def _rest_name(parameter: str) -> str:
    return _RENAMED.get(parameter) or re.sub("([A-Z])", lambda found: "_" + found[1].lower(), parameter)


def _renamed(signature: Signature, names: Mapping[str, str], in_path: set[str]) -> Signature:
    """A tool's signature under the names of the REST API, so that what it refuses is called by them.

    What a body and a path hold is for the store to judge: it knows the vendor's words for it.
    """
    schema = signature.schema
    properties = {names[name]: known for name, known in schema["properties"].items()}
    for name in in_path:
        properties[names[name]] = {"type": properties[names[name]].get("type", "string")}
    if _BODY in properties:
        properties[_BODY] = {"type": "object"}
    return Signature(
        {**schema, "properties": properties, "required": [names[name] for name in schema["required"]]},
        frozenset(names[name] for name in signature.integers),
        frozenset(names[name] for name in signature.integer_lists),
    )


Verbs = tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]
"""Functions that create, update and delete a thing."""


def batch_route(path: str, shape: Callable[[Any], Any], verbs: Callable[[WooCommerceStore], Verbs]) -> None:
    """Answer a path's ``/batch`` with what creates, updates and deletes one thing."""

    def batch(
        store: WooCommerceStore,
        create: list[dict[str, Any]] | None = None,
        update: list[dict[str, Any]] | None = None,
        delete: list[int] | None = None,
    ) -> Any:
        made, changed, deleted = verbs(store)
        results = store.batches.batch((create, update, delete), made, changed, partial(deleted, force=True))
        return batch_results(results, shape)

    api.post(f"{path}/batch")(batch)


def _typed(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value out of a URL or a body with the type that is wanted; objects keep all their fields."""
    kind = schema.get("type")
    is_plain = kind != "object" and (kind != "array" or schema.get("items", {}).get("type") != "object")
    return coerced(value, schema) if is_plain else value


def _in_python(name: str) -> str:
    return f"{name}_" if iskeyword(name) else name


def tool_route(method: str, path: str, tool: Callable[..., Any], **options: Any) -> None:
    """Answer a method and a path with a tool: it takes the same, under the names of the REST API.

    A parameter of the tool that is named like the object (``productData``) is the body.
    """
    known = server.tools[tool.__name__].signature
    names = {name: _rest_name(name) for name in known.schema["properties"]}
    names |= {name: _BODY for name in names if name.endswith("Data")}
    in_path = {name for name in names if f"{{{name}}}" in path}
    signature = _renamed(known, names, in_path)
    properties = signature.schema["properties"]
    python = {_in_python(rest): _in_python(name) for name, rest in names.items()}

    def answer(store: Any, request: Request) -> Any:
        in_url = {names[name]: request.params[name] for name in in_path}
        said = {name: in_url.get(name, request.values.get(name)) for name in properties if name != _BODY}
        given = {name: _typed(value, properties[name]) for name, value in said.items() if value is not None}
        if _BODY in properties:
            given[_BODY] = request.values

        def read(page: int | None) -> Any:
            bound = signature.bind(given | ({"page": page} if page else {}), lenient=True)
            return tool(store, **{python[name]: value for name, value in bound.items()})

        offset = _offset(request) if "per_page" in properties else None
        return read(None) if offset is None else _from_offset(offset, read)

    api.route(method, path, status=options.get("status", 200))(answer)
