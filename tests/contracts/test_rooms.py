"""The machinery's rooms: which there are, and that imports run downwards only."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from sources import imports_in, imports_of

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

UPWARDS = {
    ("__init__.py", "mesocosm.hosting.client"),  # ``mesocosm.connect``, loaded when it is first used
    ("__init__.py", "mesocosm.kits"),  # puts the package together: families are told which kits there are
}
"""Rooms that the package itself imports."""


def rooms_imported(path: Path) -> Iterator[tuple[str, str]]:
    """The modules of Mesocosm that a module imports, also by a text, each with its room."""
    for name in imports_of(path).named:
        yield name, name.split(".")[1]
    for node in imports_in(path):
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


def test_imports_run_downwards() -> None:
    for path in machinery():
        check_floor(path)


def check_floor(path: Path) -> None:
    place = str(path.relative_to(ROOT))
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for module, other in rooms_imported(path):
        if other in CONTENT:
            assert room in MAY_USE_SERVERS, f"{place} imports {module}"
        elif (place, module) in UPWARDS:
            continue
        else:
            assert FLOOR[other] < FLOOR[room] or other == room, f"{place} imports {module}"


def test_there_are_few_rooms_and_each_says_what_it_is() -> None:
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")} - CONTENT
    assert rooms == set(FLOOR) & rooms
    assert len(rooms | CONTENT) <= 16
    for room in rooms:
        tree = ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), room


def test_an_import_by_a_text_is_seen(tmp_path: Path) -> None:
    place = tmp_path / "module.py"
    place.write_text(
        'kit = importlib.import_module("mesocosm.kits.mailbox")\nx = later(f"mesocosm.cli.{x}")\n'
    )
    assert list(rooms_imported(place)) == [("mesocosm.kits.mailbox", "kits"), ("mesocosm.cli.", "cli")]


# -- circles ------------------------------------------------------------------------------------------------


def module_of(path: Path) -> str:
    parts = ("mesocosm", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_when_run(path: Path, known: Collection[str]) -> set[str]:
    """The modules that a module imports, at any time but for types alone."""
    read = imports_of(path)
    names = [name for name in read.named if not name.endswith(".")]
    for node in read.statements:
        if id(node) not in read.of_types:
            outer = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names += [f"{outer}{alias.name}" for alias in node.names]
    found = {name if name in known else name.rpartition(".")[0] for name in names}
    return (found & set(known)) - {"mesocosm"}


def test_no_modules_import_each_other_in_a_circle() -> None:
    places = [ROOT, *(ROOT / folder for folder in sorted(CONTENT))]  # which are links, and not followed
    paths = {module_of(path): path for place in places for path in sorted(place.rglob("*.py"))}
    assert "mesocosm.servers.email.store" in paths
    below = {name: imported_when_run(path, paths) - {name} for name, path in paths.items()}
    while leaves := {name for name, others in below.items() if not others}:
        below = {name: others - leaves for name, others in below.items() if name not in leaves}
    assert not below, f"in circles, or above them: {sorted(below)}"


# -- content ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["servers", "generators", "checkers", "solvers"])
def test_imports_of_content_point_one_way(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        for module in imported_modules(path):
            check_import(path.relative_to(ROOT), module)


def check_import(path: Path, module: str) -> None:
    said, parts, top = f"{path} imports {module}", path.parts, module.split(".")[0]
    assert top not in {"servers", "generators", "checkers", "solvers", "tasks"}, (
        f"{said}: use mesocosm.<folder>"
    )
    assert not module.startswith("mcp"), f"{said}: only mesocosm.doors.mcp knows the SDK"
    if parts[0] == "servers":
        allowed = allowed_in_server(parts)
        apart = not module.startswith("mesocosm.") or module.split(".")[1] != "servers"
        assert apart or allowed(module), said
        assert top not in {"fastapi", "starlette", "uvicorn"} or "rest" in parts[2], said
    if parts[0] == "solvers":
        assert not re.match(r"mesocosm\.(servers|generators|checkers|worlds)", module), said


def allowed_in_server(parts: tuple[str, ...]) -> Callable[[str], bool]:
    """Layers that a module of a service may import: its own and those below."""
    layers = ["headers", "refusals", "values", "models", "store", "arrow", "tools", "uploads", "rest", "mail"]
    layer = parts[2].removesuffix(".py") if len(parts) > 2 else "__init__"
    below = layers[: layers.index(layer) + 1] if layer in layers else layers
    names = [f"mesocosm.servers.{parts[1]}.{name}" for name in below]
    return lambda module: any(module == name or module.startswith(name + ".") for name in names)


def imported_modules(path: Path) -> list[str]:
    modules = []
    for node in imports_in(path):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            apart = re.fullmatch(r"mesocosm\.servers\.\w+", module)
            modules += [f"{module}.{alias.name}" for alias in node.names] if apart else [module]
    return modules


def test_one_module_knows_the_sdk() -> None:
    knowing = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if any(re.match(r"mcp(_types)?(\.|$)", module) for module in imported_modules(path))
    }
    assert knowing == {"doors/mcp.py"}


def test_a_reading_call_passes_few_files_as_the_page_of_architecture_says() -> None:
    checkout = Path(__file__).parents[2]
    command = [sys.executable, "benchmarks/files_of_a_call.py"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True)
    *files, total = done.stdout.splitlines()
    assert total == f"{len(files)} files"
    assert len(files) < 15, done.stdout
    assert f"passes functions in {total}" in (checkout / "docs/architecture.md").read_text()
