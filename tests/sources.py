"""The project's own source, as tests about its imports read it: each file once."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def imports_in(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """The statements of a module that import something, wherever they stand in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
