"""Log entries: written, found by filters, deleted with their log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote

import orjson
from sqlalchemy import ColumnElement, delete, func, insert, select

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.google_cloud.models import BucketEntry, LogBucket, LogEntry
from mesocosm.servers.google_cloud.store.logs.filters import Both, Call, Comparison, Node, parse
from mesocosm.servers.google_cloud.store.logs.matcher import SEVERITIES, instant, matcher, severity_number
from mesocosm.servers.google_cloud.store.part import (
    StorePart,
    cut,
    page_size,
    page_token,
    quoted,
    read_token,
    suggestion,
)
from mesocosm.worlds import deadlines

MAX_ENTRY = 256 * 1024
"""Bytes of one entry."""
_AT_ONCE = 1000
_LOG = re.compile(r"[A-Za-z0-9/_.-]{1,511}", re.ASCII)
_NAMES = {number: name for name, number in SEVERITIES.items()}
_RESOURCE_NAME = re.compile(r"projects/[^/]+(?:/locations/([^/]+)/buckets/([^/]+)(?:/views/[^/]+)?)?")


@dataclass(frozen=True)
class NewEntry:
    """An entry that is to be written; its payload is a text or an object."""

    log: str
    payload: str | Mapping[str, Any] | None = None
    severity: int | str = 0
    timestamp: str | None = None
    """RFC 3339; by default the present."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    resource_type: str = "global"
    resource_labels: Mapping[str, Any] = field(default_factory=dict)
    insert_id: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class EntryPage:
    """A page of entries as the API shows them."""

    items: list[dict[str, Any]]
    next_token: str | None


