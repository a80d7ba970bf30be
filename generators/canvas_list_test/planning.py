"""Decides what is true of every course and every work, before an announcement is written."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from mesocosm.generators.canvas_list_test.campus import Campus, Course, Kind, Plan, Role, Work
from mesocosm.generators.canvas_list_test.params import Params
from mesocosm.generators.canvas_list_test.stories import Stories
from mesocosm.generators.canvas_list_test.titles import Titles
from mesocosm.kits.campus import AMERICAN_ZONES, CREDITS, ZONES, domain_of
from mesocosm.kits.moments import shown_offset
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Prose

_LATE_NUMBERS = range(5, 10)
_ENDED_COURSES = 2
_OWN_TEACHER = 0.5
"""Probability that a course's teacher is from another department."""


@dataclass(frozen=True)
class _Quizzes:
    """Pool for quizzes of a difficulty; -1 attempts means unlimited."""

    questions: tuple[int, int]
    minutes: tuple[int | None, ...]
    attempts: tuple[int, ...]


@dataclass(frozen=True)
class _Assignments:
    """Pool for assignments of a difficulty; -1 attempts means unlimited."""

    longer: float
    """Share with a description of two paragraphs."""
    points: tuple[float, ...]
    attempts: tuple[int, ...]


_QUIZZES = {
    "easy": _Quizzes((2, 6), (None, None, 45, 60, 90), (2, 3, -1, -1)),
    "medium": _Quizzes((2, 15), (None, 10, 15, 20, 30, 45, 60, 90), (1, 1, 2, 3, -1)),
    "hard": _Quizzes((10, 25), (10, 15, 20, 30, 45), (1, 1, 1, 2)),
}
_ASSIGNMENTS = {
    "easy": _Assignments(0, (5, 10, 12.5, 15, 20), (-1,)),
    "medium": _Assignments(0.2, (5, 10, 12.5, 15, 20, 25, 30, 37.5, 40, 50, 100), (-1, -1, 1, 2)),
    "hard": _Assignments(0.6, (30, 37.5, 40, 50, 80, 100), (1, 1, 2)),
}


def plan_world(params: Params, rng: random.Random, prose: Prose) -> Plan:
    """Draw everything that is true."""
    campus = _campus(rng, prose)
    courses = _courses(params, campus, rng, prose)
    plan = Plan(campus, courses, [])
    titles = Titles(rng)
    works = plan_works(params, plan, titles, rng, _LATE_NUMBERS)
    Stories(params, plan, prose, rng).tell(works)
    plan.works = [*works, *_elsewhere(params, plan, titles, rng), *_unpublished(params, plan, titles, rng)]
    return plan


# -- campus and courses ------------------------------------------------------------------------------------


def _campus(rng: random.Random, prose: Prose) -> Campus:
    zone = rng.choice(ZONES)
    year = rng.randint(2023, 2026)
    # Weeks in which the clocks are about to change in many places, so that deadlines lie on both sides.
    month, days, term, last = rng.choice(
        ((10, range(12, 27), "fall", "spring"), (3, range(1, 20), "spring", "fall"))
    )
    dates = [dt.date(year, month, day) for day in days]
    day = rng.choice([date for date in dates if date.weekday() < 5])
    clock = dt.time(rng.randint(10, 16), rng.choice((0, 15, 30, 45)))
    place = prose.town()
    domain = domain_of(place)
    return Campus(
        university=f"{place} {rng.choice(('University', 'College'))}",
        domain=domain,
        zone=ZoneInfo(zone),
        now=dt.datetime.combine(day, clock, ZoneInfo(zone)),
        term=f"{term} {year}",
        last_term=f"{last} {year if last == 'spring' else year - 1}"
        if zone in AMERICAN_ZONES
        else "the term before this one",
        student=Contact.at(domain, prose),
    )


