"""Random functions in which every statement matters to the result."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from mesocosm.kits.procedures.programs.grammar import (
    Assign,
    Atom,
    For,
    Function,
    Halve,
    If,
    ProgramValue,
    Statement,
    Test,
    run,
    without_one,
)

_VERBS = """
    blend carve chart drift etch fetch fold glide hoist kindle mark mend merge pace pack pile plait
    quilt rank reap scan sift slice sort stack stitch stow sweep tally thread trace trim tune twist
    weave weigh wind
""".split()  # noqa: SIM905 - a table
_NOUNS = """
    acorn amber apple badge barley birch brook cedar cliff clover cobalt copper coral delta ember fern
    flint garnet hazel heron indigo ivory jade lake larch lilac lotus maple meadow onyx opal otter
    pebble pine plum quartz raven reed river robin rust saffron slate spruce thistle tulip violet willow
    wren
""".split()  # noqa: SIM905 - a table
_VARIABLES = """
    total score best gap level count sum1 rest mix peak base tone step1 rate span load wave code1
""".split()  # noqa: SIM905 - a table
_TRIES = 40


class FunctionAuthor:
    """Draws functions for some inputs with which they will be tested."""

    def __init__(self, rng: random.Random, inputs: Sequence[Sequence[int]], *, thorough: bool = True) -> None:
        self._rng, self._inputs, self._thorough = rng, inputs, thorough
        self._names: set[str] = set()

    def function(self, statements: int) -> Function | None:
        """A function with about so many statements; ``None`` if none of them would matter throughout."""
        name = f"{self._rng.choice(_VERBS)}_{self._rng.choice(_NOUNS)}"
        while name in self._names:
            name = f"{name.rstrip('0123456789')}{self._rng.randint(2, 9999)}"
        for _ in range(_TRIES):
            made = self._drawn(name, statements)
            if not self._thorough or _all_matter(made, self._inputs):
                self._names.add(name)
                return made
        return None

    def _drawn(self, name: str, statements: int) -> Function:
        rng = self._rng
        variables = rng.sample(_VARIABLES, rng.randint(2, 3))
        takes_list = rng.random() < 0.65
        writer = _Body(rng, [*variables, "k"], variables)
        start = [Assign(v, ProgramValue(Atom(number=rng.randint(1, 40))), new=True) for v in variables]
        body: list[Statement] = list(start)
        left = max(1, statements - len(start))
        while left > 0:
            block = writer.block(min(left, rng.randint(3, 7)), takes_list)
            body.append(block)
            left -= _size([block])
        body.append(Assign(variables[0], writer.combined(variables)))
        return Function(name, takes_list, "k", tuple(body), variables[0], rng.randint(2, 60))


class _Body:
    def __init__(self, rng: random.Random, readable: list[str], writable: list[str]) -> None:
        self._rng, self._readable, self._writable = rng, readable, writable

    def combined(self, variables: Sequence[str]) -> ProgramValue:
        """A value in which the first variables both matter."""
        modulus = self._rng.randint(101, 997)
        return ProgramValue(Atom(variable=variables[0]), "+", Atom(variable=variables[1]), modulus)

    def block(self, size: int, takes_list: bool) -> Statement:
        rng = self._rng
        kind = rng.choice(("for", "for", "if", "halve"))
        if size < 2:
            return self.assign(None, False)
        if kind == "for":
            inner = tuple(self.lines(size - 1, "i", takes_list))
            return For("i", None if takes_list else rng.randint(3, 9), inner)
        if kind == "halve":
            variable = rng.choice(self._writable)
            others = [one for one in self._writable if one != variable]
            inner = tuple(self.assign(None, False, others) for _ in range(min(size - 1, 2)))
            return Halve(variable, rng.randint(1, 9), inner)
        return self.branch(size - 1, None, False)

    def lines(self, size: int, position: str | None, takes_list: bool) -> list[Statement]:
        made: list[Statement] = []
        while size > 0:
            if size >= 3 and self._rng.random() < 0.6:
                made.append(self.branch(2, position, takes_list))
                size -= 3
            else:
                made.append(self.assign(position, takes_list))
                size -= 1
        return made

    def branch(self, size: int, position: str | None, takes_list: bool) -> If:
        first = (self.assign(position, takes_list),)
        other = (self.assign(position, takes_list),) if size > 1 else ()
        modulus = self._rng.choice((0, 2, 3, 4, 5))
        left = self._atom(position, takes_list)
        if modulus:
            test = Test(
                left, modulus, self._rng.choice(("==", "!=")), Atom(number=self._rng.randrange(modulus))
            )
        else:
            right = Atom(number=self._rng.randint(5, 60))
            test = Test(left, 0, self._rng.choice(("<", "<=")), right)
        return If(test, first, other)

    def assign(self, position: str | None, takes_list: bool, among: Sequence[str] = ()) -> Assign:
        rng = self._rng
        variable = rng.choice(among or self._writable)
        sign = rng.choice(("+", "+", "*", "distance", "larger", "smaller"))
        modulus = rng.randint(101, 997) if sign in "+*" else 0
        left, right = Atom(variable=variable), self._atom(position, takes_list, variable)
        if rng.random() < 0.5:
            left, right = right, left
        return Assign(variable, ProgramValue(left, sign, right, modulus))

    def _atom(self, position: str | None, takes_list: bool, but: str = "") -> Atom:
        rng = self._rng
        if position and rng.random() < 0.6:
            return Atom(variable=position, of_list=takes_list)
        if rng.random() < 0.3:
            return Atom(number=rng.randint(2, 30))
        return Atom(variable=rng.choice([name for name in self._readable if name != but]))


def _size(body: Sequence[Statement]) -> int:
    size = 0
    for statement in body:
        size += 1
        if isinstance(statement, If):
            size += _size(statement.body) + _size(statement.other)
        elif not isinstance(statement, Assign):
            size += _size(statement.body)
    return size


def _all_matter(function: Function, inputs: Sequence[Sequence[int]]) -> bool:
    """True if dropping any one statement changes the result for some input."""
    right = [run(function, data) for data in inputs]
    if len(set(right)) < 2 and function.takes_list:
        return False
    return all(
        any(
            run(replace(function, body=body), data) != value
            for data, value in zip(inputs, right, strict=True)
        )
        for body in without_one(function.body)
    )
