"""The wall before DuckDB: what is executed is parsed once more, by DuckDB's own parser, and every part of the
tree that it makes must be on a list.

Statements reach DuckDB as text that sqlglot has written. Whatever that text says, by a unit with a semicolon
in it or by anything that nobody has thought of, only one SELECT passes, of the tables at hand and of
functions that compute from their arguments and nothing else. Nothing here knows what could be wrong.
"""

# DuckDB's own parser has the last word: a statement could mean something else to it than to sqlglot
# (decision 070).

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from mesocosm.services.queries import computed


def listed(words: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(words.split())


_EXPRESSIONS = {
    *("CONSTANT", "COLUMN_REF", "FUNCTION", "WINDOW", "CAST", "COMPARISON", "CONJUNCTION", "OPERATOR"),
    *("CASE", "BETWEEN", "SUBQUERY", "STAR", "LAMBDA", "TYPE", "POSITIONAL_REFERENCE"),
}
_PARTS = {
    *("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"),
    *("EMPTY", "BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "PIVOT"),
    *("ORDER_MODIFIER", "LIMIT_MODIFIER", "DISTINCT_MODIFIER"),
    *("ORDER_DEFAULT", "ASCENDING", "DESCENDING"),
}
"""Nodes with a ``type`` that are no expressions: queries, FROM, ORDER BY, LIMIT."""
_SOURCES = frozenset({"range", "generate_series", "unnest"})
"""Functions that may stand in FROM."""
_TYPES = listed("""
    bigint blob bool boolean bytea char date datetime dec decimal double float float4 float8 hugeint int int1
    int2 int4 int8 int64 int128 integer interval json list long map numeric real row short signed smallint
    string struct text time timestamp timestamp_ms timestamp_ns timestamp_s timestamptz tinyint ubigint
    uhugeint uinteger usmallint utinyint uuid varbinary varchar
    """) | {"timestamp with time zone", "time with time zone"}
_OPERATORS = listed("!= % & && * ** + - ->> / // < <= <@ = > >= >> << @ @> ^ ^@ || | ~")
_LIKE = listed("~~ !~~ ~~* !~~* ~~~ like_escape ilike_escape not_like_escape not_ilike_escape")
_FUNCTIONS = listed("""
    abs acos acosh add age any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max
    arg_max_null arg_min arg_min_null argmax argmin array_agg array_aggregate array_append array_apply
    array_cat array_concat array_contains array_cosine_distance array_cosine_similarity array_distance
    array_distinct array_extract array_filter array_has array_has_all array_has_any array_indexof
    array_inner_product array_intersect array_length array_pop_back array_pop_front array_position
    array_prepend array_push_back array_push_front array_reduce array_reverse array_reverse_sort array_select
    array_slice array_sort array_to_json array_to_string array_transform array_unique array_value array_where
    array_zip ascii asin asinh atan atan2 atanh avg base64 bin bit_and bit_count bit_length bit_or bit_xor
    bool_and bool_or cardinality cbrt ceil ceiling century char_length character_length chr concat concat_ws
    contains corr cos cosh cot count count_if count_star countif covar_pop covar_samp cume_dist
    damerau_levenshtein date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc
    day dayname dayofmonth dayofweek dayofyear decade decode degrees dense_rank divide editdist3 element_at
    encode ends_with entropy epoch epoch_ms epoch_ns epoch_us equi_width_bins era error even exp factorial
    favg fdiv filter first first_value flatten floor fmod format from_base64 from_binary from_hex from_json
    from_json_strict fsum gamma gcd gen_random_uuid generate_series generate_subscripts geomean get_bit
    greatest greatest_common_divisor group_concat hamming hash hex histogram histogram_exact hour if
    instr isfinite isinf isnan isodow isoyear jaccard jaro_similarity jaro_winkler_similarity json json_array
    json_array_length json_contains json_deep_merge json_exists json_extract json_extract_path
    json_extract_path_text json_extract_string json_group_array json_group_object json_group_structure
    json_keys json_merge_patch json_normalize json_object json_pretty json_quote json_remove json_replace
    json_set json_insert json_strip_nulls json_structure json_transform json_transform_strict json_type
    json_valid json_value julian kurtosis kurtosis_pop lag last last_day last_value lcase lcm lead least
    least_common_multiple left len length levenshtein lgamma list list_aggr list_aggregate list_any_value
    list_append list_apply list_avg list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or list_cat
    list_concat list_contains list_cosine_distance list_count list_distance list_distinct list_element
    list_extract list_filter list_first list_grade_up list_has list_has_all list_has_any list_histogram
    list_indexof list_intersect
    list_last list_max list_median list_min list_mode list_pack list_position list_prepend list_product
    list_reduce list_resize list_reverse list_reverse_sort list_select list_slice list_sort list_stddev_pop
    list_stddev_samp list_string_agg list_sum list_transform list_unique list_value list_var_pop list_var_samp
    list_where list_zip listagg ln log log10 log2 lower lpad ltrim mad make_date make_time make_timestamp
    make_timestamptz map map_concat map_contains map_entries map_extract map_extract_value map_from_entries
    map_keys map_values max max_by md5 md5_number md5_number_lower md5_number_upper mean median microsecond
    millennium millisecond min min_by minute mismatches mod mode month monthname multiply nanosecond nextafter
    nfc_normalize nth_value ntile nullif octet_length ord overlay percent_rank pi position pow power prefix
    printf product quantile quantile_cont quantile_disc quarter radians random range rank rank_dense reduce
    regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace
    regexp_split_to_array regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
    regr_syy repeat replace reverse right round round_even roundbankers row row_number row_to_json rpad rtrim
    second sem set_bit sha1 sha256 sign signbit sin sinh skewness split split_part sqrt starts_with stddev
    stddev_pop stddev_samp str_split str_split_regex strftime string_agg string_split string_split_regex
    string_to_array strip_accents strlen strpos strptime struct_concat struct_contains struct_extract
    struct_extract_at struct_insert struct_keys struct_pack struct_update struct_values substr substring
    subtract suffix sum tan tanh time_bucket timezone timezone_hour timezone_minute to_base to_base64
    to_binary to_centuries to_days to_decades to_hex to_hours to_json to_microseconds to_millennia
    to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years translate trim
    trunc try_strptime typeof ucase unbin unhex unicode unnest upper url_decode url_encode uuid uuidv4
    var_pop var_samp variance vector_type week weekday weekofyear xor year yearweek
    """)
"""Functions whose result follows from their arguments (and chance): none that reads a setting, a session, a
catalogue, a file or the clock, that changes or waits for anything, or that runs a text."""
FUNCTIONS = _FUNCTIONS | _OPERATORS | _LIKE | frozenset(computed.FUNCTIONS)
_OPAQUE = {
    "literal",
    "value",
    "query_location",
    "query_location_length",
    "alias",
    "column_names",
    "sample_size",
}
"""Members that hold texts and numbers of the statement, and nothing that is executed."""


_VALUES = listed(
    """
    current_catalog current_date current_localtime current_localtimestamp current_role current_schema
    current_time current_timestamp current_user localtime localtimestamp session_user user
    """
)
"""Names that mean a function where no column is called so."""


class Barred(Exception):
    """A text that is no single SELECT of listed parts; ``function`` if it is by one that is not listed."""

    def __init__(self, what: str, function: str = "") -> None:
        super().__init__(what)
        self.function = function


_INTERVAL = re.compile(r'(?<!")\bINTERVAL\b(?!")')


def has_interval(kind: str) -> bool:
    """True if a DuckDB type is or contains INTERVAL. Python has no interval with months."""
    return _INTERVAL.search(kind) is not None


def with_texts(sql: str, fields: Sequence[tuple[str, str]]) -> str:
    """A query with these names and types in which its intervals are texts."""
    names = [f"c{place}" for place in range(len(fields))]
    shown = (
        f"CAST({name} AS {_INTERVAL.sub('VARCHAR', kind)})" if has_interval(kind) else name
        for name, (_, kind) in zip(names, fields, strict=True)
    )
    return f"SELECT {', '.join(shown)} FROM ({sql}) AS shown({', '.join(names)})"


def passed(
    sql: str,
    tables: Iterable[str],
    connection: duckdb.DuckDBPyConnection,
    counters: Collection[str] = (),
    columns: Collection[str] = (),
) -> duckdb.Statement:
    """The one SELECT that a text is, parsed, of these tables and with ``nextval`` of these counters; else
    ``Barred``. ``columns``: names of columns of the tables that would mean a function elsewhere.

    Raises DuckDB's error for a text that it cannot parse.
    """
    found = connection.extract_statements(sql)
    if len(found) != 1 or found[0].type != duckdb.StatementType.SELECT:
        raise Barred("no single query")
    rows = connection.execute("SELECT json_serialize_sql(CAST(? AS VARCHAR))", [found[0].query]).fetchall()
    told = json.loads(rows[0][0])
    if told.get("error") is not False or len(told["statements"]) != 1:
        raise Barred("no single query")
    names = frozenset(name.lower() for name in tables)
    named = {name for name in _VALUES if name in columns or f'"alias":"{name}"' in rows[0][0].lower()}
    _Walk(frozenset(counters), _VALUES - named).statement(told["statements"][0], names)
    return found[0]


@dataclass(frozen=True)
class _Walk:
    counters: frozenset[str]
    values: frozenset[str]
    """Of ``_VALUES``, those that are no columns."""

    def statement(self, one: Mapping[str, Any], tables: frozenset[str]) -> None:
        if one.get("named_param_map"):
            raise Barred("a parameter")
        self._node(one["node"], tables)

    def _any(self, value: Any, tables: frozenset[str]) -> None:
        if isinstance(value, dict):
            if "class" in value:
                self._expression(value, tables)
            elif isinstance(value.get("type"), str):
                self._node(value, tables)
            else:
                self._members(value, tables)
        elif isinstance(value, list):
            for one in value:
                self._any(one, tables)

    def _members(
        self, node: Mapping[str, Any], tables: frozenset[str], without: Collection[str] = ()
    ) -> None:
        for name, value in node.items():
            if name not in _OPAQUE and name not in without and not isinstance(value, str | int | float):
                self._any(value, tables)

    def _expression(self, node: Mapping[str, Any], tables: frozenset[str]) -> None:
        sort = node["class"]
        if sort not in _EXPRESSIONS:
            raise Barred(f"an expression of the class {sort}")
        if sort in ("FUNCTION", "WINDOW"):
            self._function(node)
        elif sort == "COLUMN_REF" and len(node["column_names"]) == 1:
            if node["column_names"][0].lower() in self.values:
                raise Barred("a function that is not listed", node["column_names"][0])
        elif sort == "TYPE" and (_single(node).lower() not in _TYPES):
            raise Barred("an unknown type")
        self._members(node, tables)

    def _function(self, node: Mapping[str, Any], known: frozenset[str] = FUNCTIONS) -> None:
        name = _single(node).lower()
        if name == "nextval":
            given = [one["expression"].get("literal", {}) for one in node["arguments"]]
            if len(given) == 1 and given[0].get("text") in self.counters:
                return
        if name not in known:
            raise Barred("a function that is not listed", name)

    def _node(self, node: Mapping[str, Any], tables: frozenset[str]) -> None:
        """Visit a query, or an item of its FROM."""
        sort = node["type"]
        if sort not in _PARTS:
            raise Barred(f"a part of the type {sort}")
        if sort == "BASE_TABLE":
            if _single(node).lower() not in tables or node.get("at_clause"):
                raise Barred("a table that is not at hand")
        elif sort == "TABLE_FUNCTION":
            function = node["function"]
            self._function(function, _SOURCES)
            self._members(function, tables)
            self._members(node, tables, {"function"})
            return
        elif sort == "PIVOT" and node.get("pivot_enum"):
            raise Barred("a type of the catalogue")
        for one in node.get("cte_map", {}).get("map", ()):
            # Each sees those before it; itself only as a RECURSIVE_CTE_NODE, which says its own name.
            self._any(one["value"], tables)
            tables |= {one["key"].lower()}
        if sort in ("RECURSIVE_CTE_NODE", "CTE_NODE"):
            tables |= {node.get("cte_name", node.get("ctename", "")).lower()}
        self._members(node, tables, {"cte_map"})


def _single(node: Mapping[str, Any]) -> str:
    """A name that is in no schema and no catalogue."""
    path = node["qualified_name"]["path"]
    if len(path) != 1 or any(node.get(key) for key in ("schema", "catalog", "schema_name", "catalog_name")):
        raise Barred("a name in a catalogue")
    return str(path[0])
