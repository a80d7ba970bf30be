"""A day's work of Snowpark on a Snowflake at HOST PORT, whose password is the third argument: what each case
gave, as one JSON document."""

import datetime as dt
import json
import sys

import pandas as pd
from snowflake.snowpark import Session, Window
from snowflake.snowpark import functions as F  # noqa: N812 - as everybody writes it
from snowflake.snowpark.types import IntegerType, StringType, StructField, StructType

host, port, password = sys.argv[1:]
place = {"host": host, "port": int(port), "protocol": "http", "database": "SALES", "schema": "PUBLIC"}
session = Session.builder.configs({"account": "any", "user": "me", "password": password, **place}).create()
orders = session.table("orders")
copied = session.table("copied")


def rows(frame):
    return [list(row) for row in frame.collect()]


def written(mode):
    orders.select("id", "amount").write.mode(mode).save_as_table("copied")
    return copied.count()


def merged():
    source = orders.select(F.col("ID").alias("KEY"))
    done = copied.merge(source, copied["ID"] == source["KEY"], [F.when_matched().update({"amount": 7})])
    return done.rows_updated


schema = StructType([StructField("a", IntegerType()), StructField("b", StringType())])
cases = {
    "a statement": lambda: rows(session.sql("select 1 a, 'x' b")),
    "a table": lambda: rows(orders.select("id", "amount").sort("id")),
    "a filter": lambda: orders.filter(F.col("AMOUNT") > 10).count(),
    "groups": lambda: rows(orders.group_by("DAY").agg(F.sum("AMOUNT"), F.count("*")).sort("DAY")),
    "a new column": lambda: rows(orders.with_column("Y", F.col("AMOUNT") * 2).select("Y").sort("Y")),
    "a join": lambda: orders.join(orders.select(F.col("ID").alias("K")), F.col("ID") == F.col("K")).count(),
    "a union": lambda: orders.select("id").union_all(orders.select("id")).count(),
    "distinct": lambda: orders.select("day").distinct().count(),
    "a window": lambda: rows(orders.select("id", F.row_number().over(Window.order_by("id"))).sort("id")),
    "a case": lambda: rows(
        orders.select(F.when(F.col("amount").is_null(), "n").otherwise("y").alias("c")).sort("c")
    ),
    "a schema": lambda: [str(field.datatype) for field in orders.schema.fields],
    "a frame of values": lambda: rows(
        session.create_dataframe([(1, "a", dt.date(2025, 1, 1)), (2, None, None)], schema=["a", "b", "c"])
    ),
    "a frame with a schema": lambda: rows(session.create_dataframe([[1, "a"]], schema=schema)),
    "a large frame": lambda: session.create_dataframe([(n, str(n)) for n in range(2000)], ["a", "b"]).count(),
    "a range": lambda: rows(session.range(3)),
    "a new table": lambda: written("overwrite"),
    "more rows": lambda: written("append"),
    "update": lambda: copied.update({"amount": 3}, F.col("ID") == "A-2").rows_updated,
    "delete": lambda: copied.delete(F.col("AMOUNT") == 3).rows_deleted,
    "merge": merged,
    "a view": lambda: [orders.select("id").create_or_replace_view("seen"), session.table("seen").count()][1],
    "a temporary view": lambda: [
        orders.select("id").create_or_replace_temp_view("kept"),
        session.table("kept").count(),
    ][1],
    "a cached result": lambda: orders.cache_result().count(),
    "an iterator": lambda: len(list(orders.to_local_iterator())),
    "to pandas": lambda: len(orders.to_pandas()),
    "from pandas": lambda: [
        session.write_pandas(pd.DataFrame({"A": [1, 2]}), "FRAMED", auto_create_table=True),
        session.table("FRAMED").count(),
    ][1],
    "described": lambda: len(orders.select("amount").describe().collect()),
    "the first row": lambda: orders.sort("id").first()["ID"],
    "flattened": lambda: rows(
        orders.join_table_function("flatten", orders["MORE"]["tags"]).select("id", "value")
    ),
    "without waiting": lambda: [
        list(row) for row in orders.select("id").sort("id").collect_nowait().result()
    ],
    "where it is": lambda: [session.get_current_database(), session.get_current_schema()],
    "a transaction": lambda: next(session.sql(one).collect()[0][0] for one in ("begin", "commit")),
    "a table goes": lambda: [copied.drop_table(), rows(session.sql("show tables like 'COPIED'"))][1],
}
told = {}
for name, run in cases.items():
    try:
        told[name] = run()
    except Exception as error:  # noqa: BLE001 - whatever the client says
        told[name] = {"failed": f"{type(error).__name__}: {error}"[:500]}
session.close()
print(json.dumps(told, default=str))
