"""How the product's REST API reads what a client sends: more kindly than the tools do.

WordPress passes over fields that it does not know and takes numbers and truth values that are written as
text, so that clients can send back what they read, with more in it. An agent that calls a tool is better
served by being told of its mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_TOLERANT: ContextVar[bool] = ContextVar("tolerant", default=False)
_WHOLE = re.compile(r"(-?\d{1,18})(?:\.0+)?", re.ASCII)
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@contextmanager
def tolerant() -> Iterator[None]:
    """Read what comes within this context as the REST API does."""
    before = _TOLERANT.set(True)
    try:
        yield
    finally:
        _TOLERANT.reset(before)


def is_tolerant() -> bool:
    """Whether a client of the REST API is being served."""
    return _TOLERANT.get()


def number_in(value: Any) -> Any:
    """The whole number that a text stands for, if texts are taken; any other value as it is."""
    if isinstance(value, str) and is_tolerant() and (found := _WHOLE.fullmatch(value)):
        return int(found[1])
    return value


def boolean_in(value: Any) -> Any:
    """The truth value that a text, 0 or 1 stands for, if these are taken; any other value as it is."""
    if isinstance(value, str | int) and is_tolerant():
        return _BOOLEANS.get(str(value).lower(), value)
    return value
