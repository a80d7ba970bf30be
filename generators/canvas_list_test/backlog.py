"""Everyday content of the courses: posts that name no work, and work of weeks gone by."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass, field

import orjson

from mesocosm.generators.canvas_list_test.campus import Course, Plan, Post, Work
from mesocosm.generators.canvas_list_test.params import Params
from mesocosm.generators.canvas_list_test.planning import draw_work
from mesocosm.generators.canvas_list_test.titles import Titles
from mesocosm.kits.prose import Prose, Topic
from mesocosm.kits.spending import spend
from mesocosm.kits.wording import Draft
from mesocosm.worlds import tokens

_TERM = (55, 0.6)
"""Days ago between which everyday posts are written."""
_EARLY_NUMBERS = range(1, 5)
_WEIGHTS = {"post": 0.7, "assignment": 0.18, "quiz": 0.12}
"""How everyday content spreads over the places in which evidence lives, by tokens."""
_POST_SIZE = (50, 190)
_OVERHEAD = 106
"""Tokens of the JSON around the text of an announcement, with its title."""
_PIECE = 260
_SMALLEST = 60
"""Tokens of text below which an item is not worth its JSON."""


@dataclass
class Backlog:
    """What was written and set during the term; none of the works counts, because they are over by now."""

    posts: list[Post] = field(default_factory=list)
    works: list[Work] = field(default_factory=list)


class BacklogWriter:
    """Writes everyday content, to be told from evidence only by being read."""

    def __init__(self, params: Params, plan: Plan, prose: Prose, rng: random.Random) -> None:
        self._params = params
        self._plan = plan
        self._prose = prose
        self._rng = rng
        self._titles = Titles(rng, prose)

    def worth(self, budget: int) -> Backlog:
        """Items that cost ``budget`` tokens together where the survey meets them."""
        items = spend(
            budget,
            _WEIGHTS,
            lambda kind: [self._post(self._rng.randint(*_POST_SIZE)) if kind == "post" else self._work(kind)],
            cost,
            lambda size: self._post(size - _OVERHEAD),
            piece=_PIECE,
            least=_OVERHEAD + _SMALLEST,
        )
        return Backlog(
            [item for item in items if isinstance(item, Post)],
            [item for item in items if isinstance(item, Work)],
        )

    def _course(self) -> Course:
        return self._rng.choice(self._plan.taken)

    def _post(self, size: int) -> Post:
        course = self._course()
        topic: Topic = "course_admin" if self._rng.random() < 0.65 else "coursework"
        sender = course.instructor.person if self._rng.random() < 0.5 else None
        message = self._prose.message(topic, size, sender, subject=course.subject)
        body = Draft(list(message.body.split("\n\n"))).html()
        return Post(course, self._plan.campus.waking_moment(self._rng, *_TERM), message.subject, body)

    def _work(self, kind: str) -> Work:
        """A work of the past weeks: handed in or missed, in time or late, and over either way."""
        rng, now = self._rng, self._plan.campus.now.replace(tzinfo=None)
        numbers = _EARLY_NUMBERS
        course = self._course()
        if len(course.titles) > 40:
            numbers = range(1, 4 + len(course.titles) // 3)
        work = draw_work(
            self._params,
            self._plan.campus,
            course,
            "quiz" if kind == "quiz" else "assignment",
            self._titles,
            rng,
            numbers,
        )
        clock = rng.choice((dt.time(12), dt.time(17), dt.time(23, 59), dt.time(23, 59)))
        work.due = work.deadline = dt.datetime.combine(
            now.date() - dt.timedelta(days=rng.randint(1, 50)), clock
        )
        work.created = self._plan.campus.local(work.due - dt.timedelta(days=rng.randint(5, 15)))
        work.fate = "past"
        work.variant = rng.choice(("handed_in", "graded", "graded", "graded", "missed"))
        if rng.random() < 0.4:
            work.lock = work.due
        return work


def cost(item: Post | Work) -> int:
    """Tokens of an item wherever the survey meets it."""
    return post_cost(item) if isinstance(item, Post) else work_cost(item)


def post_cost(post: Post) -> int:
    """Tokens of an announcement in the list of its course, with the JSON around it as measured."""
    return 90 + _said(post.body) + tokens.count(post.subject)


def work_cost(work: Work) -> int:
    """Tokens of a work in the lists of its course; a quiz is also among the assignments."""
    text = _said(work.title) + _said(work.description) + (10 if work.lock else 0)
    return 2 * text + 345 if work.kind == "quiz" else text + 213


def _said(text: str) -> int:
    return tokens.count(orjson.dumps(text).decode()) - 2
