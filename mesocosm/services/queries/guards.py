"""Guards on statements: only the vendor's functions, none that read files or settings, no values whose size
is a number in the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import sqlglot
from sqlglot import exp

from mesocosm.errors import Invalid
from mesocosm.services.queries.allowlist import listed
from mesocosm.services.queries.dialect import COUNTS, MEANINGLESS, Dialect

LONGEST_TEXT = 16 * 1024 * 1024
"""Characters of a text that a function may make by repeating another."""
LONGEST_LIST = 1_000_000
"""Elements of a list that a function may make from two numbers."""
_MOST_QUANTILES = 10_000
"""Parts of a distribution: each is written out in the statement."""
MOST_PAIRS = 4_000_000
"""Pairs of characters that a function may compare which compares each of a text with each of another: nobody
can interrupt it within 2,048 rows."""
_SAYS_HOW_LONG = (exp.Repeat, exp.Pad, exp.Space)
_GROWS = (exp.Replace, exp.RegexpReplace)
_COMPARES = (exp.Levenshtein, exp.JarowinklerSimilarity)
_TAKES_APART = (
    exp.Split, exp.StringToArray, exp.StrtokToArray, exp.SplitToTable, exp.StrtokSplitToTable,
    exp.ToCodePoints, exp.Hex, exp.LowerHex,
)  # fmt: skip
"""Functions that make of a text a list of its parts, or a text that is twice as long."""
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
        "Columns",
    )
    if hasattr(exp, name)
)

_OF_BIGQUERY = (exp.MakeInterval,)
"""Functions of GoogleSQL alone, which would be written as another one."""
_UNITS = listed("""
    NANOSECOND MICROSECOND MILLISECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR DECADE CENTURY
    MILLENNIUM DAYOFWEEK DAYOFWEEKISO DAYOFWEEK_ISO DAYOFYEAR WEEKISO WEEK_ISO ISOWEEK ISOYEAR YEAROFWEEK
    YEAROFWEEKISO DOW ISODOW DOY EPOCH EPOCH_SECOND EPOCH_MILLISECOND EPOCH_MICROSECOND EPOCH_NANOSECOND
    TIMEZONE_HOUR TIMEZONE_MINUTE DATE TIME DATETIME SUNDAY MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY
    """)
"""Parts of dates and times, as sqlglot calls them; the products' other words for them are among its
synonyms."""
_WORDS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?: [A-Za-z_][A-Za-z0-9_]*)*\Z")
_NUMBER = re.compile(r"\d*\.?\d*(?:[eE][-+]?\d+)?\Z")
_TEXTS = (exp.RawString, exp.National, exp.ByteString, exp.JSONPathKey)
"""Nodes with a text that is written in quotes, beside literals."""
_DIGITS = (exp.HexString, exp.BitString)


def check_units(tree: exp.Expr, dialect: Dialect) -> None:
    """Refuse parts of dates and times that there are not."""
    for node in tree.walk():
        for unit in (node.args.get("unit"), node.this if isinstance(node, exp.Extract) else None):
            if isinstance(unit, exp.Expr):
                for one in unit.find_all(exp.Var, exp.Literal, exp.Identifier):
                    if one.name.upper().removesuffix("S") not in _UNITS:
                        raise dialect.unknown_unit(dialect.plain(one.name))


def check_words(tree: exp.Expr, dialect: Dialect) -> None:
    """Refuse a tree in which a text would be written as it is, and is no word.

    To be asked of what is about to be written. Literals and names go in quotes; all else are words.
    """
    for node in tree.walk():
        for value in node.args.values():
            for text in value if isinstance(value, list) else (value,):
                if isinstance(text, str) and not _is_written_well(node, text):
                    raise dialect.unsupported(f"'{text[:50]}' in this place")


def written(tree: exp.Expr, dialect: Dialect) -> str:
    """A piece of a statement as text in the vendor's dialect, to be kept and read again."""
    check_units(tree, dialect)
    check_words(tree, dialect)
    with meaningful(dialect):
        text = tree.sql(dialect.name)
        sqlglot.parse_one(text, read=dialect.name)
        return text


def _is_written_well(node: exp.Expr, text: str) -> bool:
    if isinstance(node, exp.Literal):
        return bool(node.is_string or _NUMBER.match(text))
    if isinstance(node, exp.Identifier) and node.quoted:
        return True
    if isinstance(node, _DIGITS):
        return text.isalnum()
    return isinstance(node, _TEXTS) or not text or _WORDS.match(text) is not None


MEASURED = "measured"
"""Tells a cast that only measures how long a value is as text: bytes need not be any."""


def check_functions(tree: exp.Expr, dialect: Dialect) -> None:
    """Refuse functions and units that are not the dialect's, and what is no part of a query."""
    check_units(tree, dialect)
    for node in tree.walk():
        if isinstance(node, _NEVER):
            raise dialect.unsupported(type(node).__name__)
        if isinstance(node, _OF_BIGQUERY) and dialect.name != "bigquery":
            raise dialect.unknown_function(_name(node))
        if isinstance(node, exp.UDTF) and isinstance(node, exp.Func) and not _stands_for_table(node, dialect):
            raise dialect.unknown_function(_name(node))
        if isinstance(node, exp.ApproxQuantiles):
            _bound_quantiles(node)
        if isinstance(node, exp.Anonymous):
            if node.name.upper() not in dialect.functions and COUNTS not in node.meta:
                raise dialect.unknown_function(dialect.plain(node.name))
        elif isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier):
            if not isinstance(node.this, exp.Anonymous | exp.Func):
                raise dialect.unsupported("a table that is no name")
            if not _may_be_table(node.this, dialect):
                raise dialect.unknown_function(dialect.plain(_name(node.this)))
    with meaningful(dialect):
        bound_sizes(tree)


