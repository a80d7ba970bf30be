"""Fills the services with a plan and its texts, and says what is true of it."""

from __future__ import annotations

import csv
import datetime as dt
import html
import io
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import select

from mesocosm.families.family import Evidence
from mesocosm.generators.canvas_list_test.announcing import announcements, decoys, write_syllabi
from mesocosm.generators.canvas_list_test.backlog import Backlog, BacklogWriter
from mesocosm.generators.canvas_list_test.campus import Campus, Course, Plan, Post, Work
from mesocosm.generators.canvas_list_test.expected import (
    ASSIGNMENT_FILE,
    ASSIGNMENT_HEADER,
    QUIZ_FILE,
    QUIZ_HEADER,
    AssignmentRow,
    Expected,
    LeftOut,
    QuizRow,
    Reason,
)
from mesocosm.generators.canvas_list_test.params import Params
from mesocosm.generators.canvas_list_test.planning import offsets, plan_world
from mesocosm.generators.canvas_list_test.wording import Announcer, post_size
from mesocosm.kits.campus import add_campus, add_users
from mesocosm.kits.moments import utc_stamp
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Prose, RecentRuns
from mesocosm.servers.canvas.models import Assignment
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.memory.store import MemoryStore
from mesocosm.services.world import World

_CLASSMATES = 60
_UP = 7
"""The hour from which work is handed in."""
_AGAIN = dt.timedelta(hours=5)
"""From one attempt at a quiz to the next."""
_ANSWER = (50, 130)
"""Tokens of an answer that was typed into Canvas."""


def generate(world: World, params: Params) -> Expected:
    """Build the student's world."""
    rng = world.rng
    said = RecentRuns()
    prose = Prose(rng, said)
    plan = plan_world(params, rng, prose)
    campus = plan.campus
    world.set_now(campus.now)
    write_syllabi(plan, rng)
    evidence = announcements(plan, Announcer(rng, prose, post_size(params.num_courses)))
    misleading, backlog = _surroundings(world, params, plan, said)
    posts = _one_by_one([*evidence, *misleading, *backlog.posts], campus.now)
    canvas = _Canvas(world, plan, params, said)
    canvas.fill([*plan.works, *backlog.works], posts)
    observations = _fill_memory(world, plan)
    _fill_workspace(world, campus)
    return _expected(plan, evidence, observations, canvas)


def _surroundings(world: World, params: Params, plan: Plan, said: RecentRuns) -> tuple[list[Post], Backlog]:
    """Everything that is not evidence, from streams of its own: the evidence does not move with it."""
    size = post_size(params.num_courses)
    rng = world.stream("decoys")
    prose = Prose(rng, said)
    misleading = decoys(plan, params, Announcer(rng, prose, size), rng)
    rng = world.stream("filler")
    prose = Prose(rng, said)
    writer = BacklogWriter(params, plan, Announcer(rng, prose, size), prose, rng)
    return misleading, writer.worth(params.filler_tokens)


def _one_by_one(posts: Sequence[Post], now: dt.datetime) -> list[Post]:
    """The posts in the order of their moments; nobody writes two within minutes."""
    found: list[Post] = []
    last: dict[str, dt.datetime] = {}
    for post in sorted(posts, key=lambda post: (post.moment, post.subject)):
        author = post.course.instructor.email
        gap = dt.timedelta(minutes=14 + post.moment.minute % 31, seconds=post.moment.second)
        moment = max(post.moment, last[author] + gap) if author in last else post.moment
        last[author] = moment if moment < now else post.moment
        found.append(replace(post, moment=last[author]))
    return sorted(found, key=lambda post: (post.moment, post.subject))


# -- canvas ------------------------------------------------------------------------------------------------


