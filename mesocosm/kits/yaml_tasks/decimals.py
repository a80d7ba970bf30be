"""Numbers with decimals, reckoned as money is: exactly, and rounded as people round.

What an expression comes to is a float like any other, for services, JSON and SQL. To what is reckoned from it
further it is exact: a twelfth of a price times eighteen is one and a half times the price.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

_MOST_BITS = 512
"""Of a denominator: beyond, a number is what its float is."""
_ARITHMETIC = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
)  # fmt: skip
_HALF = Fraction(1, 2)
_ROUNDED: dict[str, Callable[[Fraction], int]] = {
    "half_up": lambda size: math.floor(size + _HALF),
    "half_even": round,
    "up": math.ceil,
    "down": math.floor,
}
"""Ways to round what is not negative."""


class Exact(float):
    """A float that knows which number it stands for."""

    __slots__ = ("fraction",)

    def __new__(cls, fraction: Fraction) -> Exact:
        """The float nearest to it."""
        made = super().__new__(cls, fraction)
        made.fraction = fraction
        return made

    fraction: Fraction

    def __neg__(self) -> Exact:
        return Exact(-self.fraction)

    def __abs__(self) -> Exact:
        return Exact(abs(self.fraction))

    def __reduce__(self) -> tuple[type[Exact], tuple[Fraction]]:
        return Exact, (self.fraction,)


def exact(number: float | Decimal | Fraction) -> Fraction:
    """Return the number as written: 21.15, not the nearest binary fraction."""
    if isinstance(number, Exact):
        return number.fraction
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def reckoned(work: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Apply an operator: exactly, where its values are numbers with decimals or come to one."""
    if work not in _ARITHMETIC or not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
        return work(left, right)
    whole = isinstance(left, int) and isinstance(right, int)
    if whole and (work not in (operator.truediv, operator.pow) or (work is operator.pow and right >= 0)):
        return work(left, right)
    if work is operator.pow and right != int(right):
        return work(float(left), float(right))
    one, other = exact(left), exact(right)
    found = Fraction(work(one, int(other) if work is operator.pow else other))
    return Exact(found) if found.denominator.bit_length() <= _MOST_BITS else float(found)


def total(values: Any) -> Any:
    """The sum of numbers, or of spans of time."""
    return reduce(lambda one, other: reckoned(operator.add, one, other), values) if values else 0


def rounded(value: Any, digits: int = 0, how: str = "half_up") -> Any:
    """Half away from zero, as people round; or ``half_even``, ``up`` (away from zero) or ``down``."""
    found = decimal(value, digits, how)
    return int(found) if digits <= 0 else Exact(Fraction(found))


def decimal(value: Any, digits: int, how: str = "half_up") -> Decimal:
    """The rounded number with its digits."""
    if not -6 <= digits <= 12 or not math.isfinite(value):
        raise ValueError("out of bounds")
    if how not in _ROUNDED:
        raise ValueError(f"no way {how!r} to round; there are {', '.join(_ROUNDED)}")
    number = exact(value)
    units = _ROUNDED[how](abs(number) * Fraction(10) ** digits)
    return Decimal(units if number >= 0 else -units).scaleb(-digits)


def plain(value: Any) -> Any:
    """The value with floats for all numbers with decimals."""
    if isinstance(value, (Exact, Decimal, Fraction)):
        return float(value)
    if type(value) is list:
        return [plain(one) for one in value]
    if type(value) is dict:
        return {name: plain(one) for name, one in value.items()}
    return value