def _courses(params: Params, campus: Campus, rng: random.Random, prose: Prose) -> list[Course]:
    roles: list[Role] = ["student"] * (params.num_courses - params.assisted)
    roles += ["assistant"] * params.assisted
    roles += ["ended"] * min(_ENDED_COURSES, len(roles) // 4)
    teachers: dict[str, Contact] = {}
    """The teachers of a department's further courses."""
    courses = []
    for role in roles:
        subject = prose.course_subject()
        if subject.department not in teachers or rng.random() < _OWN_TEACHER:
            teachers[subject.department] = Contact.at(campus.domain, prose)
        courses.append(Course(subject, role, teachers[subject.department], rng.choice(CREDITS)))
    rng.shuffle(courses)
    return courses


# -- works -------------------------------------------------------------------------------------------------


def plan_works(params: Params, plan: Plan, titles: Titles, rng: random.Random, numbers: range) -> list[Work]:
    """Works of the courses that are taken, each with its fate, spread evenly over those that have any."""
    taken = plan.taken
    with_quizzes, with_assignments = params.with_works(len(taken))
    quizzes, assignments = params.works(len(taken))
    places: list[tuple[Kind, Course]] = [
        ("quiz", course) for course in _spread(taken, with_quizzes, quizzes, rng)
    ]
    places += [("assignment", course) for course in _spread(taken, with_assignments, assignments, rng)]
    met, near = params.rules(len(taken), len({course.code for _, course in places}))
    fates = _fates(params.fates(len(places), met), quizzes, assignments, rng)
    works = []
    for (kind, course), fate in zip(places, fates, strict=True):
        works.append(draw_work(params, plan.campus, course, kind, titles, rng, numbers))
        works[-1].fate = fate
    rng.shuffle(works)
    _set_rules(works, near)
    return works


def _spread(taken: Sequence[Course], having: int, number: int, rng: random.Random) -> list[Course]:
    """The courses of ``number`` works, of which only ``having`` have any."""
    some = rng.sample(list(taken), having)
    places: list[Course] = []
    while len(places) < number:
        places += rng.sample(some, having)
    return places[:number]


def _fates(numbers: dict[str, int], quizzes: int, assignments: int, rng: random.Random) -> list[str]:
    """The fate of each quiz, then of each assignment: at least one and two of these are listed."""
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


def _set_rules(works: Sequence[Work], near: int) -> None:
    """Let the rules of exemption be in different courses, as far as there are works for it.

    Exempt works exchange fates with others of their kind; ``near`` of the listed ones get a rule that is not
    met.
    """
    ruled: set[str] = set()
    for work in [work for work in works if work.fate == "exempt"]:
        if work.course.code in ruled:
            free = (one for one in works if one.kind == work.kind and one.course.code not in ruled)
            other = next(free, work)
            work.fate, other.fate = other.fate, work.fate
            ruled.add(other.course.code)
        ruled.add(work.course.code)
    listed = [work for work in works if work.fate == "listed"]
    elsewhere = [work for work in listed if work.course.code not in ruled]
    for work in [*{work.course.code: work for work in elsewhere}.values(), *listed]:
        if near and not work.nearly_exempt:
            work.nearly_exempt = True
            near -= 1


def _any_second(rng: random.Random, first: int, last: int) -> dt.time:
    return dt.time(rng.randint(first, last), rng.randrange(60), rng.randrange(60))


def created(campus: Campus, rng: random.Random) -> dt.datetime:
    """Draw when a work was put onto Canvas: in the first weeks, whatever its due date."""
    day = (campus.term_start + dt.timedelta(days=rng.uniform(-8, 8))).date()
    return dt.datetime.combine(day, _any_second(rng, 8, 20), campus.zone)


def draw_work(
    params: Params, campus: Campus, course: Course, kind: Kind, titles: Titles, rng: random.Random,
    numbers: range,
) -> Work:  # fmt: skip
    """A work with everything but its dates."""
    longer = kind == "assignment" and rng.random() < _ASSIGNMENTS[params.assignment_difficulty].longer
    title = titles.title(course, kind, numbers)
    work = Work(
        kind, course, title, titles.description(course, kind, title, longer=longer), created(campus, rng)
    )
    if kind == "quiz":
        quiz = _QUIZZES[params.quiz_difficulty]
        each = rng.choice((1.0, 1.0, 2.0, 2.5, 5.0))
        work.question_points = [each] * rng.randint(*quiz.questions)
        work.points = sum(work.question_points)
        work.time_limit = rng.choice(quiz.minutes)
        work.attempts = rng.choice(quiz.attempts)
        work.policy = rng.choice(("keep_highest", "keep_highest", "keep_latest", "keep_average"))
        work.quiz_type = "graded_survey" if rng.random() < 0.06 else "assignment"
    else:
        assignment = _ASSIGNMENTS[params.assignment_difficulty]
        work.points = rng.choice(assignment.points)
        work.attempts = rng.choice(assignment.attempts)
        types = (["online_text_entry"], ["online_upload"], ["online_upload", "online_url"], ["on_paper"])
        work.submission_types = list(rng.choice(types))
    return work


def _elsewhere(params: Params, plan: Plan, titles: Titles, rng: random.Random) -> list[Work]:
    """Works of courses that the student assists in, and undated works of courses that have ended."""
    works = []
    for course in plan.courses:
        if course.role == "student":
            continue
        kinds: Sequence[Kind] = ("assignment",) if course.role == "ended" else ("assignment", "quiz")
        for kind in kinds:
            work = draw_work(params, plan.campus, course, kind, titles, rng, _LATE_NUMBERS)
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


def _unpublished(params: Params, plan: Plan, titles: Titles, rng: random.Random) -> list[Work]:
    """Works that students do not see yet; only teaching staff would meet them."""
    works = []
    for course in rng.sample(plan.taken, len(plan.taken) // 3):
        work = draw_work(
            params, plan.campus, course, rng.choice(("quiz", "assignment")), titles, rng, _LATE_NUMBERS
        )
        work.fate, work.published = "unpublished", False
        ahead = dt.timedelta(days=rng.randint(10, 30))
        work.due = work.deadline = dt.datetime.combine(plan.campus.now.date() + ahead, dt.time(17))
        works.append(work)
    return works


def offsets(campus: Campus) -> str:
    """State the campus clock's UTC offset, and its change within ten weeks."""
    before = campus.now
    for hours in range(1, 24 * 70):
        moment = (campus.now.astimezone(dt.UTC) + dt.timedelta(hours=hours)).replace(minute=0)
        after = moment.astimezone(campus.zone)
        if after.utcoffset() != before.utcoffset():
            return (
                f"{shown_offset(before)} until {moment:%B} {moment.day}, {moment.year}, {moment:%H:%M} UTC, "
                f"and {shown_offset(after)} from then on"
            )
    return f"{shown_offset(before)} throughout"
