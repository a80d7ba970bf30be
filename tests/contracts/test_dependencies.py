"""What is imported is declared: by the project, or by the extra of those who need it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from sources import imports_in

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OWN = {path.stem for path in (ROOT / "tests").iterdir()} | {
    path.stem for path in (ROOT / "benchmarks").iterdir()
}


@cache
def distributions() -> Mapping[str, list[str]]:
    """By package: what brings it, of all that is installed."""
    return packages_distributions()


def names(requirements: list[str]) -> set[str]:
    """The names of requirements, as distributions are compared by them."""
    return {re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", one)[0]).lower() for one in requirements}


def imported(path: Path) -> set[str]:
    """The packages that a module imports, none of the standard library and none of the project."""
    found = set()
    for node in imports_in(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {name.split(".")[0] for name in found} - sys.stdlib_module_names - {"mesocosm"} - OWN


@pytest.mark.parametrize("folder", ["mesocosm", "tests", "benchmarks"])
def test_what_is_imported_is_declared(folder: str) -> None:
    declared = names(PROJECT["dependencies"])
    for extra, requirements in PROJECT["optional-dependencies"].items():
        if folder != "mesocosm" or extra != "dev":
            declared |= names(requirements)
    folders = [ROOT / folder]
    if folder == "mesocosm":
        folders += [ROOT / name for name in ("servers", "generators", "checkers", "solvers")]
    for path in sorted(path for one in folders for path in one.rglob("*.py")):
        for package in sorted(imported(path)):
            # What is not installed here is a module beside the test, or a stranger's in an example.
            bearers = names(distributions().get(package, []))
            assert not bearers or bearers & declared, f"{path}: {package} is not declared"
