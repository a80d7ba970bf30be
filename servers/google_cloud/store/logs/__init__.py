"""The rules of Cloud Logging."""

from mesocosm.servers.google_cloud.store.logs.buckets import LogBuckets
from mesocosm.servers.google_cloud.store.logs.entries import Entries, NewEntry
from mesocosm.servers.google_cloud.store.logs.sinks import Sinks
from mesocosm.servers.google_cloud.store.part import StorePart

__all__ = ["LogBuckets", "Logs", "NewEntry"]


class Logs(StorePart):
    """Log entries, and the buckets and sinks they go to."""

    @property
    def entries(self) -> Entries:
        """Operations on log entries."""
        return Entries(self.store)

    @property
    def buckets(self) -> LogBuckets:
        """Operations on log buckets."""
        return LogBuckets(self.store)

    @property
    def sinks(self) -> Sinks:
        """Operations on sinks."""
        return Sinks(self.store)
