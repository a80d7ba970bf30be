"""Further entities that fill the length: of background kinds, and distractors."""

from __future__ import annotations

import random
from collections.abc import Callable

from mesocosm.kits.yaml_tasks.definition import Definition
from mesocosm.kits.yaml_tasks.entities import Entity, Wrong
from mesocosm.kits.yaml_tasks.truth import Truth

_PATIENCE = 50
"""Entities in a row of which nothing is told, before that is a mistake."""


class Further:
    """Background entities in the order in which they are made, whatever the budget: a larger one has those of
    a smaller one, and more."""

    def __init__(self, definition: Definition, truth: Truth, rng: random.Random) -> None:
        self._truth = truth
        self._rng = rng
        self.cases: list[tuple[str, str | None, str | None]] = []
        """EntityType, kind and distractor of each case."""
        self._weights: list[float] = []
        for name, fact in definition.entities.items():
            for kind, it in fact.cases.items():
                keys = ("entities", name, "cases", kind, "weight")
                weight = truth.number_from(it.weight or 0, keys)
                if weight > 0:
                    self.cases.append((name, kind, None))
                    self._weights.append(weight)
            for other, like in fact.distractors.items():
                weight = truth.number_from(like.weight, ("entities", name, "distractors", other, "weight"))
                if weight > 0:
                    self.cases.append((name, None, other))
                    self._weights.append(weight)
        self._made: list[tuple[Entity, int]] = []
        """Those beyond one of each case, with what they cost."""
        self._shown = 0
        """So many of these are among the background of the facts."""
        self._untold = 0

    def begin(self, cost_of: Callable[[Entity], int]) -> None:
        """Have one of each case."""
        for case in self.cases:
            cost_of(self._truth.add_background(*case))

    def add(self, budget: int, limit: float, cost_of: Callable[[Entity], int]) -> int:
        """Have as many more as cost ``limit`` tokens and not above ``budget``; returns what these cost."""
        spent = count = 0
        while spent < limit:
            if count == len(self._made):
                self._make(cost_of)
            cost = self._made[count][1]
            if spent + cost > budget:
                break
            spent += cost
            count += 1
        self._show(count)
        return spent

    def _make(self, cost_of: Callable[[Entity], int]) -> None:
        self._show(len(self._made))
        name, kind, other = self._rng.choices(self.cases, self._weights)[0]
        entity = self._truth.add_background(name, kind, other)
        cost = cost_of(entity)
        self._untold = self._untold + 1 if cost == 0 else 0
        if self._untold > _PATIENCE:
            keys = ("entities", name, "distractors" if other else "cases", other or kind)
            raise Wrong(keys, "no evidence tells anything of these, so they fill nothing")
        self._made.append((entity, cost))
        self._shown = len(self._made)

    def _show(self, count: int) -> None:
        """Let as many of them be there."""
        while self._shown < count:
            self._truth.bring_back(self._made[self._shown][0])
            self._shown += 1
        while self._shown > count:
            self._shown -= 1
            self._truth.drop_background(self._made[self._shown][0])
