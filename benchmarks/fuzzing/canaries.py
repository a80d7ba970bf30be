"""Canaries in instances of DuckDB: a table and a macro, put there past the wall, that no statement may see,
and the whole of what an instance knows, which no statement may change.
"""

from __future__ import annotations

from typing import Any

from mesocosm.services.queries.engine import engine
from mesocosm.services.queries.failures import Failed

TABLE, MACRO = "canary_of_the_engine", "canary_macro"
SONG = "song_of_the_canary"
"""The text that the table holds and the macro gives; neither it nor a part of a statement is called so."""
_PLANT = (
    # Of the transaction that is rolled back after every statement.
    "COMMIT"
    f"; CREATE OR REPLACE TABLE {TABLE} AS SELECT '{SONG}' AS s, 1 AS n"
    f"; CREATE OR REPLACE MACRO {MACRO}(x) AS concat('{SONG}', x)"
    "; BEGIN; SELECT 1"
)
_KNOWN = {
    "duckdb_databases()": "database_name",
    "duckdb_functions() WHERE NOT internal": "concat(function_name, macro_definition)",
    "duckdb_indexes()": "index_name",
    "duckdb_schemas()": "concat(database_name, schema_name)",
    "duckdb_sequences()": "sequence_name",
    "duckdb_settings()": "concat(name, value)",
    # The engine's own are called by what they hold.
    "duckdb_tables() WHERE NOT regexp_full_match(table_name, '[0-9a-f]{48}')": "concat(table_name, sql)",
    "duckdb_types() WHERE NOT internal": "type_name",
    "duckdb_variables()": "name",
    "duckdb_views() WHERE NOT internal": "view_name",
}
_SING = (
    f"SELECT s, sum(n), {MACRO}('!'), length('abc'), abs(-1), list_sum([1, 2]),"
    f" {', '.join(f'(SELECT list_sort(list({what})) FROM {where})' for where, what in _KNOWN.items())}"
    f" FROM {TABLE} GROUP BY s"
)


class Canary:
    """The canary of one instance, by the world that it is of. All statements come from one thread."""

    def __init__(self, world: str) -> None:
        self._world = world
        self._home: Any = None
        self._before: Any = None

    def look(self) -> None:
        """Fail if it is not as it was. Where its process was ended, as one is that ran out of memory, it is
        put into the next one."""
        home = self._process()
        if home is None or home is not self._home:
            engine().run(_PLANT, {}, world=self._world, unchecked=True)
            self._home, self._before = self._process(), None
        if (sung := self._heard()) is None:
            return
        self._before = self._before or sung
        for before, seen in zip(self._before, sung, strict=True):
            assert seen == before, f"the engine is another: {seen!r:.500} in place of {before!r:.500}"

    def _heard(self) -> tuple[Any, ...] | None:
        """Return what it sings. ``None`` if another process was asked: whoever has had much of a processor
        gives way to others, in a process that ends with its answer."""
        home = self._process()
        before = None if home is None else home._before
        try:
            return self._sung()
        except Failed:
            if home is None or (self._process() is home and home._before == before):
                return None
            raise

    def _sung(self) -> tuple[Any, ...]:
        return engine().run(_SING, {}, world=self._world, unchecked=True).rows[0]

    def _process(self) -> Any:
        # Between two statements of one thread all processes are idle.
        return next((one for one in engine()._idle if self._world in one.worlds), None)
