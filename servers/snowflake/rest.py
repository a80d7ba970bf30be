"""The protocol of Snowflake's connectors: sessions, and statements whose results are JSON.

A client signs in with the episode's id as its password; see ``rooted.py`` for how its requests
come here. Each connection has a session of its own, with a current database and schema.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import orjson

from mesocosm.doors.request import Request
from mesocosm.doors.rest import Api, Route
from mesocosm.errors import Invalid, NotFound, Refusal, Temporary
from mesocosm.servers.snowflake import uploads
from mesocosm.servers.snowflake.store import Answer, SnowflakeStore, parts_of
from mesocosm.servers.snowflake.store.answers import as_json
from mesocosm.services.queries.catalogue import ResultField
from mesocosm.services.queries.failures import SqlError
from mesocosm.services.service import Reply

if TYPE_CHECKING:
    from sqlglot import exp

MAX_ROWS = 100_000
"""Rows of one result: they come in one answer."""
_EPOCH = date(1970, 1, 1)
_KINDS = {"insert": 12544, "update": 12800, "delete": 13056, "merge": 13312, "truncatetable": 24576}
_STATES = {"000603": "XX000", "000630": "57014"}
"""SQLSTATEs of what goes wrong with a statement on purpose; what is wrong with a session has none."""
_SELECT, _DEFINES, _SEVERAL = 4096, 24576, 40960
"""Numbers of the kinds of statements, from which clients know what the rows of a result are."""


class _Snowflake(Api):
    """An API whose errors are answers of status 200."""

    def refusal(self, refusal: Refusal) -> Reply:
        if isinstance(refusal, Temporary):
            return self._disturbed(refusal)
        number = refusal.number if isinstance(refusal, SqlError) else 1000
        state = refusal.state if isinstance(refusal, SqlError) else "22000"
        text = refusal.text if isinstance(refusal, SqlError) else refusal.message
        data = {"internalError": False, "errorCode": f"{number:06d}", "sqlState": state, "queryId": "0"}
        return _said(data, code=f"{number:06d}", message=text, success=False)

    def _disturbed(self, refusal: Temporary) -> Reply:
        if refusal.http_status != 200:
            return super().refusal(refusal)
        state = _STATES.get(refusal.code or "")
        data = {"errorCode": refusal.code, "sqlState": state, "queryId": "0"} if state else None
        return _said(data, code=refusal.code, message=refusal.message, success=False)

    def _answer(self, store: Any, route: Route, bound: dict[str, Any]) -> Reply:
        # The messages carry much that only the vendor takes notice of.
        if not route.wants_request:
            del bound["request"]
        return self._reply(route.function(store, **bound), route, bound.get("request", _NOTHING))


_NOTHING = Request("POST", "/", "", {}, b"", "")


def _authenticate(request: Request, headers: Mapping[str, str], token: str) -> bool:
    if request.path.startswith("/stage/"):
        given = dict(request.pairs).get("access_token")
        return token in (given, headers.get("authorization", "").removeprefix("Bearer "))
    return headers.get("authorization") == f'Snowflake Token="{token}"'


def _error(status: int, message: str, code: str | None) -> dict[str, Any]:
    return {"data": None, "code": code or "390103", "message": message, "success": False, "headers": None}


api = _Snowflake(
    "snowflake",
    authenticate=_authenticate,
    credentials=("access_token",),
    error=_error,
    challenge="Snowflake",
)
operations = api.operations


def _said(data: Any, *, code: str | None = None, message: str | None = None, success: bool = True) -> Reply:
    body = {"data": data, "code": code, "message": message, "success": success}
    return Reply(orjson.dumps(body))


@api.post("/session/v1/login-request")
def sign_in(store: SnowflakeStore, request: Request) -> Reply:
    """Begin a session."""
    asked, said = dict(request.pairs), _message(request)
    parameters = said.get("SESSION_PARAMETERS") or {}
    if not isinstance(parameters, dict):
        raise Invalid("The request's SESSION_PARAMETERS are no object.")
    client, version = (str(said.get(f"CLIENT_APP_{name}", "")) for name in ("ID", "VERSION"))
    number = store.sessions.begin(
        reads_arrow=client in ("PythonConnector", "Go"),
        names_files=client == "PythonConnector" and version.split(".")[0] not in ("1", "2", "3", "4"),
        database=_name(asked.get("databaseName")),
        schema=_name(asked.get("schemaName")),
        role=_name(asked.get("roleName")),
        warehouse=_name(asked.get("warehouse")),
    )
    with store.sessions.within(number):
        for name, value in parameters.items():
            store.sessions.set_parameter(name, None if value is None else str(value), at_login=True)
    episode = request.base.rpartition("/e/")[2].partition("/")[0]
    token = f"{episode}.{number}"
    return _said(
        {
            "token": token,
            "masterToken": token,
            "validityInSeconds": 3600,
            "masterValidityInSeconds": 14400,
            "displayUserName": "AGENT",
            "serverVersion": "9.30.0",
            "firstLogin": False,
            "healthCheckInterval": 45,
            "sessionId": number,
            "parameters": _PARAMETERS,
            "sessionInfo": _session(store, number),
        }
    )


_PARAMETERS = [
    {"name": "AUTOCOMMIT", "value": True},
    {"name": "TIMEZONE", "value": "Etc/UTC"},
    {"name": "CLIENT_SESSION_KEEP_ALIVE", "value": False},
    {"name": "CLIENT_TELEMETRY_ENABLED", "value": False},
    {"name": "CLIENT_STAGE_ARRAY_BINDING_THRESHOLD", "value": 0},
]


def _name(given: str | None) -> str | None:
    return parts_of(given)[-1] if given else None


def _session(store: SnowflakeStore, number: int) -> dict[str, Any]:
    with store.sessions.within(number):
        current = store.sessions.current()
    return {f"{name}Name": current[name] for name in ("database", "schema", "warehouse", "role")}


@api.post("/{session}/session", writes=False)
def leave(store: SnowflakeStore, session: int) -> Reply:
    """End a session; nothing has to be done."""
    return _said(None)


@api.post("/{session}/session/heartbeat", writes=False)
def heartbeat(store: SnowflakeStore, session: int) -> Reply:
    """A session goes on."""
    return _said(None)


@api.post("/{session}/session/token-request", writes=False)
def renew(store: SnowflakeStore, request: Request, session: int) -> Reply:
    """Another token for a session that has expired: it opens what the former did."""
    episode = request.base.rpartition("/e/")[2].partition("/")[0]
    token = f"{episode}.{session}"
    return _said(
        {
            "sessionToken": token,
            "validityInSecondsST": 3600,
            "masterToken": token,
            "validityInSecondsMT": 14400,
            "sessionId": session,
        }
    )


@api.post("/{session}/telemetry/send", writes=False)
def telemetry(store: SnowflakeStore, session: int) -> Reply:
    """Accept and discard a client's telemetry."""
    return _said("Log Received")


