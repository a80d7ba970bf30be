"""Fills the services with a plan and its texts."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Font

from mesocosm.families.family import Evidence
from mesocosm.generators.canvas_arrange_exam.composing import Composer
from mesocosm.generators.canvas_arrange_exam.courses import (
    Campus,
    Course,
    Details,
    Plan,
)
from mesocosm.generators.canvas_arrange_exam.expected import HEADER, SHEET, WORKBOOK, Expected, LeftOut, Row
from mesocosm.generators.canvas_arrange_exam.furnishing import furnish
from mesocosm.generators.canvas_arrange_exam.lookalikes import Lookalikes
from mesocosm.generators.canvas_arrange_exam.notices import notices, syllabus
from mesocosm.generators.canvas_arrange_exam.params import LISTED, Params
from mesocosm.generators.canvas_arrange_exam.planning import plan_world
from mesocosm.generators.canvas_arrange_exam.posts import People, Post
from mesocosm.generators.canvas_arrange_exam.traffic import Traffic
from mesocosm.kits.apportioning import share_of
from mesocosm.kits.campus import add_campus, add_users
from mesocosm.kits.moments import in_words, shown_offset, utc_stamp
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Prose, Said
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.email.store.bulk import NewEmail
from mesocosm.servers.excel.store import save_workbook
from mesocosm.servers.memory.store import MemoryStore
from mesocosm.services.world import World

_SOURCES = {"announcement": "Announcement", "email": "Email", "message": "Message"}
_CLASSMATES = 36
_TOKENS_PER_CLASSMATE = 3_000
_STUDENTS = (20, 34)
"""In a course, with the student."""
_SMALL = 12
"""Courses from which on posts are of full length, and syllabi tell of two groups of sections."""
_SHORTEST, _LONGEST = 105, 190
"""Tokens of the text of a post, in a large world."""


def generate(world: World, params: Params) -> Expected:
    """Build the student's world."""
    rng = world.rng
    plan = plan_world(params, rng, Prose(rng))
    campus = plan.campus
    world.set_now(campus.now)
    said = Said()
    composer = Composer(campus, rng, _size(params), said)
    evidence = [post for course in plan.courses for post in notices(course, campus, composer, rng)]
    around, people, syllabi = _surroundings(world, params, plan, said)
    posts = sorted([*evidence, *around], key=lambda post: (post.moment, post.channel, post.subject))
    _fill_canvas(world, plan, people, syllabi, posts)
    _fill_mailbox(world, campus, [post for post in posts if post.channel == "email"])
    _fill_rest(world, campus)
    return _expected(plan, evidence, syllabi)


def _size(params: Params) -> tuple[int, int]:
    """How long posts are: shorter where courses are so few that little else would fit."""
    short_of = max(0, _SMALL - params.num_courses)
    shortest = _SHORTEST - 16 * short_of
    return shortest, max(shortest, _LONGEST - 25 * short_of)


def _surroundings(
    world: World, params: Params, plan: Plan, said: Said
) -> tuple[list[Post], People, list[str]]:
    """Everything that is not evidence, from streams of its own: the evidence does not move with it."""
    rng = world.stream("surroundings")
    prose = Prose(rng)
    number = _CLASSMATES + params.filler_tokens // _TOKENS_PER_CLASSMATE
    people = People(plan, Prose(world.stream("people")), number)
    composer = Composer(plan.campus, rng, _size(params), said)
    lookalikes = Lookalikes(plan, params, people, composer, prose, rng)
    told = 1 if params.num_courses < _SMALL else 2
    syllabi = [
        syllabus(
            course, lookalikes.other_sections(course, told - course.in_syllabus), plan.campus, composer, rng
        )
        for course in plan.courses
    ]
    posts = [lookalikes.next() for _ in range(share_of(params.decoy_rate, len(plan.courses)))]
    traffic = Traffic(plan, people, composer, rng)
    posts += traffic.some("email", params.distraction_emails)
    for course in plan.courses:
        posts += traffic.in_course(course, params.distraction_announcements)
    return [*posts, *traffic.worth(params.filler_tokens, lookalikes, params.lookalike_share)], people, syllabi


# -- canvas ------------------------------------------------------------------------------------------------


