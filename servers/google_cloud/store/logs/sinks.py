"""Sinks: as entries are written, those that match are sent on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import select

from mesocosm.errors import Conflict, Invalid, NotFound, Refusal
from mesocosm.servers.google_cloud.models import Bucket as StorageBucket
from mesocosm.servers.google_cloud.models import BucketEntry, LogBucket, LogSink, StorageObject
from mesocosm.servers.google_cloud.store.logs.filters import parse
from mesocosm.servers.google_cloud.store.logs.matcher import matcher
from mesocosm.servers.google_cloud.store.part import (
    StorePart,
    moment,
    quoted,
    suggestion,
)
from mesocosm.servers.google_cloud.store.storage.objects import NewObject

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", re.ASCII)
_STORAGE = re.compile(r"storage\.googleapis\.com/([^/]+)")
_DATASET = re.compile(r"bigquery\.googleapis\.com/projects/([^/]+)/datasets/(\w+)", re.ASCII)
_TOPIC = re.compile(r"pubsub\.googleapis\.com/projects/([^/]+)/topics/([^/]+)")
_BUCKET = re.compile(r"logging\.googleapis\.com/projects/([^/]+)/locations/([^/]+)/buckets/([^/]+)")
_DESTINATIONS = (_STORAGE, _DATASET, _TOPIC, _BUCKET)


class Sinks(StorePart):
    """The sinks of the project."""

    def sink(self, name: str) -> LogSink:
        found = self.session.scalars(select(LogSink).where(LogSink.name == name)).first()
        if found is None:
            known = self.session.scalars(select(LogSink.name)).all()
            raise NotFound(f"Sink {quoted(name)} does not exist.{suggestion(name, known)}", code="NOT_FOUND")
        return found

    def list_sinks(
        self, limit: int | None = None, token: str | None = None
    ) -> tuple[Sequence[LogSink], str | None]:
        """A page of the sinks by name, and the token of the next."""
        return self.page_of(select(LogSink), LogSink.name, asked=limit, token=token)

    def create(
        self,
        name: str,
        destination: str,
        filter_: str = "",
        *,
        description: str = "",
        disabled: bool = False,
        partitioned: bool = False,
    ) -> LogSink:
        """A new sink, which sends on what is written from now on."""
        if not _NAME.fullmatch(name):
            raise Invalid(
                f"Invalid sink name {quoted(name)}: it has up to 100 letters, digits, underscores, hyphens"
                " and periods.",
                code="INVALID_ARGUMENT",
            )
        if self.session.scalars(select(LogSink.number).where(LogSink.name == name)).first() is not None:
            raise Conflict(f"Sink {quoted(name)} already exists.", code="ALREADY_EXISTS")
        now = moment(self.now)
        sink = LogSink(
            name=name,
            destination=_checked_destination(destination),
            filter=_checked_filter(filter_),
            description=description,
            disabled=disabled,
            partitioned=partitioned,
            writer_identity=f"serviceAccount:service-{self.project.number}@gcp-sa-logging.iam.gserviceaccount.com",
            created=now,
            updated=now,
        )
        return self.added(sink)

    def update(self, name: str, given: Mapping[str, Any]) -> LogSink:
        """Change what is given (not ``None``): ``destination``, ``filter``, ``description``, ``disabled``."""
        checks = {"destination": _checked_destination, "filter": _checked_filter}
        sink = self.sink(name)
        for field, value in given.items():
            if value is not None:
                setattr(sink, field, checks[field](value) if field in checks else value)
        sink.updated = moment(self.now)
        self.session.flush()
        return sink

    def delete(self, name: str) -> None:
        """Remove a sink; what it has sent on stays."""
        self.removed(self.sink(name))

    # -- sending on -------------------------------------------------------------------------------------

    def route(self, number: int, entry: dict[str, Any]) -> None:
        """Send one entry on; a destination that is not there gets nothing, as in the product."""
        for sink in self.session.scalars(select(LogSink).where(~LogSink.disabled).order_by(LogSink.number)):
            if not matcher(parse(sink.filter))(entry):
                continue
            for pattern, send in self._ways():
                if found := pattern.fullmatch(sink.destination):
                    send(sink, found, number, entry)

    def _ways(self) -> tuple[tuple[re.Pattern[str], Callable[..., None]], ...]:
        return (_STORAGE, self._to_storage), (_DATASET, self._to_dataset), (_BUCKET, self._to_bucket)

    def _to_storage(self, sink: LogSink, found: re.Match[str], number: int, entry: dict[str, Any]) -> None:
        """A line of the object of the entry's hour, as the product names it."""
        bucket = self.session.scalars(select(StorageBucket).where(StorageBucket.name == found[1])).first()
        if bucket is None:
            return
        day, hour = entry["timestamp"][:10].replace("-", "/"), entry["timestamp"][11:13]
        log = entry["logName"].rpartition("/")[2].replace("%2F", "/")
        name = f"{log}/{day}/{hour}:00:00_{hour}:59:59_S0.json"
        objects = self.store.storage.objects
        chosen = select(StorageObject).where(
            StorageObject.bucket == bucket.number, StorageObject.name == name, StorageObject.live
        )
        before = self.session.scalars(chosen).first()
        data = objects.data(before) if before else b""
        line = orjson.dumps(entry) + b"\n"
        objects.write(bucket.name, NewObject(name, data + line, "application/json"))

    def _to_dataset(self, sink: LogSink, found: re.Match[str], number: int, entry: dict[str, Any]) -> None:
        if found[1] == self.project.id:
            try:
                self.store.bigquery.log_tables.add(found[2], entry, partitioned=sink.partitioned)
            except Refusal:
                return  # as the product drops what does not fit the table, and tells the sink's owner by mail

    def _to_bucket(self, sink: LogSink, found: re.Match[str], number: int, entry: dict[str, Any]) -> None:
        chosen = select(LogBucket.number).where(LogBucket.location == found[2], LogBucket.id == found[3])
        bucket = self.session.scalars(chosen).first()
        if bucket is not None and found[3] != "_Default":
            self.session.merge(BucketEntry(bucket=bucket, entry=number))
            self.session.flush()


def _checked_destination(destination: str) -> str:
    if not any(pattern.fullmatch(destination) for pattern in _DESTINATIONS):
        raise Invalid(
            f"Invalid sink destination {quoted(destination)}: write storage.googleapis.com/BUCKET,"
            " bigquery.googleapis.com/projects/PROJECT/datasets/DATASET,"
            " logging.googleapis.com/projects/PROJECT/locations/LOCATION/buckets/BUCKET or"
            " pubsub.googleapis.com/projects/PROJECT/topics/TOPIC.",
            code="INVALID_ARGUMENT",
        )
    return destination


def _checked_filter(filter_: str) -> str:
    matcher(parse(filter_))
    return filter_
