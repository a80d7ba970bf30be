"""Rehearsals: a scene cast alone, over a small campus, as an editor or a reader wants to see it."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from mesocosm.kits.organisations.campus import coursework, exams
from mesocosm.kits.organisations.campus.coursework import Coursework
from mesocosm.kits.organisations.campus.directory import Directory, Lists
from mesocosm.kits.organisations.campus.exams import ENDS, Exams
from mesocosm.kits.organisations.campus.naming import CampusSpeaker
from mesocosm.kits.organisations.campus.setting import Campus
from mesocosm.kits.organisations.casting import Director
from mesocosm.kits.organisations.derivations import Derivation, Rereading, derivation, texts_of
from mesocosm.kits.organisations.events import Event, Story, number_events
from mesocosm.kits.organisations.people import Person
from mesocosm.kits.organisations.scenes import CHANNELS, Scene
from mesocosm.kits.organisations.telling import Letter, Teller

NEUTRAL = coursework.NEUTRAL | exams.NEUTRAL
_DAY = dt.timedelta(days=1)


@dataclass
class Rehearsal:
    """A scene cast for a story of some small campus."""

    campus: Campus
    me: Person
    letters: list[Letter]
    level: str

    @property
    def derivations(self) -> list[Derivation]:
        """How its events are told."""
        return [derivation(letter, telling) for letter in self.letters for telling in letter.tellings]

    def faults(self) -> list[str]:
        """What a reader cannot follow: nobody is named, a thing could be another, a value cannot be read."""
        lists = Lists.of(self.campus, self.me)
        held = {
            letter.key: f"{letter.subject}\n{text}"
            for letter, text in zip(self.letters, texts_of(self.letters).values(), strict=True)
        }
        reading = Rereading(self.derivations, Directory(lists), held)
        made = {event.id: event for event in reading.events()}
        found = list(reading.faults)
        # What a shift is counted from was told by other scenes.
        found = [fault for fault in found if "from when on" not in fault and "on which day" not in fault]
        relative = {"day", "time", "shift", "span"}
        for letter in self.letters:
            for telling in letter.tellings:
                scene = letter.cast.scene
                event, again = telling.event, made.get(telling.event.id)
                for name in ("due", "start", "room", "length"):
                    value = event.values.get(name)
                    if again is None or value is None or name not in again.values:
                        continue
                    if again.values[name] != value and not relative & {one.form for one in telling.values}:
                        found.append(
                            f"{scene.name}: {event.kind}: {name} reads {again.values[name]}, is {value}"
                        )
        return found


@lru_cache(maxsize=64)
def _stage(kind: str, seed: int) -> tuple[Campus, Person, tuple[Story, ...]]:
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
                values = campus.appointment(course, when)
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
        simulated = Exams(campus, me, kind, stream("exams"))  # type: ignore[arg-type]
        for number, course in enumerate(campus.courses):
            changes = [rng.choice(exams.CHANGES), rng.choice((*exams.CHANGES, *ENDS))]
            opened = ("", "", "room", "time")[number % 4]
            stories += simulated.run(course, rng.choice(CHANNELS), changes, opened)
        further = simulated.distractions(stream)
        stories += [next(further) for _ in range(30)]
    number_events(stories)
    return campus, me, tuple(stories)


def _plain(roles: dict[str, object]) -> dict[str, object]:
    return {name: one for name, one in roles.items() if not isinstance(one, Event)}


def rehearse(
    scene: Scene, levels: tuple[str, ...] = ("explicit", "described", "referring"), seeds: int = 12
) -> Iterator[Rehearsal]:
    """Cast a scene over and over: for one fitting story of each of some campuses, the levels by turns."""
    exam_scene = (
        scene.story in ("everyday_bulletin", "everyday_student", "hearsay", "other_exam")
        or scene.story in _EXAM_STORIES
    )
    kinds = ("staff",) if not exam_scene else ("final", "oral") if scene.exam == "any" else (scene.exam,)
    count = 0
    for seed in range(seeds):
        for kind in kinds:
            campus, me, stories = _stage(kind, seed)
            level = scene.level or levels[count % len(levels)]

            def stream(name: str, seed: int = seed) -> random.Random:
                return random.Random(f"{scene.name}:{seed}:{name}")

            director = Director([scene], {level: 1.0}, stream, NEUTRAL, frozenset(CHANNELS))
            fitting = [story for story in stories if story.kind == scene.story]
            stream("order").shuffle(fitting)
            cast = next((made for story in fitting if (made := director.cast(story))), None)
            if cast is None:
                continue
            count += 1
            letters = Teller(CampusSpeaker.of(campus, me), stream).write([cast], dt.datetime.max)
            yield Rehearsal(campus, me, letters, level)


_EXAM_STORIES = frozenset(
    {
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
