"""The plain ReAct loop: the model answers, its calls are made, it reads the results, until it is done.

Strategies act on the conversation before each turn; the trim acts after them, where the window is known.
Every turn is written to an append-only log, with what the model was shown, so that what a strategy took away
is still counted.
"""

# The loop is our own: a round, the calls of one turn of the model, cannot be counted by the server
# (decision 025).

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from mesocosm.agents.ledger import Ledger, ranges, shape
from mesocosm.agents.strategies import EpisodeAccess, Strategy, View
from mesocosm.agents.strategies.context_editing import Trim
from mesocosm.errors import UsageError

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ChatMessageTool, GenerateConfig, Model, ModelOutput
    from inspect_ai.tool import Tool, ToolInfo


# The rule that ends an episode after rounds of failures.


@dataclass
class FailedRounds:
    """Counts consecutive rounds in which every call failed.

    A round is one turn of the model: the calls that it made at once. Only who talks with the model knows
    them; a server sees calls, and cannot tell which of them were made together.
    """

    limit: int
    """So many of them in a row end the episode; 0: none do."""
    consecutive: int = 0

    def record(self, failed: Sequence[bool]) -> bool:
        """Take note of a round, by which of its calls failed; returns whether it ends the episode."""
        self.consecutive = self.consecutive + 1 if failed and all(failed) else 0
        return 0 < self.limit <= self.consecutive


End = Literal[
    "submitted", "stopped", "failed_rounds", "turns", "calls", "seconds", "context", "empty", "refused"
]
"""Reason why a conversation ended: the episode was declared done; the model made no further call; the rule of
failed rounds; no turns, calls or time left; the context is full; repeated empty answers; the provider's
filter stopped it."""

SUBMIT = "submit_answer"
FINAL_TEXT = (
    f"In this run there is no tool {SUBMIT}. Your last message, the first without a tool call, is your "
    "answer: write what you would submit, exactly as described, and nothing else."
)
HOW_SURE = (
    "The task is over, and nothing can be changed any more. How likely is it, in percent, that everything in "
    "it was done exactly as asked? Answer with one number from 0 to 100 and nothing else."
)
ASK_AGAIN = 50
"""Retries for an answer that is empty or was cut off by its limit, in the reference scaffold."""


class Conversation(BaseModel):
    """Record of a conversation with a model."""

    model: str
    ended: End | None = None
    """``None`` where a fault cut it off."""
    turns: int = 0
    """Answers of the model."""
    rounds: int = 0
    """Those of them that called tools."""
    failed_rounds: int = 0
    """Those of them in which every call failed."""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    max_failed_rounds: int
    temperature: float | None
    strategy: str = "none"
    """The strategies, as they are written on the command line."""
    window: int | None = None
    largest_context: int = 0
    """Tokens (cl100k_base) of messages and tools at the turn that was shown most."""
    removed_tokens: dict[str, int] = {}
    """Tokens removed by each strategy, summed over the turns."""
    asked_again: int = 0
    """Answers that were empty or cut off, and asked for again."""
    confidence: float | None = None
    """The model's confidence from 0 to 1, if it was asked after the end."""
    own_seconds: float = 0
    """Time that neither the model nor its calls took: ours."""

    @property
    def trajectory_length(self) -> int:
        """The largest context of any turn and all that was ever taken away: the reference's definition."""
        return self.largest_context + sum(self.removed_tokens.values())


@dataclass(frozen=True)
class LoopRules:
    strategies: Sequence[Strategy] = ()
    window: int | None = None
    """Tokens that the model can take in, its answer included; ``None``: nothing is trimmed."""
    answer: int = 0
    """Tokens that are kept free for an answer."""
    max_failed_rounds: int = 0
    """0: the rule is off."""
    max_turns: int | None = None
    max_calls: int | None = None
    """Looked at after each round, as the reference does."""
    ask_again: int = ASK_AGAIN
    ending: Collection[str] = ()
    """Names of the tools that end the episode."""
    final_text: bool = False
    """True if the last message is the answer: ``submit_answer`` is not shown, and is called with it."""
    confidence: bool = False
    """True if the model is asked after the end how sure it is."""

    def __post_init__(self) -> None:
        if self.window is not None and self.window <= self.answer:
            raise UsageError(
                f"a window of {self.window:,} tokens leaves no room beside an answer of {self.answer:,}: "
                "give a larger --window or a smaller --max-tokens"
            )


