"""The JSON schema of task files, for editors: with the words of every service, and every tool; and the file
that new tasks start from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from mesocosm.families.task import DEFINING
from mesocosm.kits.prose.topics import TOPICS
from mesocosm.kits.yaml_tasks.definition import Definition
from mesocosm.kits.yaml_tasks.grading import WAYS
from mesocosm.services.content import service_names
from mesocosm.services.outlines import outlines
from mesocosm.services.service import load_services
from mesocosm.services.words import Word, find_thing, load_words, thing_names

_ANY: dict[str, Any] = {"type": ["string", "number", "boolean", "array", "object", "null"]}


def schema(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of all task files (``task``), extended by whole-task files."""
    own = Definition.model_json_schema()
    definitions = {**task.get("$defs", {}), **own.pop("$defs", {})}
    _open_up(definitions["Statement"], {name: _says(name) for name in thing_names(stated=True)})
    _open_up(definitions["Goal"], {name: _judges(name) for name in thing_names(judged=True)})
    _open_up(definitions["SolutionStep"], _tools())
    cases = definitions["EntityType"]["properties"]["cases"]
    cases["additionalProperties"] = {"anyOf": [cases["additionalProperties"], {"type": "null"}]}
    properties = {**task["properties"], **{name: own["properties"][name] for name in DEFINING}}
    for name in ("servers", "needed"):
        properties[name] = _closed(properties[name], {one: _offer(one) for one in service_names()})
    topics = {"type": "array", "items": {"enum": list(TOPICS)}}
    for name in ("Everyday", "Statement"):
        described = definitions[name]["properties"]["topics"]
        definitions[name]["properties"]["topics"] = {**described, **topics}
    texts = [name for name in thing_names(stated=True) if (thing := find_thing(name)) and thing.text]
    everyday = properties["noise"].pop("additionalProperties")
    properties["noise"] = _closed(properties["noise"], dict.fromkeys(texts, everyday))
    properties["survey"] = _closed(properties["survey"], dict(_surveys()))
    properties["lengths"] = {"type": "array", "items": {"type": ["string", "integer"]}}
    properties["seeds"] = {"type": ["string", "integer", "array"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **task,
        # What a file that is the whole task need not say is not asked for.
        "required": [name for name in task["required"] if name in ("title", "prompt")],
        "properties": properties,
        "$defs": definitions,
    }


def _closed(described: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """Close a schema: these keys, which an editor completes, and no others."""
    return {**described, "properties": properties, "additionalProperties": False}


def _offer(service: str) -> dict[str, Any]:
    """All tools of a service, or some."""
    return {"anyOf": [{"const": "all"}, {"type": "array", "items": {"enum": list(outlines(service))}}]}


def _surveys() -> Iterator[tuple[str, Any]]:
    for service in service_names():
        if words := load_words(service):
            options = {name: {"description": about} for name, about in words.survey_options.items()}
            yield service, {"type": "object", "properties": options, "additionalProperties": False}


def _open_up(definition: dict[str, Any], keys: Mapping[str, Any]) -> None:
    """One of the keys ``service.thing``, and no other."""
    definition["properties"] |= keys
    definition["additionalProperties"] = False


def _says(name: str) -> dict[str, Any]:
    thing = find_thing(name)
    assert thing is not None
    # A field that a file need not say in every place is asked for by `lint`, which knows the place.
    required = [
        field
        for field, word in thing.says.items()
        if word.required and not word.default and not (field == thing.when and word.shape == "moment")
    ]
    return _object(thing.about, thing.says, required)


def _judges(name: str) -> dict[str, Any]:
    thing = find_thing(name)
    assert thing is not None
    return _object(thing.about, thing.judges, [], judged=True)


def _object(
    about: str, words: Mapping[str, Word], required: list[str], *, judged: bool = False
) -> dict[str, Any]:
    fields = {name: _field(word, judged=judged) for name, word in words.items()}
    return {
        "type": "object",
        "description": about,
        "properties": fields,
        "required": required,
        "additionalProperties": False,
    }


def _field(word: Word, *, judged: bool) -> dict[str, Any]:
    """Return a field's schema with completions for editors: its values, and ways to judge it."""
    found = {**_ANY, "description": word.about}
    if word.choices:
        found["anyOf"] = [
            {"enum": list(word.choices)},
            {"pattern": r"\{"},
            {"type": ["array", "object", "null"]},
        ]
    if judged and word.shape not in ("data", "list"):
        found["properties"] = {way: {"description": about} for way, about in WAYS.items()}
        found["properties"]["within"] = {"description": "How far a number may be off."}
        found["additionalProperties"] = False
    return found


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


SCHEMA = "mesocosm.schema.json"
"""The schema beside it, which its first line names."""


def starting_file() -> str:
    """A small task that works, with comments."""
    return files("mesocosm.kits.yaml_tasks").joinpath("start.yaml").read_text(encoding="utf-8")
