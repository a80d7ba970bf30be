"""Sessions: what names mean in one, and its parameters, where the engine has one value of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from mesocosm.servers.snowflake.models import SqlSession
from mesocosm.servers.snowflake.store.identifiers import Part, Row
from mesocosm.services.queries.failures import SqlError

PUBLIC = "PUBLIC"
_SESSION = select(SqlSession.database, SqlSession.schema, SqlSession.role, SqlSession.warehouse).where(
    SqlSession.id == bindparam("id")
)
_HELD = {
    "AUTOCOMMIT": ("TRUE",),
    "BINARY_INPUT_FORMAT": ("HEX",),
    "DATE_INPUT_FORMAT": ("AUTO",),
    "DATE_OUTPUT_FORMAT": ("YYYY-MM-DD",),
    "DEFAULT_DDL_COLLATION": ("",),
    "DEFAULT_NULL_ORDERING": ("LAST",),
    "JSON_INDENT": ("0",),
    "QUOTED_IDENTIFIERS_IGNORE_CASE": ("FALSE",),
    "ROWS_PER_RESULTSET": ("0",),
    "SEARCH_PATH": ("$CURRENT, $PUBLIC",),
    "TIMESTAMP_DAY_IS_ALWAYS_24H": ("FALSE",),
    "TIMESTAMP_INPUT_FORMAT": ("AUTO",),
    "TIMESTAMP_LTZ_OUTPUT_FORMAT": ("",),
    "TIMESTAMP_NTZ_OUTPUT_FORMAT": ("YYYY-MM-DD HH24:MI:SS.FF3",),
    "TIMESTAMP_OUTPUT_FORMAT": ("YYYY-MM-DD HH24:MI:SS.FF3 TZHTZM",),
    "TIMESTAMP_TYPE_MAPPING": ("TIMESTAMP_NTZ",),
    "TIMESTAMP_TZ_OUTPUT_FORMAT": ("",),
    "TIMEZONE": ("UTC", "ETC/UTC"),
    "TIME_INPUT_FORMAT": ("AUTO",),
    "TIME_OUTPUT_FORMAT": ("HH24:MI:SS",),
    "TRANSACTION_ABORT_ON_ERROR": ("FALSE",),
    "TWO_DIGIT_CENTURY_START": ("1970",),
    "WEEK_OF_YEAR_POLICY": ("0",),
    "WEEK_START": ("0",),
}
"""Parameters that change what statements answer, each with the values that hold here."""
_IDLE = re.compile(
    r"(CLIENT|CORTEX|ENABLE|GEOGRAPHY|GEOMETRY|GO|HYBRID|JDBC|JS|ODBC|PYTHON|SNOWPARK|STATEMENT|XP)_\w+"
    r"|(LOG|METRIC|TRACE)_LEVEL|ABORT_DETACHED_QUERY|ACTIVE_PYTHON_PROFILER|AUTOCOMMIT_API_SUPPORTED"
    r"|AUTO_EVENT_LOGGING|BINARY_OUTPUT_FORMAT|CSV_TIMESTAMP_FORMAT|ERROR_ON_NONDETERMINISTIC_(MERGE|UPDATE)"
    r"|LOCK_TIMEOUT|MULTI_STATEMENT_COUNT|NOORDER_SEQUENCE_AS_DEFAULT|QUERY_TAG|READ_CONSISTENCY_MODE"
    r"|S3_STAGE_VPCE_DNS_NAME|STRICT_JSON_OUTPUT|SIMULATED_DATA_SHARING_CONSUMER|TRANSACTION_DEFAULT_ISOLATION_LEVEL"
    r"|UNSUPPORTED_DDL_ACTION|USE_CACHED_RESULT",
)
"""Parameters of clients, of time limits and of the like, that change no answer here."""


class Sessions(Part):
    """The session that statements are run in, and those that connectors have begun."""

    number = 1
    """The tools' own, unless a connector asks."""

    def current(self) -> Row:
        """The session's database, schema, role and warehouse."""
        rows = self.fetch(_SESSION, id=self.number)
        empty = {"database": None, "schema": None, "role": "SYSADMIN", "warehouse": "COMPUTE_WH"}
        return rows[0] if rows else empty

    def begin(self, *, reads_arrow: bool = False, names_files: bool = False, **names: str | None) -> int:
        """A session of a connector; returns its number."""
        known = {name: value for name, value in names.items() if value is not None}
        with suppress(SqlError):
            if "schema" in known:
                self.store.names.schema_named((known.get("database", ""), known["schema"]))
            elif "database" in known:
                self.store.names.database_named(known["database"])
                known["schema"] = PUBLIC
        self._set()  # the tools' own is the first
        flags = {"reads_arrow": reads_arrow, "names_files": names_files}
        values = {"role": "SYSADMIN", "warehouse": "COMPUTE_WH", **flags, **known}
        made = self.session.execute(insert(SqlSession).values(**values).returning(SqlSession.id))
        return int(made.scalar_one())

    @contextmanager
    def within(self, number: int) -> Iterator[SqlSession]:
        """Names mean for a while what they mean in another session, which has begun."""
        found = self.session.get(SqlSession, number)
        if found is None:
            gone = "Session no longer exists.  New login required to access the service."
            raise SqlError(390111, "08001", gone)
        self.number = number
        try:
            yield found
        finally:
            del self.number

    def use(self, database: str | None, schema: str | None) -> None:
        """The session's names with fewer parts are those of this database and schema."""
        self._set(database=database, schema=schema)

    def use_name(self, what: str, name: str) -> None:
        """The session's role or warehouse."""
        self._set(**{what: name})

    def _set(self, **values: Any) -> None:
        if self.session.get(SqlSession, self.number) is None:
            self.session.add(SqlSession(id=self.number, role="SYSADMIN", warehouse="COMPUTE_WH"))
            self.session.flush()
        if values:
            changed = update(SqlSession).where(SqlSession.id == self.number).values(**values)
            self.session.execute(changed)

    def set_statements(self, count: int) -> None:
        """Set the number of statements in a request of the session; 0 for any."""
        self._set(statements=count)

    def set_transaction(self, begun: bool) -> bool:
        """Note that a transaction begins or ends; whether there was one."""
        chosen = select(SqlSession.in_transaction).where(SqlSession.id == self.number)
        before = self.session.scalar(chosen)
        self._set(in_transaction=begun)
        return bool(before)

    def set_autocommit(self, on: bool) -> None:
        """Set the session's autocommit mode."""
        self._set(autocommit=on)

    def note_change(self, *, of_rows: bool) -> None:
        """Note that rows changed, which begins a transaction without autocommit; objects end one."""
        mine = update(SqlSession).where(SqlSession.id == self.number)
        if of_rows:
            mine = mine.where(~SqlSession.autocommit)
        self.session.execute(mine.values(in_transaction=of_rows))

    def set_parameter(self, name: str, value: str | None, *, at_login: bool = False) -> None:
        """Set a parameter; of what may be set, only how many statements a request has is taken notice of.

        Refuses a parameter that nobody knows, and a value that would have to change what is answered.

        Args:
            name: Of the parameter.
            value: ``None`` where it is unset.
            at_login: A login passes over what nobody knows: drivers put their own options there.
        """
        name = name.upper()
        held = _HELD.get(name)
        if held is None and not at_login and not _IDLE.fullmatch(name):
            said = f"SQL compilation error:\ninvalid property '{name[:100]}' for 'SESSION'"
            raise SqlError(1423, "22023", said)
        if name == "AUTOCOMMIT" and at_login:
            # Python's SQLAlchemy signs in so, always. What it then takes back is refused (``ROLLBACK``).
            self.set_autocommit(value is None or value.upper() == "TRUE")
        elif held is not None and value is not None and value.upper() not in held:
            raise SqlError(
                2, "0A000", f"Unsupported feature '{name} = {value[:100]}'. It is '{held[0]}' here."
            )
        if name == "MULTI_STATEMENT_COUNT":
            if value is not None and not (value.isdecimal() and len(value) < 10):
                said = f"SQL compilation error:\ninvalid value [{value[:100]}] for parameter '{name}'"
                raise SqlError(1008, "22023", said)
            self.set_statements(1 if value is None else int(value))
