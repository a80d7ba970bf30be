"""Types of GoogleSQL: their names, what DuckDB computes them as, and the fields of results.

A field is ``{"name", "type", "mode"}``, with ``fields`` of a STRUCT. Nothing of mesocosm is loaded here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Field = dict[str, Any]

KINDS = {
    "INT64": "BIGINT",
    "FLOAT64": "DOUBLE",
    "NUMERIC": "DECIMAL(38,9)",
    "BIGNUMERIC": "DECIMAL(38,18)",
    "BOOL": "BOOLEAN",
    "STRING": "VARCHAR",
    "BYTES": "BLOB",
    "DATE": "DATE",
    "TIME": "TIME",
    "DATETIME": "TIMESTAMP",
    "TIMESTAMP": "TIMESTAMP WITH TIME ZONE",
    "INTERVAL": "INTERVAL",
    "JSON": "JSON",
}
"""Types of GoogleSQL, and what DuckDB computes them as."""
_RESULTS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UHUGEINT"), "INT64"),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", '"NULL"', "NULL"), "INT64"),
    "FLOAT": "FLOAT64",
    "DOUBLE": "FLOAT64",
    "BOOLEAN": "BOOL",
    "VARCHAR": "STRING",
    "UUID": "STRING",
    "BLOB": "BYTES",
    "DATE": "DATE",
    "TIME": "TIME",
    "TIMESTAMP": "DATETIME",
    "TIMESTAMP_S": "DATETIME",
    "TIMESTAMP_MS": "DATETIME",
    "TIMESTAMP_NS": "DATETIME",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
    "INTERVAL": "INTERVAL",
    "JSON": "JSON",
}
_WORD = re.compile(r'[A-Z_0-9]+(?: WITH TIME ZONE)?|"NULL"')
_INNER = re.compile(r'"((?:[^"]|"")*)"|(\w+)')


def type_of(field: Mapping[str, Any]) -> str:
    """The type of a field as GoogleSQL writes it: ``ARRAY<STRUCT<a INT64>>``."""
    if field["type"] == "STRUCT":
        inner = ", ".join(f"{one['name']} {type_of(one)}" for one in field["fields"])
        name = f"STRUCT<{inner}>"
    else:
        name = field["type"]
        if "precision" in field:
            name += f"({field['precision']}{', ' + str(field['scale']) if field.get('scale') else ''})"
        elif "maxLength" in field:
            name += f"({field['maxLength']})"
    return f"ARRAY<{name}>" if field["mode"] == "REPEATED" else name


def named(kind: str) -> str:
    """A type of DuckDB's as GoogleSQL writes it; STRING for one that it has not."""
    try:
        return type_of(field_of("", kind))
    except ValueError:
        return "STRING"


def field_of(name: str, kind: str) -> Field:
    """The field of a result's column, by its type as DuckDB writes it. ``ValueError`` for others."""
    field, end = _read(name, kind, 0)
    if end != len(kind):
        raise ValueError(f"not a type: {kind}")
    return field


def _read(name: str, kind: str, at: int) -> tuple[Field, int]:
    if kind.startswith(("STRUCT(", "TUPLE("), at):
        fields: list[Field] = []
        has_names = kind.startswith("STRUCT", at)
        at += 6 + 1 if has_names else 5 + 1
        while not kind.startswith(")", at):
            if has_names:
                found = _INNER.match(kind, at)
                if found is None:
                    raise ValueError(f"not a type: {kind}")
                inner = found[1].replace('""', '"') if found[1] is not None else found[2]
                one, at = _read(inner, kind, found.end() + 1)
            else:
                one, at = _read(f"_field_{len(fields) + 1}", kind, at)
            fields.append(one)
            at += 2 if kind.startswith(", ", at) else 0
        field: Field = {"name": name, "type": "STRUCT", "mode": "NULLABLE", "fields": fields}
        at += 1
    elif kind.startswith("DECIMAL(", at):
        end = kind.index(")", at)
        scale = int(kind[at:end].partition(",")[2])
        field = {"name": name, "type": "BIGNUMERIC" if scale > 9 else "NUMERIC", "mode": "NULLABLE"}
        at = end + 1
    else:
        word = _WORD.match(kind, at)
        if word is None or word[0] not in _RESULTS:
            raise ValueError(f"not a type of GoogleSQL: {kind[at:]}")
        field = {"name": name, "type": _RESULTS[word[0]], "mode": "NULLABLE"}
        at = word.end()
    while kind.startswith("[", at):
        at = kind.index("]", at) + 1
        field["mode"] = "REPEATED"
    return field, at
