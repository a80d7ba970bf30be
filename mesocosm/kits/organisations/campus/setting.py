"""The campus: its courses, with instructors, students, times and places."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from zoneinfo import ZoneInfo

from mesocosm.errors import Invalid
from mesocosm.kits.organisations.moments import DAYS
from mesocosm.kits.organisations.people import Naming, Person
from mesocosm.kits.prose.courses import catalogue
from mesocosm.kits.prose.names import slug

Stream = Callable[[str], random.Random]

_COLLEGES = (
    "Ashford",
    "Barrow Hill",
    "Calder",
    "Denholm",
    "Eastmere",
    "Fairholt",
    "Glenrock",
    "Harrow Lake",
    "Kestrel",
    "Linwood",
    "Marlow Point",
    "Northcote",
)
_ZONES = ("America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles")
_BUILDINGS = (
    "Kerr Hall",
    "Dunmore",
    "Aldous",
    "Thayer Hall",
    "Whitlock",
    "Pell Hall",
    "Sayre",
    "Lowell",
)
_PROGRAMMES = ("B.A.", "B.S.", "M.A.", "exchange", "minor")
_TITLES = ("{0}", "Advanced {0}", "Seminar in {0}", "Topics in {0}", "Readings in {0}", "Foundations of {0}")
_AS_IT_IS = re.compile(
    r"\b(?:The|Introduct\w+|Intermediate|Beginners|Foundations|Fundamentals|History|Workshop|Studio)\b"
)
"""Words of titles that have no variation: nobody teaches "Advanced Introductory Japanese"."""
_MISREAD = {"ASS", "FAP", "FBI", "FFS", "FIT", "FML", "RIP", "SAD", "SIT", "SMH", "SOB", "STD", "TIT"}
"""Initials of titles that say something else, so that nobody would call a course by them."""
_FACETS = ("{0}", "the history of {0}", "{0} for beginners", "open questions about {0}", "{0} in the news")
_TERM = dt.date(2026, 1, 12)
_HOURS = (9, 10, 11, 13, 14, 15, 16)
_COLLEAGUES = 2
"""So many instructors are in a department, before the next has some."""
_TEACHES = 5
"""So many courses an instructor has at most, unless all have as many."""
CREDITS = (1.5, 2, 2.5, 3, 3, 4, 4, 5, 6)


_SPELLINGS = {
    "egularisation": "egularization",
    "ehaviour": "ehavior",
    "abour": "abor",
    "rganisation": "rganization",
    "Palaeo": "Paleo",
    "Paediatric": "Pediatric",
    "haracterisation": "haracterization",
    "isualisation": "isualization",
    "colour": "color",
    "cepticism": "kepticism",
    "metre": "meter",
    "fibre": "fiber",
    "levelling": "leveling",
}
"""British spellings in the catalogue of courses."""


def _american(text: str) -> str:
    """The text as it is spelled on an American campus."""
    for british, american in _SPELLINGS.items():
        text = text.replace(british, american)
    return text


@dataclass(eq=False, slots=True)
class Course:
    """A section of a course: when and where it meets, and who is in it."""

    code: str
    title: str
    short: str
    section: str
    weekday: int
    hour: int
    room: str
    instructor: Person
    credits: float
    topics: Sequence[str]
    students: list[Person] = field(default_factory=list)
    topic: dict[Person, str] = field(default_factory=dict)
    """The topic of each student's talk; unique in the class."""
    listed: bool = True
    """False of a course that is not on the owner's list: one that they dropped or only sit in on."""
    leaving: set[Person] = field(default_factory=set)
    """Students who leave, some for a while only."""
    bulletins: bool = False
    """True of a course of which nothing is heard but what bulletins say to everybody."""

    @property
    def prefix(self) -> str:
        """The department, as the code begins: "BIO"."""
        return self.code.partition(" ")[0]

    @property
    def day(self) -> str:
        """The weekday on which it meets."""
        return DAYS[self.weekday]

    @property
    def daypart(self) -> str:
        """ "morning" or "afternoon"."""
        return "morning" if self.hour < 12 else "afternoon"

    @property
    def building(self) -> str:
        """The building that it meets in."""
        return self.room.rpartition(" ")[0]

    @property
    def meets(self) -> str:
        """Weekly time of the course as lists show it: "Tuesday 10:00"."""
        return f"{self.day} {self.hour:02}:00"

    def __repr__(self) -> str:
        return self.code


