"""Tables of the calendar service.

An event is one row, whoever sees it; an ``Entry`` puts it on a calendar: the organizer's and those of the
attendees who have an account here. Instants are UTC text (``2025-01-15T09:00:00Z``), dates are
``2025-01-15``: fixed width, so text order is time order.
"""

from __future__ import annotations

from sqlalchemy import DDL, ForeignKey, Index, Text, UniqueConstraint, event
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``calendar.db``."""


class Account(Base):
    """A person with calendars on this server."""

    __tablename__ = "accounts"

    email: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text)


class SignIn(Base):
    """Signed-in account: one row, or none."""

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(ForeignKey("accounts.email"))


class Calendar(Base):
    """A calendar: the primary one of an account (whose id is its address) or a secondary one."""

    __tablename__ = "calendars"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - SQLAlchemy's way

    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(Text, unique=True)
    owner: Mapped[str] = mapped_column(ForeignKey("accounts.email"))
    primary: Mapped[bool]
    summary: Mapped[str] = mapped_column(Text)
    description: Mapped[str | None] = mapped_column(Text)
    location: Mapped[str | None] = mapped_column(Text)
    time_zone: Mapped[str] = mapped_column(Text)
    deleted: Mapped[bool] = mapped_column(default=False)


class AccessRule(Base):
    """Role of a user or group on a calendar."""

    __tablename__ = "access_rules"
    __table_args__ = (UniqueConstraint("calendar", "scope"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    calendar: Mapped[int] = mapped_column(ForeignKey("calendars.number"))
    scope: Mapped[str] = mapped_column(Text)
    """``user:ADDRESS``, ``domain:NAME`` or ``default`` (everybody)."""
    role: Mapped[str] = mapped_column(Text)
    """``freeBusyReader``, ``reader``, ``writer`` or ``owner``."""


class Subscription(Base):
    """A calendar in an account's list of calendars."""

    __tablename__ = "subscriptions"
    __table_args__ = (UniqueConstraint("account", "calendar"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    account: Mapped[str] = mapped_column(ForeignKey("accounts.email"))
    calendar: Mapped[int] = mapped_column(ForeignKey("calendars.number"))
    summary_override: Mapped[str | None] = mapped_column(Text)
    color_id: Mapped[str] = mapped_column(Text)


class Event(Base):
    """An event, a recurring event, or a changed or cancelled instance of one."""

    __tablename__ = "events"
    __table_args__ = (
        Index("events_of_series", "series", "original_start"),
        Index("events_by_uid", "ical_uid"),
        {"sqlite_autoincrement": True},
    )

    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(Text, unique=True)
    calendar: Mapped[int] = mapped_column(ForeignKey("calendars.number"), index=True)
    """The organizer: the calendar the event was made on."""
    creator: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(Text)
    """``confirmed``, ``tentative`` or ``cancelled`` (which is how a deleted event stays)."""
    summary: Mapped[str | None] = mapped_column(Text)
    description: Mapped[str | None] = mapped_column(Text)
    location: Mapped[str | None] = mapped_column(Text)
    people: Mapped[str] = mapped_column(Text)
    """Names and addresses of the attendees, for the full-text index."""
    all_day: Mapped[bool]
    start_at: Mapped[str] = mapped_column(Text)
    """An instant in UTC, or a date when ``all_day``."""
    end_at: Mapped[str] = mapped_column(Text)
    """Exclusive, like ``start_at``."""
    start_time_zone: Mapped[str | None] = mapped_column(Text)
    end_time_zone: Mapped[str | None] = mapped_column(Text)
    recurrence: Mapped[str | None] = mapped_column(Text)
    """Of a recurring event: its RRULE, RDATE and EXDATE lines, separated by line breaks."""
    last_start: Mapped[str | None] = mapped_column(Text)
    """Of a recurring event that ends: local start of what its RRULE gives last (``20250120T090000``)."""
    series: Mapped[int | None] = mapped_column(ForeignKey("events.number"))
    """Of an instance: the recurring event."""
    original_start: Mapped[str | None] = mapped_column(Text)
    """Of an instance: when it would start by the rule, like ``start_at``."""
    visibility: Mapped[str] = mapped_column(Text)
    transparency: Mapped[str] = mapped_column(Text)
    guests_can_modify: Mapped[bool]
    guests_can_invite_others: Mapped[bool]
    guests_can_see_other_guests: Mapped[bool]
    sequence: Mapped[int]
    created: Mapped[str] = mapped_column(Text)
    shared_properties: Mapped[str | None] = mapped_column(Text)
    """Extended properties that all calendars see: a JSON object of texts, ``None`` without any."""
    ical_uid: Mapped[str | None] = mapped_column(Text)
    """Of an event that was brought from elsewhere; of others it follows from the id."""
    foreign_organizer: Mapped[str | None] = mapped_column(Text)
    """Of an imported event: whose it is, where that is not the owner of the calendar."""
    foreign_organizer_name: Mapped[str | None] = mapped_column(Text)
    event_type: Mapped[str] = mapped_column(Text)
    """``default``, ``focusTime``, ``outOfOffice``, ``workingLocation`` or ``birthday``."""
    type_properties: Mapped[str | None] = mapped_column(Text)
    """Properties of the type: a JSON object."""
    conference: Mapped[str | None] = mapped_column(Text)
    """How it is attended from afar: Google's ``conferenceData`` as JSON."""


class Entry(Base):
    """An event on a calendar."""

    __tablename__ = "entries"
    __table_args__ = (
        UniqueConstraint("event", "calendar"),
        # A listing by start walks the first alone up to its page's rows, one by change the second.
        Index("entries_by_start", "calendar", "recurring", "starts", "event", "ends", "cancelled"),
        Index(
            "entries_by_change", "calendar", "updated", "event", "starts", "ends", "cancelled", "recurring"
        ),
        Index("entries_by_revision", "calendar", "revision", unique=True),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    event: Mapped[int] = mapped_column(ForeignKey("events.number"))
    calendar: Mapped[int] = mapped_column(ForeignKey("calendars.number"))
    starts: Mapped[str] = mapped_column(Text)
    """The instant at which it starts here: a date starts at midnight of the calendar's time zone."""
    ends: Mapped[str] = mapped_column(Text)
    """The instant at which it ends; of a recurring event, at which its last instance ends."""
    recurring: Mapped[bool]
    cancelled: Mapped[bool] = mapped_column(default=False)
    color_id: Mapped[str | None] = mapped_column(Text)
    reminders: Mapped[str | None] = mapped_column(Text)
    """JSON list of {method, minutes}; ``None``: the default reminders."""
    updated: Mapped[str] = mapped_column(Text)
    revision: Mapped[int]
    """Counts the changes on the calendar: what a sync token remembers."""
    private_properties: Mapped[str | None] = mapped_column(Text)
    """Extended properties of the event here, like the shared ones."""


class Attendee(Base):
    """A person (or room) invited to an event."""

    __tablename__ = "attendees"
    __table_args__ = (UniqueConstraint("event", "email"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    event: Mapped[int] = mapped_column(ForeignKey("events.number"))
    email: Mapped[str] = mapped_column(Text)
    display_name: Mapped[str | None] = mapped_column(Text)
    optional: Mapped[bool]
    response_status: Mapped[str] = mapped_column(Text)
    """``needsAction``, ``declined``, ``tentative`` or ``accepted``."""
    comment: Mapped[str | None] = mapped_column(Text)


_SEARCHED = "summary, description, location, people"
_OLD = ", ".join(f"old.{column}" for column in _SEARCHED.split(", "))
_NEW = ", ".join(f"new.{column}" for column in _SEARCHED.split(", "))
_INDEX = (
    f"CREATE VIRTUAL TABLE events_text USING fts5({_SEARCHED}, content='events', content_rowid='number',"
    " tokenize='unicode61')",
    "CREATE TRIGGER events_text_insert AFTER INSERT ON events BEGIN"
    f" INSERT INTO events_text(rowid, {_SEARCHED}) VALUES (new.number, {_NEW}); END",
    "CREATE TRIGGER events_text_delete AFTER DELETE ON events BEGIN"
    f" INSERT INTO events_text(events_text, rowid, {_SEARCHED}) VALUES ('delete', old.number, {_OLD}); END",
    f"CREATE TRIGGER events_text_update AFTER UPDATE OF {_SEARCHED} ON events BEGIN"
    f" INSERT INTO events_text(events_text, rowid, {_SEARCHED}) VALUES ('delete', old.number, {_OLD});"
    f" INSERT INTO events_text(rowid, {_SEARCHED}) VALUES (new.number, {_NEW}); END",
)
for _statement in _INDEX:
    event.listen(Base.metadata, "after_create", DDL(_statement))  # type: ignore[no-untyped-call]
