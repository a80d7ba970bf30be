"""Tables that sinks of Cloud Logging fill: one a day for each log, or one for all days."""

from __future__ import annotations

import re
from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.store.bigquery.load_jobs import fields_of, merged
from mesocosm.servers.google_cloud.store.bigquery.schema import Field
from mesocosm.servers.google_cloud.store.part import StorePart

_COLUMNS: list[Field] = [
    {"name": "logName", "type": "STRING", "mode": "NULLABLE"},
    {"name": "textPayload", "type": "STRING", "mode": "NULLABLE"},
    {"name": "timestamp", "type": "TIMESTAMP", "mode": "NULLABLE"},
    {"name": "receiveTimestamp", "type": "TIMESTAMP", "mode": "NULLABLE"},
    {"name": "severity", "type": "STRING", "mode": "NULLABLE"},
    {"name": "insertId", "type": "STRING", "mode": "NULLABLE"},
]


class LogTables(StorePart):
    """Log entries as rows."""

    def add(self, dataset: str, entry: dict[str, Any], *, partitioned: bool) -> None:
        """Put an entry into the table of its log, which is made, and given columns, as needed."""
        log = re.sub(r"\W", "_", entry["logName"].rpartition("/")[2].replace("%2F", "/"))
        name = log if partitioned else f"{log}_{entry['timestamp'][:10].replace('-', '')}"
        row = _clean(entry)
        wanted = [_column(field) for field in fields_of(row)]
        datasets, tables = self.store.bigquery.datasets, self.store.bigquery.tables
        table = tables.find(datasets.dataset(dataset), name)
        if table is None:
            parts = {"type": "DAY", "field": "timestamp"} if partitioned else None
            table = tables.create(dataset, name, merged(_COLUMNS, wanted), partitioning=parts)
        elif table.kind != "TABLE":
            raise Invalid(f"{dataset}.{name} is a view: nothing can be put into it.", code="invalid")
        else:
            fields = merged(table.fields, wanted)
            if fields != table.fields:
                tables.update(table, {"fields": fields})
        tables.append(table, [row])


def _column(field: Field) -> Field:
    """As the product has it: numbers of payloads are FLOAT64."""
    if "fields" in field:
        return {**field, "fields": [_column(inner) for inner in field["fields"]]}
    known = next((one for one in _COLUMNS if one["name"] == field["name"]), None)
    kinds = {"INT64": "FLOAT64", "DATE": "STRING", "TIMESTAMP": "STRING"}
    return known or {**field, "type": kinds.get(field["type"], field["type"])}


def _clean(value: Any) -> Any:
    """Return an entry with names that are valid for columns."""
    if isinstance(value, dict):
        return {re.sub(r"\W", "_", re.sub(r"^(?=\d)", "_", name)): _clean(one) for name, one in value.items()}
    return [_clean(one) for one in value] if isinstance(value, list) else value
