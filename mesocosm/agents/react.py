"""The agent of ``run --agent react``: the plain loop with a model of the user's choice.

Models, their retries and the MCP client are those of inspect_ai (the extra ``eval``). A model is named as
inspect_ai names it: ``openai/...``, ``anthropic/...``, or ``openai-api/<provider>/<model>`` for any endpoint
of chat completions, whose key and address are in ``<PROVIDER>_API_KEY`` and ``<PROVIDER>_BASE_URL``. Keys are
read from the environment only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
from rich.text import Text

from mesocosm.agents.loop import ASK_AGAIN, Conversation, Loop, LoopRules
from mesocosm.agents.strategies.registry import label, parse_strategies
from mesocosm.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from inspect_ai.model import Model

    from mesocosm.agents.strategies import EpisodeAccess

RETRIES = 5
"""Retries of a failed request to a provider."""


_PATIENCE, _FIRST_WORD = 5.0, 0.5
"""Seconds in which an endpoint takes a connection, and in which it may say something to it."""


def open_model(name: str, base_url: str | None = None, **config: Any) -> Model:
    """A model by its name; ``UsageError`` if it cannot be had."""
    try:
        from inspect_ai._util.error import PrerequisiteError
        from inspect_ai.model import GenerateConfig, get_model
    except ImportError:
        raise MissingExtra("a model", "eval") from None
    name = "local/smollm2" if name == "local" else name
    # Our tools have optional arguments, which strict schemas would not allow.
    compatible: dict[str, Any] = {"strict_tools": False} if name.startswith("openai-api/") else {}
    try:
        return get_model(
            name, base_url=base_url, config=GenerateConfig(**config), memoize=False, **compatible
        )
    except UsageError:
        raise
    except (PrerequisiteError, ValueError, ImportError) as error:
        # inspect_ai writes its messages for a terminal.
        reason = Text.from_markup(str(getattr(error, "message", error))).plain.removeprefix("ERROR: ")
        raise UsageError(f"the model {name!r} cannot be used: {reason.strip()}") from None


def check_endpoint(model: Model) -> None:
    """``UsageError`` if nobody answers at a model's address, as far as it is known.

    Nothing is asked of the model, and no key is sent. Requests of a run are repeated for minutes, because
    what fails in between may come back.
    """
    import httpx2

    url = str(getattr(getattr(model.api, "client", None), "base_url", None) or "")
    if not url.startswith("http"):
        return
    try:
        httpx2.get(url, timeout=httpx2.Timeout(_FIRST_WORD, connect=_PATIENCE))
    except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
        raise UsageError(
            f"the endpoint of {model} cannot be reached: {url} ({error or 'no connection in time'}): check "
            "--base-url (or NAME_BASE_URL), the network, and that the endpoint runs"
        ) from None
    except httpx2.HTTPError:
        pass  # somebody is there, which is what was asked


@dataclass(frozen=True)
class React:
    """The settings of the loop."""

    model: str
    base_url: str | None = None
    max_failed_rounds: int = 0
    """0: the rule is off."""
    max_turns: int | None = None
    temperature: float = 0
    strategy: str = "none"
    window: int | None = None
    """``None``: nothing is trimmed."""
    max_tokens: int | None = None
    """Of an answer."""
    final_text: bool = False
    """True if the last message is the answer, instead of a call of ``submit_answer``."""

    def open(self) -> Model:
        """The model; ``UsageError`` if it, or a strategy, cannot be had."""
        parse_strategies(self.strategy)
        config: dict[str, Any] = {"max_tokens": self.max_tokens} if self.max_tokens else {}
        return open_model(
            self.model,
            self.base_url,
            temperature=self.temperature,
            parallel_tool_calls=True,
            max_retries=RETRIES,
            **config,
        )


@dataclass
class Talk:
    """One conversation about one task."""

    settings: React
    model: Model
    ending: Collection[str]
    """Names of the tools that end the episode."""
    write: Callable[[dict[str, Any]], object]
    """Takes each turn of the conversation down."""
    episode: EpisodeAccess | None = None
    conversation: Conversation = field(init=False)

    def __post_init__(self) -> None:
        self.strategies = parse_strategies(self.settings.strategy)
        self.conversation = Conversation(
            model=self.settings.model,
            max_failed_rounds=self.settings.max_failed_rounds,
            temperature=self.settings.temperature,
            strategy=label(self.strategies),
            window=self.settings.window,
        )

    def hold(self, url: str, prompt: str, seconds: float) -> None:
        """Work on the task through the MCP endpoint at ``url``; raises what the provider raises."""
        anyio.run(self._hold, url, prompt, seconds)

    async def _hold(self, url: str, prompt: str, seconds: float) -> None:
        from inspect_ai.model import GenerateConfig
        from inspect_ai.tool import mcp_connection, mcp_server_http

        rules = LoopRules(
            strategies=self.strategies,
            window=self.settings.window,
            answer=self.settings.max_tokens or 0,
            max_failed_rounds=self.settings.max_failed_rounds,
            max_turns=self.settings.max_turns,
            ask_again=ASK_AGAIN,
            ending=self.ending,
            final_text=self.settings.final_text,
        )
        server = mcp_server_http(name="mesocosm", url=url)
        async with self.model, mcp_connection([server]):
            tools = await server.tools()
            loop = Loop(rules, self.model, GenerateConfig(), self.conversation, self.write, self.episode)
            with anyio.move_on_after(seconds):
                await loop.hold(prompt, tools)
                return
            self.conversation.ended = "seconds"
