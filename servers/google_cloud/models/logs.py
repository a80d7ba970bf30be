"""Log entries, the buckets that hold them, and the sinks that send them on."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, ForeignKey, Index, UniqueConstraint, event, insert
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.google_cloud.models.declarative import Base


class LogEntry(Base):
    __tablename__ = "log_entries"
    __table_args__ = (
        Index("log_entries_by_time", "timestamp", "number"),
        Index("log_entries_by_log", "log", "timestamp"),
        UniqueConstraint("log", "timestamp", "insert_id"),
        {"sqlite_autoincrement": True},
    )

    number: Mapped[int] = mapped_column(primary_key=True)
    log: Mapped[str]
    """The log's id, as ``syslog`` in ``projects/p/logs/syslog``; not encoded."""
    insert_id: Mapped[str]
    timestamp: Mapped[str]
    received: Mapped[str]
    severity: Mapped[int]
    """0 (DEFAULT), 100 (DEBUG), ... 800 (EMERGENCY)."""
    resource_type: Mapped[str]
    resource_labels: Mapped[dict[str, Any]]
    labels: Mapped[dict[str, Any]]
    text: Mapped[str | None]
    """Its payload, where that is a text."""
    data: Mapped[dict[str, Any] | None]
    """Its payload, where that is an object."""
    details: Mapped[dict[str, Any]]
    """Further fields as the API has them: ``httpRequest``, ``operation``, ``trace``, ``spanId`` ..."""


class LogBucket(Base):
    """Bucket of log entries."""

    __tablename__ = "log_buckets"
    __table_args__ = (UniqueConstraint("location", "id"), {"sqlite_autoincrement": True})

    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str]
    location: Mapped[str]
    retention_days: Mapped[int]
    description: Mapped[str] = mapped_column(default="")
    locked: Mapped[bool] = mapped_column(default=False)
    created: Mapped[str]
    updated: Mapped[str]


class BucketEntry(Base):
    """An entry that a sink put into a bucket besides ``_Default``, which all entries are in."""

    __tablename__ = "bucket_entries"
    __table_args__ = ({"sqlite_with_rowid": False},)

    bucket: Mapped[int] = mapped_column(ForeignKey("log_buckets.number"), primary_key=True)
    entry: Mapped[int] = mapped_column(ForeignKey("log_entries.number", ondelete="CASCADE"), primary_key=True)


class LogSink(Base):
    """Sink that forwards entries as they are written."""

    __tablename__ = "log_sinks"
    __table_args__ = ({"sqlite_autoincrement": True},)

    number: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    destination: Mapped[str]
    filter: Mapped[str] = mapped_column(default="")
    description: Mapped[str] = mapped_column(default="")
    disabled: Mapped[bool] = mapped_column(default=False)
    partitioned: Mapped[bool] = mapped_column(default=False)
    """Into BigQuery: one table partitioned by day, in place of a table a day."""
    writer_identity: Mapped[str]
    created: Mapped[str]
    updated: Mapped[str]


@event.listens_for(LogBucket.__table__, "after_create")
def _first(table: Any, connection: Connection, **_: Any) -> None:
    for name, days, about in (
        ("_Default", 30, "Default bucket"),
        ("_Required", 400, "Audit bucket"),
    ):
        connection.execute(
            insert(LogBucket).values(
                id=name,
                location="global",
                retention_days=days,
                description=about,
                locked=name == "_Required",
                created="",
                updated="",
            )
        )
