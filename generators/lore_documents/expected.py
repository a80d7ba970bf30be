"""What the checker of the family needs to know."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from mesocosm import family

ROOT = "v0"
"""The variable that is asked for."""


class Step(BaseModel):
    """One operation of the tree, with the values it is applied to."""

    model_config = ConfigDict(frozen=True)

    expression: str
    variables: list[str]
    values: dict[str, int | str]
    target: str
    result: str
    """What stands behind the ``%`` of the identifier that it computes."""

    @property
    def document(self) -> str:
        """The identifier that it computes."""
        return f"{self.target}%{self.result}"


class Expected(family.Expected):
    """The answer, and how it follows."""

    answer: str
    operations: int
    """N."""
    height: int
    """The longest chain of dependencies."""
    collections: int
    """How often leaves were collected in a list."""
    steps: list[Step]
    """In an order in which they can be taken; the last one leads to the answer."""
    documents: list[str]
    """All documents that can be reached, those in the prompt first."""
    other_answer: str
    """What a tree of another variable leads to."""
