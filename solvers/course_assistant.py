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
_DAY = r"(?:\d{4}-\d\d-\d\d|\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4})"
_WHEN = re.compile(rf"({_DAY})(?: at|,) (\d\d:\d\d)|(\d\d:\d\d) on ({_DAY})")
_SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z0-9])")
_NUMBER = re.compile(r"(?<!\d)\d{7}(?!\d)")
_TALK = re.compile(r"presentation|slides|handed in", re.IGNORECASE)
_TAKEN_BACK = re.compile(
    r"\b(take (back|them back)|withdraw|withdrawn|pull my|void|disregard my|forget the slides|not handed in|"
    r"please delete|should not be counted|throw them away)\b",
    re.IGNORECASE,
)
_NOT_EXCUSED = re.compile(
    r"not excused|after all|mistake|does not stand|take back the excuse|contrary to what|like everybody|"
    r"was wrong|no longer holds|any more",
    re.IGNORECASE,
)
_GONE = re.compile(
    r"dropped|\bleft\b|off the list|no longer in|withdrew|please strike|not a student|has lost|gave up|"
    r"is out of",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"back in|registered again|never left|returned to|back on the roster|enrolled|takes part|reinstated|"
    r"only seemed|contrary to the roster|stays in",
    re.IGNORECASE,
)


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
    course = found(r"teaching assistant of (.+?) \(", prompt)
    deadline = None
    for mail in mails:
        if f"<{instructor}>" in mail["from"]:
            for sentence in _sentences(mail["body"]):
                deadline = _heed(sentence, course, students, zone) or deadline
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


def _sentences(body: str) -> list[str]:
    return [part for line in body.splitlines() for part in _SENTENCE.split(line)]


def _heed(sentence: str, course: str, students: dict[str, Student], zone: ZoneInfo) -> dt.datetime | None:
    """Take in a sentence of the instructor; returns the deadline for everybody, if it announces one."""
    moment = _moment(sentence, zone)
    about = _NUMBER.search(sentence)
    talk = re.search("presentation", sentence, re.IGNORECASE)
    if about is None:
        return moment if talk and course in sentence else None
    student = students.get(about[0])
    if student is None:
        return None
    if not talk:
        if course in sentence and _BACK.search(sentence):
            student.enrolled = True
        elif course in sentence and _GONE.search(sentence):
            student.enrolled = False
    elif moment:
        student.deadline = moment
    else:
        student.excused = not _NOT_EXCUSED.search(sentence)
    return None


def _moment(sentence: str, zone: ZoneInfo) -> dt.datetime | None:
    written = _WHEN.search(sentence)
    if written is None:
        return None
    day, time = written[1] or written[4], written[2] or written[3]
    form = "%Y-%m-%d" if day[4] == "-" else "%d %B %Y" if day[0].isdigit() else "%B %d, %Y"
    return dt.datetime.strptime(f"{day} {time}", f"{form} %H:%M").replace(tzinfo=zone)


def _take_in(mail: dict[str, Any], students: dict[str, Student], deadline: dt.datetime) -> None:
    """Note whether a mail is a presentation that counts, or takes one back."""
    subject, body = mail["subject"], mail["body"]
    sent = dt.datetime.fromisoformat(mail["date"])
    numbers = _NUMBER.findall(subject)
    if mail["attachments"]:
        if numbers and numbers[0] in students and "presentation" in subject.lower():
            student = students[numbers[0]]
            # The last minute counts as a whole.
            if sent < (student.deadline or deadline) + dt.timedelta(minutes=1):
                student.handed_in = sent
    elif any(_TALK.search(said) and _TAKEN_BACK.search(said) for said in _sentences(body)):
        numbers += _NUMBER.findall(body)
        if numbers and numbers[0] in students:
            students[numbers[0]].handed_in = None
