"""Google's partial answers: ``fields=items(id,summary),nextPageToken``."""

from __future__ import annotations

from typing import Any

from mesocosm.doors.request import Request
from mesocosm.doors.rest import Api, Route
from mesocosm.errors import Invalid
from mesocosm.services.service import Reply

Json = dict[str, Any]
Tree = dict[str, Any]


class PartialApi(Api):
    """An API whose answers may be asked for in part: ``fields=sheets(properties.title)``."""

    def _reply(self, result: Any, route: Route, request: Request) -> Reply:
        mask = request.asked.get("fields")
        if isinstance(result, dict) and isinstance(mask, str) and mask.strip():
            result = masked(result, mask)
        return super()._reply(result, route, request)


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
