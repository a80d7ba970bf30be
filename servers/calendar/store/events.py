"""Making, changing and deleting events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, cast

from sqlalchemy import insert, select, update

from mesocosm.errors import Conflict, Denied, Invalid
from mesocosm.servers.calendar.models import Attendee, Base, Calendar, Entry, Event
from mesocosm.servers.calendar.store.calendars import Access, Calendars
from mesocosm.servers.calendar.store.event_input import (
    EventFields,
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
from mesocosm.servers.calendar.store.event_lists import EventLists
from mesocosm.servers.calendar.store.event_types import check_type, conference_column, type_columns
from mesocosm.servers.calendar.store.freebusy import FreeBusy
from mesocosm.servers.calendar.store.new_rows import PRIMARIES, NewRows, next_revision
from mesocosm.servers.calendar.store.times import show
from mesocosm.servers.calendar.store.windows import Occurrence
from mesocosm.services.service import Store, Topic

_TIMES = frozenset({"start", "end", "recurrence"})
_OWN = frozenset({"reminders", "colorId", "private_properties"})
"""Fields that everybody sets for their own calendar; the organizer owns the others."""


class Gone(Conflict):
    """Refusal: the event or calendar was deleted."""

    status: ClassVar[int] = 410


class CalendarStore(Calendars, Store):
    """Calendars and events of the accounts of one server, seen by the account that is signed in.

    Its parts read events; to make and change them is here.
    """

    metadata = Base.metadata

    lists = Topic(EventLists)
    free_times = Topic(FreeBusy)

    # -- making -----------------------------------------------------------------------------------------

    def create_event(
        self, calendar_id: str, fields: EventFields, event_id: str | None = None
    ) -> tuple[Access, Occurrence]:
        """A new event of the signed-in account, on the calendars of its guests too."""
        access = self.calendar(calendar_id, "writer")
        given = cast(NewEvent, {**fields, "creator": self.account})
        if event_id is not None:
            given["id"] = event_id
        [made] = self._insert(access.number, access.owner, access.time_zone, [given])
        return self.lists.event(access.id, made)

    def import_event(
        self, calendar_id: str, uid: str, fields: EventFields, organizer: Mapping[str, str]
    ) -> tuple[Access, Occurrence]:
        """A copy of somebody's event on this calendar alone; one that it has already is replaced."""
        access = self.calendar(calendar_id, "writer")
        if (event_id := self.lists.event_of_uid(access, uid)) is None:
            own = {"creator": self.account, "ical_uid": uid, "organizer": organizer, "copied": True}
            given = cast(NewEvent, {**fields, **own})
            [event_id] = self._insert(access.number, access.owner, access.time_zone, [given])
        else:
            self.update_event(access.id, event_id, cast(EventFields, {"status": "confirmed", **fields}))
            event = self._editable(access, event_id)
            for name, value in foreign_columns({"organizer": organizer}, access.owner).items():
                setattr(event, name, value)
            self.session.flush()
        return self.lists.event(access.id, event_id)

    def add_events(self, calendar_id: str, events: Iterable[NewEvent]) -> list[str]:
        """Put many events on a calendar at once, whoever is signed in; returns their ids.

        Every event is checked as if a tool had made it, and appears on the calendars of its guests.
        """
        calendar = self._row(calendar_id)
        return self._insert(calendar.number, calendar.owner, calendar.time_zone, list(events))

    def _insert(self, calendar: int, owner: str, zone: str, events: Sequence[NewEvent]) -> list[str]:
        if not events:
            return []
        self.session.flush()
        filler = NewRows(self, calendar, owner, zone)
        for given in events:
            filler.add(given)
        filler.insert()
        return [row["id"] for row in filler.events]

    # -- changing ---------------------------------------------------------------------------------------

    def update_event(
        self, calendar_id: str, event_id: str, changes: EventFields
    ) -> tuple[Access, Occurrence]:
        """Change an event, a whole series, or one instance, which is how an instance is moved.

        ``status`` set to ``cancelled`` deletes; set to something else it restores what was deleted.
        """
        access = self.calendar(calendar_id, "writer")
        if not changes:
            return self.lists.event(access.id, event_id)
        event = self._editable(access, event_id)
        entry = self._entry(event, access.number)
        if entry.cancelled and changes.get("status") not in ("confirmed", "tentative"):
            raise Gone("Resource has been deleted", code="deleted")
        if changes.get("status") == "cancelled":
            self._cancel(access, event)
        else:
            self._apply(access, event, entry, changes)
        return self.lists.event(access.id, event_id)

    def _apply(self, access: Access, event: Event, entry: Entry, changes: EventFields) -> None:
        shared = {name: value for name, value in changes.items() if name not in _OWN}
        if shared and event.calendar != access.number and not event.guests_can_modify:
            raise Denied(
                "Shared properties can only be changed by the organizer of the event.",
                code="forbiddenForNonOrganizer",
            )
        if "reminders" in changes:
            entry.reminders = reminder_column(changes["reminders"])
        if "colorId" in changes:
            entry.color_id = color_column(changes["colorId"])
        if "private_properties" in changes:
            entry.private_properties = properties_column(changes["private_properties"])
        followers = self._exceptions_of(event)
        columns = plain_columns(shared) | type_columns(shared, event.event_type, event.type_properties)
        if columns["event_type"] != event.event_type:
            raise Invalid("The type of an event cannot be changed.", code="eventTypeRestriction")
        if "conferenceData" in shared:
            columns["conference"] = conference_column(changes["conferenceData"], event.id, event.conference)
        self._set_columns(event, columns, followers)
        if "attendees" in shared:
            for one in (event, *followers):
                self._invite(one, attendee_rows(changes["attendees"]))
        if _TIMES & shared.keys():
            self._reschedule(access, event, shared)
        if event.event_type != "default":
            check_type(_columns(event), access.primary, len(event.people))
        self.session.flush()
        self._touch([event, *followers] if shared else [event], only=None if shared else access.number)

    def _set_columns(self, event: Event, columns: Mapping[str, Any], followers: Sequence[Event]) -> None:
        """Set columns; instances that have been changed follow where they still were like their series."""
        for name, value in columns.items():
            old = getattr(event, name)
            for one in followers:
                if name != "status" and getattr(one, name) == old:
                    setattr(one, name, value)
            setattr(event, name, value)
        if columns.get("status") is not None:
            event.sequence += 1
            for entry in self._entries(event):
                entry.cancelled = False

    def _reschedule(self, access: Access, event: Event, changes: Mapping[str, Any]) -> None:
        if event.series is not None and changes.get("recurrence"):
            raise Invalid(
                "Invalid recurrence rule: an instance of a recurring event has none.", code="invalid"
            )
        given = _times_of(event) | {name: changes[name] for name in _TIMES & changes.keys()}
        columns = time_columns(given, access.time_zone)
        for name, value in columns.items():
            setattr(event, name, value)
        event.sequence += 1
        for entry in self._entries(event):
            zone = self.session.get_one(Calendar, entry.calendar).time_zone
            for name, value in span_on(columns, zone).items():
                setattr(entry, name, value)
        self.session.flush()
        self._drop_orphans(access, event)

    def _drop_orphans(self, access: Access, master: Event) -> None:
        """Changed instances that the new times no longer give are deleted, as Google resets them."""
        row = self.lists.event_row(access, master.id)
        assert row is not None
        for one in self._exceptions_of(master):
            original = one.id.rpartition("_")[2]
            if not row["recurrence"] or not self.lists.is_instance(access, row, original):
                one.status = "cancelled"
                for entry in self._entries(one):
                    entry.cancelled = True
        self.session.flush()

    def respond(
        self, calendar_id: str, event_id: str, response: str, comment: str | None = None
    ) -> tuple[Access, Occurrence]:
        """Answer the invitation to an event, to a whole series or to one instance."""
        access = self.calendar(calendar_id, "writer")
        event = self._editable(access, event_id)
        if self._entry(event, access.number).cancelled and event.status == "cancelled":
            raise Gone("Resource has been deleted", code="deleted")
        if self._answer(event, access.id, response, comment) == 0:
            raise Invalid(f"{access.id} is not an attendee of this event.", code="invalid")
        followers = self._exceptions_of(event)
        for one in followers:
            self._answer(one, access.id, response, comment)
        self._touch([event, *followers])
        return self.lists.event(access.id, event_id)

    def _answer(self, event: Event, email: str, response: str, comment: str | None) -> int:
        values = {"response_status": response} | ({} if comment is None else {"comment": comment or None})
        mine = (Attendee.event == event.number, Attendee.email == email)
        return int(self.session.execute(update(Attendee).where(*mine).values(values)).rowcount)  # type: ignore[attr-defined]

    def move_event(self, calendar_id: str, event_id: str, destination_id: str) -> tuple[Access, Occurrence]:
        """Make another calendar the organizer of an event."""
        source, target = self.calendar(calendar_id, "writer"), self.calendar(destination_id, "writer")
        event = self._whole(source, event_id)
        if event.calendar != source.number:
            raise Denied("Cannot change the organizer of an event that another calendar organizes.")
        if source.number != target.number:
            moved = [event, *self._exceptions_of(event)]
            for one in moved:
                one.calendar = target.number
                self._entry(one, source.number).cancelled = True
                self._place(one, target.number)
            self._touch(moved)
        return self.lists.event(target.id, event_id)

    # -- deleting ---------------------------------------------------------------------------------------

    def delete_event(self, calendar_id: str, event_id: str) -> None:
        """Delete an event (for a guest: from the own calendar), a series or one instance."""
        access = self.calendar(calendar_id, "writer")
        event = self._editable(access, event_id)
        if self._entry(event, access.number).cancelled:
            raise Gone("Resource has been deleted", code="deleted")
        self._cancel(access, event)

    def _cancel(self, access: Access, event: Event) -> None:
        events = [event, *self._exceptions_of(event)]
        for one in events:
            if event.calendar == access.number:
                one.status = "cancelled"
                one.sequence += 1
                for entry in self._entries(one):
                    entry.cancelled = True
            else:
                self._entry(one, access.number).cancelled = True
                self._answer(one, access.id, "declined", None)
        self._touch(events)

    def delete_calendar(self, calendar_id: str) -> None:
        """Delete a secondary calendar; its events disappear from the calendars of their guests too."""
        access = self.calendar(calendar_id, "owner")
        if access.primary:
            raise Denied("You cannot delete a primary calendar.", code="cannotDeletePrimaryCalendar")
        self._row(access.id).deleted = True
        mine = select(Event.number).where(Event.calendar == access.number)
        guests = select(Entry).where(Entry.event.in_(mine), Entry.cancelled.is_(False)).order_by(Entry.id)
        for entry in self.session.execute(guests.where(Entry.calendar != access.number)).scalars().all():
            entry.cancelled = True
            self._stamp(entry)
        self.session.execute(update(Event).where(Event.calendar == access.number).values(status="cancelled"))
        self.session.flush()

    # -- pieces -----------------------------------------------------------------------------------------

    def _editable(self, access: Access, event_id: str) -> Event:
        """The row of an event to change; an instance gets its own row by being asked for here."""
        row = self.lists.event_row(access, event_id)
        if row is not None:
            return self.session.get_one(Event, row["number"])
        _, found = self.lists.event(access.id, event_id)
        if found.row["cancelled"]:
            raise Gone("Resource has been deleted", code="deleted")
        return self._detach(found)

    def _whole(self, access: Access, event_id: str) -> Event:
        row = self.lists.event_row(access, event_id)
        if row is None or row["series"] is not None:
            self.lists.event(access.id, event_id)  # not found, unless it is an instance
            raise Invalid(
                "Cannot change the organizer of an instance.", code="cannotChangeOrganizerOfInstance"
            )
        if row["cancelled"]:
            raise Gone("Resource has been deleted", code="deleted")
        return self.session.get_one(Event, row["number"])

    def _detach(self, instance: Occurrence) -> Event:
        """A row for one instance of a series, on the calendars that show the series."""
        master = self.session.get_one(Event, instance.row["number"])
        names = [column.name for column in Event.__table__.c if column.name != "number"]
        own = {
            "id": instance.id,
            "start_at": instance.start,
            "end_at": instance.end,
            "recurrence": None,
            "last_start": None,
            "series": master.number,
            "original_start": instance.original,
        }
        event = Event(**{name: getattr(master, name) for name in names} | own)
        self.session.add(event)
        self.session.flush()
        for entry in self._entries(master):
            if not entry.cancelled:
                self._place(event, entry.calendar, like=entry)
        guests = [{name: row[name] for name in row if name != "id"} for row in instance.attendees]
        if guests:
            self.session.execute(insert(Attendee), [guest | {"event": event.number} for guest in guests])
        return event

    def _place(self, event: Event, calendar: int, like: Entry | None = None) -> Entry:
        """The event's entry on a calendar, made if there is none."""
        wanted = select(Entry).where(Entry.event == event.number, Entry.calendar == calendar)
        entry = self.session.execute(wanted).scalar_one_or_none()
        if entry is None:
            zone = self.session.get_one(Calendar, calendar).time_zone
            entry = Entry(event=event.number, calendar=calendar, **span_on(_columns(event), zone))
            self.session.add(entry)
        if like is not None:
            entry.color_id, entry.reminders = like.color_id, like.reminders
            entry.private_properties = like.private_properties
        entry.cancelled = False
        self._stamp(entry)
        return entry

    def _invite(self, event: Event, guests: list[dict[str, Any]]) -> None:
        """Make these the guests; who was one before keeps the answer."""
        before = {
            attendee.email: attendee
            for attendee in self.session.execute(
                select(Attendee).where(Attendee.event == event.number)
            ).scalars()
        }
        for guest in guests:
            if (held := before.pop(guest["email"], None)) is not None:
                if guest["response_status"] == "needsAction":
                    guest["response_status"], guest["comment"] = held.response_status, held.comment
                self.session.delete(held)
        self.session.flush()
        self.session.add_all(Attendee(event=event.number, **guest) for guest in guests)
        for attendee in before.values():
            self.session.delete(attendee)
        event.people = people(guests)
        self._show_to(event, {guest["email"] for guest in guests}, before.keys())

    def _show_to(self, event: Event, guests: Iterable[str], former: Iterable[str]) -> None:
        if event.foreign_organizer is not None:
            return  # a copy: the organizer elsewhere sees to the guests
        primaries = {row["id"]: row["number"] for row in self.fetch(PRIMARIES)}
        shown = {entry.calendar: entry for entry in self._entries(event)}
        for email in sorted(guests):
            number = primaries.get(email)
            if number is not None and (number not in shown or shown[number].cancelled):
                self._place(event, number)
        for email in sorted(former):
            number = primaries.get(email)
            if number in shown and number != event.calendar:
                shown[number].cancelled = True

    def _exceptions_of(self, event: Event) -> list[Event]:
        """The instances of a series that have rows of their own and have not been deleted."""
        own = (
            select(Event)
            .where(Event.series == event.number, Event.status != "cancelled")
            .order_by(Event.number)
        )
        return list(self.session.execute(own).scalars())

    def _entries(self, event: Event) -> list[Entry]:
        own = select(Entry).where(Entry.event == event.number).order_by(Entry.id)
        return list(self.session.execute(own).scalars())

    def _entry(self, event: Event, calendar: int) -> Entry:
        wanted = select(Entry).where(Entry.event == event.number, Entry.calendar == calendar)
        return self.session.execute(wanted).scalar_one()

    def _touch(self, events: Sequence[Event], only: int | None = None) -> None:
        """Mark events as changed now, on all calendars or one."""
        for event in events:
            for entry in self._entries(event):
                if only in (None, entry.calendar):
                    self._stamp(entry)

    def _stamp(self, entry: Entry) -> None:
        entry.updated = show(self.now.replace(tzinfo=None))
        entry.revision = next_revision(self, entry.calendar)
        self.session.flush()


def _columns(event: Event) -> dict[str, Any]:
    return {column.name: getattr(event, column.name) for column in Event.__table__.c}


def _times_of(event: Event) -> dict[str, Any]:
    """Start, end and recurrence of an event as a caller would have given them."""
    ends = {"start": (event.start_at, event.start_time_zone), "end": (event.end_at, event.end_time_zone)}
    given: dict[str, Any] = {
        name: {"date": at} if event.all_day else {"dateTime": at, "timeZone": zone}
        for name, (at, zone) in ends.items()
    }
    return given | {"recurrence": event.recurrence.split("\n") if event.recurrence else []}
