"""Writes the announcements: those that matter, and those that only look like it."""

from __future__ import annotations

import datetime as dt
import random

from mesocosm.generators.canvas_list_test import statements
from mesocosm.generators.canvas_list_test.campus import Campus, Course, Plan, Post
from mesocosm.generators.canvas_list_test.params import Params
from mesocosm.generators.canvas_list_test.wording import Announcer
from mesocosm.kits.apportionment import share_of
from mesocosm.kits.wording import Draft

_SYLLABUS_CREDITS = (
    "{credits} credits.", "Credits: {credits}.", "This course is worth {credits} credits.",
    "Passing earns {credits} credits.", "It counts for {credits} credits.",
)  # fmt: skip
_SYLLABUS_OTHERS = (
    "{n} hours a week.", "Enrolment requires {m} credits from earlier terms.", "At most {n}0 places.",
    "The reading list has {m} titles.", "",
)  # fmt: skip
_DECOYS = {
    "no_extension": statements.NO_EXTENSION,
    "last_year": statements.LAST_YEAR,
    "sister": statements.SISTER_COURSE,
    "lecture": statements.LECTURE,
    "final": statements.FINAL,
}


def write_syllabi(plan: Plan, rng: random.Random) -> None:
    """The syllabus of each course, the only place that names its credits."""
    for course in plan.courses:
        credits_line = rng.choice(_SYLLABUS_CREDITS).format(credits=f"{course.credits:g}")
        # The other number is one that a careless reader could take for the credits.
        other = rng.choice(_SYLLABUS_OTHERS).format(n=rng.randint(2, 6), m=rng.randint(12, 60))
        lines = [line for line in (credits_line, other) if line]
        rng.shuffle(lines)
        course.syllabus = Draft([course.subject.description, " ".join(lines)]).html()


def announcements(plan: Plan, announcer: Announcer) -> list[Post]:
    """Write the notices, an announcement each."""
    return [
        announcer.notice(work.course, work.title, notice, evidence=True)
        for work in plan.works
        for notice in work.notices
    ]


def decoys(plan: Plan, params: Params, announcer: Announcer, rng: random.Random) -> list[Post]:
    """Announcements that name a work and change nothing about it, for a reason that they state themselves."""
    works = [work for work in plan.works if work.course.role == "student" and work.published]
    quiet = [work for work in works if not work.notices]
    chosen = rng.sample(quiet, min(len(quiet), share_of(params.decoy_rate, len(works))))
    taken = {course.code for course in plan.courses}
    without_final = rng.sample(plan.taken, share_of(params.no_exam_prob, len(plan.taken)))
    # A course speaks of its final exam once, so that it does not contradict itself.
    told = {course.code for course in without_final}
    kinds: list[str] = []
    posts = []
    for work in chosen:
        if not kinds:
            kinds = rng.sample(list(_DECOYS), len(_DECOYS))
        kind = kinds.pop()
        if kind == "final" and work.course.code in told:
            kind = "lecture"
        told |= {work.course.code} if kind == "final" else set()
        # The final exam is no quiz or assignment.
        title = "" if kind == "final" else work.title
        other = _sister(work.course, taken, rng) if kind == "sister" else ""
        points = str(rng.randint(60, 90))
        moment = _moment(plan.campus, rng)
        posts.append(announcer.about(work.course, title, moment, _DECOYS[kind], other=other, points=points))
    for course in without_final:
        # Without a final exam the quizzes and assignments are all the more to be done.
        posts.append(announcer.about(course, "", _moment(plan.campus, rng), statements.NO_FINAL))
    return posts


def _moment(campus: Campus, rng: random.Random) -> dt.datetime:
    return campus.waking_moment(rng, 28, 1)


def _sister(course: Course, taken: set[str], rng: random.Random) -> str:
    """The code of a course of the same department that the student does not take."""
    while (code := f"{course.subject.code_prefix} {rng.randint(100, 999)}") in taken:
        pass
    return code
