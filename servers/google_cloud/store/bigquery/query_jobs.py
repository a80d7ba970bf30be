"""Statements as jobs: executed, and recorded with the result."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.google_cloud.models import Job
from mesocosm.servers.google_cloud.store.part import StorePart, page_size, page_token, read_token

if TYPE_CHECKING:
    from mesocosm.servers.google_cloud.store.bigquery.answers import Answer

MOST_ROWS = 10_000
"""Rows of a page."""
_CHARACTERS = 400_000
"""Of a page; it ends before, with at least one row."""


@dataclass
class Asked:
    """Result of a statement, page by page."""

    answer: Answer
    job: str = ""
    start: int = 0
    """Number of the first row of the page."""
    next_token: str | None = None

    @property
    def done(self) -> str:
        """Effect of a statement that is not a query."""
        answer = self.answer
        if answer.changed is not None:
            counts = (
                (answer.changed.inserted, "inserted"),
                (answer.changed.updated, "updated"),
                (answer.changed.deleted, "deleted"),
            )
            parts = [f"{count} {verb}" for count, verb in counts if count]
            return f"Rows affected: {answer.changed.rows}" + (f" ({', '.join(parts)})" if parts else "")
        return f"Table: {answer.target}" if answer.target else ""


class Asking(StorePart):
    """Statements in GoogleSQL, each as a job."""

    def ask(self, text: str, *, dry_run: bool = False, limit: int | None = None, token: str = "") -> Asked:
        """Run statements; a page of the result. A token goes on with the result of the same text."""
        size = page_size(limit, 1000, MOST_ROWS)
        position = read_token(token, str, int, str)
        if position is not None:
            return self._again(text, *position, size=size)
        answer = self.store.bigquery.queries.run(text, limit=size, dry_run=dry_run)
        if answer.dry_run:
            return Asked(answer)
        job = self.record(text, answer)
        return self._page(answer, job.id, 0, text)

    def record(
        self,
        text: str,
        answer: Answer,
        *,
        id_: str | None = None,
        configuration: Mapping[str, Any] | None = None,
        keep: bool = False,
    ) -> Job:
        """The job of a statement that was run; ``keep``: with its rows, for clients that fetch them later."""
        statistics: dict[str, Any] = {
            "statementType": answer.kind,
            "totalBytesProcessed": answer.bytes,
        }
        if answer.changed is not None:
            statistics["numDmlAffectedRows"] = answer.changed.rows
            statistics["dmlStats"] = {
                "insertedRowCount": answer.changed.inserted,
                "updatedRowCount": answer.changed.updated,
                "deletedRowCount": answer.changed.deleted,
            }
        if answer.target:
            statistics["target"] = answer.target
        jobs = self.store.bigquery.jobs
        job = jobs.add(
            "QUERY",
            configuration or {"query": {"query": text, "useLegacySql": False}},
            statistics,
            id_=id_,
            fields=answer.fields,
            total_rows=answer.total,
            seen={} if keep else answer.seen,
        )
        if keep:
            jobs.keep_rows(job, answer.rows)
        return job

    def _again(self, text: str, id_: str, start: int, digest: str, *, size: int) -> Asked:
        """Further rows of a query that was run: it is run once more, on the same rows."""
        if digest != _digest(text):
            raise Invalid(
                "The page token belongs to another query: repeat the same text with it.", code="invalid"
            )
        job = self.store.bigquery.jobs.job(id_)
        answer = self.store.bigquery.queries.run(text, limit=size, skip=start)
        if answer.seen != job.seen or answer.kind != "SELECT":
            raise Conflict(
                f"The result of job {id_} is no longer available: its tables have changed."
                " Run the query again.",
                code="invalid",
            )
        answer.total = job.total_rows
        return self._page(answer, job.id, start, text)

    def _page(self, answer: Answer, job: str, start: int, text: str) -> Asked:
        left, kept = _CHARACTERS, 0
        for row in answer.rows:
            left -= len(str(row))
            if left < 0 and kept:
                break
            kept += 1
        answer.rows = answer.rows[:kept]
        after = start + kept
        more = answer.kind == "SELECT" and answer.alone and after < answer.total
        token = page_token(job, after, _digest(text)) if more else None
        return Asked(answer, job, start, token)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
