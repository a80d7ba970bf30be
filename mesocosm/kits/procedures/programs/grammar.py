"""Programs: their grammar, and an evaluator that does not run code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Atom:
    """A number, a variable, or the element of the list at the position of a variable."""

    number: int | None = None
    variable: str = ""
    of_list: bool = False
    """True if ``variable`` is a position in the list."""


@dataclass(frozen=True)
class ProgramValue:
    """``left sign right``, reduced modulo a number if there is one; an atom if there is no sign."""

    left: Atom
    sign: str = ""
    """``+``, ``*``, ``distance``, ``larger`` or ``smaller``."""
    right: Atom | None = None
    modulus: int = 0


@dataclass(frozen=True)
class Test:
    """A comparison; the left side reduced modulo a number if there is one."""

    left: Atom
    modulus: int
    sign: str
    """``<``, ``<=``, ``==`` or ``!=``."""
    right: Atom


@dataclass(frozen=True)
class Assign:
    """A variable gets a value."""

    variable: str
    value: ProgramValue
    new: bool = False


@dataclass(frozen=True)
class If:
    """One of two bodies; the second may be empty."""

    test: Test
    body: tuple[Statement, ...]
    other: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class For:
    """The body for each position of the list, or for each number below one."""

    variable: str
    below: int | None
    """``None``: the length of the list."""
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Halve:
    """The body as long as a variable is above a number; it is halved at the end of each round."""

    variable: str
    above: int
    body: tuple[Statement, ...]


Statement = Assign | If | For | Halve


@dataclass(frozen=True)
class Function:
    """A function of a number, and of the list if it has one; it returns a variable."""

    name: str
    takes_list: bool
    parameter: str
    body: tuple[Statement, ...]
    returns: str
    argument: int
    """With which the main program calls it."""


Outcome = tuple[int, ...]


def run(function: Function, data: Sequence[int]) -> int:
    values = {function.parameter: function.argument}
    _run(function.body, values, data)
    return values[function.returns]


def _run(body: Sequence[Statement], values: dict[str, int], data: Sequence[int]) -> None:
    for statement in body:
        match statement:
            case Assign(variable, value, _):
                values[variable] = _value(value, values, data)
            case If(test, first, other):
                _run(first if _holds(test, values, data) else other, values, data)
            case For(variable, below, inner):
                for at in range(len(data) if below is None else below):
                    values[variable] = at
                    _run(inner, values, data)
            case Halve(variable, above, inner):
                while values[variable] > above:
                    _run(inner, values, data)
                    values[variable] //= 2


def _atom(atom: Atom, values: dict[str, int], data: Sequence[int]) -> int:
    if atom.number is not None:
        return atom.number
    return data[values[atom.variable]] if atom.of_list else values[atom.variable]


def _value(value: ProgramValue, values: dict[str, int], data: Sequence[int]) -> int:
    found = _atom(value.left, values, data)
    if value.right is not None:
        other = _atom(value.right, values, data)
        match value.sign:
            case "+":
                found += other
            case "*":
                found *= other
            case "distance":
                found = abs(found - other)
            case "larger":
                found = max(found, other)
            case _:
                found = min(found, other)
    return found % value.modulus if value.modulus else found


def _holds(test: Test, values: dict[str, int], data: Sequence[int]) -> bool:
    left, right = _atom(test.left, values, data), _atom(test.right, values, data)
    if test.modulus:
        left %= test.modulus
    return {"<": left < right, "<=": left <= right, "==": left == right, "!=": left != right}[test.sign]


def without_one(body: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    """The body with one statement left out, each in turn, at any depth; declarations stay."""
    for at, statement in enumerate(body):
        before, after = body[:at], body[at + 1 :]
        if isinstance(statement, Assign):
            if not statement.new:
                yield before + after
            continue
        yield before + after
        if isinstance(statement, If):
            for inner in without_one(statement.body):
                yield (*before, If(statement.test, inner, statement.other), *after)
            if statement.other:
                yield (*before, If(statement.test, statement.body), *after)
        elif isinstance(statement, For):
            for inner in without_one(statement.body):
                yield (*before, For(statement.variable, statement.below, inner), *after)
        else:
            for inner in without_one(statement.body):
                yield (*before, Halve(statement.variable, statement.above, inner), *after)
