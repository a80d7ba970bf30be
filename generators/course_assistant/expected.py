"""What the checker of the family needs to know."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from mesocosm.families import family

ROSTER = "course_roster.xlsx"
SHEET = "Roster"
HEADER = ("Name", "Student ID", "Email", "Status")


class Student(BaseModel):
    """Somebody on the roster."""

    model_config = ConfigDict(frozen=True)

    name: str
    number: str
    """The student ID: seven digits."""
    email: str
    fate: str
    """What they did, one of ``params.FATES``."""


class Expected(family.Expected):
    """Whom to remind, and how."""

    assistant: str
    """Address of the account that sends."""
    subject: str
    reminded: list[Student]
    others: list[Student]
    """The rest of the roster."""
