"""Decides what is true of every course and every work, before an announcement is written."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from mesocosm.generators.canvas_list_test.campus import Campus, Contact, Course, Kind, Plan, Role, Work
from mesocosm.generators.canvas_list_test.params import Params
from mesocosm.generators.canvas_list_test.stories import Stories
from mesocosm.generators.canvas_list_test.titles import Titles
from mesocosm.prose import Prose

_ZONES = (
    "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/Toronto",
    "Europe/London", "Europe/Amsterdam", "Australia/Sydney", "Pacific/Auckland", "Asia/Singapore",
)  # fmt: skip
_CREDITS = (1.5, 2, 2.5, 3, 3, 4, 4, 5, 6, 7.5)
_LATE_NUMBERS = range(5, 10)
_ENDED_COURSES = 2


def plan_world(params: Params, rng: random.Random, prose: Prose) -> Plan:
    """Draw everything that is true."""
    campus = _campus(rng, prose)
    courses = _courses(params, campus, rng, prose)
    plan = Plan(campus, courses, [])
    titles = Titles(rng, prose)
    works = _works(params, plan, titles, rng)
    Stories(params, plan, prose, rng).tell(works)
    plan.works = [*works, *_elsewhere(plan, titles, rng), *_unpublished(plan, titles, rng)]
    return plan


# -- campus and courses ------------------------------------------------------------------------------------


def _campus(rng: random.Random, prose: Prose) -> Campus:
    zone = ZoneInfo(rng.choice(_ZONES))
    year = rng.randint(2023, 2026)
    # Weeks in which the clocks are about to change in many places, so that deadlines lie on both sides.
    month, days, term, last = rng.choice(
        ((10, range(12, 27), "fall", "spring"), (3, range(1, 20), "spring", "fall"))
    )
    dates = [dt.date(year, month, day) for day in days]
    day = rng.choice([date for date in dates if date.weekday() < 5])
    clock = dt.time(rng.randint(10, 16), rng.choice((0, 15, 30, 45)))
    place = prose.place()
    domain = f"{place.replace(' ', '').lower()}.edu"
    return Campus(
        university=f"{place} {rng.choice(('University', 'College'))}",
        domain=domain,
        zone=zone,
        now=dt.datetime.combine(day, clock, zone),
        term=f"{term} {year}",
        last_term=f"{last} {year if last == 'spring' else year - 1}",
        student=_contact(prose, domain),
    )


def _contact(prose: Prose, domain: str) -> Contact:
    person = prose.person()
    return Contact(person, f"{person.handle}@{domain}")


def _courses(params: Params, campus: Campus, rng: random.Random, prose: Prose) -> list[Course]:
    roles: list[Role] = ["student"] * (params.num_courses - params.assisted)
    roles += ["assistant"] * params.assisted
    roles += ["ended"] * min(_ENDED_COURSES, len(roles) // 4)
    instructors = [_contact(prose, campus.domain) for _ in range(max(1, round(0.75 * len(roles))))]
    courses = []
    for index, role in enumerate(roles):
        who = index if index < len(instructors) else rng.randrange(len(instructors))
        subject = prose.course_subject()
        courses.append(Course(subject, role, instructors[who], rng.choice(_CREDITS)))
    rng.shuffle(courses)
    return courses


# -- works -------------------------------------------------------------------------------------------------


def _works(params: Params, plan: Plan, titles: Titles, rng: random.Random) -> list[Work]:
    """Works of the courses that are taken, each with its fate, spread evenly."""
    quizzes, assignments = params.works()
    kinds: list[Kind] = [
        "quiz" if index < quizzes else "assignment" for index in range(quizzes + assignments)
    ]
    fates = _fates(params, quizzes, assignments, rng)
    places: list[Course] = []
    while len(places) < len(kinds):
        places += rng.sample(plan.taken, len(plan.taken))
    places = places[: len(kinds)]
    rng.shuffle(places)
    works = []
    for kind, fate, course in zip(kinds, fates, places, strict=True):
        works.append(draw_work(plan.campus, course, kind, titles, rng, _LATE_NUMBERS))
        works[-1].fate = fate
    rng.shuffle(works)
    return works


def _fates(params: Params, quizzes: int, assignments: int, rng: random.Random) -> list[str]:
    """The fate of each quiz, then of each assignment: at least one and two of these are listed."""
    numbers = params.fates(quizzes + assignments)
    listed = numbers.pop("listed")
    share = quizzes / (quizzes + assignments)
    of_quizzes = min(quizzes, max(1, min(round(listed * share), listed - 2)))
    of_assignments = min(assignments, listed - of_quizzes)
    of_quizzes = min(quizzes, listed - of_assignments)
    others = [fate for fate, number in numbers.items() for _ in range(number)]
    rng.shuffle(others)
    cut = quizzes - of_quizzes
    own = ["listed"] * of_quizzes + others[:cut]
    rest = ["listed"] * of_assignments + others[cut:]
    rng.shuffle(own)
    rng.shuffle(rest)
    return own + rest


def draw_work(
    campus: Campus, course: Course, kind: Kind, titles: Titles, rng: random.Random, numbers: range
) -> Work:
    """A work with everything but its dates."""
    created = campus.term_start + dt.timedelta(minutes=rng.randint(-9_000, 70_000))
    longer = kind == "assignment" and rng.random() < 0.2
    title = titles.title(course, kind, numbers)
    work = Work(kind, course, title, titles.description(course, kind, longer=longer), created)
    if kind == "quiz":
        each = rng.choice((1.0, 1.0, 2.0, 2.5, 5.0))
        work.question_points = [each] * rng.randint(2, 15)
        work.points = sum(work.question_points)
        work.time_limit = rng.choice((None, 10, 15, 20, 30, 45, 60, 90))
        work.attempts = rng.choice((1, 1, 2, 3, -1))
        work.policy = rng.choice(("keep_highest", "keep_highest", "keep_latest", "keep_average"))
        work.quiz_type = "graded_survey" if rng.random() < 0.06 else "assignment"
    else:
        work.points = rng.choice((5, 10, 12.5, 15, 20, 25, 30, 37.5, 40, 50, 100))
        work.attempts = rng.choice((-1, -1, 1, 2))
        types = (["online_text_entry"], ["online_upload"], ["online_upload", "online_url"], ["on_paper"])
        work.submission_types = list(rng.choice(types))
    return work


def _elsewhere(plan: Plan, titles: Titles, rng: random.Random) -> list[Work]:
    """Works of courses that the student assists in, and undated works of courses that have ended."""
    works = []
    for course in plan.courses:
        if course.role == "student":
            continue
        kinds: Sequence[Kind] = ("assignment",) if course.role == "ended" else ("assignment", "quiz")
        for kind in kinds:
            work = draw_work(plan.campus, course, kind, titles, rng, _LATE_NUMBERS)
            work.fate = course.role
            if course.role == "assistant":
                ahead = dt.timedelta(days=rng.randint(2, 20))
                work.due = work.deadline = dt.datetime.combine(
                    plan.campus.now.date() + ahead, dt.time(23, 59)
                )
            else:
                work.created -= dt.timedelta(weeks=26)
            works.append(work)
    return works


def _unpublished(plan: Plan, titles: Titles, rng: random.Random) -> list[Work]:
    """Works that students do not see yet; only teaching staff would meet them."""
    works = []
    for course in rng.sample(plan.taken, len(plan.taken) // 3):
        work = draw_work(plan.campus, course, rng.choice(("quiz", "assignment")), titles, rng, _LATE_NUMBERS)
        work.fate, work.published = "unpublished", False
        ahead = dt.timedelta(days=rng.randint(10, 30))
        work.due = work.deadline = dt.datetime.combine(plan.campus.now.date() + ahead, dt.time(17))
        works.append(work)
    return works


def offsets(campus: Campus) -> str:
    """How far the campus clock is from UTC now, and when that changes within ten weeks."""
    before = campus.now
    for hours in range(1, 24 * 70):
        moment = (campus.now.astimezone(dt.UTC) + dt.timedelta(hours=hours)).replace(minute=0)
        after = moment.astimezone(campus.zone)
        if after.utcoffset() != before.utcoffset():
            return (
                f"{_offset(before)} until {moment:%B} {moment.day}, {moment.year}, {moment:%H:%M} UTC, "
                f"and {_offset(after)} from then on"
            )
    return f"{_offset(before)} throughout"


def _offset(moment: dt.datetime) -> str:
    shown = moment.strftime("%z")
    return f"UTC{shown[:3]}:{shown[3:]}"
