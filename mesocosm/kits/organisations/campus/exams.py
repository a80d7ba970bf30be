"""Exams: finals and orals of a student's courses, from the first word on them to what holds in the end.

Events: ``exam_set``, ``exam_moved``, ``room_changed``, ``length_changed``, ``books_set``, ``examiner_set``,
``exempted``, ``exemption_withdrawn``, ``cancelled``, ``reinstated``, ``swapped``, ``swap_refused``,
``optional``;
``hearsay`` and ``other_exam`` decide nothing.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from mesocosm.kits.moments import is_holiday
from mesocosm.kits.organisations.campus.coursework import waking
from mesocosm.kits.organisations.campus.setting import Campus, Course
from mesocosm.kits.organisations.events import Event, Story
from mesocosm.kits.organisations.people import Person

_DAY, _HOUR, _MINUTE = dt.timedelta(days=1), dt.timedelta(hours=1), dt.timedelta(minutes=1)
_STARTS = (8, 9, 10, 11, 13, 14, 15, 16)
_LENGTHS = {"final": (60, 90, 120, 150, 180), "oral": (15, 20, 30, 40)}
_KINDS = ("quiz", "midterm", "make-up", "practice", "other section")
TESTS = _KINDS[:4]
"""Kinds of tests of a course that are no final and no oral."""
_REVIEW_DAYS = range(4, 13)
"""How many days before an exam its review session may be; an exam may still move to some days earlier."""
_TRIES = 60
"""So many draws are made for what suits the rest."""
_WEEKS = 5
"""So long before the mailbox is read the first word on exams is spoken."""
_CONSIDERED = 16
"""Fellow students of whom two are chosen."""
_APART = 6 * _DAY
"""Sections of one course have their finals, and its students their orals, in the same days."""
_REVIEW_HOURS = (10, 11, 12, 14, 15, 16, 17)
Noun = Literal["final", "oral"]
_DISTRACTIONS = {"other_course": 20, "bulletin": 2, "hearsay": 1, "other_exam": 3, "everyday_student": 2}
"""Stories that decide nothing, and how often each is drawn."""
_REHEARSED = {"other_course": 6, "bulletin": 2, "hearsay": 2, "other_exam": 2, "everyday_student": 1}
"""The same where scenes are rehearsed: there has to be enough of each."""

CHANGES = (
    "moved",
    "moved_twice",
    "room",
    "length",
    "books",
    "books_changed",
    "examiner",
    "examiner_twice",
    "swap",
    "swap_refused",
    "exempt_withdrawn",
    "back",
    "optional_for_others",
)
"""Changes that an exam to be sat may undergo."""
_OF_OTHERS = {
    "final": {
        "books": 0.5,
        "books_changed": 0.15,
        "examiner": 0.2,
        "moved": 0.12,
        "moved_twice": 0.05,
        "room": 0.06,
        "length": 0.06,
        "back": 0.06,
        "exempt_withdrawn": 0.15,
        "exempt": 0.3,
        "cancelled": 0.1,
        "optional": 0.1,
    },
    "oral": {
        "moved": 0.35,
        "moved_twice": 0.15,
        "swap": 0.2,
        "swap_refused": 0.1,
        "room": 0.08,
        "examiner": 0.25,
        "examiner_twice": 0.05,
        "back": 0.08,
        "exempt_withdrawn": 0.15,
        "exempt": 0.2,
        "cancelled": 0.05,
    },
}
"""Fates of the exam of a course that is not one's own, with their shares: so that mails tell as much of
each as of one's own exams."""
LARGE = 15
"""More courses than this make a large world, which is mail for as long as there are scenes."""
_OF_MANY_OTHERS = {
    "final": {
        **_OF_OTHERS["final"],
        "moved": 0.3,
        "moved_twice": 0.12,
        "room": 0.18,
        "length": 0.18,
        "back": 0.1,
        "cancelled": 0.15,
        "examiner": 0.25,
    },
    "oral": {**_OF_OTHERS["oral"], "room": 0.2, "cancelled": 0.12, "back": 0.12, "examiner": 0.3},
}
"""The same in a large world, where few scenes are left that set an exam, and many that change one."""
_EITHER = (
    ("books", "books_changed"),
    ("moved", "moved_twice", "back"),
    ("swap", "swap_refused"),
    ("examiner", "examiner_twice"),
    ("cancelled", "exempt", "optional", "exempt_withdrawn"),
    ("cancelled", "back"),
)
"""Of these only the first one drawn happens to an exam."""
_NOTICES = {
    "final": ("moved", "moved", "room", "room", "length", "books", "examiner", "cancelled"),
    "oral": ("room", "room", "room", "examiner", "cancelled"),
}
"""Details of it that a bulletin has."""
_NOTICED = {
    "final": frozenset({"exam_moved", "room_changed", "length_changed", "books", "examiner", "cancelled"}),
    "oral": frozenset({"room_changed", "examiner", "cancelled"}),
}
_IN_BULLETINS = 0.35
"""The share of such changes of one's own exams that stand in a bulletin."""
_OF_ONES_OWN = 0.6
"""The share of a bulletin's everyday notices that are of a course on the student's list."""
_BULLETIN = (4, 8)
"""So many other notices are in one."""
ENDS = ("exempt", "cancelled", "optional")
"""Why one need not be sat."""


