"""Oracle interventions: before each turn the model is told the state or the next step, and earlier context
may be removed.

The paper's six configurations are no strategy, ``oracle:give=S``, ``P``, ``SP``, ``SH`` and ``SPH``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import Field, PrivateAttr, field_validator

from mesocosm.agents.strategies import Strategy, View
from mesocosm.errors import UsageError
from mesocosm.families.oracle import advice

if TYPE_CHECKING:
    from mesocosm.families.episode import Episode

R = TypeVar("R")

Given = Literal["S", "P", "SP", "SH", "SPH"]


class OracleHelp(Strategy):
    """Tells the model before each turn the exact state (S), the next step (P) or both; with H it is shown
    nothing else but the task."""

    name = "oracle"
    resets = True
    alone = True
    named = ("give",)

    give: Given = Field(default="SP")
    """S: the state; P: the next step; H: earlier turns are taken away, which needs S."""
    _told: str | None = PrivateAttr(default=None)

    @field_validator("give", mode="before")
    @classmethod
    def _ordered(cls, value: Any) -> Any:
        letters = str(value).upper().replace("+", "").replace(",", "")
        if "H" in letters and "S" not in letters:
            raise ValueError("history (H) can only be taken away where the state (S) is told")
        return (
            "".join(letter for letter in "SPH" if letter in letters) if set(letters) <= set("SPH") else value
        )

    async def before_turn(self, view: View) -> None:
        if view.episode is None:
            raise UsageError("strategy oracle: the oracle needs an episode of this process to look at")
        state, plan = "S" in self.give, "P" in self.give

        def ask(episode: Episode) -> tuple[str, str]:
            told = advice(episode.told_state() if state else None, episode.told_plan() if plan else None)
            prompt = episode.prompt
            return told, episode.oracle.brief(prompt, state=state, plan=plan)

        told, prompt = await view.episode.do(ask)
        if view.turn == 1:
            # The examples of the prompt take the form of what the model is told before its turns.
            first = view.messages[0]
            asked = await view.episode.do(lambda episode: episode.prompt.rstrip("\n"))
            text = first.text.replace(asked, prompt.rstrip("\n"), 1)
            view.messages[0] = first.model_copy(update={"content": text})
        # What was told before an earlier turn is no longer so.
        shown = view.messages[:1] if "H" in self.give else view.messages
        view.messages[:] = [message for message in shown if message.id != self._told]
        view.tell(told)
        self._told = view.messages[-1].id
        view.notes["oracle"] = told