def _fill_canvas(
    world: World, plan: Plan, people: People, syllabi: Sequence[str], posts: Sequence[Post]
) -> None:
    store, campus = world.store(CanvasStore), plan.campus
    root = add_campus(store, campus)
    began, ended = campus.term_start, _term_end(plan)
    contacts = {campus.student.email: campus.student}
    for course in plan.courses:
        contacts |= {who.email: who for who in (course.instructor, course.assistant)}
    contacts = {who.email: who for who in (*people.teachers, *people.classmates)} | contacts
    users = add_users(store, campus, root, contacts.values(), began - dt.timedelta(days=40))
    courses = store.courses.add_courses(
        [
            {
                "name": f"{course.title}{course.suffix}",
                "course_code": f"{course.code}{course.suffix}",
                "account_id": root,
                "start_at": utc_stamp(began),
                "end_at": utc_stamp(ended),
                "syllabus_body": text,
                "time_zone": str(campus.zone),
                "created_at": utc_stamp(began - dt.timedelta(days=30)),
            }
            for course, text in zip(plan.courses, syllabi, strict=True)
        ]
    )
    by_code = {course.code: key for course, key in zip(plan.courses, courses, strict=True)}
    dice = world.stream("furniture")
    store.courses.add_enrollments(list(_enrollments(plan, people, by_code, users, utc_stamp(began), dice)))
    furnish(store, plan, by_code, users, dice)
    store.discussions.add_announcements(
        [
            {
                "course_id": by_code[post.course.code],
                "user_id": users[post.author.email],
                "title": post.subject,
                "message": post.body,
                "posted_at": utc_stamp(post.moment),
            }
            for post in posts
            if post.channel == "announcement" and post.course
        ]
    )
    talks = sorted((post for post in posts if post.channel == "message"), key=lambda post: post.moment)
    read = world.stream("read")
    store.conversations.add_conversations(
        [_conversation(post, campus, users, by_code, read) for post in talks]
    )
    store.sign_in(users[campus.student.email])


def _term_end(plan: Plan) -> dt.datetime:
    """The end of the week after that of the last final."""
    days = [course.details.date for course in plan.courses if course.details.date]
    last = max([plan.campus.now.date() + dt.timedelta(weeks=2), *days])
    sunday = last + dt.timedelta(days=13 - last.weekday())
    return dt.datetime.combine(sunday, dt.time(23, 59), plan.campus.zone)


def _enrollments(
    plan: Plan,
    people: People,
    courses: dict[str, int],
    users: dict[str, int],
    created_at: str,
    rng: random.Random,
) -> Any:
    for course in plan.courses:
        some = rng.sample(people.classmates, rng.randint(*_STUDENTS) - 1)
        parts: list[tuple[Contact, str]] = [(plan.campus.student, "StudentEnrollment")]
        parts += [(course.instructor, "TeacherEnrollment"), (course.assistant, "TaEnrollment")]
        parts += [(who, "StudentEnrollment") for who in some]
        for who, kind in parts:
            yield {
                "course_id": courses[course.code],
                "user_id": users[who.email],
                "type": kind,
                "created_at": created_at,
            }


def _conversation(
    post: Post, campus: Campus, users: dict[str, int], courses: dict[str, int], rng: random.Random
) -> Any:
    moment = post.moment
    texts = [(post.author, post.body), *post.answers]
    messages = []
    for author, body in texts:
        messages.append({"author_id": users[author.email], "body": body, "created_at": utc_stamp(moment)})
        moment += dt.timedelta(minutes=rng.randint(20, 150))
    student = users[campus.student.email]
    others = sorted({users[author.email] for author, _ in texts} - {student})
    return {
        "subject": post.subject,
        "participants": [student, *others],
        "messages": messages,
        "course_id": courses[post.course.code] if post.course else None,
        "read_by": [student] if rng.random() < 0.7 else [],
    }


# -- the other services ------------------------------------------------------------------------------------


def _fill_mailbox(world: World, campus: Campus, mails: Sequence[Post]) -> None:
    store = world.store(EmailStore)
    student = campus.student
    store.create_account(student.email, student.name, f"{student.person.last.lower()}-{campus.now.year}")
    store.sign_in(student.email)
    read = world.stream("opened")
    store.add_emails(
        student.email,
        "INBOX",
        [_mail(mail, student, is_read=read.random() < 0.7) for mail in mails],
    )


