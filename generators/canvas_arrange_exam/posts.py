"""A world's texts before they are stored: who writes what to whom, where and when."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from mesocosm.generators.canvas_arrange_exam.courses import Channel, Course
from mesocosm.kits.people import Contact


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
    to: str = ""
    """As the To header of a mail shows it; empty: the student."""
