"""The project's own source, as tests about its imports read it: each file once."""

from __future__ import annotations

import ast
import importlib.util
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

IMPORTING = {"import_module", "later"}
"""Functions that import what a text names."""


@dataclass(frozen=True)
class Imports:
    """What a module imports."""

    statements: list[ast.Import | ast.ImportFrom]
    """Wherever they stand in it."""
    of_types: frozenset[int]
    """Those that only type checkers look at, by ``id``."""
    named: list[str]
    """Modules of Mesocosm that a text names; of one that is put together its beginning, with a dot."""


@cache
def imports_of(path: Path) -> Imports:
    """What a module imports."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    guarded = [
        node.body
        for node in nodes
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    ]
    return Imports(
        [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)],
        frozenset(id(inner) for body in guarded for one in body for inner in ast.walk(one)),
        [name for node in nodes if isinstance(node, ast.Call) for name in _named(node)],
    )


def imports_in(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """The statements of a module that import something, wherever they stand in it."""
    return imports_of(path).statements


def _named(call: ast.Call) -> list[str]:
    function = call.func
    if (
        function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    ) not in IMPORTING:
        return []
    texts = [one.values[0] if isinstance(one, ast.JoinedStr) else one for one in call.args]
    said = [str(one.value) for one in texts if isinstance(one, ast.Constant)]
    return [one for one in said if one.startswith("mesocosm.")]


def benchmark(name: str) -> ModuleType:
    """A program of ``benchmarks/`` as a module."""
    path = Path(__file__).parents[1] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
