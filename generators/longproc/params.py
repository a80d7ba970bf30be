"""Parameters of long procedures."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from mesocosm.errors import UsageError
from mesocosm.families import family
from mesocosm.kits.procedures import procedure
from mesocosm.kits.procedures.instance import MAX_LEVEL

Delivery = Literal["answer", "record", "file"]


class Params(family.Params):
    """Procedure, length of its output, and the noise around its input."""

    procedure: str = "routes"
    """tables, programs, programs_cpp, routes, beliefs, countdown or travel."""
    output_tokens: int = Field(default=2_000, ge=1, le=MAX_LEVEL)
    """Tokens of the right answer, within 5 %."""
    delivery: Delivery = "answer"
    """``answer`` is submitted in one piece, ``record`` is written line by line, ``file`` into the workspace,
    where the input is then too."""
    distractor_cases: int = Field(default=0, ge=0)
    """Other cases of the same kind and size (besides those of ``filler_tokens``)."""

    @field_validator("procedure")
    @classmethod
    def _known(cls, name: str) -> str:
        try:
            procedure(name)
        except UsageError as error:
            raise ValueError(str(error)) from None
        return name
