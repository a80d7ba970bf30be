"""The rules of the snowflake service: objects, and the statements that ask and change them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, cast

from sqlalchemy import MetaData, insert, select

from mesocosm.errors import Invalid, MissingExtra
from mesocosm.servers.snowflake.models import Base, Insight, SqlSession
from mesocosm.servers.snowflake.store.answers import Answer
from mesocosm.servers.snowflake.store.bulk import Filling
from mesocosm.servers.snowflake.store.identifiers import Row, missing, parts_of, written
from mesocosm.servers.snowflake.store.objects import PUBLIC
from mesocosm.services.queries.catalogue import ResultField
from mesocosm.services.queries.failures import SqlError

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["Answer", "SnowflakeStore", "missing", "parts_of", "written"]

_INSIGHTS = select(Insight.text, Insight.at).order_by(Insight.id)


class SnowflakeStore(Filling):
    """One account, used by one user."""

    metadata: ClassVar[MetaData | None] = Base.metadata

    def parsed(self, text: str) -> exp.Expr:
        """The one statement of a text."""
        return cast("exp.Expr", _running().parsed(text))

    def parsed_all(self, text: str) -> list[tuple[str, exp.Expr]]:
        """The statements of a text, each with its own."""
        return cast("list[tuple[str, exp.Expr]]", _running().parsed_all(text))

    def query(self, text: str, *, limit: int | None, skip: int = 0) -> Answer:
        """Run a statement that changes nothing; others are refused."""
        self.may_write = False
        try:
            return cast(Answer, _running().asked(self, text, limit, skip))
        finally:
            self.may_write = True

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

    def begin_session(
        self, *, reads_arrow: bool = False, names_files: bool = False, **names: str | None
    ) -> int:
        """A session of a connector; returns its number."""
        known = {name: value for name, value in names.items() if value is not None}
        with suppress(SqlError):
            if "schema" in known:
                self.schema_named((known.get("database", ""), known["schema"]))
            elif "database" in known:
                self.database_named(known["database"])
                known["schema"] = PUBLIC
        self._set_session()  # the tools' own is the first
        flags = {"reads_arrow": reads_arrow, "names_files": names_files}
        values = {"role": "SYSADMIN", "warehouse": "COMPUTE_WH", **flags, **known}
        return self._insert(SqlSession, values)

    @contextmanager
    def in_session(self, number: int) -> Iterator[SqlSession]:
        """Names mean for a while what they mean in another session, which has begun."""
        found = self.session.get(SqlSession, number)
        if found is None:
            gone = "Session no longer exists.  New login required to access the service."
            raise SqlError(390111, "08001", gone)
        self.session_id = number
        try:
            yield found
        finally:
            del self.session_id

    def execute_text(self, text: str) -> None:
        self.execute(text)

    def writes(self, text: str) -> bool:
        """True if a statement may change anything."""
        running = _running()
        return bool(running.writes(running.parsed(text)))

    def append_insight(self, insight: str) -> None:
        """An entry at the end of the memo."""
        if not insight.strip():
            raise Invalid("The insight is empty.")
        self.session.execute(insert(Insight).values(text=insight, at=self.stamp()))

    def insights(self) -> Sequence[Row]:
        """The memo, from the first entry on."""
        return self.fetch(_INSIGHTS)


def _running() -> ModuleType:
    """The module that runs statements; it takes libraries that are an extra, and a third of a second."""
    try:
        running = import_module("mesocosm.servers.snowflake.store.execution")
    except ImportError as error:
        if error.name and error.name.startswith("mesocosm"):
            raise
        raise MissingExtra("SQL of a warehouse", "warehouses") from None
    return running
