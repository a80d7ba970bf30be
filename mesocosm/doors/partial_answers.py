"""Google's partial answers: ``fields=items(id,summary),nextPageToken``."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from mesocosm.doors.request import Request
from mesocosm.doors.rest import Api, Route
from mesocosm.errors import Invalid, Refusal
from mesocosm.services.schema import Json
from mesocosm.services.service import Reply

Tree = dict[str, Any]


FILE = "answer_fields.json"
"""Beside an API: what fields its answers have (``benchmarks/answer_fields.py`` writes it)."""
SCALAR, ANY = 0, 1
"""Markers: a value without fields, and one with any fields."""


class PartialApi(Api):
    """An API whose answers may be asked for in part: ``fields=sheets(properties.title)``.

    Args:
        answers: The file that says what fields they have.
    """

    def __init__(self, *args: Any, answers: Path, **options: Any) -> None:
        super().__init__(*args, **options)
        self._answers = answers

    def _reply(self, result: Any, route: Route, request: Request) -> Reply:
        mask = request.asked.get("fields")
        if isinstance(mask, str) and mask.strip():
            called = f"{route.method} {place_of(route.template)}"
            if wrong := unknown_field(mask, called, _known_answers(self._answers)):
                raise _no_field(wrong, route.template)
            if isinstance(result, dict):
                result = masked(result, mask)
        return super()._reply(result, route, request)


def _no_field(path: str, template: str) -> Refusal:
    """The refusal of a field that answers do not have, as the elder and the younger APIs say it."""
    if template.startswith(("/v2/", "/v4/")):
        said = "Error expanding 'fields' parameter. Cannot find matching fields for path"
        return Invalid(f"{said} '{path.replace('/', '.')}'.")
    return Invalid(f"Invalid field selection {path}", code="invalidParameter")


def place_of(path: str) -> str:
    """Return a path with anonymous placeholders; uploads count as what they create."""
    alike = re.sub(r"\{[^}]*\}", "{}", path).removeprefix("/upload")
    return alike.replace("/:", ":").rstrip("/")


def unknown_field(mask: str, called: str, answers: Json) -> str | None:
    """The first name of a mask, with those that it is in, that answers of this method do not have."""
    kind = answers["methods"].get(called)
    return None if kind is None else _unknown(_tree(mask), kind, answers["types"], ())


def _unknown(tree: Tree, kind: Any, types: Json, above: tuple[str, ...]) -> str | None:
    if not tree or kind == ANY:
        return None
    fields = types[kind] if isinstance(kind, str) else kind
    for name, inner in tree.items():
        here = (*above, name)
        if fields == SCALAR:
            return "/".join(here)
        if name == "*":
            found = next(filter(None, (_unknown(inner, one, types, here) for one in fields.values())), None)
        elif name in fields or "*" in fields:
            found = _unknown(inner, fields.get(name, fields.get("*")), types, here)
        else:
            found = "/".join(here)
        if found:
            return found
    return None


@cache
def _known_answers(path: Path) -> Json:
    read: Json = orjson.loads(path.read_bytes())
    return read


def masked(value: Json, mask: str) -> Json:
    """The part of an answer that a mask names. ``Invalid`` where the mask cannot be read."""
    found: Json = _part(value, _tree(mask))
    return found


def _tree(mask: str) -> Tree:
    """A mask as nested names: ``a/b,c(d,e)`` is {a: {b: {}}, c: {d: {}, e: {}}}."""
    root: Tree = {}
    stack: list[Tree] = [root]
    at, name = root, ""
    for character in mask.replace(" ", "") + ",":
        if character in ",)(/.":
            if name:
                at = at.setdefault(name, {})
            if character == "(":
                stack.append(at)
            elif character in ",)":
                if character == ")":
                    if len(stack) == 1:
                        raise Invalid(f"Invalid field selection {mask[:60]}", code="invalidParameter")
                    stack.pop()
                at = stack[-1]
            name = ""
        else:
            name += character
    if len(stack) > 1:
        raise Invalid(f"Invalid field selection {mask[:60]}", code="invalidParameter")
    return root


def _part(value: Any, tree: Tree) -> Any:
    if not tree or "*" in tree:
        inner = tree.get("*", {}) if tree else {}
        if not inner:
            return value
        return {name: _part(one, inner) for name, one in value.items()} if isinstance(value, dict) else value
    if isinstance(value, list):
        return [_part(one, tree) for one in value]
    if isinstance(value, dict):
        return {name: _part(one, tree[name]) for name, one in value.items() if name in tree}
    return value
