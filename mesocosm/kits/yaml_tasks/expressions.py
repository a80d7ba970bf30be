"""Expressions and texts with expressions in them: Jinja2's sandbox, narrowed.

A file may come from a stranger. What it can do here: read values by name, call the functions and filters that
it is given, and no more steps or longer results than the limits say. No attribute of a Python object can be
read: ``a.b`` looks into mappings alone.
"""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, Undefined, UndefinedError, nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.runtime import Context, LoopContext
from jinja2.runtime import missing as missing  # type: ignore[attr-defined]
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from mesocosm.kits.yaml_tasks.filters import FILTERS, show

MAX_SOURCE = 20_000
"""Characters of one text with expressions."""
MAX_TEXT = 200_000
"""Characters of a result."""
MAX_LIST = 20_000
MAX_STEPS = 200_000
"""Calls, operations and turns of loops in one evaluation."""
MAX_NODES = 2_000
MAX_NUMBER = 10**15

_ALLOWED = (
    nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Name, nodes.Const, nodes.Getattr,
    nodes.Getitem,
    nodes.Filter, nodes.Call, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.CondExpr,
    nodes.BinExpr, nodes.UnaryExpr, nodes.Concat, nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair, nodes.Test,
    nodes.Slice, nodes.Template, nodes.Keyword,
)  # fmt: skip
_TESTS = ("defined", "none", "odd", "even", "in", "true", "false", "divisibleby")
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow,
}  # fmt: skip
_BY_NAME = ("pick", "where", "without", "by")
"""Filters that are told the name of a field."""
_UNITS = {"w": "weeks", "d": "days", "h": "hours", "min": "minutes", "m": "minutes", "s": "seconds"}


