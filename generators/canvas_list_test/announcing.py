"""Writes the announcements: those that matter, and those that only look like it."""

from __future__ import annotations

import datetime as dt
import random
import re

from mesocosm.generators.canvas_list_test import wording
from mesocosm.generators.canvas_list_test.campus import Campus, Course, Plan, Post, Work
from mesocosm.generators.canvas_list_test.params import Params
from mesocosm.generators.canvas_list_test.wording import Voice
from mesocosm.kits.apportioning import share_of
from mesocosm.kits.prose import Prose
from mesocosm.kits.wording import Block, Draft

_MISLEADING = re.compile(
    r"exempt|excus|option|volunt|cancel|deadline|\bdue\b|compuls|waive|drop|midterm|last year|\d{4}|\d:\d\d"
    r"|canvas",
    re.IGNORECASE,
)
"""What everyday prose must not say beside a title: it could be taken for a statement about that work."""
_SYLLABUS_CREDITS = (
    "{credits} credits.", "Credits: {credits}.", "This course is worth {credits} credits.",
    "Passing earns {credits} credits.", "It counts for {credits} credits.",
)  # fmt: skip
_SYLLABUS_OTHERS = (
    "{n} hours a week.", "Enrolment requires {m} credits from earlier terms.", "At most {n}0 places.",
    "The reading list has {m} titles.", "",
)  # fmt: skip


def write_syllabi(plan: Plan, rng: random.Random) -> None:
    """The syllabus of each course, the only place that names its credits."""
    for course in plan.courses:
        credits_line = rng.choice(_SYLLABUS_CREDITS).format(credits=f"{course.credits:g}")
        # The other number is one that a careless reader could take for the credits.
        other = rng.choice(_SYLLABUS_OTHERS).format(n=rng.randint(2, 6), m=rng.randint(12, 60))
        lines = [line for line in (credits_line, other) if line]
        rng.shuffle(lines)
        course.syllabus = Draft([course.subject.description, " ".join(lines)]).html()


def announcements(plan: Plan, prose: Prose, rng: random.Random) -> list[Post]:
    """What the notices say, an announcement each."""
    posts = []
    for work in plan.works:
        for notice in work.notices:
            voice = Voice(rng)
            said = wording.statement(voice, work.title, notice)
            posts.append(_post(voice, work, notice.moment, said, prose, evidence=True))
    return posts


def _post(
    voice: Voice, work: Work, moment: dt.datetime, said: list[Block], prose: Prose, *, evidence: bool
) -> Post:
    blocks = list(said)
    if voice.chance(0.3):
        blocks.insert(0, _aside(work.course, prose))
    elif voice.chance(0.3):
        blocks.append(_aside(work.course, prose))
    subject = voice.pick(
        f"About {voice.quoted(work.title)}", work.title, f"{work.title}: please read", f"News on {work.title}"
    )
    return Post(work.course, moment, subject, Draft(blocks).html(), evidence)


def _aside(course: Course, prose: Prose) -> str:
    while _MISLEADING.search(sentence := prose.sentence("course_admin", subject=course.subject)):
        pass
    return sentence


def decoys(plan: Plan, params: Params, prose: Prose, rng: random.Random) -> list[Post]:
    """Announcements that name a work and change nothing about it, for a reason that they state themselves."""
    works = [work for work in plan.works if work.course.role == "student" and work.published]
    quiet = [work for work in works if not work.notices]
    chosen = rng.sample(quiet, min(len(quiet), share_of(params.decoy_rate, len(works))))
    taken = {course.code for course in plan.courses}
    kinds: list[str] = []
    posts = []
    for work in chosen:
        if not kinds:
            kinds = ["no_extension", "last_year", "sister", "lecture", "final"]
            rng.shuffle(kinds)
        voice, title = Voice(rng), work.title
        match kinds.pop():
            case "no_extension":
                text = wording.no_extension(voice, voice.quoted(title))
            case "last_year":
                text = wording.last_year(voice, voice.quoted(title))
            case "sister":
                other = _foreign(taken, prose)
                text = wording.sister_course(voice, voice.quoted(title), other)
            case "lecture":
                text = wording.lecture(voice, voice.quoted(title))
            case _:
                posts.append(_final(work, plan.campus, prose, rng))
                continue
        moment = plan.campus.waking_moment(rng, 16, 1)
        posts.append(_post(voice, work, moment, [text], prose, evidence=False))
    for course in rng.sample(plan.taken, share_of(params.no_exam_prob, len(plan.taken))):
        posts.append(_no_final(course, plan.campus, prose, rng))
    return posts


def _no_final(course: Course, campus: Campus, prose: Prose, rng: random.Random) -> Post:
    """Wrong because without a final exam the quizzes and assignments are all the more to be done."""
    voice = Voice(rng)
    text = voice.pick(
        "There will be no final exam in this course.",
        "This course ends without a final exam.",
        "We do not sit a final exam this term.",
    )
    return _on_final(course, text, voice, campus, prose, rng)


def _final(work: Work, campus: Campus, prose: Prose, rng: random.Random) -> Post:
    """Wrong because it is about the final exam, which is no quiz or assignment."""
    voice = Voice(rng)
    text = voice.pick(
        f"Whoever had at least {rng.randint(60, 90)} points in the midterm is exempt from the final exam.",
        "The final exam is open-book; repeaters are exempt from it.",
    )
    return _on_final(work.course, text, voice, campus, prose, rng)


def _on_final(
    course: Course, text: str, voice: Voice, campus: Campus, prose: Prose, rng: random.Random
) -> Post:
    subject = voice.pick("Final exam", "About the final", "Before you ask")
    blocks: list[Block] = [text, _aside(course, prose)]
    return Post(course, campus.waking_moment(rng, 16, 1), subject, Draft(blocks).html())


def _foreign(taken: set[str], prose: Prose) -> str:
    """The code of a course that the student does not take."""
    while (code := prose.course_subject().code) in taken:
        pass
    return code
