"""Discovery of servers, generators, checkers, solvers and tasks, in Mesocosm and in other packages.

A *root* is a package with folders of these names. Mesocosm is one. Others are packages installed with
an entry point (group ``mesocosm.content``, value: the package), and folders that ``MESOCOSM_PATH`` names,
separated as in ``PATH``; such a folder is imported by its own name, so that name is an identifier::

    acme_worlds/
      servers/tickets/{models,store,tools}.py
      generators/triage.py  checkers/triage.py  solvers/triage.py
      tasks/triage.yaml

What is in a root is registered by existing. No two roots may have a server or a task of one name.
"""

# Content is registered by existing: lists kept by hand drift (decision 036).

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import mesocosm
from mesocosm.errors import UsageError

PATH_VARIABLE = "MESOCOSM_PATH"
ENTRY_POINTS = "mesocosm.content"
FOLDERS = ("servers", "generators", "checkers", "solvers", "tasks")

_PLAIN = re.compile(r"[a-z0-9_]{1,100}")
"""Pattern of nearly all names: a task with such a name is found without a search."""


@dataclass(frozen=True)
class Root:
    """A package that holds content folders."""

    package: str
    path: Path

    def module(self, folder: str, *names: str) -> str | None:
        """The full name of a module in one of the folders; ``None`` if there is none."""
        place = self.path.joinpath(folder, *names)
        if place.with_suffix(".py").is_file() or (place / "__init__.py").is_file():
            return ".".join((self.package, folder, *names))
        return None

    def servers(self) -> Iterator[str]:
        """Names of the servers: the folders that have tools."""
        tools = [*self.path.glob("servers/*/tools.py"), *self.path.glob("servers/*/tools/__init__.py")]
        yield from sorted(path.relative_to(self.path).parts[1] for path in tools)

    def tasks(self) -> Iterator[Path]:
        """The task files."""
        yield from sorted(self.path.glob("tasks/*.yaml"))

    def task(self, name: str) -> Path | None:
        """The file of the task of that name."""
        if _PLAIN.fullmatch(name):
            path = self.path / "tasks" / f"{name}.yaml"
            return path if path.is_file() else None
        return next((path for path in self.tasks() if path.stem == name), None)


@cache
def roots() -> tuple[Root, ...]:
    """All roots, Mesocosm first; ``UsageError`` names one that cannot be used."""
    own = Root("mesocosm", Path(mesocosm.__file__).parent)
    installed = (_installed(point.value) for point in sorted(entry_points(group=ENTRY_POINTS)))
    folders = filter(None, os.environ.get(PATH_VARIABLE, "").split(os.pathsep))
    found = (own, *installed, *(_folder(Path(folder)) for folder in folders))
    _refuse_repeated(found)
    return found


def add_root(folder: Path) -> Root:
    """Use what is in a folder from here on, in this process and in those that it starts."""
    known = os.environ.get(PATH_VARIABLE)
    folder = folder.resolve()
    root = _folder(folder)
    if root not in roots():
        os.environ[PATH_VARIABLE] = os.pathsep.join(filter(None, (known, str(folder))))
        roots.cache_clear()
    return next(one for one in roots() if one.path == root.path)


@cache
def service_names() -> tuple[str, ...]:
    """Every service there is: the folders below ``servers/`` of all roots that have tools."""
    return tuple(sorted(name for root in roots() for name in root.servers()))


def find_module(folder: str, *names: str) -> str | None:
    """The full name of a module in a content folder of any root."""
    return next(filter(None, (root.module(folder, *names) for root in roots())), None)


def service_of(module: str) -> str | None:
    """The service whose rules a module holds, by its place in a root: ``<package>.servers.<service>...``."""
    for root in roots():
        if module.startswith(f"{root.package}.servers."):
            return module.removeprefix(f"{root.package}.servers.").partition(".")[0]
    return None


def _installed(package: str) -> Root:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(f"the entry point {ENTRY_POINTS} names {package!r}, which is no package")
    return Root(package, Path(spec.submodule_search_locations[0]))


def _folder(folder: Path) -> Root:
    """A folder of the user's, made importable by its own name behind everything else."""
    folder = folder.resolve()
    if not any((folder / name).is_dir() for name in FOLDERS):
        raise UsageError(f"{PATH_VARIABLE}: {folder} has none of the folders {', '.join(FOLDERS)}")
    if not folder.name.isidentifier():
        raise UsageError(
            f"{PATH_VARIABLE}: {folder.name!r} cannot be imported; name it like a Python package"
        )
    _finder().folders.setdefault(folder.name, folder)
    spec = importlib.util.find_spec(folder.name)
    found = [Path(place).resolve() for place in (spec and spec.submodule_search_locations) or ()]
    if folder not in found:
        raise UsageError(f"{PATH_VARIABLE}: {folder.name!r} is another package already; rename {folder}")
    return Root(folder.name, folder)


class _Finder(MetaPathFinder):
    """Finder of packages that are content folders; other folders beside them cannot be imported."""

    def __init__(self) -> None:
        self.folders: dict[str, Path] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The package of that name."""
        folder = self.folders.get(fullname)
        return PathFinder.find_spec(fullname, [str(folder.parent)]) if folder else None


@cache
def _finder() -> _Finder:
    finder = _Finder()
    sys.meta_path.append(finder)
    return finder


def _refuse_repeated(found: tuple[Root, ...]) -> None:
    owner: dict[str, Root] = {}
    for root in found:
        for name in (
            *(f"server {name!r}" for name in root.servers()),
            *(f"task {p.stem!r}" for p in root.tasks()),
        ):
            if name in owner:
                raise UsageError(f"there are two of the {name}: in {owner[name].path} and in {root.path}")
            owner[name] = root
