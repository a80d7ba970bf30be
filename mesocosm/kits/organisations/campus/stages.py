"""Stages: small campuses with their stories, over which scenes are rehearsed."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from mesocosm.kits.organisations.campus import coursework, exams
from mesocosm.kits.organisations.campus.coursework import Coursework
from mesocosm.kits.organisations.campus.directory import Lists
from mesocosm.kits.organisations.campus.exams import ENDS, Exams
from mesocosm.kits.organisations.campus.setting import Campus
from mesocosm.kits.organisations.campus.speaker import CampusSpeaker
from mesocosm.kits.organisations.domains import Stage
from mesocosm.kits.organisations.events import Event, Story, number_events
from mesocosm.kits.organisations.people import Person
from mesocosm.kits.organisations.scenes import CHANNELS, Scene

_DAY = dt.timedelta(days=1)


def stages(scene: Scene) -> Iterator[Callable[[int], Stage]]:
    """Yield where a scene can be rehearsed: with an assistant, or with a student who has finals or orals."""
    exam_scene = scene.story in _STUDENT_STORIES
    kinds = ("staff",) if not exam_scene else ("final", "oral") if scene.exam == "any" else (scene.exam,)
    for kind in kinds:
        yield partial(_stage, kind)


@lru_cache(maxsize=64)
def _stage(kind: str, seed: int) -> Stage:
    """A campus and its stories: seen by an assistant, or by a student with finals or orals."""

    def stream(name: str) -> random.Random:
        return random.Random(f"rehearsal:{kind}:{seed}:{name}")

    campus = Campus.drawn(stream)
    rng = stream("stage")
    campus.now = dt.datetime(2026, 4, 14, 9)
    stories: list[Story] = []
    if kind == "staff":
        me = campus.naming.person("assistant")
        pool: list[Person] = []
        for _ in range(3):
            course = campus.add_course(size=26, pool=pool)
            pool = list(course.students)
        fates = [*coursework.COUNTED, *coursework.MISSING, "dropped", "joint", "desk", "desk_left"]
        for course in campus.courses:
            fates_here = (fates * 2)[: len(course.students)]
            rng.shuffle(fates_here)
            stories += (
                Coursework(campus, me, stream(course.code)).run(course, fates_here, campus.now, True).stories
            )
            base = {**stories[-1].roles}
            for _ in range(2):
                s, t = rng.sample(course.students, 2)
                base |= {"s": s, "t": t, "c": course, "prof": course.instructor}
                when = (campus.now - rng.randint(2, 20) * _DAY).replace(hour=10)
                values = campus.appointment(course, when, workday=True)
                stories.append(
                    Story(
                        "everyday_staff",
                        {**_plain(base), "e": Event("everyday", when, course, (), values)},
                        False,
                    )
                )
    else:
        me = campus.naming.person("student")
        fellows: list[Person] = []
        for _ in range(8):
            course = campus.add_course(size=9, pool=fellows)
            fellows = list(course.students)
            course.students.append(me)
            course.topic[me] = ""
        simulated = Exams(campus, me, kind, stream("exams"), steady=False)  # type: ignore[arg-type]
        for number, course in enumerate(campus.courses):
            changes = [rng.choice(exams.CHANGES), rng.choice((*exams.CHANGES, *ENDS))]
            opened = ("", "", "room", "time")[number % 4]
            stories += simulated.run(course, rng.choice(CHANNELS), changes, opened)
        further = simulated.distractions(stream)
        stories += [next(further) for _ in range(30)]
    number_events(stories)
    return Stage(
        Lists.of(campus, me),
        me,
        CampusSpeaker.of(campus, me, rehearsing=True),
        tuple(stories),
        tuple(campus.instructors),
    )


def _plain(roles: dict[str, object]) -> dict[str, object]:
    return {name: one for name, one in roles.items() if not isinstance(one, Event)}


_STUDENT_STORIES = frozenset(
    {
        "everyday_bulletin",
        "everyday_student",
        "hearsay",
        "other_exam",
        "exam_set",
        "exam_moved",
        "room_changed",
        "length_changed",
        "books",
        "examiner",
        "exempt",
        "cancelled",
        "swap",
        "optional",
    }
)
