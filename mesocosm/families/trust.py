"""Python beside a task file: it runs only if the user trusts it.

A task file may come from a stranger; reading, linting and building it runs none of its code. A file that
takes functions from the Python file of the same name beside it says so (``python: [distance, check]``), and
is refused until it is named with ``--trust``, or in ``MESOCOSM_TRUST``, which holds for the processes that a
command starts. The tasks of a package (Mesocosm's own, an installed one, or one that
``MESOCOSM_PATH`` names) are as trusted as its generators are.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from mesocosm.errors import UsageError
from mesocosm.services.content import roots

VARIABLE = "MESOCOSM_TRUST"
"""Paths of task files whose Python may be run, separated as in PATH; ``*``: whatever a command reads."""
_EVERYTHING = "*"


def trust(*tasks: str) -> None:
    """From now on, Python beside these task files may be run, by this process and those that it starts."""
    _add(*(str(Path(task).absolute()) for task in tasks if task.endswith((".yaml", ".yml"))))


def trust_everything() -> None:
    """Trust the Python beside any task file from now on, for reading runs made with it."""
    _add(_EVERYTHING)


def _add(*paths: str) -> None:
    os.environ[VARIABLE] = os.pathsep.join(dict.fromkeys([*_known(), *paths]))


def _known() -> list[str]:
    return [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]


@cache
def _tasks_of(root: Path) -> Path:
    return (root / "tasks").resolve()


def is_trusted(path: Path) -> bool:
    """True if the Python beside a task file may be run."""
    path = path.resolve()
    if path.parent in [_tasks_of(root.path) for root in roots()]:
        return True
    return any(known == _EVERYTHING or Path(known).resolve() == path for known in _known())


def code_of(path: Path) -> Path:
    """The Python file beside a task file."""
    return path.with_suffix(".py")


def stamp(path: Path) -> object:
    """Return a key that changes with the Python beside a task file and its trust."""
    try:
        status = code_of(path).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, is_trusted(path)


def functions(path: Path, names: Sequence[str]) -> dict[str, Callable[..., Any]]:
    """The functions that a task file takes from the Python beside it.

    Raises:
        UsageError: It is not trusted, not there, cannot be loaded, or has no such function.
    """
    if not names:
        return {}
    code = code_of(path)
    if not is_trusted(path):
        raise UsageError(
            f"{path}: it uses {', '.join(names)} from {code}, which is a program: review it, then add "
            f"--trust to run it (or name the task file in {VARIABLE})"
        )
    module = _load(code)
    found: dict[str, Callable[..., Any]] = {}
    for name in names:
        function = getattr(module, name, None)
        if not callable(function):
            own = [
                one for one, it in vars(module).items() if getattr(it, "__module__", "") == module.__name__
            ]
            raise UsageError(f"{code}: there is no function {name!r}; it has {', '.join(own) or 'none'}")
        found[name] = function
    return found


@cache
def _load(code: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"mesocosm_task_{code.stem}", code)
    if not code.is_file() or spec is None or spec.loader is None:
        raise UsageError(f"{code}: there is no such file, which its task file takes functions from")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # noqa: BLE001 - it is somebody's program
        raise UsageError(f"{code}: it cannot be loaded: {type(error).__name__}: {error}") from None
    return module
