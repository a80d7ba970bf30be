"""INSERT, UPDATE, DELETE, MERGE, TRUNCATE: the change is computed as a query that returns new values with
``row_id``, and then written to SQLite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sqlglot import exp

from mesocosm.errors import Invalid
from mesocosm.services.queries import copies
from mesocosm.services.queries.catalogue import TARGET, Column, QueryResult, StoredTable
from mesocosm.services.queries.computed import SAID
from mesocosm.services.queries.dialect import SOURCE, Context, Dialect
from mesocosm.services.queries.engine import EngineTable
from mesocosm.services.queries.name_resolution import Resolved, label_columns, resolve
from mesocosm.services.queries.select_queries import run
from mesocosm.services.queries.tables import Value
from mesocosm.worlds import deadlines


@dataclass
class Change:
    """Number of rows that a statement changed."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0

    @property
    def rows(self) -> int:
        """All of them."""
        return self.inserted + self.updated + self.deleted


def change(tree: exp.Expr, dialect: Dialect, context: Context) -> Change:
    """Execute a statement that changes rows; ``Invalid`` for any other."""
    changing = Changing(dialect, context)
    tree = dialect.prepare(tree, context)
    match tree:
        case exp.Insert():
            return changing.insert(tree)
        case exp.Update():
            return changing.update(tree)
        case exp.Delete():
            return changing.delete(tree)
        case exp.Merge():
            return changing.merge(tree)
        case exp.TruncateTable():
            return changing.truncate(tree)
    raise Invalid("This statement changes no rows.")


_MOMENTS = ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999")
_LIMITS = {
    "DATE": ("0001-01-01", "9999-12-31"),
    "TIMESTAMP": _MOMENTS,
    **dict.fromkeys(("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"), tuple(f"{one}+00" for one in _MOMENTS)),
}
"""The first and the last value that the products have of a type; DuckDB has more, and infinity."""


def stored_sql(name: str, column: Column, moments: Mapping[str, str] = MappingProxyType({})) -> str:
    """DuckDB's expression for a value of a column as SQLite keeps it.

    ``moments``: how instants become texts, by DuckDB's types.
    """
    kind = column.kind
    value = f"CAST({name} AS {kind})"
    if kind == "VARCHAR":
        # SQLite has few types: what a column keeps has to read back as the product shows it, whichever type
        # the query gave.
        # A text out of JSON is the text, without quotes.
        loose = f"json_extract_string(CAST({name} AS JSON), '$')"
        whens = f"WHEN typeof({name}) = 'JSON' THEN {loose}"
        for of, form in moments.items():
            read = f"TRY_CAST(CAST({name} AS VARCHAR) AS TIMESTAMP)"
            whens += f" WHEN typeof({name}) = '{of}' THEN strftime({read}, '{form}')"
        value = f"CASE {whens} ELSE {value} END"
    if column.longest is not None:
        said = f"'String ''' || left({value}, 100) || ''' is too long and would be truncated'"
        value = _refusing(value, f"length({value}) > {column.longest}", said)
    # What DuckDB could store and no product accepts must not get into a table.
    if limits := _LIMITS.get(kind):
        first, last = (f"CAST('{one}' AS {kind})" for one in limits)
        said = (
            f"'{'Date' if kind == 'DATE' else 'Timestamp'} value out of range: ' || CAST({value} AS VARCHAR)"
        )
        value = _refusing(value, f"{value} NOT BETWEEN {first} AND {last}", said)
    if kind == "BOOLEAN":
        return f"CAST({value} AS INTEGER)"
    if kind in {"BIGINT", "INTEGER", "HUGEINT", "DOUBLE", "VARCHAR", "BLOB"}:
        return value
    if kind.startswith("DECIMAL") and kind.endswith(",0)"):
        return f"CAST({value} AS HUGEINT)"
    if kind.startswith(("STRUCT", "MAP")) or kind.endswith("]"):
        return f"CAST(to_json({value}) AS VARCHAR)"
    return f"CAST({value} AS VARCHAR)"


