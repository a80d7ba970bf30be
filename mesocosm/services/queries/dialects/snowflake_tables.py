"""Sources in FROM in Snowflake that are no tables: files of stages (``@stage`` with ``$1``), INFER_SCHEMA,
GENERATOR, FLATTEN and SPLIT_TO_TABLE.
"""

from __future__ import annotations

from typing import Any

import orjson
from sqlglot import exp, parse_one

from mesocosm.errors import Invalid
from mesocosm.services.queries.catalogue import GENERATED, INFERRED, STAGED, Listed
from mesocosm.services.queries.dialect import Context
from mesocosm.services.queries.failures import SqlError, compilation

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


def read_stages(tree: exp.Expr, context: Context) -> None:
    """Put tables of the catalogue in the place of stages, and their columns in the place of ``$1``."""
    for table in list(tree.find_all(exp.Table)):
        text = _location(table.this)
        if text is not None:
            _read(table, text, context)
    for call in list(tree.find_all(exp.TableFromRows)):
        if isinstance(call.this, exp.Anonymous) and call.this.name.upper() == "INFER_SCHEMA":
            _infer(call)


def generate(tree: exp.Expr) -> None:
    """TABLE(GENERATOR(ROWCOUNT => n)) as a table of numbers, and SEQ4() and its brothers as its column."""
    for call in list(tree.find_all(exp.TableFromRows)):
        if not isinstance(call.this, exp.Generator):
            continue
        count = call.this.args.get("rowcount")
        if (
            not isinstance(count, exp.Literal)
            or not count.name.isdecimal()
            or call.this.args.get("timelimit")
        ):
            raise SqlError(2, "0A000", "GENERATOR takes a ROWCOUNT that is a number here.")
        select = call.find_ancestor(exp.Select)
        alias = call.args.get("alias")
        name = alias.name if alias is not None and alias.name else "generated"
        for number in list(select.find_all(exp.Seq1, exp.Seq2, exp.Seq4, exp.Seq8)) if select else ():
            number.replace(_column("N", name))
        table = exp.table_(count.name, db=GENERATED, quoted=True)
        table.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
        call.replace(table)


def _location(name: Any) -> str | None:
    text = name.name.strip("'") if isinstance(name, exp.Var | exp.Literal) else ""
    return text if text.startswith("@") else None


def key_of(location: str, **more: Any) -> str:
    """Return the catalogue key of a location."""
    return orjson.dumps({"location": location, **more}).decode()


def _read(table: exp.Table, text: str, context: Context) -> None:
    given = table.args.get("format")
    options = {"FORMAT_NAME": given.name} if isinstance(given, exp.Expr) else table.meta.get("options", {})
    files = table.meta.get("files")
    key = key_of(text, options=options, **({} if files is None else {"files": files}))
    relation = context.catalogue.relation((STAGED, key))
    names = {column.name for column in relation.columns} if isinstance(relation, Listed) else set()
    alias = table.alias or "staged"
    select = table.find_ancestor(exp.Select)
    if select is None:
        raise compilation(1003, "42000", f"syntax error unexpected '{text[:60]}'.")
    if select.is_star:
        raise compilation(1003, "42000", "SELECT * is not offered of a stage: name its columns, $1, $2 ...")
    for place in list(select.find_all(exp.Parameter)):
        _name(place, alias, names)
    put = exp.table_(key, db=STAGED, quoted=True)
    put.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    table.replace(put)


def _name(place: exp.Parameter, alias: str, names: set[str]) -> None:
    """A column in the place of ``$1``, or of a path in it where files have columns with names."""
    node: exp.Expr = place.parent if isinstance(place.parent, exp.Column) else place
    path = node.parent if isinstance(node.parent, exp.JSONExtract) and node.arg_key == "this" else None
    keys = [one for one in path.expression.expressions if isinstance(one, exp.JSONPathKey)] if path else []
    if path is None or not keys or names <= {"$1"}:
        name = f"${place.name}"
        node.replace(_column(name, alias) if name in names else exp.null())
        return
    first = str(keys[0].this)
    if first not in names:
        path.replace(exp.null())
    elif len(keys) == 1:
        path.replace(_column(first, alias))
    else:
        keys[0].pop()
        node.replace(_column(first, alias))


def _column(name: str, alias: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(alias, quoted=True))


def _infer(call: exp.TableFromRows) -> None:
    said = {
        one.this.name.upper(): one.expression.name
        for one in call.this.expressions
        if isinstance(one, exp.Kwarg)
    }
    if said.keys() != {"LOCATION", "FILE_FORMAT"}:
        raise SqlError(2, "0A000", "INFER_SCHEMA takes LOCATION and FILE_FORMAT here.")
    key = key_of(said["LOCATION"], format=said["FILE_FORMAT"])
    table = exp.table_(key, db=INFERRED, quoted=True)
    if call.args.get("alias"):
        table.set("alias", call.args["alias"].copy())
    call.replace(table)


# -- table functions ----------------------------------------------------------------------------------------


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


def filled(template: str, **values: exp.Expr) -> exp.Expr:
    """A piece of DuckDB's SQL with expressions in the place of some of its names."""
    query = parse_one(template, read="duckdb")
    for column in list(query.find_all(exp.Column)):
        if column.name in values and not column.table:
            column.replace(exp.Paren(this=values[column.name].copy()))
    return query
