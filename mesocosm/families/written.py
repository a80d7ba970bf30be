"""Families from files that are whole tasks.

It is a kit's, and kits stand above families: ``mesocosm/kits/__init__.py`` says here which there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from mesocosm.families.task import Growth, Task

Make = Callable[["Task", Path, Mapping[str, Callable[..., Any]]], Any]
"""From a task, its file and the functions beside it to what stands for generator, checker and solver."""

KITS: dict[Literal["entities", "domain"], Make] = {}
"""By the key that the file has."""


SIZES: dict[Literal["entities"], Callable[[Task, Path], Growth]] = {}
"""Number of entities at a length, for files that do not say it."""


def written(task: Task, path: Path, functions: Mapping[str, Callable[..., Any]]) -> Any:
    """Return generator, checker and solver of a file that is the whole task."""
    return KITS["domain" if task.domain else "entities"](task, path, functions)
