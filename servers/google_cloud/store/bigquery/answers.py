"""Result of a statement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mesocosm.servers.google_cloud.models import Job
from mesocosm.servers.google_cloud.store.bigquery.schema import Field
from mesocosm.services.queries.dml import Change


@dataclass
class Answer:
    """Result of a statement."""

    kind: str
    """``SELECT``, ``INSERT``, ``CREATE_TABLE`` ..."""
    fields: list[Field] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    """As ``values.shown`` makes their values."""
    total: int = 0
    """Rows of the whole result, of which ``rows`` may be a part."""
    changed: Change | None = None
    """Of a statement that changes rows."""
    target: str = ""
    """The thing that a statement made, changed or removed: ``dataset.table``."""
    bytes: int = 0
    """Number of bytes that it reads."""
    dry_run: bool = False
    alone: bool = True
    """True if no other statements were run with it."""
    seen: dict[str, str] = field(default_factory=dict)
    """The tables that a query read, with their states."""
    job: Job | None = None
