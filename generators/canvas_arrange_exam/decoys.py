"""Posts about exams that are not the student's finals."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable

from mesocosm.generators.canvas_arrange_exam.courses import Channel, Course, Plan
from mesocosm.generators.canvas_arrange_exam.people import People
from mesocosm.generators.canvas_arrange_exam.posts import Post
from mesocosm.generators.canvas_arrange_exam.wording import (
    Facts,
    Voice,
    facts_block,
    facts_sentences,
)
from mesocosm.kits.apportioning import share_of
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Prose
from mesocosm.kits.wording import Block, Draft


def decoys(plan: Plan, share: float, people: People, prose: Prose, rng: random.Random) -> list[Post]:
    """Posts about exams that do not count, each for a reason that it states itself."""
    courses = rng.sample(plan.courses, share_of(share, len(plan.courses)))
    kinds: list[Callable[[Course, _Decoy], Post]] = []
    writer = _Decoy(plan, people, prose, rng)
    posts = []
    for course in courses:
        if not kinds:
            kinds = rng.sample(_KINDS, len(_KINDS))
        kind = kinds.pop()
        if kind not in (fitting := _FITTING.get(course.fate, _KINDS)):
            kind = rng.choice(fitting)
        posts.append(kind(course, writer))
    return posts


class _Decoy:
    def __init__(self, plan: Plan, people: People, prose: Prose, rng: random.Random) -> None:
        self.campus = plan.campus
        self.people = people
        self.prose = prose
        self.rng = rng
        places = [course.details.room for course in plan.courses if course.details.room]
        self.taken = {course.title for course in plan.courses}
        self._buildings = sorted({place.rpartition(" ")[0] for place in places})

    def sitting(self, days: tuple[int, int], *, duration: bool = True) -> Facts:
        """Made-up facts; ``days`` from now."""
        now = self.campus.now
        dates = [now.date() + dt.timedelta(days=ahead) for ahead in range(days[0], days[1] + 1)]
        day = self.rng.choice([date for date in dates if date.weekday() < 5])
        start = dt.datetime.combine(day, dt.time(self.rng.randint(8, 18), self.rng.choice((0, 15, 30, 45))))
        building = self.rng.choice(self._buildings) if self._buildings else f"{self.prose.place()} Hall"
        room = f"{building} {self.rng.randint(50, 99)}"
        return Facts(start, duration=self.rng.choice((45, 60, 90, 120, 150)) if duration else None, room=room)

    def aside(self, course: Course) -> str:
        """A sentence about the course."""
        return self.prose.sentence("course_admin", subject=course.subject)

    def post(
        self,
        course: Course,
        channel: Channel,
        days: tuple[float, float],
        subject: str,
        blocks: list[Block],
        author: Contact | None = None,
    ) -> Post:
        draft = Draft(blocks)
        body = draft.html() if channel == "announcement" else draft.plain()
        moment = self.campus.waking_moment(self.rng, *days)
        return Post(channel, moment, author or course.instructor, subject, body, course)


def _told(voice: Voice, opening: str, facts: Facts, *rest: str) -> list[Block]:
    if voice.chance(0.5):
        return [opening, facts_block(voice, facts), " ".join(rest)]
    return [f"{opening} {facts_sentences(voice, facts)}", " ".join(rest)]


def _other_section(course: Course, at: _Decoy) -> Post:
    """Wrong because it is for another section than the student's."""
    voice = Voice(at.rng)
    section = at.rng.choice([number for number in range(1, 10) if number != course.section])
    opening = voice.pick(
        f"For Section {section} only: the final exam in {course.title}.",
        f"This concerns nobody but Section {section} and its final exam in {course.title}.",
        f"Section {section} sits its {course.title} final exam separately.",
    )
    subject = voice.pick(f"Section {section}: final exam", f"Final exam of Section {section}")
    return at.post(
        course, "announcement", (30, 3), subject, _told(voice, opening, at.sitting((2, 16)), at.aside(course))
    )


def _midterm(course: Course, at: _Decoy) -> Post:
    """Wrong because it is the midterm, long over."""
    voice = Voice(at.rng)
    opening = voice.pick(
        f"The midterm exam in {course.title} is coming up.",
        f"A few words on the {course.title} midterm exam.",
        f"Here is what you need for the midterm exam in {course.title}.",
    )
    facts = at.sitting((-52, -45))
    subject = voice.pick("Midterm exam", f"{course.title}: midterm")
    return at.post(course, "announcement", (66, 56), subject, _told(voice, opening, facts, at.aside(course)))