class ExpressionError(Exception):
    """What is wrong with an expression, or with its value."""


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
                return self.undefined(f"there are only {len(obj)}")
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
            name = getattr(obj, "_undefined_name", None) or "it"
            raise ExpressionError(
                f"no function or filter {name!r}; functions: {known}; filters: {', '.join(FILTERS)}"
            )
        if not self.is_safe_callable(obj):
            raise ExpressionError(f"{show_kind(obj)} cannot be called")
        for given in (*args, *kwargs.values()):
            if isinstance(given, Undefined):
                given._fail_with_undefined_error()
        return bounded(obj(*args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        self.step()
        return bounded(_calculate(operator, left, right))


def show_kind(value: Any) -> str:
    """What kind of value it is, in a user's words."""
    names = {str: "a text", bool: "a yes or no", int: "a number", float: "a number", type(None): "nothing"}
    if isinstance(value, Mapping):
        return "a thing"
    if isinstance(value, dt.datetime):
        return "a moment"
    return next(
        (name for kind, name in names.items() if isinstance(value, kind)), f"a {type(value).__name__}"
    )


def _calculate(symbol: str, left: Any, right: Any) -> Any:
    for value in (left, right):
        if isinstance(value, Undefined) or value is None:
            raise ExpressionError(f"{_why(value)}, so {symbol!r} cannot be worked out")
    if symbol == "**" and (abs(left) > 1e6 or abs(right) > 12):
        raise ExpressionError("a power of such numbers is out of bounds")
    if symbol == "*" and (isinstance(left, (str, list, tuple)) or isinstance(right, (str, list, tuple))):
        length, times = (len(left), right) if isinstance(left, (str, list, tuple)) else (len(right), left)
        if not isinstance(times, int) or length * times > MAX_LIST:
            raise ExpressionError("too many times")
    if symbol == "%" and isinstance(left, str):
        raise ExpressionError("write texts with {{ }} instead of %")
    try:
        return _OPERATORS[symbol](left, right)
    except (TypeError, ValueError, ArithmeticError) as error:
        kinds = f"{show_kind(left)} {symbol} {show_kind(right)}"
        raise ExpressionError(f"{kinds} cannot be worked out: {error}") from None


def _why(value: Any) -> str:
    if isinstance(value, Undefined):
        return str(value._undefined_message)
    return "there is no value"


def bounded(value: Any) -> Any:
    """The value, if it is of a bearable size."""
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise ExpressionError(f"a text of more than {MAX_TEXT:,} characters")
    if isinstance(value, (list, tuple)) and len(value) > MAX_LIST:
        raise ExpressionError(f"a list of more than {MAX_LIST:,}")
    if isinstance(value, int) and abs(value) > MAX_NUMBER:
        raise ExpressionError(f"a number beyond {MAX_NUMBER:.0e}")
    return value


def for_expressions(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as one that expressions may call."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
            name = getattr(function, "__name__", "it").strip("_")
            raise ExpressionError(f"{name}({', '.join(map(show_kind, args))}): {error}") from None

    call.for_expressions = True  # type: ignore[attr-defined]
    return call


@for_expressions
def _span(amount: float, unit: str) -> dt.timedelta:
    return dt.timedelta(**{unit: amount})


def _finalize(value: Any) -> str:
    if value is None:
        raise ExpressionError("there is no value to write down")
    return show(value)


def _filter(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(value: Any, *args: Any, **kwargs: Any) -> Any:
        _ENVIRONMENT.step(len(value) // 100 + 1 if isinstance(value, (str, list, tuple)) else 1)
        if isinstance(value, Undefined) and function is not FILTERS["default"]:
            value._fail_with_undefined_error()
        try:
            return bounded(function(value, *args, **kwargs))
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError) as error:
            raise ExpressionError(f"{function.__name__.strip('_')} of {show_kind(value)}: {error}") from None

    return run


def _counted(values: Any) -> Iterator[Any]:
    """What a loop goes through, a step each."""
    if not isinstance(values, (list, tuple)):
        raise ExpressionError(f"a loop goes through a list, not {show_kind(values)}")
    for value in values:
        _ENVIRONMENT.step()
        yield value


_FUNCTIONS: dict[str, Callable[..., Any]] = {"span": _span}
_ENVIRONMENT = _Environment(
    undefined=StrictUndefined, extensions=[_Spans], optimized=False, finalize=_finalize,
    keep_trailing_newline=False,
    trim_blocks=True, lstrip_blocks=True, cache_size=0, autoescape=False,
)  # fmt: skip
_ENVIRONMENT.globals.clear()
_ENVIRONMENT.filters = {name: _filter(function) for name, function in FILTERS.items()} | {
    "*counted": _counted
}
_ENVIRONMENT.tests = {name: test for name, test in _ENVIRONMENT.tests.items() if name in _TESTS}

Lookup = Callable[[str], Any]
"""The value of a name; ``missing`` where there is none."""


class Expression:
    """A text with ``{{ expressions }}``, or (``bare``) an expression by itself.

    A text that is one expression and nothing else has that expression's value, of whatever kind; any other is
    a text. Raises ``ExpressionError`` for what is not allowed.
    """

    def __init__(self, source: str, *, bare: bool = False) -> None:
        self.source = source
        if len(source) > MAX_SOURCE:
            raise ExpressionError(f"longer than {MAX_SOURCE:,} characters")
        try:
            tree = _ENVIRONMENT.parse("{{ " + source + " }}" if bare else source)
            if any(found.name not in _ENVIRONMENT.filters for found in tree.find_all(nodes.Filter)):
                tree = _Calls().visit(tree)
            only = _only_expression(tree)
            self.native = only is not None
            if only is not None:
                assign = nodes.Assign(nodes.Name("result", "store", lineno=1), only, lineno=1)
                tree = nodes.Template([assign], lineno=1)
                inner: nodes.Node = only
            else:
                if bare:
                    raise ExpressionError("not one expression")
                inner = tree
            self.calls, self.names, self.paths = _inspect(inner)
            self.mentions = _mentioned(inner)
            self.literals = [part.data for part in tree.find_all(nodes.TemplateData)]
            tree.set_environment(_ENVIRONMENT)
            self._template = _ENVIRONMENT.template_class.from_code(
                _ENVIRONMENT, _ENVIRONMENT.compile(tree), {}, None
            )
        except TemplateSyntaxError as error:
            raise ExpressionError(f"{error.message} in {_shortened(source)}") from None
        except TemplateError as error:
            raise ExpressionError(str(error)) from None
        except (RecursionError, MemoryError, SyntaxError, OverflowError) as error:
            raise ExpressionError(f"too deeply nested ({type(error).__name__})") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.source == other.source

    def __hash__(self) -> int:
        return hash(self.source)

    def value(self, scope: Lookup) -> Any:
        """Its value where names mean what ``scope`` says."""
        context = _ENVIRONMENT.context_class(_ENVIRONMENT, {"*scope": scope}, None, {})
        with _fresh_steps():
            try:
                if not self.native:
                    return _joined(self._template.root_render_func(context))
                for _ in self._template.root_render_func(context):
                    pass
                found = context.vars["result"]
                if isinstance(found, Undefined):
                    found._fail_with_undefined_error()
                return found
            except UndefinedError as error:
                raise ExpressionError(str(error)) from None
            except (TemplateError, RecursionError, TypeError, ValueError, ArithmeticError) as error:
                raise ExpressionError(f"{type(error).__name__}: {error}") from None


@contextmanager
def _fresh_steps() -> Iterator[None]:
    """Steps count from the outermost evaluation on: a field may need others."""
    nested = _ENVIRONMENT.steps
    try:
        yield
    finally:
        _ENVIRONMENT.steps = nested


def _joined(chunks: Iterable[str]) -> str:
    parts, length = [], 0
    for chunk in chunks:
        parts.append(chunk)
        length += len(chunk)
        if length > MAX_TEXT:
            raise ExpressionError(f"a text of more than {MAX_TEXT:,} characters")
    return "".join(parts)


def _only_expression(tree: nodes.Template) -> nodes.Expr | None:
    match tree.body:
        case [nodes.Output(nodes=[only])] if not isinstance(only, nodes.TemplateData):
            return only
    return None


class _Calls(NodeTransformer):
    """Filters that are none of ours may be functions beside the file: ``x | name(y)`` is ``name(x, y)``."""

    def visit_Filter(self, node: nodes.Filter) -> nodes.Node:  # noqa: N802 - as the library has it
        self.generic_visit(node)
        if node.name in _ENVIRONMENT.filters or node.node is None:
            return node
        function = nodes.Name(node.name, "load", lineno=node.lineno)
        return nodes.Call(
            function, [node.node, *node.args], node.kwargs, node.dyn_args, node.dyn_kwargs, lineno=node.lineno
        )


def _inspect(tree: nodes.Node) -> tuple[set[str], set[str], set[tuple[str, ...]]]:
    """The functions called, the names read, and the paths (``me.name``); refuses what is not allowed."""
    calls: set[str] = set()
    loops: set[str] = set()
    names: set[str] = set()
    paths: set[tuple[str, ...]] = set()
    todo: list[nodes.Node] = [tree]
    count = 0
    while todo:
        node = todo.pop()
        count += 1
        if count > MAX_NODES:
            raise ExpressionError(f"more than {MAX_NODES:,} parts")
        if not isinstance(node, _ALLOWED):
            raise ExpressionError(f"{type(node).__name__.lower()} is not allowed here")
        if isinstance(node, nodes.For):
            if node.recursive:
                raise ExpressionError("recursive loops are not allowed here")
            loops |= {name.name for name in node.target.find_all(nodes.Name)} | {"loop"}
            if isinstance(node.target, nodes.Name):
                loops.add(node.target.name)
            looped = node.iter
            node.iter = nodes.Filter(looped, "*counted", [], [], None, None, lineno=node.lineno)
            todo += [*node.body, *node.else_, *([node.test] if node.test else []), looped]
            continue
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
            calls.add(node.node.name)
            todo += [*node.args, *node.kwargs]
            continue
        if isinstance(node, nodes.Test) and node.name not in _ENVIRONMENT.tests:
            raise ExpressionError(f"unknown test {node.name!r}; there are {', '.join(_TESTS)}")
        if isinstance(node, nodes.Name):
            if node.name in ("self", "super", "caller", "varargs", "kwargs"):
                raise ExpressionError(f"{node.name} is not allowed here")
            names.add(node.name)
            paths.add((node.name,))
        if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name):
            paths.add((node.node.name, node.attr))
        todo += node.iter_child_nodes()
    return calls, names - loops, {path for path in paths if path[0] not in loops}


ANYTHING = "*"
"""Stands for names that an expression may read and does not say."""


def _mentioned(tree: nodes.Node) -> frozenset[str]:
    """All that may be the name of something it reads, with ``ANYTHING`` where that cannot be told."""
    found: set[str] = set()
    kinds = (nodes.Name, nodes.Getattr, nodes.Const, nodes.Getitem, nodes.Filter)
    for node in (tree, *tree.find_all(kinds)):
        match node:
            case nodes.Name(name=name) | nodes.Getattr(attr=name) | nodes.Const(value=str(name)):
                found.add(name)
            case nodes.Getitem(arg=part) if not isinstance(part, (nodes.Const, nodes.Slice)):
                found.add(ANYTHING)
            case nodes.Filter(name=name, args=[part, *_]) if name in _BY_NAME:
                if not isinstance(part, nodes.Const):
                    found.add(ANYTHING)
    return frozenset(found)


def _shortened(source: str) -> str:
    line = " ".join(source.split())
    return repr(line if len(line) < 80 else line[:77] + "...")


def expressions_in(value: Any) -> Iterator[str]:
    """The texts inside a value that may hold expressions."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from expressions_in(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from expressions_in(inner)
