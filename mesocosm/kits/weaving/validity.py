"""Values with conditions: a document states two, of which one is valid at a time or for another value.

Who takes the other one goes on with it: what follows from it is another document that is there (``shadows``).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from mesocosm.kits.weaving.expressions import TreeValue
from mesocosm.kits.weaving.supply import Values
from mesocosm.kits.weaving.tree import Node, Validity

_FIRST_DAY, _DAYS = date(2027, 1, 1), 3650
_FARTHEST = 400
"""Days between a change and the day that counts, at most."""
_WINDOW = 30
"""A value depends on one of so many that are settled before it."""
_NEAR = 12
"""How far a threshold is from the value that is compared, at most."""
_DATED = (
    "{name} is {first} until {last}, and {second} from {day} on.",
    "From {day} on {name} equals {second}; before that it equals {first}.",
    "{name}: {first} up to and including {last}, {second} thereafter.",
    "On {day} {name} changes from {first} to {second}.",
)
_CONDITIONAL = (
    "{name} is {first} if {given} is below {threshold}, and {second} otherwise.",
    "If {given} is below {threshold}, {name} equals {first}; otherwise it equals {second}.",
    "{name}: {second}, unless {given} is below {threshold}; then {first}.",
    "As long as {given} is below {threshold}, {name} has value {first}, else {second}.",
)


def written(day: date) -> str:
    """Such as ``4 March 2031``."""
    return f"{day.day} {day:%B %Y}"


def some_day(rng: random.Random) -> date:
    return _FIRST_DAY + timedelta(days=rng.randrange(_DAYS))


@dataclass
class Calendar:
    """Gives values what they hold for.

    Args:
        rng: What it is drawn with.
        today: The day that counts.
        share: How many values get it.
        values: Where the values come from that do not count.
    """

    rng: random.Random
    today: date
    share: float
    values: Values

    def restrict(self, nodes: Sequence[Node], answer: Node | None = None) -> None:
        """Restrict values of nodes, each of which may depend on one before it.

        Args:
            nodes: In an order in which they can be settled.
            answer: The node whose value is asked for, which is one of its own kind.
        """
        settled: list[Node] = []
        for node in nodes:
            if node.role != "value" or node.value is None:
                continue
            if self.rng.random() < self.share:
                other = self.values.answer() if node is answer else self.values.draw(node.kind)
                node.validity = self.draw(node.value, other, settled)
            if node.kind == "integer":
                settled.append(node)

    def at_times(self, value: TreeValue, settled: Sequence[Node]) -> Validity | None:
        """Return the validity of a value without a node, if one is stated: a day, or another node's value."""
        if not self.share or self.rng.random() >= self.share:
            return None
        other = self.values.draw("string" if isinstance(value, str) else "integer")
        return self.draw(value, other, [self.rng.choice(settled)] if settled else [])

    def draw(self, value: TreeValue, other: TreeValue, settled: Sequence[Node]) -> Validity:
        """Make a validity under which the value holds and the other does not: at present, or by a settled
        node's value.
        """
        if settled and self.rng.random() < 0.5:
            given = self.rng.choice(settled[-_WINDOW:])
            assert isinstance(given.value, int)
            return self.as_long_as(other, given, [given.value])
        return self.for_a_time(other)

    def for_a_time(self, other: TreeValue) -> Validity:
        """Make a validity under which the other value held earlier or will hold later."""
        before = self.rng.random() < 0.5
        days = self.rng.randint(1, _FARTHEST) if before else -self.rng.randrange(_FARTHEST)
        return Validity(other, before, day=self.today + timedelta(days=days))

    def as_long_as(self, other: TreeValue, given: Node, values: Sequence[int]) -> Validity:
        """Make a validity under which the other value would hold if a node had a different value."""
        before = self.rng.random() < 0.5
        farther = self.rng.randrange(_NEAR)
        threshold = max(values) + 1 + farther if before else min(values) - farther
        return Validity(other, before, given=given, threshold=threshold)


def restricted_text(name: str, value: TreeValue, validity: Validity, rng: random.Random) -> str:
    """A statement of two values and of what they hold for."""
    first, second = (value, validity.other) if validity.before else (validity.other, value)
    if validity.given:
        return rng.choice(_CONDITIONAL).format(
            name=name,
            first=first,
            second=second,
            given=validity.given.variable,
            threshold=validity.threshold,
        )
    assert validity.day
    last = validity.day - timedelta(days=1)
    return rng.choice(_DATED).format(
        name=name, first=first, second=second, last=written(last), day=written(validity.day)
    )
