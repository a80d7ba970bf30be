"""The rules of the snowflake service: objects, and the statements that ask and change them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, cast

from sqlalchemy import MetaData, insert, select

from mesocosm.errors import Invalid, MissingExtra
from mesocosm.servers.snowflake.models import Base, Insight
from mesocosm.servers.snowflake.store.answers import Answer, Results
from mesocosm.servers.snowflake.store.bulk import literal, stored_rows
from mesocosm.servers.snowflake.store.catalogue import StatementCatalogue
from mesocosm.servers.snowflake.store.identifiers import Names, Row, missing, parts_of, written
from mesocosm.servers.snowflake.store.information import Information
from mesocosm.servers.snowflake.store.objects import Objects
from mesocosm.servers.snowflake.store.sessions import Sessions
from mesocosm.servers.snowflake.store.stages import Stages
from mesocosm.services.queries.catalogue import ResultField
from mesocosm.services.service import Store, Topic

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["Answer", "SnowflakeStore", "missing", "parts_of", "written"]

_INSIGHTS = select(Insight.text, Insight.at).order_by(Insight.id)


class SnowflakeStore(Store):
    """One account, used by one user."""

    metadata: ClassVar[MetaData | None] = Base.metadata

    sessions = Topic(Sessions)
    names = Topic(Names)
    information = Topic(Information)
    results = Topic(Results)
    stages = Topic(Stages)
    catalogue = Topic(StatementCatalogue)
    objects = Topic(Objects)

    def parsed(self, text: str) -> exp.Expr:
        """The one statement of a text."""
        return cast("exp.Expr", _running().parsed(text))

    def parsed_all(self, text: str) -> list[tuple[str, exp.Expr]]:
        """The statements of a text, each with its own."""
        return cast("list[tuple[str, exp.Expr]]", _running().parsed_all(text))

    def query(self, text: str, *, limit: int | None, skip: int = 0) -> Answer:
        """Run a statement that changes nothing; others are refused."""
        self.catalogue.may_write = False
        try:
            return cast(Answer, _running().asked(self, text, limit, skip))
        finally:
            self.catalogue.may_write = True

    def execute(self, text: str, *, limit: int | None = None) -> Answer:
        """Run any one statement."""
        running = _running()
        return cast(Answer, running.run(self, text, running.parsed(text), limit))

    def run_tree(
        self, text: str, tree: exp.Expr, bindings: Mapping[str, Any], *, limit: int | None
    ) -> Answer:
        """Run a statement that was parsed, with values for its placeholders: ``{"1": {"type", "value"}}``."""
        running = _running()
        running.bind(tree, bindings)
        return cast(Answer, running.run(self, text, tree, limit))

    def describe_tree(self, text: str, tree: exp.Expr) -> tuple[Answer, int]:
        """Describe a statement's result columns and count its placeholders, without executing it."""
        running = _running()
        places = running.open_up(tree)
        if running.writes(tree):
            return Answer((ResultField("status", "VARCHAR"),)), places
        return cast(Answer, running.run(self, text, tree, 0)), places

    def writes(self, text: str) -> bool:
        """True if a statement may change anything."""
        running = _running()
        return bool(running.writes(running.parsed(text)))

    def append_insight(self, insight: str) -> None:
        """An entry at the end of the memo."""
        if not insight.strip():
            raise Invalid("The insight is empty.")
        self.session.execute(insert(Insight).values(text=insight, at=self.names.stamp()))

    def insights(self) -> Sequence[Row]:
        """The memo, from the first entry on."""
        return self.fetch(_INSIGHTS)

    # -- for generators ---------------------------------------------------------------------------------

    def add_table(
        self,
        name: str,
        columns: Mapping[str, str],
        rows: Iterable[Sequence[Any]] = (),
        *,
        comment: str = "",
        comments: Mapping[str, str] | None = None,
    ) -> int:
        """A table with its rows; its database and schema are made where they are missing. Returns its
        number.

        Args:
            name: ``DATABASE.SCHEMA.TABLE``.
            columns: Names, each with what stands behind it in CREATE TABLE: ``NUMBER(10,2) NOT NULL``.
            rows: Values for the columns in their order, of Python: int, Decimal, str, bool, date ...
            comment: What is said of the table.
            comments: What is said of columns, by their names.
        """
        path = parts_of(name)
        if len(path) != 3:
            raise Invalid(f"name a table as DATABASE.SCHEMA.TABLE, not {name!r}")
        self._make_place(path[0], path[1])
        self._define(name, columns, comment, comments or {})
        number = int(self.names.item_named(path)["id"])
        self.fill(name, rows)
        return number

    def _make_place(self, database: str, schema: str) -> None:
        if database not in [row["name"] for row in self.information.databases()]:
            self.objects.add_database(database)
        if schema not in [row["name"] for row in self.information.schemas(database)]:
            self.objects.add_schema((database, schema))

    def _define(
        self, name: str, columns: Mapping[str, str], comment: str, comments: Mapping[str, str]
    ) -> None:
        said = {**dict.fromkeys(columns, ""), **comments}
        lines = [
            f"{column} {kind}" + (f" COMMENT {literal(said[column])}" if said[column] else "")
            for column, kind in columns.items()
        ]
        tail = f" COMMENT = {literal(comment)}" if comment else ""
        self.execute(f"CREATE TABLE {name} ({', '.join(lines)}){tail}")

    def fill(self, name: str, rows: Iterable[Sequence[Any]]) -> int:
        """Append rows to a table, a million in seconds; returns how many.

        Values must be of the column's type: what a statement would convert is refused here.
        """
        item = self.names.item_named(parts_of(name), "Table")
        columns = self.catalogue.columns(item["id"])
        return self.catalogue.rows.insert(item["id"], columns, stored_rows(columns, rows))


def _running() -> ModuleType:
    """The module that runs statements; it takes libraries that are an extra, and a third of a second."""
    try:
        running = import_module("mesocosm.servers.snowflake.store.execution")
    except ImportError as error:
        if error.name and error.name.startswith("mesocosm"):
            raise
        raise MissingExtra("SQL of a warehouse", "warehouses") from None
    return running
