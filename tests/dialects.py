"""How tools are written down for the models' APIs, and what each API documents that it refuses.

Every converter returns the tool as a client would send it, or raises ``Unportable``, which says what of the
schema the API refuses or what would be lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator

Schema = Mapping[str, Any]

MAX_TOOLS = 128
MAX_NAME = 64
ANNOTATIONS = {"description", "title", "default"}


class Unportable(Exception):
    """A tool that a dialect cannot say."""


def _refuse(at: str, why: str) -> None:
    raise Unportable(f"{at}: {why}")


def parts(schema: Schema, at: str = "") -> Iterator[tuple[str, Schema]]:
    """A schema and all schemas inside it, each with its place."""
    yield at, schema
    for name, inner in schema.get("properties", {}).items():
        yield from parts(inner, f"{at}.{name}".lstrip("."))
    for number, option in enumerate(schema.get("anyOf", ())):
        yield from parts(option, f"{at}|{number}")
    if isinstance(schema.get("items"), Mapping):
        yield from parts(schema["items"], f"{at}[]")
    if isinstance(schema.get("additionalProperties"), Mapping):
        yield from parts(schema["additionalProperties"], f"{at}.*")


def _named(name: str, pattern: str) -> None:
    if len(name) > MAX_NAME or not re.fullmatch(pattern, name):
        _refuse(name, "not a name that the API takes")


def _rooted(schema: Schema) -> None:
    Draft202012Validator.check_schema(schema)
    if schema.get("type") != "object" or {"anyOf", "oneOf", "allOf", "enum", "not"} & schema.keys():
        _refuse("the root", "must be a plain object")


def openai(name: str, description: str, schema: Schema) -> dict[str, Any]:
    """OpenAI's function tools: every array says what its items are."""
    _named(name, r"[a-zA-Z0-9_-]+")
    _rooted(schema)
    for at, part in parts(schema):
        if part.get("type") == "array" and "items" not in part:
            _refuse(at, "array schema missing items")
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": schema},
    }


def openai_strict(name: str, description: str, schema: Schema) -> dict[str, Any]:
    """The same with ``strict``: every object is closed and requires all it has; optional is nullable."""
    strict = _strict(schema, "")
    properties = [part.get("properties", {}) for _, part in parts(strict)]
    if sum(map(len, properties)) > 5_000 or max(at.count(".") for at, _ in parts(strict)) > 9:
        _refuse(name, "more than 5,000 properties, or more than 10 levels")
    tool = openai(name, description, strict)
    tool["function"]["strict"] = True
    return tool


_STRICT = {
    "type",
    "enum",
    "anyOf",
    "items",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "pattern",
    "format",
}
_DROPPED = {"minLength", "maxLength"}
"""Keywords that strict schemas lack; our servers check them."""


def _strict(schema: Schema, at: str) -> dict[str, Any]:
    if unknown := schema.keys() - _STRICT - ANNOTATIONS - _DROPPED - {"properties", "required"}:
        _refuse(at, f"{', '.join(sorted(unknown))} cannot be said")
    if "type" not in schema and "anyOf" not in schema:
        _refuse(at, "has no type")
    kept = {key: schema[key] for key in schema if key not in _DROPPED | {"default"}}
    if schema.get("type") == "object":
        if at and not schema.get("properties"):
            _refuse(at, "an object of unknown properties cannot be said")
        required = schema.get("required", ())
        inner = {key: _strict(one, f"{at}.{key}") for key, one in schema.get("properties", {}).items()}
        kept["properties"] = {key: one if key in required else _or_null(one) for key, one in inner.items()}
        kept |= {"required": list(inner), "additionalProperties": False}
    if "items" in schema:
        kept["items"] = _strict(schema["items"], f"{at}[]")
    if "anyOf" in schema:
        kept["anyOf"] = [_strict(one, f"{at}|") for one in schema["anyOf"]]
    return kept


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    options = schema.get("anyOf") or [{key: schema[key] for key in schema if key not in ANNOTATIONS}]
    if {"type": "null"} not in options:
        options = [*options, {"type": "null"}]
    return {key: schema[key] for key in schema if key in ANNOTATIONS} | {"anyOf": options}


def anthropic(name: str, description: str, schema: Schema) -> dict[str, Any]:
    """Anthropic's tools: JSON Schema 2020-12 with a plain object at the root."""
    _named(name, r"[a-zA-Z0-9_-]+")
    _rooted(schema)
    return {"name": name, "description": description, "input_schema": schema}


_GEMINI = {
    *("type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties"),
    *("required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf"),
    *("propertyOrdering", "default", "items", "minimum", "maximum"),
}


def gemini(name: str, description: str, schema: Schema) -> dict[str, Any]:
    """Gemini's ``parameters``: a subset of OpenAPI 3.0; one type each, objects have properties."""
    _named(name, r"[a-zA-Z_][a-zA-Z0-9_.-]*")
    return {"name": name, "description": description, "parameters": _openapi(schema, "")}


def _openapi(schema: Schema, at: str) -> dict[str, Any]:
    if unknown := schema.keys() - _GEMINI:
        _refuse(at, f"{', '.join(sorted(unknown))} cannot be said")
    found = dict(schema)
    if "anyOf" in schema:
        options = [_openapi(one, f"{at}|") for one in schema["anyOf"] if one != {"type": "null"}]
        nullable = {"nullable": True} if len(options) < len(schema["anyOf"]) else {}
        rest = {key: value for key, value in schema.items() if key != "anyOf"} | nullable
        # Of one type and null, the type; beside several no other type may stand.
        return options[0] | rest if len(options) == 1 else {"anyOf": options} | rest
    if not isinstance(schema.get("type"), str):
        _refuse(at, "must have one type")
    found["type"] = schema["type"].upper()
    if schema["type"] == "array":
        if not schema.get("items"):
            _refuse(at, "items: missing field")
        found["items"] = _openapi(schema["items"], f"{at}[]")
    if schema["type"] == "object" and at and not schema.get("properties"):
        _refuse(at, "properties: should be non-empty for OBJECT type")
    if "properties" in schema:
        found["properties"] = {key: _openapi(one, f"{at}.{key}") for key, one in schema["properties"].items()}
    if not all(isinstance(value, str) and value for value in schema.get("enum", ())):
        _refuse(at, "an enum of anything but text")
    return found


_GEMINI_JSON = {
    *("$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items"),
    *("prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "properties"),
    *("additionalProperties", "required", "propertyOrdering", "default", "minLength"),
}


def gemini_json(name: str, description: str, schema: Schema) -> dict[str, Any]:
    """Gemini's ``parametersJsonSchema``: JSON Schema with the keywords that it documents.

    Its own Python client reads ``additionalProperties`` as a schema and fails on true and false.
    """
    _rooted(schema)
    for at, part in parts(schema):
        if unknown := part.keys() - _GEMINI_JSON:
            _refuse(at, f"{', '.join(sorted(unknown))} cannot be said")
        if isinstance(part.get("type"), list):
            _refuse(at, "a list of types")
        if isinstance(part.get("additionalProperties"), bool):
            _refuse(at, "additionalProperties is true or false")
        if part.get("type") == "array" and not part.get("items"):
            _refuse(at, "items: missing field")
    return {"name": name, "description": description, "parametersJsonSchema": schema}


Dialect = Callable[[str, str, Schema], dict[str, Any]]

DIALECTS: tuple[Dialect, ...] = (openai, openai_strict, anthropic, gemini, gemini_json)
