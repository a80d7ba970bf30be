"""Tables of the google_cloud service.

Times are UTC text. Of storage, compute and BigQuery whole seconds (``2025-01-15T09:00:00Z``); of log entries
nanoseconds (``2025-01-15T09:00:00.000000000Z``): fixed width, so text order is time order. Ids are counters.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import JSON, Connection, ForeignKey, Index, Text, UniqueConstraint, event, insert, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from mesocosm.services.queries.tables import attach_contents


class Base(DeclarativeBase):
    """The tables of ``google_cloud.db``."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text,
        list[Any]: JSON(none_as_null=True),
        dict[str, Any]: JSON(none_as_null=True),
    }


DEFAULT_PROJECT = "local-project"


class Project(Base):
    """The one project: a single row."""

    __tablename__ = "projects"

    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(unique=True)
    last_generation: Mapped[int] = mapped_column(default=0)
    """Of the objects in storage; each new one is larger, and about the microseconds of its time."""
    last_job: Mapped[int] = mapped_column(default=0)
    """Number of jobs BigQuery has run."""

    @property
    def service_account(self) -> str:
        """The account for which requests are made, and URLs are signed."""
        return f"agent@{self.id}.iam.gserviceaccount.com"


@event.listens_for(Project.__table__, "after_create")
def _first(table: Any, connection: Connection, **_: Any) -> None:
    connection.execute(
        insert(Project).values(number=483920175364, id=DEFAULT_PROJECT, last_generation=0, last_job=0)
    )


class Bucket(Base):
    __tablename__ = "buckets"
    __table_args__ = ({"sqlite_autoincrement": True},)

    number: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    location: Mapped[str]
    storage_class: Mapped[str]
    versioning: Mapped[bool] = mapped_column(default=False)
    labels: Mapped[dict[str, Any]]
    lifecycle: Mapped[list[Any]]
    """Rules as the JSON API has them: ``{"action": {...}, "condition": {...}}``."""
    cors: Mapped[list[Any]] = mapped_column(default=list)
    """Cross-origin rules, as in the JSON API."""
    bindings: Mapped[list[Any] | None]
    """Of its IAM policy; ``None`` for those of a new bucket."""
    metageneration: Mapped[int] = mapped_column(default=1)
    created: Mapped[str]
    updated: Mapped[str]
    swept: Mapped[str]
    """The day for which the lifecycle was last applied."""


class Content(Base):
    """Bytes, shared by all objects that hold the same."""

    __tablename__ = "blobs"
    __table_args__ = ({"sqlite_autoincrement": True},)

    number: Mapped[int] = mapped_column(primary_key=True)
    sha256: Mapped[str] = mapped_column(unique=True)
    data: Mapped[bytes]


class StorageObject(Base):
    """One generation of an object; the live one, or an earlier one where the bucket keeps versions."""

    __tablename__ = "objects"
    __table_args__ = (
        UniqueConstraint("bucket", "name", "generation"),
        Index("live_objects", "bucket", "name", unique=True, sqlite_where=text("live")),
        {"sqlite_autoincrement": True},
    )

    number: Mapped[int] = mapped_column(primary_key=True)
    bucket: Mapped[int] = mapped_column(ForeignKey("buckets.number"))
    name: Mapped[str]
    generation: Mapped[int]
    metageneration: Mapped[int] = mapped_column(default=1)
    live: Mapped[bool] = mapped_column(default=True)
    content: Mapped[int] = mapped_column(ForeignKey("blobs.number"), index=True)
    size: Mapped[int]
    md5: Mapped[str]
    """As the API shows it: base64."""
    crc32c: Mapped[str]
    content_type: Mapped[str | None]
    content_encoding: Mapped[str | None]
    content_disposition: Mapped[str | None]
    content_language: Mapped[str | None]
    cache_control: Mapped[str | None]
    storage_class: Mapped[str]
    custom: Mapped[dict[str, Any]]
    """Metadata that clients keep with an object: texts by name."""
    created: Mapped[str]
    updated: Mapped[str]
    deleted: Mapped[str | None]
    """Of a generation that is no longer live: since when."""


class Upload(Base):
    """An upload that comes in pieces."""

    __tablename__ = "uploads"
    __table_args__ = ({"sqlite_autoincrement": True},)

    number: Mapped[int] = mapped_column(primary_key=True)
    purpose: Mapped[str]
    """Purpose: ``object``, or ``job`` (data to be loaded into a table)."""
    request: Mapped[dict[str, Any]]
    """The settings that were asked for when it began."""
    data: Mapped[bytes]


