"""Modules that are imported when something of them is first used: what a linter of files does without."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def later(*names: str) -> tuple[Any, ...]:
    """Stands for the modules of these names, in their order::

    if TYPE_CHECKING:
        from mesocosm.servers.email import models
    else:
        (models,) = later("mesocosm.servers.email.models")
    """
    return tuple(map(_Later, names))


class _Later:
    """A module that looks itself up at each use, which costs as much as a dictionary does."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
