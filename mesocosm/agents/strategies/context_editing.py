"""Taking away from a conversation: trimming, clearing of tool results and of reasoning, a summary in its
place.

Their parameters and defaults are those of the reference scaffold of LOCA-bench. All but the trim act after a
round of tools, when the context is above ``reset_size``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from mesocosm.agents.strategies import Strategy, View

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ChatMessageAssistant

RESET_SIZE = 200_000
_CONTINUES = (
    "The conversation so far was longer than this window and has been replaced by a summary of it, which you "
    "wrote yourself. The work that it names as done is done, in the systems behind the tools too: go on from "
    "there and do not begin again.\n\n<summary>\n{summary}\n</summary>"
)
_ASK = (
    "Your window is nearly full, and the conversation above will be replaced by what you write now. Write a "
    "summary from which you can finish the task without it: what was asked and every rule of it; what you "
    "have found, with exact names, ids, numbers and dates; what you have already changed, and with which "
    "calls; what is left to read and to do, and the next step. Answer with the summary alone."
)


class Trim(Strategy):
    """Drops the oldest answer of the model with its tool results, again and again, until the rest fits.

    The plain loop always does this last; the user's messages stay.
    """

    name = "trim"

    def acts_at(self, view: View) -> int | None:
        return None if view.window is None else view.window - view.answer

    async def before_turn(self, view: View) -> None:
        room = self.acts_at(view)
        if room is None:
            return
        while view.tokens > room and (cut := _oldest_round(view.messages)):
            del view.messages[cut[0] : cut[1]]


class Resetting(Strategy, ABC):
    """One that acts when the context is above a size."""

    resets: ClassVar[bool] = True

    reset_size: int = Field(default=RESET_SIZE, gt=0)
    """Tokens of the context above which it acts."""

    def acts_at(self, view: View) -> int | None:
        return self.reset_size

    async def before_turn(self, view: View) -> None:
        if view.messages[-1].role != "assistant" and view.turn > 1 and view.tokens > self.reset_size:
            await self.reset(view)

    @abstractmethod
    async def reset(self, view: View) -> None:
        """Take away from the conversation."""


class ClearToolResults(Resetting):
    """Removes the oldest calls with their results; what the model said beside them stays, and so does the
    last round."""

    name = "clear_tool_results"

    share: float = Field(default=0.5, gt=0, le=1)
    """Of the rounds of calls but the last, the share that goes."""

    async def reset(self, view: View) -> None:
        rounds = [message for message in view.messages if message.role == "assistant" and message.tool_calls]
        doomed = rounds[: int(self.share * (len(rounds) - 1))]
        gone = {id(message) for message in doomed}
        calls = {call.id for message in doomed for call in message.tool_calls or []}
        view.messages[:] = [
            _without_calls(message) if id(message) in gone and message.role == "assistant" else message
            for message in view.messages
            if not (message.role == "tool" and message.tool_call_id in calls)
        ]


class ClearThinking(Resetting):
    """Blanks the reasoning of all but the model's last answers."""

    name = "clear_thinking"

    keep: int = Field(default=1, ge=0)
    """Answers whose reasoning stays."""

    async def reset(self, view: View) -> None:
        answers = [message for message in view.messages if message.role == "assistant"]
        doomed = {id(message) for message in answers[: len(answers) - self.keep]}
        view.messages[:] = [
            _without_reasoning(message) if id(message) in doomed and message.role == "assistant" else message
            for message in view.messages
        ]


class Summarise(Resetting):
    """Lets the model write a summary of its work, which takes the place of everything but the prompt."""

    name = "summarise"

    temperature: float = Field(default=0.7, ge=0)
    """Of the request for the summary, which offers no tools."""

    async def reset(self, view: View) -> None:
        from inspect_ai.model import ChatMessageUser

        asked = [*view.messages, ChatMessageUser(content=_ASK)]
        output = await view.ask(asked, temperature=self.temperature)
        summary = output.message.text.strip()
        if summary:
            continued = ChatMessageUser(content=_CONTINUES.format(summary=summary))
            view.messages[:] = [view.messages[0], continued]


def _oldest_round(messages: Sequence[ChatMessage]) -> tuple[int, int] | None:
    """From where to where the oldest answer reaches, with its results and what was said after them about
    them."""
    start = next((at for at, message in enumerate(messages) if message.role == "assistant"), None)
    if start is None:
        return None
    end = start + 1
    while end < len(messages) and messages[end].role != "assistant":
        end += 1
    return start, end


def _without_calls(message: ChatMessageAssistant) -> ChatMessageAssistant:
    # Providers refuse an empty answer, and a reasoning block that no call follows.
    return message.model_copy(update={"tool_calls": None, "content": message.text or "(calls removed)"})


def _without_reasoning(message: ChatMessageAssistant) -> ChatMessageAssistant:
    if isinstance(message.content, str):
        return message
    left = [part for part in message.content if part.type != "reasoning"]
    return message if len(left) == len(message.content) else message.model_copy(update={"content": left})
