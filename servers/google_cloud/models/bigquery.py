"""BigQuery's datasets, tables and jobs. The rows of a table lie in a table of their own, ``t_<number>``."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.google_cloud.models.declarative import Base


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
