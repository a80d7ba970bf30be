"""``*`` of Snowflake where DuckDB has it not: in functions and objects, and with ILIKE.

It is written out as the columns that it stands for, so that their names, with small letters, are Snowflake's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from mesocosm.services.patterns import Pattern, like
from mesocosm.services.queries.catalogue import Column
from mesocosm.services.queries.failures import MARK, SqlError, compilation

Columns = Mapping[str, tuple[Column, ...]]
_OBJECTS = (exp.StarMap, exp.Struct, exp.JSONObject)
_LISTS = (exp.Array, exp.ArrayConstructCompact, exp.Anonymous)
_FLATTENED = ("SEQ", "KEY", "PATH", "INDEX", "VALUE", "THIS")
_SPLIT = ("SEQ", "INDEX", "VALUE")


def open_stars(tree: exp.Expr, columns: Columns) -> None:
    """Write out each ``*``. ``columns``: those of the tables, spelled, by the tables' names."""
    for star in list(tree.find_all(exp.Star)):
        whole = star.parent if isinstance(star.parent, exp.Column) else star
        holder = whole.parent
        if isinstance(holder, _OBJECTS):
            pairs = [
                exp.JSONKeyValue(this=exp.Literal.string(name.partition(MARK)[0]), expression=column)
                for name, column in _opened(whole, columns)
            ]
            if len(holder.expressions) > 1:
                raise compilation(1003, "42000", "syntax error: '*' stands alone in an object")
            keeps = isinstance(holder, exp.JSONObject)
            holder.replace(exp.JSONObject(expressions=pairs) if keeps else exp.Struct(expressions=pairs))
        elif isinstance(holder, _LISTS) or (isinstance(holder, exp.Select) and star.args.get("ilike")):
            place = holder.expressions.index(whole)
            before, after = holder.expressions[:place], holder.expressions[place + 1 :]
            opened = [column for _, column in _opened(whole, columns)]
            holder.set("expressions", [*before, *opened, *after])


def _opened(whole: exp.Expr, columns: Columns) -> list[tuple[str, exp.Expr]]:
    """The columns of a ``*``, with their names."""
    select = whole.find_ancestor(exp.Select)
    if select is None:
        raise compilation(1003, "42000", "syntax error unexpected '*'.")
    return list(_of_star(whole, select, columns))


def _of_star(whole: exp.Expr, select: exp.Select, columns: Columns) -> Iterator[tuple[str, exp.Expr]]:
    star = whole.this if isinstance(whole, exp.Column) else whole
    if star.args.get("rename") or star.args.get("replace"):
        raise _unknown()
    excluded = {one.name for one in star.args.get("except_") or ()}
    wanted = Pattern(like(star.args["ilike"].name)) if star.args.get("ilike") else None
    taken = set()
    for alias, source, joined in _sources(select):
        if isinstance(whole, exp.Column) and whole.table != alias:
            continue
        for name in _names(source, columns):
            if name in excluded or (wanted and not wanted.fullmatch(name.partition(MARK)[0])):
                continue
            shared = name in joined and not isinstance(whole, exp.Column)
            if shared and name in taken:
                continue
            taken.add(name)
            table = None if shared else exp.to_identifier(alias, quoted=True)
            yield name, exp.Column(this=exp.to_identifier(name, quoted=True), table=table)
    if isinstance(whole, exp.Column) and not any(alias == whole.table for alias, _, _ in _sources(select)):
        raise compilation(904, "42000", f"invalid identifier '{whole.table.partition(MARK)[0]}'")


def _sources(select: exp.Select) -> list[tuple[str, exp.Expr, frozenset[str]]]:
    """The sources of a query by name, with the columns by which they are joined (``USING``)."""
    joins = [*(select.args.get("joins") or ())]
    parts = [one.this for one in (select.args.get("from_"), *joins) if one is not None]
    parts += select.args.get("laterals") or ()
    if any(join.method == "NATURAL" for join in joins) or any(one.args.get("pivots") for one in parts):
        raise _unknown()
    joined = frozenset(name.name for join in joins for name in join.args.get("using") or ())
    return [(part.alias_or_name, part, joined) for part in parts]


def _names(source: exp.Expr, columns: Columns) -> list[str]:
    """The names of a source's columns."""
    alias = source.args.get("alias")
    if isinstance(alias, exp.TableAlias) and alias.columns:
        return [one.name for one in alias.columns]
    if isinstance(source, exp.Table) and source.name in columns:
        return [one.name for one in columns[source.name]]
    if isinstance(source, exp.Table):
        return _names(_common(source), columns)
    if isinstance(source, exp.Subquery | exp.CTE):
        return _given(source.this, columns)
    if isinstance(source, exp.Lateral | exp.TableFromRows):
        if isinstance(source.this, exp.Explode):
            return list(_FLATTENED)
        if isinstance(source.this, exp.SplitToTable):
            return list(_SPLIT)
    raise _unknown()


def _given(query: exp.Expr, columns: Columns) -> list[str]:
    """The names of a query's columns."""
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    names: list[str] = []
    for one in query.expressions if isinstance(query, exp.Select) else ():
        names += [name for name, _ in _opened(one, columns)] if one.is_star else [one.alias_or_name]
    if not names or not all(names):
        raise _unknown()
    return names


def _common(table: exp.Table) -> exp.Expr:
    at = table.parent
    while at is not None:
        for cte in at.args["with_"].expressions if at.args.get("with_") else ():
            if cte.alias == table.name:
                return cte  # type: ignore[no-any-return]
        at = at.parent
    raise _unknown()


def _unknown() -> SqlError:
    return SqlError(2, "0A000", "Unsupported feature '* of these columns in this place'.")
