"""Context management by providers, and inspect_ai's own compaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, PrivateAttr

from mesocosm.agents.strategies import Strategy, View
from mesocosm.errors import UsageError

if TYPE_CHECKING:
    from inspect_ai.model import Compact, CompactionStrategy, GenerateConfig, Model, ModelOutput

_BETA = "context-management-2025-06-27"


class AnthropicEdits(Strategy, ABC):
    """One kind of edit that Anthropic's servers make to the context."""

    resets: ClassVar[bool] = True

    @abstractmethod
    def edit(self) -> dict[str, Any]:
        """The edit as the request names it."""

    def configure(self, config: GenerateConfig, model: Model) -> GenerateConfig:
        from inspect_ai.model import GenerateConfig

        if not str(model).startswith("anthropic/"):
            raise UsageError(f"strategy {self.name} is Anthropic's own and does not work with {model}")
        body = dict(config.extra_body or {})
        edits = [*body.get("context_management", {}).get("edits", []), self.edit()]
        # Anthropic wants the clearing of thinking before that of tool uses.
        edits.sort(key=lambda edit: str(edit["type"]))
        headers = {**(config.extra_headers or {}), "anthropic-beta": _BETA}
        more = GenerateConfig(
            extra_body={**body, "context_management": {"edits": edits}}, extra_headers=headers
        )
        return config.merge(more)


class AnthropicClearToolUses(AnthropicEdits):
    """Anthropic's servers clear the oldest tool uses (``clear_tool_uses_20250919``)."""

    name = "anthropic_clear_tool_uses"

    trigger: int = Field(default=180_000, gt=0)
    """Input tokens above which they do."""
    keep: int = Field(default=3, ge=0)
    """Latest tool uses that stay."""
    clear_at_least: int = Field(default=5_000, ge=0)
    """Tokens that a clearing must be worth, because it costs the cached prefix."""

    def acts_at(self, view: View) -> int | None:
        return self.trigger

    def edit(self) -> dict[str, Any]:
        return {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": self.trigger},
            "keep": {"type": "tool_uses", "value": self.keep},
            "clear_at_least": {"type": "input_tokens", "value": self.clear_at_least},
        }


class AnthropicClearThinking(AnthropicEdits):
    """Anthropic's servers clear older reasoning (``clear_thinking_20251015``); the model must reason."""

    name = "anthropic_clear_thinking"

    keep: int = Field(default=2, ge=1)
    """Latest answers whose reasoning stays."""
    budget: int = Field(default=10_000, ge=1024)
    """Tokens that it may reason with."""

    def configure(self, config: GenerateConfig, model: Model) -> GenerateConfig:
        from inspect_ai.model import GenerateConfig

        return super().configure(config, model).merge(GenerateConfig(reasoning_tokens=self.budget))

    def edit(self) -> dict[str, Any]:
        return {
            "type": "clear_thinking_20251015",
            "keep": {"type": "thinking_turns", "value": self.keep},
        }


class InspectCompaction(Strategy):
    """inspect_ai's compaction: ``native`` is the provider's own (OpenAI, Anthropic), ``auto`` that or a
    summary."""

    name = "compaction"
    resets: ClassVar[bool] = True
    alone: ClassVar[bool] = True

    method: Literal["auto", "native", "summary", "edit", "trim"] = "auto"
    """Which of its strategies."""
    threshold: float = Field(default=0.8, gt=0)
    """Tokens, or with a value up to 1 the share of the window, above which it acts."""
    _handler: Compact | None = PrivateAttr(default=None)

    def acts_at(self, view: View) -> int | None:
        if self.threshold > 1:
            return int(self.threshold)
        return round(self.threshold * view.window) if view.window else None

    async def before_turn(self, view: View) -> None:
        handler = self._handler
        if handler is None:
            from inspect_ai.model import compaction

            _count_offline()
            handler = self._handler = compaction(
                self._strategy(view), prefix=view.messages[:1], tools=None, model=view.model
            )
        shown, more = await handler.compact_input(list(view.history))
        view.messages[:] = shown
        if more:
            view.history.append(more)

    async def after_turn(self, view: View, output: ModelOutput) -> None:
        assert self._handler
        await self._handler.record_output(view.messages, output)

    def _strategy(self, view: View) -> CompactionStrategy:
        from inspect_ai import model

        kinds: dict[str, type[CompactionStrategy]] = {
            "auto": model.CompactionAuto,
            "native": model.CompactionNative,
            "summary": model.CompactionSummary,
            "edit": model.CompactionEdit,
            "trim": model.CompactionTrim,
        }
        at = self.acts_at(view)
        return kinds[self.method](threshold=self.threshold if at is None else at)  # type: ignore[call-arg]


def _count_offline() -> None:
    """Make inspect_ai count tokens with cl100k_base, as windows are counted here, so that compaction needs no
    download and is the same on all machines.
    """
    from tiktoken import registry

    from mesocosm.worlds import tokens

    registry.ENCODINGS["o200k_base"] = tokens.encoding()
