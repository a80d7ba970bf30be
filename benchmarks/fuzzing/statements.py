"""Statements in the two dialects of SQL: every function that sqlglot or a dialect knows, with every sort of
argument in every place, and a neighbour who must not notice: neither in its tables nor in its engine.

Texts, names, units, comments and formats carry what would end them where they are written without care.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, partial
from itertools import cycle

import sqlglot
from sqlglot import exp

from fuzzing.calls import Made, Source
from fuzzing.canaries import MACRO, SONG, TABLE, Canary
from fuzzing.inputs import Inputs
from mesocosm.services.calls import Outcome
from mesocosm.services.queries.dialects.bigquery import BigQuery
from mesocosm.services.queries.dialects.snowflake import Snowflake
from mesocosm.services.world import World

CANARY = "canary_of_the_neighbour"
_READ = {"snowflake": "read_query", "bigquery": "bigquery_run_query"}
_SERVICES = {"snowflake": "snowflake", "bigquery": "google_cloud"}
_TABLES = {"snowflake": "shop.public.items", "bigquery": "shop.items"}
_COLUMNS = {
    "snowflake": ("id", "title", "price", "share", "day", "more", "more:tags"),
    "bigquery": ("id", "title", "price", "share", "day", "tags", "data", "box"),
}
_EVERY = 100
"""Statements between two looks at the neighbour and at one of the engines, in turn."""
_PLAIN = {
    "snowflake": (
        *(
            "id",
            "title",
            "price",
            "share",
            "day",
            "more",
            "more:tags",
            "'a'",
            "'2025-02-17'",
            "1",
            "2",
            "2.5",
        ),
        *(
            "'day'",
            "day",
            "current_date",
            "current_timestamp",
            "[1, 2]",
            "{'a': 1}",
            "'[1, 2]'",
            "true",
            "null",
        ),
        *("to_date('2025-02-17')", "parse_json('{\"a\": [1]}')", "'12:30:00'::time", "month", "'YYYY-MM-DD'"),
    ),
    "bigquery": (
        *(
            "id",
            "title",
            "price",
            "share",
            "day",
            "tags",
            "data",
            "box",
            "'a'",
            "'2025-02-17'",
            "1",
            "2",
            "2.5",
        ),
        *("DAY", "CURRENT_DATE()", "CURRENT_TIMESTAMP()", "[1, 2]", "STRUCT(1 AS a)", "JSON '{\"a\": [1]}'"),
        *("TRUE", "NULL", "DATE '2025-02-17'", "TIMESTAMP '2025-02-17 10:00:00+00'", "TIME '12:30:00'"),
        *("DATETIME '2025-02-17 10:00:00'", "INTERVAL 1 DAY", "MONTH", "'%Y-%m-%d'", "b'x'", "NUMERIC '1.5'"),
    ),
}
"""Values that functions take."""
_PART = re.compile(r"'(?:[^'\\\\]|''|\\\\.)*'|\"[^\"]*\"|`[^`]*`|\b\d+(?:\.\d+)?\b|\b[A-Za-z_]\w*\b")
_PAYLOADS = (
    "day; CREATE OR REPLACE MACRO SUM(X) AS 666; SELECT 1--",
    "day; BEGIN; SELECT ERROR('x') --",
    "day, LENGTH(REPEAT('X', 1500000000)) --",
    "day FROM (SELECT 1)) UNION ALL SELECT table_name FROM DUCKDB_TABLES() --",
    "day'); DROP TABLE t; --",
    "day\" ; ATTACH ':memory:' AS x; --",
    "day` FROM x; --",
    "day) FROM (SELECT CURRENT_SETTING('memory_limit')) /*",
    "*/ ; SELECT 1 /*",
    "\\'; SELECT 1 --",
    "$$; SELECT 1; $$",
    "{0} {} %s %d %n ; ",
    "\n;\n",
    "\x00;",
    f"day, (SELECT s FROM {TABLE}) --",
    f"day) FROM {TABLE} --",
    f"day, {MACRO}(1)) --",
    f"day; COMMIT; DROP TABLE {TABLE}; BEGIN; SELECT 1 --",
    f"day; COMMIT; CREATE OR REPLACE MACRO {MACRO}(x) AS 666; BEGIN; SELECT 1 --",
)
_UNITS = ("day", "month", "year", "week", "hour", "second", "quarter", "isoweek", "dayofweek", "microsecond")
_TEXTS = (
    *(
        "",
        "a",
        "é",
        "2025-02-17",
        "20250-02-17",
        "infinity",
        "-infinity",
        "nan",
        "10000-01-01",
        "0001-01-01 BC",
    ),
    *(
        "1e400",
        "[1e400]",
        "{",
        '{"a": [1, null, "x"]}',
        "a,b,c",
        "%Y-%m-%d",
        "YYYY-MM-DD",
        "(",
        "a*",
        "[",
        "\\1",
    ),
    *(
        "12:30:45",
        "2025-02-17 12:30:45.123456+05",
        "UTC",
        "Nowhere/Place",
        "x" * 300,
        "1",
        "-1.5",
        "true",
        "$",
    ),
    "$.a[0].b",
    "[" * 1100 + "]" * 1100,
    TABLE,
    MACRO,
)
_NUMBERS = (
    *("0", "1", "-1", "2", "3", "10", "2.5", "1e0", "1e308", "-1e308", "9223372036854775807", "NULL", "100"),
    *(
        "99999999999999999999999999999999999999",
        "1759307518000",
        "3000000",
        "-3000000",
        "1000000000",
        "0.1",
        "TRUE",
    ),
)
_TYPES = {
    "snowflake": (
        *(
            "int",
            "number(10,2)",
            "number(38,37)",
            "float",
            "varchar",
            "varchar(3)",
            "date",
            "time",
            "timestamp",
        ),
        *("timestamp_tz", "boolean", "variant", "object", "array", "binary"),
    ),
    "bigquery": (
        *("INT64", "FLOAT64", "NUMERIC", "BIGNUMERIC", "STRING", "BYTES", "DATE", "TIME", "DATETIME", "BOOL"),
        *("TIMESTAMP", "JSON", "INTERVAL", "ARRAY<INT64>", "STRUCT<a INT64>"),
    ),
}
_ENGINE = re.compile(
    "duckdb|binder error|catalog error|conversion error|candidate functions|candidate macros|explicit type"
    r"|\bLINE \d+:|\n *\^|list_value|struct_pack|hugeint|\bvarchar\[|__part_|_unnested_|\u2063|serialize"
    r"|TIMESTAMP WITH TIME ZONE|memory_limit|internal error|read_csv|json_extract_string|strptime|to_json\(",
    re.IGNORECASE,
)
"""Words of the engine, which no product says."""


@cache
def _widths(name: str) -> tuple[int, int]:
    """Return the possible numbers of a function's arguments, as sqlglot knows them."""
    known = exp.FUNCTION_BY_NAME.get(name)
    if known is None:
        return 0, 3
    needed = sum(known.arg_types.values())
    return needed, min(5, max(needed, len(known.arg_types)))


