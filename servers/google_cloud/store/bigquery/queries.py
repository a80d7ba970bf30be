"""Statements: their kinds, their cost and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.google_cloud.models import Dataset, WarehouseTable
from mesocosm.servers.google_cloud.store.bigquery.answers import Answer
from mesocosm.servers.google_cloud.store.bigquery.definitions import Definitions
from mesocosm.servers.google_cloud.store.bigquery.jobs import KEPT_ROWS
from mesocosm.servers.google_cloud.store.bigquery.names import Names
from mesocosm.servers.google_cloud.store.bigquery.parameters import put_in
from mesocosm.servers.google_cloud.store.bigquery.schema import Field, field_of
from mesocosm.servers.google_cloud.store.bigquery.script_reading import StatementStep, flat, steps_of
from mesocosm.servers.google_cloud.store.bigquery.scripts import (
    Parameters,
    Run,
    Script,
    Variables,
    used,
)
from mesocosm.servers.google_cloud.store.bigquery.tables import TableRead
from mesocosm.servers.google_cloud.store.bigquery.values import shown
from mesocosm.servers.google_cloud.store.part import StorePart
from mesocosm.services.queries.catalogue import Catalogue, QueryResult, StoredTable
from mesocosm.services.queries.catalogue import ResultField as ResultField
from mesocosm.services.queries.dialect import Context
from mesocosm.services.queries.dialects.bigquery import BigQuery, prepared
from mesocosm.services.queries.dml import Changing, change
from mesocosm.services.queries.name_resolution import resolve
from mesocosm.services.queries.select_queries import query as read
from mesocosm.services.queries.statements import parse, parse_one

_DIALECT = BigQuery()
_CHANGES: dict[type[Any], str] = {
    exp.Insert: "INSERT",
    exp.Update: "UPDATE",
    exp.Delete: "DELETE",
    exp.Merge: "MERGE",
    exp.TruncateTable: "TRUNCATE_TABLE",
}
_MOST_STATEMENTS = 100


class Queries(StorePart):
    """Statements in GoogleSQL."""

    def run(
        self,
        text: str,
        *,
        limit: int | None = None,
        skip: int = 0,
        dry_run: bool = False,
        default: str | None = None,
        parameters: Mapping[str, Any] | Sequence[Any] = (),
    ) -> Answer:
        """Run the statements of a text in order; returns the last result.

        Args:
            text: In GoogleSQL.
            limit: Rows of the answer; all (up to some number) for ``None``.
            skip: Rows before those of the answer.
            dry_run: Only check it, and say what it would read.
            default: The dataset of names that say none.
            parameters: Values of ``@name`` by name, or of ``?`` in order: expressions of SQL.
        """
        if (steps := steps_of(text)) is not None:
            return self._script(steps, default, used(parameters), limit, dry_run=dry_run)
        trees = parse(text, _DIALECT)
        if len(trees) > _MOST_STATEMENTS:
            raise Invalid(f"A script may have {_MOST_STATEMENTS} statements here.", code="invalidQuery")
        answer, total = Answer("SCRIPT"), 0
        for tree in trees:
            answer = self._one(tree, text, default, parameters, None, limit, skip, dry_run=dry_run)
            total += answer.bytes
        answer.bytes, answer.alone = total, len(trees) == 1
        return answer

    def _one(
        self,
        tree: exp.Expr,
        text: str,
        default: str | None,
        parameters: Mapping[str, Any] | Sequence[Any],
        variables: Variables | None,
        limit: int | None,
        skip: int = 0,
        *,
        dry_run: bool = False,
    ) -> Answer:
        names = self.store.bigquery.names.within(default)
        whole = put_in(tree, parameters)
        if variables is not None:
            whole = variables.put_in(whole, names)
        for user in list(whole.find_all(exp.SessionUser)):
            user.replace(exp.Literal.string(self.project.service_account))
        return self._run(whole, text, names, limit, skip, dry_run=dry_run)

    def _script(
        self,
        steps: Sequence[StatementStep],
        default: str | None,
        parameters: Mapping[str, Any],
        limit: int | None,
        *,
        dry_run: bool,
    ) -> Answer:
        """Run a script; what its last statement gave. A dry run only reads it."""
        for step in flat(steps):
            if step.kind == "RUN":
                parse_one(step.parts[0], _DIALECT)
        if dry_run:
            return Answer("SCRIPT", dry_run=True, alone=False)

        def run(most: int | None) -> Run:
            def one(text: str, variables: Variables, given: Parameters | None) -> Answer:
                tree, values = parse_one(text, _DIALECT), parameters if given is None else given
                return self._one(tree, text, default, values, variables, most)

            return one

        script = Script(run(limit), run(None))
        script.run(steps)
        answer = script.answers[-1] if script.answers else Answer("SCRIPT")
        answer.bytes, answer.alone = sum(one.bytes for one in script.answers), False
        return answer

    def schema(self, query: exp.Expr, names: Names) -> list[Field]:
        """The fields that a query gives."""
        return _fields(read(prepared(query.copy(), _DIALECT), _DIALECT, self._context(names), limit=0))

    def into(
        self,
        text: str,
        dataset: str,
        id_: str,
        mode: str,
        *,
        default: str | None = None,
        parameters: Mapping[str, Any] | Sequence[Any] = (),
    ) -> Answer:
        """Put the result of a query into a table, which is made where there is none."""
        if mode not in ("WRITE_TRUNCATE", "WRITE_APPEND", "WRITE_EMPTY"):
            raise Invalid(f"Invalid write disposition {mode[:50]!r}.", code="invalid")
        tree = put_in(parse_one(text, _DIALECT), parameters)
        if not isinstance(tree, exp.Query):
            raise Invalid(
                "Cannot set destination table in jobs with DML or DDL statements", code="invalidQuery"
            )
        names = self.store.bigquery.names.within(default)
        answer = Answer("SELECT", fields=self.schema(tree, names), target=f"{dataset}.{id_}")
        self._measure(tree, names, answer)
        tables = self.store.bigquery.tables
        table = tables.find(self.store.bigquery.datasets.dataset(dataset), id_)
        if table is not None and mode == "WRITE_EMPTY" and tables.count(table):
            raise Conflict(f"Already Exists: Table {self.project.id}:{dataset}.{id_}", code="duplicate")
        made = table
        if table is None or mode == "WRITE_TRUNCATE":
            spare = tables.create(dataset, f"{id_}_being_written", answer.fields)
            self.add_rows(spare, tree, names)
            if table is not None:
                tables.remove(table)
            tables.rename(spare, id_)
            made = spare
        else:
            self.add_rows(table, tree, names)
        assert made is not None
        answer.total = tables.count(made)
        if answer.total <= KEPT_ROWS:
            answer.rows = self.rows_of(made)
        return answer

    def add_rows(self, table: WarehouseTable, source: exp.Expr, names: Names) -> int:
        """Put the rows of a query into a table; how many."""
        columns = self.store.bigquery.tables.columns(table)
        target = StoredTable(table.number, columns)
        changing = Changing(_DIALECT, self._context(names))
        return changing.add(target, columns, prepared(source.copy(), _DIALECT)).inserted

    def rows_of(self, table: WarehouseTable, limit: int | None = None, skip: int = 0) -> list[list[Any]]:
        """The rows of a table or a view, in their order, as ``values.shown`` makes them."""
        if not table.fields:
            return []
        dataset = self.session.get_one(Dataset, table.dataset)
        named = exp.table_(table.id, db=dataset.id, quoted=True)
        tree = exp.Select(expressions=[exp.Star()], from_=exp.From(this=named))
        names = self.store.bigquery.names
        found = read(prepared(tree, _DIALECT), _DIALECT, self._context(names), limit=limit, skip=skip)
        return [
            [shown(one, value) for one, value in zip(table.fields, row, strict=True)] for row in found.rows
        ]

    def _context(self, names: Names) -> Context:
        return Context(
            names,
            self.store.bigquery.tables.rows,
            lambda: self.now,
            lambda: self.store.rng.uniform(-1, 1),
        )

    def _run(
        self, tree: exp.Expr, text: str, names: Names, limit: int | None, skip: int, *, dry_run: bool
    ) -> Answer:
        if isinstance(tree, exp.Query):
            return self._read(tree, names, limit, skip, dry_run=dry_run)
        if type(tree) in _CHANGES:
            return self._change(tree, names, dry_run=dry_run)
        return Definitions(self.store, self, names).run(tree, text, dry_run=dry_run)

    def _read(self, tree: exp.Expr, names: Names, limit: int | None, skip: int, *, dry_run: bool) -> Answer:
        query = prepared(tree, _DIALECT)
        answer = Answer("SELECT", dry_run=dry_run)
        self._measure(query, names, answer)
        context = self._context(names)
        if dry_run:
            answer.fields = _fields(read(query, _DIALECT, context, limit=0))
            return answer
        most = KEPT_ROWS if limit is None else limit
        again = query.copy()
        found = read(query, _DIALECT, context, limit=most, skip=skip)
        answer.fields = _fields(found)
        answer.rows = [
            [shown(one, value) for one, value in zip(answer.fields, row, strict=True)] for row in found.rows
        ]
        answer.total = skip + len(found.rows)
        if found.more:
            if limit is None:
                raise Invalid(
                    f"Response too large to return: more than {KEPT_ROWS:,} rows. Consider specifying a"
                    " destination table, a LIMIT or an aggregate.",
                    code="responseTooLarge",
                )
            answer.total = self._count(again, context)
        return answer

    def _count(self, query: exp.Expr, context: Context) -> int:
        inner = exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier("counted")))
        counting = exp.Select(expressions=[exp.Count(this=exp.Star())], from_=exp.From(this=inner))
        return int(read(counting, _DIALECT, context).rows[0][0])

    def _change(self, tree: exp.Expr, names: Names, *, dry_run: bool) -> Answer:
        target = tree.find(exp.Table)
        answer = Answer(_CHANGES[type(tree)], dry_run=dry_run)
        if isinstance(tree, exp.Delete | exp.Update) and tree.args.get("where") is None:
            verb = "DELETE" if isinstance(tree, exp.Delete) else "UPDATE"
            raise Invalid(f"{verb} must have a WHERE clause", code="invalidQuery")
        assert target is not None
        path = tuple(part.name for part in target.parts if isinstance(part, exp.Identifier))
        dataset, name = names.place(path)
        table = names.table(dataset, name)
        answer.target = f"{dataset}.{name}"
        if table.kind != "TABLE":
            raise Invalid(f"Cannot modify {answer.target}: it is a view, not a table.", code="invalidQuery")
        if not isinstance(tree, exp.TruncateTable):
            self._measure(tree, names, answer)
        if not dry_run:
            answer.changed = change(prepared(tree, _DIALECT), _DIALECT, self._context(names))
            self.store.bigquery.tables.touch(table)
        return answer

    def _check_filter(self, table: TableRead, filtered: frozenset[str]) -> None:
        field = (table.partitioning or {}).get("field")
        if table.requires_filter and field and field.lower() not in filtered:
            raise Invalid(
                f"Cannot query over table '{table.id}' without a filter over column(s) '{field}' that can be"
                " used for partition elimination",
                code="invalidQuery",
            )

    def _measure(self, tree: exp.Expr, names: Names, answer: Answer) -> None:
        """Measure what a statement reads: the named columns of each table."""
        whole, numbers = _relations(tree, names)
        columns, filtered = _columns_read(whole), _filtered(whole)
        rows = self.store.bigquery.tables.rows
        for table in self.store.bigquery.tables.by_number(numbers):
            answer.bytes += self.store.bigquery.sizes.bytes(table, columns)
            answer.seen[str(table.number)] = rows.state(table.number)
            self._check_filter(table, filtered)


def _columns_read(whole: exp.Expr) -> frozenset[str] | None:
    """Names, in small letters, that may be those of columns that a statement reads; ``None`` for all."""
    if any(_shows_all(star) for star in whole.find_all(exp.Star)):
        return None
    tables = {one.alias_or_name.lower() for one in whole.find_all(exp.Table)}
    if any(not one.table and one.name.lower() in tables for one in whole.find_all(exp.Column)):
        return None  # a row of a table, as a struct
    return frozenset(one.name.lower() for one in whole.find_all(exp.Identifier))


def _filtered(whole: exp.Expr) -> frozenset[str]:
    """Names, in small letters, of columns that a condition is about."""
    conditions = whole.find_all(exp.Where)
    return frozenset(one.name.lower() for where in conditions for one in where.find_all(exp.Identifier))


def _shows_all(star: exp.Expr) -> bool:
    """True if ``*`` means all columns of a table rather than of a query or a count."""
    select = star.find_ancestor(exp.Select)
    if isinstance(star.parent, exp.Count) or select is None:
        return False
    sources = [select.args.get("from_"), *(select.args.get("joins") or [])]
    return any(isinstance(one.this, exp.Table) for one in sources if one is not None)


def _relations(tree: exp.Expr, names: Catalogue) -> tuple[exp.Expr, list[int]]:
    """The statement with its views put in, and the numbers of the stored tables that it is about."""
    if isinstance(tree, exp.Query):
        resolved = resolve(tree.copy(), _DIALECT, names)
        tree, found = resolved.tree, list[object](resolved.relations)
    else:
        common = {cte.alias for cte in tree.find_all(exp.CTE)}
        paths = [tuple(part.name for part in table.parts) for table in tree.find_all(exp.Table)]
        found = [names.relation(path) for path in paths if len(path) > 1 or path[0] not in common]
    return tree, list(dict.fromkeys(one.number for one in found if isinstance(one, StoredTable)))


def _fields(result: QueryResult) -> list[Field]:
    taken: dict[str, int] = {}
    fields = []
    for place, one in enumerate(result.fields):
        if one.name.startswith("unnest("):  # rows of an array that was given no name
            one = ResultField(f"f{place}_", one.kind)
        count = taken[one.name.lower()] = taken.get(one.name.lower(), -1) + 1
        fields.append(field_of(f"{one.name}_{count}" if count else one.name, one.kind))
    return fields