@api.post("/{session}/queries/v1/abort-request", writes=False)
def abort(store: SnowflakeStore, session: int) -> Reply:
    """Abort a statement: a no-op, as statements are answered immediately."""
    return _said(None)


@api.post("/{session}/queries/v1/query-request")
def run(store: SnowflakeStore, request: Request, session: int) -> Reply:
    """Run a statement, or as many as the client announces."""
    asked = _message(request)
    text, said = asked.get("sqlText"), asked.get("parameters") or {}
    if not isinstance(text, str):
        raise Invalid("The request has no sqlText.")
    bindings = asked.get("bindings") or {}
    if not isinstance(bindings, dict) or not isinstance(said, dict):
        raise Invalid("The request's bindings or parameters are no object.")
    with store.sessions.within(session) as own:
        statements = store.parsed_all(text)
        wanted = said.get("MULTI_STATEMENT_COUNT", own.statements)
        if wanted not in (0, "0") and str(wanted) != str(len(statements)):
            counts = f"Actual statement count {len(statements)} did not match the desired statement count"
            raise SqlError(8, "0A000", f"{counts} {wanted}.")
        id_ = f"{store.world.journal.last:08d}-0000-0000-0000-{session:012d}"
        if len(statements) > 1:
            return _several(store, statements, id_)
        tree = statements[0][1]
        if tree.key == "put":
            return _said(uploads.told(store, own, tree, bindings, request.base, id_))
        key = tree.key
        described, places = bool(asked.get("describeOnly")), len(bindings)
        if described:
            answer, places = store.describe_tree(text, tree)
        else:
            answer = store.run_tree(text, tree, bindings, limit=MAX_ROWS)
            store.results.keep(id_, answer, _kind(answer, key))
        wants = str(said.get("PYTHON_CONNECTOR_QUERY_RESULT_FORMAT", "ARROW" if own.reads_arrow else "JSON"))
        arrow = wants.upper() == "ARROW" and answer.is_query and key not in ("show", "describe", "command")
        data = _data(store, answer, id_, _kind(answer, key), arrow=arrow and not described)
    if answer.more and not described:
        raise SqlError(100066, "57014", f"The result has more than {MAX_ROWS} rows: add LIMIT, or aggregate.")
    return _said({**data, "numberOfBinds": places, "arrayBindSupported": key == "insert"})


