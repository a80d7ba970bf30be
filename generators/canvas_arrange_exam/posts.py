"""A world's texts before they are stored: who writes what to whom, where and when."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass

from mesocosm.generators.canvas_arrange_exam.courses import Campus, Channel, Contact, Course


@dataclass(frozen=True)
class Post:
    """An announcement, a mail or a conversation."""

    channel: Channel
    moment: dt.datetime
    author: Contact
    subject: str
    body: str
    course: Course | None = None
    answers: tuple[tuple[Contact, str], ...] = ()
    """Further messages of a conversation, each some time after the one before."""
    thread: str | None = None
    """Mails with the same mark are a conversation."""


def moment_between(rng: random.Random, campus: Campus, first_days: float, last_days: float) -> dt.datetime:
    """A minute of the waking hours between so many days ago and so many days ago (local time)."""
    days = rng.uniform(last_days, first_days)
    day = (campus.now - dt.timedelta(days=days)).date()
    return dt.datetime(
        day.year,
        day.month,
        day.day,
        rng.randint(7, 21),
        rng.randrange(60),
        rng.randrange(60),
        tzinfo=campus.zone,
    )
