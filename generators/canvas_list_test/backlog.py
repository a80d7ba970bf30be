"""Noise around the student's work: posts about other work, past work, everyday posts."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import orjson

from mesocosm.generators.canvas_list_test.campus import Campus, Course, Plan, Post, Work
from mesocosm.generators.canvas_list_test.params import Params
from mesocosm.generators.canvas_list_test.planning import created, draw_work, plan_works
from mesocosm.generators.canvas_list_test.stories import Stories
from mesocosm.generators.canvas_list_test.titles import Titles
from mesocosm.generators.canvas_list_test.wording import Announcer
from mesocosm.kits.apportionment import spend
from mesocosm.kits.prose import Prose
from mesocosm.worlds import tokens

_RECENT = (30, 0.8)
"""Days ago between which everyday posts are written, like all others."""
_WEIGHTS = {"post": 0.75, "assignment": 0.15, "quiz": 0.1}
"""Weights of places for everyday content, by tokens."""
_EARLIER = 9
"""So many days ago the work of weeks gone by was what the student had to do."""
_GONE_BY = 0.3
"""Share of irrelevant work from past weeks in announcements."""
_OVERHEAD = 106
"""Tokens of the JSON around the text of an announcement, with its title."""
_PIECE = 260
_SMALLEST = 60
"""Tokens of text below which an item is not worth its JSON."""


@dataclass
class Backlog:
    """Posts and works of the past term. None of the works counts, as all are over."""

    posts: list[Post] = field(default_factory=list)
    works: list[Work] = field(default_factory=list)


class BacklogWriter:
    """Writes what does not matter, to be told from evidence only by being read.

    Work that does not count is planned exactly as the student's own, and written about by the same hands:
    some of it was due in the past weeks, the rest is not on Canvas.
    """

    def __init__(
        self, params: Params, plan: Plan, announcer: Announcer, prose: Prose, rng: random.Random
    ) -> None:
        self._params = params
        self._plan = plan
        self._announcer = announcer
        self._prose = prose
        self._rng = rng
        self._titles = Titles(rng)
        self._unseen: dict[str, list[str]] = {}
        """Titles of works that are not on Canvas, by course."""

    def worth(self, budget: int) -> Backlog:
        """Items that cost ``budget`` tokens together where the survey meets them."""
        alike = self._alike(round(budget * self._params.lookalike_share))
        rest = budget - sum(map(cost, alike.posts)) - sum(map(cost, alike.works))
        items = spend(
            rest,
            _WEIGHTS,
            lambda kind: [self._post() if kind == "post" else self._work(kind)],
            cost,
            lambda size: self._post(size - _OVERHEAD),
            piece=_PIECE,
            least=_OVERHEAD + _SMALLEST,
        )
        posts = [*alike.posts, *(item for item in items if isinstance(item, Post))]
        if posts:
            # What is too little for a post of its own makes one longer.
            posts[-1] = self._announcer.longer(posts[-1], rest - sum(map(cost, items)))
        return Backlog(posts, [*alike.works, *(item for item in items if isinstance(item, Work))])

    def _course(self) -> Course:
        return self._rng.choice(self._plan.taken)

    def _post(self, size: int | None = None) -> Post:
        moment = self._plan.campus.waking_moment(self._rng, *_RECENT)
        return self._announcer.post(self._course(), moment, [], size=size)

    # -- other work, announced alike --------------------------------------------------------------------

    def _alike(self, budget: int) -> Backlog:
        found = Backlog()
        unseen, gone_by = self._not_on_canvas(), self._gone_by()
        left = budget
        while left > 0:
            past = self._rng.random() < _GONE_BY
            work = next(gone_by if past else unseen, None)
            if not work:  # nothing is ever announced in this world
                return found
            posts = [
                self._announcer.notice(work.course, work.title, notice, evidence=False)
                for notice in work.notices
            ]
            price = sum(map(post_cost, posts)) + (work_cost(work) if past else 0)
            left -= price
            if left >= 0:
                found.posts += posts
                found.works += [work] if past else []
        return found

    def _planned(self, campus: Campus, days: int) -> Iterator[list[Work]]:
        """Works of the student's courses as they are at a moment on campus, again and again."""
        while True:
            plan = Plan(campus, self._plan.courses, [])
            size = 3 + max(len(course.titles) for course in self._plan.taken)
            works = plan_works(self._params, plan, self._titles, self._rng, range(1, size))
            Stories(self._params, plan, self._prose, self._rng, days).tell(works)
            yield works

    def _not_on_canvas(self) -> Iterator[Work]:
        """Works that are announced and that Canvas does not have, as they are of other groups or on paper."""
        for works in self._planned(self._plan.campus, 30):
            fit = []
            for work in works:
                others = work.course.titles - {work.title}
                if work.notices and not any(_clash(work.title, other) for other in others):
                    self._unseen.setdefault(work.course.code, []).append(work.title)
                    fit.append(work)
                else:
                    work.course.titles.discard(work.title)
            if not fit:
                return
            yield from fit

    def _gone_by(self) -> Iterator[Work]:
        """Works of the past weeks, over whatever one goes by."""
        now = self._plan.campus.now
        campus = replace(self._plan.campus, now=now - dt.timedelta(days=_EARLIER))
        for works in self._planned(campus, _EARLIER - 1):
            fit = []
            for work in works:
                moments = [work.due, work.deadline, work.stale or work.due]
                over = all(moment and moment < now.replace(tzinfo=None) for moment in moments)
                unseen = self._unseen.get(work.course.code, [])
                if over and not any(_clash(work.title, other) for other in unseen):
                    fit.append(self._over(work))
                else:
                    work.course.titles.discard(work.title)
            if not fit:
                return
            yield from fit

    # -- works of the past weeks ------------------------------------------------------------------------

    def _over(self, work: Work) -> Work:
        """The work after its deadline: handed in or missed, in time or late, and over either way."""
        campus = self._plan.campus
        work.created = created(campus, self._rng)
        work.fate = "past"
        work.variant = self._rng.choice(("handed_in", "graded", "graded", "graded", "missed"))
        if work.grading_type == "not_graded":
            work.variant = "missed"
        if work.unlock:
            work.unlock -= dt.timedelta(days=7)  # what students work on is not open for an evening only
        # Late work may be taken for a while, so that what is closed is not what is over.
        while work.lock and campus.local(work.lock) < campus.now:
            work.lock += dt.timedelta(days=7)
        return work

    def _work(self, kind: str) -> Work:
        """A work of the past weeks that no announcement is about."""
        rng, now = self._rng, self._plan.campus.now.replace(tzinfo=None)
        course = self._course()
        numbers = range(1, 5 + len(course.titles))
        while True:
            work = draw_work(
                self._params, self._plan.campus, course, "quiz" if kind == "quiz" else "assignment",
                self._titles, rng, numbers,
            )  # fmt: skip
            if not any(_clash(work.title, other) for other in self._unseen.get(course.code, [])):
                break
        clock = rng.choice((dt.time(12), dt.time(17), dt.time(23, 59), dt.time(23, 59)))
        work.due = work.deadline = dt.datetime.combine(
            now.date() - dt.timedelta(days=rng.randint(1, 35)), clock
        )
        return self._over(work)


def _clash(one: str, other: str) -> bool:
    """True if a text with one title contains the other as well."""
    short, long = sorted((one, other), key=len)
    return re.search(rf"(?<!\w){re.escape(short)}(?!\w)", long) is not None


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
