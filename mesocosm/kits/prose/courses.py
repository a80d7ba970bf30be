"""The catalogue of course subjects."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from mesocosm.kits.prose.topics import data

_FORMATS = (
    "{title}", "{title} II", "Advanced {title}", "Seminar in {title}", "Topics in {title}",
    "{title} Workshop", "Foundations of {title}", "Readings in {title}", "{title} III",
    "Research Methods in {title}",
    "Case Studies in {title}", "Special Topics in {title}",
)  # fmt: skip
_OPENINGS = (
    "An introduction to {title}, with emphasis on {a} and {b}.",
    "Covers {a}, {b} and {c} through worked examples and weekly exercises.",
    "Students meet {a} and {b}, and apply both to cases from {department}.",
    "A survey of {title} that begins with {a} and ends with {b}.",
    "Lectures treat {a}, {b} and {c}; discussion sections turn to current debates.",
    "How do {a} and {b} fit together? Step by step, {title} looks for an answer.",
    "A practical course in {title}, built around {a}, {b} and a term project on {c}.",
    "Explores {a} in depth before turning to {b} and, more briefly, {c}.",
)
_CLOSINGS = (
    "Work includes short essays and a presentation on {d}.",
    "Participants keep a journal on {d} throughout the term.",
    "Small groups prepare a report on {d}.",
    "The second half is devoted to {d}.",
    "Weekly workshops give practice in {d}.",
    "Guest speakers discuss {d}.",
    "No earlier work in {department} is assumed.",
    "Recommended to students who enjoyed an earlier course in {department}.",
    "An earlier course in {department} helps, but is not required.",
    "Best taken after a first course in {department}.",
    "The term closes with talks on {d}.",
)


@dataclass(frozen=True)
class CourseSubject:
    """Subject of a course; ``code_prefix`` and ``number`` make its code, "CS 412"."""

    code_prefix: str
    number: int
    title: str
    department: str
    description: str
    topics: tuple[str, ...]

    @property
    def code(self) -> str:
        """The course code, "CS 412"."""
        return f"{self.code_prefix} {self.number}".strip()

    def is_twice_in(self, text: str) -> bool:
        """True if a text names one topic twice, which nobody does in one sentence."""
        small = text.lower()
        return any(small.count(topic.lower()) > 1 for topic in self.topics)


@dataclass(frozen=True)
class _Entry:
    prefix: str
    department: str
    title: str
    topics: tuple[str, ...]


@cache
def catalogue() -> tuple[_Entry, ...]:
    """Every title with its department and the topics of its area."""
    entries: list[_Entry] = []
    prefix = department = ""
    for line in data("courses").splitlines():
        if line.startswith("#"):
            continue
        if line[0] != " ":
            prefix, department = line.split(" | ")
            continue
        titles, topics = (part.strip().split("; ") for part in line.split(" :: "))
        entries.extend(_Entry(prefix, department, title, tuple(topics)) for title in titles)
    return tuple(entries)


def subject_called(title: str, number: int) -> CourseSubject | None:
    """Return the subject for a plain title with a numeric code; ``None`` for an unknown title."""
    found = next((entry for entry in catalogue() if entry.title == title), None)
    return CourseSubject("", number, title, found.department, "", found.topics) if found else None


class Courses:
    """Draws course subjects: all the plain titles first, then their second parts, seminars and so on."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._round = 0
        self._deck: list[_Entry] = []
        self._codes: set[tuple[str, int]] = set()

    def draw(self) -> CourseSubject:
        """A subject that this object has not drawn before."""
        if not self._deck:
            self._deck = list(catalogue())
            self._rng.shuffle(self._deck)
            self._round += 1
        entry = self._deck.pop()
        turn = self._round - 1
        pattern = _FORMATS[turn] if turn < len(_FORMATS) else "{title}, Part " + str(turn - len(_FORMATS) + 4)
        title = pattern.format(title=entry.title)
        topics = list(entry.topics)
        self._rng.shuffle(topics)
        return CourseSubject(
            code_prefix=entry.prefix,
            number=self._number(entry.prefix),
            title=title,
            department=entry.department,
            description=self._description(title, entry.department, topics),
            topics=tuple(topics[: 5 + int(self._rng.random() * 2)]),
        )

    def _number(self, prefix: str) -> int:
        for digits in (1000, 10_000, 100_000):
            for _ in range(200):
                number = digits // 10 + int(self._rng.random() * (digits - digits // 10))
                if (prefix, number) not in self._codes:
                    self._codes.add((prefix, number))
                    return number
        raise ValueError(f"no course number left for {prefix}")

    def _description(self, title: str, department: str, topics: list[str]) -> str:
        opening = _OPENINGS[int(self._rng.random() * len(_OPENINGS))]
        closing = _CLOSINGS[int(self._rng.random() * len(_CLOSINGS))]
        a, b, c, d = topics[:4]
        text = f"{opening} {closing}".format(title=title, department=department, a=a, b=b, c=c, d=d)
        return text[0].upper() + text[1:]