def _refusing(value: str, condition: str, said: str) -> str:
    return f"CASE WHEN {condition} THEN error('{SAID}' || {said}) ELSE {value} END"


def kept(value: Any) -> Value:
    """A value that ``stored_sql`` gave, for SQLite, whose integers have 64 bits."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    return value  # type: ignore[no-any-return]


class Changing:
    """One statement that changes rows."""

    def __init__(self, dialect: Dialect, context: Context) -> None:
        self._dialect = dialect
        self._context = context

    # -- INSERT -----------------------------------------------------------------------------------------

    def insert(self, tree: exp.Insert) -> Change:
        """Rows of a query or of VALUES."""
        schema = tree.this if isinstance(tree.this, exp.Schema) else None
        target = self._target(schema.this if schema else tree.this)
        named = schema.expressions if schema else ()
        columns = [self._column(target, one) for one in named] if named else list(target.columns)
        source = tree.expression
        if source is None:
            raise self._dialect.unsupported("INSERT without VALUES or a query")
        if tree.args.get("with_"):
            source.set("with_", tree.args["with_"])
        return self.add(target, columns, source, overwrite=bool(tree.args.get("overwrite")))

    def add(
        self, target: StoredTable, columns: Sequence[Column], source: exp.Expr, *, overwrite: bool = False
    ) -> Change:
        """Append the rows of a query, whose values are for these columns; the others get their defaults.

        ``overwrite``: the rows that were there go.
        """
        # Defaults are computed by the same query, row by row: one may be a sequence or the present moment.
        every = [*columns, *(column for column in target.columns if column not in columns)]
        values = self.computed(columns, source, every[len(columns) :])
        tables = self._context.tables
        removed = tables.clear(target.number) if overwrite else 0
        return Change(inserted=tables.insert(target.number, every, values), deleted=removed)

    def computed(
        self, columns: Sequence[Column], source: exp.Expr, others: Sequence[Column] = ()
    ) -> list[Sequence[Value]]:
        """The rows of a query as SQLite keeps them: values for these columns, and defaults for the others."""
        if isinstance(source, exp.Values):
            source = self._values(source, columns)
        source = self._dialect.prepare(source, self._context)
        label_columns(source, self._dialect)
        resolved = resolve(source, self._dialect, self._context.catalogue)
        self._check_width(resolved, len(columns))
        query = exp.Select(
            expressions=[
                *(exp.column(f"c{index}", "given") for index in range(len(columns))),
                *(self._default(column) for column in others),
            ],
            from_=exp.From(this=_named(exp.Subquery(this=resolved.tree), "given", len(columns))),
        )
        every = [*columns, *others]
        return list(self._checked(self._run(query, resolved, every).rows, every))

    def _values(self, source: exp.Values, columns: Sequence[Column]) -> exp.Expr:
        for row in source.expressions:
            values = row.expressions if isinstance(row, exp.Tuple) else [row]
            if len(values) != len(columns):
                raise self._dialect.wrong_width(len(columns), len(values))
            for value, column in zip(values, columns, strict=True):
                if _is_default(value):
                    value.replace(self._default(column))
        rows = [
            exp.Select(expressions=list(row.expressions) if isinstance(row, exp.Tuple) else [row])
            for row in source.expressions
        ]
        # Thousands of constant rows stay one VALUES; they need no query each, as rows with subqueries do.
        if len(rows) > 1 and all(_constant(value) for row in rows for value in row.expressions):
            names = [exp.to_identifier(f"V{index}") for index in range(len(columns))]
            source.set("alias", exp.TableAlias(this=exp.to_identifier("VALUES_"), columns=names))
            return exp.Select(expressions=[exp.Star()], from_=exp.From(this=source))
        query: exp.Expr = rows[0]
        for row in rows[1:]:
            query = exp.Union(this=query, expression=row, distinct=False)
        return query

    def _check_width(self, resolved: Resolved, width: int) -> None:
        query = resolved.tree
        while isinstance(query, exp.SetOperation | exp.Subquery):
            query = query.this
        if isinstance(query, exp.Select) and not query.is_star:
            given = len(query.expressions)
        else:
            copy = Resolved(resolved.tree.copy(), resolved.stored, resolved.listed)
            given = len(run(copy, self._dialect, self._context, limit=0).fields)
        if given != width:
            raise self._dialect.wrong_width(width, given)

    def _default(self, column: Column) -> exp.Expr:
        value = exp.Paren(this=self._dialect.default_of(column))
        return self._dialect.prepare(value, self._context)

    # -- UPDATE, DELETE ---------------------------------------------------------------------------------

    def update(self, tree: exp.Update) -> Change:
        """New values of rows that meet a condition, perhaps together with rows of other tables."""
        target = self._target(tree.this)
        assigned = [self._column(target, one.this) for one in tree.expressions]
        resolved = resolve(tree, self._dialect, self._context.catalogue)
        values = [
            self._default(column) if _is_default(one.expression) else one.expression
            for one, column in zip(tree.expressions, assigned, strict=True)
        ]
        query = self._rows(tree.this, values)
        if from_ := tree.args.get("from_"):
            query.set("joins", [exp.Join(this=from_.this, kind="CROSS"), *_joins(from_.this)])
        query.set("where", tree.args.get("where"))
        rows = self._run(query, resolved, assigned, target).rows
        unique = self._unique(rows, strict=self._dialect.one_match)
        done = self._context.tables.update(target.number, assigned, self._checked(unique, assigned))
        return Change(updated=done)

    def delete(self, tree: exp.Delete) -> Change:
        """Rows that meet a condition go."""
        target = self._target(tree.this)
        resolved = resolve(tree, self._dialect, self._context.catalogue)
        query = self._rows(tree.this, [])
        if using := tree.args.get("using"):
            query.set("joins", [exp.Join(this=one, kind="CROSS") for one in using])
        query.set("where", tree.args.get("where"))
        rows = self._run(query, resolved, (), target).rows
        ids = dict.fromkeys(row[-1] for row in rows)
        return Change(deleted=self._context.tables.delete(target.number, ids))

    def truncate(self, tree: exp.TruncateTable) -> Change:
        """All rows go."""
        target = self._target(tree.expressions[0])
        return Change(deleted=self._context.tables.clear(target.number))

    # -- MERGE ------------------------------------------------------------------------------------------

    def merge(self, tree: exp.Merge) -> Change:
        """Rows of a source that meet rows of the target, or do not."""
        target = self._target(tree.this)
        whens = list(tree.args["whens"].expressions)
        columns = [self._merge_columns(target, when) for when in whens]
        resolved = resolve(tree, self._dialect, self._context.catalogue)
        before: dict[tuple[bool, bool], list[exp.Expr]] = {}
        rows: list[list[tuple[Any, ...]]] = []
        for when, assigned in zip(whens, columns, strict=True):
            kind = (bool(when.args.get("matched")), bool(when.args.get("source")))
            earlier = before.setdefault(kind, [])
            query = self._merge_query(tree, when, assigned, kind, earlier)
            earlier.append(when.args.get("condition") or exp.true())
            rows.append(self._run(query, resolved, assigned, target).rows)
        self._check_single(whens, rows)
        return self._apply(target, whens, columns, rows)

    def _merge_columns(self, target: StoredTable, when: exp.Expr) -> list[Column]:
        then = when.args["then"]
        if isinstance(then, exp.Update):
            return [self._column(target, one.this) for one in then.expressions]
        if isinstance(then, exp.Insert):
            if not isinstance(then.this, exp.Tuple):
                return list(target.columns)
            return [self._column(target, one) for one in then.this.expressions]
        return []

    def _merge_query(
        self,
        tree: exp.Merge,
        when: exp.Expr,
        assigned: Sequence[Column],
        kind: tuple[bool, bool],
        earlier: Sequence[exp.Expr],
    ) -> exp.Select:
        then, on = when.args["then"], tree.args["on"]
        matched, by_source = kind
        values = []
        if isinstance(then, exp.Update):
            values = [one.expression.copy() for one in then.expressions]
        elif isinstance(then, exp.Insert):
            values = self._merge_values(then, assigned, tree)
        values = [
            self._default(column) if _is_default(value) else value
            for value, column in zip(values, assigned, strict=True)
        ]
        condition = when.args.get("condition")
        tests = [condition.copy()] if condition is not None else []
        tests += [exp.Not(this=exp.Coalesce(this=one.copy(), expressions=[exp.false()])) for one in earlier]
        if matched or by_source:
            query = self._rows(tree.this.copy(), values)
        else:
            query = exp.Select(expressions=[*_named_values(values), exp.alias_(exp.Literal.number(0), "row")])
            query.set("from_", exp.From(this=tree.args["using"].copy()))
        if matched:
            query.set("joins", [exp.Join(this=tree.args["using"].copy(), on=on.copy())])
        else:
            other = tree.args["using"] if by_source else tree.this
            inner = exp.Select(expressions=[exp.Literal.number(1)], from_=exp.From(this=other.copy()))
            tests.insert(0, exp.Not(this=exp.Exists(this=inner.where(on.copy()))))
        return query.where(*tests) if tests else query

    def _merge_values(self, then: exp.Insert, assigned: Sequence[Column], tree: exp.Merge) -> list[exp.Expr]:
        if isinstance(then.expression, exp.Tuple):
            values = [value.copy() for value in then.expression.expressions]
        else:  # INSERT ROW: the columns of the source of the same names
            source = tree.args["using"].alias_or_name
            values = [exp.column(self._name(column.name), self._name_raw(source)) for column in assigned]
        if len(values) != len(assigned):
            raise self._dialect.wrong_width(len(assigned), len(values))
        return values

    def _check_single(self, whens: Sequence[exp.Expr], rows: Sequence[list[tuple[Any, ...]]]) -> None:
        seen: set[int] = set()
        for when, found in zip(whens, rows, strict=True):
            if when.args.get("matched"):
                for row in found:
                    if row[-1] in seen:
                        raise self._dialect.matched_twice()
                    seen.add(row[-1])

    def _apply(
        self,
        target: StoredTable,
        whens: Sequence[exp.Expr],
        columns: Sequence[list[Column]],
        rows: Sequence[list[tuple[Any, ...]]],
    ) -> Change:
        done, tables = Change(), self._context.tables
        for when, assigned, found in zip(whens, columns, rows, strict=True):
            then = when.args["then"]
            if isinstance(then, exp.Update):
                done.updated += tables.update(target.number, assigned, self._checked(found, assigned))
            elif not isinstance(then, exp.Insert):
                done.deleted += tables.delete(target.number, [row[-1] for row in found])
        for when, assigned, found in zip(whens, columns, rows, strict=True):
            if isinstance(when.args["then"], exp.Insert):
                done.inserted += self._add_rows(target, assigned, [row[:-1] for row in found])
        return done

    def _add_rows(self, target: StoredTable, columns: Sequence[Column], rows: list[tuple[Any, ...]]) -> int:
        others = [column for column in target.columns if column not in columns]
        if rows and others:
            names = [self._default(column) for column in others]
            query = exp.Select(expressions=_named_values(names))
            query.set("from_", exp.From(this=exp.to_table("counted")))
            count = {"counted": copies.counted(len(rows))}
            added = self._run(query, Resolved(query), others, more=count).rows
            rows = [(*row, *extra) for row, extra in zip(rows, added, strict=True)]
        every = [*columns, *others]
        return self._context.tables.insert(target.number, every, self._checked(rows, every))

    # -- what they have in common -----------------------------------------------------------------------

    def _target(self, table: exp.Expr) -> StoredTable:
        if not isinstance(table, exp.Table):
            raise self._dialect.unsupported("this target")
        path = tuple(self._dialect.fold(part) for part in table.parts if isinstance(part, exp.Identifier))
        if not path:
            raise self._dialect.unsupported("this target")
        relation = self._context.catalogue.relation(path)
        if not isinstance(relation, StoredTable):
            raise self._dialect.unsupported(f"changing rows of {'.'.join(path)}, which is no table,")
        return relation

    def _column(self, target: StoredTable, named: exp.Expr) -> Column:
        name = named if isinstance(named, exp.Identifier) else named.find(exp.Identifier)
        if name is None:
            raise self._dialect.unsupported("a column that is no name")
        wanted = self._dialect.spell(self._dialect.fold(name)).lower()
        for column in target.columns:
            if self._dialect.spell(column.name).lower() == wanted:
                return column
        raise self._dialect.unknown_column(name, [column.name for column in target.columns])

    def _name(self, name: str) -> exp.Identifier:
        return self._name_raw(self._dialect.spell(name))

    def _name_raw(self, name: str) -> exp.Identifier:
        found = exp.to_identifier(name, quoted=True)
        found.meta["resolved"] = True
        return found

    def _rows(self, table: exp.Expr, values: Sequence[exp.Expr]) -> exp.Select:
        """A query over the rows of the target, each with its ``row_id``, last."""
        named = table.copy()
        named.set("this", self._name_raw(TARGET))
        row = exp.column(self._name_raw(copies.ROW), self._name_raw(table.alias_or_name))
        columns = [*_named_values(values), exp.alias_(row, "row")]
        return exp.Select(expressions=columns, from_=exp.From(this=named))

    def _run(
        self,
        query: exp.Select,
        resolved: Resolved,
        columns: Sequence[Column],
        target: StoredTable | None = None,
        more: dict[str, EngineTable] | None = None,
    ) -> QueryResult:
        """Rows of values as SQLite keeps them; of a target also the ``row_id``."""

        def outer(sql: str) -> str:
            forms = self._dialect.moments_as_texts
            names = [stored_sql(f"c{index}", column, forms) for index, column in enumerate(columns)]
            alias = ", ".join(f"c{index}" for index in range(len(columns)))
            if target is not None:
                names.append('"row"')
                alias = f'{alias}{", " if alias else ""}"row"'
            return f"SELECT {', '.join(names)} FROM ({sql}) AS wanted({alias})"

        part = Resolved(query, resolved.stored, resolved.listed)
        return run(part, self._dialect, self._context, more=more, outer=outer, target=target)

    def _unique(self, rows: list[tuple[Any, ...]], *, strict: bool) -> list[tuple[Any, ...]]:
        found: dict[int, tuple[Any, ...]] = {}
        for row in rows:
            if found.setdefault(row[-1], row) is not row and strict:
                raise self._dialect.matched_twice()
        return list(found.values())

    def _checked(
        self, rows: Sequence[tuple[Any, ...]], columns: Sequence[Column]
    ) -> Iterator[Sequence[Value]]:
        """The rows for SQLite: none lacks a value that it must have."""
        required = [(index, column) for index, column in enumerate(columns) if column.required]
        wide = any(column.kind == "HUGEINT" or column.kind.startswith("DECIMAL") for column in columns)
        for index, row in enumerate(rows):
            if not index % 1000:
                deadlines.check()
            for at, column in required:
                if row[at] is None:
                    raise self._dialect.missing_value(column.name)
            yield tuple(map(kept, row)) if wide else row


def _is_default(value: exp.Expr) -> bool:
    name = value.this if isinstance(value, exp.Column) and not value.table else value
    unquoted = isinstance(name, exp.Var) or (isinstance(name, exp.Identifier) and not name.quoted)
    return (unquoted and name.name.upper() == "DEFAULT") or isinstance(value, getattr(exp, "Default", ()))


def _constant(value: exp.Expr) -> bool:
    return isinstance(value.unnest(), exp.Literal | exp.Null | exp.Boolean | exp.Neg)


def _joins(table: exp.Expr) -> list[exp.Expr]:
    """Joins that the parser left with the table behind FROM."""
    joins = table.args.get("joins") or []
    table.set("joins", None)
    return list(joins)


def _named(query: exp.Subquery, name: str, width: int) -> exp.Subquery:
    columns = [exp.to_identifier(f"c{index}") for index in range(width)]
    query.set("alias", exp.TableAlias(this=exp.to_identifier(name), columns=columns))
    query.meta[SOURCE] = True
    return query


def _named_values(values: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [exp.alias_(value, f"c{index}") for index, value in enumerate(values)]
