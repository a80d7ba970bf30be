"""Texts of one kind: what a notice states stands among other matters of the course, or is not there."""

from __future__ import annotations

import random
import re

from mesocosm.generators.canvas_arrange_exam import statements
from mesocosm.generators.canvas_arrange_exam.courses import Campus, Channel, Course
from mesocosm.generators.canvas_arrange_exam.posts import Post
from mesocosm.generators.canvas_arrange_exam.wording import Voice
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import CourseSubject, Prose, Said, Topic
from mesocosm.kits.wording import Block, Draft, saying
from mesocosm.worlds import tokens

COURSE_TOPICS: tuple[Topic, ...] = ("course_admin",)
OFFICE_TOPICS: tuple[Topic, ...] = ("exam_office",)
FRIENDS_TOPICS: tuple[Topic, ...] = ("personal", "campus_life", "travel")
"""What teachers, the office and classmates write about beside what they state."""
_LISTS = 0.4
"""Share of texts with a list of lines in them."""
_ASIDES = 0.2
_PERSONAL = 0.4
_EARLY = 60
"""Days ago before which nothing has been held or graded yet."""
_RETURNS = (0.85, 0.1, 0.05)
"""How often a conversation has no answer, one, or two: answers never matter, so they are few."""
_SPEAKS_OF_EXAMS = saying(
    r"\d|\b(?:finals?|exams?|exempt\w*|proctor\w*|credits?|sections?|average|optional|midterm|notes?|books?|test|"
    r"open|closed|hours?|minutes?|announced|fixed|settled|cancelled|called off|voluntary|auditors?|excused|"
    r"hall|building|centre|house|pavilion|theatre)\b"
)
"""What must not stand beside a statement: it might be taken for a part of it."""
_OF_A_MATTER = re.compile(
    r"\b(?:questions?|difficulty|doubts|ideas) (?:with|about) the (?:\w|-)+(?: is the|,)"
)
"""What an office says about a matter that its letter has named; these letters name none."""


def _is_office(author: Contact) -> bool:
    """Whether mail comes from a desk: people have their names in their addresses."""
    return "." not in author.email.partition("@")[0]


def _list_of(subject: CourseSubject, author: Contact, campus: Campus) -> str:
    """The mailing list that somebody writes to, as a To header shows it."""
    if not _is_office(author):
        prefix = subject.code_prefix
        return f"{prefix} students <{prefix.lower()}-students@{campus.domain}>"
    return f"All students <all-students@{campus.domain}>"


