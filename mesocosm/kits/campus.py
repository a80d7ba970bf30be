"""A university whose students use Canvas: the clock of its campus, and the people in its records."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from mesocosm.kits.moments import utc_stamp
from mesocosm.kits.people import Contact
from mesocosm.kits.prose.names import slug
from mesocosm.servers.canvas.store import CanvasStore

AMERICAN_ZONES = (
    "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/Toronto",
    "America/Vancouver", "America/Halifax",
)  # fmt: skip
"""Where terms are called spring and fall."""
ZONES = (*AMERICAN_ZONES, "Europe/London", "Europe/Dublin", "Australia/Sydney", "Pacific/Auckland")
"""Where towns have the names that `Prose.town` gives."""
CREDITS = (1.5, 2, 2.5, 3, 3, 4, 4, 5, 6, 7.5)
"""Credits of courses."""


def domain_of(place: str) -> str:
    """Return the reserved domain of a university at a place; no real institution has it."""
    return f"{slug(place)}.example"


@dataclass(frozen=True)
class CampusWorld:
    """Place, time and asker of a campus world."""

    university: str
    domain: str
    zone: ZoneInfo
    now: dt.datetime
    """Local, aware."""
    term: str
    student: Contact

    def local(self, moment: dt.datetime) -> dt.datetime:
        """A campus-clock moment as an aware one."""
        return moment.replace(tzinfo=self.zone)

    def waking_moment(self, rng: random.Random, first: float, last: float) -> dt.datetime:
        """Draw a minute of waking hours, between ``first`` and ``last`` days ago."""
        day = (self.now - dt.timedelta(days=rng.uniform(last, first))).date()
        clock = dt.time(rng.randint(7, 21), rng.randrange(60), rng.randrange(60))
        return dt.datetime.combine(day, clock, self.zone)


def add_campus(store: CanvasStore, campus: CampusWorld) -> int:
    """The account that everything of the university belongs to."""
    return store.accounts.add_accounts([{"name": campus.university, "default_time_zone": str(campus.zone)}])[
        0
    ]


def add_users(
    store: CanvasStore, campus: CampusWorld, root: int, people: Iterable[Contact], since: dt.datetime
) -> dict[str, int]:
    """Records of people, in their order; returns their ids by address."""
    contacts = list(people)
    ids = store.users.add_users(
        [
            {
                "name": who.name,
                "login_id": who.email,
                "primary_email": who.email,
                "account_id": root,
                "time_zone": str(campus.zone),
                "created_at": utc_stamp(since),
            }
            for who in contacts
        ]
    )
    return dict(zip((who.email for who in contacts), ids, strict=True))
