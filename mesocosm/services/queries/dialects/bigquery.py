"""GoogleSQL: how names are read, which types there are, and how refusals are worded."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import ClassVar

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from mesocosm.errors import Invalid, Refusal
from mesocosm.services.queries.allowlist import listed
from mesocosm.services.queries.complaints import UPDATED, SqlComplaint, bad_pattern, complaint, told, written
from mesocosm.services.queries.computed import SAID
from mesocosm.services.queries.dialect import Context, Dialect
from mesocosm.services.queries.dialects import foreign
from mesocosm.services.queries.dialects.bigquery_casts import reading
from mesocosm.services.queries.dialects.bigquery_functions import FUNCTIONS
from mesocosm.services.queries.dialects.bigquery_rewriting import prepared, rewritten
from mesocosm.services.queries.failures import Failed

__all__ = ["BigQuery", "prepared"]


def wrong(message: str) -> Invalid:
    """A refusal of a statement, as BigQuery words it."""
    return Invalid(message, code="invalidQuery")


class BigQuery(Dialect):
    name: ClassVar[str] = "bigquery"
    functions: ClassVar[frozenset[str]] = FUNCTIONS
    one_match: ClassVar[bool] = True

    def tokens(self, tokens: list[Token]) -> list[Token]:
        foreign.BIGQUERY.refuse(tokens, self)
        return reading(tokens) if any(token.text.upper() == "FORMAT" for token in tokens) else tokens

    def _folded(self, name: exp.Identifier) -> str:
        return name.name

    def label(self, expression: exp.Expr, index: int) -> str:
        if isinstance(expression, exp.Dot):
            return expression.name
        return f"f{index}_"

    def rewrite(self, tree: exp.Expr, context: Context) -> exp.Expr:
        return rewritten(tree, context)

    def malformed(self, line: int, column: int, near: str, why: str) -> Refusal:
        if not near or near == "<EOF>":
            return wrong(f"Syntax error: Unexpected end of script at [{line}:{column}]")
        what = f"keyword {near.upper()}" if near.upper() in _KEYWORDS else f'"{near[:100]}"'
        return wrong(f"Syntax error: Unexpected {what} at [{line}:{column}]")

    def refused(
        self, failed: Failed, tree: exp.Expr, columns: list[str], called: Sequence[str] = ()
    ) -> Refusal:
        if failed.message.startswith(SAID):
            return wrong(failed.message.removeprefix(SAID))
        if bad := bad_pattern(failed, tree):
            return wrong(f"Cannot parse regular expression: {bad[1]}")
        for pattern, say in () if UPDATED in failed.message else _SAYINGS:
            if found := pattern.search(failed.message):
                return say(found, tree, columns)
        return _worded(complaint(failed, called, FUNCTIONS | _KNOWN, _VENDOR))

    def unknown_function(self, name: str) -> Refusal:
        near = get_close_matches(name.upper(), sorted(FUNCTIONS | foreign.BIGQUERY.functions), 1, 0.85)
        hint = f"; Did you mean {near[0].lower()}?" if near and near[0] != name.upper() else ""
        return wrong(f"Function not found: {name[:100]}{hint}")

    def unknown_type(self, name: str) -> Refusal:
        return wrong(f"Type not found: {name[:100]}")

    def unknown_unit(self, name: str) -> Refusal:
        return wrong(f"A valid date part name is required but found {name[:100]}")

    def unsupported(self, what: str) -> Refusal:
        return wrong(f"{what} is not supported here.")

    def unknown_column(self, name: exp.Identifier, columns: list[str]) -> Refusal:
        return _unrecognized(name.name, name, columns)

    def wrong_width(self, expected: int, given: int) -> Refusal:
        return wrong(f"Inserted row has wrong column count; Has {given}, expected {expected}")

    def matched_twice(self) -> Refusal:
        return wrong("UPDATE/MERGE must match at most one source row for each target row")

    def missing_value(self, column: str) -> Refusal:
        return wrong(f"Required field {column} cannot be null")


def _worded(about: SqlComplaint) -> Invalid:
    match about.sort:
        case "arguments":
            named = f"for function {about.function}" if about.function else "for a function of the statement"
            types = f" for argument types: {about.types}" if about.types else ""
            return wrong(f"No matching signature {named}{types}")
        case "cast":
            return wrong(f"Invalid cast from {about.types} to {about.to}")
        case "value":
            return wrong(f"Could not cast value {about.value}{f' to type {about.to}' if about.to else ''}")
        case "clause":
            return wrong(f"{about.value} function not allowed in {about.clause} clause")
        case "syntax":
            return wrong("Syntax error: an expression is not valid where it stands")
        case "range":
            return wrong("Numeric value out of range")
    return wrong("An expression of the statement cannot be evaluated.")


_VENDOR = {
    **dict.fromkeys(("BIGINT", "HUGEINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT"), "INT64"),
    **dict.fromkeys(("INTEGER_LITERAL", "INT32", "INT128", "UINT64", "UINT32", "INT8", "INT16"), "INT64"),
    **dict.fromkeys(("DOUBLE", "FLOAT"), "FLOAT64"),
    **dict.fromkeys(("VARCHAR", "STRING_LITERAL", "UUID"), "STRING"),
    **dict.fromkeys(("STRUCT", "MAP"), "STRUCT"),
    "DECIMAL": "NUMERIC",
    "BLOB": "BYTES",
    "BOOLEAN": "BOOL",
    "TIMESTAMP": "DATETIME",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
    "[]": "ARRAY<{}>",
}
_KEYWORDS = listed("""
    SELECT FROM WHERE GROUP ORDER BY HAVING LIMIT JOIN ON USING UNION ALL DISTINCT AS AND OR NOT IN IS NULL
    CASE WHEN THEN ELSE END INSERT UPDATE DELETE MERGE SET VALUES WITH QUALIFY WINDOW BETWEEN LIKE
    """)
_KNOWN = frozenset(name.upper() for name in exp.FUNCTION_BY_NAME)


def _position(name: str, tree: exp.Expr) -> str:
    for one in written(tree):
        if one.name.lower() == name.lower():
            return f" at [{one.meta['line']}:{max(1, one.meta['col'] - len(one.name) + 1)}]"
    return ""


def _unrecognized(name: str, tree: exp.Expr, columns: list[str]) -> Invalid:
    last = name.rpartition(".")[2]
    near = get_close_matches(last.lower(), [one.lower() for one in columns], 1, 0.6)
    hint = f"; Did you mean {next(one for one in columns if one.lower() == near[0])}?" if near else ""
    return wrong(f"Unrecognized name: {last}{hint}{_position(last, tree)}")


_Say = Callable[["re.Match[str]", exp.Expr, list[str]], Invalid]


def _say(text: str) -> _Say:
    return lambda found, tree, columns: wrong(found.expand(text))


def _column(found: re.Match[str], tree: exp.Expr, columns: list[str]) -> Invalid:
    return _unrecognized(found[1], tree, columns)


def _mixed(found: re.Match[str], tree: exp.Expr, columns: list[str]) -> Invalid:
    types = ", ".join(told(one, _VENDOR) for one in found.groups())
    return wrong(f"No matching signature for operator = for argument types: {types}")


def _at(text: str) -> _Say:
    return lambda found, tree, columns: wrong(found.expand(text) + _position(found[1], tree))


_SAYINGS: tuple[tuple[re.Pattern[str], _Say], ...] = tuple(
    (re.compile(pattern, re.DOTALL), say)
    for pattern, say in (
        (r'Referenced column "?([^" ]+)"?[^"]*not found', _column),
        (r'Column "([^"]+)" referenced that exists in the SELECT clause', _column),
        (r'(?:Table|Values list) "[^"]*" does not have a column named "([^"]+)"', _column),
        (r'Referenced table "([^"]+)" not found', _column),
        (r'Ambiguous reference to column name "([^"]+)"', _at(r"Column name \1 is ambiguous")),
        (
            r'column "([^"]+)" must appear in the GROUP BY clause',
            _at(r"SELECT list expression references column \1 which is neither grouped nor aggregated"),
        ),
        (r"Could not convert string '(.*?)' to U?(?:INT|BIGINT|HUGEINT)\w*", _say(r"Bad int64 value: \1")),
        (r"Could not convert string '(.*?)' to (?:DOUBLE|FLOAT)", _say(r"Bad double value: \1")),
        (r"Could not convert string '(.*?)' to BOOL", _say(r"Bad bool value: \1")),
        (r"Could not convert string ['\"](.*?)['\"] to DECIMAL", _say(r"Invalid NUMERIC value: \1")),
        (
            r'(?:invalid date field format|date field value out of range): "(.*?)"',
            _say(r"Invalid date: '\1'"),
        ),
        (
            r'(?:invalid timestamp field format|timestamp field value out of range): "(.*?)"',
            _say(r"Invalid timestamp: '\1'"),
        ),
        (r'time field value out of range: "(.*?)"', _say(r"Invalid time string \"\1\"")),
        (
            r'Could not parse string "(.*?)" according to format',
            _say(r'Failed to parse input string "\1"'),
        ),
        (r"Malformed JSON.*", _say("Invalid input: syntax error while parsing JSON")),
        (r"[Dd]ivision by zero", _say("division by zero")),
        (r"(Array index \S+ is out of bounds.*)", _say(r"\1")),
        (r"Overflow in (\w+) of \w+ \((.*?)\)", _say(r"int64 overflow: \2")),
        (r"out of range|[Oo]verflow", _say("Numeric value out of range")),
        (
            r"More than one row returned by a subquery",
            _say("Scalar subquery produced more than one element"),
        ),
        (
            r"[Ss]et operations can only apply to expressions with the same number of result columns",
            _say("Queries in UNION ALL have mismatched column count"),
        ),
        (
            r"Cannot compare values of type (.*?) and (?:type )?(.*?) -",
            _mixed,
        ),
        (r"Values? list .* must have the same", _say("Inserted row has wrong column count")),
        (r"Invalid replacement string for regexp_replace: (.*)", _say(r"Invalid REGEXP_REPLACE pattern: \1")),
    )
)
