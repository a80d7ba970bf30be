"""Explanations, in the vendor's words, of statements that DuckDB does not compute.

A dialect knows how its vendor says most of it; what it has no words for comes here, so that no sentence, no
type and no function of DuckDB's is shown. Functions are named as the statement names them, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlglot import exp

from mesocosm.services.patterns import BadPattern, Pattern
from mesocosm.services.queries.failures import Failed

UPDATED = 'column "\u2063row_id" must appear'
"""Error for an aggregate in a statement that changes rows."""
_CALL = re.compile(
    r"(?:argument types|function call|template type .* in function:)"
    r" ['\"](?P<name>[^('\"]*)\((?P<types>(?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)",
    re.DOTALL,
)
_NAMED = re.compile(
    r"(?:Macro (?P<a>\w+)\(\)|(?P<b>\w+)\(\) (?:takes|keys|requires|can)|[Ff]unction [\"'](?P<c>\w+)|"
    r"\A(?P<d>\w+) (?:is not an aggregate|only takes|can only operate|requires))"
)
_CAST = re.compile(r"Unimplemented type for cast \((?P<from>.*?) -> (?P<to>.*?)\)(?: when|\Z)", re.DOTALL)
_VALUE = re.compile(
    r"(?:Failed to cast value[^:]*: |Unable to cast ['\"]?|Could not convert string )(?P<value>.*?)"
    r"(?:['\"]? to (?P<to>[A-Z][\w ()]*?))?(?: when casting.*)?\Z",
    re.DOTALL,
)
_CLAUSE = re.compile(
    r"(?P<clause>WHERE|HAVING|GROUP BY|QUALIFY|Table function).* (?P<what>aggregates|window)"
)
_ARGUMENTS = re.compile(
    "argument|function call|template|lambda|aggregate function|only (?:operate|take|be applied)|macro|UNNEST",
    re.IGNORECASE,
)
_MIXED = re.compile(
    r"Cannot (?:mix values of type|combine types of|concatenate types|compare values of type) (?P<a>.*?) and"
    r" (?:type )?(?P<b>.*?)(?: in .*| -.*)?\Z"
)
_TO_TYPE = re.compile(
    r"Type \S+ with value (?P<value>.*?) can't be cast to the destination type (?P<to>.*)\Z"
)
_TYPE = re.compile(
    r"TIMESTAMP WITH TIME ZONE|(?:DECIMAL|STRUCT|MAP)\((?:[^()]|\([^()]*\))*\)(?:\[\d*\])*"
    r"|[A-Z][A-Z_0-9]*(?:\[\d*\])+|[A-Z][A-Z_0-9]*"
)
_PATTERN = re.compile(
    r"(?:missing [)\]]|unexpected \)|no argument for repetition operator|bad repetition operator|trailing \\|"
    r"invalid (?:perl operator|escape sequence|repetition size|character class|named capture|UTF-8)|"
    r"pattern too large)(?:.*: (?P<part>.*))?",
    re.DOTALL,
)
"""Words of RE2 for a text that is no regular expression: the products have the same library as DuckDB."""


def bad_pattern(failed: Failed, tree: exp.Expr) -> tuple[str, str] | None:
    """A regular expression of a statement that cannot be read, and why; ``None`` for any other failure."""
    found = _PATTERN.match(failed.message) if failed.kind == "Invalid Input" else None
    if found is None:
        return None
    for literal in tree.find_all(exp.Literal):
        try:
            Pattern(literal.name)
        except BadPattern as error:
            if str(error) == found[0]:
                return literal.name[:200], found[0][:200]
    return (found["part"] or "")[:200], found[0][:200]  # it is made of values


@dataclass(frozen=True)
class SqlComplaint:
    """An error in a statement, to be worded by a dialect."""

    sort: str
    """``arguments``, ``cast``, ``value``, ``clause``, ``range``, ``syntax`` or ``other``."""
    function: str = ""
    """As the statement has it; empty if that is not known."""
    types: str = ""
    """Of arguments, or of what is cast; as the vendor calls them."""
    to: str = ""
    """A type, as the vendor calls it."""
    value: str = ""
    clause: str = ""


def written(tree: exp.Expr) -> list[exp.Identifier]:
    """Names of a statement that have a place in its text, those of values first."""
    names = [one for one in tree.find_all(exp.Identifier) if "line" in one.meta]
    return sorted(names, key=lambda one: isinstance(one.parent, exp.Table | exp.TableAlias))


def names_called(tree: exp.Expr) -> tuple[str, ...]:
    """The functions that a statement calls, before it is rewritten."""
    skipped = (exp.Cast, exp.TryCast, exp.Connector, exp.Case, exp.If, exp.Predicate, exp.Binary)
    found = (
        node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        for node in tree.find_all(exp.Func)
        if not isinstance(node, skipped)
    )
    return tuple(dict.fromkeys(name.upper() for name in found))


def complaint(
    failed: Failed, called: Collection[str], known: Collection[str], types: Mapping[str, str]
) -> SqlComplaint:
    """Explain a failure. ``called``: functions of the statement; ``known``: those of the product; ``types``:
    the product's names of DuckDB's types without parameters, ``[]`` for lists.
    """
    message = failed.message.partition("\n")[0].strip() or failed.message
    if found := _CLAUSE.search(message):
        what = "Aggregate" if found["what"] == "aggregates" else "Window"
        clause = found["clause"]
        return SqlComplaint("clause", value=what, clause="FROM" if clause == "Table function" else clause)
    if found := _CAST.search(message):
        return SqlComplaint("cast", types=told(found["from"], types), to=told(found["to"], types))
    if "Window functions are not supported here" in message:
        return SqlComplaint("clause", value="Window", clause="this")
    if UPDATED in failed.message:
        return SqlComplaint("clause", value="Aggregate", clause="SET")
    if found := _MIXED.search(message):
        return SqlComplaint("arguments", types=told(f"{found['a']}, {found['b']}", types))
    if found := _TO_TYPE.search(message):
        return SqlComplaint("value", value=found["value"][:100].strip("'"), to=told(found["to"], types))
    if failed.kind == "Parser":
        return SqlComplaint("syntax")
    if failed.kind == "Out of Range" or "out of range" in message:
        return SqlComplaint("range")
    if found := _CALL.search(failed.message):
        return SqlComplaint("arguments", _function(found["name"], called, known), told(found["types"], types))
    if failed.kind in ("Binder", "Catalog", "Invalid Input") and _ARGUMENTS.search(message):
        named = _NAMED.search(message)
        name = next((one for one in named.groups() if one), "") if named else ""
        return SqlComplaint("arguments", _function(name, called, known))
    if failed.kind in ("Conversion", "Invalid Input") and (found := _VALUE.search(message)):
        return SqlComplaint(
            "value", value=found["value"][:100].strip("'\""), to=told(found["to"] or "", types)
        )
    return SqlComplaint("other")


def _function(name: str, called: Collection[str], known: Collection[str]) -> str:
    """The function of the statement that is meant by one of DuckDB's."""
    if name.upper() in called and name.upper() in known:
        return name.upper()
    only = [one for one in called if one in known]
    return only[0] if len(called) == len(only) == 1 else ""


def told(kinds: str, types: Mapping[str, str]) -> str:
    """Types of DuckDB's as a product calls them."""

    def say(found: re.Match[str]) -> str:
        whole = found[0]
        if whole.endswith("]"):
            inner = _TYPE.sub(say, whole.rpartition("[")[0])
            return types["[]"].format(inner)
        name = whole.partition("(")[0]
        return types.get(name, name)

    return _TYPE.sub(say, kinds)
