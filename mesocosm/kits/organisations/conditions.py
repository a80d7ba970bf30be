"""Conditions and paths in scenes: a small part of Python's expressions, over the roles of a story."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_ALLOWED = (
    ast.Expression,
    ast.BoolOp,
    ast.And,
    ast.Or,
    ast.UnaryOp,
    ast.Not,
    ast.Compare,
    ast.Eq,
    ast.NotEq,
    ast.Is,
    ast.IsNot,
    ast.Name,
    ast.Load,
    ast.Attribute,
    ast.Constant,
)


class ConditionError(ValueError):
    """An expression of a scene cannot be read, or has no value."""


@dataclass(frozen=True)
class Condition:
    """An expression that was read once and is evaluated for many stories."""

    text: str
    names: frozenset[str]
    """Roles that it speaks of."""
    _value: Callable[[Mapping[str, Any]], Any]

    def value(self, roles: Mapping[str, Any]) -> Any:
        """Return the value of the expression; an attribute of a missing event is None."""
        return self._value(roles)


@lru_cache(maxsize=4096)
def condition(text: str) -> Condition:
    """Read an expression; raises ``ConditionError`` for anything but names, attributes and comparisons."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        raise ConditionError(f"{text!r} is no condition; write such as `f and not f.adopts`") from None
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            raise ConditionError(f"{text!r}: {ast.unparse(node)!r} is not allowed in a condition")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise ConditionError(f"{text!r}: no attribute {node.attr!r}")
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return Condition(text, names, _compiled(tree.body, text))


def _compiled(node: ast.expr, text: str) -> Callable[[Mapping[str, Any]], Any]:
    match node:
        case ast.Constant(value=value):
            return lambda roles: value
        case ast.Name(id=name):
            return lambda roles: _role(roles, name, text)
        case ast.Attribute(value=inner, attr=name):
            of = _compiled(inner, text)
            return lambda roles: _attribute(of(roles), name, text)
        case ast.UnaryOp(operand=inner):
            of = _compiled(inner, text)
            return lambda roles: not of(roles)
        case ast.BoolOp(op=ast.And(), values=values):
            parts = [_compiled(one, text) for one in values]
            return lambda roles: all(part(roles) for part in parts)
        case ast.BoolOp(values=values):
            parts = [_compiled(one, text) for one in values]
            return lambda roles: any(part(roles) for part in parts)
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            one, other = _compiled(left, text), _compiled(right, text)
            equal = isinstance(operator, (ast.Eq, ast.Is))
            return lambda roles: (one(roles) == other(roles)) is equal
    raise ConditionError(f"{text!r} is too complicated for a condition")


def _role(roles: Mapping[str, Any], name: str, text: str) -> Any:
    if name not in roles:
        raise ConditionError(f"{text!r}: there is no role {name!r} here")
    return roles[name]


def _attribute(of: Any, name: str, text: str) -> Any:
    if of is None:
        return None
    try:
        return getattr(of, name)
    except AttributeError:
        raise ConditionError(f"{text!r}: no attribute {name!r} of {type(of).__name__.lower()}") from None
