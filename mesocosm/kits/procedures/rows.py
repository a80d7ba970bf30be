"""Rows of datasets, answers, and their scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from mesocosm.errors import UsageError
from mesocosm.families.workers.workers import Workers
from mesocosm.kits.procedures.answers import Rule, last_block, last_fence, value_of_lines, value_of_table
from mesocosm.kits.procedures.instance import make_instance, procedure
from mesocosm.kits.procedures.prompts import SEGMENTED, Prompting, asked_of, score_segment
from mesocosm.kits.procedures.protocol import Score
from mesocosm.kits.weaving.datasets import file_in_the_making
from mesocosm.worlds import tokens

VERSION = 2
"""Raised with every change that makes scores incomparable."""


class ProcedureRow(BaseModel):
    """One line of a dataset: all that asking and scoring need."""

    model_config = ConfigDict(extra="forbid")

    id: str
    procedure: str
    level: int
    """The output tokens that were asked for."""
    seed: int
    version: int
    prompt: str
    gold: str
    input_tokens: int
    """Of the prompt, by cl100k_base."""
    output_tokens: int
    """Of the gold."""
    case: dict[str, Any]
    """The input of the procedure, as data."""
    variant: str = ""
    """Another prompt for the case: ``pairs`` (no procedure), ``segment N`` (what is before it is given)."""

    def score(self, answer: str, rule: Rule = "strict") -> Score:
        """Score an answer; ``rule``: exact text, or as the paper compares."""
        of = procedure(self.procedure)
        case = of.CaseType.model_validate(self.case)
        if self.variant.startswith("segment"):
            return score_segment(self.gold, answer, of.BLOCKS[0])
        score = of.score(case, self.gold, answer)
        if self.variant == "pairs":
            # Any way to the result will do: there is no text to be compared.
            right = score.value == 1
            return Score(value=score.value, exact=right, partial=score.value, why="" if right else score.why)
        if rule == "paper" and not score.unjudged:
            if self.procedure == "tables":
                return score.model_copy(update={"value": value_of_table(self.gold, answer)})
            if self.procedure in SEGMENTED:
                return score.model_copy(update={"value": value_of_lines(self.gold, answer, of.BLOCKS)})
        return score

    def is_complete(self, answer: str) -> bool:
        """True if an answer's last tag or fence is closed."""
        name = procedure(self.procedure).BLOCKS[-1]
        fence = last_fence(answer, name)
        return bool(fence and fence[1]) or last_block(answer, name) is not None

    def scored(self, score: Score, model: str, **known: Any) -> Scored:
        return Scored(
            **score.model_dump(),
            **known,
            id=self.id,
            model=model,
            procedure=self.procedure,
            level=self.level,
            seed=self.seed,
            output_tokens=self.output_tokens,
            variant=self.variant,
            input_tokens=self.input_tokens,
            filtered=bool(self.case.get("filter")) if self.procedure == "tables" else None,
        )


class ProcedureAnswer(BaseModel):
    """One line of a file of answers."""

    id: str
    answer: str
    model: str = ""
    """The model that answered; reports have a series for each."""
    terminated: bool | None = None
    """True if it ended by itself within its tokens; unknown: judged by whether the last tag or fence is
    closed."""


class Scored(Score):
    """One line of a file of scores."""

    answered: bool = True
    """A row without an answer counts as wrong."""
    terminated: bool = True
    """True if the answer ended by itself."""
    variant: str = ""
    """The prompt, where it was not the procedure with its examples."""
    rule: Rule = "strict"
    """The rule by which it was right."""
    filtered: bool | None = None
    """Of a table: whether a filter said which items are wanted."""
    input_tokens: int = 0
    """Of the prompt."""

    id: str
    model: str
    procedure: str
    level: int
    seed: int
    output_tokens: int
    """Of the gold."""


def make_row(name: str, level: int, seed: int) -> ProcedureRow:
    [row] = make_rows(name, level, seed, "full")
    return row