@contextmanager
def meaningful(dialect: Dialect) -> Iterator[None]:
    """While a tree is changed or written. A call that lacks an argument, or has one of another sort, is
    parsed, and has no meaning: that is refused."""
    try:
        yield
    except MEANINGLESS:
        raise dialect.unsupported("arguments of this number or sort") from None


def _bound_quantiles(node: exp.ApproxQuantiles) -> None:
    of = node.this.expressions[1:] if isinstance(node.this, exp.Distinct) else ()
    for said in (node.args.get("expression"), *of):
        if said is None or not said.is_int:
            continue
        parts = int(said.to_py())  # also of a number with a minus, which is no literal
        if parts < 1:
            raise Invalid("Argument 2 to APPROX_QUANTILES must be at least 1", code="invalidQuery")
        if parts > _MOST_QUANTILES:
            raise Invalid(
                f"APPROX_QUANTILES takes up to {_MOST_QUANTILES:,} parts here.", code="invalidQuery"
            )


def _may_be_table(function: exp.Expr, dialect: Dialect) -> bool:
    return (
        isinstance(function, (exp.Unnest, exp.Explode, *_COUNTS))
        or _name(function).upper() in dialect.functions
    )


def _stands_for_table(function: exp.Expr, dialect: Dialect) -> bool:
    """Elsewhere a function that gives rows would make none, or many, of a row or a value."""
    if isinstance(function, exp.Explode) and dialect.name == "bigquery":
        return False
    return isinstance(
        function.parent, exp.From | exp.Join | exp.Table | exp.Lateral | exp.TableFromRows | exp.In
    )


def _name(function: exp.Expr) -> str:
    return (
        function.sql_name()
        if isinstance(function, exp.Func) and not isinstance(function, exp.Anonymous)
        else function.name
    )


def bound_sizes(tree: exp.Expr) -> None:
    """Bound the sizes of generated texts and lists that a statement states."""
    for node in list(tree.find_all(*_GROWS, *_COMPARES, exp.ArrayToString)):
        _bound_growth(node)
    for node in list(tree.find_all(*_TAKES_APART)):
        if not isinstance(node.this, exp.Literal):
            node.set("this", _bounded(node.this, _length(node.this), LONGEST_LIST))
    for node in list(tree.find_all(*_SAYS_HOW_LONG, *_COUNTS)):
        if isinstance(node, exp.Repeat):
            size = exp.Length(this=_text_of(node.this)) * exp.Paren(this=node.args["times"].copy())
            node.set("times", _bounded(node.args["times"], size, LONGEST_TEXT))
        elif isinstance(node, exp.Pad | exp.Space):
            name = "expression" if isinstance(node, exp.Pad) else "this"
            node.set(name, _bounded(node.args[name], node.args[name].copy(), LONGEST_TEXT))
        else:
            _bound_series(node)


_STRING = "String is too long and would be truncated"
_ARRAY = f"The array is too long: at most {LONGEST_LIST * 10:,} elements are possible"


def _bounded(value: exp.Expr, size: exp.Expr, most: int, refusal: str = _STRING) -> exp.Expr:
    if isinstance(value, exp.Literal) and isinstance(size, exp.Literal):
        if not size.is_string and float(size.this) > most:
            raise Invalid(f"String is too long: {size.this} characters; at most {most} are possible.")
        return value
    refuse = exp.Anonymous(this="error", expressions=[exp.Literal.string(refusal)])
    return exp.Case(
        ifs=[
            exp.If(this=exp.GT(this=exp.Paren(this=size), expression=exp.Literal.number(most)), true=refuse)
        ],
        default=value,
    )


def _bound_growth(node: exp.Expr) -> None:
    """Refuse texts that would become too long, or be compared for too long."""
    other = node.args.get("replacement" if isinstance(node, _GROWS) else "expression")
    if other is None or (isinstance(other, exp.Literal) and len(other.name) <= 1):
        return
    most, length = LONGEST_TEXT, _length(node.this)
    if isinstance(node, exp.ArrayToString):
        length = exp.ArraySize(this=node.this.copy())
    elif isinstance(node, _COMPARES):
        most = MOST_PAIRS
    else:
        old = node.expression
        most *= max(1, len(old.name)) if isinstance(old, exp.Literal) and isinstance(node, exp.Replace) else 1
    if isinstance(node.this, exp.Literal) and len(node.this.name) <= 100:
        return
    node.set("this", _bounded(node.this, length * _length(other), most))


def _length(value: exp.Expr) -> exp.Expr:
    return exp.Length(this=_text_of(value))


def _text_of(value: exp.Expr) -> exp.Expr:
    # Not ``exp.cast``, which looks at what a cast is to, be it a type or not.
    made = exp.Cast(this=value.copy(), to=exp.DataType.build("text"))
    made.meta[MEASURED] = True
    return made


def _bound_series(node: exp.Expr) -> None:
    start, end = node.args.get("start"), node.args.get("end")
    if not isinstance(node, exp.GenerateSeries) or start is None or end is None:
        return
    size = exp.Abs(this=exp.Paren(this=end.copy()) - exp.Paren(this=start.copy()))
    node.set("end", _bounded(end, size, LONGEST_LIST * 10, _ARRAY))
