"""Decides what is true of every course, before a word is written."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from mesocosm.generators.canvas_arrange_exam.courses import (
    CHANNELS,
    Campus,
    Change,
    Channel,
    Course,
    Details,
    Exemption,
    Open,
    Plan,
    Zone,
    is_free,
)
from mesocosm.generators.canvas_arrange_exam.params import LISTED, Params
from mesocosm.kits.apportioning import share_of
from mesocosm.kits.campus import AMERICAN_ZONES, CREDITS, domain_of
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import CourseSubject, Prose

_OTHER_ZONES = (
    ("London", "Europe/London"),
    ("Berlin", "Europe/Berlin"),
    ("New York", "America/New_York"),
    ("Vancouver", "America/Vancouver"),
    ("Tokyo", "Asia/Tokyo"),
    ("Sydney", "Australia/Sydney"),
    ("Nairobi", "Africa/Nairobi"),
    ("São Paulo", "America/Sao_Paulo"),
)
_HYPHENATED = {
    "CS": "Object-Oriented Design", "MATH": "Non-Euclidean Geometry", "STAT": "Non-Parametric Statistics",
    "PHYS": "Many-Body Physics", "ASTR": "X-Ray Astronomy", "CHEM": "Structure-Property Relations",
    "BIO": "Host-Pathogen Interactions", "PSY": "Decision-Making under Stress", "BUS": "E-Commerce",
    "ECON": "Cost-Benefit Analysis", "HIST": "Twentieth-Century Europe", "ENG": "Post-War Fiction",
    "PHIL": "Mind-Body Problems", "SOC": "Cross-Cultural Studies", "GEOG": "Land-Use Planning",
    "EE": "Low-Power Electronics", "ME": "Computer-Aided Manufacturing", "CIVE": "Earthquake-Proof Building",
    "LAW": "Cross-Border Contracts", "INFO": "Self-Organising Networks", "PUBH": "Evidence-Based Prevention",
}  # fmt: skip
"""Titles with a hyphen of their own: cutting a name at its first hyphen loses a part of it."""
_HYPHEN_SHARE = 0.12
_DURATIONS = (60, 75, 90, 90, 100, 120, 120, 120, 135, 150, 180, 180)
_BUILDINGS = ("Hall", "Building", "Centre", "House", "Pavilion", "Theatre")
_EARLIEST, _LATEST = 8 * 60, 18 * 60
_DAYS_AHEAD = 18
_APART = dt.timedelta(hours=3.5)
"""Between the starts of two finals of one student, unless they clash."""
_TERM_SHARE = 0.2
"""Share of courses whose notices name the term."""
_FAR = dt.timedelta(hours=6)
"""Nobody gives times of a place that is further away than that, by its clocks."""
_NO_SUBJECT = CourseSubject("X", 0, "", "", "", ())


def plan_world(params: Params, rng: random.Random, prose: Prose) -> Plan:
    """Draw everything that is true."""
    campus = _campus(rng, prose)
    fates = params.fates()
    # The courses of the schedule come first in the list of fates; there may be none.
    listed_number = max(1, sum(fate in LISTED for fate in fates))
    courses = plan_courses(params, campus, rng, prose, _subjects(len(fates), listed_number, rng, prose))
    return Plan(campus, courses)


def plan_courses(
    params: Params,
    campus: Campus,
    rng: random.Random,
    prose: Prose,
    subjects: Sequence[CourseSubject] = (),
) -> list[Course]:
    """Draw what is true of courses; those without subjects share one, and are to be given others."""
    fates = params.fates()
    subjects = subjects or [_NO_SUBJECT] * len(fates)
    slots = _slots(campus, len(fates), rng)
    rooms = _rooms(rng, prose, len(fates))
    staff: list[tuple[str, Contact, Contact]] = []
    courses: list[Course] = []
    for index, fate in enumerate(fates):
        channel: Channel = fate if fate in LISTED else rng.choice(CHANNELS)  # type: ignore[assignment]
        start = next(slots)
        instructor, assistant = _teachers(subjects[index], staff, campus, rng, prose)
        section = rng.randint(1, 9)
        courses.append(
            Course(
                subject=subjects[index],
                section=section,
                instructor=instructor,
                assistant=assistant,
                credits=rng.choice(CREDITS),
                fate=fate,
                channel=channel,
                change_channel=rng.choice(CHANNELS),
                details=Details(
                    start.date(),
                    start.time(),
                    rng.choice(_DURATIONS),
                    next(rooms),
                    rng.choice(("Open-book", "Closed-book")),
                ),
                groups=_groups(section, rng),
                term=campus.term if rng.random() < _TERM_SHARE else "",
            )
        )
    listed = [course for course in courses if course.fate in LISTED]
    rng.shuffle(listed)
    listed.sort(key=lambda course: course.details.date == campus.now.date())
    _overlay(params, campus, listed, slots, rooms, rng, prose)
    _leave_out(campus, courses, slots, rooms, rng)
    rng.shuffle(courses)
    for index, course in enumerate(courses):
        course.in_syllabus = index % 2 == 1
        drawn = round(rng.uniform(62, 99), 1)
        course.coursework = course.exemption.average if course.exemption else drawn
    return courses


def _teachers(
    subject: CourseSubject,
    staff: list[tuple[str, Contact, Contact]],
    campus: Campus,
    rng: random.Random,
    prose: Prose,
) -> tuple[Contact, Contact]:
    """Instructor and assistant: perhaps those of another course of the department, else new ones."""
    near = [pair for prefix, *pair in staff if prefix == subject.code_prefix]
    if near and rng.random() < 0.6:
        instructor, assistant = rng.choice(near)
        return instructor, assistant
    instructor, assistant = Contact.at(campus.domain, prose), Contact.at(campus.domain, prose)
    staff.append((subject.code_prefix, instructor, assistant))
    return instructor, assistant


def _groups(section: int, rng: random.Random) -> tuple[int, ...]:
    """The sections that hold their final together, the given one among them; none: all."""
    if rng.random() < 0.08:
        return ()
    others = [number for number in range(1, 10) if number != section]
    return tuple(sorted([section, *rng.sample(others, rng.choice((0, 0, 1, 1, 2)))]))


def _campus(rng: random.Random, prose: Prose) -> Campus:
    zone = ZoneInfo(rng.choice(AMERICAN_ZONES))
    year = rng.randint(2023, 2026)
    month, days, term = rng.choice(((5, range(4, 13), "spring"), (12, range(5, 12), "fall")))
    dates = [dt.date(year, month, day) for day in days]
    day = rng.choice([date for date in dates if date.weekday() < 5])
    clock = dt.time(10 + rng.randrange(2), rng.choice((0, 15, 30, 45)))
    place = prose.town()
    domain = domain_of(place)
    return Campus(
        university=f"{place} {rng.choice(('University', 'College'))}",
        domain=domain,
        zone=zone,
        now=dt.datetime.combine(day, clock, zone),
        term=f"{term} {year}",
        student=Contact.at(domain, prose),
    )


def _subjects(number: int, listed: int, rng: random.Random, prose: Prose) -> list[CourseSubject]:
    """What the courses are about; one of the first ``listed`` has a hyphen in its title."""
    subjects: list[CourseSubject] = []
    while len(subjects) < number:
        subject = prose.course_subject()
        if not subject.title.startswith("The "):  # which does not go with "the {title} final"
            subjects.append(subject)
    titles = dict(_HYPHENATED)
    wanted = share_of(_HYPHEN_SHARE, number)
    for index in rng.sample(range(number), number):
        if wanted and subjects[index].code_prefix in titles:
            subjects[index] = _renamed(subjects[index], titles.pop(subjects[index].code_prefix))
            wanted -= 1
    if not any("-" in subject.title for subject in subjects[:listed]):
        subject = prose.course_subject()
        left = titles or _HYPHENATED
        while subject.code_prefix not in left:
            subject = prose.course_subject()
        subjects[rng.randrange(listed)] = _renamed(subject, left[subject.code_prefix])
    return subjects


def _renamed(subject: CourseSubject, title: str) -> CourseSubject:
    description = subject.description.replace(subject.title, title)
    return replace(subject, title=title, description=description)


def _slots(campus: Campus, number: int, rng: random.Random) -> Iterator[dt.datetime]:
    """Starts of finals: the first one later today, then none that overlaps another, then none twice, while
    there are any left."""
    today = campus.now.replace(tzinfo=None)
    afternoon = today.replace(hour=rng.choice((14, 15, 16)), minute=rng.choice((0, 30)))
    yield afternoon
    days = max(_DAYS_AHEAD, number // 8)
    dates = [today.date() + dt.timedelta(days=ahead) for ahead in range(1, days)]
    pool = [
        dt.datetime.combine(date, dt.time(minutes // 60, minutes % 60))
        for date in dates
        if not is_free(date)
        for minutes in range(_EARLIEST, _LATEST + 1, 30)
    ]
    rng.shuffle(pool)
    taken = [afternoon]
    for start in list(pool):
        if all(abs(start - other) >= _APART for other in taken):
            taken.append(start)
            pool.remove(start)
            yield start
    while True:
        yield from pool
        pool = pool + taken[1:] if taken else pool
        taken = []
        rng.shuffle(pool)


def _rooms(rng: random.Random, prose: Prose, number: int) -> Iterator[str]:
    buildings = [f"{prose.place()} {rng.choice(_BUILDINGS)}" for _ in range(5 + number // 6)]
    seen: set[str] = set()
    while True:
        wing, floor, door = rng.choice(("", "", "A", "B", "C")), rng.randint(1, 4), rng.randint(0, 49)
        room = f"{rng.choice(buildings)} {wing}{floor}{door:02}"
        if room not in seen:
            seen.add(room)
            yield room


# -- the finals of the schedule ----------------------------------------------------------------------------


def _overlay(
    params: Params,
    campus: Campus,
    listed: Sequence[Course],
    slots: Iterator[dt.datetime],
    rooms: Iterator[str],
    rng: random.Random,
    prose: Prose,
) -> None:
    """Spread the complications over the finals of the schedule, in whatever combinations come up."""
    _open_details(share_of(params.tbd_rate, len(listed)), listed, rng)
    set_ones = [course for course in listed if course.details.start]
    _tie(params.tie_rate, set_ones, rng)
    for course in _sample(listed, params.proctor_rate, rng, lambda course: course.open != "proctor"):
        course.proctor = Contact.at(campus.domain, prose)
    for course in listed:
        # In a small world another notice would take the place of something more instructive.
        apart = len(listed) > 4 and rng.random() < 0.5
        course.proctor_apart = apart and (course.proctor is not None or course.open == "proctor")
    for course in _sample(listed, params.near_exemption_rate, rng):
        course.exemption = _exemption(rng, met=False)
    for course in _sample(
        listed, params.time_zone_rate, rng, lambda course: course.details.start is not None
    ):
        course.zone = _zone(campus, course.details.start, rng)
    changed = _sample(listed, params.superseded_rate, rng, lambda course: course.open != "all")
    for index, course in enumerate(changed):
        # The first one changes something by which the source of information is named.
        _supersede(course, campus, slots, rooms, rng, books=index > 0)
        if sum(other.source == course.channel for other in listed) == 0:
            course.change_channel = course.channel  # else nothing would be left of that source


def _sample(courses: Sequence[Course], rate: float, rng: random.Random, apt: object = None) -> list[Course]:
    fit = [course for course in courses if not callable(apt) or apt(course)]
    return rng.sample(fit, min(len(fit), share_of(rate, len(courses))))


def _open_details(number: int, listed: Sequence[Course], rng: random.Random) -> None:
    # At least one final has no start yet, so that "TBD comes last" matters at every length. The one that is
    # later today stands last and keeps its details.
    kinds: list[Open] = []
    while len(kinds) < number:
        unset: list[Open] = rng.sample(["all", "date", "time"], 3)
        others: list[Open] = rng.sample(["duration", "room", "book", "proctor"], 4)
        kinds += [unset[0], others[0], others[1], unset[1], others[2], others[3]]
    for course, kind in zip(listed, kinds[:number], strict=False):
        course.open = kind
        course.details = without(course.details, kind)


def without(details: Details, kind: Open) -> Details:
    """The details with one of them (or all) not published."""
    if kind == "all":
        return Details(None, None, None, None, details.book)
    if kind == "date":
        return replace(details, date=None, time=None)
    return details if kind == "proctor" else replace(details, **{kind: None})


def _tie(rate: float, courses: Sequence[Course], rng: random.Random) -> None:
    pairs = min(len(courses) // 2, share_of(rate / 2, len(courses)))
    tied = rng.sample(list(courses), 2 * pairs)
    for pair in zip(tied[::2], tied[1::2], strict=True):
        one, other = sorted(pair, key=lambda course: str(course.details.start))
        other.details = replace(other.details, date=one.details.date, time=one.details.time)


def _exemption(rng: random.Random, *, met: bool) -> Exemption:
    threshold, inclusive = rng.choice((85.0, 88.0, 90.0, 92.0, 93.5)), rng.random() < 0.5
    if inclusive:
        average = threshold + rng.choice((0, 0, 0.3, 2.4)) if met else threshold - rng.choice((0.1, 0.2))
    else:
        average = threshold + rng.choice((0.1, 0.2, 1.7)) if met else threshold
    return Exemption(threshold, inclusive, round(average, 1))


def _zone(campus: Campus, start: dt.datetime | None, rng: random.Random) -> Zone:
    """A zone whose clock differs from that of the campus, where there is one also by its date."""
    candidates = [Zone("UTC", dt.timedelta(0))] * 3
    for city, name in _OTHER_ZONES:
        offset = campus.now.astimezone(ZoneInfo(name)).utcoffset()
        assert offset is not None
        if abs(offset - campus.offset) > _FAR:
            continue
        hours = int(offset.total_seconds() // 3600)
        candidates.append(Zone(f"{city} time (UTC{hours:+d})" if hours else f"{city} time (UTC+0)", offset))
    others = [zone for zone in candidates if zone.offset != campus.offset]
    assert start is not None
    on_another_day = [zone for zone in others if (start - campus.offset + zone.offset).date() != start.date()]
    return rng.choice(on_another_day or others)


def _supersede(
    course: Course,
    campus: Campus,
    slots: Iterator[dt.datetime],
    rooms: Iterator[str],
    rng: random.Random,
    *,
    books: bool,
) -> None:
    """Give the final a past: what its first notice said; ``books``: perhaps only about books."""
    details = course.details
    changeable: tuple[Change, ...] = ("duration", "room", "book") if books else ("duration", "room")
    kinds = [kind for kind in changeable if getattr(details, kind)]
    if details.start:
        kinds += ["when", "when"]
        if not course.zone:  # a date or a time alone means something only by the clock of the campus
            kinds += ["date", "time"]
    course.change = rng.choice(kinds)
    late = rng.random() < 0.25  # not changed, but published only afterwards
    match course.change:
        case "when":
            other = next(slots)
            if rng.random() < 0.3:  # it would be over by now, had it not been put off
                other = _before_today(campus, rng, 3)
            course.earlier = replace(details, date=other.date(), time=other.time())
        case "date":
            other = next(slot for slot in slots if slot.date() != details.date)
            course.earlier = replace(details, date=other.date())
        case "time":
            other = next(slot for slot in slots if slot.time() != details.time)
            course.earlier = replace(details, time=None if late else other.time())
        case "duration":
            length = rng.choice([length for length in _DURATIONS if length != details.duration])
            course.earlier = replace(details, duration=None if late else length)
        case "room":
            course.earlier = replace(details, room=None if late else next(rooms))
        case "book":
            course.earlier = replace(
                details, book="Open-book" if details.book == "Closed-book" else "Closed-book"
            )


def _before_today(campus: Campus, rng: random.Random, days: int) -> dt.datetime:
    dates = [campus.now.date() - dt.timedelta(days=back) for back in range(1, days + 1)]
    day = rng.choice([date for date in dates if not is_free(date)])
    return dt.datetime.combine(day, dt.time(rng.randint(8, 16), rng.choice((0, 30))))


# -- the others --------------------------------------------------------------------------------------------


def _leave_out(
    campus: Campus,
    courses: Sequence[Course],
    slots: Iterator[dt.datetime],
    rooms: Iterator[str],
    rng: random.Random,
) -> None:
    kinds = {
        "no_exam": ["cancelled", "never", "never"],
        "exemption": ["rule", "direct"],
        "optional": ["optional", "auditor"],
    }
    for fate, variants in kinds.items():
        group = [course for course in courses if course.fate == fate]
        first = rng.randrange(len(variants))
        for index, course in enumerate(group):
            course.variant = variants[(first + index) % len(variants)]
            if course.variant == "rule":
                course.exemption = _exemption(rng, met=True)
    for index, course in enumerate(course for course in courses if course.fate == "past"):
        start = _before_today(campus, rng, 8)
        if index == 0:
            # Earlier today, so that the time of the day matters too.
            start = dt.datetime.combine(
                campus.now.date(), rng.choice((dt.time(8), dt.time(8, 30), dt.time(9)))
            )
        course.details = replace(course.details, date=start.date(), time=start.time())
        if index % 3 == 2:
            # Brought forward: by its first notice it would still be to come.
            later = next(slots)
            course.change = "when"
            course.earlier = replace(course.details, date=later.date(), time=later.time())
