"""Pictures as statements: numbers as objects to count, rules as formulas."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mesocosm.generators.lore_multimodal.distortions import Step, choose_distortion
from mesocosm.generators.lore_multimodal.formulas import can_be_set, draw_formula
from mesocosm.generators.lore_multimodal.objects import KINDS, Scene
from mesocosm.kits.weaving import Node, Rule, TreeValue, ValueKind, Values
from mesocosm.kits.weaving.chains import ChainStatement, Writer
from mesocosm.servers.documents.store.pictures import combined, draw

# Wording of the text beside a picture.
#
# As short as the phrases of other documents, for the same reason: thousands of distractors repeat them.

_COUNTS = (
    "{name}: the number of {what} in the image.",
    "Value of {name}: how many {what} are shown.",
    "Variable {name} is the number of {what} shown.",
    "How many {what} the image shows is {name}.",
    "Count the {what} in the image for {name}.",
)
_FORMULAS = (
    "Compute X from the image, then read '{target}%X'.",
    "The image gives X; continue with '{target}%X'.",
    "With X as the image shows, read '{target}%X'.",
    "Work out the formula shown, then read '{target}%X'.",
    "X is in the image; next comes '{target}%X'.",
)
_NOTES = ("A negative X keeps its minus sign.", "Write no plus sign before X.", "X is an integer.", "")
_DISTORTED = ("The image may be distorted.", "It may need straightening.", "")


def count_text(name: str, what: str, rng: random.Random) -> str:
    """A statement of what to count for a variable's value."""
    return rng.choice(_COUNTS).format(name=name, what=what)


def formula_text(target: str, rng: random.Random, *, may_be_distorted: bool) -> str:
    """A statement of which document to read next, whose rule is a picture."""
    notes = _DISTORTED if may_be_distorted else _NOTES
    return f"{rng.choice(_FORMULAS).format(target=target)} {rng.choice(notes)}".strip()


if TYPE_CHECKING:
    from mesocosm.generators.lore_multimodal.filling import Params


class Count(int):
    """A value that a picture shows as a number of objects."""


class PicturedValues(Values):
    """Values, some of the integers of which are counts.

    Counts are small, so they come more than once.
    """

    def __init__(self, rng: random.Random, params: Params) -> None:
        super().__init__(rng, span=params.value_span, negative_share=params.negative_share)
        self._share, self._most = params.image_share, params.max_objects

    def draw(self, kind: ValueKind) -> TreeValue:
        if kind == "integer" and self._rng.random() < self._share:
            return Count(self._rng.randint(1, self._most))
        return super().draw(kind)


@dataclass(frozen=True)
class Formula:
    """A picture of a rule."""

    expression: str
    steps: tuple[Step, ...]
    """How it is distorted."""

    def upright(self) -> bytes:
        """The picture before it was distorted."""
        return draw_formula(self.expression)

    def __call__(self) -> bytes:
        """The picture as it is shown."""
        return draw(self.upright(), "image/png", combined(self.steps))[0]


class Painter(Writer):
    """Says with pictures what can be said with them.

    Args:
        params: How often, and how hard these are to read.
        seed: For everything in the pictures.
    """

    def __init__(self, params: Params, seed: int) -> None:
        self._params = params
        self._seed = seed

    def state(self, node: Node, rng: random.Random) -> ChainStatement:
        """The statement of a node that is no list."""
        if node.states and self._is_drawn(node.states, rng):
            return self._formula(node.states, node.id, rng)
        if isinstance(node.value, Count):
            return self._objects(node, node.value, rng)
        return super().state(node, rng)

    def _is_drawn(self, rule: Rule, rng: random.Random) -> bool:
        if rule.operator.gives != "integer" or not can_be_set(rule.expression):
            return False
        return rng.random() < self._params.formula_share

    def _formula(self, rule: Rule, file_id: str, rng: random.Random) -> ChainStatement:
        kinds, dice = self._params.distortions, random.Random(f"{self._seed}:{file_id}")
        distorted = bool(kinds) and dice.random() < self._params.distorted_share
        steps = (choose_distortion(kinds, dice),) if distorted else ()
        text = formula_text(rule.target, rng, may_be_distorted=bool(kinds))
        return ChainStatement(text, Formula(rule.expression, steps))

    def _objects(self, node: Node, count: Count, rng: random.Random) -> ChainStatement:
        seed, most = f"{self._seed}:{node.id}", self._params.distractor_objects
        kind = rng.choice(KINDS) if most else None
        others = random.Random(f"{seed}:others").randint((most + 2) // 3, most)
        text = count_text(node.variable, kind.plural if kind else "objects", rng)
        return ChainStatement(text, Scene(count, kind, others, seed))
