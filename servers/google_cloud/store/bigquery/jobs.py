"""Jobs, with their configuration and result."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, insert, select

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.google_cloud.models import Job, JobRows
from mesocosm.servers.google_cloud.store.part import StorePart, moment, quoted
from mesocosm.worlds.database import driver_connection, may_write

KEPT_ROWS = 50_000
"""Rows of a result that are kept for clients that fetch them page by page."""
_CHUNK = 500
STATES = ("pending", "running", "done")


class Jobs(StorePart):
    """The jobs of the project. A job has run when it is there."""

    def job(self, id_: str) -> Job:
        """The job of that id, which may be given with the project and the location."""
        name = id_.rpartition(":")[2].rpartition(".")[2]
        found = self.session.scalars(select(Job).where(Job.id == name)).first()
        if found is None:
            raise NotFound(f"Not found: Job {self.project.id}:{id_[:200]}", code="notFound")
        return found

    def add(
        self,
        kind: str,
        configuration: Mapping[str, Any],
        statistics: Mapping[str, Any],
        *,
        id_: str | None = None,
        location: str = "US",
        fields: Sequence[Any] = (),
        total_rows: int = 0,
        seen: Mapping[str, Any] | None = None,
    ) -> Job:
        """A job that was done; its id is that of the client, or the next of the project.

        Where nothing may be written (a query that is asked to measure what it delivers), it is not kept.
        """
        job = Job(
            id=id_ or self._next_id(),
            kind=kind,
            location=location,
            configuration=dict(configuration),
            statistics=dict(statistics),
            fields=list(fields),
            total_rows=total_rows,
            seen=dict(seen or {}),
            created=moment(self.now),
        )
        if may_write(self.session):
            self.added(job)
        return job

    @property
    def anonymous_dataset(self) -> str:
        """The hidden dataset in which results lie that were put into no table."""
        return "_" + hashlib.sha1(self.project.id.encode(), usedforsecurity=False).hexdigest()

    def anonymous_table(self, job: Job) -> str:
        """The table of a job's result in it."""
        return f"anon{job.id.encode().hex()}"

    def by_anonymous(self, dataset: str, table: str) -> Job | None:
        """The job whose result an anonymous table is; ``None`` for other tables."""
        if dataset != self.anonymous_dataset:
            return None
        try:
            return self.job(bytes.fromhex(table.removeprefix("anon")).decode())
        except (ValueError, NotFound):
            raise NotFound(
                f"Not found: Table {self.project.id}:{dataset}.{table[:200]}", code="notFound"
            ) from None

    def check_id(self, id_: str | None) -> None:
        """Refuse an id that cannot be, or that another job has."""
        if id_ is None:
            return
        if not 1 <= len(id_) <= 1024 or not id_.replace("-", "").replace("_", "").isalnum():
            raise Invalid(f"Invalid job ID {quoted(id_)}.", code="invalid")
        if self.session.scalars(select(Job.number).where(Job.id == id_)).first() is not None:
            raise Conflict(f"Already Exists: Job {self.project.id}:{id_}", code="duplicate")

    def list_jobs(
        self, state: str = "", limit: int | None = None, token: str | None = None
    ) -> tuple[Sequence[Job], str | None]:
        """A page of the jobs, the latest first, and the token of the next."""
        wanted = {part.strip().lower() for part in state.split(",") if part.strip()}
        if not wanted <= set(STATES):
            raise Invalid(
                f"{quoted(state)} is not a valid state; there are {', '.join(STATES)}.", code="invalid"
            )
        if wanted and "done" not in wanted:
            return [], None
        return self.page_of(select(Job), Job.number, asked=limit, token=token, usual=50, falling=True)

    def delete(self, id_: str) -> None:
        """Forget a job and its result."""
        job = self.job(id_)
        self.session.execute(delete(JobRows).where(JobRows.job == job.number))
        self.removed(job)

    def keep_rows(self, job: Job, rows: Sequence[Any]) -> None:
        """Keep the rows of a result (lists of values as ``values.shown`` makes them)."""
        parts = [
            {"job": job.number, "start": start, "rows": list(rows[start : start + _CHUNK])}
            for start in range(0, len(rows), _CHUNK)
        ]
        if parts:
            self.session.execute(insert(JobRows), parts)

    def kept_rows(self, job: Job, start: int, limit: int) -> list[Any]:
        """Rows of a result that were kept."""
        chosen = select(JobRows).where(JobRows.job == job.number, JobRows.start > start - _CHUNK)
        found: list[Any] = []
        for part in self.session.scalars(chosen.order_by(JobRows.start)):
            if part.start >= start + limit:
                break
            found += part.rows[max(0, start - part.start) : start + limit - part.start]
        return found

    def _next_id(self) -> str:
        """The id of the project's next job; one that a client gave to a job of its own is left out."""
        driver = driver_connection(self.session)
        return next(id_ for id_ in self._ids() if not driver.execute(_TAKEN, (id_,)).fetchone())

    def _ids(self) -> Iterator[str]:
        """Ids that look like the product's, and follow from the count of jobs."""
        writes = may_write(self.session)
        if writes:
            self.session.flush()
        last = 0 if writes else self.project.last_job
        while True:
            if writes:
                last = int(driver_connection(self.session).execute(_COUNTED).fetchone()[0])
            else:
                last += 1
            number = last * 0x9E3779B97F4A7C15 % 2**64
            letters = "".join(_LETTERS[number >> 5 * place & 31] for place in range(12))
            yield f"job_{letters}{last:04d}"


_COUNTED = "UPDATE projects SET last_job = last_job + 1 RETURNING last_job"
_TAKEN = "SELECT 1 FROM jobs WHERE id = ?"
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
