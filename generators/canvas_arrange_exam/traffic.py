"""Everyday posts, mails and conversations about anything but exams, and what fills a world up."""

from __future__ import annotations

import random

import orjson

from mesocosm.generators.canvas_arrange_exam.composing import COURSE_TOPICS, FRIENDS_TOPICS, Composer
from mesocosm.generators.canvas_arrange_exam.courses import Channel, Course, Plan
from mesocosm.generators.canvas_arrange_exam.lookalikes import Lookalikes
from mesocosm.generators.canvas_arrange_exam.posts import People, Post
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Topic
from mesocosm.kits.spending import spend
from mesocosm.worlds import tokens

_TERMS: tuple[tuple[float, tuple[float, float]], ...] = (
    (0.25, (104, 0.6)), (0.2, (104, 95)), (0.35, (38, 13)), (0.2, (12, 2)),
)  # fmt: skip
"""Days ago between which everyday posts are written, by weight: mostly when others are written too."""
_DESKS: tuple[tuple[Topic, str], ...] = (
    ("newsletter", "Campus Newsletter"),
    ("campus_life", "Student Life"),
    ("events", "Events Desk"),
    ("it_support", "IT Helpdesk"),
    ("research", "Research Forum"),
    ("travel", "Exchange Service"),
)
_WEIGHTS: dict[str, float] = {"announcement": 0.45, "email": 0.4, "message": 0.15}
"""How everyday traffic spreads over the places in which evidence lives, by tokens."""
_OVERHEAD = 90
"""Tokens of the JSON around the text of an announcement, with its title."""
_PIECE = 260
_SMALLEST = 60
"""Tokens of text below which an item is not worth its JSON."""


class Traffic:
    """Writes everyday posts: about anything but exams, to be told from evidence only by being read."""

    def __init__(self, plan: Plan, people: People, composer: Composer, rng: random.Random) -> None:
        self._courses = plan.courses
        self._people = people
        self._composer = composer
        self._rng = rng
        self._desks = [(topic, people.desk(name)) for topic, name in _DESKS]

    def some(self, channel: Channel, number: int) -> list[Post]:
        """So many items."""
        return [self.item(channel) for _ in range(number)]

    def in_course(self, course: Course, number: int) -> list[Post]:
        """So many announcements of one course."""
        return [self._of_course("announcement", course) for _ in range(number)]

    def worth(self, budget: int, lookalikes: Lookalikes, share: float) -> list[Post]:
        """Items that cost ``budget`` tokens where the survey meets them, a share of them lookalikes."""
        weights = {name: weight * (1 - share) for name, weight in _WEIGHTS.items()} | {"lookalike": share}
        return spend(
            budget,
            {name: weight for name, weight in weights.items() if weight},
            lambda kind: [lookalikes.next() if kind == "lookalike" else self.item(kind)],  # type: ignore[arg-type]
            cost,
            lambda size: self._of_course("announcement", self._rng.choice(self._courses), size - _OVERHEAD),
            piece=_PIECE,
            least=_OVERHEAD + _SMALLEST,
        )

    def item(self, channel: Channel) -> Post:
        """One announcement, mail or conversation."""
        course = self._rng.choice(self._courses)
        kind = self._rng.random()
        if channel == "announcement" or kind < 0.55:
            return self._of_course(channel, course)
        if kind < 0.7:
            return self._by(channel, course, course.assistant, COURSE_TOPICS)
        if channel == "email" and kind > 0.85:
            topic, desk = self._rng.choice(self._desks)
            return self._by(channel, course, desk, (topic,), personal=False)
        friend = self._rng.choice(self._people.classmates)
        return self._by(channel, course, friend, FRIENDS_TOPICS, personal=True)

    def _of_course(self, channel: Channel, course: Course, size: int | None = None) -> Post:
        return self._by(channel, course, course.instructor, COURSE_TOPICS, size)

    def _by(
        self,
        channel: Channel,
        course: Course,
        author: Contact,
        topics: tuple[Topic, ...],
        size: int | None = None,
        personal: bool | None = None,
    ) -> Post:
        spans = [span for _, span in _TERMS]
        [days] = self._rng.choices(spans, [weight for weight, _ in _TERMS])
        return self._composer.post(
            channel, days, author, course.subject, course=course, topics=topics, size=size, personal=personal
        )


def cost(post: Post) -> int:
    """Tokens of an item where the survey meets it: its text once, its subject wherever it is listed.

    The numbers are those of the JSON around them, measured on whole worlds.
    """
    texts = [post.body, *(text for _, text in post.answers)]
    said = sum(tokens.count(orjson.dumps(text).decode()) for text in texts)
    subject = tokens.count(post.subject)
    if post.channel == "announcement":
        return 85 + said + subject
    if post.channel == "email":
        return 207 + said + 2 * subject
    return 262 + 27 * len(texts) + said + 2 * subject
