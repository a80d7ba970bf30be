"""A plain ReAct loop: the model thinks and calls tools, reads the results, and goes on until it is done.

Models, their retries and the MCP client are those of inspect_ai (the extra ``eval``); the loop is our own,
because of the rule of failed rounds. A model is named as inspect_ai names it: ``openai/...``,
``anthropic/...``, or ``openai-api/<provider>/<model>`` for any endpoint of chat completions, whose key and
address are in ``<PROVIDER>_API_KEY`` and ``<PROVIDER>_BASE_URL``. Keys are read from the environment only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import anyio
from pydantic import BaseModel
from rich.text import Text

from mesocosm.agents.rounds import FailedRounds
from mesocosm.errors import UsageError

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ChatMessageTool, Model, ModelOutput

_RETRIES = 5
"""How often a request to a provider that failed is made again."""

End = Literal["submitted", "stopped", "failed_rounds", "turns", "seconds", "context"]
"""Why a conversation ended: the episode was declared done; the model made no further call; the rule of
failed rounds; no turns or no time left; the model can take in no more."""


class Conversation(BaseModel):
    """What a run records of a conversation with a model."""

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
    temperature: float


@dataclass(frozen=True)
class React:
    """The settings of the loop."""

    model: str
    base_url: str | None = None
    max_failed_rounds: int = 0
    """0: the rule is off."""
    max_turns: int | None = None
    temperature: float = 0

    def open(self) -> Model:
        """The model; ``UsageError`` if it cannot be had."""
        try:
            from inspect_ai._util.error import PrerequisiteError
            from inspect_ai.model import GenerateConfig, get_model
        except ImportError:
            raise UsageError("--agent react needs the extra `eval`: pip install 'mesocosm[eval]'") from None
        config = GenerateConfig(temperature=self.temperature, parallel_tool_calls=True, max_retries=_RETRIES)
        # Our tools have optional arguments, which strict schemas would not allow.
        compatible: dict[str, Any] = {"strict_tools": False} if self.model.startswith("openai-api/") else {}
        try:
            return get_model(self.model, base_url=self.base_url, config=config, memoize=False, **compatible)
        except (PrerequisiteError, ValueError, ImportError) as error:
            # inspect_ai writes its messages for a terminal.
            reason = Text.from_markup(str(getattr(error, "message", error))).plain.removeprefix("ERROR: ")
            raise UsageError(f"the model {self.model!r} cannot be used: {reason}") from None


@dataclass
class Talk:
    """One conversation about one task."""

    settings: React
    model: Model
    ending: Collection[str]
    """Names of the tools that end the episode."""
    write: Callable[[dict[str, Any]], object]
    """Takes each turn of the conversation down."""
    conversation: Conversation = field(init=False)

    def __post_init__(self) -> None:
        self.conversation = Conversation(
            model=self.settings.model,
            max_failed_rounds=self.settings.max_failed_rounds,
            temperature=self.settings.temperature,
        )

    def hold(self, url: str, prompt: str, seconds: float) -> None:
        """Work on the task through the MCP endpoint at ``url``; raises what the provider raises."""
        anyio.run(self._hold, url, prompt, seconds)

    async def _hold(self, url: str, prompt: str, seconds: float) -> None:
        from inspect_ai.model import ChatMessageUser
        from inspect_ai.tool import mcp_connection, mcp_server_http

        tools = [mcp_server_http(name="mesocosm", url=url)]
        async with mcp_connection(tools):
            with anyio.move_on_after(seconds):
                self.conversation.ended = await self._turns([ChatMessageUser(content=prompt)], tools)
                return
            self.conversation.ended = "seconds"

    async def _turns(self, messages: list[ChatMessage], tools: Any) -> End:
        from inspect_ai.model import execute_tools

        rule = FailedRounds(self.settings.max_failed_rounds)
        while self.settings.max_turns is None or self.conversation.turns < self.settings.max_turns:
            output = await self.model.generate(messages, tools=tools)
            messages.append(output.message)
            self._count(output)
            if not output.message.tool_calls:
                self._take_down(output, [])
                return "context" if output.stop_reason == "model_length" else "stopped"
            executed = await execute_tools(messages, tools, max_output=0)
            messages += executed.messages
            results = [message for message in executed.messages if message.role == "tool"]
            self._take_down(output, results)
            over = rule.record([result.error is not None for result in results])
            self.conversation.failed_rounds += rule.consecutive > 0
            if any(result.function in self.ending and result.error is None for result in results):
                return "submitted"
            if over:
                return "failed_rounds"
        return "turns"

    def _count(self, output: ModelOutput) -> None:
        kept = self.conversation
        kept.turns += 1
        kept.rounds += bool(output.message.tool_calls)
        kept.calls += len(output.message.tool_calls or [])
        if output.usage:
            kept.input_tokens += output.usage.input_tokens
            kept.output_tokens += output.usage.output_tokens

    def _take_down(self, output: ModelOutput, results: list[ChatMessageTool]) -> None:
        self.write(
            {
                "turn": self.conversation.turns,
                "text": output.message.text,
                "calls": [
                    {
                        "tool": result.function,
                        "arguments": call.arguments,
                        "error": result.error.message if result.error else None,
                        "result": result.text,
                    }
                    for call, result in zip(output.message.tool_calls or [], results, strict=True)
                ],
                "stop_reason": output.stop_reason,
                "usage": output.usage.model_dump(exclude_none=True) if output.usage else None,
            }
        )
