"""Mesocosm: mock tool servers, worlds of any length, tasks and checkers for tool-using agents."""

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if find_spec("mesocosm.kits"):  # the image of the code runner has none
    from mesocosm import kits as kits  # says to families which kits there are
if TYPE_CHECKING:
    from mesocosm.hosting.client import connect, connect_sync

__all__ = ["__version__", "connect", "connect_sync"]

__version__ = "0.8.0"

# openpyxl writes other bytes with lxml than without; whoever imports it first decides, so it is said here.
os.environ["OPENPYXL_LXML"] = "False"


def __getattr__(name: str) -> object:
    """The client of a server, which is loaded when it is first asked for."""
    if name not in ("connect", "connect_sync"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("mesocosm.hosting.client"), name)