@dataclass(eq=False, slots=True)
class Exam:
    """Facts of an exam that the prompts' rules decide on."""

    course: Course
    start: dt.datetime | None = None
    open: str = ""
    """The detail that has not been published: ``room`` or ``time``."""
    length: int | None = None
    room: str | None = None
    allowed: bool | None = None
    examiner: Person | None = None
    via: str = ""
    """The channel of the last notice on date, time, length or place."""
    cancelled: bool = False
    exempt: bool = False
    optional: bool = False

    @property
    def is_on(self) -> bool:
        """True if the student has to sit it."""
        return not (self.cancelled or self.exempt or self.optional)


def exam_of(course: Course, events: Sequence[Event]) -> Exam | None:
    """Return the final facts of a course's exam after these events, in order of time; ``None`` if nothing was
    said.
    """
    exam = Exam(course, examiner=course.instructor)
    seen = False
    for event in events:
        if event.about is not course:
            continue
        seen = True
        match event.kind:
            case "exam_set":
                exam.open = event.open or ""
                exam.start = None if exam.open == "time" else event.start
                exam.room = None if exam.open == "room" else event.room
                exam.length = event.length
            case "exam_moved" | "swapped":
                exam.start = event.start
                exam.open = "" if exam.open == "time" else exam.open
            case "room_changed":
                exam.room = event.room
            case "length_changed":
                exam.length = event.length
            case "books_set":
                exam.allowed = event.allowed
            case "examiner_set":
                exam.examiner = event.who
            case "exempted" | "exemption_withdrawn":
                exam.exempt = event.kind == "exempted"
            case "cancelled" | "reinstated":
                exam.cancelled = event.kind == "cancelled"
                exam.start = event.start or exam.start
            case "optional":
                exam.optional = bool(event.applies)
        if event.kind in (
            "exam_set",
            "exam_moved",
            "room_changed",
            "length_changed",
            "swapped",
            "reinstated",
        ):
            exam.via = event.via or exam.via
    return exam if seen else None


