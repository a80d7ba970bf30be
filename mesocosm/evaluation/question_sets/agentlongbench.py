"""Questions about rollouts: the history in the prompt, one short answer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationError

from mesocosm.errors import UsageError
from mesocosm.evaluation.questions import Question, QuestionOptions, QuestionSet
from mesocosm.families.verdict import Check, Verdict
from mesocosm.kits.rollouts.dataset import DatasetPlan, RolloutRow, RolloutTrajectory, make
from mesocosm.kits.rollouts.dataset_files import ASK, prompt
from mesocosm.kits.rollouts.predictions import told
from mesocosm.kits.rollouts.questions import TYPES, Type
from mesocosm.kits.rollouts.scores import answer_in, score
from mesocosm.kits.rollouts.transcript import FORMATS, Format, as_text
from mesocosm.kits.rollouts.twins import SETTINGS, Setting


def _words(value: Any) -> Any:
    return value.split(",") if isinstance(value, str) else value


class AgentLongBenchOptions(QuestionOptions):
    """Buckets and types of questions. A seed is one trajectory, with one question of each type."""

    settings: Annotated[tuple[Setting, ...], BeforeValidator(_words)] = SETTINGS
    formats: Annotated[tuple[Format, ...], BeforeValidator(_words)] = FORMATS
    types: Annotated[tuple[Type, ...], BeforeValidator(_words)] = TYPES
    items: int | None = Field(default=None, ge=20)
    counts: Literal["even", "paper"] = "even"
    """``paper``: so many questions of each type as the paper's tables say; a seed below 50 is one of the
    trajectories that it takes."""
    entities: str | None = None
    """A file with creatures of one's own (settings=ki)."""
    messages: bool = False
    """The history as the messages of a conversation, with their roles and calls, instead of one text."""


@lru_cache(maxsize=2)
def _made(
    plan: DatasetPlan, job: tuple[Format, int, int]
) -> list[tuple[RolloutTrajectory, list[RolloutRow]]]:
    return make(plan, job)


class AgentLongBench(QuestionSet):
    """Eight types of questions about every trajectory: those of ``dataset agentlongbench``, seed 0."""

    name: ClassVar[str] = "agentlongbench"
    title: ClassVar[str] = "Questions about long agent histories with known evidence (AgentLongBench)"
    Options: ClassVar[type[QuestionOptions]] = AgentLongBenchOptions
    solved: ClassVar[bool] = True

    def questions(self, options: AgentLongBenchOptions) -> Iterator[Question]:
        """One question per format, length, seed, setting and type."""
        for format in options.formats:
            for length in options.lengths:
                plan = _plan(options, format, length)
                for seed in options.seeds:
                    for trajectory, rows in _made(plan, (format, length, seed)):
                        # One of both: histories are long, and a bucket has hundreds of questions.
                        history = "" if options.messages else as_text(trajectory.messages)
                        for row in rows:
                            if row.type in options.types:
                                asked = prompt(trajectory, row) if options.messages else []
                                yield _question(row, history, seed, asked)

    def judge(self, question: Question, answer: str) -> Verdict:
        """Judge an answer: a score of 1 is right. The finding states partial scores."""
        row = RolloutRow.model_validate({"question": "", **question.expected})
        said = answer_in(answer)
        worth = score(said, row.answer, row.answer_kind)
        detail = told(worth, f"answered {said!r:.200}; the answer is {', '.join(row.answer)!r:.200}")
        return Verdict.of(
            [
                Check(name="answered", passed=bool(said), detail="" if said else "no <answer>...</answer>"),
                Check(name="answer", passed=worth == 1.0, detail=detail),
            ]
        )


def _plan(options: AgentLongBenchOptions, format: Format, length: int) -> DatasetPlan:
    try:
        return DatasetPlan(
            settings=options.settings,
            formats=(format,),
            lengths=(length,),
            items=options.items,
            counts=options.counts,
            entities=options.entities,
        )
    except ValidationError as error:
        raise UsageError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def _question(row: RolloutRow, history: str, seed: int, messages: list[dict[str, Any]]) -> Question:
    text = (
        "Below is the history of an agent that plays a guessing game, message by message. A question about "
        f"it follows.\n\n{history}\n\nQuestion: {row.question} {ASK}\n"
    )
    return Question(
        id=row.id,
        prompt=text,
        messages=messages,
        expected=row.model_dump(mode="json", exclude={"question"}),
        length=row.length,
        seed=seed,
        tokens=row.tokens,
        labels={
            "type": row.type,
            "setting": row.setting,
            "format": row.format,
            "evidence_tokens": row.evidence.tokens,
            "gold": "; ".join(row.answer),
        },
    )


questions = AgentLongBench()
