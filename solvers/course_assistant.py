"""Finds out from the roster and all mails who has to be reminded, and writes to them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from mesocosm.kits.paging import found, mail_folders, mails_in_order, sheet_rows
from mesocosm.services.calling import Tools

ROSTER = "course_roster.xlsx"
_DATE = re.compile(r"\w+, (\w+ \d+, \d{4}) at (\d\d:\d\d)")
_STUDENT = re.compile(r"\((\d{7})\)")


@dataclass
class Student:
    """What is known of a student."""

    name: str
    number: str
    email: str
    enrolled: bool
    excused: bool = False
    deadline: dt.datetime | None = None
    handed_in: dt.datetime | None = None


def solve(tools: Tools, prompt: str) -> None:
    """Read everything, decide, write, and declare the task done."""
    zone = ZoneInfo(found(r"zone\s+([\w/]+)\)", prompt))
    instructor = found(r"instructor, [^(]*\(([^)]+)\)", prompt)
    subject = found(r"subject is exactly: (\S+)", prompt)
    students = {student.number: student for student in _roster(tools)}
    mails = mails_in_order(tools, *mail_folders(tools))
    deadline = None
    for mail in mails:
        if f"<{instructor}>" in mail["from"]:
            deadline = _heed(mail["body"], students, zone) or deadline
    assert deadline, "the instructor announced no deadline"
    for mail in mails:
        _take_in(mail, students, deadline)
    for student in students.values():
        if student.enrolled and not student.excused and student.handed_in is None:
            body = (
                f"Dear {student.name},\n\nwe have not received your presentation in time (student ID "
                f"{student.number}). Please get in touch with us.\n"
            )
            tools.call("email", "send_email", to=student.email, subject=subject, body=body)
    tools.call("claim_done", "claim_done")


def _roster(tools: Tools) -> Iterator[Student]:
    sheet = tools.call("excel", "get_workbook_metadata", filepath=ROSTER)["sheets"][0]
    for name, number, email, status in sheet_rows(tools, ROSTER, sheet, "A2"):
        yield Student(str(name), str(number), str(email), enrolled=status == "enrolled")


def _heed(body: str, students: dict[str, Student], zone: ZoneInfo) -> dt.datetime | None:
    """Take in a mail of the instructor; returns the deadline for everybody, if it announces one."""
    text = " ".join(body.split())
    moment = None
    if found := _DATE.search(text):
        moment = dt.datetime.strptime(f"{found[1]} {found[2]}", "%B %d, %Y %H:%M").replace(tzinfo=zone)
    about = _STUDENT.search(text)
    if about is None:
        return moment if "due by" in text else None
    student = students[about[1]]
    if "may hand in" in text:
        student.deadline = moment
    elif "is not excused" in text:
        student.excused = False
    elif "is excused" in text:
        student.excused = True
    elif "dropped the course" in text:
        student.enrolled = False
    elif "back in the course" in text:
        student.enrolled = True
    return None


def _take_in(mail: dict[str, Any], students: dict[str, Student], deadline: dt.datetime) -> None:
    """Note whether a mail is a presentation that counts, or takes one back."""
    numbers = re.findall(r"(?<!\d)\d{7}(?!\d)", mail["subject"])
    if not numbers or numbers[0] not in students or "presentation" not in mail["subject"].lower():
        return
    student = students[numbers[0]]
    sent = dt.datetime.fromisoformat(mail["date"])
    if re.search(r"\b(withdraw|take back)", f"{mail['subject']} {mail['body']}", re.IGNORECASE):
        student.handed_in = None
        return
    # The last minute counts as a whole.
    until = (student.deadline or deadline) + dt.timedelta(minutes=1)
    if mail["attachments"] and sent < until:
        student.handed_in = sent
