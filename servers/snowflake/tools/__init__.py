"""What an agent sees of the snowflake service."""

from __future__ import annotations

from mesocosm.errors import Invalid
from mesocosm.servers.snowflake.store import SnowflakeStore, missing, parts_of, written
from mesocosm.servers.snowflake.tools.rendering import MAX_ROWS, data_id, document
from mesocosm.services.queries.failures import compilation
from mesocosm.services.service import Service

server = Service(
    "snowflake",
    SnowflakeStore,
    instructions=(
        "A Snowflake account, spoken to in Snowflake SQL. read_query takes SELECT, WITH, SHOW and DESCRIBE, "
        "write_query everything that changes something. Names are DATABASE.SCHEMA.TABLE; unquoted names are "
        "upper-case. Results are YAML of at most 200 rows: aggregate, or page by LIMIT and OFFSET."
    ),
    extra="warehouses",
)


@server.reads
def list_databases(store: SnowflakeStore) -> str:
    """List the databases of the account."""
    return document([{"DATABASE_NAME": row["name"]} for row in store.information.databases()])


@server.reads
def list_schemas(store: SnowflakeStore, database: str) -> str:
    """List the schemas of a database.

    Args:
        database: Name of the database.
    """
    (name,) = _parts(database, 1, "a database")
    rows = [
        {"SCHEMA_NAME": "INFORMATION_SCHEMA"},
        *({"SCHEMA_NAME": row["name"]} for row in store.information.schemas(name)),
    ]
    return document(rows, database=name)


@server.reads
def list_tables(store: SnowflakeStore, database: str, schema: str) -> str:
    """List the tables and views of a schema, with their comments.

    Args:
        database: Name of the database.
        schema: Name of the schema.
    """
    (one,), (other,) = _parts(database, 1, "a database"), _parts(schema, 1, "a schema")
    store.names.schema_named((one, other))
    rows = [
        {
            "TABLE_CATALOG": one,
            "TABLE_SCHEMA": other,
            "TABLE_NAME": row["name"],
            "TABLE_TYPE": "VIEW" if row["kind"] == "VIEW" else "BASE TABLE",
            "COMMENT": row["comment"] or None,
        }
        for row in store.information.items(one, other)
    ]
    return document(rows, database=one, schema=other)


@server.reads
def describe_table(store: SnowflakeStore, table_name: str) -> str:
    """Describe the columns of a table or view, in their order: type, default, whether they may be NULL,
    comment.

    Args:
        table_name: Full name of the table, as DATABASE.SCHEMA.TABLE.
    """
    database, schema, table = _parts(table_name, 3, "a table, in the form 'DATABASE.SCHEMA.TABLE'")
    store.names.schema_named((database, schema))
    if store.names.item((database, schema, table)) is None:
        raise missing("Table", written(database, schema, table))
    rows = [
        {
            "COLUMN_NAME": row["name"],
            "COLUMN_DEFAULT": row["default"],
            "IS_NULLABLE": "NO" if row["required"] else "YES",
            "DATA_TYPE": row["type"],
            "COMMENT": row["comment"] or None,
        }
        for row in store.information.item_columns(database)
        if (row["schema"], row["item"]) == (schema, table)
    ]
    return document(rows, database=database, schema=schema, table=table)


def _parts(text: str, count: int, what: str) -> tuple[str, ...]:
    parts = parts_of(text)
    if len(parts) != count:
        raise Invalid(f"{text!r} does not name {what}: it has {len(parts)} parts.")
    return parts


@server.reads
def read_query(store: SnowflakeStore, query: str) -> str:
    """Run a query: SELECT, WITH, VALUES, SHOW or DESCRIBE. A long result is cut, and says how to go on.

    Args:
        query: One statement in Snowflake SQL.
    """
    return document(store.query(query, limit=MAX_ROWS))


@server.writes(destructive=True)
def write_query(store: SnowflakeStore, query: str) -> str:
    """Run a statement that changes something: INSERT, UPDATE, DELETE, MERGE, CREATE, ALTER, DROP, COMMENT,
    USE ...

    Args:
        query: One statement in Snowflake SQL.
    """
    tree = store.parsed(query)
    if not store.writes(query):
        raise Invalid("SELECT queries are not allowed for write_query: use read_query for them.")
    return _done(store, query, tree.key)


@server.writes
def create_table(store: SnowflakeStore, query: str) -> str:
    """Create a table with a CREATE TABLE statement.

    Args:
        query: The statement, in Snowflake SQL; the table is best named as DATABASE.SCHEMA.TABLE.
    """
    tree = store.parsed(query)
    if tree.key != "create" or str(tree.args.get("kind")).upper() != "TABLE":
        raise compilation(1003, "42000", "Only CREATE TABLE statements are allowed for create_table.")
    return _done(store, query, "Table created successfully.")


def _done(store: SnowflakeStore, query: str, what: str) -> str:
    answer = store.execute(query)
    if answer.affected is not None:
        counts = ", ".join(
            f"{one.name.removeprefix('number of ')}: {value}"
            for one, value in zip(answer.fields, answer.rows[0], strict=True)
        )
        said = f"Query executed successfully. {answer.affected} rows affected ({counts})."
    else:
        said = f"Query executed successfully. {answer.message}"
    return f"{said} data_id = {data_id(query, said)}"


@server.writes
def append_insight(store: SnowflakeStore, insight: str) -> str:
    """Add an insight about the data to the memo of insights.

    Args:
        insight: What was found out.
    """
    store.append_insight(insight)
    return "Insight added to memo"
