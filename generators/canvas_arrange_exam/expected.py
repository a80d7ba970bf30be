"""The truth of an instance, as the checker and the mutants need it."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from pydantic import BaseModel

from mesocosm.families import family

WORKBOOK = "exam_schedule.xlsx"
SHEET = "Exam Schedule"
HEADER = (
    "Course Code",
    "Course Name",
    "Proctor Name",
    "Proctor Email",
    "Open-book/Closed-book",
    "Final Date (MM/DD/YYYY)",
    "Start Time (HH:MM)",
    "Duration (minutes)",
    "Location",
    "Information Source(Announcement/Email/Message)",
    "Course Credit",
)

Source = Literal["Announcement", "Email", "Message"]
Book = Literal["Open-book", "Closed-book"]


class Row(BaseModel):
    """One line of the schedule; ``None`` stands for TBD."""

    code: str
    name: str
    proctor: str | None
    proctor_email: str | None
    book: Book | None
    date: dt.date | None
    time: dt.time | None
    duration: int | None
    location: str | None
    source: Source
    credit: float


class LeftOut(BaseModel):
    """A course that has no line, and why; ``row`` is the line that a careless reader would write."""

    reason: Literal["no_exam", "exemption", "past", "optional"]
    row: Row


class Expected(family.Expected):
    """The schedule in its right order, and what near misses are made of."""

    rows: list[Row]
    left_out: list[LeftOut]
    superseded: list[Row]
    """The lines, of rows whose details were changed, as they stood before the change."""
    unconverted: list[Row]
    """The lines, of rows whose time was given in another zone, with date and time as given there."""
    instructors: dict[str, tuple[str, str]]
    """Name and address of the instructor by course code."""
    assistants: dict[str, tuple[str, str]]
    """Name and address of the teaching assistant by course code."""
    suffixes: dict[str, str]
    """The section suffix (``-2``) by course code."""
