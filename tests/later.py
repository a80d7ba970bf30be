"""Libraries that one file of tests needs and that take a second to load: with the first test, not when tests
are collected, which each worker does for all of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Later:
    """A module that is loaded when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks everything in a file of tests whether it is a fixture
            raise AttributeError(name)
        return getattr(import_module(self._name), name)
