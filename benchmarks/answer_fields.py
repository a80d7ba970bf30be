"""Writes what fields the answers of Google's APIs have, by which ``fields=`` is checked.

python benchmarks/answer_fields.py

Taken from the discovery documents that google-api-python-client brings, for the methods that are served here:
``servers/<service>/rest/answer_fields.json``. ``tests/contracts/test_answer_fields.py`` compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mesocosm.doors.gateway import load_api
from mesocosm.doors.partial_answers import ANY, FILE, SCALAR, place_of
from mesocosm.doors.rest import Api

Json = dict[str, Any]
SERVICES = {
    "calendar": ("calendar.v3",),
    "google_sheet": ("sheets.v4", "drive.v3"),
    "google_cloud": ("bigquery.v2", "storage.v1", "logging.v2"),
}


def answer_fields(service: str) -> Json:
    """For each method that is served, the type of its answer; for each type, its fields."""
    served = {f"{route.method} {place_of(route.template)}" for route in api_of(service).routes}
    methods: dict[str, str] = {}
    types: Json = {}
    for name in SERVICES[service]:
        document = _document(name)
        for method in _methods(document):
            path = "/" + document["servicePath"] + method.get("flatPath", method["path"])
            called = f"{method['httpMethod']} {place_of(path)}"
            if called in served and "response" in method:
                methods[called] = f"{name}:{method['response']['$ref']}"
        schemas = {f"{name}:{key}": _shape(one, name) for key, one in document["schemas"].items()}
        for called in methods.values():
            if called.startswith(f"{name}:"):
                _reach(called, schemas, types)
    return {"methods": dict(sorted(methods.items())), "types": dict(sorted(types.items()))}


def api_of(service: str) -> Api:
    """The API of a service."""
    found = load_api(service)
    assert found is not None
    return found


def path_of(service: str) -> Path:
    """Return the file with the fields of a service's answers."""
    return Path(__file__).parents[1] / "servers" / service / "rest" / FILE


def written(fields: Json) -> str:
    """As the file has them: a method or a type a line."""
    parts = []
    for name, of in fields.items():
        lines = ",\n".join(
            f"{json.dumps(key)}:{json.dumps(one, separators=(',', ':'))}" for key, one in of.items()
        )
        parts.append(f"{json.dumps(name)}:{{\n{lines}\n}}")
    return "{" + ",\n".join(parts) + "}\n"


def _document(name: str) -> Json:
    import googleapiclient  # type: ignore[import-untyped]

    folder = Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"
    found: Json = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _methods(resource: Json) -> Iterator[Json]:
    yield from resource.get("methods", {}).values()
    for inner in resource.get("resources", {}).values():
        yield from _methods(inner)


def _shape(schema: Json, document: str) -> Any:
    if "$ref" in schema:
        return f"{document}:{schema['$ref']}"
    kind = schema.get("type")
    if kind == "array":
        return _shape(schema["items"], document)
    if kind == "any":
        return ANY
    if kind != "object":
        return SCALAR
    if "additionalProperties" in schema:
        return {"*": _shape(schema["additionalProperties"], document)}
    return {name: _shape(one, document) for name, one in sorted(schema.get("properties", {}).items())}


def _reach(called: Any, schemas: Json, types: Json) -> None:
    """Note a type, and all that are in it."""
    if isinstance(called, str):
        if called not in types:
            types[called] = schemas[called]
            _reach(schemas[called], schemas, types)
    elif isinstance(called, dict):
        for one in called.values():
            _reach(one, schemas, types)


def main() -> None:
    """Write all files."""
    for service in SERVICES:
        path_of(service).write_text(written(answer_fields(service)), encoding="utf-8")
        print(path_of(service))


if __name__ == "__main__":
    main()
