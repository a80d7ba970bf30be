"""Data sets of questions as tasks of inspect_ai."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from inspect_ai import Epochs, Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall, ToolDef, ToolError

from mesocosm.errors import UsageError
from mesocosm.evaluation.failures import classify_answer
from mesocosm.evaluation.questions import Question, QuestionSet, question_sets
from mesocosm.evaluation.reasons import explained
from mesocosm.evaluation.samples import SampleRow, explain
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
        solver=[offer_called(), answer()],
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
    kept = question.model_dump(exclude={"prompt", "messages"})
    kept["tokens"] = question.tokens or tokens.count(question.prompt)
    asked = [_message(one) for one in question.messages] or question.prompt
    return Sample(id=question.id, input=asked, metadata={"question": kept})


def _message(message: Mapping[str, Any]) -> ChatMessage:
    """A message with its role, and with its calls as calls."""
    content = message["content"]
    match message["role"]:
        case "system":
            return ChatMessageSystem(content=content)
        case "assistant":
            calls = [
                ToolCall(
                    id=call["id"],
                    function=call["function"]["name"],
                    arguments=json.loads(call["function"]["arguments"]),
                )
                for call in message.get("tool_calls", [])
            ]
            return ChatMessageAssistant(content=content, tool_calls=calls or None)
        case "tool":
            return ChatMessageTool(
                content=content, tool_call_id=message["tool_call_id"], function=message["name"]
            )
        case _:
            return ChatMessageUser(content=content)


@solver
def offer_called() -> Solver:
    """Offer the tools that the conversation has called, which some providers want to know of, and forbid to
    call them: the answer is a text."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        names = {
            call.function
            for message in state.messages
            if isinstance(message, ChatMessageAssistant)
            for call in message.tool_calls or []
        }
        if names:
            state.tools = [_stub(name).as_tool() for name in sorted(names)]
            state.tool_choice = "none"
        return state

    return solve


@solver
def answer() -> Solver:
    """Ask the model once."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        with explained():
            return await generate(state, tool_calls="none")

    return solve


def _stub(name: str) -> ToolDef:
    async def called(conditions: list[dict[str, Any]]) -> str:
        raise ToolError("It cannot be called any more: answer the question.")

    return ToolDef(
        called,
        name=name,
        description="Queries by conditions.",
        parameters={"conditions": "The conditions."},
    )


@scorer(metrics=[mean(), stderr()])
def judged(name: str) -> Scorer:
    """The verdict of the set's own rule: 1 or 0, its findings as the explanation."""

    async def score(state: TaskState, target: Target) -> Score:
        question = Question(prompt=state.input_text, **state.metadata["question"])
        output = state.output
        verdict = question_sets()[name].judge(question, output.completion)
        if verdict.reward is None:
            raise RuntimeError(verdict.error or "the answer could not be judged")
        ends = {"model_length": "context", "max_tokens": "empty", "content_filter": "refused"}
        ended = ends.get(output.stop_reason, "stopped" if output.completion.strip() else "empty")
        row = SampleRow.of(
            verdict,
            task=name,
            length=question.length,
            seed=question.seed,
            edl=question.tokens,
            agent="answer",
            ended=ended,
            failure=classify_answer(verdict, ended),
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
