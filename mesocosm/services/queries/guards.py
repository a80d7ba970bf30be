"""What a statement may not do: no functions but the vendor's own, none that read files or settings, and no
texts or lists whose size is a number in the statement."""

from __future__ import annotations

from sqlglot import exp

from mesocosm.errors import Invalid
from mesocosm.services.queries.dialect import COUNTS, Dialect

LONGEST_TEXT = 16 * 1024 * 1024
"""Characters of a text that a function may make by repeating another."""
LONGEST_LIST = 1_000_000
"""Elements of a list that a function may make from two numbers."""
_SAYS_HOW_LONG = (exp.Repeat, exp.Pad, exp.Space)
_COUNTS = (exp.GenerateSeries, exp.GenerateDateArray, exp.GenerateTimestampArray)
_NEVER = tuple(
    getattr(exp, name)
    for name in (
        "ReadCSV",
        "ReadParquet",
        "Command",
        "Into",
        "Commit",
        "Rollback",
        "Transaction",
        "Set",
        "Pragma",
    )
    if hasattr(exp, name)
)


def check_functions(tree: exp.Expr, dialect: Dialect) -> None:
    """Refuse functions that are not the dialect's, and what is no part of a query."""
    for node in tree.walk():
        if isinstance(node, _NEVER):
            raise dialect.unsupported(type(node).__name__)
        if isinstance(node, exp.Anonymous):
            if node.name.upper() not in dialect.functions and COUNTS not in node.meta:
                raise dialect.unknown_function(node.name)
        elif isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier):
            if not isinstance(node.this, exp.Anonymous | exp.Func):
                raise dialect.unsupported("a table that is no name")
            if not _may_be_table(node.this, dialect):
                raise dialect.unknown_function(_name(node.this))
    bound_sizes(tree)


def _may_be_table(function: exp.Expr, dialect: Dialect) -> bool:
    return (
        isinstance(function, (exp.Unnest, exp.Explode, *_COUNTS))
        or _name(function).upper() in dialect.functions
    )


def _name(function: exp.Expr) -> str:
    return (
        function.sql_name()
        if isinstance(function, exp.Func) and not isinstance(function, exp.Anonymous)
        else function.name
    )


def bound_sizes(tree: exp.Expr) -> None:
    """Put a bound on the sizes that a statement says: of texts and lists that are made of nothing."""
    for node in list(tree.find_all(*_SAYS_HOW_LONG, *_COUNTS)):
        if isinstance(node, exp.Repeat):
            size = exp.Length(this=exp.cast(node.this.copy(), "text")) * exp.Paren(
                this=node.args["times"].copy()
            )
            node.set("times", _bounded(node.args["times"], size, LONGEST_TEXT))
        elif isinstance(node, exp.Pad | exp.Space):
            name = "expression" if isinstance(node, exp.Pad) else "this"
            node.set(name, _bounded(node.args[name], node.args[name].copy(), LONGEST_TEXT))
        else:
            _bound_series(node)


def _bounded(value: exp.Expr, size: exp.Expr, most: int) -> exp.Expr:
    if isinstance(value, exp.Literal) and isinstance(size, exp.Literal):
        if not size.is_string and float(size.this) > most:
            raise Invalid(f"String is too long: {size.this} characters; at most {most} are possible.")
        return value
    refuse = exp.Anonymous(
        this="error", expressions=[exp.Literal.string("String is too long and would be truncated")]
    )
    return exp.Case(
        ifs=[
            exp.If(this=exp.GT(this=exp.Paren(this=size), expression=exp.Literal.number(most)), true=refuse)
        ],
        default=value,
    )


def _bound_series(node: exp.Expr) -> None:
    start, end = node.args.get("start"), node.args.get("end")
    if not isinstance(node, exp.GenerateSeries) or start is None or end is None:
        return
    size = exp.Abs(this=exp.Paren(this=end.copy()) - exp.Paren(this=start.copy()))
    node.set("end", _bounded(end, size, LONGEST_LIST * 10))