class _Canvas:
    """Canvas as it is filled, with the ids that its rows have got."""

    def __init__(self, world: World, plan: Plan, params: Params, said: RecentRuns) -> None:
        self._world = world
        self._prose = Prose(world.stream("answers"), said)
        self._store = world.store(CanvasStore)
        self._plan = plan
        self._params = params
        self.courses: dict[str, int] = {}
        self.assignments: dict[int, int] = {}
        """Id by work (its ``id()``); ungraded quizzes have none."""
        self.quizzes: dict[int, int] = {}

    def fill(self, works: Sequence[Work], posts: Sequence[Post]) -> None:
        campus = self._plan.campus
        root = add_campus(self._store, campus)
        users = self._add_people(root)
        self._student = users[campus.student.email]
        self._add_courses(root, users)
        # In the order in which they were set: ids do not tell what still matters from what does not.
        ordered = sorted(works, key=lambda work: (work.created, work.course.code, work.title))
        self._add_quizzes([work for work in ordered if work.kind == "quiz"])
        self._add_assignments([work for work in ordered if work.kind == "assignment"])
        self._hand_in(ordered)
        self._store.discussions.add_announcements(
            [
                {
                    "course_id": self.courses[post.course.code],
                    "user_id": users[post.course.instructor.email],
                    "title": post.subject,
                    "message": post.body,
                    "posted_at": utc_stamp(post.moment),
                }
                for post in posts
            ]
        )
        self._store.sign_in(self._student)

    def _add_people(self, root: int) -> dict[str, int]:
        plan, rng = self._plan, self._world.stream("classmates")
        known = {
            who.email: who for who in (plan.campus.student, *(course.instructor for course in plan.courses))
        }
        prose = Prose(rng)
        others: dict[str, Contact] = {}
        names = {who.name for who in known.values()}
        while len(others) < self._params.num_students + _CLASSMATES:
            person = prose.person()
            email = f"{person.handle}@{plan.campus.domain}"
            if email not in known and person.name not in names:
                others[email] = Contact(person, email)
        self._others = list(others)
        contacts = {**known, **others}
        since = plan.campus.term_start - dt.timedelta(days=40)
        return add_users(self._store, plan.campus, root, contacts.values(), since)

    def _add_courses(self, root: int, users: dict[str, int]) -> None:
        campus, courses = self._plan.campus, self._plan.courses
        rows: list[Any] = []
        for number, course in enumerate(courses, 1):
            began = campus.term_start - dt.timedelta(weeks=26 if course.role == "ended" else 0)
            ended = began + dt.timedelta(weeks=17, minutes=-1)
            rows.append(
                {
                    "name": course.subject.title,
                    "course_code": course.code,
                    "account_id": root,
                    "start_at": utc_stamp(began),
                    "end_at": utc_stamp(ended),
                    "workflow_state": "completed" if course.role == "ended" else "available",
                    "syllabus_body": course.syllabus,
                    "time_zone": str(campus.zone),
                    "created_at": utc_stamp(began - dt.timedelta(days=30)),
                    "sis_course_id": sis_id(course, number),
                }
            )
        self.courses = dict(
            zip((course.code for course in courses), self._store.courses.add_courses(rows), strict=True)
        )
        self._store.courses.add_enrollments(list(self._enrollments(users)))

    def _enrollments(self, users: dict[str, int]) -> Iterator[Any]:
        created_at = utc_stamp(self._plan.campus.term_start)
        dice = self._world.stream("sizes of classes")
        most = min(self._params.num_students, len(self._others))
        for index, course in enumerate(self._plan.courses):
            key = self.courses[course.code]
            number = dice.randint((most + 1) // 2, most)
            some = [self._others[(index * 7 + step) % len(self._others)] for step in range(number)]
            parts = [(course.instructor.email, "TeacherEnrollment")]
            parts += [(email, "StudentEnrollment") for email in some]
            own = "TaEnrollment" if course.role == "assistant" else "StudentEnrollment"
            parts.append((self._plan.campus.student.email, own))
            for email, kind in parts:
                yield {"course_id": key, "user_id": users[email], "type": kind, "created_at": created_at}

    # -- works ------------------------------------------------------------------------------------------

    def _common(self, work: Work) -> dict[str, Any]:
        return {
            "course_id": self.courses[work.course.code],
            "description": work.description,
            "due_at": self._utc(work.due),
            "unlock_at": self._utc(work.unlock),
            "lock_at": self._utc(work.lock),
            "allowed_attempts": work.attempts,
            "published": work.published,
            "created_at": utc_stamp(work.created),
        }

    def _add_quizzes(self, works: Sequence[Work]) -> None:
        rows: list[Any] = []
        for work in works:
            topics = work.course.subject.topics
            questions = [
                {
                    "question_name": f"Question {number}",
                    "question_text": f"What did the lecture say about {topics[number % len(topics)]}?",
                    "question_type": "essay_question",
                    "points_possible": points,
                }
                for number, points in enumerate(work.question_points, 1)
            ]
            rows.append(
                {
                    **self._common(work),
                    "title": work.title,
                    "quiz_type": work.quiz_type,
                    "time_limit": work.time_limit,
                    "scoring_policy": work.policy,
                    "questions": questions,
                }
            )
        ids = self._store.quizzes.add_quizzes(rows)
        self.quizzes = dict(zip(map(id, works), ids, strict=True))
        found = self._store.session.execute(select(Assignment.quiz_id, Assignment.id)).all()
        by_quiz = {row.quiz_id: row.id for row in found}
        self.assignments = {id(w): by_quiz[key] for w, key in zip(works, ids, strict=True) if key in by_quiz}

    def _add_assignments(self, works: Sequence[Work]) -> None:
        ids = self._store.assignments.add_assignments(
            [
                {
                    **self._common(work),
                    "name": work.title,
                    "points_possible": work.points,
                    "grading_type": work.grading_type,
                    "submission_types": ["none"]
                    if work.grading_type == "not_graded"
                    else work.submission_types,
                }
                for work in works
            ]
        )
        self.assignments |= dict(zip(map(id, works), ids, strict=True))

    def _hand_in(self, works: Sequence[Work]) -> None:
        rng = self._world.stream("submissions")
        attempts: list[Any] = []
        submissions: list[Any] = []
        for work in works:
            if work.fate == "submitted" or (work.fate == "past" and work.variant != "missed"):
                if work.kind == "quiz" and work.quiz_type in ("assignment", "graded_survey"):
                    attempts += self._attempts(work, rng)
                elif work.kind == "assignment":
                    submissions.append(self._submission(work, rng))
        self._store.quizzes.add_quiz_submissions(attempts)
        self._store.submissions.add_submissions(submissions)

    def _handed_in(self, work: Work, rng: random.Random) -> dt.datetime:
        """Draw when a work was handed in, after it was set and before now."""
        campus = self._plan.campus
        last = min(
            campus.now - dt.timedelta(hours=1), campus.local(work.due or work.created.replace(tzinfo=None))
        )
        if work.variant == "late":
            assert work.due
            first, last = campus.local(work.due), campus.now
        else:
            first = min(max(work.created, last - dt.timedelta(days=6)), last)
        return self._awake(first + (last - first) * rng.uniform(0.1, 0.9), first, last)

    def _awake(self, moment: dt.datetime, first: dt.datetime, last: dt.datetime) -> dt.datetime:
        """The moment, or one near to it at which people are up, if there is one between the two."""
        for hours in (0, -5, 5, -9, 9):
            other = (moment.astimezone(dt.UTC) + dt.timedelta(hours=hours)).astimezone(self._plan.campus.zone)
            if first < other < last and other.hour >= _UP:
                return other
        return moment

    def _attempts(self, work: Work, rng: random.Random) -> Iterator[Any]:
        number = max(1, work.attempts) if work.variant == "used_up" else 1
        finished = self._handed_in(work, rng)
        for turn in range(number):
            moment = self._awake(finished - (number - 1 - turn) * _AGAIN, work.created, finished)
            yield {
                "quiz_id": self.quizzes[id(work)],
                "user_id": self._student,
                "score": round(work.points * rng.uniform(0.4, 1)),
                "started_at": utc_stamp(moment - dt.timedelta(minutes=rng.randint(5, work.time_limit or 40))),
                "finished_at": utc_stamp(moment),
            }

    def _submission(self, work: Work, rng: random.Random) -> Any:
        moment = self._handed_in(work, rng)
        new: dict[str, Any] = {"assignment_id": self.assignments[id(work)], "user_id": self._student}
        on_paper = work.submission_types == ["on_paper"]
        if not on_paper:
            new |= {"submitted_at": utc_stamp(moment), "attempt": 2 if work.variant == "again" else 1}
            if work.submission_types[0] == "online_text_entry":
                tokens = rng.randint(*_ANSWER)
                new["body"] = self._prose.text("coursework", tokens, subject=work.course.subject)
        # What was handed in on paper shows on Canvas only once it is graded.
        if work.variant == "graded" or on_paper:
            graded = min(moment + dt.timedelta(days=2), self._plan.campus.now - dt.timedelta(minutes=20))
            grader = self._teachers()[work.course.code]
            new |= {
                "grade": round(work.points * rng.uniform(0.5, 1)),
                "graded_at": utc_stamp(graded),
                "grader_id": grader,
            }
        return new

    def _teachers(self) -> dict[str, int]:
        if not hasattr(self, "_teacher_ids"):
            teachers = self._store.courses.teachers_of(list(self.courses.values()))
            self._teacher_ids = {code: teachers[key][0]["id"] for code, key in self.courses.items()}
        return self._teacher_ids

    def _utc(self, moment: dt.datetime | None) -> str | None:
        return utc_stamp(self._plan.campus.local(moment)) if moment else None


def sis_id(course: Course, number: int) -> str:
    """The number of a course in the registry, which stands nowhere but in the course's record."""
    return f"SIS-{number:04}-{course.code.replace(' ', '')}"


# -- memory and workspace ----------------------------------------------------------------------------------


def _fill_memory(world: World, plan: Plan) -> list[str]:
    """Write the student's notes; returns those with evidence."""
    campus, rng = plan.campus, world.stream("memory")
    student = campus.student
    evidence = [f"E-mail: {student.email}"]
    entities: list[tuple[str, str, list[str]]] = [
        (student.name, "person", [f"Studies at {campus.university}", evidence[0]])
    ]
    ruled = {work.course.code for work in plan.works if any(notice.rule for notice in work.notices)}
    for course in plan.taken:
        first = course.result if course.first_result is None else course.first_result
        notes = [f"Midterm in {course.code}: {first} of 100 points"]
        if course.first_result is not None:
            notes.append(
                f"Midterm in {course.code} marked again: {course.result} of 100 points instead of {first}"
            )
        if course.repeats:
            notes.append(f"Repeats {course.code}, first taken in {campus.last_term}")
        else:
            notes.append(f"Takes {course.code} for the first time")
        if course.code in ruled:
            evidence += notes
        if rng.random() < 0.5:
            # Not the midterm, and so of no use for any rule.
            what = rng.choice(("Placement test", "Mock midterm", "Group presentation"))
            notes.append(f"{what} in {course.code}: {rng.randint(55, 99)} of 100 points")
        entities.append((course.code, "course", notes))
    relations = [(student.name, course.code, "takes") for course in plan.taken]
    world.store(MemoryStore).add_graph(entities, relations)
    return evidence


def _fill_workspace(world: World, campus: Campus) -> None:
    moment = campus.now - dt.timedelta(days=3)
    day = (campus.now - dt.timedelta(days=40)).date()
    quiz = ("DEMO 100", "Example Course", "3", "Quiz 1 (Example)", "10", "30", "2", "keep_highest", "20")
    assignment = ("DEMO 100", "Example Course", "Essay 1 (Example)", "Write one page, with a title.")
    for name, header, example in (
        (QUIZ_FILE, QUIZ_HEADER, (*quiz, f"{day} 23:59")),
        (ASSIGNMENT_FILE, ASSIGNMENT_HEADER, (*assignment, f"{day} 17:00", "50")),
    ):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([header, example])
        world.workspace.write(name, text.getvalue().encode(), moment)


# -- the truth ---------------------------------------------------------------------------------------------


def _expected(plan: Plan, evidence: Sequence[Post], observations: Sequence[str], canvas: _Canvas) -> Expected:
    campus = plan.campus
    listed = sorted((work for work in plan.works if work.fate == "listed"), key=lambda work: work.key)
    seen = [work for work in plan.works if work.fate != "unpublished"]
    open_works = [work for work in plan.works if work.fate in ("listed", "submitted")]
    return Expected(
        public={
            "student": campus.student.name,
            "university": campus.university,
            "term": campus.term,
            "now": f"{campus.now:%A, %B} {campus.now.day}, {campus.now:%Y, %H:%M}",
            "zone": str(campus.zone),
            "offsets": offsets(campus),
        },
        evidence=[
            *(Evidence(service="canvas", contains=post.body) for post in evidence),
            *(
                Evidence(service="canvas", contains=sis_id(c, n))
                for n, c in enumerate(plan.courses, 1)
                if c.role != "ended"
            ),
            *(Evidence(service="canvas", contains=course.syllabus) for course in plan.taken),
            *_addresses([work for work in seen if work.course.role == "student"], canvas),
            *(Evidence(service="memory", contains=note) for note in observations),
        ],
        quizzes=[_quiz_row(work, campus) for work in listed if work.kind == "quiz"],
        assignments=[_assignment_row(work, campus) for work in listed if work.kind == "assignment"],
        left_out=[
            LeftOut(
                reason=cast(Reason, work.fate),
                variant=work.variant,
                quiz=_quiz_row(work, campus) if work.kind == "quiz" else None,
                assignment=_assignment_row(work, campus) if work.kind == "assignment" else None,
            )
            for work in seen
            if work.fate != "listed"
        ],
        features=dict(sorted(plan.features.items())),
        looked_up=sorted((canvas.courses[w.course.code], canvas.assignments[id(w)]) for w in open_works),
    )


def _addresses(works: Sequence[Work], canvas: _Canvas) -> Iterator[Evidence]:
    """The records of works, by their addresses."""
    for work in works:
        course = canvas.courses[work.course.code]
        if (quiz := canvas.quizzes.get(id(work))) is not None:
            yield Evidence(service="canvas", contains=f"/courses/{course}/quizzes/{quiz}")
        if (assignment := canvas.assignments.get(id(work))) is not None:
            yield Evidence(service="canvas", contains=f"/courses/{course}/assignments/{assignment}")


def _written(moment: dt.datetime | None) -> str | None:
    return f"{moment:%Y-%m-%d %H:%M}" if moment else None


def _row(work: Work, campus: Campus) -> dict[str, Any]:
    deadline = campus.local(work.deadline) if work.deadline else None
    return {
        "code": work.course.code,
        "name": work.course.subject.title,
        "title": work.title,
        "points": work.points,
        "deadline": _written(deadline),
        "utc": _written(deadline.astimezone(dt.UTC)) if deadline else None,
        "stale": _written(work.stale),
    }


def _quiz_row(work: Work, campus: Campus) -> QuizRow:
    return QuizRow(
        **_row(work, campus),
        credits=work.course.credits,
        questions=len(work.question_points),
        time_limit=work.time_limit,
        attempts=work.attempts,
        policy=work.policy,
    )


def _assignment_row(work: Work, campus: Campus) -> AssignmentRow:
    hidden = work.unlock is not None and campus.local(work.unlock) > campus.now
    return AssignmentRow(**_row(work, campus), description="" if hidden else plain(work.description))


def plain(body: str) -> str:
    """HTML as one line of text."""
    text = re.sub(r"</p>|<br>", " ", body)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())
