"""The source of a Python function for a tool, typed from its schema."""

from __future__ import annotations

import keyword
from typing import Any

from mesocosm.services.service import Tool

_TYPES = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict[str, Any]",
    "null": "None",
}  # fmt: skip


def source_of(name: str, service: str, tool: Tool) -> str:
    """A function of that name which makes the tool's call."""
    properties, required = tool.signature.schema["properties"], tool.signature.schema["required"]
    ordered = sorted(properties, key=lambda parameter: parameter not in required)
    parameters, sent = [], []
    for parameter in ordered:
        spelled = f"{parameter}_" if keyword.iskeyword(parameter) else parameter
        default = "" if parameter in required else " = OMITTED"
        parameters.append(f"{spelled}: {_type(properties[parameter])}{default}")
        sent.append(f"{parameter!r}: {spelled}")
    return (
        f"def {name}({', '.join(parameters)}):\n"
        f"    {_documentation(tool)!r}\n"
        f"    _arguments = {{{', '.join(sent)}}}\n"
        f"    return call({service!r}, {tool.name!r},"
        " {k: v for k, v in _arguments.items() if v is not OMITTED})\n"
    )


def _documentation(tool: Tool) -> str:
    lines = [tool.description]
    for name, schema in tool.signature.schema["properties"].items():
        default = f" (default: {schema['default']!r})" if "default" in schema else ""
        lines.append(f"    {name}: {schema.get('description', '')}{default}")
    return "\n".join(lines)


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(_type(option) for option in schema[union])
    if schema.get("type") == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    return _TYPES.get(schema.get("type", ""), "Any")
