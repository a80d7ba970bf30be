"""Everyday posts, mails and conversations about anything but exams."""

from __future__ import annotations

import datetime as dt
import random

import orjson

from mesocosm.generators.canvas_arrange_exam.courses import Course, Plan
from mesocosm.generators.canvas_arrange_exam.people import People
from mesocosm.generators.canvas_arrange_exam.posts import Post
from mesocosm.kits.prose import Prose, Topic
from mesocosm.kits.spending import spend
from mesocosm.kits.wording import Draft
from mesocosm.worlds import tokens

_TERM = (103, 0.6)
"""Days ago between which everyday posts are written."""
_MAIL_TOPICS: tuple[tuple[Topic, str], ...] = (
    ("newsletter", "Campus Newsletter"),
    ("campus_life", "Student Life"),
    ("events", "Events Desk"),
    ("it_support", "IT Helpdesk"),
    ("research", "Research Forum"),
    ("travel", "Exchange Service"),
)
_OUTSIDE: tuple[Topic, ...] = ("shop_marketing", "shop_orders", "household", "events", "travel")
_FRIENDS: tuple[Topic, ...] = ("personal", "campus_life", "events", "travel", "household", "project_work")
_COURSE_MAIL: tuple[Topic, ...] = ("coursework", "course_admin", "project_work")
_CHAT: tuple[Topic, ...] = ("coursework", "project_work", "personal", "campus_life", "course_admin")

_WEIGHTS: dict[str, float] = {"announcement": 0.45, "email": 0.4, "message": 0.15}
"""How everyday traffic spreads over the places in which evidence lives, by tokens."""
_OVERHEAD = 96
"""Tokens of the JSON around the text of an announcement, with its title."""
_PIECE = 260
_SIZES = {"announcement": (50, 190), "email": (60, 330), "message": (30, 90)}
_SMALLEST = 60
"""Tokens of text below which an item is not worth its JSON."""


class Traffic:
    """Writes everyday posts: about anything but exams, to be told from evidence only by being read."""

    def __init__(self, plan: Plan, people: People, prose: Prose, rng: random.Random) -> None:
        self._plan = plan
        self._campus = plan.campus
        self._people = people
        self._prose = prose
        self._rng = rng
        self._desks = [(topic, people.desk(name)) for topic, name in _MAIL_TOPICS]
        self._shops = [(topic, people.outsider()) for topic in _OUTSIDE for _ in range(3)]

    def some(self, channel: str, number: int) -> list[Post]:
        """So many items of usual size."""
        posts: list[Post] = []
        while len(posts) < number:
            posts += self.item(channel, self._size(channel))
        return posts[:number]

    def in_course(self, course: Course, number: int) -> list[Post]:
        """So many announcements of one course."""
        return [self._announcement(self._size("announcement"), course) for _ in range(number)]

    def worth(self, budget: int) -> list[Post]:
        """Items that cost ``budget`` tokens together where the survey meets them."""
        return spend(
            budget,
            _WEIGHTS,
            lambda channel: self.item(channel, self._size(channel)),
            cost,
            lambda size: self._announcement(size - _OVERHEAD, self._rng.choice(self._plan.courses)),
            piece=_PIECE,
            least=_OVERHEAD + _SMALLEST,
        )

    def _size(self, channel: str) -> int:
        return self._rng.randint(*_SIZES[channel])

    def item(self, channel: str, size: int) -> list[Post]:
        """One announcement, mail or conversation (sometimes a thread of mails) with texts of that size."""
        if channel == "announcement":
            return [self._announcement(size, self._rng.choice(self._plan.courses))]
        return self._mails(size) if channel == "email" else [self._conversation(size)]

    def _moment(self) -> dt.datetime:
        return self._campus.waking_moment(self._rng, *_TERM)

    def _announcement(self, size: int, course: Course) -> Post:
        topic: Topic = "course_admin" if self._rng.random() < 0.65 else "coursework"
        author = course.instructor
        sender = author.person if self._rng.random() < 0.5 else None
        message = self._prose.message(topic, size, sender, subject=course.subject)
        body = Draft(list(message.body.split("\n\n"))).html()
        return Post("announcement", self._moment(), author, message.subject, body, course)

    def _mails(self, size: int) -> list[Post]:
        student, rng = self._campus.student.person, self._rng
        kind = rng.random()
        if kind < 0.3:
            course = rng.choice(self._plan.courses)
            author = rng.choice((course.instructor, course.instructor, course.assistant))
            topic = rng.choice(_COURSE_MAIL)
            message = self._prose.message(topic, size, author.person, student, subject=course.subject)
        elif kind < 0.5:
            return self._thread(size)
        elif kind < 0.7:
            author, topic = rng.choice(self._people.classmates), rng.choice(_FRIENDS)
            message = self._prose.message(topic, size, author.person, student)
        else:
            topic, author = rng.choice(self._desks if kind < 0.88 else self._shops)
            message = self._prose.message(topic, size)
        return [Post("email", self._moment(), author, message.subject, message.body)]

    def _thread(self, size: int) -> list[Post]:
        """Mails of a few classmates, copied to the student."""
        people = self._rng.sample(self._people.classmates, 3)
        length = self._rng.randint(2, 3)
        by_person = {contact.person: contact for contact in people}
        each = max(40, size // length)
        topic = self._rng.choice(_FRIENDS)
        messages = self._prose.thread(topic, length, [contact.person for contact in people], tokens=each)
        moment = self._moment() - dt.timedelta(days=1)
        posts = []
        mark = f"{moment:%Y%m%d%H%M%S}-{people[0].email}"
        for message in messages:
            assert message.sender
            author = by_person[message.sender]
            posts.append(Post("email", moment, author, message.subject, message.body, thread=mark))
            moment += dt.timedelta(minutes=self._rng.randint(15, 420))
        return posts

    def _conversation(self, size: int) -> Post:
        rng, student = self._rng, self._campus.student
        course = rng.choice(self._plan.courses)
        other = rng.choice((*rng.sample(self._people.classmates, 2), course.assistant))
        people = {contact.person: contact for contact in (other, student)}
        length = rng.randint(1, 4)
        topic = rng.choice(_CHAT)
        subject = course.subject if topic in ("coursework", "course_admin") else None
        if length == 1:
            messages = [self._prose.message(topic, size, other.person, student.person, subject=subject)]
        else:
            messages = self._prose.thread(topic, length, list(people), tokens=size, subject=subject)
        texts = [(people[message.sender], message.body) for message in messages if message.sender]
        first, answers = texts[0], texts[1:]
        about = course if subject else None
        return Post("message", self._moment(), first[0], messages[0].subject, first[1], about, tuple(answers))


def cost(post: Post) -> int:
    """Tokens of an item where the survey meets it: its text once, its subject wherever it is listed.

    The numbers are those of the JSON around them, measured on whole worlds.
    """
    texts = [post.body, *(text for _, text in post.answers)]
    said = sum(tokens.count(orjson.dumps(text).decode()) for text in texts)
    subject = tokens.count(post.subject)
    if post.channel == "announcement":
        return 90 + said + subject
    if post.channel == "email":
        return 204 + said + 2 * subject + (48 if post.subject.startswith("Re: ") else 0)
    return 264 + 27 * len(texts) + said + 2 * subject