class Composer:
    """Makes posts of the same lengths, layouts and titles, whether they state something or not."""

    def __init__(self, campus: Campus, rng: random.Random, size: tuple[int, int], said: Said) -> None:
        self._campus = campus
        self._rng = rng
        self._prose = Prose(rng, said)
        self._said = said
        self._size = size

    def voice(self) -> Voice:
        """Somebody who says what a notice states."""
        return Voice(self._rng, self._said)

    def post(
        self,
        channel: Channel,
        days: tuple[float, float],
        author: Contact,
        subject: CourseSubject,
        *,
        course: Course | None = None,
        statement: list[Block] | None = None,
        sitting: str = "",
        topics: tuple[Topic, ...] = COURSE_TOPICS,
        size: int | None = None,
        personal: bool | None = None,
    ) -> Post:
        """A post that states ``statement`` (a paragraph, and perhaps a list after it), or nothing.

        ``personal``: to the student alone, else to all students of the department (of several sections and
        courses); ``None``: either.
        """
        rng = self._rng
        voice = self.voice()
        size = size or rng.randint(*self._size)
        blocks = self._blocks(statement or [], subject, topics, size, early=days[1] > _EARLY)
        if personal is None:
            personal = rng.random() < _PERSONAL
        to = "" if personal else _list_of(subject, author, self._campus)
        if channel == "announcement":
            body = Draft(blocks).html()
        elif channel == "email":
            body = Draft([self._greeting(personal), *blocks, self._signature(author)]).plain()
        else:
            body = Draft(blocks).plain()  # a conversation is with one student, and has no greeting
        title = self._title(voice, subject, sitting, topics)
        answers = self._answers(author, subject) if channel == "message" else ()
        draw = self._campus.working_moment if _is_office(author) else self._campus.waking_moment
        moment = draw(rng, *days)
        return Post(channel, moment, author, title, body, course, answers, to)

    def _greeting(self, personal: bool) -> str:
        student = self._campus.student.person.first
        if personal:
            return self._rng.choice(
                (f"Dear {student},", f"Hello {student},", f"Hi {student},", f"{student},")
            )
        return self._rng.choice(("Dear all,", "Dear students,", "Hello everybody,", "To all of you:"))

    def _signature(self, author: Contact) -> str:
        # Offices have no first names.
        whole = _is_office(author) or self._rng.random() < 0.7
        return author.name.strip() if whole else author.person.first

    def _title(self, voice: Voice, subject: CourseSubject, sitting: str, topics: tuple[Topic, ...]) -> str:
        if sitting and voice.chance(0.3):
            return voice.say(statements.EXAM_TITLES, title=subject.title, sitting=sitting)
        if topics not in (COURSE_TOPICS, OFFICE_TOPICS):
            return voice.say(statements.PLAIN_TITLES)
        return voice.say(statements.TITLES, title=subject.title, code=subject.code)

    def _answers(self, author: Contact, subject: CourseSubject) -> tuple[tuple[Contact, str], ...]:
        [number] = self._rng.choices(range(len(_RETURNS)), _RETURNS)
        said = (
            (self._campus.student, self._rng.choice(statements.ANSWERS)),
            (author, self._rng.choice(statements.WELCOMES)),
        )
        return said[:number]

    # -- blocks ----------------------------------------------------------------------------------------------

    def _blocks(
        self, statement: list[Block], subject: CourseSubject, topics: tuple[Topic, ...], size: int,
        *, early: bool,
    ) -> list[Block]:  # fmt: skip
        rng = self._rng
        listed = [block for block in statement if isinstance(block, list)]
        said = " ".join(block for block in statement if isinstance(block, str))
        if not statement and rng.random() < _LISTS:
            listed = [[self._aside(subject, topics).rstrip(".") for _ in range(rng.randint(2, 3))]]
        size -= tokens.count(said) + sum(tokens.count(line) + 6 for lines in listed for line in lines)
        around: list[str] = []
        if topics == COURSE_TOPICS and rng.random() < _ASIDES:
            around.append(self.voice().say(statements.EARLY_ASIDES if early else statements.ASIDES))
        spent = sum(map(tokens.count, around))
        while spent < size - 8:
            around.append(self._fitting(size - spent, subject, topics))
            spent += tokens.count(around[-1])
        cut = rng.randint(0, len(around))
        before, after = around[:cut], around[cut:]
        paragraphs: list[Block] = []
        if len(before) > 1 and rng.random() < 0.5:
            paragraphs.append(before.pop(0))
        later = [after.pop()] if len(after) > 1 and rng.random() < 0.5 else []
        if listed:
            paragraphs += [" ".join([*before, *([said] if said else [])]), *listed, " ".join(after)]
        else:
            paragraphs.append(" ".join([*before, *([said] if said else []), *after]))
        return [block for block in [*paragraphs, *later] if block]

    def _fitting(self, room: int, subject: CourseSubject, topics: tuple[Topic, ...]) -> str:
        """A sentence of so many tokens at most, if a few attempts find one, else the shortest of these."""
        tried = []
        for _ in range(4):
            tried.append(self._aside(subject, topics))
            if tokens.count(tried[-1]) <= room:
                return tried[-1]
        return min(tried, key=tokens.count)

    def _aside(self, subject: CourseSubject, topics: tuple[Topic, ...]) -> str:
        while True:
            sentence = self._prose.sentence(self._rng.choice(topics), subject=subject)
            if topics == OFFICE_TOPICS and _OF_A_MATTER.search(sentence):
                continue
            if not (_SPEAKS_OF_EXAMS(sentence) or subject.is_twice_in(sentence)):
                return sentence
