"""Schemas: fields as the API has them, their types in GoogleSQL and in DuckDB.

A field is kept as ``{"name", "type", "mode"}``, where that says more with ``fields`` (of a
STRUCT), ``description``, ``default`` (an expression), ``precision``, ``scale`` and ``maxLength``. Types have
GoogleSQL's names; the API's older ones (``INTEGER``, ``RECORD`` ...) are taken too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.store.part import quoted, suggestion
from mesocosm.services.queries import google_types
from mesocosm.services.queries.catalogue import Column
from mesocosm.services.queries.google_types import KINDS, Field, type_of

__all__ = ["Field", "checked_fields", "columns_of", "field_of", "kind_of", "shown_fields", "type_of"]

_OTHER_NAMES = {
    "INTEGER": "INT64",
    "INT": "INT64",
    "SMALLINT": "INT64",
    "BIGINT": "INT64",
    "TINYINT": "INT64",
    "BYTEINT": "INT64",
    "FLOAT": "FLOAT64",
    "BOOLEAN": "BOOL",
    "DECIMAL": "NUMERIC",
    "BIGDECIMAL": "BIGNUMERIC",
    "RECORD": "STRUCT",
}
_API_NAMES = {"INT64": "INTEGER", "FLOAT64": "FLOAT", "BOOL": "BOOLEAN", "STRUCT": "RECORD"}
"""Names of types in the API's answers."""
_NAME = re.compile(r"[^\W\d][\w &%=+:'<>#|-]{0,299}")
_RESERVED = ("_TABLE_", "_FILE_", "_PARTITION", "_ROW_TIMESTAMP", "__ROOT__", "_COLIDENTIFIER", "_CHANGE_")
_MODES = ("NULLABLE", "REQUIRED", "REPEATED")
_DEEPEST = 15
_MOST_FIELDS = 10_000


def checked_fields(fields: Sequence[Mapping[str, Any]], depth: int = 1) -> list[Field]:
    """Check the fields of a schema and convert them to stored form; ``Invalid`` has BigQuery's words."""
    if depth > _DEEPEST:
        raise Invalid(f"Schema is nested deeper than {_DEEPEST} levels.", code="invalid")
    if len(fields) > _MOST_FIELDS:
        raise Invalid(f"Too many fields: {len(fields)}; the maximum is {_MOST_FIELDS}.", code="invalid")
    made = [_checked_field(field, depth) for field in fields]
    seen: set[str] = set()
    for one in made:
        if one["name"].lower() in seen:
            raise Invalid(f"Duplicate field name: {one['name']}", code="invalid")
        seen.add(one["name"].lower())
    return made


def _checked_field(field: Mapping[str, Any], depth: int) -> Field:
    name, kind, mode = field.get("name"), field.get("type"), field.get("mode") or "NULLABLE"
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name.upper().startswith(_RESERVED):
        raise Invalid(
            f"Invalid field name {quoted(str(name))}. Fields must contain only letters, numbers, and"
            " underscores, start with a letter or underscore, and be at most 300 characters long.",
            code="invalid",
        )
    known = [*KINDS, "STRUCT"]
    type_ = _OTHER_NAMES.get(str(kind).upper(), str(kind).upper())
    if type_ not in known:
        raise Invalid(f"{quoted(str(kind))} is not a valid value.{suggestion(type_, known)}", code="invalid")
    if not isinstance(mode, str) or mode.upper() not in _MODES:
        raise Invalid(
            f"{quoted(str(mode))} is not a valid mode; there are {', '.join(_MODES)}.", code="invalid"
        )
    made: Field = {"name": name, "type": type_, "mode": mode.upper()}
    inner = field.get("fields") or []
    if (type_ == "STRUCT") != bool(inner):
        raise Invalid(
            f"Field {name} is of type RECORD but has no schema."
            if type_ == "STRUCT"
            else f"Field {name} is of type {type_} and cannot have fields.",
            code="invalid",
        )
    if inner:
        made["fields"] = checked_fields(inner, depth + 1)
    if field.get("description"):
        made["description"] = str(field["description"])
    default = field.get("defaultValueExpression") or field.get("default")
    if default:
        made["default"] = str(default)
    for key, least, most in (("precision", 1, 38), ("scale", 0, 38), ("maxLength", 1, 2**31)):
        if field.get(key) is not None:
            made[key] = int(field[key])
            if not least <= made[key] <= most:
                raise Invalid(f"Invalid {key} {made[key]} of field {name}.", code="invalid")
    if made.get("scale", 0) > made.get("precision", 38):
        raise Invalid(f"The scale of field {name} is larger than its precision.", code="invalid")
    return made


def kind_of(field: Mapping[str, Any]) -> str:
    """The type of a field in DuckDB."""
    if field["type"] == "STRUCT":
        inner = ", ".join(f"{_quoted(one['name'])} {kind_of(one)}" for one in field["fields"])
        kind = f"STRUCT({inner})"
    elif field["type"] in ("NUMERIC", "BIGNUMERIC") and 1 <= field.get("precision", 0) <= 38:
        kind = f"DECIMAL({field['precision']},{min(field.get('scale', 0), field['precision'])})"
    else:
        kind = KINDS[field["type"]]
    return f"{kind}[]" if field["mode"] == "REPEATED" else kind


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def columns_of(fields: Sequence[Field], stored: Sequence[str] | None = None) -> tuple[Column, ...]:
    """Convert fields to columns of the query engine; ``stored``: with their names in SQLite."""
    names = stored if stored is not None else [field["name"] for field in fields]
    return tuple(
        Column(
            field["name"],
            kind_of(field),
            required=field["mode"] == "REQUIRED",
            default=field.get("default"),
            stored=name,
            longest=field.get("maxLength") if field["type"] == "STRING" else None,
            vendor=type_of(field),
        )
        for field, name in zip(fields, names, strict=True)
    )


def shown_fields(fields: Sequence[Field]) -> list[dict[str, Any]]:
    """The fields as the API answers them."""
    shown = []
    for field in fields:
        one: dict[str, Any] = {
            "name": field["name"],
            "type": _API_NAMES.get(field["type"], field["type"]),
            "mode": field["mode"],
        }
        if "fields" in field:
            one["fields"] = shown_fields(field["fields"])
        if "description" in field:
            one["description"] = field["description"]
        if "default" in field:
            one["defaultValueExpression"] = field["default"]
        shown.append(
            one | {key: str(field[key]) for key in ("precision", "scale", "maxLength") if key in field}
        )
    return shown


def field_of(name: str, kind: str) -> Field:
    """The field of a result's column, by its type as DuckDB writes it; refuses what GoogleSQL has not."""
    try:
        return google_types.field_of(name, kind)
    except ValueError:
        said = f"Column {quoted(name)} has a type that GoogleSQL does not have."
        raise Invalid(said, code="invalidQuery") from None