def make_rows(name: str, level: int, seed: int, prompting: Prompting) -> list[ProcedureRow]:
    """The rows of one instance: one for each prompt."""
    made = make_instance(name, level, seed)
    return [
        ProcedureRow(
            id=made.id + asked.suffix,
            procedure=made.procedure.NAME,
            level=level,
            seed=seed,
            version=VERSION,
            prompt=asked.prompt,
            gold=asked.gold,
            input_tokens=tokens.count(asked.prompt),
            output_tokens=tokens.count(asked.gold),
            case=made.case.model_dump(mode="json"),
            variant=asked.variant,
        )
        for asked in asked_of(made, prompting)
    ]


def rows(
    names: Sequence[str],
    levels: Sequence[int],
    seeds: Sequence[int],
    workers: Workers,
    prompting: Prompting = "full",
) -> Iterator[bytes]:
    """The lines of all these, in that order: as many for each instance as there are prompts."""
    jobs = [(name, level, seed, prompting) for name in names for level in levels for seed in seeds]
    return workers.ordered(_lines, jobs)


def _lines(job: tuple[str, int, int, Prompting]) -> bytes:
    made = make_rows(*job)
    return b"".join(orjson.dumps(row.model_dump(), option=orjson.OPT_APPEND_NEWLINE) for row in made)


def write_rows(lines: Iterable[bytes], path: Path) -> Iterator[int]:
    """Write lines to a file that appears when it is complete; yields the bytes of each."""
    with file_in_the_making(path) as draft, draft.open("wb") as file:
        for line in lines:
            file.write(line)
            yield len(line)


# -- scoring -----------------------------------------------------------------------------------------------


M = TypeVar("M", bound=BaseModel)


def read_lines(path: Path, kind: type[M]) -> Iterator[M]:
    """The lines of a file as models of a kind; ``UsageError`` names the first that is none."""
    number = 0
    try:
        with path.open("rb") as file:
            for line in file:
                number += 1
                if line.strip():
                    yield kind.model_validate(orjson.loads(line))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (orjson.JSONDecodeError, ValidationError) as error:
        what = error.errors()[0] if isinstance(error, ValidationError) else None
        where = ".".join(map(str, what["loc"])) + ": " + what["msg"] if what else str(error)
        called = kind.__name__.removeprefix("Procedure").lower()
        raise UsageError(f"{path}, line {number}: not a line of {called}s: {where}") from None


def read_rows(path: Path) -> dict[str, ProcedureRow]:
    """The rows of a dataset by id."""
    found: dict[str, ProcedureRow] = {}
    for row in read_lines(path, ProcedureRow):
        if row.version != VERSION:
            raise UsageError(f"{path}: {row.id} is of version {row.version}; this program scores {VERSION}")
        found[row.id] = row
    if not found:
        raise UsageError(f"{path} holds no rows")
    return found


def score_answers(
    found: dict[str, ProcedureRow], answers: Iterable[ProcedureAnswer], rule: Rule = "strict"
) -> Iterator[Scored]:
    """Score each answer, and as wrong the rows that a model did not answer.

    Raises ``UsageError`` for an answer to a row that there is not, or given twice.
    """
    seen: set[tuple[str, str]] = set()
    models: dict[str, None] = {}
    for answer in answers:
        if answer.id not in found:
            raise UsageError(f"there is an answer to {answer.id!r}, which is no row of the dataset")
        if (answer.id, answer.model) in seen:
            raise UsageError(f"there are two answers to {answer.id!r}")
        seen.add((answer.id, answer.model))
        models[answer.model] = None
        row = found[answer.id]
        ended = row.is_complete(answer.answer) if answer.terminated is None else answer.terminated
        yield row.scored(row.score(answer.answer, rule), answer.model, terminated=ended, rule=rule)
    for model in models or {"": None}:
        for row in found.values():
            if (row.id, model) not in seen:
                none = Score(value=0.0, exact=False, partial=0.0, line=1, token=0, why="there is no answer")
                yield row.scored(none, model, answered=False, terminated=False, rule=rule)
