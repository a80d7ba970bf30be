"""Names of a statement: each table is found in the catalogue, each column spelled for DuckDB."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from mesocosm.errors import Invalid
from mesocosm.services.queries import copies
from mesocosm.services.queries.catalogue import TARGET, Catalogue, Column, Listed, StoredTable, StoredView
from mesocosm.services.queries.dialect import Context, Dialect
from mesocosm.services.queries.engine import EngineTable
from mesocosm.services.queries.statements import parse_one

_DEEPEST, _MOST_VIEWS, _LONGEST_VIEWS = 30, 200, 200_000
"""Views within views, and how many are put into a statement, and of how many characters: each time that one
is named, its query is read and stands there."""


@dataclass
class Resolved:
    """A statement with unique table names, and the tables behind them."""

    tree: exp.Expr
    stored: dict[str, StoredTable] = field(default_factory=dict)
    listed: dict[str, Listed] = field(default_factory=dict)

    named: dict[str, StoredTable | Listed] = field(default_factory=dict)
    """By the names that these have in the statement."""
    views: list[int] = field(default_factory=list)
    """Characters of each view that was put in, within others, too."""

    def __post_init__(self) -> None:
        self.named = {**self.stored, **self.listed}

    @property
    def relations(self) -> list[StoredTable | Listed]:
        """All that the statement is about."""
        return [*self.stored.values(), *self.listed.values()]


def resolve(
    tree: exp.Expr,
    dialect: Dialect,
    catalogue: Catalogue,
    depth: int = 0,
    views: list[int] | None = None,
) -> Resolved:
    """Find the tables of a query in the catalogue; views are put in as the queries that they are.

    ``views``: those that were put in before, into what this is a part of.
    """
    found = Resolved(tree, views=[] if views is None else views)
    for table in list(tree.find_all(exp.Table)):
        if isinstance(table.this, exp.Identifier):
            _resolve_table(table, dialect, catalogue, found, depth)
    found.named = {**found.stored, **found.listed}
    _spell(found.tree, dialect)
    return found


def _resolve_table(
    table: exp.Table, dialect: Dialect, catalogue: Catalogue, found: Resolved, depth: int
) -> None:
    path = tuple(dialect.fold(part) for part in table.parts if isinstance(part, exp.Identifier))
    alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(path[-1], quoted=True))
    if alias.this is None:
        alias.set("this", exp.to_identifier(path[-1], quoted=True))
    if len(path) == 1 and _is_common(table, path[0], dialect):
        table.set("alias", alias)
        return
    relation = catalogue.relation(path)
    if isinstance(relation, StoredView):
        _put_view(table, alias, relation, dialect, catalogue, found, depth)
        return
    if isinstance(relation, StoredTable):
        name = f"t_{relation.number}"
        found.stored[name] = relation
    else:
        name = f"listed_{'_'.join(path)}"
        found.listed[name] = relation
    table.set("this", exp.to_identifier(name, quoted=True))
    table.this.meta["resolved"] = True
    table.set("db", None)
    table.set("catalog", None)
    table.set("alias", alias)


def _put_view(
    table: exp.Table,
    alias: exp.TableAlias,
    view: StoredView,
    dialect: Dialect,
    catalogue: Catalogue,
    found: Resolved,
    depth: int,
) -> None:
    if depth >= _DEEPEST:
        raise dialect.unsupported("views that are nested this deep")
    found.views.append(len(view.query))
    if len(found.views) > _MOST_VIEWS or sum(found.views) > _LONGEST_VIEWS:
        raise Invalid("The query is too complex: it names views, and these others, too often.")
    query = parse_one(view.query, dialect)
    label_columns(query, dialect)
    inner = resolve(query, dialect, view.within or catalogue, depth + 1, found.views)
    found.stored |= inner.stored
    found.listed |= inner.listed
    if view.columns:
        names = [exp.to_identifier(dialect.spell(name), quoted=True) for name in view.columns]
        for name in names:
            name.meta["resolved"] = True
        if not alias.args.get("columns"):
            alias.set("columns", names)
    put = exp.Subquery(this=inner.tree, alias=alias)
    for part in ("joins", "laterals", "pivots", "sample"):
        if table.args.get(part):
            put.set(part, table.args[part])
    table.replace(put)


def _is_common(node: exp.Expr, name: str, dialect: Dialect) -> bool:
    """True if a name refers to a common table expression here."""
    below, at = node, node.parent
    while at is not None:
        with_ = at.args.get("with_")
        if isinstance(with_, exp.With) and with_ is not below and name in _names(with_, dialect):
            return True
        if isinstance(at, exp.With):
            for cte in at.expressions:
                if cte is below and not (at.recursive or dialect.name == "snowflake"):
                    break
                if dialect.fold(cte.args["alias"].this) == name and (cte is not below or _refers(cte)):
                    return True
                if cte is below:
                    break
        below, at = at, at.parent
    return False


def _names(with_: exp.With, dialect: Dialect) -> list[str]:
    return [dialect.fold(cte.args["alias"].this) for cte in with_.expressions]


def _refers(cte: exp.Expr) -> bool:
    """True if a common table expression may be recursive, i.e. is a union of two parts."""
    return isinstance(cte.this, exp.SetOperation)


def _spell(tree: exp.Expr, dialect: Dialect) -> None:
    for name in tree.find_all(exp.Identifier):
        if not name.meta.get("resolved"):
            name.set("this", dialect.spell(dialect.fold(name)))
            name.set("quoted", True)
            name.meta["resolved"] = True
    for column in tree.find_all(exp.Column):
        if column.args.get("db"):
            column.set("db", None)
            column.set("catalog", None)


def label_columns(tree: exp.Expr, dialect: Dialect) -> None:
    """Give the columns of a query's result the names that the vendor gives them."""
    query = tree
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    if not isinstance(query, exp.Select):
        return
    named = []
    for index, one in enumerate(query.expressions):
        if isinstance(one, exp.Alias | exp.Aliases | exp.Column | exp.Star) or one.is_star or _is_field(one):
            named.append(one)
            continue
        name = exp.to_identifier(dialect.spell(dialect.label(one, index)), quoted=True)
        name.meta["resolved"] = True
        named.append(exp.Alias(this=one, alias=name))
    query.set("expressions", named)


