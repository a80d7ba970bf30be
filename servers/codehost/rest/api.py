"""GitHub's conventions: authentication, errors, paging, and common headers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import orjson
from markdown_it import MarkdownIt

from mesocosm.doors.request import Request
from mesocosm.doors.rest import Api, Route, basic_credentials, bearer, link_header
from mesocosm.errors import Invalid, MissingArgument, NoObject, Refusal, UnreadableBody, WrongArgument
from mesocosm.services.service import Page, Reply
from mesocosm.worlds import deadlines

DOCUMENTATION = "https://docs.github.com/rest"
RATE = {"limit": 5000, "remaining": 5000, "reset": 4102444800, "used": 0, "resource": "core"}
"""Nobody is limited here; the client is told so as the product would tell it."""
_MEDIA_TYPE = "github.v3; format=json"
_FAILED = "Validation Failed: "

_PAGE = re.compile(
    r"/(?!api/)[^/]+/[^/]+/(?:raw/|releases/download/|(?:pull|commit|compare)/.*\.(?:diff|patch)$)"
)
_by_token = bearer("token", "Bearer")


class Answered(Refusal):
    """A refusal with an answer of its own, in place of the error body."""

    def __init__(self, message: str, reply: Reply) -> None:
        super().__init__(message)
        self.reply = reply


class _GitHub(Api):
    """An API whose refusals have the product's statuses."""

    def refusal(self, refusal: Refusal) -> Reply:
        if isinstance(refusal, Answered):
            return refusal.reply
        if isinstance(refusal, UnreadableBody):
            is_json = isinstance(refusal, NoObject)
            return self.error(400, "Body should be a JSON object" if is_json else "Problems parsing JSON")
        if type(refusal) in (Invalid, MissingArgument, WrongArgument):
            return self.error(422, refusal.message, refusal.code)
        return super().refusal(refusal)

    def _reply(self, result: Any, route: Route, request: Request) -> Reply:
        if (kind := _body_kind(request)) is not None:
            if isinstance(result, Page):
                result = replace(result, items=[_with_bodies(one, kind) for one in result.items])
            else:
                result = _with_bodies(result, kind)
        reply = super()._reply(result, route, request)
        if request.method != "GET" or reply.status != 200 or reply.media_type != "application/json":
            return reply
        tag = f'W/"{hashlib.sha256(reply.body).hexdigest()}"'
        headers = {**reply.headers, "ETag": tag, "Cache-Control": "private, max-age=60, s-maxage=60"}
        wanted = request.headers.get("if-none-match", "")
        if tag in wanted or tag.removeprefix("W/") in wanted:
            return Reply(b"", 304, headers)
        return replace(reply, headers=headers)

    def answer(self, shape: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
        """Data with a status of its own."""
        return Reply(orjson.dumps(shape), status, headers or {})


_SECONDS_FOR_EACH = 2e-5
"""Time limit per character of Markdown, for the worst of texts."""
_BODIES = re.compile(r"application/vnd\.github(?:\.v3|\.VERSION)?\.(full|html|text)(?:-json|\+json)")


def _body_kind(request: Request) -> str | None:
    """Return the requested representation of bodies, besides or instead of Markdown."""
    found = _BODIES.search(request.headers.get("accept", ""))
    return found[1] if found else None


def _with_bodies(shown: Any, kind: str) -> Any:
    """An object whose ``body`` is shown as HTML, as text, or (``full``) in all three ways."""
    if not isinstance(shown, dict) or "body" not in shown:
        return shown
    text = shown["body"] or ""
    deadlines.expect(_SECONDS_FOR_EACH * len(text))
    found = {
        "html": {"body_html": _markdown().render(text)},
        "text": {"body_text": " ".join(re.sub(r"[*_`#>]+", "", text).split())},
    }
    if kind == "full":
        return shown | found["html"] | found["text"]
    return {name: value for name, value in shown.items() if name != "body"} | found[kind]


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _authenticate(request: Request, headers: Mapping[str, str], token: str) -> bool:
    """API clients send the token; git sends it as the password of any user, some tools as the user."""
    if request.method == "GET" and _PAGE.match(request.path):
        return True  # the address of a page has the episode's id in it, which is what a token would say
    basic = basic_credentials(headers)
    return token in basic if basic else _by_token(request, headers, token)


_TAKEN = re.compile(r"the (label|milestone|release's tag_name|asset's name)\b.* already_exists")
_UNIQUE = {
    name: {"resource": resource, "code": "already_exists", "field": field}
    for name, resource, field in (
        ("label", "Label", "name"),
        ("milestone", "Milestone", "title"),
        ("release's tag_name", "Release", "tag_name"),
        ("asset's name", "ReleaseAsset", "name"),
    )
}
"""Error that clients look for if a name is taken (``gh label create --force``)."""


def _error(status: int, message: str, code: str | None) -> dict[str, Any]:
    body: dict[str, Any] = {"message": message}
    if status == 401:
        body["message"] = "Bad credentials"
    elif status == 404 and not message.startswith("Branch"):
        body["message"] = "Not Found"
    elif message.startswith(_FAILED):
        detail = message.removeprefix(_FAILED)
        found = _TAKEN.search(detail)
        which: dict[str, str] = _UNIQUE[found[1]] if found else {"code": "custom"}
        body = {"message": _FAILED[:-2], "errors": [{**which, "message": detail}]}
    return body | {"documentation_url": DOCUMENTATION, "status": str(status)}


def page_headers(page: Page, request: Request) -> Mapping[str, str]:
    """The product names only pages other than this one."""
    relations = ["prev"] if page.page > 1 else []
    relations += ["next", "last"] if page.next_page else []
    relations += ["first"] if page.page > 1 else []
    return {"Link": link_header(page, request, relations)} if relations else {}


api = _GitHub(
    "codehost",
    authenticate=_authenticate,
    error=_error,
    page_headers=page_headers,
    challenge='Basic realm="GitHub"',
    conventions=("page", "per_page"),
    read_only=("type", "owner", "repo"),
    unknown_method=404,
    headers={
        "X-GitHub-Media-Type": _MEDIA_TYPE,
        "X-RateLimit-Limit": str(RATE["limit"]),
        "X-RateLimit-Remaining": str(RATE["remaining"]),
        "X-RateLimit-Reset": str(RATE["reset"]),
        "X-RateLimit-Used": str(RATE["used"]),
        "X-RateLimit-Resource": str(RATE["resource"]),
        "X-OAuth-Scopes": "repo, user, read:org",
    },
)
