"""The control plane's description as a page that asks no other host for anything."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment

_PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string("""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{{ info.title }}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
code { background: #8882; padding: 0 .3em } summary { cursor: pointer; padding: .2rem 0 }
td, th { text-align: left; padding: .1rem 1rem .1rem 0; vertical-align: top }
details { border-bottom: 1px solid #8884 }
</style>
<h1>{{ info.title }} {{ info.version }}</h1>
<p>{{ info.description }} As JSON: <a href="openapi.json">openapi.json</a>.</p>
{% for path, method, one in operations %}
<details><summary><code>{{ method }} {{ path }}</code> {{ one.summary }}</summary>
<p>{{ one.description }}</p>
{% if one.parameters %}
<table><tr><th>parameter<th>in<th>type<th>
{% for parameter in one.parameters %}
<tr><td><code>{{ parameter.name }}</code><td>{{ parameter.in }}<td>{{ parameter.type }}
<td>{{ parameter.description or "" }}
{% endfor %}
</table>
{% endif %}
{% if one.body %}<p>Body:</p><pre>{{ one.body }}</pre>{% endif %}
<table>{% for status, text in one.responses %}<tr><td>{{ status }}<td>{{ text }}{% endfor %}</table>
</details>
{% endfor %}
<h2>Bodies</h2>
{% for name, fields in schemas %}
<details><summary><code>{{ name }}</code></summary><table>
{% for field, type, text in fields %}<tr><td><code>{{ field }}</code><td>{{ type }}<td>{{ text }}{% endfor %}
</table></details>
{% endfor %}
</html>
""")


def api_page(document: dict[str, Any]) -> str:
    """An OpenAPI document as HTML."""
    operations = [
        (
            path,
            method.upper(),
            {
                "summary": one.get("summary", ""),
                "description": one.get("description", ""),
                "parameters": [
                    {**found, "type": _type(found["schema"])} for found in one.get("parameters", ())
                ],
                "body": _body(one),
                "responses": [(status, said["description"]) for status, said in one["responses"].items()],
            },
        )
        for path, methods in document["paths"].items()
        for method, one in methods.items()
    ]
    schemas = [
        (
            name,
            [
                (field, _type(about), about.get("description", ""))
                for field, about in schema.get("properties", {}).items()
            ],
        )
        for name, schema in document.get("components", {}).get("schemas", {}).items()
    ]
    return _PAGE.render(info=document["info"], operations=operations, schemas=schemas)


def _body(operation: dict[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {})
    return ", ".join(_type(one["schema"]) for one in content.values())


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if several := schema.get("anyOf"):
        return " or ".join(map(_type, several))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if allowed := schema.get("enum"):
        return " | ".join(map(str, allowed))
    return str(schema.get("const", schema.get("type", "anything")))
