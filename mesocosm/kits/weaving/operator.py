"""Operators: what one operation of a tree can be."""

from __future__ import annotations

import importlib
import pkgutil
import random
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from typing import ClassVar

from mesocosm.errors import UsageError
from mesocosm.kits.weaving.expressions import TreeValue, ValueKind, evaluate
from mesocosm.kits.weaving.program import Identifiers, Program

_PACKAGE = "mesocosm.kits.weaving.operators"
_NAME = re.compile(r"\bv\d+\b")


class Operator(ABC):
    """One kind of operation: how many values it takes, of which kind, and the rule over them.

    A rule must tell all values apart: with one of them changed and the others kept, its value has to change.
    Otherwise a leaf could be misread without consequence. Only a rule that chooses (``spare``) need not.
    """

    takes: ClassVar[ValueKind] = "integer"
    gives: ClassVar[ValueKind] = "integer"
    children: ClassVar[tuple[int, int]] = (2, 4)
    """The least and the greatest number of values."""
    code_only: ClassVar[bool] = False
    """True if only programs (top-down trees) can use it, because documents have no formula for it."""
    words: ClassVar[tuple[str, ...]] = ()
    """Words that a task's prompt has to explain for it: functions that its expressions or programs call."""
    spare: ClassVar[int] = 0
    """Number of of the variables, the last ones, are alternatives not chosen. Trees do not grow there."""

    @abstractmethod
    def write(self, variables: Sequence[str], rng: random.Random) -> str:
        """An expression over all these variables, each named at least once."""

    def execute(self, expression: str, values: Mapping[str, TreeValue]) -> TreeValue:
        """The value of an expression that ``write``, ``settle`` or ``limit`` returned."""
        return evaluate(expression, values)

    # What programs need, and documents do not.

    def settle(self, expression: str, variables: Sequence[str], values: Mapping[str, TreeValue]) -> str:
        """The expression as it stands once the values are known: one that does not choose spare variables."""
        return expression

    def limit(self, expression: str, add: int, modulus: int | None) -> str:
        """Return the expression plus ``add`` (unless 0), modulo ``modulus`` (if any)."""
        total = f"{expression} + {add}" if add else expression
        return f"({total}) % {modulus}" if modulus else total

    def evaluated(self, expression: str, variables: Sequence[str]) -> list[str]:
        """The variables in the order in which the program asks for them, without those not chosen."""
        return list(dict.fromkeys(_NAME.findall(expression)))

    def program(self, expression: str, words: Identifiers) -> Program:
        """The expression as a function in Python; a variable's name stands for the call that returns it."""
        if words.rng.random() < 0.8:
            return Program(f"return {expression}")
        result = words.noun()
        return Program(f"{result} = {expression}\nreturn {result}")


@cache
def operator_names() -> tuple[str, ...]:
    """The operators that come with Mesocosm: the modules below ``operators/``."""
    package = importlib.import_module(_PACKAGE)
    return tuple(sorted(module.name for module in pkgutil.iter_modules(package.__path__)))


def load_operators(names: Sequence[str]) -> list[Operator]:
    """Operators by name; one with a dot is a module of the user's (``my_package.square``)."""
    if not names:
        raise UsageError("a tree needs at least one operator")
    return [_load(name) for name in names]


def _load(name: str) -> Operator:
    module = name if "." in name else f"{_PACKAGE}.{name}"
    try:
        operator = getattr(importlib.import_module(module), "operator", None)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        raise UsageError(f"unknown operator {name!r}; there are {', '.join(operator_names())}") from None
    if not isinstance(operator, Operator):
        raise UsageError(f"{module}: `operator` must be an Operator")
    return operator
