"""Refusals of a warehouse: a number, an SQLSTATE and a text."""

from __future__ import annotations

from mesocosm.errors import Invalid


class SqlError(Invalid):
    """A statement that a warehouse declines, as Snowflake words it."""

    def __init__(self, number: int, state: str, text: str) -> None:
        super().__init__(f"{number:06d} ({state}): {text}", code=f"{number:06d}")
        self.number = number
        self.state = state
        self.text = text


def compilation(number: int, state: str, text: str) -> SqlError:
    """The refusal of a statement that cannot be compiled."""
    return SqlError(number, state, f"SQL compilation error:\n{text}")
