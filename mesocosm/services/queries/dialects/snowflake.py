"""Snowflake SQL: how names are read, which types there are, and how refusals are worded."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from mesocosm.errors import Refusal
from mesocosm.services.queries.catalogue import SCANNED, Column
from mesocosm.services.queries.complaints import UPDATED, SqlComplaint, bad_pattern, complaint, told, written
from mesocosm.services.queries.computed import SAID
from mesocosm.services.queries.dialect import MEANINGLESS, WRITTEN, Context, Dialect, drawn
from mesocosm.services.queries.dialects import foreign
from mesocosm.services.queries.dialects.snowflake_rewriting import (
    FUNCTIONS,
    MOMENTS,
    last_query,
    rewritten,
)
from mesocosm.services.queries.dialects.snowflake_tables import generate, read_stages
from mesocosm.services.queries.failures import MARK, SPELLED, Failed, SqlError, compilation

_LONGEST = 16_777_216
"""Characters of a text without a length of its own."""


def _apart(token: Token) -> tuple[Token, ...]:
    """``?::``, which another product has as an operator, as a placeholder and a cast."""
    if token.token_type is not TokenType.QDCOLON:
        return (token,)
    line, col, start = token.line, token.col, token.start
    return (
        Token(TokenType.PLACEHOLDER, "?", line, col - 2, start, start),
        Token(TokenType.DCOLON, "::", line, col, start + 1, token.end),
    )


def _bare(bracketed: exp.Subquery) -> None:
    """``FROM (t)`` without its brackets."""
    table = bracketed.this
    if not isinstance(table, exp.Table | exp.TableFromRows) or table.args.get("joins"):
        return
    for name in ("alias", "joins"):
        if bracketed.args.get(name) and not table.args.get(name):
            table.set(name, bracketed.args[name])
    bracketed.replace(table)


class Snowflake(Dialect):
    name: ClassVar[str] = "snowflake"
    functions: ClassVar[frozenset[str]] = FUNCTIONS
    named_as_written: ClassVar[bool] = True
    moments_as_texts: ClassVar[Mapping[str, str]] = MOMENTS

    def tokens(self, tokens: list[Token]) -> list[Token]:
        foreign.SNOWFLAKE.refuse(tokens, self)
        return [one for token in tokens for one in _apart(token)]

    def _folded(self, name: exp.Identifier) -> str:
        return name.name if name.quoted else name.name.upper()

    def spell(self, name: str) -> str:
        if name == name.upper():
            return name
        return name + MARK + "".join("1" if one != one.upper() else "0" for one in name)

    def plain(self, name: str) -> str:
        return name.partition(MARK)[0]

    def prepare(self, tree: exp.Expr, context: Context) -> exp.Expr:
        if tree.find(exp.HistoricalData, exp.Version) is not None:
            raise self.unsupported("AT and BEFORE")
        for member in tree.find_all(exp.PropertyEQ):
            if isinstance(member.this, exp.Identifier):  # a text, not a name: {'ab': 1}
                member.this.meta["resolved"] = True
        for inner in list(tree.find_all(exp.Subquery)):
            _bare(inner)
        read_stages(tree, context)
        generate(tree)
        for scan in list(tree.find_all(exp.TableFromRows)):
            self._scan(scan, context)
        for column in [
            one for one in tree.find_all(exp.Column) if one.table and one.name.upper() == "NEXTVAL"
        ]:
            path = tuple(self.fold(part) for part in column.parts[:-1] if isinstance(part, exp.Identifier))
            counter = context.counters.counter(path) if context.counters else None
            if counter is not None:
                column.replace(drawn(counter))
        for values in tree.find_all(exp.Values):
            if isinstance(values.parent, exp.From | exp.Join | exp.Subquery):
                _name_values(values)
                _number_columns(values)
        return tree

    def _scan(self, scan: exp.TableFromRows, context: Context) -> None:
        """TABLE(RESULT_SCAN(id)): the result of an earlier statement."""
        call = scan.this
        if not isinstance(call, exp.Anonymous) or call.name.upper() != "RESULT_SCAN":
            return
        asked = call.expressions[0] if len(call.expressions) == 1 else None
        if isinstance(asked, exp.Anonymous) and asked.name.upper() == "LAST_QUERY_ID":
            id_ = last_query(asked, context)
        else:
            id_ = asked.name if isinstance(asked, exp.Literal) else None
        if id_ is None:
            raise SqlError(709, "02000", "Statement NULL not found")
        table = exp.table_(id_, db=SCANNED, quoted=True)
        if scan.args.get("alias"):
            table.set("alias", scan.args["alias"].copy())
        scan.replace(table)

    def label(self, expression: exp.Expr, index: int) -> str:
        if (written := expression.meta.get(WRITTEN)) is not None:
            return str(written).upper()
        try:
            return expression.sql("snowflake").upper()
        except MEANINGLESS:
            return f"COLUMN{index + 1}"  # of a call that lacks an argument, which is refused later on

    def rewrite(self, tree: exp.Expr, context: Context) -> exp.Expr:
        return rewritten(tree, context)

    def malformed(self, line: int, column: int, near: str, why: str) -> Refusal:
        said = f"syntax error line {line} at position {column - 1} unexpected '{near or '<EOF>'}'."
        return compilation(1003, "42000", said)

    def refused(
        self, failed: Failed, tree: exp.Expr, columns: list[str], called: Sequence[str] = ()
    ) -> Refusal:
        own = failed.message.startswith(SAID)
        message = SPELLED.sub("", failed.message.removeprefix(SAID))
        if bad := bad_pattern(failed, tree):
            text, why = bad
            return SqlError(100048, "2201B", f"Invalid regular expression: '{text}', {why}")
        for pattern, say in () if UPDATED in failed.message else _SAYINGS:
            if found := pattern.search(message):
                return say(found, tree, columns)
        if own:
            return SqlError(603, "XX000", message)
        known = sqlglot.Dialect.get_or_raise(self.name).parser_class.FUNCTIONS
        return _worded(complaint(Failed(failed.kind, message), called, known, _VENDOR))

    def unknown_function(self, name: str) -> Refusal:
        return compilation(2140, "42601", f"Unknown function {name.upper()}")

    def unknown_type(self, name: str) -> Refusal:
        return compilation(2040, "42601", f"Unsupported data type '{name[:100].upper()}'.")

    def unknown_unit(self, name: str) -> Refusal:
        return compilation(2050, "42601", f"'{name[:100].upper()}' is not a valid date/time component")

    def unsupported(self, what: str) -> Refusal:
        return SqlError(2, "0A000", f"Unsupported feature '{what}'.")

    def unknown_column(self, name: exp.Identifier, columns: list[str]) -> Refusal:
        return _invalid_identifier(self.fold(name), name, columns)

    def wrong_width(self, expected: int, given: int) -> Refusal:
        said = f"Insert value list does not match column list expecting {expected} but got {given}"
        return compilation(2057, "42601", said)

    def matched_twice(self) -> Refusal:
        return SqlError(100090, "42P18", "Duplicate row detected during DML action")

    def missing_value(self, column: str) -> Refusal:
        return SqlError(100072, "22000", f"NULL result in a non-nullable column: {column}")


def _worded(wrong: SqlComplaint) -> SqlError:
    match wrong.sort:
        case "arguments":
            named = (
                f"for function '{wrong.function}'" if wrong.function else "for a function of the statement"
            )
            types = f": ({wrong.types})" if wrong.types else ""
            return compilation(1044, "42P13", f"Invalid argument types {named}{types}")
        case "cast":
            said = f"invalid type [CAST({wrong.types} AS {wrong.to})] for parameter 'TO_{wrong.to}'"
            return compilation(1007, "22023", re.sub(r"\(\d[\d,]*\)'\Z", "'", said))
        case "value":
            to = f" to {wrong.to}" if wrong.to else ""
            return SqlError(100071, "22000", f"Failed to cast variant value {wrong.value}{to}")
        case "clause":
            what = f"Invalid {wrong.value.lower()} function in {wrong.clause.lower()} clause"
            return compilation(2035, "42601", what)
        case "syntax":
            return compilation(1003, "42000", "syntax error: an expression is not valid where it stands")
        case "range":
            return SqlError(100132, "22003", "Numeric value is out of range")
    return SqlError(603, "XX000", "SQL execution error: an expression of the statement cannot be evaluated")


_VENDOR = {
    **dict.fromkeys(
        ("BIGINT", "HUGEINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT", "INTEGER_LITERAL"), "NUMBER(38,0)"
    ),
    **dict.fromkeys(("INT32", "INT64", "INT128", "UINT64", "UINT32", "INT8", "INT16"), "NUMBER(38,0)"),
    **dict.fromkeys(("DOUBLE", "FLOAT"), "FLOAT"),
    **dict.fromkeys(("VARCHAR", "STRING_LITERAL", "UUID"), "VARCHAR"),
    **dict.fromkeys(("STRUCT", "MAP"), "OBJECT"),
    "DECIMAL": "NUMBER",
    "BLOB": "BINARY",
    "BOOL": "BOOLEAN",
    "TIMESTAMP": "TIMESTAMP_NTZ(9)",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP_LTZ(9)",
    "TIME": "TIME(9)",
    "JSON": "VARIANT",
    "[]": "ARRAY",
}


def _name_values(values: exp.Values) -> None:
    """Name the columns of VALUES COLUMN1, COLUMN2 ... unless named explicitly."""
    holder = values.parent if isinstance(values.parent, exp.Subquery) else values
    alias = holder.args.get("alias") or exp.TableAlias(this=exp.to_identifier("VALUES"))
    if not alias.args.get("columns") and values.expressions:
        first = values.expressions[0]
        width = len(first.expressions) if isinstance(first, exp.Tuple) else 1
        alias.set("columns", [exp.to_identifier(f"COLUMN{index + 1}") for index in range(width)])
        holder.set("alias", alias)


def _number_columns(values: exp.Values) -> None:
    """``$1`` is the first column of VALUES, where a query reads nothing else."""
    select = values.find_ancestor(exp.Select)
    if select is None or values.find_ancestor(exp.From) is None or select.args.get("joins"):
        return
    holder = values.parent if isinstance(values.parent, exp.Subquery) else values
    names = holder.args["alias"].columns if holder.args.get("alias") else []
    for numbered in list(select.find_all(exp.Parameter)):
        number = numbered.name
        if number.isdecimal() and numbered.find_ancestor(exp.Select) is select:
            if not 1 <= int(number) <= len(names):
                raise compilation(904, "42000", f"invalid identifier '${number}'")
            column: exp.Expr = exp.Column(this=names[int(number) - 1].copy())
            if numbered.parent is select:
                column = exp.alias_(column, f"${number}", quoted=True)
            numbered.replace(column)


_TYPES = exp.DataType.Type
_WHOLE = {_TYPES.INT, _TYPES.BIGINT, _TYPES.SMALLINT, _TYPES.TINYINT, _TYPES.UBIGINT, _TYPES.INT128}
_FLOATS = {_TYPES.FLOAT, _TYPES.DOUBLE}
_TEXTS = {_TYPES.VARCHAR, _TYPES.TEXT, _TYPES.CHAR, _TYPES.NCHAR, _TYPES.NVARCHAR}
_NTZ = {_TYPES.TIMESTAMP, _TYPES.TIMESTAMPNTZ, _TYPES.DATETIME}
_TZ = {_TYPES.TIMESTAMPTZ: "TIMESTAMP_TZ(9)", _TYPES.TIMESTAMPLTZ: "TIMESTAMP_LTZ(9)"}
_LOOSE = {
    _TYPES.VARIANT: "VARIANT",
    _TYPES.OBJECT: "OBJECT",
    _TYPES.ARRAY: "ARRAY",
    _TYPES.STRUCT: "OBJECT",
    _TYPES.LIST: "ARRAY",
}
_SIMPLE = {
    _TYPES.BOOLEAN: ("BOOLEAN", "BOOLEAN"),
    _TYPES.DATE: ("DATE", "DATE"),
    _TYPES.TIME: ("TIME", "TIME(9)"),
    _TYPES.BINARY: ("BLOB", "BINARY(8388608)"),
    _TYPES.VARBINARY: ("BLOB", "BINARY(8388608)"),
}


def column_type(declared: exp.DataType) -> tuple[str, str, int | None]:
    """Of a declared type: DuckDB's, Snowflake's own full spelling, and the length of a bounded text."""
    kind = declared.this
    numbers = [int(one.name) for one in declared.expressions if one.name.isdecimal()]
    if kind in _WHOLE:
        return "HUGEINT", "NUMBER(38,0)", None
    if kind in {_TYPES.DECIMAL, _TYPES.BIGDECIMAL}:
        precision, scale = (numbers + [38, 0][len(numbers) :])[:2]
        if not 1 <= precision <= 38 or scale > 37 or scale > precision:
            raise compilation(2129, "42601", f"Invalid data type: NUMBER({precision},{scale})")
        whole = "HUGEINT" if (precision, scale) == (38, 0) else f"DECIMAL({precision},{scale})"
        return whole, f"NUMBER({precision},{scale})", None
    if kind in _FLOATS:
        return "DOUBLE", "FLOAT", None
    if kind in _TEXTS:
        default = 1 if kind in {_TYPES.CHAR, _TYPES.NCHAR} else _LONGEST
        length = numbers[0] if numbers else default
        return "VARCHAR", f"VARCHAR({length})", length if length < _LONGEST else None
    if kind in _NTZ:
        return "TIMESTAMP", "TIMESTAMP_NTZ(9)", None
    if kind in _TZ:
        return "TIMESTAMPTZ", _TZ[kind], None
    if kind in _LOOSE:
        return "JSON", _LOOSE[kind], None
    if kind in _SIMPLE:
        return (*_SIMPLE[kind], None)
    raise compilation(2040, "42601", f"Unsupported data type '{declared.sql('snowflake')}'.")


def new_column(name: str, declared: exp.DataType) -> Column:
    """A column of a declared type."""
    kind, vendor, longest = column_type(declared)
    return Column(name, kind, stored=name, longest=longest, vendor=vendor)


_RESULTS = {
    "BOOLEAN": ("BOOLEAN", "BOOLEAN"),
    "DATE": ("DATE", "DATE"),
    "TIME": ("TIME", "TIME(9)"),
    "BLOB": ("BLOB", "BINARY(8388608)"),
    "TIMESTAMP": ("TIMESTAMP", "TIMESTAMP_NTZ(9)"),
    "TIMESTAMP WITH TIME ZONE": ("TIMESTAMPTZ", "TIMESTAMP_LTZ(9)"),
    "DOUBLE": ("DOUBLE", "FLOAT"),
    "FLOAT": ("DOUBLE", "FLOAT"),
    "JSON": ("JSON", "VARIANT"),
}
_NUMBER = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")


def type_of_result(name: str, kind: str) -> Column:
    """Make a column for a result, from DuckDB's type."""
    if kind.endswith("INT") or kind == "INTEGER":
        return Column(name, "HUGEINT", stored=name, vendor="NUMBER(38,0)")
    if found := _NUMBER.match(kind):
        number = f"{found[1]},{found[2]}"
        whole = number == "38,0"
        return Column(
            name, "HUGEINT" if whole else f"DECIMAL({number})", stored=name, vendor=f"NUMBER({number})"
        )
    if kind.endswith("]"):
        return Column(name, "JSON", stored=name, vendor="ARRAY")
    if kind.startswith(("STRUCT", "MAP")):
        return Column(name, "JSON", stored=name, vendor="OBJECT")
    ours, vendor = _RESULTS.get(kind, ("VARCHAR", f"VARCHAR({_LONGEST})"))
    return Column(name, ours, stored=name, vendor=vendor)


