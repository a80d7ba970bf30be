"""Sizes of tables, by BigQuery's documented sizes of types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import datetime

from mesocosm.servers.google_cloud.models import WarehouseTable
from mesocosm.servers.google_cloud.store.bigquery.tables import TableRead
from mesocosm.servers.google_cloud.store.part import StorePart
from mesocosm.services.queries.tables import quoted, table_name
from mesocosm.worlds.database import driver_connection

_FIXED = {"INT64": 8, "FLOAT64": 8, "BOOL": 1, "NUMERIC": 16, "BIGNUMERIC": 32, "INTERVAL": 16}
_FIXED |= dict.fromkeys(("DATE", "TIME", "DATETIME", "TIMESTAMP"), 8)
_FORMS = {"DAY": "%Y%m%d", "HOUR": "%Y%m%d%H", "MONTH": "%Y%m", "YEAR": "%Y"}


class Sizes(StorePart):
    """Bytes of tables: of texts two and their UTF-8, of numbers and times what the type takes."""

    def bytes(self, table: WarehouseTable | TableRead, names: Collection[str] | None = None) -> int:
        """Bytes of a table, or of some of its columns by their names in small letters."""
        if table.kind != "TABLE":
            return 0
        count, state = self.store.bigquery.tables.count(table), None
        total = 0
        for field, stored in zip(table.fields, table.columns, strict=True):
            if names is not None and field["name"].lower() not in names:
                continue
            size = _FIXED.get(field["type"]) if field["mode"] != "REPEATED" else None
            if size is not None:
                total += size * count
            else:
                state = state or self.store.bigquery.tables.rows.state(table.number)
                total += self._measured(state, table.number, stored)
        return total

    def partitions(self, table: WarehouseTable) -> Iterator[tuple[str, int]]:
        """The partitions of a table and how many rows each has; one without a name for the whole."""
        if table.kind != "TABLE":
            return
        parts = table.partitioning
        if parts is None:
            yield "", self.store.bigquery.tables.count(table)
            return
        place = [field["name"] for field in table.fields].index(parts["field"])
        column = quoted(table.columns[place])
        driver = driver_connection(self.session)
        counts: Counter[str] = Counter()
        for value, count in driver.execute(
            f"SELECT {column}, count(*) FROM {table_name(table.number)} GROUP BY 1"
        ):
            counts[_partition(parts, value)] += count
        yield from sorted(counts.items())

    def _measured(self, state: str, number: int, column: str) -> int:
        found = _kept.get((state, column))
        if found is None:
            sql = f"SELECT sum(length(CAST({quoted(column)} AS BLOB)) + 2) FROM {table_name(number)}"
            found = _kept[state, column] = driver_connection(self.session).execute(sql).fetchone()[0] or 0
            while len(_kept) > _MOST:
                del _kept[next(iter(_kept))]
        return found


_kept: dict[tuple[str, str], int] = {}
"""Sizes of columns by the state of their table, which says what rows it has."""
_MOST = 10_000


def _partition(parts: dict[str, object], value: object) -> str:
    if value is None:
        return "__NULL__"
    ranges = parts.get("range")
    if isinstance(ranges, dict):
        start, end, step = (int(ranges[key]) for key in ("start", "end", "interval"))
        number = int(str(value))
        return str(start + (number - start) // step * step) if start <= number < end else "__UNPARTITIONED__"
    return datetime.fromisoformat(str(value)).strftime(_FORMS[str(parts["type"])])
