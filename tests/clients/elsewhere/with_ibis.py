"""Twenty expressions of ibis on a Snowflake at HOST PORT, whose password is the third argument."""

import sys

import ibis

host, port, password = sys.argv[1:]
place = {"host": host, "port": int(port), "protocol": "http", "database": "SALES", "schema": "PUBLIC"}
con = ibis.snowflake.connect(account="any", user="me", password=password, create_object_udfs=False, **place)
assert con.list_tables() == ["ORDERS"]
t = con.table("ORDERS")
expressions = {
    "count": t.count(),
    "limit": t.limit(2),
    "filter": t.filter(t.AMOUNT > 10),
    "sum": t.agg(s=t.AMOUNT.sum(), m=t.AMOUNT.mean()),
    "mutate": t.mutate(y=t.AMOUNT * 2),
    "order": t.order_by(ibis.desc("ID")),
    "group": t.group_by("DAY").agg(n=t.count()),
    "upper": t.select(u=t.ID.upper()),
    "cases": t.mutate(c=ibis.cases((t.AMOUNT > 10, "big"), else_="small")),
    "window": t.mutate(r=ibis.row_number().over(order_by=t.ID)),
    "join": t.join(t.view(), "ID").count(),
    "distinct": t.select("DAY").distinct(),
    "cast": t.select(f=t.AMOUNT.cast("float64")),
    "null": t.filter(t.DAY.isnull()).count(),
    "like": t.filter(t.ID.like("A-%")).count(),
    "topk": t.ID.topk(2),
    "union": t.select("ID").union(t.select("ID")).count(),
    "round": t.select(r=t.AMOUNT.round(0)),
    "length": t.select(n=t.ID.length()),
    "year": t.select(y=t.DAY.year()),
}
found = {name: one.to_pandas() for name, one in expressions.items()}
assert [found[name] for name in ("count", "join", "null", "like", "union")] == [2, 2, 1, 2, 4]
assert list(found["order"]["ID"]) == ["A-2", "A-1"]
assert float(found["sum"]["s"][0]) == 12.5
print(len(found), "expressions")
