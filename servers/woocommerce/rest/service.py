"""The API that the routes of every topic register with, and how it speaks of errors and pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from mesocosm.rest import Api, Request, coerced, link_header
from mesocosm.servers.woocommerce.rest.signing import CREDENTIALS, authenticate
from mesocosm.servers.woocommerce.tools.service import server
from mesocosm.service import Page

_CODES = {
    400: "rest_invalid_param",
    401: "woocommerce_rest_authentication_error",
    403: "woocommerce_rest_cannot_view",
    404: "rest_no_route",
    405: "rest_no_route",
    409: "woocommerce_rest_conflict",
    413: "woocommerce_rest_request_entity_too_large",
    500: "internal_server_error",
}
_TEXTS = {
    "rest_no_route": "No route was found matching the URL and request method.",
    "woocommerce_rest_authentication_error": "Consumer key or signature is invalid.",
}
_PARAMETER = re.compile(r"(?:Invalid parameter\(s\): |(?:A|required a)rgument ')([\w.\[\]]+)")


def _error(status: int, message: str, code: str | None) -> dict[str, Any]:
    known = code or _CODES.get(status, "rest_error")
    text = message.removeprefix(f"{code}: ") if code else _TEXTS.get(known, message)
    data: dict[str, Any] = {"status": 404 if status == 405 else status}
    if known == "rest_invalid_param" and (found := _PARAMETER.search(message)):
        data["params"] = {found[1]: text}
    return {"code": known, "message": text, "data": data}


def _page_headers(page: Page, request: Request) -> dict[str, str]:
    last = -(-page.total // page.per_page)
    headers = {"X-WP-Total": str(page.total), "X-WP-TotalPages": str(last)}
    link = link_header(page, request, ("prev", "next"))
    return headers | ({"Link": link} if link else {})


api = Api(
    "woocommerce",
    "/wp-json/wc/v3",
    authenticate=authenticate,
    credentials=CREDENTIALS,
    error=_error,
    page_headers=_page_headers,
    challenge='Basic realm="WooCommerce API"',
)

_RENAMED = {"fields": "_fields", "dateAfter": "after", "dateBefore": "before"}
"""Parameters of tools whose names in the REST API do not follow from them."""


def _rest_name(parameter: str) -> str:
    return _RENAMED.get(parameter) or re.sub("([A-Z])", lambda found: "_" + found[1].lower(), parameter)


def arguments(request: Request, schema: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """What a request says of some parameters, by the names that the function knows them by.

    Args:
        request: The request.
        schema: JSON schema of the function's arguments.
        names: The name in the REST API of each parameter.
    """
    given = request.values | dict(request.params)
    return {
        # What comes as JSON has its types, and objects keep fields that the schema does not name.
        parameter: given[name]
        if name in request.data
        else coerced(given[name], schema["properties"][parameter])
        for parameter, name in names.items()
        if name in given and given[name] is not None
    }


def tool_route(method: str, path: str, tool: Callable[..., Any], **options: Any) -> None:
    """Answer a method and a path with a tool: it takes the same, under the names of the REST API.

    A parameter of the tool that is named like the object (``productData``) is the body.
    """
    signature = server.tools[tool.__name__].signature
    properties = signature.schema["properties"]
    body = next((name for name in properties if name.endswith("Data")), None)
    names = {name: _rest_name(name) for name in properties if name != body}
    # A placeholder keeps the name that the tool has for it.
    names |= {name: name for name in properties if f"{{{name}}}" in path}

    def answer(store: Any, request: Request) -> Any:
        given = arguments(request, signature.schema, names)
        if body:
            data = {name: value for name, value in request.values.items() if name != "id"}
            given[body] = data
        return tool(store, **signature.bind(given))

    api.route(method, path, status=options.get("status", 200))(answer)