def _mock(course: Course, at: _Decoy) -> Post:
    """Wrong because it is for practice."""
    voice = Voice(at.rng)
    opening = voice.pick(
        f"A voluntary mock exam for {course.title}, which is not graded.",
        f"Anybody who wants to rehearse may sit a mock exam in {course.title}.",
        f"There is a practice exam for {course.title}; it does not count.",
    )
    subject = voice.pick("Mock exam", f"{course.title}: practice exam")
    blocks = _told(voice, opening, at.sitting((1, 9)), at.aside(course))
    return at.post(course, "announcement", (20, 2), subject, blocks)


def _make_up(course: Course, at: _Decoy) -> Post:
    """Wrong because it is only for those who cannot come to the regular final."""
    voice = Voice(at.rng)
    opening = voice.pick(
        f"Make-up exam in {course.title}, only for those with an approved absence from the final.",
        f"If your absence from the {course.title} final has been approved, this is the make-up exam.",
        f"For students with an approved absence there is a make-up exam in {course.title}.",
    )
    subject = voice.pick("Make-up exam", f"{course.title}: make-up exam for approved absences")
    blocks = _told(voice, opening, at.sitting((8, 25)), at.aside(course))
    return at.post(course, "announcement", (12, 1), subject, blocks)


def _last_year(course: Course, at: _Decoy) -> Post:
    """Wrong because it was a year ago."""
    voice = Voice(at.rng)
    opening = voice.pick(
        f"To give you an idea, these were the arrangements for last year's {course.title} final exam.",
        f"From the archive: last year's final exam in {course.title}.",
        f"Last year's final exam in {course.title}, for comparison only.",
    )
    subject = voice.pick("Last year's final", "From the archive")
    facts = at.sitting((-370, -358))
    return at.post(course, "announcement", (50, 20), subject, _told(voice, opening, facts, at.aside(course)))


def _hearsay(course: Course, at: _Decoy) -> Post:
    """Wrong because a classmate does not speak for the course."""
    voice = Voice(at.rng)
    author = at.rng.choice(at.people.classmates)
    facts = facts_sentences(voice, at.sitting((1, 14), duration=False))
    opening = voice.pick(
        f"Somebody on the bus said that the {course.title} final has been moved.",
        f"Rumour has it that they moved the {course.title} final.",
        f"Have you heard? People say the {course.title} final is at another time now.",
    )
    closing = voice.pick("No idea whether that is true.", "I only have it second-hand.", "Do you know more?")
    channel: Channel = "message" if voice.chance(0.5) else "email"
    subject = voice.pick(f"{course.title} final?", "Have you heard?", "Moved??")
    blocks: list[Block] = [f"{opening} {facts} {closing}", at.aside(course)]
    if channel == "email":
        blocks = [f"Hi {at.campus.student.person.first},", *blocks, author.person.first]
    return at.post(course, channel, (9, 1), subject, blocks, author)


def _foreign(course: Course, at: _Decoy) -> Post:
    """Wrong because it is about a course that the student does not take."""
    voice = Voice(at.rng)
    author = at.rng.choice(at.people.classmates)
    other = at.prose.course_subject()
    while other.title in at.taken:
        other = at.prose.course_subject()
    facts = facts_sentences(voice, at.sitting((1, 14)))
    opening = voice.pick(
        f"My final exam in {other.title} is getting close; lucky you for not taking it.",
        f"You do not take {other.title}, do you? Its final exam is what I dread most.",
    )
    blocks: list[Block] = [
        f"Hi {at.campus.student.person.first},",
        f"{opening} {facts}",
        at.prose.sentence("personal"),
        author.person.first,
    ]
    return at.post(course, "email", (12, 1), voice.pick("My exams", "Counting the days"), blocks, author)


_KINDS = [_other_section, _midterm, _mock, _make_up, _last_year, _hearsay, _foreign]
_FITTING = {
    # Nobody rehearses for, moves or makes up a final that does not exist ...
    "no_exam": [_midterm, _foreign],
    # ... nor rehearses for one that is over.
    "past": [_other_section, _midterm, _make_up, _last_year],
}
