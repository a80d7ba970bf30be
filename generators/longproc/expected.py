"""Knowledge of the checker of long procedures."""

from __future__ import annotations

from typing import Any

from mesocosm.families import family
from mesocosm.generators.longproc.params import Delivery


class Expected(family.Expected):
    """The case, its right answer, and where it is to be handed in."""

    procedure: str
    delivery: Delivery
    level: int
    """The output tokens that were asked for."""
    output_tokens: int
    """Of the gold."""
    case: dict[str, Any]
    gold: str
    other_gold: str
    """Of another case of the same kind."""
    sheets: list[str]
    """Names of all sheets."""
    own_sheets: list[str]
    """Names of those of the case."""

    @property
    def granted_calls(self) -> int:
        """A record may be written line by line, and mended."""
        return 3 * len(self.gold.splitlines()) if self.delivery == "record" else 0

    @property
    def measures(self) -> dict[str, int]:
        """The length of the output."""
        return {"output_tokens": self.output_tokens, "level": self.level}
