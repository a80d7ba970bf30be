"""The language of expressions: Jinja2's sandbox, narrowed.

A file may come from a stranger. What it can do here: read values by name, call the functions and filters that
it is given, and no more steps or longer results than the limits say. No attribute of a Python object can be
read: ``a.b`` looks into mappings alone.
"""

from __future__ import annotations

import datetime as dt
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jinja2 import StrictUndefined, Undefined
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.runtime import Context, LoopContext
from jinja2.runtime import missing as missing  # type: ignore[attr-defined]
from jinja2.sandbox import ImmutableSandboxedEnvironment

from mesocosm.kits.yaml_tasks.braces import BLOCK, VALUE
from mesocosm.kits.yaml_tasks.decimals import plain, reckoned
from mesocosm.kits.yaml_tasks.filters import FILTERS, show

MAX_TEXT = 200_000
"""Characters of a result."""
MAX_LIST = 20_000
MAX_PARTS = 2_000_000
"""Values in a list, those in lists inside it counted each time; ten characters of a text are one more."""
MAX_STEPS = 200_000
"""Calls, operations and turns of loops in one evaluation."""
MAX_NUMBER = 10**15

TESTS = ("defined", "none", "odd", "even", "in", "true", "false", "divisibleby")
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow,
}  # fmt: skip
_UNITS = {"w": "weeks", "d": "days", "h": "hours", "min": "minutes", "m": "minutes", "s": "seconds"}
SPANS = ("w", "d", "h", "min")
"""Units of spans as complaints name them."""


class ExpressionError(Exception):
    """Error in an expression or its value."""


