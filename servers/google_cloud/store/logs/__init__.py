"""The rules of Cloud Logging."""

from mesocosm.servers.google_cloud.store.logs.buckets import LogBuckets
from mesocosm.servers.google_cloud.store.logs.entries import Entries, NewEntry
from mesocosm.servers.google_cloud.store.logs.sinks import Sinks
from mesocosm.servers.google_cloud.store.part import Part

__all__ = ["LogBuckets", "Logs", "NewEntry"]


class Logs(Part):
    """Log entries, and the buckets and sinks they go to."""

    @property
    def entries(self) -> Entries:
        """What was written."""
        return Entries(self.store)

    @property
    def buckets(self) -> LogBuckets:
        """Where entries are kept."""
        return LogBuckets(self.store)

    @property
    def sinks(self) -> Sinks:
        """Where entries are sent on to."""
        return Sinks(self.store)
