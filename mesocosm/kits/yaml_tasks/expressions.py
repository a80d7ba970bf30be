"""Texts with expressions: syntax, names they read, and evaluation."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from jinja2 import TemplateSyntaxError, Undefined, UndefinedError, nodes
from jinja2.exceptions import TemplateError
from jinja2.visitor import NodeTransformer

from mesocosm.kits.yaml_tasks.braces import VALUE, BadBraces, marked, within
from mesocosm.kits.yaml_tasks.decimals import plain
from mesocosm.kits.yaml_tasks.filters import FILTERS
from mesocosm.kits.yaml_tasks.language import (
    ENVIRONMENT,
    MAX_TEXT,
    SPANS,
    TESTS,
    ExpressionError,
    bounded,
    missing,
    said,
)

MAX_SOURCE = 20_000
"""Characters of one text with expressions."""
MAX_NODES = 2_000
_ALLOWED = (
    nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Name, nodes.Const, nodes.Getattr,
    nodes.Getitem,
    nodes.Filter, nodes.Call, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.CondExpr,
    nodes.BinExpr, nodes.UnaryExpr, nodes.Concat, nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair, nodes.Test,
    nodes.Slice, nodes.Template, nodes.Keyword,
)  # fmt: skip
_DECIDING: tuple[type[nodes.Node], ...] = (
    nodes.CondExpr,
    nodes.If,
    nodes.Compare,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.BinExpr,
    nodes.Test,
)
_SINGLE_EQUALS = re.compile(r"(?<![=!<>])=(?!=)")
_TOO_MUCH = re.compile(r"expected token 'end of (?:print )?statement', got '(.*)'")
_SPAN = re.compile(r"\b\d+ ?(?:weeks?|days?|hours?|hrs?|minutes?|mins|seconds?|secs?)\b")
_BY_NAME = ("pick", "select", "reject", "count", "group", "sort")
"""Filters that are told the name of a field."""
Lookup = Callable[[str], Any]
"""The value of a name; ``missing`` where there is none."""


class Expression:
    """A text with ``{expressions}``, or (``bare``) an expression by itself.

    A text that is one expression and nothing else has that expression's value, of whatever kind; any other is
    a text. Raises ``ExpressionError`` for what is not allowed.
    """

    def __init__(self, source: str, *, bare: bool = False) -> None:
        self.source = source
        self.bare = bare
        if len(source) > MAX_SOURCE:
            raise ExpressionError(f"longer than {MAX_SOURCE:,} characters")
        try:
            tree = ENVIRONMENT.parse(within(source, VALUE) if bare else marked(source))
            _refuse_pipes(tree, source)
            if _is_rewritten(tree):
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
            self.shows = _mentioned(inner, asking=False)
            """The same without what is only asked about: in a condition, or what is compared."""
            self.steady = _mentioned(inner, asking=False, shifted=False)
            """And without what a constant is added to or taken from: it is another value that is shown."""
            self.shifts = list(_shifts(inner))
            """These constants."""
            self.chains = list(_chains(inner))
            """Names of which the first that holds is taken: ``new_time or time``."""
            self._names = Counter(
                node.name for node in [*inner.find_all(nodes.Name), inner] if isinstance(node, nodes.Name)
            )
            self.literals = [part.data for part in tree.find_all(nodes.TemplateData)]
            self.constants = list(_constants(inner))
            """Numbers, words and spans of time that its value depends on."""
            self.decides = isinstance(inner, _DECIDING) or any(map(inner.find, _DECIDING))
            """True if it does more than to show what it reads."""
            tree.set_environment(ENVIRONMENT)
            self._template = ENVIRONMENT.template_class.from_code(
                ENVIRONMENT, ENVIRONMENT.compile(tree), {}, None
            )
        except BadBraces as error:
            raise ExpressionError(str(error)) from None
        except TemplateSyntaxError as error:
            raise ExpressionError(_no_expression(str(error.message), source)) from None
        except TemplateError as error:
            raise ExpressionError(str(error)) from None
        except (RecursionError, MemoryError, SyntaxError, OverflowError):
            raise ExpressionError("too deeply nested") from None
        except ValueError:  # of int(): thousands of digits
            raise ExpressionError("a number with too many digits") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.source == other.source

    def __hash__(self) -> int:
        return hash(self.source)

    def passed_over(self, scope: Lookup) -> set[str]:
        """Names that are not come to, as in ``new_time or time`` where there is a new time."""
        found: Counter[str] = Counter()
        for chain in self.chains:
            holds = next((place for place, name in enumerate(chain) if _holds(scope(name))), len(chain))
            found.update(chain[holds + 1 :])
        return {name for name, times in found.items() if times >= self._names[name]}

    def value(self, scope: Lookup) -> Any:
        """Evaluate, with names resolved by ``scope``."""
        return plain(self.exact(scope))

    def exact(self, scope: Lookup) -> Any:
        """Evaluate with exact numbers."""
        context = ENVIRONMENT.context_class(ENVIRONMENT, {"*scope": scope}, None, {})
        with _fresh_steps():
            try:
                if not self.native:
                    return _joined(self._template.root_render_func(context))
                for _ in self._template.root_render_func(context):
                    pass
                found = context.vars["result"]
                if isinstance(found, Undefined):
                    found._fail_with_undefined_error()
                return bounded(found)
            except UndefinedError as error:
                raise ExpressionError(str(error)) from None
            except (TemplateError, RecursionError, TypeError, ValueError, ArithmeticError) as error:
                raise ExpressionError(said(error)) from None


@cache
def bare(text: str) -> Expression:
    """An expression by itself, kept: a file is read more than once."""
    return Expression(text, bare=True)


@contextmanager
def _fresh_steps() -> Iterator[None]:
    """Steps count from the outermost evaluation on: a field may need others."""
    nested = ENVIRONMENT.steps
    try:
        yield
    finally:
        ENVIRONMENT.steps = nested


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


def _is_rewritten(tree: nodes.Template) -> bool:
    return tree.find(nodes.Concat) is not None or any(map(_is_method, tree.find_all(nodes.Call)))


def _is_method(call: nodes.Call) -> bool:
    return isinstance(call.node, nodes.Getattr)


def _refuse_pipes(tree: nodes.Template, source: str) -> None:
    for found in tree.find_all(nodes.Filter):
        raise ExpressionError(
            f"in {_shortened(source)}: what is done to a value is written value.{found.name}()"
        )


class _Calls(NodeTransformer):
    """Rewrites ``x.name(y)`` to a call of ``name``, ours or a Python function; checks operands of ``~``
    first.
    """

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 - as the library has it
        self.generic_visit(node)
        texts = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(texts, "*joined", [], [], None, None, lineno=node.lineno)

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802 - as the library has it
        self.generic_visit(node)
        if not isinstance(node.node, nodes.Getattr):
            return node
        value, name = node.node.node, node.node.attr
        if name in FILTERS:
            given = node.args, node.kwargs, node.dyn_args, node.dyn_kwargs
            return nodes.Filter(value, name, *given, lineno=node.lineno)
        function = nodes.Name(name, "load", lineno=node.lineno)
        return nodes.Call(
            function, [value, *node.args], node.kwargs, node.dyn_args, node.dyn_kwargs, lineno=node.lineno
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
        if isinstance(node, nodes.Const) and isinstance(node.value, (int, float)):
            bounded(node.value)
        if isinstance(node, nodes.Test) and node.name not in ENVIRONMENT.tests:
            raise ExpressionError(f"unknown test {node.name!r}; there are {', '.join(TESTS)}")
        if isinstance(node, nodes.Name):
            if node.name in ("self", "super", "caller", "varargs", "kwargs"):
                raise ExpressionError(f"{node.name} is not allowed here")
            names.add(node.name)
            paths.add((node.name,))
        if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name):
            paths.add((node.node.name, node.attr))
        todo += node.iter_child_nodes()
    return calls, names - loops, {path for path in paths if path[0] not in loops}


def _constants(node: nodes.Node) -> Iterator[Any]:
    """Yield constants that a value depends on, without list indexes, filter arguments and case names."""
    match node:
        case nodes.Const(value=value):
            if value is not None and not isinstance(value, bool):
                yield value
        case nodes.Call(
            node=nodes.Name(name="span"), args=[nodes.Const(value=amount), nodes.Const(value=unit)]
        ):
            yield dt.timedelta(**{unit: amount})
        case nodes.Mul(left=left, right=right):
            # A unit by itself says in what something is counted: `minutes * 1min`.
            for part in (left, right):
                if not _is_unit(part):
                    yield from _constants(part)
        case nodes.Call() | nodes.Slice():
            return
        case nodes.Filter(node=inner) | nodes.Test(node=inner) | nodes.Getitem(node=inner):
            if isinstance(inner, nodes.Node):
                yield from _constants(inner)
        case nodes.Compare() if any(map(_is_case, node.find_all((nodes.Name, nodes.Getattr)))):
            return
        case nodes.Pair(value=inner):
            yield from _constants(inner)
        case _:
            for child in node.iter_child_nodes():
                yield from _constants(child)


def _holds(value: Any) -> bool:
    return value is not missing and not isinstance(value, Undefined) and bool(value)


def _chains(tree: nodes.Node) -> Iterator[list[str]]:
    """Names of which the first that holds is taken."""
    for node in [tree, *tree.find_all(nodes.Or)]:
        leaves: list[nodes.Node] = [node]
        while any(isinstance(leaf, nodes.Or) for leaf in leaves):
            leaves = [
                part
                for leaf in leaves
                for part in ([leaf.left, leaf.right] if isinstance(leaf, nodes.Or) else [leaf])
            ]
        names = [leaf.name for leaf in leaves if isinstance(leaf, nodes.Name)]
        if isinstance(node, nodes.Or) and len(names) == len(leaves):
            yield names


def _shift_of(node: nodes.Node) -> Any:
    """The constant that a sum or difference has, or nothing."""
    if isinstance(node, (nodes.Add, nodes.Sub)):
        for part in (node.left, node.right):
            match part:
                case nodes.Const(value=int() | float() as value):
                    return value
                case nodes.Call(node=nodes.Name(name="span"), args=[nodes.Const(), nodes.Const()]):
                    return next(_constants(part))
    return None


def _shifts(tree: nodes.Node) -> Iterator[Any]:
    for node in [tree, *tree.find_all((nodes.Add, nodes.Sub))]:
        if (shift := _shift_of(node)) is not None:
            yield shift


def _is_unit(node: nodes.Node) -> bool:
    match node:
        case nodes.Call(node=nodes.Name(name="span"), args=[nodes.Const(value=1), *_]):
            return True
    return False


def _is_case(node: nodes.Node) -> bool:
    return getattr(node, "attr", getattr(node, "name", None)) in ("case", "distractor", "index")


ANYTHING = "*"
"""Stands for names that an expression may read and does not say."""


def _mentioned(tree: nodes.Node, *, asking: bool = True, shifted: bool = True) -> frozenset[str]:
    """Return the names that are possibly read, with ``ANYTHING`` if unknown; on demand without those only
    tested.
    """
    found: set[str] = set()
    todo: list[nodes.Node] = [tree]
    while todo:
        node = todo.pop()
        if not shifted and _shift_of(node) is not None:
            continue
        match node:
            case nodes.Name(name=name) | nodes.Getattr(attr=name) | nodes.Const(value=str(name)):
                found.add(name)
            case nodes.Getitem(arg=part) if not isinstance(part, (nodes.Const, nodes.Slice)):
                found.add(ANYTHING)
            case nodes.Filter(name=name, args=[part, *_]) if name in _BY_NAME:
                if not isinstance(part, nodes.Const):
                    found.add(ANYTHING)
        if asking:
            todo += node.iter_child_nodes()
        elif isinstance(node, (nodes.If, nodes.CondExpr)):
            todo += node.iter_child_nodes(exclude=("test",))
        elif not isinstance(node, (nodes.Compare, nodes.Not, nodes.Test)):
            todo += node.iter_child_nodes()
    return frozenset(found)


def _no_expression(message: str, source: str) -> str:
    """Explain a syntax error in an expression without the library's terms."""
    if found := _TOO_MUCH.fullmatch(message):
        message = f"{found[1]!r} cannot follow what stands before it"
    hint = "; equality is ==" if _SINGLE_EQUALS.search(source) else ""
    if span := _SPAN.search(source):
        hint = f"; spans are written {', '.join(f'2{unit}' for unit in SPANS)}, not {span[0]}"
    return f"{message} in {_shortened(source)}{hint}"


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
