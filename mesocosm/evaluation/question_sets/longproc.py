"""Long procedures as questions: one prompt, the whole output as the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from mesocosm.evaluation.questions import Question, QuestionOptions, QuestionSet
from mesocosm.families.quantities import parse_lengths
from mesocosm.families.verdict import Check, Verdict
from mesocosm.kits.procedures import procedure_names, read_procedures
from mesocosm.kits.procedures.answers import Rule
from mesocosm.kits.procedures.prompts import Prompting
from mesocosm.kits.procedures.rows import ProcedureRow, make_rows


def _levels(value: Any) -> Any:
    if isinstance(value, list):
        value = ",".join(map(str, value))
    return parse_lengths(str(value))


def _names(value: Any) -> Any:
    names = value.split(",") if isinstance(value, str) else list(value)
    return procedure_names() if names == ["all"] else read_procedures(names)


class LongProcOptions(QuestionOptions):
    """Procedures and output sizes in tokens. ``lengths`` means the same as ``levels`` here."""

    procedures: Annotated[list[str], BeforeValidator(_names)] = Field(default_factory=procedure_names)
    lengths: Annotated[list[int], BeforeValidator(_levels)] = Field(
        default_factory=lambda: [500, 2_000, 8_000]
    )
    """Tokens of the right answer: it is the output that is long."""
    prompting: Prompting = "full"
    """``pairs``: countdown, travel without the procedure; ``segments``: routes, beliefs in four parts."""
    rule: Rule = "strict"
    """Rule of correctness: the exact text, or as the paper compares it."""


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
                    for row in make_rows(name, level, seed, options.prompting):
                        yield _question(row, options.rule)

    def judge(self, question: Question, answer: str) -> Verdict:
        """Judge an answer by its result; `report longproc` gives more detail on the same answers.

        Raises ``RuntimeError`` where this machine cannot run a program.
        """
        rule: Rule = "paper" if question.labels.get("rule") == "paper" else "strict"
        score = ProcedureRow(prompt=question.prompt, **question.expected).score(answer, rule)
        if score.unjudged:
            raise RuntimeError(score.why)
        text = "right" if score.exact else "not right"
        said = f"value {score.value:.3f}, text {text}, partial {score.partial:.3f}"
        where = f", line {score.line} (token {score.token})" if score.line else ""
        return Verdict.of(
            [Check(name="result", passed=score.value == 1.0, detail=f"{said}{where}. {score.why}".strip())]
        )


def _question(row: ProcedureRow, rule: Rule) -> Question:
    return Question(
        id=row.id,
        prompt=row.prompt,
        expected=row.model_dump(exclude={"prompt"}),
        length=row.level,
        seed=row.seed,
        tokens=row.input_tokens,
        labels={
            "procedure": row.procedure,
            "level": row.level,
            "output_tokens": row.output_tokens,
            "variant": row.variant,
            "rule": rule,
        },
    )


questions = LongProc()
