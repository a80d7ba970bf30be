"""Queries: computed by DuckDB on copies of the tables that they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import ErrorLevel, exp

from mesocosm.services.queries.allowlist import Barred
from mesocosm.services.queries.catalogue import TARGET, Column, QueryResult, ResultField, StoredTable
from mesocosm.services.queries.complaints import names_called
from mesocosm.services.queries.computed import SAID
from mesocosm.services.queries.dialect import COUNTS, Context, Dialect
from mesocosm.services.queries.engine import EngineTable, engine
from mesocosm.services.queries.failures import MARK, Failed
from mesocosm.services.queries.guards import check_functions, check_words, meaningful
from mesocosm.services.queries.name_resolution import Resolved, label_columns, resolve, tables_of

_ROW_NUMBER = "rowid"
_DRAWS = (exp.Rand, exp.Randn, exp.Randstr, exp.Uuid)


def query(
    tree: exp.Expr, dialect: Dialect, context: Context, *, limit: int | None = None, skip: int = 0
) -> QueryResult:
    """Rows of a query, from the row ``skip`` on and at most ``limit``. The tree is used up."""
    tree = dialect.prepare(tree, context)
    label_columns(tree, dialect)
    resolved = resolve(tree, dialect, context.catalogue)
    return run(resolved, dialect, context, limit=limit, skip=skip)


def run(
    resolved: Resolved,
    dialect: Dialect,
    context: Context,
    *,
    limit: int | None = None,
    skip: int = 0,
    more: dict[str, EngineTable] | None = None,
    outer: Callable[[str], str] = str,
    target: StoredTable | None = None,
) -> QueryResult:
    """Rows of a query whose names are resolved.

    ``more``: further Arrow tables that it names. ``outer`` puts the query into another one. ``target``: a
    table that the query knows as ``target``, whose rows have ``row_id``.
    """
    check_functions(resolved.tree, dialect)
    _check_row_numbers(resolved, dialect)
    called = names_called(resolved.tree)
    tables, names = tables_of(resolved, dialect, context, target)
    counters = _counters(resolved.tree, context)
    if target is not None:
        resolved.named[TARGET] = target
    sql, seed = generated(resolved, dialect, context, names)
    result: QueryResult | Failed
    try:
        result = engine().run(
            outer(sql),
            tables | (more or {}),
            world=context.tables.world,
            limit=limit,
            skip=skip,
            seed=seed,
            counters=counters,
        )
    except Barred as barred:
        name = barred.function.upper()
        what = f"The function {name}" if name in called else "An expression of this statement"
        raise dialect.unsupported(what) from None
    except Failed as failed:
        # Not raised from here: a refusal that is kept would keep DuckDB's instance.
        result = failed.with_traceback(None)
        result.__cause__ = result.__context__ = None
    if isinstance(result, Failed):
        columns = dict.fromkeys(column.name for one in resolved.relations for column in one.columns)
        raise dialect.refused(result, resolved.tree, list(columns), called)
    for name, number in result.counted.items():
        assert context.counters is not None
        context.counters.advance(name, number)
    return replace(
        result, fields=tuple(ResultField(dialect.plain(one.name), one.kind) for one in result.fields)
    )


def _check_row_numbers(resolved: Resolved, dialect: Dialect) -> None:
    """Refuse the number of a row, which tables have in DuckDB alone, unless a column is called so."""
    tree = resolved.tree
    asked = [column for column in tree.find_all(exp.Column) if column.name.lower() == _ROW_NUMBER]
    if not asked:
        return
    columns = [column.name for one in resolved.relations for column in one.columns]
    given = [one.alias for one in tree.find_all(exp.Alias)]
    given += [name.name for one in tree.find_all(exp.TableAlias) for name in one.columns]
    if _ROW_NUMBER not in {name.lower() for name in (*columns, *given)}:
        raise dialect.unknown_column(asked[0].this, columns)


def _counters(tree: exp.Expr, context: Context) -> dict[str, tuple[int, int]]:
    """The counters that a statement draws from."""
    if context.counters is None:
        return {}
    calls = (one for one in tree.find_all(exp.Anonymous) if COUNTS in one.meta)
    names = dict.fromkeys(one.expressions[0].name for one in calls)
    return {name: context.counters.next_of(name) for name in names}


def generated(
    resolved: Resolved, dialect: Dialect, context: Context, names: Mapping[str, str]
) -> tuple[str, float | None]:
    """The statement as DuckDB takes it, and what its random functions follow.

    ``names``: what tables are called there that have another name in the statement.
    """
    draws = resolved.tree.find(*_DRAWS) is not None
    known = {name: _spelled(one.columns, dialect) for name, one in resolved.named.items()}
    with meaningful(dialect):
        tree = dialect.rewrite(resolved.tree, replace(context, columns=known))
        _name_subqueries(tree)
        for table in tree.find_all(exp.Table):
            if table.name in names and isinstance(table.this, exp.Identifier):
                table.this.set("this", names[table.name])
        for call in tree.find_all(exp.Anonymous):
            if call.name.upper() == "ERROR" and call.expressions:
                said = call.expressions[0]
                call.set("expressions", [exp.DPipe(this=exp.Literal.string(SAID), expression=said)])
        check_words(tree, dialect)
        sql = tree.sql("duckdb", copy=False, unsupported_level=ErrorLevel.IGNORE, comments=False)
    return sql, context.seed() if draws else None


def _name_subqueries(tree: exp.Expr) -> None:
    """Name subqueries without a name, since the name that DuckDB gives them can be asked for."""
    for number, one in enumerate(tree.find_all(exp.Subquery)):
        is_source = isinstance(one.parent, exp.From | exp.Join)
        if is_source and not one.args.get("alias") and isinstance(one.this, exp.Select | exp.SetOperation):
            one.set("alias", exp.TableAlias(this=exp.to_identifier(f"{MARK}{number}", quoted=True)))


def _spelled(columns: tuple[Column, ...], dialect: Dialect) -> tuple[Column, ...]:
    return tuple(replace(column, name=dialect.spell(column.name)) for column in columns)
