"""Parameters of a session: what of them may be set, where the engine has one value of each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mesocosm.services.queries.failures import SqlError

if TYPE_CHECKING:
    from mesocosm.servers.snowflake.store import SnowflakeStore

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


def set_parameter(store: SnowflakeStore, name: str, value: str | None, *, at_login: bool = False) -> None:
    """Set a parameter; of what may be set, only how many statements a request has is taken notice of.

    Refuses a parameter that nobody knows, and a value that would have to change what is answered.

    Args:
        store: In the session that is meant.
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
        store.set_autocommit(value is None or value.upper() == "TRUE")
    elif held is not None and value is not None and value.upper() not in held:
        raise SqlError(2, "0A000", f"Unsupported feature '{name} = {value[:100]}'. It is '{held[0]}' here.")
    if name == "MULTI_STATEMENT_COUNT":
        if value is not None and not (value.isdecimal() and len(value) < 10):
            said = f"SQL compilation error:\ninvalid value [{value[:100]}] for parameter '{name}'"
            raise SqlError(1008, "22023", said)
        store.set_statements(1 if value is None else int(value))
