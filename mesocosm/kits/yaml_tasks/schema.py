"""The JSON schema of task files, for editors: with the words of every service, and every tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mesocosm.families.task import DEFINING
from mesocosm.kits.yaml_tasks.definition import Definition
from mesocosm.services.service import load_services
from mesocosm.services.words import Word, find_thing, thing_names

_ANY: dict[str, Any] = {"type": ["string", "number", "boolean", "array", "object", "null"]}


def schema(task: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of all task files (``task``), with what files say that are whole tasks by themselves."""
    own = Definition.model_json_schema()
    definitions = {**task.get("$defs", {}), **own.pop("$defs", {})}
    _open_up(definitions["Statement"], {name: _says(name) for name in thing_names(stated=True)})
    _open_up(definitions["Goal"], {name: _judges(name) for name in thing_names(judged=True)})
    _open_up(definitions["Step"], _tools())
    properties = {**task["properties"], **{name: own["properties"][name] for name in DEFINING}}
    tools: dict[str, Any] = {"anyOf": [{"const": "all"}, {"type": "array", "items": {"type": "string"}}]}
    for name in ("servers", "needed"):
        properties[name] = {**properties[name], "additionalProperties": tools}
    properties["lengths"] = {"type": "array", "items": {"type": ["string", "integer"]}}
    properties["seeds"] = {"type": ["string", "integer", "array"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **task,
        "properties": properties,
        "$defs": definitions,
    }


def _open_up(definition: dict[str, Any], keys: Mapping[str, Any]) -> None:
    """One of the keys ``service.thing``, and no other."""
    definition["properties"] |= keys
    definition["additionalProperties"] = False


def _says(name: str) -> dict[str, Any]:
    thing = find_thing(name)
    assert thing is not None
    required = [field for field, word in thing.says.items() if word.required]
    return _object(thing.about, thing.says, required)


def _judges(name: str) -> dict[str, Any]:
    thing = find_thing(name)
    assert thing is not None
    return _object(thing.about, thing.judges, [])


def _object(about: str, words: Mapping[str, Word], required: list[str]) -> dict[str, Any]:
    fields = {name: {**_ANY, "description": word.about} for name, word in words.items()}
    return {
        "type": "object",
        "description": about,
        "properties": fields,
        "required": required,
        "additionalProperties": False,
    }


def _tools() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for service in load_services().values():
        for tool in service.tools.values():
            arguments = tool.signature.schema
            found[f"{service.name}.{tool.name}"] = {
                "type": "object",
                "description": tool.description.partition("\n")[0],
                "properties": dict.fromkeys(arguments["properties"], _ANY),
                "required": list(arguments.get("required", ())),
                "additionalProperties": False,
            }
    return found
