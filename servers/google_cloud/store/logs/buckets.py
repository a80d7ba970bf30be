"""Log buckets: where entries are kept, and for how long."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import select

from mesocosm.errors import Conflict, Denied, Invalid, NotFound
from mesocosm.servers.google_cloud.models import BucketEntry, LogBucket
from mesocosm.servers.google_cloud.store.part import (
    StorePart,
    moment,
    quoted,
    suggestion,
)
from mesocosm.servers.google_cloud.store.storage.buckets import REGIONS

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", re.ASCII)
_LOCATIONS = ("global", "us", "eu", *(region.lower() for region in REGIONS))


class LogBuckets(StorePart):
    """The log buckets of the project."""

    def bucket(self, id_: str, location: str) -> LogBucket:
        chosen = select(LogBucket).where(LogBucket.id == id_, LogBucket.location == location)
        found = self.session.scalars(chosen).first()
        if found is None:
            known = self.session.scalars(select(LogBucket.id)).all()
            raise NotFound(
                f"Bucket {quoted(id_)} does not exist in location {quoted(location)}."
                + suggestion(id_, known),
                code="NOT_FOUND",
            )
        return found

    def list_buckets(
        self, limit: int | None = None, token: str | None = None, location: str = "-"
    ) -> tuple[Sequence[LogBucket], str | None]:
        """A page of the buckets of a location (``-``: of all), and the token of the next."""
        chosen = select(LogBucket)
        if location != "-":
            chosen = chosen.where(LogBucket.location == location)
        return self.page_of(chosen, LogBucket.location, LogBucket.id, asked=limit, token=token)

    def create(
        self, id_: str, location: str = "global", retention_days: int = 30, description: str = ""
    ) -> LogBucket:
        """A new bucket; ``Conflict`` if there is one of that id."""
        if not _ID.fullmatch(id_):
            raise Invalid(
                f"Invalid bucket ID {quoted(id_)}: it has up to 100 letters, digits, underscores, hyphens and"
                " periods.",
                code="INVALID_ARGUMENT",
            )
        if location not in _LOCATIONS:
            raise Invalid(
                f"Location {quoted(location)} is not supported.{suggestion(location, _LOCATIONS)}",
                code="INVALID_ARGUMENT",
            )
        same = select(LogBucket.number).where(LogBucket.id == id_, LogBucket.location == location)
        if self.session.scalars(same).first() is not None:
            raise Conflict(f"Bucket {quoted(id_)} already exists.", code="ALREADY_EXISTS")
        now = moment(self.now)
        bucket = LogBucket(
            id=id_,
            location=location,
            retention_days=_checked_days(retention_days),
            description=description,
            locked=False,
            created=now,
            updated=now,
        )
        return self.added(bucket)

    def update(
        self, id_: str, location: str, *, retention_days: int | None = None, description: str | None = None
    ) -> LogBucket:
        """Change what is given (not ``None``)."""
        bucket = self.bucket(id_, location)
        if bucket.locked:
            raise Denied(f"Bucket {quoted(id_)} is locked.", code="PERMISSION_DENIED")
        if retention_days is not None:
            bucket.retention_days = _checked_days(retention_days)
        if description is not None:
            bucket.description = description
        bucket.updated = moment(self.now)
        self.session.flush()
        return bucket

    def delete(self, id_: str, location: str) -> None:
        """Remove a bucket; not those that every project has."""
        bucket = self.bucket(id_, location)
        if id_ in ("_Default", "_Required"):
            raise Invalid(f"The bucket {id_} cannot be deleted.", code="INVALID_ARGUMENT")
        for held in self.session.scalars(select(BucketEntry).where(BucketEntry.bucket == bucket.number)):
            self.removed(held)
        self.removed(bucket)


def _checked_days(days: int) -> int:
    if not 1 <= days <= 3650:
        raise Invalid(f"Invalid retention of {days} days: it must be 1 to 3650.", code="INVALID_ARGUMENT")
    return days
