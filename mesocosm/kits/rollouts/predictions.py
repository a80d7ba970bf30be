"""Judging a file of predictions against a dataset: every question counts, answered or not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel

from mesocosm.errors import UsageError
from mesocosm.kits.rollouts.dataset import RolloutRow
from mesocosm.kits.rollouts.questions import Type
from mesocosm.kits.rollouts.scores import answer_in, score
from mesocosm.kits.rollouts.transcript import Format
from mesocosm.kits.rollouts.twins import Setting

How = Literal["prompt", "tools"]


class ScoredQuestion(BaseModel):
    """A question with its answer and score."""

    id: str
    model: str
    how: How = "prompt"
    """Setting of the history: in the prompt, or served and found with tools."""
    setting: Setting
    format: Format
    length: int
    type: Type
    evidence_tokens: int
    score: float
    missing: bool
    """No reply, or one without an answer."""
    answer: str | None
    gold: list[str]


def judge(rows: Sequence[RolloutRow], replies: Mapping[str, str | None], model: str) -> list[ScoredQuestion]:
    """Every question judged; ``replies`` holds the answers by the questions' ids."""
    return [judge_one(row, replies.get(row.id), model) for row in rows]


def judge_one(row: RolloutRow, answer: str | None, model: str) -> ScoredQuestion:
    """Score one question by the text in its answer tags; ``None`` is no answer."""
    return ScoredQuestion(
        id=row.id,
        model=model,
        setting=row.setting,
        format=row.format,
        length=row.length,
        type=row.type,
        evidence_tokens=row.evidence.tokens,
        score=score(answer, row.answer, row.answer_kind),
        missing=answer is None or not answer.strip(),
        answer=answer,
        gold=row.answer,
    )


def told(worth: float, said: str) -> str:
    """Format a score as the beginning of a finding."""
    return f"score {worth:.3f}: {said}"


def worth_told(detail: str) -> float:
    """Parse the score from a finding; 0 if there is none."""
    found = re.match(r"score (\d\.\d+): ", detail)
    return float(found[1]) if found else 0.0


def read_predictions(path: Path, rows: Sequence[RolloutRow]) -> dict[str, str | None]:
    """Answers by question id, from JSON lines.

    A line has an ``id`` and either ``reply``, all that the model said, or ``pred_answer``, the answer alone
    (as upstream's programs write it). ``UsageError`` says which line is wrong: not JSON, no such question, or
    a question that was answered before.
    """
    known = {row.id for row in rows}
    found: dict[str, str | None] = {}
    for number, value in _lines(path):
        where = f"{path}, line {number}"
        if not isinstance(value, dict) or not isinstance(value.get("id"), str):
            raise UsageError(f"{where}: a prediction is an object with a text `id`")
        if value["id"] not in known:
            raise UsageError(f"{where}: the dataset has no question {value['id']!r}")
        if value["id"] in found:
            raise UsageError(f"{where}: {value['id']!r} is answered a second time")
        found[value["id"]] = _answer(value, where)
    return found


def _answer(value: Mapping[str, Any], where: str) -> str | None:
    if ("reply" in value) == ("pred_answer" in value):
        raise UsageError(f"{where}: a prediction has either `reply` or `pred_answer`")
    if "reply" in value:
        reply = value["reply"]
        if reply is not None and not isinstance(reply, str):
            raise UsageError(f"{where}: `reply` is a text, not {type(reply).__name__}")
        return answer_in(reply or "")
    return as_text(value["pred_answer"])


def as_text(value: object) -> str | None:
    """An answer that was taken apart already, as a text."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                yield number, orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise UsageError(f"{path}, line {number}: not JSON: {error}") from None


CLOSED: tuple[Type, ...] = (
    "count_frequency_tool",
    "find_duplicates_tool",
    "count_correctness_env",
    "count_frequency_env",
    "weighted_summation_env",
)
"""Types whose answers are few, so that one of them is often right; names and rounds are many."""
QuestionForm = tuple[Type, Format]


def chances(scores: Iterable[ScoredQuestion]) -> dict[QuestionForm, float]:
    """By type and format what the best constant answer is worth, over all questions there are.

    Who reads one of two results, and answers as it says, does better on ``find_duplicates_tool``: a creature
    that is not in both is as often missing in the first as in the second.
    """
    golds: dict[QuestionForm, dict[str, tuple[str, ...]]] = {}
    for one in scores:
        if one.gold:
            golds.setdefault((one.type, one.format), {})[one.id] = tuple(one.gold)
    return {kind: _chance(kind[0], list(found.values())) for kind, found in golds.items()}


def _chance(type: Type, golds: Sequence[tuple[str, ...]]) -> float:
    if type not in CLOSED:
        return 0.0
    counted = Counter(golds)
    best = max(counted.values()) / len(golds)
    if type != "find_duplicates_tool":
        return best
    yes = counted["yes",] / len(golds)
    return max(best, yes + (1 - yes) / 2)


def chance_of(scores: Sequence[ScoredQuestion], known: Mapping[QuestionForm, float]) -> float | None:
    """The chance of some questions together; ``None`` where it is not known of one."""
    found = [known.get((one.type, one.format)) for one in scores]
    return None if None in found else sum(one or 0.0 for one in found) / len(found)


def above_chance(accuracy: float, chance: float | None) -> float | None:
    """Rescale an accuracy so that chance is 0 and everything right is 1."""
    return None if chance is None or chance >= 1 else (accuracy - chance) / (1 - chance)
