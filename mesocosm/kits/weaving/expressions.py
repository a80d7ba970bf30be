"""The expressions of rules: integers and strings, ``+ - *``, and two functions on strings.

Those of programs also have ``%`` and ``x if y < z else w``, as in Python.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Literal

from mesocosm.errors import UsageError

ValueKind = Literal["integer", "string"]
TreeValue = int | str

FUNCTIONS: Mapping[str, Callable[[str], str]] = {"reverse": lambda text: text[::-1], "swapcase": str.swapcase}
"""Functions that an expression may apply to a string."""
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(expression: str, values: Mapping[str, TreeValue]) -> TreeValue:
    """The value of an expression over variables; ``UsageError`` for what is none, or mixes kinds."""
    try:
        return _value(ast.parse(expression, mode="eval").body, values)
    except SyntaxError:
        raise UsageError(f"not an expression: {expression!r}") from None
    except TypeError as error:
        raise UsageError(f"{expression!r} does not fit the values: {error}") from None


def _value(node: ast.expr, values: Mapping[str, TreeValue]) -> TreeValue:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            if name not in values:
                raise UsageError(f"the variable {name!r} has no value")
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_integer(_value(operand, values))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _sum(_value(left, values), _value(right, values))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _integer(_value(left, values)) - _integer(_value(right, values))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _integer(_value(left, values)) * _integer(_value(right, values))
        case ast.BinOp(left=left, op=ast.Mod(), right=ast.Constant(value=int(modulus))) if modulus > 0:
            return _integer(_value(left, values)) % modulus
        case ast.IfExp(
            test=ast.Compare(left=left, ops=[comparison], comparators=[right]), body=yes, orelse=no
        ):
            holds = _COMPARISONS.get(type(comparison))
            if holds:
                chosen = holds(_integer(_value(left, values)), _integer(_value(right, values)))
                return _value(yes if chosen else no, values)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](_string(_value(argument, values)))
    raise UsageError(f"expressions have no {ast.unparse(node)!r}")


def _sum(left: TreeValue, right: TreeValue) -> TreeValue:
    if isinstance(left, str):
        return left + _string(right)
    return left + _integer(right)


def _integer(value: TreeValue) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not an integer")
    return value


def _string(value: TreeValue) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value
