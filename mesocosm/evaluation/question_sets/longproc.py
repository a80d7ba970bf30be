"""Long procedures as questions: one prompt, the whole output as the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from mesocosm.evaluation.questions import Question, QuestionOptions, QuestionSet
from mesocosm.families.quantities import parse_lengths
from mesocosm.families.verdict import Check, Verdict
from mesocosm.kits.procedures import procedure, procedure_names
from mesocosm.kits.procedures.rows import Row, make_row


def _levels(value: Any) -> Any:
    if isinstance(value, list):
        value = ",".join(map(str, value))
    return parse_lengths(str(value))


def _names(value: Any) -> Any:
    names = value.split(",") if isinstance(value, str) else list(value)
    names = procedure_names() if names == ["all"] else names
    for name in names:
        procedure(name)
    return names


class LongProcOptions(QuestionOptions):
    """Which procedures, and how many tokens of output; ``lengths`` is the same as ``levels`` here."""

    procedures: Annotated[list[str], BeforeValidator(_names)] = Field(default_factory=procedure_names)
    lengths: Annotated[list[int], BeforeValidator(_levels)] = Field(
        default_factory=lambda: [500, 2_000, 8_000]
    )
    """Tokens of the right answer: it is the output that is long."""


class LongProc(QuestionSet):
    """All procedures at all levels."""

    name: ClassVar[str] = "longproc"
    title: ClassVar[str] = (
        "Long procedures (LongProc): follow a procedure through thousands of tokens of output"
    )
    Options: ClassVar[type[QuestionOptions]] = LongProcOptions
    solved: ClassVar[bool] = True

    def questions(self, options: LongProcOptions) -> Iterator[Question]:
        """One question per procedure, level and seed."""
        for name in options.procedures:
            for level in options.lengths:
                for seed in options.seeds:
                    row = make_row(name, level, seed)
                    yield Question(
                        id=row.id,
                        prompt=row.prompt,
                        expected=row.model_dump(exclude={"prompt"}),
                        length=level,
                        seed=seed,
                        tokens=row.input_tokens,
                        labels={"procedure": name, "level": level, "output_tokens": row.output_tokens},
                    )

    def judge(self, question: Question, answer: str) -> Verdict:
        """Whether the result is right; `report longproc` says more of the same answers.

        Raises ``RuntimeError`` where this machine cannot run a program.
        """
        score = Row(prompt=question.prompt, **question.expected).score(answer)
        if score.unjudged:
            raise RuntimeError(score.why)
        text = "right" if score.exact else "not right"
        said = f"value {score.value:.3f}, text {text}, partial {score.partial:.3f}"
        where = f", line {score.line} (token {score.token})" if score.line else ""
        return Verdict.of(
            [Check(name="result", passed=score.value == 1.0, detail=f"{said}{where}. {score.why}".strip())]
        )


questions = LongProc()
