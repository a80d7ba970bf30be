"""The machinery's rooms: which there are, and that imports run downwards only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mesocosm

ROOT = Path(mesocosm.__file__).parent
FLOORS = (
    {"errors", "__init__"},
    {"worlds"},
    {"services"},
    {"sandbox", "doors"},
    {"families"},
    {"kits"},
    {"hosting"},
    {"agents", "training"},
    {"evaluation"},
    {"cli"},
    {"__main__"},
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
CONTENT = {"servers", "generators", "checkers", "solvers", "tasks"}
MAY_USE_SERVERS = {"kits"}
MADE_OF_SERVICES = {"worlds/world.py", "worlds/calls.py", "worlds/outcomes.py"}
"""An open world and the calls on it know what services are (``services/service.py``)."""

SHOWS_THE_CLIENT = ("__init__.py", "mesocosm.hosting.client")
"""``mesocosm.connect`` is the client's, loaded when it is first used."""


def rooms_imported(path: Path) -> Iterator[tuple[str, str]]:
    """The modules of Mesocosm that a module imports, each with its room."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "mesocosm":
                names = [f"mesocosm.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("mesocosm."):
                yield name, name.split(".")[1]


def machinery() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] not in CONTENT]


@pytest.mark.parametrize("path", machinery(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_downwards(path: Path) -> None:
    place = str(path.relative_to(ROOT))
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for module, other in rooms_imported(path):
        if other in CONTENT:
            assert room in MAY_USE_SERVERS, f"{place} imports {module}"
        elif (place, module) == SHOWS_THE_CLIENT:
            continue
        elif place not in MADE_OF_SERVICES or module != "mesocosm.services.service":
            assert FLOOR[other] < FLOOR[room] or other == room, f"{place} imports {module}"


def test_there_are_few_rooms_and_each_says_what_it_is() -> None:
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")} - CONTENT
    assert rooms == set(FLOOR) & rooms
    assert len(rooms | CONTENT) <= 16
    for room in rooms:
        tree = ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), room
