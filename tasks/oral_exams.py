"""The campus that `oral_exams` asks about, and the answer: which orals take place, when, and with whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mesocosm.kits.organisations.campus.directory import Directory
from mesocosm.kits.organisations.campus.exams import exam_of
from mesocosm.kits.organisations.campus.platform import survey_student as survey  # noqa: F401 - the task file takes it
from mesocosm.kits.organisations.campus.studies import Studies
from mesocosm.kits.organisations.events import Event, Story
from mesocosm.kits.organisations.questions import Answer, Organisation

_CHANGES = (
    "moved",
    "moved_twice",
    "swap",
    "swap_refused",
    "examiner",
    "examiner_twice",
    "room",
    "exempt_withdrawn",
    "back",
)
_WEIGHTS = (8, 3, 4, 2, 3, 1, 2, 2, 2)
_ENDS = ("exempt", "cancelled")
_FIRST = ("announcement", "announcement", "mail", "conversation")
"""Channels of the first word on an exam."""


def simulate(stream: Any, params: Any) -> Organisation:
    """Run the weeks before the oral exams of a student."""
    studies = Studies.drawn(stream, "oral", params.size)
    rng = stream("fates")
    stories: list[Story] = []
    for number, course in enumerate(studies.campus.listed):
        changes = _drawn(rng, _CHANGES, _WEIGHTS, rng.choices(range(5), (1, 2, 4, 3, 2))[0])
        # A sixth are not held in the end, and one at least is.
        if number and rng.random() < 1 / 6:
            changes = [
                *[one for one in changes if one not in ("back", "exempt_withdrawn")][:1],
                rng.choice(_ENDS),
            ]
        # Who gives the exam in the end has agreed to the time: places are changed before it is handed over.
        changes.sort(key=lambda change: (change in _ENDS, change.startswith("examiner")))
        stories += studies.exams.run(course, rng.choice(_FIRST), changes)
    return studies.organisation(stories, stream, {})


def _drawn(rng: Any, names: Sequence[str], weights: Sequence[float], number: int) -> list[str]:
    """Draw different ones."""
    found: list[str] = []
    while len(found) < number:
        [name] = rng.choices(names, weights)
        if name not in found:
            found.append(name)
    return found


def answer(directory: Directory, events: Sequence[Event], known: Mapping[str, Any], params: Any) -> Answer:
    """The exams as they stand, by the rules of the prompt."""
    me = directory.me
    exams = []
    for course in directory.courses.values():
        exam = exam_of(course, events)
        if exam is None or not course.listed:
            continue
        examiner = exam.examiner or course.instructor
        exams.append(
            {
                "code": course.code,
                "examiner": examiner.full,
                "address": examiner.email,
                "on": exam.is_on and exam.start is not None,
                "start": f"{exam.start:%Y-%m-%d %H:%M}" if exam.start else "",
            }
        )
    return Answer(
        singles={
            "me": {"name": me.full, "email": me.email},
            "place": {
                "school": directory.university,
                "zone": directory.zone,
                "secretary": directory.secretary.full,
                "office": directory.office.full,
            },
        },
        sets={"exam": exams},
    )