@dataclass(eq=False)
class Campus:
    """A department with its people; courses are added as a task needs them."""

    university: str
    domain: str
    zone: ZoneInfo
    naming: Naming
    rng: random.Random
    secretary: Person
    office: Person
    technician: Person
    librarian: Person
    assistants: list[Person]
    instructors: list[Person] = field(default_factory=list)
    courses: list[Course] = field(default_factory=list)
    now: dt.datetime = dt.datetime(2026, 3, 2, 9)
    """Local, without a zone."""
    _titles: dict[str, Iterator[tuple[str, Sequence[str]]]] = field(default_factory=dict)
    """Of each department those that no course has, in the order in which departments get instructors."""
    _codes: set[str] = field(default_factory=set)
    _shorts: set[str] = field(default_factory=set)

    @classmethod
    def drawn(cls, stream: Stream) -> Campus:
        """Draw a campus without courses."""
        rng = stream("campus")
        college = rng.choice(_COLLEGES)
        domain = f"{slug(college)}.example"
        naming = Naming(stream("people"), domain)
        campus = cls(
            university=f"{college} University",
            domain=domain,
            zone=ZoneInfo(rng.choice(_ZONES)),
            naming=naming,
            rng=rng,
            secretary=naming.person("secretary"),
            office=naming.person("office"),
            technician=naming.person("technician"),
            librarian=naming.person("librarian"),
            assistants=[naming.person("assistant") for _ in range(2)],
        )
        prefixes = list(dict.fromkeys(entry.prefix for entry in catalogue()))
        rng.shuffle(prefixes)
        campus._titles = {prefix: campus._deck(prefix) for prefix in prefixes}
        return campus

    def _deck(self, prefix: str) -> Iterator[tuple[str, Sequence[str]]]:
        """Titles of one department with their topics: those of its catalogue first, then variations."""
        own = [entry for entry in catalogue() if entry.prefix == prefix]
        others = list(dict.fromkeys(topic for entry in own for topic in entry.topics))
        for pattern in _TITLES:
            self.rng.shuffle(own)
            for entry in own:
                if pattern != "{0}" and _AS_IT_IS.search(entry.title):
                    continue
                topics = [*entry.topics, *(one for one in others if one not in entry.topics)]
                yield pattern.format(_american(entry.title)), [_american(one) for one in topics]

    def _subject(self, instructor: Person | None) -> tuple[str, str, Sequence[str]]:
        """Return prefix, title and topics of one more course: of the department that an instructor is in.

        When it has no other, they are of the next one.
        """
        departments = list(self._titles)
        taught = next((one for one in self.courses if one.instructor is instructor), None)
        first = departments.index(taught.prefix) if taught else len(self.instructors) // _COLLEAGUES
        for number in range(len(departments)):
            prefix = departments[(first + number) % len(departments)]
            for title, topics in self._titles[prefix]:
                if title not in self._shorts:
                    return prefix, title, topics
        raise Invalid("a campus has no more titles of courses")

    @property
    def listed(self) -> list[Course]:
        """The courses that are on the owner's list."""
        return [course for course in self.courses if course.listed]

    def some_instructor(self, rng: random.Random) -> Person:
        """Draw an instructor who can still teach a course on a day of its own, if there is one."""
        taught = Counter(course.instructor for course in self.courses)
        free = [one for one in self.instructors if taught[one] < _TEACHES]
        return rng.choice(free or self.instructors)

    def add_course(
        self,
        instructor: Person | None = None,
        size: int = 0,
        pool: Sequence[Person] = (),
        *,
        listed: bool = True,
        bulletins: bool = False,
    ) -> Course:
        """Draw one more course; ``size`` students are in it, as many as possible from a pool."""
        rng = self.rng
        prefix, title, topics = self._subject(instructor)
        if instructor is None:
            instructor = self.naming.person("instructor")
            self.instructors.append(instructor)
        code = f"{prefix} {rng.randint(201, 698)}"
        while code in self._codes:
            code = f"{prefix} {rng.randint(201, 698)}"
        self._codes.add(code)
        section = f"{rng.randint(1, 4):02}"
        weekday, hour = self._time(instructor, rng.randrange(5), rng.choice(_HOURS))
        course = Course(
            code=code,
            title=title,
            short=self._short(title),
            section=section,
            weekday=weekday,
            hour=hour,
            room=self.room(),
            instructor=instructor,
            credits=rng.choice(CREDITS),
            topics=topics,
            listed=listed,
            bulletins=bulletins,
        )
        self._shorts |= {title, course.short}
        self.courses.append(course)
        self.enrol(course, size, pool)
        return course

    def _time(self, instructor: Person, weekday: int, hour: int) -> tuple[int, int]:
        """Return when a course meets: at a time that was drawn, or on the next day on which its instructor
        teaches no other, or in the next half of a day.
        """
        taught = [course for course in self.courses if course.instructor is instructor]
        days = [(weekday + n) % 5 for n in range(5)]
        for day in days:
            if all(course.weekday != day for course in taught):
                return day, hour
        for day, other in product(days, (hour, *_HOURS)):
            if all(course.weekday != day or (course.hour < 12) != (other < 12) for course in taught):
                return day, other
        return weekday, hour

    def _short(self, title: str) -> str:
        """Return the short name of a title: initials of a long one, the subject of others."""
        words = title.split()
        for opening in ("Advanced ", "Seminar in ", "Topics in ", "Readings in ", "Foundations of "):
            if title.startswith(opening) and (rest := title.removeprefix(opening)) not in self._shorts:
                return rest
        initials = "".join(word[0] for word in words if word[0].isupper())
        usual = len(initials) > 2 and initials not in self._shorts | _MISREAD
        return initials if usual else title

    def room(self, besides: str = "", rng: random.Random | None = None) -> str:
        rng = rng or self.rng
        while True:
            room = f"{rng.choice(_BUILDINGS)} {rng.randint(1, 4)}{rng.randint(1, 29):02}"
            if room != besides:
                return room

    def appointment(
        self, course: Course, written: dt.datetime, *, workday: bool = False
    ) -> dict[str, dt.datetime | str]:
        """Draw when and where people meet who are in a course, for no reason that matters.

        It has draws of its own: nothing else depends on it.
        """
        rng = random.Random(f"{course.code}:{written}")
        day = written + rng.randint(1, 9) * dt.timedelta(days=1)
        while workday and day.weekday() > 4:
            day += dt.timedelta(days=1)
        start = dt.datetime.combine(day.date(), dt.time(rng.randint(9, 18), rng.choice((0, 0, 0, 30))))
        return {"start": start, "room": self.room(rng=rng)}

    def enrol(self, course: Course, size: int, pool: Sequence[Person] = ()) -> None:
        """Put students into a course, each with a topic of their own."""
        chosen = self.rng.sample(list(pool), min(size, len(pool)))
        chosen += [
            self.naming.person("student", self.rng.choice(_PROGRAMMES)) for _ in range(size - len(chosen))
        ]
        topics = self._topics(course)
        for student in chosen:
            course.students.append(student)
            course.topic[student] = next(topics)

    def _topics(self, course: Course) -> Iterator[str]:
        plain = list(course.topics)
        self.rng.shuffle(plain)
        forms = (facet.format(topic) for facet in _FACETS for topic in plain)
        # Large classes have talks on several things at once.
        several = (
            facet.format(f"{', '.join(some[:-1])} and {some[-1]}")
            for number in range(2, len(plain))
            for facet in _FACETS
            for some in combinations(plain, number)
        )
        return chain(forms, several)
