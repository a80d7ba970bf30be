"""Every tool of every server can be said in the dialects of the models' APIs."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from dialects import DIALECTS, MAX_TOOLS, Dialect, Unportable, openai, parts

from mesocosm.services.service import Tool, load_services, service_names

MAPS = {
    "google_sheet.batch_update_cells": "its keys are ranges",
    "programmatic_tool_calling.code_execution": "its keys are names of earlier results",
}
"""Tools with an object whose keys nobody knows before: two dialects have no word for it."""
WITHOUT_MAPS = {"openai_strict", "gemini"}


def tools() -> Iterator[tuple[str, Tool]]:
    return (
        (f"{name}.{tool.name}", tool)
        for name, service in load_services().items()
        for tool in service.tools.values()
    )


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.__name__)
def test_every_tool_can_be_said(dialect: Dialect) -> None:
    unsaid = {}
    for place, tool in tools():
        try:
            json.dumps(dialect(tool.name, tool.description, tool.listing["inputSchema"]))
        except Unportable as error:
            unsaid[place] = str(error)
    known = MAPS if dialect.__name__ in WITHOUT_MAPS else {}
    assert unsaid.keys() == known.keys(), unsaid


def test_what_a_dialect_says_has_all_that_the_schema_has() -> None:
    # Nothing is lost on the way but keywords that the dialect's documentation does not have.
    for place, tool in tools():
        schema = tool.listing["inputSchema"]
        for dialect in DIALECTS:
            if place in MAPS and dialect.__name__ in WITHOUT_MAPS:
                continue
            said = dialect(tool.name, tool.description, schema)
            inner = said.get("function", said)
            found = next(inner[key] for key in inner if key.startswith(("param", "input_schema")))
            names = {at.rpartition(".")[2].strip("[]|0123456789") for at, _ in parts(schema)}
            said_names = {at.rpartition(".")[2].strip("[]|0123456789") for at, _ in parts(found)}
            assert names == said_names, f"{place} {dialect.__name__}"
            texts = {part.get("description") for _, part in parts(schema)}
            assert texts == {part.get("description") for _, part in parts(found)}, place


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "array"}, "missing items|missing field"),
        ({"type": ["string", "number"]}, "one type|list of types|no type"),
        ({"type": "object"}, "unknown properties|non-empty"),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}, "addit"),
        ({"oneOf": [{"type": "string"}]}, "oneOf"),
        ({}, "no type|one type"),
    ],
)
def test_the_rules_refuse_what_clients_met(schema: dict[str, object], why: str) -> None:
    root = {"type": "object", "properties": {"x": schema}, "required": []}
    refused = []
    for dialect in DIALECTS:
        try:
            dialect("tool", "A tool.", root)
        except Unportable as error:
            refused.append(str(error))
    assert refused
    assert any(part in "; ".join(refused) for part in why.split("|"))


def test_no_parameter_begins_with_an_underscore() -> None:
    # Pydantic has no such fields, so clients that make models of schemas lose all tools of the server.
    for place, tool in tools():
        names = [at.rpartition(".")[2] for at, _ in parts(tool.listing["inputSchema"])]
        assert not [name for name in names if name.startswith("_")], place


def test_a_name_may_have_64_characters() -> None:
    with pytest.raises(Unportable):
        openai("x" * 65, "A tool.", {"type": "object", "properties": {}})


@pytest.mark.parametrize("service", service_names())
def test_one_service_fits_into_a_request(service: str) -> None:
    assert len(load_services()[service].tools) <= MAX_TOOLS
