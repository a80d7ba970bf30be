"""Reference solver: reads all there is, keeps the latest word on every detail, and writes the table."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Any

from mesocosm.services.calling import Tools
from mesocosm.solvers.canvas_arrange_exam.facts import OPEN, Facts, read_facts
from mesocosm.solvers.canvas_arrange_exam.gathering import Course, courses, documents, local

_WORKBOOK = "exam_schedule.xlsx"
_DETAILS = ("date", "time", "duration", "room")
_LASTING = ("book", "proctor", "credits", "average", "exemption", "ruled_out")


def solve(tools: Tools, prompt: str) -> None:
    """Fill the schedule in."""
    now, ahead = local(prompt)
    term = re.search(r"each final exam of the (\w+ \d+) term", " ".join(prompt.split()))
    office = re.search(r"Office \(([^)\s]+)\)", prompt)
    assert office
    assert term
    known = courses(tools)
    finals = {course.id: Final(course) for course in known}
    for document in documents(tools, known, office[1]):
        facts = read_facts(document.text, document.course.section, term[1], ahead)
        finals[document.course.id].learn(facts, document.channel)
    rows = sorted((final for final in finals.values() if final.awaits(now)), key=Final.place)
    sheet = tools.call("excel", "get_workbook_metadata", filepath=_WORKBOOK)["sheets"][0]
    if rows:
        tools.call(
            "excel",
            "write_data_to_excel",
            filepath=_WORKBOOK,
            sheet_name=sheet,
            data=[final.row() for final in rows],
            start_cell="A2",
        )
    tools.call("claim_done", "claim_done")


@dataclass
class Final:
    """What is known of one course's final."""

    course: Course
    known: Facts

    def __init__(self, course: Course) -> None:
        self.course = course
        self.known = Facts()
        self.source = ""

    def learn(self, facts: Facts, channel: str) -> None:
        """Take in what a later text says."""
        for name in (*_DETAILS, *_LASTING):
            value = getattr(facts, name)
            if value is not None:
                setattr(self.known, name, value)
        if facts.detailed:
            self.source = channel

    def awaits(self, now: dt.datetime) -> bool:
        """Whether the student has to sit it, and has not yet."""
        if self.known.ruled_out or self._exempt() or not self.source:
            return False
        start = self._start()
        if start:
            return start > now
        return not isinstance(self.known.date, dt.date) or self.known.date >= now.date()

    def _exempt(self) -> bool:
        if self.known.exemption is None or self.known.average is None:
            return False
        limit, inclusive = self.known.exemption
        return self.known.average > limit or (inclusive and self.known.average == limit)

    def _start(self) -> dt.datetime | None:
        date, time = self.known.date, self.known.time
        if isinstance(date, dt.date) and isinstance(time, dt.time):
            return dt.datetime.combine(date, time)
        return None

    def place(self) -> tuple[bool, str, str]:
        """By what the rows are ordered."""
        start = self._start()
        return start is None, start.isoformat() if start else "", self.course.code

    def row(self) -> list[Any]:
        """The cells of the row."""
        known = self.known
        [(address, name)] = list(self.course.teachers.items())[:1]
        proctor, email = known.proctor or (name, address)
        return [
            self.course.code,
            self.course.title,
            _shown(proctor),
            _shown(email),
            _shown(known.book),
            f"{known.date:%m/%d/%Y}" if isinstance(known.date, dt.date) else "TBD",
            f"{known.time:%H:%M}" if isinstance(known.time, dt.time) else "TBD",
            _shown(known.duration),
            _shown(known.room),
            self.source,
            known.credits,
        ]


def _shown(value: Any) -> Any:
    return "TBD" if value in (None, OPEN) else value