@api.get("/{session}/queries/{id}/result")
def result(store: SnowflakeStore, session: int, id: str) -> Reply:
    """Return the result of an earlier statement."""
    with store.sessions.within(session):
        answer, kind = store.results.find(id)
        return _said(_data(store, answer, id, kind, arrow=False))


@api.get("/{session}/monitoring/queries/{id}")
def status(store: SnowflakeStore, session: int, id: str) -> Reply:
    """Return the state of an earlier statement. All are finished when answered."""
    with store.sessions.within(session):
        store.results.find(id)
    about = {"id": id, "status": "SUCCESS", "state": "SUCCEEDED", "errorCode": None, "errorMessage": None}
    return _said({"queries": [about]})


@api.get("/stage/s{stage}/files/{path:path}")
def get_staged(store: SnowflakeStore, stage: int, path: str) -> Reply:
    """Return the metadata of a staged file."""
    return _as_bucket(lambda: uploads.known(store, stage, path))


@api.put("/stage/s{stage}/files/{path:path}", raw=True)
def put_staged(store: SnowflakeStore, request: Request, stage: int, path: str) -> Reply:
    """A file for a stage."""
    return _as_bucket(lambda: uploads.taken(store, request, stage, path))


def _as_bucket(do: Callable[[], Reply]) -> Reply:
    """Answer at a staged file's address, where refusals are HTTP errors."""
    try:
        return do()
    except (Invalid, NotFound) as refusal:
        return Reply(refusal.message.encode(), refusal.status, {}, "text/plain")


def _several(store: SnowflakeStore, statements: list[tuple[str, exp.Expr]], id_: str) -> Reply:
    """Run several statements; the client asks for their results one by one."""
    ids, kinds = [], []
    for number, (text, tree) in enumerate(statements, 1):
        key = tree.key
        answer = store.run_tree(text, tree, {}, limit=MAX_ROWS)
        ids.append(f"{id_[:9]}{number:04d}{id_[13:]}")
        kinds.append(str(_kind(answer, key)))
        store.results.keep(ids[-1], answer, _kind(answer, key))
    done = Answer(
        (ResultField("multiple statement execution", "VARCHAR"),),
        [("Multiple statements executed successfully.",)],
    )
    data = _data(store, done, id_, _SEVERAL, arrow=False)
    return _said({**data, "resultIds": ",".join(ids), "resultTypes": ",".join(kinds)})