class Instance(Base):
    """A virtual machine. What is under way shows until its time: see ``transition``."""

    __tablename__ = "instances"
    __table_args__ = (UniqueConstraint("zone", "name"), {"sqlite_autoincrement": True})

    number: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    zone: Mapped[str]
    machine_type: Mapped[str]
    status: Mapped[str]
    """``RUNNING``, ``TERMINATED``, or ``DELETED``: once nothing is under way any more."""
    transition: Mapped[str | None]
    """State until ``settled``: ``PROVISIONING``, ``STAGING`` or ``STOPPING``."""
    settled: Mapped[str]
    """From when on it is what ``status`` says."""
    image: Mapped[str]
    disk_gb: Mapped[int]
    internal_ip: Mapped[str]
    external_ip: Mapped[str | None]
    labels: Mapped[dict[str, Any]]
    created: Mapped[str]
    last_start: Mapped[str | None]
    last_stop: Mapped[str | None]


class ComputeOperation(Base):
    """A change of an instance that takes a while."""

    __tablename__ = "compute_operations"
    __table_args__ = ({"sqlite_autoincrement": True},)

    number: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    zone: Mapped[str]
    kind: Mapped[str]
    """``insert``, ``delete``, ``start``, ``stop`` or ``reset``."""
    target: Mapped[str]
    """Name of the instance."""
    started: Mapped[str]
    ends: Mapped[str]
    """Time of completion, past or future."""


class Dataset(Base):
    __tablename__ = "datasets"
    __table_args__ = ({"sqlite_autoincrement": True},)

    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(unique=True)
    location: Mapped[str]
    friendly_name: Mapped[str | None]
    description: Mapped[str | None]
    labels: Mapped[dict[str, Any]]
    default_expiration: Mapped[int | None]
    """Milliseconds that a table lasts that does not say."""
    created: Mapped[str]
    modified: Mapped[str]


class WarehouseTable(Base):
    """A table or a view; ``t_<number>`` has the rows of a table."""

    __tablename__ = "tables"
    __table_args__ = (UniqueConstraint("dataset", "id"), {"sqlite_autoincrement": True})

    number: Mapped[int] = mapped_column(primary_key=True)
    dataset: Mapped[int] = mapped_column(ForeignKey("datasets.number"))
    id: Mapped[str]
    kind: Mapped[str]
    """``TABLE`` or ``VIEW``."""
    fields: Mapped[list[Any]]
    """The schema's fields as the API has them: ``name``, ``type``, ``mode``, ``fields`` ..."""
    columns: Mapped[list[Any]]
    """Of a table: what its columns are called in ``t_<number>``, in the order of the fields."""
    query: Mapped[str | None]
    """Of a view."""
    friendly_name: Mapped[str | None]
    description: Mapped[str | None]
    labels: Mapped[dict[str, Any]]
    partitioning: Mapped[dict[str, Any] | None]
    """``{"type": "DAY", "field": ...}`` or ``{"range": ...}``; of a table that is partitioned."""
    clustering: Mapped[list[Any]]
    requires_filter: Mapped[bool] = mapped_column(default=False)
    expires: Mapped[str | None]
    created: Mapped[str]
    modified: Mapped[str]


class Job(Base):
    """A finished job."""

    __tablename__ = "jobs"
    __table_args__ = (Index("jobs_by_id", "id", unique=True), {"sqlite_autoincrement": True})

    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str]
    kind: Mapped[str]
    """``QUERY``, ``LOAD``, ``EXTRACT`` or ``COPY``."""
    location: Mapped[str]
    configuration: Mapped[dict[str, Any]]
    """As the API has it."""
    statistics: Mapped[dict[str, Any]]
    fields: Mapped[list[Any]]
    """Schema of the result of a query."""
    total_rows: Mapped[int] = mapped_column(default=0)
    seen: Mapped[dict[str, Any]]
    """Of a query whose rows are not kept: the states of the tables that it read."""
    created: Mapped[str]


class JobRows(Base):
    """Rows of a query's result, some hundred in each."""

    __tablename__ = "job_rows"
    __table_args__ = ({"sqlite_with_rowid": False},)

    job: Mapped[int] = mapped_column(ForeignKey("jobs.number"), primary_key=True)
    start: Mapped[int] = mapped_column(primary_key=True)
    """Number of the first of them, from 0."""
    rows: Mapped[list[Any]]


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
def _first_entry(table: Any, connection: Connection, **_: Any) -> None:
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


attach_contents(Base.metadata)
