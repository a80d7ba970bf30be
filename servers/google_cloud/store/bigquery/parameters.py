"""Parameters of queries: ``@name`` and ``?``, for which values are put in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.store.part import suggestion

_TYPES = {
    "INT64": "BIGINT",
    "INTEGER": "BIGINT",
    "FLOAT64": "DOUBLE",
    "FLOAT": "DOUBLE",
    "BOOL": "BOOLEAN",
    "BOOLEAN": "BOOLEAN",
    "STRING": "TEXT",
    "NUMERIC": "DECIMAL(38, 9)",
    "BIGNUMERIC": "DECIMAL(38, 18)",
    "DATE": "DATE",
    "TIME": "TIME",
    "DATETIME": "TIMESTAMP",
    "TIMESTAMP": "TIMESTAMPTZ",
    "JSON": "JSON",
}
_OF_TYPES = {"type", "arrayType", "structTypes"}
_OF_VALUES = {"value", "arrayValues", "structValues"}


def put_in(tree: exp.Expr, parameters: Mapping[str, Any] | Sequence[Any]) -> exp.Expr:
    """The statement with values in place of its parameters; ``Invalid`` for one without a value."""
    named = (
        {name.lower(): value for name, value in parameters.items()} if isinstance(parameters, Mapping) else {}
    )
    waiting = list(parameters) if not isinstance(parameters, Mapping) else []
    for node in list(tree.find_all(exp.Parameter, exp.Placeholder)):
        if isinstance(node, exp.Placeholder):
            if not waiting:
                raise Invalid(
                    "Query parameter number is out of range: no value for '?'.", code="invalidQuery"
                )
            value = waiting.pop(0)
        else:
            if isinstance(node.this, exp.Parameter):
                raise Invalid(f"Unrecognized name: @@{node.this.name}", code="invalidQuery")
            name = node.name.lower()
            if name not in named:
                raise Invalid(
                    f"Query parameter '{node.name}' not found{suggestion(name, named)}", code="invalidQuery"
                )
            value = named[name]
        made: exp.Expr = value.copy()
        if node is tree:
            return made
        node.replace(made)
    return tree


def value_of(kind: Mapping[str, Any], value: Mapping[str, Any]) -> exp.Expr:
    """A parameter as the API has it (its type and its value) as an expression."""
    for name in [*(kind.keys() - _OF_TYPES), *(value.keys() - _OF_VALUES)]:
        raise Invalid(
            f"Invalid JSON payload received. Unknown name \"{name[:100]}\" at 'query_parameters':"
            " Cannot find field.",
            code="invalid",
        )
    name = str(kind.get("type", "STRING")).upper()
    if name == "ARRAY":
        inner = kind.get("arrayType") or {}
        items = [value_of(inner, one) for one in value.get("arrayValues") or ()]
        made = exp.Array(expressions=items)
        of = str(inner.get("type", "STRING")).upper()
        return exp.cast(made, f"{_TYPES[of]}[]", dialect="duckdb") if of in _TYPES else made
    if name == "STRUCT":
        given = value.get("structValues") or {}
        parts = [
            exp.PropertyEQ(
                this=exp.to_identifier(one["name"]),
                expression=value_of(one["type"], given.get(one["name"]) or {}),
            )
            for one in kind.get("structTypes") or ()
        ]
        return exp.Struct(expressions=parts)
    if name == "BYTES":
        text = value.get("value")
        return exp.Null() if text is None else exp.FromBase64(this=exp.Literal.string(str(text)))
    if name not in _TYPES:
        raise Invalid(
            f"Invalid value for type: {name} is not a valid type of a parameter.", code="invalidQuery"
        )
    text = value.get("value")
    literal = exp.Null() if text is None else exp.Literal.string(_plain(name, str(text)))
    return (
        literal
        if name == "STRING" and text is not None
        else exp.cast(literal, _TYPES[name], dialect="duckdb")
    )


def _plain(kind: str, text: str) -> str:
    return text.replace(" UTC", "+00").replace("Z", "+00") if kind == "TIMESTAMP" else text
