"""Data of conferences, submissions and their deadlines."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

from mesocosm.kits.prose import Person

if TYPE_CHECKING:
    from mesocosm.generators.set_conf_cr_ddl.names import Names

AOE = -12.0
"""Anywhere on Earth: hours from UTC."""
END_OF_DAY = dt.time(23, 59)
_WAKES, _AWAKE = dt.timedelta(hours=7), 15 / 24
"""Hour at which people start to write, and their share of a day."""

ChangeKind = Literal["extended", "by_days", "corrected", "zone", "forward"]
"""Put off to another date; put off by so many days; a mistake corrected; only the zone was wrong; brought
forward."""


@dataclass(frozen=True)
class Contact:
    """Somebody, or an office, with an address."""

    name: str
    email: str
    person: Person | None = None


@dataclass(frozen=True)
class Conference:
    """A series of conferences."""

    acronym: str
    name: str
    domain: str
    """Its own mails come from there."""
    topic: tuple[str, str]


@dataclass(frozen=True)
class Edition:
    """The conference of one year."""

    conference: Conference
    year: int
    chairs: tuple[Contact, ...]
    """Those who write for it: an office and a person."""

    @property
    def label(self) -> str:
        """As everybody calls it, ``ICAGR 2026``."""
        return f"{self.conference.acronym} {self.year}"


@dataclass(frozen=True)
class Deadline:
    """A deadline as a mail states it."""

    date: dt.date
    time: dt.time | None
    """``None``: not stated, which means the end of the day."""
    zone: Literal["aoe", "none", "utc", "other"]
    place: str = ""
    """Of another zone: whose time it is, ``Berlin``."""
    offset: float = AOE
    """Hours from UTC."""

    @property
    def stated(self) -> dt.datetime:
        """Date and time as written, without a zone."""
        return dt.datetime.combine(self.date, self.time or END_OF_DAY)

    @property
    def instant(self) -> dt.datetime:
        """The moment it means, in UTC."""
        return (self.stated - dt.timedelta(hours=self.offset)).replace(tzinfo=dt.UTC)


@dataclass(frozen=True)
class Change:
    """A deadline that was replaced by the next one."""

    kind: ChangeKind
    before: Deadline
    after: Deadline
    days: int = 0
    """Of a delay by so many days."""


@dataclass
class Submission:
    """A paper at a track of a conference: one line of the file."""

    edition: Edition
    track: str
    number: int
    title: str
    fate: str
    variant: str = ""
    """Variant of being open, past or rejected."""
    deadline: Deadline | None = None
    """Valid deadline in the end, or when the paper was withdrawn or submitted."""
    changes: list[Change] = field(default_factory=list)
    stale: Deadline | None = None
    """Outdated deadline quoted by an automatic reminder."""
    reminded: bool = False
    """An automatic reminder quotes what holds."""
    event: Literal["", "existing", "outdated", "needless"] = ""
    """The state of its event in the calendar."""
    alone: bool = True
    """It is the only one in the file at its conference."""
    apart: bool = False
    """Decision and deadline come in mails of their own."""
    moments: list[dt.datetime] = field(default_factory=list)
    """When the mails about it were sent, the announcement first."""

    @property
    def first(self) -> Deadline | None:
        """The deadline as it was announced first."""
        return self.changes[0].before if self.changes else self.deadline

    def valid_from(self, changes: int) -> dt.datetime:
        """Return when the mail was sent that states the deadline after this many changes."""
        return self.moments[int(self.apart) + changes]

    @property
    def due(self) -> bool:
        """True if it gets a reminder."""
        return self.fate == "due"


@dataclass(frozen=True)
class Office:
    """Owner of the task, with place and time."""

    group: str
    domain: str
    zone: ZoneInfo
    now: dt.datetime
    """Local, aware."""
    user: Contact
    colleagues: tuple[Contact, ...]


@dataclass
class Plan:
    """The office, the submissions, and the conferences outside the file."""

    office: Office
    submissions: list[Submission]
    noise: list[Edition]
    names: Names
    """From which further conferences and titles can be drawn."""


def waking(moment: dt.datetime, office: Office) -> dt.datetime:
    """The moment, moved into the hours in which people write; what was earlier than another stays so."""
    local = moment.astimezone(office.zone)
    if local.date() >= office.now.date():
        return local  # today there may not be many such hours yet
    midnight = local.replace(hour=0, minute=0, second=0)
    return (midnight + _WAKES + (local - midnight) * _AWAKE).replace(microsecond=0)


@dataclass(frozen=True)
class Mail:
    """A mail before it is stored."""

    moment: dt.datetime
    author: Contact
    subject: str
    body: str
    thread: str | None = None
    """Mails with the same mark are a conversation."""
    states: dt.datetime | None = None
    """Of a decoy: the moment that a careless reader would take for the deadline."""
    about: int | None = None
    """Of a decoy: number of the paper that it is about."""
