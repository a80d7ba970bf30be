"""Supply of names and values that never repeat."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass, field

from mesocosm.kits.weaving.expressions import TreeValue, ValueKind


@dataclass
class Numbers:
    """Different numbers from ``1`` to below ``span``; the span grows tenfold whenever half of it is used."""

    rng: random.Random
    span: int = 100
    used: set[int] = field(default_factory=set)

    def draw(self) -> int:
        """A number that was not drawn before."""
        while 2 * len(self.used) >= self.span:
            self.span *= 10
        number = self.rng.randrange(1, self.span)
        while number in self.used:
            number = self.rng.randrange(1, self.span)
        self.used.add(number)
        return number


@dataclass
class LetterSupply:
    """Different strings of letters."""

    rng: random.Random
    used: set[str] = field(default_factory=set)

    def draw(self, shortest: int, longest: int) -> str:
        """A string that was not drawn before; a letter longer than asked for where those are used up."""
        attempts = 0
        while True:
            length = self.rng.randint(shortest, longest) + attempts // 50
            text = "".join(self.rng.choices(string.ascii_letters, k=length))
            if text not in self.used:
                self.used.add(text)
                return text
            attempts += 1


def wide_span(drawn: int) -> int:
    """A span so wide that the last of so many numbers look like the first: later ones are no larger."""
    span = 100
    while span < 4 * drawn:
        span *= 10
    return span


class Values:
    """Supply of values, unique unless repetition is allowed, so that no value can stand in for another.

    Args:
        rng: Where they are drawn from.
        span: Integers are smaller than this, until half of them are used.
        negative_share: How many of the integers are below zero. None is zero.
        answer_letters: Length of the strings that a root gets.
        repeating: Integers may come twice, so that the span never grows.
    """

    def __init__(
        self,
        rng: random.Random,
        *,
        span: int = 100,
        negative_share: float = 0,
        answer_letters: int = 8,
        repeating: bool = False,
    ) -> None:
        self._rng = rng
        self._repeating = range(1, span) if repeating else None
        self._numbers = Numbers(rng, span)
        self._letters = LetterSupply(rng)
        self._negative_share = negative_share
        self._answer_letters = answer_letters

    def draw(self, kind: ValueKind) -> TreeValue:
        if kind == "string":
            return self._letters.draw(2, 4)
        number = self._rng.choice(self._repeating) if self._repeating else self._numbers.draw()
        return -number if self._rng.random() < self._negative_share else number

    def answer(self) -> str:
        """A value for a root."""
        return self._letters.draw(self._answer_letters, self._answer_letters)