@cache
def functions(dialect: str) -> tuple[str, ...]:
    """Every function that is known, in the product or not."""
    parser = sqlglot.Dialect.get_or_raise(dialect).parser_class
    own = (Snowflake if dialect == "snowflake" else BigQuery).functions
    known = {
        *parser.FUNCTIONS,
        *parser.FUNCTION_PARSERS,
        *own,
        *(("SAFE.ABS",) if dialect == "bigquery" else ()),
        MACRO.upper(),
    }
    return tuple(sorted(known))


class Statements:
    """Statements of one episode; now and then its neighbour is asked what it has always answered."""

    def __init__(self, world: World, inputs: Inputs, neighbour: World) -> None:
        self._world, self._inputs, self._neighbour = world, inputs, neighbour
        self._canary = f"shop.public.{CANARY}"
        making = f"create table {self._canary} as select '{CANARY}' s"
        neighbour.call("snowflake", "write_query", {"query": making})
        self._before = self._seen()
        # Of both products' instances of either.
        files = [one.path / f"{service}.db" for one in (world, neighbour) for service in _SERVICES.values()]
        self._turns = cycle([Canary(str(file)) for file in files])
        for _ in files:
            self._look()
        self._accepted: dict[str, list[str]] = {"snowflake": [], "bigquery": []}

    def __iter__(self) -> Source:
        made = 0
        while True:
            dialect = self._inputs.dice.choice(("snowflake", "bigquery"))
            name, text = self.statement(dialect)
            service, tool = _SERVICES[dialect], self._tool(dialect, text)
            yield Made(
                f"{service} {name}", {"query": text}, partial(self._make, dialect, tool, text), service
            )
            made += 1
            if made % _EVERY == 0:
                yield Made("neighbour", {}, self._look)

    def _tool(self, dialect: str, text: str) -> str:
        return _READ[dialect] if text.startswith("SELECT") or dialect == "bigquery" else "write_query"

    def _make(self, dialect: str, tool: str, text: str) -> Outcome:
        outcome = self._world.call(_SERVICES[dialect], tool, {"query": text})
        if outcome.status == "ok" and len(text) < 2_000:
            accepted = self._accepted[dialect]
            accepted.append(text)
            if len(accepted) > 2_000:
                accepted.pop(self._inputs.dice.randrange(2_000))
        assert CANARY not in outcome.text.lower(), f"the neighbour's table is seen: {outcome.text[:500]}"
        assert SONG not in outcome.text.lower(), f"the engine's table is seen: {outcome.text[:500]}"
        if outcome.status == "refused":
            said = _ENGINE.search(outcome.text)
            assert said is None or said[0].lower() in text.lower(), (
                f"the engine's words: {outcome.text[:500]}"
            )
        return outcome

    def _seen(self) -> str:
        asked = self._neighbour.call(
            "snowflake",
            "read_query",
            {"query": f"select sum(id) a, max(title) b, min(s) c from shop.public.items, {self._canary}"},
        )
        assert asked.status == "ok", asked.text
        return asked.text

    def _look(self) -> Outcome:
        seen = self._seen()
        assert seen == self._before, f"the neighbour sees something else: {seen[:500]}"
        next(self._turns).look()
        return Outcome("ok", (seen,))

    # -- the grammar ------------------------------------------------------------------------------------

    def statement(self, dialect: str) -> tuple[str, str]:
        """The name of the function that it is about, and its text."""
        dice, accepted = self._inputs.dice, self._accepted[dialect]
        if accepted and dice.random() < 0.3:
            return "(accepted before)", self._like(dialect, dice.choice(accepted))
        name = dice.choice(functions(dialect))
        call = self._plain_call(dialect, name) if dice.random() < 0.7 else self._call(dialect, name, 0)
        table = f" FROM {_TABLES[dialect]}"
        shape = dice.random()
        if shape < 0.55:
            text = f"SELECT {call}{dice.choice(('', table, table))}"
        elif shape < 0.65:
            text = f"SELECT id{table} WHERE {call} {dice.choice('=<>')} {self._value(dialect, 0)}"
        elif shape < 0.72:
            text = f"SELECT {call}, COUNT(*){table} GROUP BY 1 ORDER BY {dice.choice(('1', '2', call))}"
        elif shape < 0.78:
            window = f"PARTITION BY {self._value(dialect, 1)} ORDER BY {self._column(dialect)}"
            text = f"SELECT {call} OVER ({window}){table}"
        elif shape < 0.83:
            source = f"UNNEST({call})" if dialect == "bigquery" else f"TABLE({call})"
            text = f"SELECT * FROM {dice.choice((source, call, TABLE))}"
        elif shape < 0.88:
            text = f"SELECT {call} AS {self._name(dialect)}{table} /* {dice.choice(_PAYLOADS)} */"
        elif shape < 0.91:
            text = f"SELECT * FROM (SELECT {call} x{table}) t WHERE x IN ({self._value(dialect, 0)}, {call})"
        else:
            text = self._change(dialect, call)
        return name, text

    def _like(self, dialect: str, text: str) -> str:
        """A statement that was answered, with something else in one or two places."""
        dice = self._inputs.dice
        for _ in range(dice.choice((1, 1, 1, 2))):
            places = [found.span() for found in _PART.finditer(text)]
            start, end = dice.choice(places or [(len(text), len(text))])
            text = text[:start] + self._value(dialect, 2) + text[end:]
        return text

    def _plain_call(self, dialect: str, name: str) -> str:
        """A call as it is meant, perhaps with one argument as nobody would write it."""
        dice = self._inputs.dice
        if name in ("CAST", "TRY_CAST", "SAFE_CAST", "EXTRACT"):
            return self._call(dialect, name, 2)
        few, many = _widths(name)
        arguments = [dice.choice(_PLAIN[dialect]) for _ in range(dice.randint(few, many))]
        if arguments and dice.random() < 0.6:
            arguments[dice.randrange(len(arguments))] = self._value(dialect, 1)
        return f"{name}({', '.join(arguments)})"

    def _change(self, dialect: str, call: str) -> str:
        dice = self._inputs.dice
        if dialect == "snowflake":
            return dice.choice(
                (
                    f"create or replace table shop.public.made as select {call} x from shop.public.items",
                    f"insert into shop.public.small (note) select {call}",
                    f"update shop.public.small set note = {call} where id < {self._value(dialect, 1)}",
                    f"create or replace view shop.public.seen as select {call} x",
                    f"alter table shop.public.small add column x varchar default {call}",
                    f"delete from shop.public.small where {call} = {self._value(dialect, 1)}",
                    f"comment on table shop.public.small is '{self._inside(chr(39))}'",
                )
            )
        return dice.choice(
            (
                f"CREATE OR REPLACE TABLE shop.made AS SELECT {call} x",
                f"CREATE OR REPLACE VIEW shop.seen AS SELECT {call} x",
                f"UPDATE shop.small SET note = {call} WHERE id < 3",
                f"DELETE FROM shop.small WHERE {call} = {self._value(dialect, 1)}",
                f'CREATE OR REPLACE TABLE shop.made (a INT64 OPTIONS(description="{self._inside(chr(34))}"))',
            )
        )

    def _call(self, dialect: str, name: str, depth: int) -> str:
        dice = self._inputs.dice
        roll = dice.random()
        if name in ("CAST", "TRY_CAST", "SAFE_CAST"):
            kind = dice.choice(_TYPES[dialect]) if dice.random() < 0.9 else self._name(dialect)
            form = f" FORMAT {self._text(dialect)}" if dialect == "bigquery" and roll < 0.3 else ""
            return f"{name}({self._value(dialect, depth)} AS {kind}{form})"
        if name == "EXTRACT":
            return f"EXTRACT({self._unit(dialect)} FROM {self._value(dialect, depth)})"
        many = dice.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))
        arguments = ", ".join(self._value(dialect, depth) for _ in range(many))
        if many and roll < 0.03:
            arguments = f"DISTINCT {arguments}"
        elif many and roll < 0.06:
            arguments = f"{arguments} ORDER BY {self._value(dialect, 1)} LIMIT {dice.choice(_NUMBERS)}"
        elif many and roll < 0.08:
            arguments = f"{arguments} -- {dice.choice(_PAYLOADS)}\n"
        elif many and roll < 0.1:
            arguments = f"{self._name(dialect)} => {arguments}"
        return f"{name}({arguments})"

    def _value(self, dialect: str, depth: int) -> str:
        dice = self._inputs.dice
        roll = dice.random()
        if roll < 0.2:
            return self._text(dialect)
        if roll < 0.35:
            return dice.choice(_NUMBERS)
        if roll < 0.5:
            return self._column(dialect)
        if roll < 0.6:
            return self._unit(dialect)
        if roll < 0.66:
            kind = dice.choice(("DATE", "TIMESTAMP", "TIME", "INTERVAL", "JSON", "DATETIME", "NUMERIC"))
            unit = f" {self._unit(dialect)}" if kind == "INTERVAL" else ""
            return f"{kind} {self._text(dialect)}{unit}"
        if roll < 0.7:
            return f"INTERVAL {dice.choice(_NUMBERS)} {self._unit(dialect)}"
        if roll < 0.76:
            return (
                f"[{self._value(dialect, depth + 1)}, {self._value(dialect, depth + 1)}]"
                if depth < 3
                else "[]"
            )
        if roll < 0.8:
            return f"CAST({self._text(dialect)} AS {dice.choice(_TYPES[dialect])})"
        if roll < 0.83 and depth < 3:
            return self._structure(dialect, depth + 1)
        if depth < 2:
            return self._call(dialect, dice.choice(functions(dialect)), depth + 1)
        return dice.choice(_NUMBERS)

    def _structure(self, dialect: str, depth: int) -> str:
        value = self._value(dialect, depth)
        if dialect == "bigquery":
            return f"STRUCT({value} AS {self._name(dialect)})"
        return f"{{'{self._inside(chr(39))}': {value}}}"

    def _column(self, dialect: str) -> str:
        return self._inputs.dice.choice(_COLUMNS[dialect])

    def _unit(self, dialect: str) -> str:
        dice = self._inputs.dice
        unit: str = dice.choice(_UNITS)
        return dice.choice(
            (unit, unit, unit, f"'{unit}'", self._name(dialect), f"WEEK({self._name(dialect)})")
        )

    def _name(self, dialect: str) -> str:
        mark = '"' if dialect == "snowflake" else "`"
        return f"{mark}{self._inside(mark)}{mark}"

    def _text(self, dialect: str) -> str:
        forms: Sequence[tuple[str, str]] = (("'", "'"),)
        if dialect == "snowflake":
            forms = (("'", "'"), ("'", "'"), ("$$", "$$"))
        elif self._inputs.dice.random() < 0.4:
            forms = (('"', '"'), ("r'", "'"), ("b'", "'"), ('"""', '"""'), ("rb'", "'"))
        begin, end = self._inputs.dice.choice(forms)
        return f"{begin}{self._inside(end[0])}{end}"

    def _inside(self, mark: str) -> str:
        """A text, mostly so that it does not end at once."""
        dice = self._inputs.dice
        text = dice.choice(_PAYLOADS if dice.random() < 0.5 else _TEXTS)
        roll = dice.random()
        if roll < 0.6:
            return text.replace(mark, mark * 2)
        if roll < 0.9:
            return text.replace("\\", "\\\\").replace(mark, f"\\{mark}")
        return text
