"""Notices of the family's own kind about what does not matter: the same statements by the same hands.

Courses are planned as the student's own are, and then given to other sections, to courses that the student
does not take, to earlier terms, or to something that is no final.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import replace

from mesocosm.generators.canvas_arrange_exam import statements
from mesocosm.generators.canvas_arrange_exam.composing import FRIENDS_TOPICS, Composer
from mesocosm.generators.canvas_arrange_exam.courses import Channel, Course, Details, Plan, is_free
from mesocosm.generators.canvas_arrange_exam.notices import COURSEWORK, excused, marked, notices
from mesocosm.generators.canvas_arrange_exam.params import LISTED, Params
from mesocosm.generators.canvas_arrange_exam.planning import plan_courses
from mesocosm.generators.canvas_arrange_exam.posts import People, Post
from mesocosm.generators.canvas_arrange_exam.wording import Facts, facts_sentences, sitting
from mesocosm.kits.prose import Prose

_ROLES = {"section": 46, "foreign": 26, "kind": 10, "earlier": 6, "mark": 6, "excused": 2, "hearsay": 4}
"""What lookalikes are, by weight: each is told apart by one thing that the text itself says."""
_BATCH = 20
_SECTIONS = range(1, 10)
_HEARSAY = (
    "[somebody|a friend] on the bus said that {exam} has been moved.",
    "rumour has it that they moved {exam}.",
    "have you heard? People say {exam} is at another time now.",
    "[a neighbour|my flatmate] claims that {exam} was shifted.",
    "do you know whether {exam} has really changed?",
    "they say in the canteen that {exam} is different now.",
)


class Lookalikes:
    """Writes notices that do not count, each for a reason that it states itself."""

    def __init__(
        self, plan: Plan, params: Params, people: People, composer: Composer, prose: Prose, rng: random.Random
    ) -> None:
        self._plan, self._params, self._people = plan, params, people
        self._composer, self._prose, self._rng = composer, prose, rng
        self._taken = {course.title for course in plan.courses}
        self._sections = {course.code: {*course.groups, course.section} for course in plan.courses}
        self._marks: set[tuple[str, str]] = set()
        self._compared: set[str] = set()
        """Courses whose final of an earlier term was told: it was held once."""
        self._planned: list[Course] = []
        self._waiting: list[Post] = []
        self.beside: dict[str, list[Course]] = {}
        """Other sections whose terms stand in the syllabus, by the code of the course."""

    def next(self) -> Post:
        """The next notice."""
        while not self._waiting:
            [role] = self._rng.choices(list(_ROLES), list(_ROLES.values()))
            self._waiting = list(self._of(role))
        return self._waiting.pop()

    def other_sections(self, host: Course, number: int) -> list[Course]:
        """Sections of a course that the student is not in."""
        found = (self._section(host) for _ in range(number))
        return [course for course in found if course]

    def _of(self, role: str) -> Iterator[Post]:
        rng, campus, host = self._rng, self._plan.campus, self._rng.choice(self._plan.courses)
        if role == "mark":
            mark = rng.choice(statements.MARKS if host.exemption else (COURSEWORK, *statements.MARKS))
            if (host.code, mark) not in self._marks:
                self._marks.add((host.code, mark))
                yield marked(host, campus, self._composer, mark, rng)
        elif role == "excused":
            yield excused(self._kind(host), campus, self._composer, rng)
        elif role == "hearsay":
            yield self._hearsay(host)
        else:
            make = {"section": self._section, "foreign": self._foreign, "kind": self._kind}
            if role == "earlier" and host.code in self._compared:
                role = "section"
            course = self._earlier(host) if role == "earlier" else make[role](host)
            if course:
                yield from notices(course, campus, self._composer, rng)

    # -- courses that are not the student's ------------------------------------------------------------------

    def _draw(self, *, listed: bool = False) -> Course:
        while True:
            if not self._planned:
                params = self._params.model_copy(
                    update={"num_courses": max(_BATCH, self._params.num_courses)}
                )
                self._planned = plan_courses(params, self._plan.campus, self._rng, self._prose)
            course = self._planned.pop()
            if not listed or course.fate in LISTED:
                course.personal = False
                return course

    def _at(self, host: Course, course: Course) -> Course:
        """A course's facts as facts of the host's."""
        course.subject, course.section = host.subject, host.section
        course.instructor, course.assistant = host.instructor, host.assistant
        return course

    def _section(self, host: Course) -> Course | None:
        if not host.groups:
            return None  # what is said of all sections holds for every one of them
        taken = self._sections[host.code]
        free = [number for number in _SECTIONS if number not in taken]
        if not free:
            return None
        groups = sorted(self._rng.sample(free, min(len(free), self._rng.choice((1, 1, 2)))))
        taken |= set(groups)
        course = self._at(host, self._draw())
        course.groups = tuple(groups)
        return course

    def _foreign(self, host: Course) -> Course | None:
        course = self._draw()
        for _ in range(60):
            subject = self._prose.course_subject()
            clash = any(subject.title in title or title in subject.title for title in self._taken)
            if subject.code_prefix == host.subject.code_prefix and not (
                clash or subject.title.startswith("The ")
            ):
                break
        else:
            return None
        course.subject, course.known = subject, False
        if self._rng.random() < 0.75:
            course.instructor = host.instructor
        else:
            self._people.teachers.append(course.instructor)
        return course

    def _kind(self, host: Course) -> Course:
        course = self._at(host, self._draw(listed=True))
        course.sitting, course.groups = self._rng.choice(statements.SITTINGS), host.groups
        course.exemption = None
        course.details = _ahead_of(host.details, course.details, self._rng)
        course.earlier = course.earlier and _ahead_of(host.details, course.earlier, self._rng)
        return course

    def _earlier(self, host: Course) -> Course:
        """As the final of an earlier term was held, for comparison."""
        self._compared.add(host.code)
        course = self._at(host, self._draw(listed=True))
        course.groups, course.term, course.in_syllabus = host.groups, self._plan.campus.earlier_term, True
        course.details = _back(course.details)
        course.earlier = _back(course.earlier) if course.earlier else None
        return course

    def _hearsay(self, host: Course) -> Post:
        """What a classmate says, who does not speak for the course."""
        rng = self._rng
        voice = self._composer.voice()
        details = self._draw(listed=True).details
        channel: Channel = "message" if voice.chance(0.5) else "email"
        opening = voice.say(_HEARSAY, exam=sitting(voice, host, at_home=False))
        facts = facts_sentences(voice, Facts(details.start, room=details.room))
        return self._composer.post(
            channel,
            (9, 1),
            rng.choice(self._people.classmates),
            host.subject,
            course=host,
            statement=[f"{opening} {facts}".strip()],
            sitting=host.sitting,
            topics=FRIENDS_TOPICS,
            personal=True,
        )


def _ahead_of(final: Details, details: Details, rng: random.Random) -> Details:
    """Held before the final, if both have a day."""
    if not (final.date and details.date) or details.date < final.date:
        return details
    day = final.date - dt.timedelta(days=rng.randint(1, 6))
    while is_free(day):
        day -= dt.timedelta(days=1)
    return replace(details, date=day)


def _back(details: Details) -> Details:
    """A term before, on the same weekday if that was a day of exams: in December for May, or the reverse."""
    if not details.date:
        return details
    day = details.date - dt.timedelta(weeks=22 if details.date.month < 8 else 30)
    # In November lectures are still held, and at the end of December nobody is there.
    step = 1 if day.month == 11 or day.day < 5 else -1
    while is_free(day) or day.month == 11:
        day += dt.timedelta(days=step)
    return replace(details, date=day)
