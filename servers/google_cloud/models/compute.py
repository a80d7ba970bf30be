"""Virtual machines, and the operations that change them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.google_cloud.models.declarative import Base


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
