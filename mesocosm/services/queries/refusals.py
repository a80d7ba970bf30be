"""Refusals of a warehouse: a number, an SQLSTATE and a text."""

from __future__ import annotations

import re

from mesocosm.errors import Invalid

MARK = "\u2063"
"""Between a name with small letters and what tells its case, in what DuckDB is given: it takes no notice of
case."""
SPELLED = re.compile(f"{MARK}[01]+")
"""What tells the case of a name."""


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
