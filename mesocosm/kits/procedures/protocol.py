"""Interface of a procedure: cases of any output length, the one right text, and scores."""

from __future__ import annotations

import random
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from mesocosm.errors import UsageError
from mesocosm.worlds import tokens

TOLERANCE = 0.05
"""Tolerance of a gold's tokens, as a share of the level."""


class ProcedureCase(BaseModel):
    """Case of a procedure; every procedure has its own kind."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Score(BaseModel):
    """Score of an answer."""

    model_config = ConfigDict(frozen=True)

    value: float
    """Value for tables: 1 or 0 for a result, the F1 of rows for tables."""
    exact: bool
    """True if the whole text is right, line by line."""
    partial: float
    """The share of the gold's lines (of a program's tests) before the first that deviates."""
    line: int | None = None
    """The first line that deviates, counted from 1 over all blocks of the answer."""
    token: int | None = None
    """Number of the gold's tokens before it."""
    why: str = ""
    """Error in the result, or in the first line that deviates."""
    unjudged: bool = False
    """True if the answer could not be judged here (see ``why``); excluded from statistics."""


C = TypeVar("C", bound=ProcedureCase)


class Procedure(Protocol[C]):
    """One kind of procedure: a module of this package."""

    NAME: str
    UPSTREAM: str
    """Its names in the benchmark's own files."""
    TITLE: str
    BLOCKS: tuple[str, ...]
    """The tags of an answer, in their order."""
    SHEET: int
    """About how many characters of input a sheet holds, where the input is spread over sheets."""
    SMALLEST: int
    """Output tokens below which there are no cases."""
    EXAMPLE: int
    """Output tokens of a worked example."""
    EXAMPLES: int
    """Number of worked examples a prompt has."""
    CaseType: type[C]

    @staticmethod
    def draw(rng: random.Random, level: int) -> C | None:
        """Draw a case whose gold has about ``level`` tokens; ``None`` if this attempt failed."""

    @staticmethod
    def distract(rng: random.Random, level: int) -> C:
        """A case that looks like one of such a level and is cheap to draw; it need not have one answer."""

    @staticmethod
    def rules() -> str:
        """Return the instructions and the output format: all that is judged."""

    @staticmethod
    def question(case: C) -> str:
        """Return the question about this case."""

    @staticmethod
    def given(case: C) -> list[str]:
        """The input, in units (lines, pages) that can be spread over sheets."""

    @staticmethod
    def gold(case: C) -> str:
        """The right answer, with its tags."""

    @staticmethod
    def score(case: C, gold: str, answer: str) -> Score:
        """Judge an answer; never raises."""


def output_tokens(gold: str) -> int:
    """The length of a gold."""
    return tokens.count(gold)


_TRIES = 60


def find_case(procedure: Procedure[C], level: int, name: str) -> C:
    """A case whose gold has ``level`` tokens within 5 %; the same for the same name.

    Raises ``UsageError`` that names the nearest level found if there is none in a bounded number of tries.
    """
    if level < procedure.SMALLEST:
        raise UsageError(
            f"{procedure.NAME}: {level} output tokens are too few; the nearest level is {procedure.SMALLEST}"
        )
    nearest: int | None = None
    for attempt in range(_TRIES):
        case = procedure.draw(random.Random(f"longproc:{procedure.NAME}:{level}:{name}:{attempt}"), level)
        if case is None:
            continue
        found = output_tokens(procedure.gold(case))
        if abs(found / level - 1) <= TOLERANCE:
            return case
        if nearest is None or abs(found - level) < abs(nearest - level):
            nearest = found
    near = f"the nearest has {nearest}" if nearest else "nor near it"
    raise UsageError(f"{procedure.NAME}: no instance of {level} output tokens was found; {near}")
