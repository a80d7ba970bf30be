"""Table functions of Snowflake: FLATTEN, SPLIT_TO_TABLE and GENERATOR."""

from __future__ import annotations

from sqlglot import exp, parse_one

from mesocosm.errors import Invalid

_COLUMNS = ("SEQ", "KEY", "PATH", "INDEX", "VALUE", "THIS")
_FLATTEN = """
SELECT 1 AS "SEQ", "KEY", CASE WHEN "INDEX" IS NULL THEN "KEY" ELSE '[' || "INDEX" || ']' END AS "PATH",
"INDEX", "VALUE", "THIS" FROM (SELECT
unnest(CASE json_type(input_) WHEN 'OBJECT' THEN json_keys(input_) END) AS "KEY",
unnest(CASE json_type(input_) WHEN 'ARRAY' THEN range(CAST(json_array_length(input_) AS BIGINT)) END)
  AS "INDEX",
unnest(CASE json_type(input_) WHEN 'ARRAY' THEN json_extract(input_, '$[*]')
  WHEN 'OBJECT' THEN json_extract(input_, '$.*') END) AS "VALUE",
input_ AS "THIS") AS flattened
"""
_SPLIT = """
SELECT 1 AS "SEQ", "INDEX", "VALUE" FROM (SELECT
unnest(range(1, len(str_split(input_, by_)) + 1)) AS "INDEX",
unnest(str_split(input_, by_)) AS "VALUE") AS parts
"""
_MOST = 10_000_000
"""Rows that GENERATOR makes at most."""


def table_functions(tree: exp.Expr) -> None:
    """Put queries in the place of table functions."""
    for node in list(tree.find_all(exp.Lateral, exp.TableFromRows)):
        made = _made(node.this)
        if made is None:
            continue
        query, outer = made
        alias = node.args.get("alias")
        if alias is not None:
            alias = exp.TableAlias(this=alias.this.copy())
        put = exp.Subquery(this=query, alias=alias)
        join = node.parent
        if isinstance(join, exp.Join):
            join.set("this", exp.Lateral(this=put, alias=None) if alias is None else put)
            if outer:
                join.set("side", "LEFT")
                join.set("kind", None)
                join.set("on", exp.true())
        else:
            node.replace(put)


def mark_flattened(tree: exp.Expr) -> None:
    """Tell the columns that are VARIANTs because FLATTEN gives them."""
    for node in tree.find_all(exp.Lateral, exp.TableFromRows):
        if isinstance(node.this, exp.Explode):
            _mark(tree, node.alias)


def _mark(tree: exp.Expr, table: str) -> None:
    for column in tree.find_all(exp.Column):
        if column.name in {"VALUE", "THIS"} and column.table in {table, ""}:
            column.meta["flattened"] = True


def _made(function: exp.Expr) -> tuple[exp.Expr, bool] | None:
    if isinstance(function, exp.Explode):
        return _flatten(function)
    if isinstance(function, exp.SplitToTable):
        return filled(_SPLIT, input_=function.this, by_=function.expression), False
    if isinstance(function, exp.Generator):
        return _generator(function), False
    return None


def _named(arguments: list[exp.Expr]) -> dict[str, exp.Expr]:
    return {one.this.name.lower(): one.expression for one in arguments if isinstance(one, exp.Kwarg)}


def _flatten(function: exp.Explode) -> tuple[exp.Expr, bool]:
    given = _named([function.this, *function.expressions])
    value = given.get("input", function.this)
    if "path" in given:
        path = given["path"].name
        value = exp.Anonymous(
            this="json_extract", expressions=[value.copy(), exp.Literal.string(f"$.{path}")]
        )
    if "recursive" in given and given["recursive"].this:
        raise Invalid("Unsupported feature 'FLATTEN with RECURSIVE'.")
    outer = "outer" in given and bool(given["outer"].this)
    return filled(_FLATTEN, input_=exp.cast(value, "JSON")), outer


def _generator(function: exp.Expr) -> exp.Expr:
    count = function.args.get("rowcount")
    if not isinstance(count, exp.Literal) or count.is_string or int(count.name) > _MOST:
        raise Invalid(f"GENERATOR needs ROWCOUNT, a number of at most {_MOST}.")
    return parse_one(f'SELECT range AS "GENERATED" FROM range({int(count.name)})', read="duckdb")


def filled(template: str, **values: exp.Expr) -> exp.Expr:
    """A piece of DuckDB's SQL with expressions in the place of some of its names."""
    query = parse_one(template, read="duckdb")
    for column in list(query.find_all(exp.Column)):
        if column.name in values and not column.table:
            column.replace(exp.Paren(this=values[column.name].copy()))
    return query
