"""Refusals of a warehouse, and what DuckDB says where it fails."""

from __future__ import annotations

import re

from mesocosm.errors import Invalid
from mesocosm.services.queries.computed import SAID
from mesocosm.worlds import deadlines
from mesocosm.worlds.limits import settings

# Refusals of a warehouse: a number, an SQLSTATE and a text.

MARK = "\u2063"
"""Between a name with small letters and what tells its case, in what DuckDB is given: it takes no notice of
case."""
SPELLED = re.compile(f"{MARK}[01]+")
"""Matches the marks of a name's case."""


class SqlError(Invalid):
    """A statement that a warehouse declines, as Snowflake words it."""

    def __init__(self, number: int, state: str, text: str) -> None:
        text = SPELLED.sub("", text)
        super().__init__(f"{number:06d} ({state}): {text}", code=f"{number:06d}")
        self.number = number
        self.state = state
        self.text = text


def compilation(number: int, state: str, text: str) -> SqlError:
    """The refusal of a statement that cannot be compiled."""
    return SqlError(number, state, f"SQL compilation error:\n{text}")


_POSITION = re.compile(r"\n+LINE \d+:.*", re.DOTALL)


class Failed(Exception):
    """DuckDB does not compute a statement; a dialect says it in its vendor's words.

    ``kind`` is DuckDB's class of the error: ``Binder``, ``Conversion``, ``Catalog``, ``Out of Range`` ...
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


def failure(name: str, text: str) -> BaseException:
    """Translate a DuckDB error, by class name and text, into an exception."""
    if name == "InterruptException" or deadlines.overdue():
        return deadlines.Overdue()
    if name == "OutOfMemoryException":
        return Invalid(
            f"The statement needs more than the {settings().query_memory // 2**20} MB of memory that one may"
            " take. Aggregate or filter before joining and sorting."
        )
    kind, _, message = text.partition(" Error: ")
    if name in ("InternalException", "FatalException"):
        return Failed("Internal", message or kind)
    # What a function of ours says (``computed``) comes behind words about Python.
    _, mark, said = message.rpartition(f"ValueError: {SAID}")
    return Failed(kind, SAID + said if mark else _POSITION.sub("", message or kind).strip())
