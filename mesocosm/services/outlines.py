"""Signatures of a service's tools, read from source, for callers that only look at tools.

Loading a service makes its tables and all its schemas, which takes a third of a second; reading what its
tools are called and which arguments they have takes a hundredth. A service some of whose tools or arguments
follow from declarations is loaded all the same: the source of a tool does not name them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from keyword import iskeyword
from pathlib import Path

from mesocosm.services.content import roots


@dataclass(frozen=True)
class Outline:
    """The arguments of one tool."""

    parameters: tuple[str, ...]
    required: tuple[str, ...]


@cache
def outlines(service: str) -> Mapping[str, Outline]:
    """The tools of a service: functions that ``@server.reads`` or ``@server.writes`` stands above."""
    modules = [ast.parse(path.read_text(encoding="utf-8")) for path in _sources(service)]
    if any(map(_declares, modules)):
        from mesocosm.services.service import load_service  # not needed for other services

        schemas = {name: tool.signature.schema for name, tool in load_service(service).tools.items()}
        return {
            name: Outline(tuple(schema["properties"]), tuple(schema["required"]))
            for name, schema in schemas.items()
        }
    return {
        function.name: _outline(function, module)
        for module in modules
        for function in module.body
        if isinstance(function, ast.FunctionDef) and any(map(_registers, function.decorator_list))
    }


def _sources(service: str) -> Iterator[Path]:
    for root in roots():
        place = root.path / "servers" / service / "tools"
        yield from (
            [place.with_suffix(".py")] if place.with_suffix(".py").is_file() else sorted(place.glob("*.py"))
        )


def _declares(module: ast.Module) -> bool:
    """True if a module derives tools from resources, or arguments from functions that work others out."""
    names = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    return not names.isdisjoint(("ResourceTools", "Depends"))


def _registers(decorator: ast.expr) -> bool:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    return (
        isinstance(decorator, ast.Attribute)
        and decorator.attr in ("reads", "writes")
        and isinstance(decorator.value, ast.Name)
        and decorator.value.id == "server"
    )


def _outline(function: ast.FunctionDef, module: ast.Module) -> Outline:
    arguments = function.args
    placed = [*arguments.posonlyargs, *arguments.args]
    free = len(placed) - len(arguments.defaults)
    needed = placed[1:free]
    needed += [
        one for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if not default
    ]
    required = [one.arg for one in needed if not _is_paged(one)]
    names = [
        name
        for one in (*placed[1:], *arguments.kwonlyargs)
        for name in (("page", "per_page") if _is_paged(one) else [one.arg])
    ]
    if arguments.kwarg and isinstance(arguments.kwarg.annotation, ast.Subscript):
        fields = _fields(ast.unparse(arguments.kwarg.annotation.slice), module)
        names += fields
        required += [name for name, annotation in fields.items() if annotation.startswith("Required[")]
    return Outline(tuple(map(_called, names)), tuple(map(_called, required)))


def _is_paged(argument: ast.arg) -> bool:
    """True of what stands for the page and its length: ``Annotated[Paging, paged("Documents")]``."""
    return "paged(" in ast.unparse(argument.annotation or argument)


def _fields(name: str, module: ast.Module) -> dict[str, str]:
    """The annotations of a ``TypedDict`` of the module without a required field but those marked so."""
    found: dict[str, str] = {}
    for declared in module.body:
        if isinstance(declared, ast.ClassDef) and declared.name == name:
            for base in declared.bases:
                found |= _fields(ast.unparse(base), module)
            for field in declared.body:
                if isinstance(field, ast.AnnAssign):
                    found[ast.unparse(field.target)] = ast.unparse(field.annotation)
    return found


def _called(name: str) -> str:
    """An argument whose name is a word of Python's has a ``_`` behind it there."""
    bare = name.removesuffix("_")
    return bare if iskeyword(bare) else name