def check_final_text(services: Collection[str]) -> None:
    """``UsageError`` where there is no answer that a last message could be."""
    if SUBMIT not in services:
        raise UsageError(f"--final-text is for tasks that end with {SUBMIT}; this one does not offer it")


@dataclass
class Loop:
    """One conversation with a model."""

    rules: LoopRules
    model: Model
    config: GenerateConfig
    kept: Conversation
    write: Callable[[dict[str, Any]], object]
    """Takes each turn down."""
    episode: EpisodeAccess | None = None
    messages: list[ChatMessage] = field(default_factory=list)
    """The messages that the model was shown last, and what came of them."""
    output: ModelOutput | None = None
    """The model's last answer."""
    _tools: dict[str, Tool] = field(default_factory=dict)
    _infos: list[ToolInfo] = field(default_factory=list)
    """The tools as the model sees them."""
    _logged: set[int] = field(default_factory=set)
    """Numbers of the messages that were taken down."""

    async def hold(self, prompt: str, tools: Sequence[Tool]) -> End:
        """Talk until it ends."""
        from inspect_ai.model import ChatMessageUser
        from inspect_ai.tool import ToolDef, ToolInfo

        definitions = [ToolDef(tool) for tool in tools]
        infos = [
            ToolInfo(name=one.name, description=one.description, parameters=one.parameters)
            for one in definitions
            if not (self.rules.final_text and one.name == SUBMIT)
        ]
        for strategy in self.rules.strategies:
            self.config = strategy.configure(self.config, self.model)
        view = View(
            messages=self.messages,
            history=[],
            model=self.model,
            ledger=Ledger(infos),
            window=self.rules.window,
            answer=self.rules.answer,
            tools=frozenset(info.name for info in infos),
            strategies=self.rules.strategies,
            episode=self.episode,
        )
        parts = [prompt.rstrip("\n"), FINAL_TEXT if self.rules.final_text else ""]
        parts += [strategy.brief(view) for strategy in self.rules.strategies]
        first = ChatMessageUser(content=prompt if not any(parts[1:]) else "\n\n".join(filter(None, parts)))
        self._add(view, first)
        self._tools = {definition.name: tool for definition, tool in zip(definitions, tools, strict=True)}
        self._infos = infos
        self.kept.ended = await self._turns(view)
        if self.rules.confidence and self.kept.ended != "context":
            await self._ask_how_sure(view)
        return self.kept.ended

    async def _ask_how_sure(self, view: View) -> None:
        """Ask for the confidence of success, without tools and outside the conversation."""
        from inspect_ai.model import ChatMessageUser

        output = await view.ask([*view.messages, ChatMessageUser(content=HOW_SURE)])
        self._count_tokens(output)
        found = re.findall(r"\d+(?:\.\d+)?", output.message.text)
        if found and float(found[-1]) <= 100:
            self.kept.confidence = float(found[-1]) / 100
        self.write({"turn": view.turn, "asked": HOW_SURE, "text": output.message.text, "calls": []})

    async def _turns(self, view: View) -> End:
        from inspect_ai.model import execute_tools

        rule = FailedRounds(self.rules.max_failed_rounds)
        while self.rules.max_turns is None or view.turn <= self.rules.max_turns:
            started, waited = perf_counter(), view.waited
            line = await self._prepare(view)
            asked = perf_counter()
            output = self.output = await self._answer(view)
            answered = perf_counter()
            for strategy in self.rules.strategies:
                await strategy.after_turn(view, output)
            self._count(output)
            self._add(view, output.message)
            line |= self._told(view, output)
            end = self._ends(output)
            results: list[ChatMessageTool] = []
            if end is None:
                calling = perf_counter()
                # inspect_ai looks at every tool that it is given anew, so it is given those that are called.
                names = dict.fromkeys(call.function for call in output.message.tool_calls or [])
                called_tools = [self._tools[name] for name in names if name in self._tools]
                executed = await execute_tools(view.messages, called_tools, max_output=0)
                called = perf_counter() - calling
                for message in executed.messages:
                    self._add(view, message)
                results = [message for message in executed.messages if message.role == "tool"]
                end = self._ends_round(rule, results)
            else:
                called = 0.0
                if end == "stopped" and self.rules.final_text:
                    end = await self._submit(output)
            line["calls"] = _calls(view, output, results)
            self._logged.update(call["n"] for call in line["calls"])
            self.write(line)
            own = perf_counter() - started - (answered - asked) - called - (view.waited - waited)
            self.kept.own_seconds = round(self.kept.own_seconds + own, 6)
            if end:
                return end
            view.turn += 1
        return "turns"

    async def _submit(self, output: ModelOutput) -> End:
        """Hand in what the model wrote last; it has ended without an answer if that is refused."""
        from inspect_ai.tool import ToolError

        try:
            await self._tools[SUBMIT](answer=output.message.text.strip())
        except ToolError:
            return "stopped"
        return "submitted"

    async def _prepare(self, view: View) -> dict[str, Any]:
        """Let the strategies act; returns the first half of the turn's line."""
        view.notes, view.asked = {}, []
        removed: dict[str, int] = {}
        for strategy in (*self.rules.strategies, Trim()):
            before = list(view.messages)
            await strategy.before_turn(view)
            if tokens := view.ledger.removed(before, view.messages):
                removed[strategy.name] = tokens
                self.kept.removed_tokens[strategy.name] = (
                    self.kept.removed_tokens.get(strategy.name, 0) + tokens
                )
        added = []
        for message in view.messages:
            number = view.ledger.number(message)
            if number not in self._logged:
                self._logged.add(number)
                added.append({"n": number, **shape(message)})
        for output in view.asked:
            self._count_tokens(output)
        context = view.tokens
        self.kept.largest_context = max(self.kept.largest_context, context)
        line: dict[str, Any] = {"turn": view.turn, "context": context}
        line["shown"] = ranges(view.ledger.number(message) for message in view.messages)
        return line | {
            key: value
            for key, value in (("added", added), ("removed", removed), ("notes", dict(view.notes)))
            if value
        }

    async def _answer(self, view: View) -> ModelOutput:
        """The model's answer; asked for again where there is none, or its limit cut it off."""
        output = await self.model.generate(view.messages, tools=self._infos, config=self.config)
        for _ in range(self.rules.ask_again):
            if not _lacking(output):
                break
            self._count_tokens(output)
            self.kept.asked_again += 1
            output = await self.model.generate(view.messages, tools=self._infos, config=self.config)
        return output

    def _ends(self, output: ModelOutput) -> End | None:
        if output.stop_reason == "model_length":
            return "context"
        if output.stop_reason == "content_filter":
            return "refused"
        if _lacking(output):
            return "empty"
        return None if output.message.tool_calls else "stopped"

    def _ends_round(self, rule: FailedRounds, results: Sequence[ChatMessageTool]) -> End | None:
        over = rule.record([result.error is not None for result in results])
        self.kept.failed_rounds += rule.consecutive > 0
        if any(result.function in self.rules.ending and result.error is None for result in results):
            return "submitted"
        if over:
            return "failed_rounds"
        if self.rules.max_calls is not None and self.kept.calls >= self.rules.max_calls:
            return "calls"
        return None

    def _add(self, view: View, message: ChatMessage) -> None:
        view.messages.append(message)
        view.history.append(message)
        view.ledger.number(message)

    def _count(self, output: ModelOutput) -> None:
        self.kept.turns += 1
        self.kept.rounds += bool(output.message.tool_calls)
        self.kept.calls += len(output.message.tool_calls or [])
        self._count_tokens(output)

    def _count_tokens(self, output: ModelOutput) -> None:
        if output.usage:
            self.kept.input_tokens += output.usage.input_tokens
            self.kept.output_tokens += output.usage.output_tokens

    def _told(self, view: View, output: ModelOutput) -> dict[str, Any]:
        told, number = shape(output.message), view.ledger.number(output.message)
        self._logged.add(number)
        return {
            "n": number,
            "text": told["content"],
            **({"reasoning": told["reasoning"]} if told.get("reasoning") else {}),
            "stop_reason": output.stop_reason,
            "usage": output.usage.model_dump(exclude_none=True) if output.usage else None,
        }


def _lacking(output: ModelOutput) -> bool:
    if output.message.tool_calls or output.stop_reason in ("model_length", "content_filter"):
        return False
    return output.stop_reason == "max_tokens" or not output.message.text.strip()


def _calls(view: View, output: ModelOutput, results: Sequence[ChatMessageTool]) -> list[dict[str, Any]]:
    answers = {result.tool_call_id: result for result in results}
    return [
        {
            "n": view.ledger.number(result),
            "tool": result.function,
            "arguments": call.arguments,
            "error": result.error.message if result.error else None,
            "result": result.text,
        }
        for call in output.message.tool_calls or []
        if (result := answers.get(call.id))
    ]
