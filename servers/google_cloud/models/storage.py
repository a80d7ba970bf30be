"""Buckets, objects with their generations, and uploads that come in pieces."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.google_cloud.models.declarative import Base


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
    """What was asked for when it began."""
    data: Mapped[bytes]
