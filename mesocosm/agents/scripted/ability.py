"""Abilities of the scripted models, checked before anything is built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mesocosm.agents.scripted.behaviours import SOLVING, read_name
from mesocosm.agents.scripted.exchange import RequestRefused
from mesocosm.agents.strategies.oracles import OracleHelp
from mesocosm.errors import UsageError

if TYPE_CHECKING:
    from mesocosm.agents.strategies import Strategy
    from mesocosm.families.family import Family

_PROVIDERS = ("scripted", "scripted-responses", "scripted-anthropic")


def _behaviour(model: str) -> str | None:
    """The behaviour of a scripted model; ``None`` for any other model."""
    provider, _, name = model.partition("/")
    if provider not in _PROVIDERS:
        return None
    try:
        return read_name(name).behaviour
    except RequestRefused as refused:
        raise UsageError(refused.message) from None


def check_can_play(model: str, family: Family, strategies: Sequence[Strategy]) -> None:
    """``UsageError`` where a scripted model cannot play a task.

    ``strategies`` are those of all configurations, of which one at least must tell ``obedient`` what to do.
    """
    behaviour = _behaviour(model)
    if behaviour in SOLVING and model.startswith("scripted/") and _has_pictures(family):
        raise UsageError(
            f"{model} cannot play {family.name}: chat completions carry no picture of a tool's result; "
            f"scripted-anthropic/{model.partition('/')[2]} can"
        )
    if behaviour == "obedient" and not any(
        isinstance(one, OracleHelp) and "P" in one.give for one in strategies
    ):
        raise UsageError(
            f"{model} does what an oracle tells it: give --strategy oracle:give=P, or one with S and P"
        )


def needs_truth(model: str, family: Family) -> bool:
    """True if a model is given the truth of an instance: a scripted one, for a task in YAML. Its prompt
    cannot be predicted from the file, and most such tasks are solved by the file's solution.
    """
    return model.startswith(tuple(f"{name}/" for name in _PROVIDERS)) and family.task.is_written


def _has_pictures(family: Family) -> bool:
    """True if the task's documents contain pictures, so that tools to rotate them are offered."""
    return any(tool.endswith("_image") for tools in family.task.servers.values() for tool in tools or ())


def check_can_answer(model: str, name: str, solved: bool) -> None:
    """``UsageError`` where a scripted model cannot answer a data set's questions; ``solved``: whether there
    is a solver for them."""
    behaviour = _behaviour(model)
    if behaviour == "obedient" or (behaviour in SOLVING and not solved):
        raise UsageError(f"{model} cannot answer the questions of {name}: it has no solver for them")
