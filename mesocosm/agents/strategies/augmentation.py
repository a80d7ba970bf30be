"""Strategies that give to the model: knowledge of its budget, a memory, programs that call tools."""

from __future__ import annotations

from pydantic import Field, PrivateAttr

from mesocosm.agents.strategies import Strategy, View
from mesocosm.agents.strategies.context_editing import Trim

_BUDGET = (
    "Your context window holds {window:,} tokens. After every round of calls you are told how many are used. "
    "Do not stop early or leave part of the task undone to save tokens: work until the task is finished."
)
_USED = "Context: {used:,} of {window:,} tokens used, {left:,} remain."
_MEMORY = (
    "You have a folder of your own, /memories, behind the memory tools. Earlier parts of this conversation "
    "may be taken away when it grows long; files in /memories stay. Look into it before you begin, write "
    "down there what you find and what you have done as you go (exact names, ids, numbers and dates), and "
    "read it again when something you need is no longer in the conversation. This folder is no part of the "
    "task: whatever the task says about a memory, about files or about what must not be changed means others."
)
_WARNING = (
    "Context: {used:,} tokens used. At {reset:,} tokens older parts of this conversation will be taken away. "
    "Write down in /memories now what you will still need."
)


class Awareness(Strategy):
    """Names the token budget in the prompt, and after every round of calls what is used and what remains."""

    name = "awareness"

    def brief(self, view: View) -> str:
        return _BUDGET.format(window=view.window) if view.window else ""

    async def before_turn(self, view: View) -> None:
        if view.window and view.messages[-1].role == "tool":
            used = view.tokens
            view.tell(_USED.format(used=used, window=view.window, left=max(0, view.window - used)))


class Memory(Strategy):
    """Adds the memory tool, says how to use it, and warns once before each reset of the conversation."""

    name = "memory"
    services = ("memory_tool",)

    threshold: float = Field(default=0.5, gt=0, le=1)
    """Share of the size at which something is taken away first, by a strategy, the provider or the trim, from
    which on it warns."""
    _warned: bool = PrivateAttr(default=False)

    def brief(self, view: View) -> str:
        return _MEMORY

    async def before_turn(self, view: View) -> None:
        sizes = [size for one in (*view.strategies, Trim()) if (size := one.acts_at(view)) is not None]
        if not sizes or view.messages[-1].role != "tool":
            return
        used, reset = view.tokens, min(sizes)
        if used >= reset or used < self.threshold * reset:
            # Above it the reset comes in this turn, below it has come: either way the next one is warned of
            # anew.
            self._warned = False
        elif not self._warned:
            self._warned = True
            view.tell(_WARNING.format(used=used, reset=reset))


class ProgrammaticToolCalling(Strategy):
    """Adds the tool that runs a Python program which may call the other tools."""

    name = "programmatic_tool_calling"
    services = ("programmatic_tool_calling",)