class Entries(StorePart):
    def write(self, entries: Sequence[NewEntry]) -> list[dict[str, Any]]:
        """Write entries, and send them on by the sinks; as the API shows them.

        One that has the log, the time and the insert id of an earlier one is taken for the same.
        """
        rows = [self._row(entry, place) for place, entry in enumerate(entries, start=1)]
        written: list[dict[str, Any]] = []
        for row in rows:
            same = select(LogEntry.number).where(
                LogEntry.log == row["log"],
                LogEntry.timestamp == row["timestamp"],
                LogEntry.insert_id == row["insert_id"],
            )
            if self.session.scalars(same).first() is not None:
                continue
            entry = LogEntry(**row)
            self.added(entry)
            shown = self.view(entry)
            written.append(shown)
            self.store.logs.sinks.route(entry.number, shown)
        return written

    def fill(self, entries: Iterable[NewEntry]) -> None:
        """Many entries at once, for worlds that are being built; no sink sees them."""
        rows = [self._row(entry, place) for place, entry in enumerate(entries, start=1)]
        if rows:
            for row in rows:
                row["received"] = row["timestamp"]
            self.session.execute(insert(LogEntry), rows)

    def list_entries(
        self,
        filter_: str = "",
        *,
        oldest_first: bool = False,
        limit: int | None = None,
        token: str | None = None,
        resources: Sequence[str] = (),
        characters: int | None = None,
    ) -> EntryPage:
        """A page of the entries that a filter asks for.

        Args:
            filter_: In the filter language of Cloud Logging.
            oldest_first: Else the newest come first.
            limit: Entries of a page.
            token: Where the page begins.
            resources: Names of the project, of log buckets or of their views.
            characters: The page ends when it has so many, with at least one entry.
        """
        tree = parse(filter_)
        matches = matcher(tree)
        size = page_size(limit, 50, 1000, "max_entries")
        after = read_token(token, str, int)
        wanted = [*self._kept(resources), *narrowed(tree)]
        order = [LogEntry.timestamp, LogEntry.number]
        page = EntryPage([], None)
        left = characters
        while True:
            deadlines.check()
            chosen = select(LogEntry).where(*wanted)
            if after:
                later = LogEntry.timestamp > after[0] if oldest_first else LogEntry.timestamp < after[0]
                number = LogEntry.number > after[1] if oldest_first else LogEntry.number < after[1]
                chosen = chosen.where(later | ((LogEntry.timestamp == after[0]) & number))
            ordered = chosen.order_by(*(order if oldest_first else [column.desc() for column in order]))
            rows = self.session.scalars(ordered.limit(_AT_ONCE)).all()
            for row in rows:
                shown = self.view(row)
                if matches(shown):
                    if left is not None:
                        left -= len(row.text or "") + len(orjson.dumps(row.data))
                    if len(page.items) == size or (left is not None and left < 0 and page.items):
                        page.next_token = page_token(*after) if after else None
                        return page
                    page.items.append(shown)
                after = (row.timestamp, row.number)
            if len(rows) < _AT_ONCE:
                return page
            self.session.expunge_all()

    def logs(self, limit: int | None = None, token: str | None = None) -> tuple[Sequence[str], str | None]:
        """A page of the ids of all logs that have entries which are still kept."""
        size = page_size(limit, 100, 1000)
        after = read_token(token, str)
        chosen = select(LogEntry.log).where(*self._kept(())).distinct().order_by(LogEntry.log)
        if after:
            chosen = chosen.where(LogEntry.log > after[0])
        found = self.session.scalars(chosen.limit(size + 1)).all()
        return cut(found, size, lambda log: [log])

    def delete_log(self, log: str) -> int:
        """Delete all entries of a log; how many there were. ``NotFound`` where there are none."""
        name = self.log_id(log)
        count = self.session.scalars(select(func.count()).where(LogEntry.log == name)).one()
        if not count:
            raise NotFound(
                f"Log {quoted(name)} does not exist.{suggestion(name, self.logs(1000)[0])}", code="NOT_FOUND"
            )
        self.session.execute(delete(LogEntry).where(LogEntry.log == name))
        return count

    def log_id(self, name: str) -> str:
        """The id of a log, which may be given as ``projects/p/logs/LOG``."""
        begins = f"projects/{self.project.id}/logs/"
        if name.startswith("projects/"):
            if not name.startswith(begins):
                raise NotFound(f"{quoted(name)}: the project is {self.project.id!r}.", code="NOT_FOUND")
            name = unquote(name[len(begins) :])
        if not _LOG.fullmatch(name):
            raise Invalid(
                f"Invalid log name {quoted(name)}: it has up to 511 letters, digits and the characters"
                " '/', '_', '-' and '.'.",
                code="INVALID_ARGUMENT",
            )
        return name

    def view(self, row: LogEntry) -> dict[str, Any]:
        """An entry as the API shows it."""
        shown: dict[str, Any] = {
            "insertId": row.insert_id,
            "logName": f"projects/{self._project_id}/logs/{quote(row.log, safe='')}",
            "resource": {"type": row.resource_type, "labels": row.resource_labels},
            "timestamp": shown_time(row.timestamp),
            "receiveTimestamp": shown_time(row.received),
            "severity": _NAMES[row.severity],
        }
        if row.labels:
            shown["labels"] = row.labels
        if row.text is not None:
            shown["textPayload"] = row.text
        if row.data is not None:
            shown["jsonPayload"] = row.data
        return shown | row.details

    # -- how --------------------------------------------------------------------------------------------

    @cached_property
    def _project_id(self) -> str:
        return self.project.id

    @cached_property
    def _last(self) -> int:
        return self.session.scalars(select(func.max(LogEntry.number))).one() or 0

    def _row(self, new: NewEntry, place: int) -> dict[str, Any]:
        now = instant(self.now.isoformat())
        moment = now if new.timestamp is None else instant(new.timestamp)
        if moment is None or now is None:
            raise Invalid(f"Invalid timestamp {quoted(str(new.timestamp))}.", code="INVALID_ARGUMENT")
        for labels in (new.labels, new.resource_labels):
            if not all(isinstance(value, str) for value in labels.values()):
                raise Invalid("The values of labels must be texts.", code="INVALID_ARGUMENT")
        text = new.payload if isinstance(new.payload, str) else None
        data = None if new.payload is None or isinstance(new.payload, str) else dict(new.payload)
        size = len((text or "").encode()) + len(orjson.dumps([data, dict(new.labels), dict(new.details)]))
        if size > MAX_ENTRY:
            raise Invalid(
                f"Log entry with size {size:,} bytes exceeds maximum size of {MAX_ENTRY:,} bytes.",
                code="INVALID_ARGUMENT",
            )
        severity = new.severity if isinstance(new.severity, int) else severity_number(new.severity)
        return {
            "log": self.log_id(new.log),
            "insert_id": new.insert_id or self._insert_id(place),
            "timestamp": moment,
            "received": now,
            "severity": severity,
            "resource_type": new.resource_type,
            "resource_labels": dict(new.resource_labels) or {"project_id": self._project_id},
            "labels": dict(new.labels),
            "text": text,
            "data": data,
            "details": dict(new.details),
        }

    def _insert_id(self, place: int) -> str:
        # Looks like the product's, and follows from the count.
        return f"{(self._last + place) * 2654435761 % 2**40:010x}"

    def _kept(self, resources: Sequence[str]) -> Iterator[ColumnElement[bool]]:
        """Build conditions for entries that the requested buckets still retain."""
        places = [self._bucket(name) for name in resources] or [None]
        place = places[0]
        if len(places) > 1 and len({one and one.number for one in places}) > 1:
            raise Invalid("Entries of one bucket or of the project can be listed.", code="INVALID_ARGUMENT")
        buckets = self.store.logs.buckets
        place = place or buckets.bucket("_Default", "global")
        oldest = instant((self.now - timedelta(days=place.retention_days)).isoformat())
        yield LogEntry.timestamp >= oldest
        if place.id != "_Default":
            held = select(BucketEntry.entry).where(BucketEntry.bucket == place.number)
            yield LogEntry.number.in_(held)

    def _bucket(self, name: str) -> LogBucket | None:
        found = _RESOURCE_NAME.fullmatch(name)
        if found is None:
            raise Invalid(f"Invalid resource name {quoted(name)}.", code="INVALID_ARGUMENT")
        if name.split("/")[1] not in (self._project_id, str(self.project.number)):
            raise NotFound(f"{quoted(name)}: the project is {self._project_id!r}.", code="NOT_FOUND")
        return self.store.logs.buckets.bucket(found[2], found[1]) if found[2] else None


def narrowed(tree: Node | None) -> Iterator[ColumnElement[bool]]:
    """Build conditions for the parts of a filter that SQL can check, to avoid reading entries that cannot
    match.
    """
    for part in tree.parts if isinstance(tree, Both) else (tree,):
        if isinstance(part, Call) and part.name == "log_id" and len(part.arguments) == 1:
            yield func.lower(LogEntry.log) == part.arguments[0].lower()
        if not isinstance(part, Comparison) or part.operator not in ("=", ">", "<", ">=", "<="):
            continue
        value: Any = None
        if part.path == ("timestamp",):
            column: Any = LogEntry.timestamp
            value = instant(part.value)
        elif part.path == ("severity",):
            column = LogEntry.severity
            value = severity_number(part.value)
        if value is not None:
            yield column.op(part.operator)(value)


def shown_time(text: str) -> str:
    """A time of an entry as the API shows it, without zeros at the end of its fraction."""
    seconds, _, fraction = text.removesuffix("Z").partition(".")
    fraction = fraction.rstrip("0")
    if not fraction:
        return f"{seconds}Z"
    return f"{seconds}.{fraction.ljust(-(-len(fraction) // 3) * 3, '0')}Z"