# -- refusals ---------------------------------------------------------------------------------------------


def _position(name: str, tree: exp.Expr) -> str:
    for one in written(tree):
        if one.name.partition(MARK)[0].lower() == name.lower():
            column = one.meta["col"] - len(one.name.partition(MARK)[0])
            return f"error line {one.meta['line']} at position {max(0, column)}\n"
    return ""


def _invalid_identifier(name: str, tree: exp.Expr, columns: list[str]) -> SqlError:
    near = get_close_matches(name.rpartition(".")[2].upper(), [one.upper() for one in columns], 1, 0.6)
    hint = f" (did you mean {near[0]}?)" if near else ""
    where = _position(name, tree)
    gap = " " if where else "\n"
    return SqlError(904, "42000", f"SQL compilation error:{gap}{where}invalid identifier '{name}'{hint}")


def _column(found: re.Match[str], tree: exp.Expr, columns: list[str]) -> SqlError:
    return _invalid_identifier(found[1], tree, columns)


_Say = Callable[["re.Match[str]", exp.Expr, list[str]], SqlError]


def _say(number: int, state: str, text: str, *, compiling: bool = False) -> _Say:
    def say(found: re.Match[str], tree: exp.Expr, columns: list[str]) -> SqlError:
        said = found.expand(text)
        return compilation(number, state, said) if compiling else SqlError(number, state, said)

    return say


