"""Data sets of questions as tasks of inspect_ai."""

from __future__ import annotations

from typing import Any

from inspect_ai import Epochs, Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from mesocosm.errors import UsageError
from mesocosm.evaluation.questions import Question, QuestionSet, question_sets
from mesocosm.evaluation.samples import Row, explain
from mesocosm.worlds import tokens


def question_task(
    asked: QuestionSet,
    values: dict[str, Any],
    *,
    max_tokens: int | None = None,
    epochs: int | Epochs | None = None,
) -> Task:
    """A task of inspect_ai over the questions of a set."""
    questions = list(asked.questions(asked.options(**values)))
    if not questions:
        raise UsageError(f"{asked.name} has no questions with these options")
    return Task(
        dataset=MemoryDataset([_sample(question) for question in questions], name=asked.name),
        solver=generate(),
        scorer=judged(asked.name),
        config=GenerateConfig(
            temperature=1.0 if asked.temperature is None else asked.temperature,
            max_tokens=max_tokens or asked.max_tokens,
        ),
        epochs=epochs,
        name=asked.name,
        # All samples are run, and a log with errors is not done: run again, it goes on with these.
        fail_on_error=True,
        continue_on_fail=True,
        metadata={"questions": asked.name, "strategy": "none"},
    )


def _sample(question: Question) -> Sample:
    kept = question.model_dump(exclude={"prompt"})
    kept["tokens"] = question.tokens or tokens.count(question.prompt)
    return Sample(id=question.id, input=question.prompt, metadata={"question": kept})


@scorer(metrics=[mean(), stderr()])
def judged(name: str) -> Scorer:
    """The verdict of the set's own rule: 1 or 0, its findings as the explanation."""

    async def score(state: TaskState, target: Target) -> Score:
        question = Question(prompt=state.input_text, **state.metadata["question"])
        output = state.output
        verdict = question_sets()[name].judge(question, output.completion)
        if verdict.reward is None:
            raise RuntimeError(verdict.error or "the answer could not be judged")
        ended = {"model_length": "context", "max_tokens": "empty", "content_filter": "refused"}
        row = Row.of(
            verdict,
            task=name,
            length=question.length,
            seed=question.seed,
            edl=question.tokens,
            agent="answer",
            ended=ended.get(output.stop_reason, "stopped"),
            turns=1,
            largest_context=question.tokens,
            trajectory_length=question.tokens,
            output_tokens=output.usage.output_tokens if output.usage else None,
        )
        metadata = {**row.model_dump(), "findings": [check.model_dump() for check in verdict.findings]}
        return Score(
            value=verdict.reward,
            answer=verdict.verdict,
            explanation=explain(verdict.findings),
            metadata=metadata | {f"label_{key}": value for key, value in question.labels.items()},
        )

    return score
