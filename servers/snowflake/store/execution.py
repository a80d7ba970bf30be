"""Statements, from their text to an answer; needs the libraries of the extra ``warehouses``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from mesocosm.errors import Invalid
from mesocosm.servers.snowflake.store.answers import Answer, changed, done
from mesocosm.servers.snowflake.store.binding import bind, name_identifiers, open_up
from mesocosm.servers.snowflake.store.copy_into import Copying
from mesocosm.servers.snowflake.store.ddl import Defining
from mesocosm.servers.snowflake.store.show import describe, show, show_nothing
from mesocosm.services.queries.dialect import Context
from mesocosm.services.queries.dialects.snowflake import Snowflake
from mesocosm.services.queries.dml import change
from mesocosm.services.queries.failures import SqlError
from mesocosm.services.queries.select_queries import query
from mesocosm.services.queries.statements import parse, parse_one

if TYPE_CHECKING:
    from mesocosm.servers.snowflake.store import SnowflakeStore

__all__ = ["bind", "open_up"]

DIALECT = Snowflake()
_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)
_CHANGES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.TruncateTable)
_DEFINES = (exp.Create, exp.Drop, exp.Alter, exp.Comment, exp.Use)
_CLOSES = (exp.Commit, exp.Rollback)
_TELLS = (exp.Show, exp.Describe, exp.ListStage)


def context_of(store: SnowflakeStore) -> Context:
    """Return the environment of a statement."""
    return Context(
        store.catalogue,
        store.catalogue.rows,
        now=lambda: store.now,
        seed=lambda: store.rng.uniform(-1, 1),
        counters=store.catalogue,
        about=lambda: {**store.sessions.current(), "user": "AGENT", **store.results.last_queries()},
    )


def parsed(text: str) -> exp.Expr:
    """The one statement of a text."""
    return parse_one(text, DIALECT)


def parsed_all(text: str) -> list[tuple[str, exp.Expr]]:
    """The statements of a text, each with its own."""
    trees = parse(text, DIALECT)
    return [(text if len(trees) == 1 else tree.sql("snowflake"), tree) for tree in trees]


def writes(tree: exp.Expr) -> bool:
    """True if a statement may change anything."""
    return not isinstance(tree, (*_QUERIES, *_TELLS))


def asked(store: SnowflakeStore, text: str, limit: int | None, skip: int) -> Answer:
    """Run a statement that changes nothing; others are refused."""
    tree = parsed(text)
    if not isinstance(tree, (*_QUERIES, *_TELLS, *_CHANGES, *_DEFINES, *_CLOSES, exp.Transaction)):
        raise DIALECT.unsupported(_kind(tree))
    if writes(tree):
        raise Invalid("Calls to read_query should not contain write operations: use write_query for that.")
    return run(store, text, tree, limit, skip)


def run(store: SnowflakeStore, text: str, tree: exp.Expr, limit: int | None, skip: int = 0) -> Answer:
    """Run a statement; of a query, the rows from ``skip`` on and at most ``limit``."""
    context = context_of(store)
    name_identifiers(tree)
    if isinstance(tree, exp.Values):
        tree = exp.Select(expressions=[exp.Star()], from_=exp.From(this=_numbered(tree)))
    if isinstance(tree, _QUERIES):
        found = query(tree, DIALECT, context, limit=limit, skip=skip)
        return Answer(found.fields, found.rows, found.more, is_query=True)
    if isinstance(tree, _CHANGES):
        store.sessions.note_change(of_rows=True)
        return _change(store, tree, context)
    if isinstance(tree, _DEFINES):
        if isinstance(tree, exp.Create) and str(tree.args.get("kind")).upper() == "STAGE":
            return Copying(store, DIALECT, context).create_stage(tree)
        if isinstance(tree, exp.Create) and str(tree.args.get("kind")).upper() == "FILE FORMAT":
            return Copying(store, DIALECT, context).create_file_format(tree)
        if isinstance(tree, exp.Alter) and tree.args.get("kind") == "SESSION":
            _set(store, tree)
            return done("Statement executed successfully.")
        store.sessions.note_change(of_rows=False)
        return Defining(store, DIALECT, context, text).run(tree)
    if isinstance(tree, _TELLS):
        if isinstance(tree, exp.ListStage):
            told = Copying(store, DIALECT, context).list_files(tree.this.name.strip("'"))
        elif isinstance(tree, exp.Show):
            told = show(store, tree)
        else:
            told = describe(store, tree, DIALECT)
        return _window(told, limit, skip)
    if isinstance(tree, (*_CLOSES, exp.Transaction)):
        return _transaction(store, tree)
    if isinstance(tree, exp.Command) and tree.name.upper() == "SHOW":
        nothing = show_nothing(str(tree.args.get("expression") or ""))
        if nothing is not None:
            return nothing
    if isinstance(tree, exp.Command) and tree.name.upper() == "ALTER":
        said = _SESSION.match(str(tree.args.get("expression") or ""))
        if said is not None:
            # Several settings at once, which sqlglot does not take apart.
            for name, value in _SETTING.findall(said[1]):
                store.sessions.set_parameter(name, value.strip("'"))
            return done("Statement executed successfully.")
    if isinstance(tree, exp.Copy):
        store.sessions.note_change(of_rows=True)
        return Copying(store, DIALECT, context).copy(tree)
    if isinstance(tree, exp.Command) and tree.name.upper() in ("REMOVE", "RM"):
        return Copying(store, DIALECT, context).remove_files(str(tree.args.get("expression") or ""))
    if isinstance(tree, exp.Put):
        raise SqlError(2, "0A000", _NO_FILE)
    if isinstance(tree, exp.Get) or (isinstance(tree, exp.Command) and tree.name.upper() == "GET"):
        raise SqlError(2, "0A000", "Unsupported feature 'GET'. Read a stage with SELECT $1, $2 FROM @stage.")
    raise DIALECT.unsupported(_kind(tree))


_NO_FILE = (
    "Unsupported feature 'PUT'. Who runs a statement here has no files of their own: put rows into a table"
    " with INSERT."
)


def _transaction(store: SnowflakeStore, tree: exp.Expr) -> Answer:
    """BEGIN, COMMIT and ROLLBACK: each statement is kept at once, so what was done cannot be undone."""
    begun = store.sessions.set_transaction(isinstance(tree, exp.Transaction))
    if begun and isinstance(tree, exp.Rollback):
        said = "Unsupported feature 'ROLLBACK'. Statements are kept one by one here: what was done is done."
        raise SqlError(2, "0A000", said)
    return done("Statement executed successfully.")


_SESSION = re.compile(r"\s*SESSION\s+SET\s+(.*)\Z", re.IGNORECASE | re.DOTALL)
_SETTING = re.compile(r"(\w+)\s*=\s*('[^']*'|[\w.-]+)")


def _set(store: SnowflakeStore, tree: exp.Alter) -> None:
    """ALTER SESSION SET and UNSET."""
    for item in tree.find_all(exp.SetItem):
        if isinstance(item.this, exp.Identifier):
            store.sessions.set_parameter(item.name, None)
        else:
            value = item.this.args["expression"]
            store.sessions.set_parameter(
                item.this.this.name, value.name if value.is_string else value.sql("snowflake")
            )


def _numbered(values: exp.Values) -> exp.Values:
    width = len(values.expressions[0].expressions) if values.expressions else 1
    names = [exp.to_identifier(f"COLUMN{index + 1}") for index in range(width)]
    values.set("alias", exp.TableAlias(this=exp.to_identifier("VALUES_"), columns=names))
    return values


def _window(answer: Answer, limit: int | None, skip: int) -> Answer:
    end = None if limit is None else skip + limit
    answer.more = end is not None and len(answer.rows) > end
    answer.rows = answer.rows[skip:end]
    return answer


def _change(store: SnowflakeStore, tree: exp.Expr, context: Context) -> Answer:
    if isinstance(tree, exp.TruncateTable):
        try:
            change(tree, DIALECT, context)
        except SqlError as refusal:
            if not tree.args.get("exists") or refusal.number != 2003:
                raise
        return done("Statement executed successfully.")
    counts = change(tree, DIALECT, context)
    if isinstance(tree, exp.Insert):
        return changed(inserted=counts.inserted)
    if isinstance(tree, exp.Update):
        return changed(updated=counts.updated)
    if isinstance(tree, exp.Delete):
        return changed(deleted=counts.deleted)
    thens = [when.args["then"] for when in tree.args["whens"].expressions]
    named: dict[str, Any] = {}
    kinds: tuple[tuple[str, Callable[[Any], bool], int], ...] = (
        ("inserted", lambda then: isinstance(then, exp.Insert), counts.inserted),
        ("updated", lambda then: isinstance(then, exp.Update), counts.updated),
        ("deleted", lambda then: not isinstance(then, exp.Insert | exp.Update), counts.deleted),
    )
    for name, is_kind, count in kinds:
        if any(is_kind(then) for then in thens):
            named[name] = count
    return changed(**named)


def _kind(tree: exp.Expr) -> str:
    if isinstance(tree, exp.Command):
        return f"{tree.name} {tree.args.get('expression') or ''}"[:40].strip().upper()
    return str(tree.key).upper()