def _mixed(found: re.Match[str], tree: exp.Expr, columns: list[str]) -> SqlError:
    left, right = (told(one or "", _VENDOR) for one in found.groups())
    if not right:
        return compilation(1044, "42P13", "Invalid argument types for a function of the statement")
    return compilation(1065, "42601", f"Can not convert parameter of type {left} into expected type {right}")


_SAYINGS: tuple[tuple[re.Pattern[str], _Say], ...] = tuple(
    (re.compile(pattern, re.DOTALL), say)
    for pattern, say in (
        (r"\ADate value out of range: (.*)", _say(100040, "22007", r"Date '\1' is not recognized")),
        (r"\ATimestamp value out of range: (.*)", _say(100035, "22007", r"Timestamp '\1' is not recognized")),
        (r'Referenced column "?([^" ]+)"?[^"]*not found', _column),
        (r'Column "([^"]+)" referenced that exists in the SELECT clause', _column),
        (r'Table "[^"]*" does not have a column named "([^"]+)"', _column),
        (r'Values list "[^"]*" does not have a column named "([^"]+)"', _column),
        (r'Referenced table "([^"]+)" not found', _column),
        (
            r'Ambiguous reference to column name "([^"]+)"',
            _say(2028, "42601", r"ambiguous column name '\1'", compiling=True),
        ),
        (
            r'column "([^"]+)" must appear in the GROUP BY clause',
            _say(979, "42601", r"[\1] is not a valid group by expression", compiling=True),
        ),
        (
            r"Could not convert string '(.*?)' to (?:INT|DECIMAL|DOUBLE|HUGEINT|BIGINT|FLOAT|UINT|U?BIGINT)",
            _say(100038, "22018", r"Numeric value '\1' is not recognized"),
        ),
        (
            r"Could not convert string '(.*?)' to BOOL",
            _say(100037, "22018", r"Boolean value '\1' is not recognized"),
        ),
        (
            r'Could not convert string "(.*?)" to DECIMAL',
            _say(100038, "22018", r"Numeric value '\1' is not recognized"),
        ),
        (
            r'(?:invalid date field format|date field value out of range): "(.*?)"',
            _say(100040, "22007", r"Date '\1' is not recognized"),
        ),
        (
            r'(?:invalid timestamp field format|timestamp field value out of range): "(.*?)"',
            _say(100035, "22007", r"Timestamp '\1' is not recognized"),
        ),
        (
            r'Could not parse string "(.*?)" according to format',
            _say(100096, "22007", r"Can't parse '\1' as date with the given format"),
        ),
        (r'time field value out of range: "(.*?)"', _say(100108, "22007", r"Time '\1' is not recognized")),
        (r"Malformed JSON.*", _say(100069, "22P02", "Error parsing JSON: the text is no valid JSON")),
        (r"Map keys must be unique", _say(100103, "22000", "Duplicate field key")),
        (r"Division by zero", _say(100051, "22012", "Division by zero")),
        (r"(String .* is too long and would be truncated)", _say(100078, "22000", r"\1")),
        (
            r"Casting value \"(.*?)\" to type DECIMAL.* failed|out of range|[Oo]verflow",
            _say(100132, "22003", "Numeric value is out of range"),
        ),
        (
            r"Could not cast value (\S+) to DECIMAL",
            _say(100132, "22003", r"Number out of representable range: \1"),
        ),
        (
            r"More than one row returned by a subquery",
            _say(90150, "22000", "Single-row subquery returns more than one row."),
        ),
        (
            r"[Ss]et operations can only apply to expressions with the same number of result columns",
            _say(
                1789,
                "42601",
                "invalid number of result columns for set operator input branches",
                compiling=True,
            ),
        ),
        (
            r"Invalid replacement string for regexp_replace: (.*)",
            _say(100048, "2201B", r"Invalid regular expression: \1"),
        ),
        (
            r"No candidates found|Cannot compare values of type (.*?) and (?:type )?(.*?) -",
            _mixed,
        ),
    )
)
