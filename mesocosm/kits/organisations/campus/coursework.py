"""Coursework: submissions of a class by a deadline, and decisions about them.

Events of a course: ``deadline``, ``deadline_moved``; of a student: ``submitted``, ``draft``, ``wrong_file``,
``no_file``, ``retracted``, ``asked``, ``extended``, ``refused``, ``excused``, ``excuse_withdrawn``,
``dropped``,
``reinstated``, ``claimed``, ``other_work``, ``nothing`` and ``uploaded`` (a record, told by no scene).
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mesocosm.kits.organisations.campus.setting import Campus, Course
from mesocosm.kits.organisations.events import Event, Story
from mesocosm.kits.organisations.people import Person

_DAY, _HOUR, _MINUTE = dt.timedelta(days=1), dt.timedelta(hours=1), dt.timedelta(minutes=1)
_DUE_HOURS = (12, 17, 18)

COUNTED = (
    "plain",
    "uploaded",
    "joint",
    "draft",
    "wrong_file",
    "no_file",
    "retracted",
    "desk",
    "extension",
    "excused",
)
"""Ways for a presentation to count, or to become unnecessary."""
MISSING = (
    "silent",
    "late",
    "draft_left",
    "wrong_left",
    "no_file_left",
    "retracted_left",
    "desk_left",
    "refused",
    "extension_missed",
    "excuse_withdrawn",
    "reinstated",
    "claimed",
    "other_work",
)
"""Ways for it to be missing."""
GONE = ("dropped", "off_roster")
"""Ways for a student to have left the course: told, or on the roster."""


def waking(rng: random.Random, first: dt.datetime, last: dt.datetime, person: Person) -> dt.datetime:
    """Draw a moment between two at which somebody writes; as near to that as the time between them allows."""
    span = max((last - first).total_seconds(), 60.0)
    for _ in range(40):
        moment = first + dt.timedelta(seconds=int(rng.random() * span))
        if person.early <= moment.hour < person.late and (not person.staff or moment.weekday() < 5):
            return moment
    for _ in range(24):
        if person.early <= moment.hour < person.late:
            return moment
        moment += _HOUR if moment + _HOUR < max(last, first + _DAY) else -_HOUR
    return moment


@dataclass
class Class:
    """A course with submissions, and everything that happens to it."""

    course: Course
    stories: list[Story] = field(default_factory=list)
    uploads: list[Event] = field(default_factory=list)
    """Records of what was handed in through the form."""
    off_roster: set[Person] = field(default_factory=set)
    due: dt.datetime = dt.datetime.min


class Coursework:
    """Simulates classes of a campus.

    Args:
        campus: Where.
        me: The assistant to whom things are handed in.
        rng: Draws everything.
    """

    def __init__(self, campus: Campus, me: Person, rng: random.Random) -> None:
        self._campus, self._me, self._rng = campus, me, rng

    def run(self, course: Course, fates: Sequence[str], end: dt.datetime, matters: bool) -> Class:
        """Simulate a class whose students meet these fates; all is over at ``end``."""
        made = Class(course)
        rng = self._rng
        base = {
            "me": self._me,
            "c": course,
            "prof": course.instructor,
            "sec": self._campus.secretary,
            "ta2": self._campus.assistants[-1],
            "tech": self._campus.technician,
            "lib": self._campus.librarian,
        }
        announced = self._deadlines(course, end, made, base, matters)
        # What is said relative to the deadline is said when it no longer moves.
        begin = announced + 2 * _HOUR
        students = list(course.students)
        waiting = list(zip(students, fates, strict=True))
        while waiting:
            student, fate = waiting.pop(0)
            partner = None
            if fate in ("joint", "desk", "desk_left"):
                index = next((n for n, (_, other) in enumerate(waiting) if other == fate), None)
                partner = waiting.pop(index)[0] if index is not None else None
                if partner is None and fate != "desk":
                    fate = "plain" if fate == "joint" else "no_file_left"
            for kind, roles in self._fate(made, student, partner, fate, begin, end):
                made.stories.append(Story(kind, base | {"s": student} | roles, matters))
        present = [who for who, fate in zip(students, fates, strict=True) if fate not in GONE] or students
        for student in rng.sample(present, max(1, len(present) // 9) if matters else 0):
            when = waking(rng, begin - 3 * _DAY, made.due + _DAY, student)
            kind, role = rng.choice((("other_work", "o"), ("claimed", "k")))
            if not any(story.kind == kind and story.roles["s"] is student for story in made.stories):
                # Somebody of whom little is heard: who is met once only can be told by that.
                heard = Counter(
                    story.roles[role] for story in made.stories for role in ("s", "t") if role in story.roles
                )
                others = [one for one in students if one is not student]
                seldom = [one for one in others if heard[one] == 1]
                other = rng.choice(seldom or others or [student])
                event = Event(kind, when, course, (student,), {})
                made.stories.append(Story(kind, base | {"s": student, "t": other, role: event}, matters))
        return made

    # -- for all ----------------------------------------------------------------------------------------

    def _deadlines(
        self, course: Course, end: dt.datetime, made: Class, base: Mapping[str, Any], matters: bool
    ) -> dt.datetime:
        """Announce the deadline and move it; returns when it was moved for the last time."""
        rng, prof = self._rng, course.instructor
        last = dt.datetime.combine((end - rng.randint(6, 7) * _DAY).date(), dt.time(rng.choice(_DUE_HOURS)))
        moves = rng.choice((1, 1, 1, 2, 2, 0))
        dues = [last]
        for _ in range(moves):
            dues.insert(0, dues[0] - rng.choice((1, 2, 3, -1, 4)) * _DAY)
        first = min(dues) - rng.randint(13, 16) * _DAY
        moments = [waking(rng, first, first + _DAY, prof)]
        for number in range(moves):
            room = (min(dues) - 5 * _DAY - moments[-1]) / (moves - number)
            moments.append(waking(rng, moments[-1] + room / 2, moments[-1] + room, prof))
        events: list[Event] = []
        for due, moment in zip(dues, moments, strict=True):
            values: dict[str, Any] = {"due": due}
            if events:
                shift = due - events[-1].due
                values |= {
                    "shift": shift,
                    "span": abs(shift),
                    "later": shift > 0 * _DAY,
                    "old_due": events[-1].due,
                }
            kind = "deadline_moved" if events else "deadline"
            events.append(Event(kind, moment, course, (), values, events[-1] if events else None))
        roles = dict(zip(("d1", "d2", "d3"), [*events, None, None], strict=False))
        made.stories.append(Story("deadline", {**base, **roles}, matters))
        made.due = last
        return moments[-1]

    # -- for each ---------------------------------------------------------------------------------------

    def _fate(
        self, made: Class, s: Person, t: Person | None, fate: str, begin: dt.datetime, end: dt.datetime
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        rng, course, due = self._rng, made.course, made.due
        sec, helper = self._campus.secretary, self._campus.assistants[-1]

        def event(
            kind: str,
            at: dt.datetime,
            follows: Event | None = None,
            *,
            by: Sequence[Person] = (s,),
            **values: Any,
        ) -> Event:
            return Event(kind, at.replace(microsecond=0), course, tuple(by), values, follows)

        def between(first: dt.datetime, last: dt.datetime, who: Person = s) -> dt.datetime:
            return waking(rng, first, max(last, first + 20 * _MINUTE), who)

        def submitted(
            at: dt.datetime, follows: Event | None = None, *, by: Sequence[Person] = (s,), **values: Any
        ) -> Event:
            return event("submitted", at, follows, by=by, late=at > due, **values)

        again: Event | None = None
        back: Event | None = None
        in_time, early = due - 25 * _MINUTE, due - 40 * _HOUR
        late = due + 40 * _MINUTE, due + 3 * _DAY
        match fate:
            case "plain":
                yield "handed_in", {"e": submitted(between(begin, in_time))}
            case "uploaded":
                made.uploads.append(event("uploaded", between(begin, in_time)))
            case "joint":
                assert t
                yield "joint", {"t": t, "e": submitted(between(begin, in_time), by=(s, t))}
            case "draft" | "draft_left":
                first = event("draft", between(begin, early))
                if fate == "draft":
                    adopts = rng.random() < 0.5
                    again = submitted(between(first.at + 8 * _HOUR, in_time), first, adopts=adopts)
                yield "draft", {"d": first, "f": again}
            case "wrong_file" | "wrong_left" | "no_file" | "no_file_left":
                kind = "wrong_file" if fate.startswith("wrong") else "no_file"
                first = event(kind, between(begin, early))
                again = (
                    None
                    if fate.endswith("left")
                    else submitted(between(first.at + 3 * _HOUR, in_time), first)
                )
                yield kind, {"w" if kind == "wrong_file" else "n": first, "f": again}
            case "retracted" | "retracted_left":
                first = submitted(between(begin, early))
                back = event("retracted", between(first.at + 2 * _HOUR, first.at + 20 * _HOUR), first)
                again = (
                    submitted(between(back.at + 3 * _HOUR, in_time), back) if fate == "retracted" else None
                )
                yield "retracted", {"e": first, "x": back, "f": again}
            case "desk" | "desk_left":
                moment = between(begin, in_time, helper)
                has = submitted(moment)
                not_so = event("nothing", moment, by=(t,)) if fate == "desk_left" and t else None
                if fate == "desk" and t:
                    other = submitted(between(begin, in_time, helper), by=(t,))
                    yield "desk", {"s": t, "t": s, "e": other, "n": None}
                yield "desk", {"t": t, "e": has, "n": not_so}
            case "extension" | "extension_missed" | "refused":
                asked = event("asked", between(begin, due - 30 * _HOUR))
                days = rng.choice((2, 2, 3))
                granted = fate != "refused"
                answered = between(asked.at + 2 * _HOUR, asked.at + 22 * _HOUR, course.instructor)
                own = due + days * _DAY
                values: dict[str, Any] = {
                    "granted": granted,
                    "due": own if granted else None,
                    "span": days * _DAY if granted else None,
                }
                decided = event("extended" if granted else "refused", answered, asked, later=True, **values)
                if fate == "extension":
                    again = submitted(between(due + 3 * _HOUR, own - _HOUR), decided)
                elif rng.random() < 0.5:
                    after = own if granted else due
                    again = submitted(between(after + _HOUR, after + 2 * _DAY), decided)
                yield "extension", {"a": asked, "d": decided, "f": again}
            case "excused" | "excuse_withdrawn":
                first = event("excused", between(begin, due - 2 * _DAY, course.instructor))
                if fate == "excuse_withdrawn":
                    back = event(
                        "excuse_withdrawn", between(first.at + 5 * _HOUR, due, course.instructor), first
                    )
                yield "excused", {"e": first, "x": back}
            case "dropped" | "reinstated":
                first = event("dropped", between(begin, due - 2 * _DAY, sec))
                back = (
                    event("reinstated", between(first.at + 5 * _HOUR, due, sec), first)
                    if fate == "reinstated"
                    else None
                )
                course.leaving.add(s)
                yield "dropped", {"e": first, "x": back}
            case "off_roster":
                course.leaving.add(s)
                made.off_roster.add(s)
            case "late":
                yield "handed_in", {"e": submitted(between(*late))}
            case "claimed":
                yield (
                    "claimed",
                    {"t": rng.choice(course.students), "k": event("claimed", between(begin, in_time))},
                )
            case "other_work":
                yield (
                    "other_work",
                    {"t": rng.choice(course.students), "o": event("other_work", between(begin, in_time))},
                )
            case "silent":
                return
            case _:
                raise ValueError(f"no fate {fate!r}")


def missing(
    course: Course, due: dt.datetime, enrolled: Sequence[Person], events: Sequence[Event]
) -> list[Person]:
    """Return the enrolled students whose submission is missing under the prompt's rules: the answer.

    Args:
        course: The class.
        due: The deadline for everybody, as announced last.
        enrolled: Who is enrolled by the roster.
        events: All that happened to the class, in order of time; what is told of others is left out.
    """
    found = []
    for student in enrolled:
        own, gone, excused, until = False, False, False, due
        mine = [event for event in events if event.about is course and student in event.people]
        for event in mine:
            if event.kind == "extended":
                until = event.due
        for event in mine:
            match event.kind:
                case "submitted" | "uploaded" if event.at < until + _MINUTE:
                    own = True
                case "retracted":
                    own = False
                case "excused" | "excuse_withdrawn":
                    excused = event.kind == "excused"
                case "dropped" | "reinstated":
                    gone = event.kind == "dropped"
        if not (own or gone or excused):
            found.append(student)
    return found


NEUTRAL = frozenset({"asked", "draft", "no_file", "claimed", "other_work", "nothing", "refused"})
"""Kinds of events that decide nothing.

A wrong file decides: without what says that it is one, the mail that it came with would count.
"""
