"""Libraries that one file of tests needs and that take a second to load: with the first test, not when tests
are collected, which each worker does for all of them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


class Later:
    """A module that is loaded when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks everything in a file of tests whether it is a fixture
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


def later_or_skip(name: str) -> Later:
    """Such a module; without it, the file of tests that asks is skipped."""
    try:
        found = find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        pytest.skip(f"{name} is not installed", allow_module_level=True)
    return Later(name)
