"""Context strategies, between a conversation and the model's input.

A strategy is one class. It sees the messages before each turn of the model and may change them::

    class Reminder(Strategy):
        '''Says every few turns what the task was.'''

        name = "reminder"
        every: int = 10

        async def before_turn(self, view: View) -> None:
            if view.turn > 1 and view.turn % self.every == 0:
                view.tell("Remember the task: " + view.messages[0].text)

Its fields are its parameters: ``--strategy reminder:every=5``. Several are combined with ``+`` and act in
that order: ``--strategy clear_tool_results+awareness``. One object serves one conversation, so it may keep
state in private attributes (pydantic's ``PrivateAttr``). Strategies are found in the modules of this package,
in the entry points of the group ``mesocosm.strategies``, and by where they lie: ``module::Class`` or
``path/to/file.py::Class``.

Messages are never changed in place (the log keeps them): put another object at its position, made with
``message.model_copy(update={...})``; it keeps its id, and so what it lost is counted as removed.
"""

# A strategy sees the messages before each turn, and nothing else, so that strategies can be combined
# (decision 060).

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, PrivateAttr

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput

    from mesocosm.agents.ledger import Ledger
    from mesocosm.families.episode import Episode

R = TypeVar("R")


class EpisodeAccess(Protocol):
    """The episode that the model acts on, for strategies that know more than the model (oracles)."""

    async def do(self, action: Callable[[Episode], R]) -> R:
        """Run something on the episode between two calls; ``UsageError`` where it is on another machine."""


@dataclass
class View:
    """A strategy's input before a turn."""

    messages: list[ChatMessage]
    """Messages for the model, the prompt first; change this list."""
    history: list[ChatMessage]
    """All that the model and its tools ever said, in order; only ever appended to."""
    model: Model
    ledger: Ledger
    window: int | None
    """Tokens that the model can take in, its answer included; ``None``: not known."""
    answer: int
    """Tokens that are kept free of it for an answer."""
    tools: frozenset[str]
    """Names of the tools that the model is offered."""
    strategies: Sequence[Strategy]
    """All that act on this conversation, in order."""
    episode: EpisodeAccess | None = None
    """``None`` where the model acts on no episode, as with questions."""
    turn: int = 1
    """The turn that comes, from 1."""
    notes: dict[str, str | int | float] = field(default_factory=dict)
    """Entries for the log of this turn."""
    asked: list[ModelOutput] = field(default_factory=list)
    """Answers of the model to strategies since the last turn; they count as the conversation's."""
    waited: float = 0
    """Seconds that strategies waited for these answers, in all."""

    @property
    def tokens(self) -> int:
        """Tokens of the messages and the tools as they stand."""
        return self.ledger.context(self.messages)

    async def ask(self, messages: list[ChatMessage], **config: Any) -> ModelOutput:
        """A request of a strategy's own, without tools, such as for a summary."""
        from inspect_ai.model import GenerateConfig

        started = perf_counter()
        output = await self.model.generate(messages, config=GenerateConfig(**config))
        self.waited += perf_counter() - started
        self.asked.append(output)
        return output

    def tell(self, text: str) -> None:
        """Say something to the model, as the user."""
        from inspect_ai.model import ChatMessageUser

        self.messages.append(ChatMessageUser(content=text))


class Strategy(BaseModel):
    """Strategy that edits a conversation before each turn; its fields are its parameters."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    name: ClassVar[str]
    """Name on the command line."""
    services: ClassVar[tuple[str, ...]] = ()
    """Mock services that it needs in the episode; they are added to the task's own."""
    resets: ClassVar[bool] = False
    """True if it takes away from the conversation when it has grown too long."""
    alone: ClassVar[bool] = False
    """True if it cannot be combined with others that take something away."""
    named: ClassVar[tuple[str, ...]] = ()
    """Parameters that labels name also where they are the default."""
    _found_as: str = PrivateAttr(default="")
    """Name it was requested by, if it is not installed: ``module::Class``, ``file.py::Class``."""

    @property
    def called(self) -> str:
        """The name by which it is found again."""
        return self._found_as or type(self).name

    def acts_at(self, view: View) -> int | None:
        """Tokens of the context from which on it takes away from the conversation; ``None``: it does not, or
        whatever the size."""
        return None

    def brief(self, view: View) -> str:
        """A paragraph for the end of the prompt, or nothing."""
        return ""

    def configure(self, config: GenerateConfig, model: Model) -> GenerateConfig:
        """The settings of the model's requests; ``UsageError`` for a model that this cannot work with."""
        return config

    async def before_turn(self, view: View) -> None:
        """See the conversation before the model does, and change what it will see."""

    async def after_turn(self, view: View, output: ModelOutput) -> None:
        """See what the model answered to ``view.messages``, before its calls are made."""