@dataclass
class Exams:
    """Simulates the exams of a student.

    Args:
        campus: Where; its ``now`` is when the mailbox is read.
        me: The student.
        noun: final or oral.
        rng: Draws everything.
    """

    campus: Campus
    me: Person
    noun: Noun
    rng: random.Random
    fellows: list[Person] = field(default_factory=list)
    first: dt.date = dt.date.min
    """The first day of the exam period; by default ten days from now."""
    held: dict[Course, dt.datetime] = field(default_factory=dict)
    """When each exam begins, as it stands in the end."""
    steady: bool = True
    """True if what is told beside an exam holds for the world; scenes rehearsed alone need no such thing."""
    _said_beside: dict[tuple[Course, Any], dict[str, Any]] = field(default_factory=dict)
    """The review session of a course, and the exams of its other section or of fellow students."""
    _away: set[Person] = field(default_factory=set)
    """Instructors who have left an exam to somebody else."""
    _met: Counter[Person] = field(default_factory=Counter)
    """How often each fellow student was drawn."""
    _noticed: dict[Course, dict[str, Any]] = field(default_factory=dict)
    """The exams of courses that bulletins alone speak of, as they were set, and what changed of each."""
    _booked: dict[Course, tuple[dt.datetime, int]] = field(default_factory=dict)
    """When each exam begins as far as it was simulated, and its length: a student has one at a time."""
    _set_first: dict[Course, dt.datetime] = field(default_factory=dict)
    """Moments at which exams were to begin by the first word on them."""
    _tests: dict[Course, dict[str, tuple[dt.datetime, dt.datetime]]] = field(default_factory=dict)
    """The quizzes and the like of each course, when they were told and when they are: one of each kind, and
    one a day."""

    def base(self, course: Course, **roles: Any) -> dict[str, Any]:
        """The roles that all stories of a course have."""
        others = [one for one in course.students if one is not self.me] or self.fellows
        f, g = self._fellows_of(others)
        events = [one for one in roles.values() if isinstance(one, Event)]
        return {
            **self._besides(course, events, g if "w" in roles else f),
            "me": self.me,
            "c": course,
            "prof": course.instructor,
            "sec": self.campus.secretary,
            "off": self.campus.office,
            "ta2": self.campus.assistants[0],
            "ta": self.campus.assistants[0],
            "tech": self.campus.technician,
            "lib": self.campus.librarian,
            "f": f,
            "g": g,
            "exam": self.noun,
            "p": course.instructor,
            "x": None,
            **roles,
        }

    def _fellows_of(self, others: Sequence[Person]) -> list[Person]:
        """Draw two of some fellow students; whom one knows, one hears of again."""
        if len(others) < 2:
            return [others[0], others[0]]
        drawn = self.rng.sample(others, min(_CONSIDERED, len(others)) if self.steady else 2)
        drawn.sort(key=lambda who: -self._met[who] if self.steady else 0)
        self._met.update(drawn[:2])
        return drawn[:2]

    def _besides(self, course: Course, events: Sequence[Event], who: Person) -> dict[str, Event | None]:
        """Draw related distractions: a review session, and the exam of another section or student.

        Both have draws of their own: nothing else depends on what is said beside it. What was said once of a
        course or a student holds; what is over by then is not spoken of. A review comes before what it
        prepares.
        """
        at, last = min(event.at for event in events), max(event.at for event in events)
        rng = random.Random(f"{course.code}:{at}")
        first = last + 3 * _DAY
        tests: list[dt.datetime] = []
        starts = [event.start for event in events if event.start]
        if self.steady:
            tests = [
                event.start
                for event in events
                if event.kind == "hearsay" or (event.kind == "other_exam" and event.what in TESTS)
            ]
            starts = [event.start for event in events if event.start and event.kind not in NEUTRAL]
            starts += [self._booked[course][0]] if course in self._booked else []
        exam = min(starts or [first + 12 * _DAY])

        # In this order, which readings of scenes depend on.
        start, length = self.start(first.date(), rng), rng.choice(_LENGTHS[self.noun])
        near = self._near(exam, first, start)
        key: Any = who if self.noun == "oral" else ""
        other = self._said(course, key, near, at, last, rng, what="other section", length=length)
        before = min(exam, other.start) if other and self.noun == "final" and self.steady else exam
        days = [first + n * _DAY for n in range(12) if (first + n * _DAY).date() < before.date()]
        if self.steady:
            days = [before - n * _DAY for n in _REVIEW_DAYS if before - n * _DAY > first] or days
        days = [day for day in days if day.weekday() < 5 and not is_holiday(day.date())]
        review = None
        if days:
            hour = dt.time(rng.choice(_REVIEW_HOURS))
            review = dt.datetime.combine(rng.choice(days).date(), hour)
        session = self._said(course, "review", review, at, last, rng, what="review")
        if session and self.steady and session.start >= min([before, *tests]):
            session = None
        return {"n": other, "q": session}

    def _said(
        self,
        course: Course,
        key: Any,
        start: dt.datetime | None,
        at: dt.datetime,
        last: dt.datetime,
        rng: random.Random,
        **values: Any,
    ) -> Event | None:
        """Find what is said of a session beside an exam: as it was said first, unless it is over by then."""
        said = self._said_beside if self.steady else {}
        known_before = (course, key) in said
        if start is not None:
            room = self.campus.room(rng=rng)
            said.setdefault((course, key), {"start": start, "room": room, **values})
        known = said.get((course, key))
        if known is None or known["start"] <= last + _DAY:
            return None
        people = (key,) if isinstance(key, Person) else ()
        return Event("other_exam", at, course, people, {**known, "known": known_before})

    def _near(self, exam: dt.datetime, first: dt.datetime, start: dt.datetime) -> dt.datetime | None:
        """A moment within three days of an exam and after a first day, at the hour of a moment.

        Sections and students of one course have their exams in the same days.
        """
        days = [exam + n * _DAY for n in (-1, 1, 2, 0, -2, 3)]
        near = [day for day in days if day > first and day.weekday() < 5 and not is_holiday(day.date())]
        found = [dt.datetime.combine(day.date(), start.time()) for day in near]
        found = [one for one in found if one != exam]
        if not found:
            return None if self.steady else start
        return random.Random(f"{start}:{exam}").choice(found)

    def _is_free(self, course: Course, start: dt.datetime, length: int) -> bool:
        """Return True if no other exam of the student is then, as far as they were simulated."""
        if not self.steady:
            return True
        end = start + length * _MINUTE
        return all(
            end <= other or other + minutes * _MINUTE <= start
            for of, (other, minutes) in self._booked.items()
            if of is not course
        )

    def _free_start(self, course: Course, after: dt.date) -> dt.datetime:
        """Draw when an exam begins that is at no other's time, if there are such times."""
        start = self.start(after)
        for _ in range(_TRIES):
            if self._is_free(course, start, max(_LENGTHS[self.noun])):
                break
            start = self.start(after)
        return start

    def start(self, after: dt.date, rng: random.Random | None = None) -> dt.datetime:
        """Draw when an exam begins: on a weekday of the three weeks after a day."""
        rng = rng or self.rng
        while True:
            day = after + rng.randint(0, 20) * _DAY
            if day.weekday() < 5 and not is_holiday(day):
                return dt.datetime.combine(day, dt.time(rng.choice(_STARTS), rng.choice((0, 0, 0, 30))))

    def run(
        self, course: Course, via: str, changes: Sequence[str] = (), opened: str = "", over: bool = False
    ) -> list[Story]:
        """Simulate an exam: first word on it in a channel, and what becomes of it, in this order."""
        rng, now = self.rng, self.campus.now
        begin = now - rng.randint(16, 7 * _WEEKS - 2) * _DAY
        period = self.first if self.first > dt.date.min else (now + 10 * _DAY).date()
        start = self._free_start(course, (now - 18 * _DAY).date() if over else period)
        if over:
            while start >= now - _HOUR or start.weekday() > 4 or is_holiday(start.date()):
                start -= _DAY
            begin = start - rng.randint(14, 20) * _DAY
        room = self.campus.room()
        length = rng.choice(_LENGTHS[self.noun])
        self._booked[course] = start, length
        self._set_first[course] = start
        values: dict[str, Any] = {
            "start": start,
            "length": length,
            "room": room,
            "open": opened,
        }
        first = Event(
            "exam_set", waking(rng, begin, begin + 3 * _DAY, course.instructor), course, (self.me,), values
        )
        stories = [Story("exam_set", self.base(course, e=first, via=via))]
        last = min(now, start) - 3 * _HOUR
        # A change is told when the one before it is settled; what is relative is relative to that.
        steps = len(changes) + 1
        held: dict[str, Any] = dict(values)
        who = course.instructor
        for number, change in enumerate(changes, 1):
            earliest = first.at + (last - first.at) * number / steps
            latest = first.at + (last - first.at) * (number + 0.7) / steps
            stories.append(self._change(course, change, held, earliest, latest, who))
            for event in stories[-1].events:
                if event.kind in NEUTRAL:
                    continue
                held |= {
                    name: event.values[name] for name in ("start", "room", "length") if event.values.get(name)
                }
                who = event.who or who
            self._booked[course] = held["start"], held["length"]
        self.held[course] = held["start"]
        return stories

    def _change(
        self,
        course: Course,
        change: str,
        held: dict[str, Any],
        first: dt.datetime,
        last: dt.datetime,
        who: Person,
    ) -> Story:
        rng, me = self.rng, self.me
        middle = first + (last - first) * 0.5

        def at(a: dt.datetime, b: dt.datetime, writer: Person = course.instructor) -> dt.datetime:
            return waking(rng, a, b, writer)

        def event(kind: str, moment: dt.datetime, follows: Event | None = None, **values: Any) -> Event:
            return Event(kind, moment, course, (me,), values, follows)

        via = (
            rng.choice(("mail", "mail", "announcement", "conversation"))
            if self.noun == "final" or self.steady
            else rng.choice(("mail", "announcement"))
        )
        match change:
            case "moved" | "moved_twice":
                one = event("exam_moved", at(first, middle), **self._moved(course, held["start"]))
                two = None
                if change == "moved_twice":
                    two = event(
                        "exam_moved", at(middle + 2 * _HOUR, last), one, **self._moved(course, one.start)
                    )
                return Story("exam_moved", self.base(course, m=one, m2=two, via=via))
            case "room":
                new = self.campus.room(held["room"])
                changed = event("room_changed", at(first, last), room=new, old_room=held["room"])
                return Story("room_changed", self.base(course, r=changed, via=via))
            case "length":
                new_length = rng.choice([one for one in _LENGTHS[self.noun] if one != held["length"]])
                changed = event(
                    "length_changed", at(first, last), length=new_length, old_length=held["length"]
                )
                return Story("length_changed", self.base(course, l=changed, via=via))
            case "books" | "books_changed":
                allowed = rng.random() < 0.5
                said = event("books_set", at(first, middle), allowed=allowed)
                again = None
                if change == "books_changed":
                    again = event("books_set", at(middle + 2 * _HOUR, last), said, allowed=not allowed)
                return Story("books", self.base(course, b=said, b2=again, via=via))
            case "examiner" | "examiner_twice":
                # Nobody announces that they take over from somebody what was theirs.
                others = [one for one in self.campus.instructors if one not in (who, course.instructor)]
                if self.steady:
                    # Nor does somebody take over who cannot give their own.
                    self._away.add(course.instructor)
                    others = [one for one in others if one not in self._away] or others
                new_one = rng.choice(others)
                said = event("examiner_set", at(first, middle), who=new_one)
                again = None
                if change == "examiner_twice":
                    third = rng.choice([one for one in others if one is not new_one] or others)
                    if third is not new_one:
                        again = event("examiner_set", at(middle + 2 * _HOUR, last), said, who=third)
                return Story("examiner", self.base(course, p=said, p2=again, via=via))
            case "exempt" | "exempt_withdrawn":
                said = event(
                    "exempted", at(first, middle), why=rng.choice(("average", "paper", "earlier course"))
                )
                back = (
                    event("exemption_withdrawn", at(middle + 2 * _HOUR, last), said)
                    if change != "exempt"
                    else None
                )
                return Story("exempt", self.base(course, e=said, x=back, via=via))
            case "cancelled" | "back":
                said = event("cancelled", at(first, middle))
                back = None
                if change == "back":
                    moved = self._moved(course, held["start"])["start"] if rng.random() < 0.5 else None
                    back = event("reinstated", at(middle + 2 * _HOUR, last), said, start=moved)
                return Story("cancelled", self.base(course, k=said, b=back, via=via))
            case "swap" | "swap_refused":
                agreed = change == "swap"
                new_start = self.start(held["start"].date() - 3 * _DAY)
                while new_start == held["start"] or new_start <= self.campus.now + _DAY:
                    new_start = self.start(self.campus.now.date() + 4 * _DAY)
                if self.steady:
                    new_start = self._other_slot(course, held["start"])
                kind = "swapped" if agreed else "swap_refused"
                said = event(kind, at(first, last), start=new_start, old_start=held["start"], agreed=agreed)
                roles = self.base(course, w=said, p=who, via=via)
                # Nobody trades a slot other than the one that was told of them.
                free = [one for one in course.students if (course, one) not in self._said_beside]
                if roles["f"] not in free and (
                    others := [one for one in free if one not in (me, roles["g"])]
                ):
                    roles["f"] = rng.choice(others)
                theirs = held["start"] if agreed else new_start
                self._said_beside[course, roles["f"]] = {
                    "start": theirs,
                    "room": held["room"],
                    "length": held["length"],
                    "what": "other section",
                }
                return Story("swap", roles)
            case "optional" | "optional_for_others":
                said = event("optional", at(first, last), applies=change == "optional")
                return Story("optional", self.base(course, o=said, via=via))
        raise ValueError(f"no change {change!r}")

    def _suits_what_was_said(self, course: Course, start: dt.datetime) -> bool:
        """Return True if a moment comes after the review session that was told of a course.

        In a large world, where more exams move and not all of that is told, it also is near the first word on
        the exam and what was told of other sections and students.
        """
        said = {key: one["start"] for (of, key), one in self._said_beside.items() if of is course}
        review = said.pop("review", None)
        if not self.steady:
            return True
        near = [*said.values(), self._set_first.get(course, start)]
        if len(self.campus.listed) > LARGE and any(abs(start - one) > _APART for one in near):
            return False
        return review is None or start.date() > review.date()

    def _other_slot(self, course: Course, start: dt.datetime) -> dt.datetime:
        """A fellow student's slot: in the days around one's own."""
        rng, earliest, tries = self.rng, self.campus.now + _DAY, 0
        while True:
            tries += 1
            day = (start + rng.randint(-4, 6) * _DAY).date()
            new = dt.datetime.combine(day, dt.time(rng.choice(_STARTS), rng.choice((0, 0, 0, 30))))
            good = new != start and new.weekday() < 5 and not is_holiday(day) and new > earliest
            if good and (
                tries > _TRIES or (self._is_free(course, new, 40) and self._suits_what_was_said(course, new))
            ):
                return new
            if tries > 2 * _TRIES:
                earliest, start = earliest - _DAY, start + _DAY

    def _moved(self, course: Course, start: dt.datetime) -> dict[str, Any]:
        """A new start: another hour, another day, or both."""
        rng = self.rng
        earliest = self.campus.now + 2 * _DAY
        length, tries = self._booked[course][1], 0
        while True:
            tries += 1
            kind = rng.choice(("hour", "day", "both"))
            new = start
            if kind in ("hour", "both"):
                new = (
                    new.replace(hour=rng.choice(_STARTS))
                    if kind == "both"
                    else new + rng.choice((-2, -1, 1, 1.5, 2, 3)) * _HOUR
                )
            if kind in ("day", "both"):
                new += rng.choice((-2, -1, 1, 1, 2, 3, 7)) * _DAY
            open_day = new.weekday() < 5 and not is_holiday(new.date())
            free = tries > _TRIES or (
                self._is_free(course, new, length) and self._suits_what_was_said(course, new)
            )
            if new != start and new > earliest and open_day and 8 <= new.hour <= 17 and free:
                break
            earliest = min(earliest, start - 4 * _DAY)
        shift = new - start
        return {
            "start": new,
            "old_start": start,
            "shift": shift,
            "span": abs(shift),
            "later": shift > 0 * _DAY,
            "same_day": new.date() == start.date(),
            "same_time": new.time() == start.time(),
        }

    def distractions(self, stream: Any) -> Iterator[Story]:
        """Stories that decide nothing, without end: exams of other courses, quizzes, hearsay, other sections
        and everyday life."""
        courses, others = self.campus.listed, self._of_others(stream)
        weights = _DISTRACTIONS if self.steady else _REHEARSED
        number = 0
        while True:
            rng = stream(f"distraction:{number}")
            number += 1
            self.rng = rng
            now = self.campus.now
            # What is over is not spoken of as if it were to come.
            coming = [one for one in courses if self.held.get(one, now) > now + 4 * _DAY] or list(courses)
            course = rng.choice(coming)
            begin = now - rng.randint(1, _WEEKS * 7) * _DAY
            # Over a weekend nobody on the staff writes.
            until = begin + (3 if self.steady else 1) * _DAY
            when = waking(rng, begin, min(until, now - 2 * _HOUR), course.instructor)
            kind = rng.choices(list(weights), list(weights.values()))[0]
            if kind == "other_course" and (story := next(others, None)):
                yield story
                continue
            while kind == "other_course":  # everything was told of them
                kind = rng.choices(list(weights), list(weights.values()))[0]
            if kind == "bulletin":
                yield self._bulletin(waking(rng, when, when + _DAY, self.campus.office), rng)
                continue
            match kind:
                case "hearsay":
                    roles = {"h": Event("hearsay", when, course, (), {"start": self.start(now.date())})}
                case "other_exam":
                    found = self._other_exam(course, when, rng)
                    if found is None:
                        continue
                    roles = {"o": found}
                case _:
                    values = self.campus.appointment(course, when)
                    kind, roles = "everyday_student", {"e": Event("everyday", when, course, (), values)}
            yield Story(
                kind,
                self.base(course, via=rng.choice(("mail", "announcement", "conversation")), **roles),
                matters=False,
            )

    def _other_exam(self, course: Course, when: dt.datetime, rng: random.Random) -> Event | None:
        """A quiz or the like, or the exam of another section; ``None`` if all was told of the course."""
        own = self._tests.setdefault(course, {})
        held = self.held.get(course, self.campus.now)
        latest = min(held, self.campus.now) + 5 * _DAY
        # In class, or soon after it was announced; everything else comes before the exam itself.
        days = [when + n * _DAY for n in range(3, 17) if when + n * _DAY < latest]

        def in_class(day: dt.datetime) -> dt.datetime:
            return day.replace(hour=course.hour, minute=0, second=0, microsecond=0)

        others = {start for of in self._tests.values() for _, start in of.values()} if self.steady else set()
        taken = {start.date() for _, start in own.values()} if self.steady else set()
        free = [
            day
            for day in days
            if day.date() not in taken
            and day.weekday() < 5
            and self._is_free(course, in_class(day), 60)
            and in_class(day) not in others
        ]
        days = [day for day in free if day.weekday() == course.weekday] or free
        kinds = [kind for kind in _KINDS if not self.steady or kind not in own]
        if self.steady:
            kinds = [
                kind for kind in kinds if kind not in TESTS or (days and not self._is_early(kind, when, own))
            ]
        if not kinds:
            return None
        what = rng.choice(kinds)
        start = self.start(self.campus.now.date() + 3 * _DAY)
        if what not in TESTS and self.steady:
            own[what] = when, dt.datetime.min
            near = self._near(held, when + 3 * _DAY, start)
            length = rng.choice(_LENGTHS[self.noun])
            return self._said(course, "", near, when, when, rng, what=what, length=length)
        if what in TESTS and not days:
            what = "other section"
        if what in TESTS:
            start = in_class(rng.choice(days))
            own[what] = when, start
        return Event(
            "other_exam", when, course, (), {"what": what, "start": start, "room": self.campus.room()}
        )

    @staticmethod
    def _is_early(kind: str, when: dt.datetime, own: Mapping[str, tuple[dt.datetime, dt.datetime]]) -> bool:
        """Return True of a make-up for what is still to come, and of what a make-up was given of already."""
        if kind == "make-up":
            return any(told <= when < start for what, (told, start) in own.items() if what in TESTS)
        made_up = own.get("make-up")
        return made_up is not None and when <= made_up[0]

    def _of_others(self, stream: Any) -> Iterator[Story]:
        """The exams of courses that are not one's own, one after the other."""
        for course in self.campus.courses:
            if course.listed or course.bulletins:
                continue
            self.rng = rng = stream(f"other course:{course.code}")
            shares = (_OF_MANY_OTHERS if len(self.campus.listed) > LARGE else _OF_OTHERS)[self.noun]
            changes = [
                change for change in rng.sample(list(shares), len(shares)) if rng.random() < shares[change]
            ]
            for either in _EITHER:
                happened = [change for change in changes if change in either]
                changes = [change for change in changes if change not in happened[1:]]
            changes.sort(key=lambda change: (change in ENDS, change.startswith("examiner")))
            for story in self.run(course, "mail", changes):
                # Only mail reaches whoever is on no list of the course.
                yield replace(
                    story, roles={**story.roles, "via": "mail"}, matters=False, channels=frozenset({"mail"})
                )

    # -- bulletins ------------------------------------------------------------------------------------

    def in_bulletins(self, stories: Sequence[Story], rng: random.Random) -> Iterator[Story]:
        """Put some changes of exams into bulletins, among others that are no matter."""
        for story in stories:
            decisive = [event for event in story.events if event.kind not in NEUTRAL]
            if story.kind in _NOTICED[self.noun] and len(decisive) == 1 and rng.random() < _IN_BULLETINS:
                yield self._bulletin(decisive[0].at, rng, story)
            else:
                yield story

    def _bulletin(self, at: dt.datetime, rng: random.Random, *stories: Story) -> Story:
        """A message of the exam office with these changes and others, in any order."""
        self.rng = rng
        # Each course once: a bulletin does not contradict itself.
        others = [course for course in self.campus.courses if course.bulletins]
        chosen = rng.sample(others, min(len(others), rng.randint(*_BULLETIN)))
        found = [self._notice(course, at, rng) for course in chosen]
        among = [*stories, *(one for one in found if one is not None)]
        rng.shuffle(among)
        roles = {
            "me": self.me,
            "sec": self.campus.secretary,
            "off": self.campus.office,
            "e": Event("everyday", at, None),
        }
        return Story("everyday_bulletin", roles, bool(stories), channels=frozenset({"mail"}), among=among)

    def _notice(self, other: Course, at: dt.datetime, rng: random.Random) -> Story | None:
        """A change of an exam that is not one's own, or something of everyday life, known at a moment.

        Bulletins are drawn in no order, so each value of an exam changes once at most, and nothing comes
        after it was cancelled. Returns None if nothing is left to change.
        """
        if rng.random() < 0.2:
            # Often of one's own courses: that a bulletin names none of them must not tell what is in it.
            course = rng.choice(self.campus.listed) if rng.random() < _OF_ONES_OWN else other
            values = self.campus.appointment(course, at, workday=True)
            event = Event("everyday", at, course, (), values)
            return Story("everyday_student", self.base(course, via="mail", e=event), matters=False)
        if other not in self._noticed:
            length = rng.choice(_LENGTHS[self.noun])
            start = self._free_start(other, (self.campus.now + 10 * _DAY).date())
            self._noticed[other] = {
                "start": start,
                "length": length,
                "room": self.campus.room(),
                "changed": {},
            }
            self._booked[other] = start, length
        held = self._noticed[other]
        changed: dict[str, dt.datetime] = held["changed"]
        if "cancelled" in changed and at >= changed["cancelled"]:
            return None
        change = rng.choice(_NOTICES[self.noun])
        if change in changed or (change == "cancelled" and any(at <= one for one in changed.values())):
            return None
        changed[change] = at
        story = self._change(other, change, held, at, at + _HOUR, other.instructor)
        for event in story.events:
            event.at = at
        return replace(story, roles={**story.roles, "via": "mail"}, matters=False)


NEUTRAL = frozenset({"hearsay", "other_exam", "everyday", "swap_refused"})
"""Kinds of events that decide nothing."""