def _is_field(node: exp.Expr) -> bool:
    """True if a node is a field access, which names its column by itself."""
    is_dot = isinstance(node, exp.Dot)
    while isinstance(node, exp.Dot):
        node = node.this
    return is_dot and isinstance(node, exp.Column | exp.Identifier)


def tables_of(
    resolved: Resolved, dialect: Dialect, context: Context, target: StoredTable | None = None
) -> tuple[dict[str, EngineTable], dict[str, str]]:
    """Return the columns that DuckDB needs of each table, and the tables that are called otherwise in the
    statement.
    """
    found: dict[str, EngineTable] = {}
    names: dict[str, str] = {}
    wanted = [
        (name, resolved.stored[name], columns) for name, columns in columns_asked(resolved, dialect).items()
    ]
    if target is not None:
        wanted.append((TARGET, target, _wanted(target.columns, _asked(resolved.tree), dialect.spell)))
    for name, relation, columns in wanted:
        copy = copies.stored(context.tables, relation.number, columns, rows=name == TARGET)
        found[copy.name], names[name] = copy.table, copy.name
    for name, listed in resolved.listed.items():
        spelled = Listed(_wanted_all(listed.columns, dialect.spell), listed.rows)
        found[name] = copies.listed(spelled)
    return found, names


def columns_asked(resolved: Resolved, dialect: Dialect) -> dict[str, tuple[Column, ...]]:
    """By the names of stored tables in the statement: the columns that it may ask for, spelled."""
    asked = _asked(resolved.tree)
    return {
        name: _wanted(relation.columns, asked, dialect.spell) for name, relation in resolved.stored.items()
    }


def _asked(tree: exp.Expr) -> set[str] | None:
    """Names that may be those of columns; ``None`` if all columns are asked for."""
    aliases = {table.alias.lower() for table in tree.find_all(exp.Table)}
    names = set()
    for node in tree.walk():
        if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
            return None
        if isinstance(node, exp.Join) and node.method == "NATURAL":
            return None
        if isinstance(node, exp.TableAlias) and node.columns:
            return None
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in aliases:
            return None
        if isinstance(node, exp.Identifier):
            names.add(node.name.lower())
    return names


def _wanted(
    columns: tuple[Column, ...], asked: set[str] | None, spell: Callable[[str], str]
) -> tuple[Column, ...]:
    spelled = _wanted_all(columns, spell)
    return spelled if asked is None else tuple(one for one in spelled if one.name.lower() in asked)


def _wanted_all(columns: tuple[Column, ...], spell: Callable[[str], str]) -> tuple[Column, ...]:
    return tuple(
        Column(spell(column.name), column.kind, stored=column.stored or column.name) for column in columns
    )
