"""Tools for Cloud Logging."""

from __future__ import annotations

from typing import Any

import orjson

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.logs import NewEntry
from mesocosm.servers.google_cloud.tools.service import PageToken, next_page, server

_CHARACTERS = 60_000
"""Of the payloads of a page."""
_FURTHER = ("labels", "httpRequest", "operation", "trace")


@server.writes
def logging_write_log(store: GoogleCloudStore, log_name: str, message: str, severity: str = "INFO") -> str:
    """Write an entry to a log, which is made with its first entry.

    Args:
        log_name: The log, such as app-events.
        message: Its text; the text of a JSON object becomes the entry's jsonPayload.
        severity: DEFAULT, DEBUG, INFO, NOTICE, WARNING, ERROR, CRITICAL, ALERT or EMERGENCY.
    """
    level = severity.upper()
    store.logs.entries.write([NewEntry(log_name, _payload(message), level)])
    return f"Successfully wrote log entry to '{log_name}' with severity '{level}'"


@server.reads(long=True)
def logging_read_logs(
    store: GoogleCloudStore, log_filter: str = "", max_entries: int = 50, page_token: PageToken = ""
) -> str:
    """Read log entries, the newest first.

    Args:
        log_filter: In the Logging query language, such as severity>=ERROR AND logName:"app" AND
            timestamp>="2025-01-15T00:00:00Z" AND jsonPayload.user="ada"; all entries if empty.
        max_entries: Entries of a page, 1 to 1000.
    """
    page = store.logs.entries.list_entries(
        log_filter, limit=max_entries, token=page_token, characters=_CHARACTERS
    )
    shown = [_shown(entry) for entry in page.items]
    return "\n\n".join([f"Found {len(shown)} log entries:", *shown]) + next_page(page.next_token)


@server.reads
def logging_list_logs(store: GoogleCloudStore, max_results: int = 100, page_token: PageToken = "") -> str:
    """List the logs that have entries.

    Args:
        max_results: Logs of a page, 1 to 1000.
    """
    logs, token = store.logs.entries.logs(max_results, page_token)
    return "\n".join([f"Found {len(logs)} logs:", *(f"- {log}" for log in logs)]) + next_page(token)


@server.writes(destructive=True)
def logging_delete_log(store: GoogleCloudStore, log_name: str) -> str:
    """Delete a log with all its entries.

    Args:
        log_name: The log.
    """
    count = store.logs.entries.delete_log(log_name)
    return f"Successfully deleted log '{log_name}' ({count} entries)"


@server.writes
def logging_create_log_bucket(
    store: GoogleCloudStore, bucket_id: str, location: str = "global", retention_days: int = 30
) -> str:
    """Create a log bucket, which holds the entries that a sink sends to it.

    Args:
        bucket_id: Its id.
        location: global, us, eu or a region.
        retention_days: How long entries are kept, 1 to 3650 days.
    """
    bucket = store.logs.buckets.create(bucket_id, location, retention_days)
    return f"Successfully created log bucket '{bucket.id}' with {bucket.retention_days} days retention"


@server.reads
def logging_list_log_buckets(
    store: GoogleCloudStore, max_results: int = 100, page_token: PageToken = ""
) -> str:
    """List the log buckets with location, retention and whether they are locked.

    Args:
        max_results: Buckets of a page, 1 to 1000.
    """
    found, token = store.logs.buckets.list_buckets(max_results, page_token)
    shown = [
        f"- {one.id}\n  Location: {one.location}\n  Retention: {one.retention_days} days\n"
        f"  State: ACTIVE\n  Locked: {one.locked}"
        for one in found
    ]
    return "\n\n".join([f"Found {len(shown)} log buckets:", *shown]) + next_page(token)


@server.writes
def logging_create_log_sink(
    store: GoogleCloudStore, sink_name: str, destination: str, log_filter: str = ""
) -> str:
    """Create a sink, which sends every entry that is written from now on and matches to another place.

    Args:
        sink_name: Its name.
        destination: storage.googleapis.com/BUCKET, bigquery.googleapis.com/projects/PROJECT/datasets/DATASET,
            or logging.googleapis.com/projects/PROJECT/locations/LOCATION/buckets/BUCKET.
        log_filter: Which entries, in the Logging query language; all if empty.
    """
    sink = store.logs.sinks.create(sink_name, destination, log_filter)
    return (
        f"Successfully created log sink '{sink.name}'\nDestination: {sink.destination}\n"
        f"Writer Identity: {sink.writer_identity}"
    )


@server.reads
def logging_list_log_sinks(
    store: GoogleCloudStore, max_results: int = 100, page_token: PageToken = ""
) -> str:
    """List the sinks with destination and filter.

    Args:
        max_results: Sinks of a page, 1 to 1000.
    """
    found, token = store.logs.sinks.list_sinks(max_results, page_token)
    shown = [
        f"- {one.name}\n  Destination: {one.destination}\n  Filter: {one.filter}\n  Disabled: {one.disabled}"
        for one in found
    ]
    return "\n\n".join([f"Found {len(shown)} log sinks:", *shown]) + next_page(token)


@server.writes(destructive=True)
def logging_delete_log_sink(store: GoogleCloudStore, sink_name: str) -> str:
    """Delete a sink; what it has sent stays where it is.

    Args:
        sink_name: Its name.
    """
    store.logs.sinks.delete(sink_name)
    return f"Successfully deleted log sink '{sink_name}'"


def _payload(message: str) -> str | dict[str, Any]:
    if message.lstrip().startswith("{"):
        try:
            said = orjson.loads(message)
        except orjson.JSONDecodeError:
            return message
        if isinstance(said, dict):
            return said
    return message


def _shown(entry: dict[str, Any]) -> str:
    log = entry["logName"].rpartition("/")[2].replace("%2F", "/")
    payload = entry.get("textPayload")
    if payload is None:
        payload = orjson.dumps(entry.get("jsonPayload", {})).decode()
    lines = [f"[{entry['timestamp']}] {entry['severity']} - {log}:", f"  {payload}"]
    resource = entry["resource"]
    more: dict[str, Any] = {name: entry[name] for name in _FURTHER if name in entry}
    if resource["type"] != "global":
        more = {"resource": resource, **more}
    return "\n".join([*lines, *([f"  {orjson.dumps(more).decode()}"] if more else [])])