def _data(store: SnowflakeStore, answer: Answer, id_: str, kind: int, *, arrow: bool) -> dict[str, Any]:
    """A result as the protocol has it."""
    current = store.sessions.current()
    if arrow:
        from mesocosm.servers.snowflake.arrow import encoded

        types = [_type(one.kind) for one in answer.fields]
        rows: dict[str, Any] = {"rowsetBase64": encoded(answer.fields, types, answer.rows)}
    else:
        rows = {
            "rowset": [
                [_value(value, one.kind) for value, one in zip(row, answer.fields, strict=True)]
                for row in answer.rows
            ]
        }
    return {
        "parameters": _PARAMETERS,
        "rowtype": [_row_type(one) for one in answer.fields],
        **rows,
        "total": len(answer.rows),
        "returned": len(answer.rows),
        "queryId": id_,
        "finalDatabaseName": current["database"],
        "finalSchemaName": current["schema"],
        "finalWarehouseName": current["warehouse"],
        "finalRoleName": current["role"],
        "numberOfBinds": 0,
        "arrayBindSupported": False,
        "statementTypeId": kind,
        "version": 1,
        "queryResultFormat": "arrow" if arrow else "json",
    }


def _message(request: Request) -> dict[str, Any]:
    """The message of a client."""
    try:
        asked = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        raise Invalid("The request is no JSON.") from None
    if not isinstance(asked, dict):
        raise Invalid("The request is no object.")
    return asked


def _kind(answer: Answer, key: str) -> int:
    return _SELECT if answer.is_query else _KINDS.get(key, _DEFINES)


def _row_type(field: ResultField) -> dict[str, Any]:
    kind, precision, scale = _type(field.kind)
    length = 16_777_216 if kind == "text" else None
    return {
        "name": field.name,
        "database": "",
        "schema": "",
        "table": "",
        "nullable": True,
        "type": kind,
        "precision": precision,
        "scale": scale,
        "length": length,
        "byteLength": length,
        "collation": None,
    }


_TYPES = {
    "BOOLEAN": "boolean",
    "DOUBLE": "real",
    "FLOAT": "real",
    "DATE": "date",
    "BLOB": "binary",
    "JSON": "variant",
}


def _type(kind: str) -> tuple[str, int | None, int | None]:
    """The type of a column, its precision and its scale."""
    if kind.startswith("DECIMAL"):
        precision, _, scale = kind.partition("(")[2].rstrip(")").partition(",")
        return "fixed", int(precision), int(scale)
    if kind.endswith("INT") or kind == "INTEGER":
        return "fixed", 38, 0
    if kind.startswith("TIMESTAMP"):
        return ("timestamp_ltz" if "ZONE" in kind or kind == "TIMESTAMPTZ" else "timestamp_ntz"), 0, 9
    if kind == "TIME":
        return "time", 0, 9
    if kind.endswith("]"):
        return "array", None, None
    if kind.startswith("STRUCT"):
        return "object", None, None
    return _TYPES.get(kind, "text"), None, None


def _value(value: Any, kind: str) -> str | None:
    """A value as the protocol writes it."""
    match value:
        case None:
            return None
        case bool():
            return "1" if value else "0"
        case datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=UTC)
            seconds = int((moment.replace(microsecond=0)).timestamp())
            return f"{seconds}.{moment.microsecond * 1000:09d}"
        case date():
            return str((value - _EPOCH).days)
        case time():
            seconds = value.hour * 3600 + value.minute * 60 + value.second
            return f"{seconds}.{value.microsecond * 1000:09d}"
        case bytes():
            return value.hex().upper()
        case Decimal():
            return f"{value:f}"
        case str() if kind.startswith(("TIMESTAMP", "DATE")):  # of SHOW, or what Python has no value for
            try:
                return _value(datetime.fromisoformat(value.replace(" +0000", "+00:00")), kind)
            except ValueError:
                what = kind.partition(" ")[0].capitalize()
                raise SqlError(100035, "22007", f"{what} '{value[:50]}' is not recognized") from None
        case str() if kind == "TIME":
            return _value(time.fromisoformat(value), kind)
        case str() if kind == "BLOB":
            return value.replace("\\x", "")
        case list() | dict():
            return as_json(value, str)
    return str(value)