def _mail(mail: Post, student: Contact, *, is_read: bool) -> NewEmail:
    new: NewEmail = {
        "sender": f"{mail.author.name.strip()} <{mail.author.email}>",
        "to": mail.to or f"{student.name} <{student.email}>",
        "subject": mail.subject,
        "body": mail.body,
        "date": mail.moment,
        "is_read": is_read,
    }
    return new


def _fill_rest(world: World, campus: Campus) -> None:
    workbook = Workbook()
    sheet = workbook.worksheets[0]
    sheet.title = SHEET
    sheet.append(HEADER)
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    moment = campus.now - dt.timedelta(days=3)
    world.workspace.write(WORKBOOK, save_workbook(workbook, moment), moment)
    student = campus.student
    world.store(MemoryStore).add_graph(
        [
            (student.name, "person", [f"Studies at {campus.university}", f"E-mail: {student.email}"]),
            (campus.university, "organization", [f"Time zone: {campus.zone}"]),
        ],
        [(student.name, campus.university, "studies at")],
    )


# -- the truth ---------------------------------------------------------------------------------------------


def _expected(plan: Plan, evidence: Sequence[Post], syllabi: Sequence[str]) -> Expected:
    campus = plan.campus
    listed = sorted((course for course in plan.courses if course.fate in LISTED), key=_order)
    changed = [course for course in listed if course.earlier]
    elsewhere = [course for course in listed if course.zone]
    return Expected(
        public={
            "student": campus.student.name,
            "university": campus.university,
            "term": campus.term,
            "now": in_words(campus.now),
            "zone": str(campus.zone),
            "offset": shown_offset(campus.now),
            "office": f"{campus.office.name} ({campus.office.email})",
        },
        evidence=[*_needles(evidence), *_names(plan), *_pages(plan, syllabi)],
        rows=[_row(course, course.details) for course in listed],
        left_out=[
            LeftOut(reason=course.fate, row=_row(course, course.details))
            for course in plan.courses
            if course.fate not in LISTED
        ],
        superseded=[_row(course, course.earlier, before=True) for course in changed if course.earlier],
        unconverted=[_row(course, _as_given(course, campus)) for course in elsewhere],
        instructors={course.code: _pair(course.instructor) for course in plan.courses},
        assistants={course.code: _pair(course.assistant) for course in plan.courses},
        suffixes={course.code: course.suffix for course in plan.courses},
    )


def _order(course: Course) -> tuple[bool, str, str]:
    start = course.details.start
    return start is None, start.isoformat() if start else "", course.code


def _row(course: Course, details: Details, *, before: bool = False) -> Row:
    instead: Contact | None = course.proctor or (None if course.open == "proctor" else course.instructor)
    name, email = _pair(instead) if instead else (None, None)
    return Row(
        code=course.code,
        name=course.title,
        proctor=name,
        proctor_email=email,
        book=details.book,
        date=details.date,
        time=details.time,
        duration=details.duration,
        location=details.room,
        source=_SOURCES[course.channel if before else course.source],
        credit=course.credits,
    )


def _as_given(course: Course, campus: Campus) -> Details:
    start = course.details.start
    assert start
    assert course.zone
    given = start - campus.offset + course.zone.offset
    return replace(course.details, date=given.date(), time=given.time())


def _pair(contact: Contact) -> tuple[str, str]:
    return contact.name, contact.email


def _needles(evidence: Sequence[Post]) -> list[Evidence]:
    return [
        Evidence(service="email" if post.channel == "email" else "canvas", contains=post.body)
        for post in evidence
    ]


def _names(plan: Plan) -> list[Evidence]:
    """The records of the courses: code, name, section and teacher."""
    return [Evidence(service="canvas", contains=f"{course.code}{course.suffix}") for course in plan.courses]


def _pages(plan: Plan, syllabi: Sequence[str]) -> list[Evidence]:
    """The syllabi that say what holds for the student's section."""
    return [
        Evidence(service="canvas", contains=text)
        for course, text in zip(plan.courses, syllabi, strict=True)
        if course.in_syllabus
    ]
