"""The campus that `course_assistant` asks about, and the answer: whose presentation is missing."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mesocosm.families.family import Evidence
from mesocosm.kits.apportionment import drawn_numbers, tangled
from mesocosm.kits.organisations.campus import records
from mesocosm.kits.organisations.campus.coursework import MISSING, NEUTRAL, Class, Coursework, missing, waking
from mesocosm.kits.organisations.campus.directory import Directory, Lists
from mesocosm.kits.organisations.campus.setting import Campus
from mesocosm.kits.organisations.campus.speaker import CampusSpeaker
from mesocosm.kits.organisations.delivery import deliver_mail
from mesocosm.kits.organisations.events import Event, Story
from mesocosm.kits.organisations.letters import Letter
from mesocosm.kits.organisations.people import Person
from mesocosm.kits.organisations.questions import Answer, Organisation
from mesocosm.services.world import World

_COUNTED = {
    "uploaded": 0.3,
    "joint": 0.08,
    "draft": 0.1,
    "wrong_file": 0.06,
    "no_file": 0.06,
    "retracted": 0.08,
    "desk": 0.06,
    "extension": 0.08,
    "excused": 0.06,
}
_MISSING = {
    "late": 0.1,
    "draft_left": 0.12,
    "wrong_left": 0.08,
    "no_file_left": 0.08,
    "retracted_left": 0.1,
    "desk_left": 0.06,
    "refused": 0.08,
    "extension_missed": 0.08,
    "excuse_withdrawn": 0.06,
    "reinstated": 0.06,
    "claimed": 0.05,
    "other_work": 0.05,
}
_TOLD = {"dropped": 0.6}
"""Shares of the edge cases: of those whose presentation counts, of those without one, of those who left."""
_UNTOLD = frozenset({"uploaded", "silent", "off_roster"})
"""Fates of students without a mail."""
_AMONG_OTHERS = {
    **dict.fromkeys(("draft", "draft_left", "wrong_left", "no_file_left", "desk_left"), 0.1),
    **dict.fromkeys(("claimed", "other_work"), 0.2),
    "no_file": 0.5,
    **dict.fromkeys(("retracted", "retracted_left"), 1.4),
    **dict.fromkeys(("excused", "excuse_withdrawn", "joint", "desk"), 1.6),
    "wrong_file": 2.0,
    "plain": 2.8,
}
"""Shares of fates among students of other classes, compared with those of the class in question.

