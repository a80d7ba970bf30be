"""New events as rows, collected so that each table is written once however many they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sqlalchemy import bindparam, insert, select, text

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.calendar.models import Attendee, Calendar, Entry, Event
from mesocosm.servers.calendar.store.calendars import address, as_list, derived_id, one_of, storable
from mesocosm.servers.calendar.store.event_input import (
    DEFAULTS,
    NewEvent,
    attendee_rows,
    color_column,
    foreign_columns,
    people,
    plain_columns,
    properties_column,
    reminder_column,
    span_on,
    time_columns,
)
from mesocosm.servers.calendar.store.event_types import check_type, conference_column, type_columns
from mesocosm.servers.calendar.store.times import point, show
from mesocosm.services.service import Store

PRIMARIES = select(Calendar.id, Calendar.number, Calendar.time_zone).where(Calendar.primary)

_EVENT_ID = re.compile(r"[a-v0-9]{5,1024}")
_LAST_NUMBER = text("SELECT seq FROM sqlite_sequence WHERE name = 'events'")
_LAST_REVISION = (
    select(Entry.revision)
    .where(Entry.calendar == bindparam("calendar"))
    .order_by(Entry.revision.desc())
    .limit(1)
)
_KNOWN_IDS = select(Event.id).where(Event.id.in_(one_of("ids")))


def next_revision(store: Store, calendar: int) -> int:
    """The number of a calendar's next change."""
    rows = store.fetch(_LAST_REVISION, calendar=calendar)
    return int(rows[0]["revision"]) + 1 if rows else 1


class NewRows:
    """The rows of new events on one calendar."""

    def __init__(self, store: Store, calendar: int, owner: str, zone: str) -> None:
        self.store, self.calendar, self.owner, self.zone = store, calendar, owner, zone
        self.now = show(store.now.replace(tzinfo=None))
        last = store.fetch(_LAST_NUMBER)
        self.number = int(last[0]["seq"]) if last else 0
        self.revisions: dict[int, int] = {}
        self.events: list[dict[str, Any]] = []
        self.entries: list[dict[str, Any]] = []
        self.attendees: list[dict[str, Any]] = []

    @cached_property
    def primaries(self) -> dict[str, tuple[int, str]]:
        """The primary calendars (number, time zone) by address."""
        return {row["id"]: (row["number"], row["time_zone"]) for row in self.store.fetch(PRIMARIES)}

    def add(self, given: NewEvent) -> None:
        """Check one event and note its rows."""
        self.number += 1
        guests = attendee_rows(given.get("attendees") or ())
        created = _instant(given["created"]) if "created" in given else self.now
        event_id = _checked_id(given["id"]) if "id" in given else derived_id("event", self.number)
        event = {
            **DEFAULTS,
            **plain_columns(given),
            **type_columns(given),
            **foreign_columns(given, self.owner),
            **time_columns(given, self.zone),
            "conference": conference_column(given.get("conferenceData"), event_id, None),
            "number": self.number,
            "id": event_id,
            "calendar": self.calendar,
            "creator": address(given["creator"]) if "creator" in given else self.owner,
            "people": people(guests),
            "series": None,
            "original_start": None,
            "sequence": 0,
            "created": created,
        }
        if event["event_type"] != "default":
            primary = self.primaries.get(self.owner, (0, ""))[0] == self.calendar
            check_type(event, primary, len(guests))
        self.events.append(event)
        self.attendees += [guest | {"event": self.number} for guest in guests]
        own = {
            "color_id": color_column(given.get("colorId")),
            "reminders": reminder_column(given.get("reminders")),
            "private_properties": properties_column(given.get("private_properties")),
        }
        updated = _instant(given["updated"]) if "updated" in given else created
        self._enter(event, self.calendar, self.zone, updated, own)
        for guest in () if given.get("copied") else guests:
            number, zone = self.primaries.get(guest["email"], (self.calendar, ""))
            if number != self.calendar:
                self._enter(event, number, zone, updated, dict.fromkeys(own))

    def _enter(
        self, event: Mapping[str, Any], calendar: int, zone: str, updated: str, own: Mapping[str, Any]
    ) -> None:
        revision = self.revisions.get(calendar) or next_revision(self.store, calendar)
        self.revisions[calendar] = revision + 1
        self.entries.append(
            {
                "event": event["number"],
                "calendar": calendar,
                **span_on(event, zone),
                **own,
                "cancelled": event["status"] == "cancelled",
                "updated": updated,
                "revision": revision,
            }
        )

    def insert(self) -> None:
        ids = [row["id"] for row in self.events]
        if len(set(ids)) < len(ids) or self.store.fetch(_KNOWN_IDS, ids=as_list(ids)):
            raise Conflict("The requested identifier already exists.", code="duplicate")
        session = self.store.session
        for table, rows in ((Event, self.events), (Entry, self.entries), (Attendee, self.attendees)):
            if rows:
                session.execute(insert(table), rows)


def _instant(text: str) -> str:
    return point({"dateTime": text}, "update").at


def _checked_id(text: str) -> str:
    if not _EVENT_ID.fullmatch(text) or not storable(text):
        raise Invalid("Invalid resource id value.", code="invalid")
    return text