class _Spans(Extension):
    """Spans of time as people write them: ``12d``, ``1h``, ``30min``."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for token in stream:
            after = stream.current
            if token.type in ("integer", "float") and after.type == "name" and after.value in _UNITS:
                line = token.lineno
                yield Token(line, "name", "span")
                yield Token(line, "lparen", "(")
                yield token
                yield Token(line, "comma", ",")
                yield Token(line, "string", _UNITS[after.value])
                yield Token(line, "rparen", ")")
                next(stream)
            else:
                yield token


class _Context(Context):
    """Names are looked up in the scope of the evaluation, and only those that are used."""

    def resolve_or_missing(self, key: str) -> Any:
        if key in self.vars:  # of a loop
            return self.vars[key]
        scope = self.parent.get("*scope")
        found = scope(key) if scope else missing
        if found is missing:
            found = _FUNCTIONS.get(key, missing)
        return found


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox without attributes, with operators that look at sizes first, and a count of steps."""

    intercepted_binops = frozenset(_OPERATORS)
    intercepted_unops = frozenset()
    context_class = _Context
    steps = 0

    def step(self, cost: int = 1) -> None:
        self.steps += cost
        if self.steps > MAX_STEPS:
            raise ExpressionError(f"more than {MAX_STEPS:,} steps")

    def getattr(self, obj: Any, attribute: str) -> Any:
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        self.step()
        if isinstance(obj, Mapping) and isinstance(argument, str):
            try:
                return obj[argument]
            except KeyError:
                known = ", ".join(map(str, list(obj)[:20])) or "none"
                return self.undefined(f"there is no {argument!r}; there are {known}")
        if isinstance(obj, LoopContext) and argument in ("first", "last", "index"):
            return getattr(obj, argument)
        if isinstance(obj, (list, tuple, str)) and isinstance(argument, (int, slice)):
            try:
                return obj[argument]
            except IndexError:
                return self.undefined(_out_of_range(len(obj)))
        if isinstance(obj, Undefined):
            return obj
        return self.undefined(f"{show_kind(obj)} has no {argument!r}")

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return False

    def is_safe_callable(self, obj: Any) -> bool:
        return getattr(obj, "for_expressions", False) is True

    def call(self, context: Context, obj: Any, *args: Any, **kwargs: Any) -> Any:
        self.step()
        if isinstance(obj, Undefined):
            known = ", ".join(sorted(_FUNCTIONS))
            name = getattr(obj, "_undefined_name", None)
            missed = f"no function {name!r}" if name else str(obj._undefined_message)
            raise ExpressionError(f"{missed}; functions: {known}; of values: {', '.join(FILTERS)}")
        if not self.is_safe_callable(obj):
            raise ExpressionError(f"{show_kind(obj)} cannot be called")
        for given in (*args, *kwargs.values()):
            if isinstance(given, Undefined):
                given._fail_with_undefined_error()
        return bounded(obj(*args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        self.step()
        return bounded(_calculate(operator, left, right))


_KINDS: dict[type, str] = {
    str: "a text", bool: "a yes or no", int: "a number", float: "a number", type(None): "nothing",
    Mapping: "a thing", dt.datetime: "a moment", dt.date: "a day", dt.timedelta: "a span of time",
    list: "a list", tuple: "a list",
}  # fmt: skip
"""Of those that are kinds of others, these first."""
_KINDS_OF_PYTHON = {
    "str": "a text", "bool": "a yes or no", "int": "a number", "float": "a number", "NoneType": "nothing",
    "dict": "a thing", "Entity": "a thing", "datetime": "a moment", "date": "a day",
    "timedelta": "a span of time", "list": "a list", "tuple": "a list",
}  # fmt: skip
_QUOTED_KIND = re.compile(rf"'(?:\w+\.)*({'|'.join(_KINDS_OF_PYTHON)})'")


def show_kind(value: Any) -> str:
    """Name a value's kind in a user's words."""
    return next((name for kind, name in _KINDS.items() if isinstance(value, kind)), "something else")


def said(error: Exception) -> str:
    """Quote a Python error with our names for kinds of values."""
    if isinstance(error, OverflowError):
        return "out of bounds"
    text = _QUOTED_KIND.sub(lambda found: _KINDS_OF_PYTHON[found[1]], str(error))
    return re.sub(r"^\S+\(\) (?=takes |missing |got )", "", text).replace(" positional", "")


def _calculate(symbol: str, left: Any, right: Any) -> Any:
    for value in (left, right):
        if isinstance(value, Undefined) or value is None:
            raise ExpressionError(f"{_why(value)}, so {symbol!r} cannot be worked out")
    if symbol == "**":
        if not all(isinstance(value, (int, float)) for value in (left, right)):
            raise ExpressionError(f"{show_kind(left)} ** {show_kind(right)}: powers are of numbers")
        if abs(left) > 1e6 or abs(right) > 12 or (left < 0 and right != int(right)):
            raise ExpressionError("a power of such numbers is out of bounds")
    if symbol == "*" and (isinstance(left, (str, list, tuple)) or isinstance(right, (str, list, tuple))):
        length, times = (len(left), right) if isinstance(left, (str, list, tuple)) else (len(right), left)
        if not isinstance(times, int) or length * times > MAX_LIST:
            raise ExpressionError(f"{show_kind(left)} * {show_kind(right)} would be longer than {MAX_LIST:,}")
    if symbol == "%" and isinstance(left, str):
        raise ExpressionError("write texts with {value} in them instead of %")
    try:
        return reckoned(_OPERATORS[symbol], left, right)
    except (TypeError, ValueError, ArithmeticError) as error:
        kinds = f"{show_kind(left)} {symbol} {show_kind(right)}"
        raise ExpressionError(f"{kinds} cannot be worked out: {said(error)}") from None


def _out_of_range(count: int) -> str:
    """Explain an index beyond the end of a list."""
    if not count:
        return "it is empty"
    return "there is 1, [0]" if count == 1 else f"there are {count}, counted from 0: [0] to [{count - 1}]"


def _why(value: Any) -> str:
    if isinstance(value, Undefined):
        return str(value._undefined_message)
    return "there is no value"


def bounded(value: Any) -> Any:
    """The value, if it is of a bearable size."""
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise ExpressionError(f"a text of more than {MAX_TEXT:,} characters")
    if isinstance(value, (list, tuple)):
        if len(value) > MAX_LIST:
            raise ExpressionError(f"a list of more than {MAX_LIST:,}")
        _count_parts(value, MAX_PARTS)
    if isinstance(value, (int, float)) and not abs(value) <= MAX_NUMBER:
        raise ExpressionError(f"a number beyond {MAX_NUMBER:.0e}")
    return value


def _count_parts(values: list[Any] | tuple[Any, ...], left: int) -> int:
    """Limit the parts of a list, also shared ones: lists that share their parts grow at no cost."""
    left -= len(values)
    for value in values:
        if isinstance(value, str):
            left -= len(value) // 10
        elif isinstance(value, (list, tuple)):
            left = _count_parts(value, left)
        elif type(value) is dict:
            left = _count_parts([*value.values()], left)
        if left < 0:
            raise ExpressionError(f"a list of more than {MAX_PARTS:,} parts, with those of lists in it")
    return left


def for_expressions(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as one that expressions may call."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return plain(function(*args, **kwargs))
        except (TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
            name = getattr(function, "__name__", "it").strip("_")
            raise ExpressionError(f"{name}({', '.join(map(show_kind, args))}): {said(error)}") from None

    call.for_expressions = True  # type: ignore[attr-defined]
    return call


@for_expressions
def _span(amount: float, unit: str) -> dt.timedelta:
    return dt.timedelta(**{unit: amount})


def _finalize(value: Any) -> str:
    if value is None:
        raise ExpressionError("there is no value to write down")
    return show(bounded(value))


def _filter(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def run(value: Any, *args: Any, **kwargs: Any) -> Any:
        ENVIRONMENT.step(len(value) // 100 + 1 if isinstance(value, (str, list, tuple)) else 1)
        if isinstance(value, Undefined) and function is not FILTERS["default"]:
            value._fail_with_undefined_error()
        try:
            return bounded(function(value, *args, **kwargs))
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError) as error:
            hint = (
                f"; what is in brackets comes first: (start + 2h).{name}()"
                if isinstance(value, dt.timedelta)
                else ""
            )
            raise ExpressionError(f"{name} of {show_kind(value)}: {said(error)}{hint}") from None

    return run


def _counted(values: Any) -> Iterator[Any]:
    """Iterate for a loop, counting each step."""
    if not isinstance(values, (list, tuple)):
        raise ExpressionError(f"a loop goes through a list, not {show_kind(values)}")
    for value in values:
        ENVIRONMENT.step()
        yield value


def _joined(values: list[Any]) -> str:
    """Of texts that ``~`` puts together: looked at before they are."""
    return "".join(map(str, bounded(values)))


_FUNCTIONS: dict[str, Callable[..., Any]] = {"span": _span}
ENVIRONMENT = _Environment(
    variable_start_string=VALUE[0], variable_end_string=VALUE[1], block_start_string=BLOCK[0],
    block_end_string=BLOCK[1], comment_start_string="\x05", comment_end_string="\x06",
    undefined=StrictUndefined, extensions=[_Spans], optimized=False, finalize=_finalize,
    keep_trailing_newline=False,
    trim_blocks=True, lstrip_blocks=True, cache_size=0, autoescape=False,
)  # fmt: skip
ENVIRONMENT.globals.clear()
ENVIRONMENT.filters = {name: _filter(name, function) for name, function in FILTERS.items()} | {
    "*counted": _counted,
    "*joined": _filter("~", _joined),
}
ENVIRONMENT.tests = {name: test for name, test in ENVIRONMENT.tests.items() if name in TESTS}
