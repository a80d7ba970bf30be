"""Scripted players: whoever knows the best calls of every step makes one of them, or not.

They check the whole chain from the world to the report: what becomes of a player that errs with a known
probability can be computed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from mesocosm.errors import UsageError
from mesocosm.families.episode import Episode
from mesocosm.families.oracle import Call, Oracle
from mesocosm.services.calling import ToolError, Tools

R = TypeVar("R")


@dataclass
class Player:
    """Makes an optimal call with probability ``p``, else a random one of those that are not in vain.

    Args:
        p: 1 for an optimal player, 0 for a random one.
        seed: What it does at random follows from this.
        max_calls: After which it gives up.
    """

    p: float = 1.0
    seed: int = 0
    max_calls: int = 100_000
    _dice: random.Random = field(init=False)

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise UsageError(f"--p is a probability, from 0 to 1; got {self.p:g}")
        self._dice = random.Random(f"player:{self.p}:{self.seed}")

    @property
    def label(self) -> str:
        """Name of the player in results."""
        return {1.0: "optimal", 0.0: "random"}.get(self.p, f"noisy p={self.p:g}")

    def play(self, tools: Tools, ask: Callable[[Callable[[Episode], list[Call]]], list[Call]]) -> None:
        """Act until nothing is left to do. ``ask`` runs something on the episode between two calls."""
        for _ in range(self.max_calls):
            calls = ask(self.next)
            if not calls:
                return
            for call in calls:
                try:
                    tools.look(call.service, call.tool, dict(call.arguments))
                except ToolError:
                    continue

    def next(self, episode: Episode) -> list[Call]:
        """The calls of the next step; none at the end."""
        oracle, world, journal = episode.oracle, episode.world, episode.history()
        if world.calls.ended:
            return []
        if self.p < 1 and self._dice.random() >= self.p:
            return [self._random(oracle, episode)]
        plan = oracle.plan(world, journal)
        return plan[0].calls if plan else []

    def _random(self, oracle: Oracle, episode: Episode) -> Call:
        legal = oracle.legal(episode.world, episode.history())
        if legal is None:
            raise UsageError(
                f"{episode.family.name}: a player that errs needs a task whose possible calls are known: "
                "listworld, treeworld or gridworld"
            )
        return legal[self._dice.randrange(len(legal))]
