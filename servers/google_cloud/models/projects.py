"""The project that everything belongs to."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, event, insert
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.google_cloud.models.declarative import Base

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
