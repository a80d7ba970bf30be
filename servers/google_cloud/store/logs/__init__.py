"""The rules of Cloud Logging."""

from mesocosm.servers.google_cloud.store.logs.buckets import LogBuckets
from mesocosm.servers.google_cloud.store.logs.entries import Entries, NewEntry
from mesocosm.servers.google_cloud.store.logs.sinks import Sinks
from mesocosm.servers.google_cloud.store.part import PartOf, StorePart

__all__ = ["LogBuckets", "Logs", "NewEntry"]


class Logs(StorePart):
    """Log entries, and the buckets and sinks they go to."""

    entries = PartOf(Entries)
    buckets = PartOf(LogBuckets)
    sinks = PartOf(Sinks)
