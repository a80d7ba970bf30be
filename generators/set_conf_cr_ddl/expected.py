"""The truth of an instance, as the checker and the mutants need it."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from pydantic import BaseModel

from mesocosm.families import family

Reason = Literal["rejected", "withdrawn", "submitted", "open", "past"]

INFO_FILE = "conference_info.txt"
LEAD = dt.timedelta(hours=3)
"""Lead time of a reminder; it ends at the deadline."""


def title_of(conference: str, track: str) -> str:
    """The title of a reminder, ``Camera-ready: ICAGR 2026 (Main Track)``."""
    return f"Camera-ready: {conference} ({track})"


class Reminder(BaseModel):
    """An event that has to be in the calendar in the end; moments are in UTC."""

    title: str
    deadline: dt.datetime
    earlier: list[dt.datetime] = []
    """Deadlines that were valid before, or that an automatic reminder still quotes."""
    stated: dt.datetime
    """Date and time of the deadline as the mail writes them, taken for UTC."""
    stated_zone: Literal["aoe", "none", "utc", "other"]
    """How the mail names the zone; ``none``: not at all, which means AoE."""
    decoys: list[dt.datetime] = []
    """Deadlines that mails give for something else: another track, another paper ..."""
    existing: str | None = None
    """Id of the right event that the calendar holds already."""
    outdated: str | None = None
    """Id of the event for an earlier deadline that the calendar holds."""

    @property
    def start(self) -> dt.datetime:
        """Start of the event."""
        return self.deadline - LEAD


class NotDue(BaseModel):
    """A submission that gets no reminder, and why."""

    title: str
    reason: Reason
    deadline: dt.datetime
    """Deadline by a careless reading."""
    needless: str | None = None
    """Id of the event for it that the calendar holds."""


class Expected(family.Expected):
    """The reminders there have to be, and what near misses are made of."""

    now: dt.datetime
    account: str
    """Owner of the mailbox and of the calendar."""
    reminders: list[Reminder]
    not_due: list[NotDue]
    others: list[str]
    """Ids of events that have nothing to do with the task, but look like it."""
    unlisted: list[str]
    """Titles that reminders of conferences outside the file would have."""