Who writes to whom, in answer to what, and with which file must not tell what matters. In the class in
question drafts, claims and files that never came decide nothing: other classes have few of them.
"""
_CLASSES = 24
"""So many other classes an assistant helps with, at most."""
_SMALL = 24
"""Assistants of so small classes help with one more: there is no room for more lists."""
_LARGE = 35
"""Of larger classes a log is long."""
_MAILED = 4
"""A plain presentation in so many comes by mail, the others through the form."""
_LEAVING = 4
"""Of so many students, and of an eighth of a large class, it is told that they leave: more would be odd."""
_DAY = dt.timedelta(days=1)


def valid(params: Any) -> None:
    """Complain of rates that are no shares."""
    for name, most in (("dropout_rate", 0.9), ("submission_rate", 1), ("edge_case_weight", 1.1)):
        if not 0 <= getattr(params, name) <= most:
            raise ValueError(f"{name}: between 0 and {most:g}")


def _shares(params: Any) -> dict[str, float]:
    """Of the students of a class, the share that meets each fate."""
    dropped = params.dropout_rate
    counted = (1 - dropped) * params.submission_rate
    weight = params.edge_case_weight
    return {
        **tangled(counted, "plain", _COUNTED, weight),
        **tangled(1 - dropped - counted, "silent", _MISSING, weight),
        **tangled(dropped, "off_roster", _TOLD, weight),
    }


def _fates(params: Any, rng: Any) -> list[str]:
    """Draw the fate of each student of a class."""
    shares = _shares(params)
    numbers = drawn_numbers(shares, params.num_students, rng)
    fates = [fate for fate, number in numbers.items() for _ in range(number)]
    if not any(fate in MISSING for fate in fates):
        fates[-1] = "draft_left"  # somebody is to be written to
    leaving = [index for index, fate in enumerate(fates) if fate in ("reinstated", "dropped")]
    for index in leaving[max(_LEAVING, params.num_students // 8) :]:
        if fates[index] == "dropped":
            fates[index] = "off_roster"
    plain = [index for index, fate in enumerate(fates) if fate == "plain"]
    for place, index in enumerate(plain):
        if place % _MAILED and len(plain) > _MAILED:
            fates[index] = "uploaded"
    return fates


def simulate(stream: Any, params: Any) -> Organisation:
    """Run some weeks of the courses that an assistant helps with."""
    campus = Campus.drawn(stream)
    rng = stream("course")
    me = campus.naming.person("assistant")
    course = campus.add_course(size=params.num_students)
    campus.now = dt.datetime(2026, rng.choice((3, 4)), rng.randint(9, 24), 9, rng.randrange(60))
    while campus.now.weekday() > 4:
        campus.now += _DAY
    work = Coursework(campus, me, stream("target"))
    fates = _fates(params, rng)
    rng.shuffle(fates)
    target = work.run(course, fates, campus.now, matters=True)
    classes: list[Class] = [target]
    # A larger class goes with more classes besides: a world of twice the length has about twice the people.
    siblings = min(_CLASSES, 2 + params.num_students // 8) if params.num_students > _SMALL else 1
    others = _siblings(campus, me, course, stream, params, classes, siblings)
    own = records.presentations(target, stream("files"))
    large = params.num_students > _LARGE

    def place(world: World, letters: Sequence[Letter], budget: int) -> list[Evidence]:
        listed = min(letter.at for letter in letters) - 2 * _DAY
        records.write_classes(world, campus, {one.course: one.off_roster for one in classes}, listed)
        files = world.stream("files")
        further = [upload for one in classes[1:] for upload in records.presentations(one, files)]
        like = own if large else ()
        filling = list(records.further_uploads(campus, budget, world.stream("uploads"), like))
        records.write_uploads(world, [*own, *further, *filling], campus.zone)
        people = [who for one in campus.courses for who in (one.instructor, *one.students)]
        staff = [campus.secretary, campus.office, campus.technician, campus.librarian, *campus.assistants]
        deliver_mail(world, me, letters, dict.fromkeys([*staff, *people]), campus.zone)
        # Whom a mail describes by the topic of a talk is looked up in the list.
        described = {
            reference.key
            for letter in letters
            for telling in letter.tellings
            if telling.matters
            for reference in telling.references
            if reference.by == ("topic",)
        }
        return [Evidence(service="filesystem", contains=records.log_line(one)) for one in own] + [
            Evidence(service="excel", contains=f'"value":"{value}"')
            for who in course.students
            for value in (
                who.full,
                who.number,
                who.email,
                *([course.topic[who]] if who.email in described else []),
            )
        ]

    return Organisation(
        now=campus.now,
        zone=campus.zone,
        me=me,
        stories=target.stories,
        further=others,
        speaker=CampusSpeaker.of(campus, me, [course]),
        lists=lambda: Lists.of(campus, me),
        place=place,
        neutral=NEUTRAL | {"everyday"},
        brief=True,
        shared=True,
        records={
            "course": course.code,
            "uploads": [(when.isoformat(), number) for when, _, number, _, _ in own],
            "gone": sorted(who.email for who in target.off_roster),
        },
    )


def _siblings(
    campus: Campus, me: Any, course: Any, stream: Any, params: Any, classes: list[Class], number: int
) -> Iterator[Story]:
    """Stories of other classes, and everyday ones: drawn by turns, without end."""
    rng = stream("siblings")
    # As in the class in question, but for what no mail tells, and for what decides nothing in either.
    shares = {
        fate: share * _AMONG_OTHERS.get(fate, 1)
        for fate, share in _shares(params).items()
        if fate not in _UNTOLD
    }
    shares["plain"] /= _MAILED
    size = min(18, max(4, params.num_students // 3))
    stories: list[Story] = []
    taken: Counter[Person] = Counter()
    second: Person | None = None
    for index in range(number):
        # How often somebody writes must not tell whether it matters: all are of one cohort, so these classes
        # are groups of the students in question, each in about as many; the instructor in question teaches
        # most of them and one other the rest.
        drawn = rng.sample(list(course.students), len(course.students))
        group = sorted(drawn, key=lambda who: taken[who])[:size]
        taken.update(group)
        other = campus.add_course(second if index % 8 == 1 else course.instructor, size, group)
        if other.instructor is not course.instructor:
            second = other.instructor
        work = Coursework(campus, me, stream(f"sibling:{index}"))
        fates = rng.choices(list(shares), list(shares.values()), k=size)
        leaving = [place for place, fate in enumerate(fates) if fate in ("dropped", "reinstated")]
        for place in leaving[_LEAVING:]:
            fates[place] = "plain"
        made = work.run(other, fates, campus.now - index // 8 * 3 * _DAY, matters=False)
        classes.append(made)
        stories += made.stories
    rng.shuffle(stories)
    begin = min(story.begins for story in [*stories, *classes[0].stories])

    left = {story.roles["s"] for story in [*stories, *classes[0].stories] if story.kind == "dropped"}
    left |= {who for one in classes for who in one.off_roster}
    met: Counter[Person] = Counter()

    def meet(story: Story) -> None:
        met.update(story.roles[role] for role in ("s", "t") if role in story.roles)

    for story in classes[0].stories:
        meet(story)

    def everyday() -> Iterator[Story]:
        count = 0
        while True:
            own = stream(f"everyday:{count}")
            count += 1
            of = own.choice(campus.courses)
            when = waking(own, begin, campus.now - _DAY / 4, of.instructor)
            here = [who for who in of.students if who not in left]
            if len(here) < 2:
                here = of.students
            drawn = own.sample(here, min(16, len(here)))
            # Who was met once is met again.
            s, t = sorted(drawn, key=lambda who: met[who] != 1)[:2]
            roles = {
                "me": me,
                "c": of,
                "prof": of.instructor,
                "sec": campus.secretary,
                "ta2": campus.assistants[-1],
                "tech": campus.technician,
                "lib": campus.librarian,
                "s": s,
                "t": t,
                "e": Event("everyday", when, of, (), campus.appointment(of, when, workday=True)),
            }
            yield Story("everyday_staff", roles, matters=False)

    def mixed() -> Iterator[Story]:
        """A ninth is everyday life, as long as there are stories of other classes."""
        daily = everyday()
        for count, story in enumerate(stories):
            meet(story)
            yield story
            if count % 8 == 7:
                small = next(daily)
                meet(small)
                yield small
        yield from daily

    return mixed()


def answer(directory: Directory, events: Sequence[Event], known: Mapping[str, Any], params: Any) -> Answer:
    """Decide who has to be reminded, by the rules of the prompt."""
    course = directory.courses[known["course"]]
    by_number = {who.number: who for who in course.students}
    uploads = [
        Event("uploaded", dt.datetime.fromisoformat(when), course, (by_number[number],))
        for when, number in known["uploads"]
    ]
    announced = [event.due for event in events if event.about is course and event.kind.startswith("deadline")]
    enrolled = [who for who in course.students if who.email not in known["gone"]]
    ordered = sorted([*events, *uploads], key=lambda event: event.at)
    wanted = set(missing(course, announced[-1], enrolled, ordered)) if announced else set(enrolled)
    me = directory.me
    return Answer(
        singles={
            "me": {"name": me.full, "email": me.email},
            "course": {
                "title": course.title,
                "code": course.code,
                "instructor": course.instructor.full,
                "instructor_email": course.instructor.email,
                "university": directory.university,
                "zone": directory.zone,
                "secretary": directory.secretary.full,
                "colleague": directory.colleagues[-1].full,
                "subject": f"{course.code.lower().replace(' ', '')}-presentation-missing",
            },
        },
        sets={
            "student": [
                {"name": who.full, "number": who.number, "email": who.email, "reminded": who in wanted}
                for who in course.students
            ]
        },
    )


def survey(tools: Any) -> None:
    """Read the lists, the log and all mail."""
    from mesocosm.services.words import load_words

    for service, options in (
        ("filesystem", {}),
        ("excel", {"files": [records.CLASSES]}),
        ("email", {"folders": ["INBOX", "Sent"]}),
    ):
        words = load_words(service)
        assert words is not None
        words.survey(tools, options)
