"""A campus whose first course is the largest; as a student, as its teacher and as the administrator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fills.texts import Call, Texts, pages, stamp
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.services.world import World

ADMIN, TEACHER, STUDENT = 1, 2, 3
_PER_UNIT = 4000
"""Tokens of what ``_course`` adds for each unit."""


def fill(world: World, texts: Texts, size: int) -> list[Call]:
    """The first course holds a quarter of everything."""
    store, units = world.store(CanvasStore), max(8, size // _PER_UNIT)
    root = store.accounts.root_account_id
    store.accounts.add_accounts(
        [{"name": f"School {n}", "parent_account_id": root} for n in range(2 + units // 100)]
    )
    users = 12 + units // 2
    store.users.add_users(
        [
            {"name": f"Person {n}", "login_id": _login(n), "password": "secret", "bio": texts.title()}
            for n in range(1, users + 1)
        ]
    )
    store.accounts.add_account_admins([(ADMIN, root)])
    courses = 3 + units // 30
    store.courses.add_courses(
        [
            {"name": f"{texts.title()[:50]} {n}", "course_code": f"C-{n}", "syllabus_body": texts.text()}
            for n in range(courses)
        ]
    )
    store.courses.add_enrollments(
        [{"course_id": c + 1, "user_id": TEACHER, "type": "TeacherEnrollment"} for c in range(courses)]
    )
    shares = [units // 4] + [max(1, units * 3 // 4 // (courses - 1))] * (courses - 1)
    for course, share in enumerate(shares, 1):
        students = list(range(STUDENT, STUDENT + min(users - 3, 5 + share)))
        store.courses.enroll_students([(course, student) for student in students])
        _course(store, texts, course, students, share)
    _conversations(store, texts, users, units)
    store.sign_in(STUDENT)
    return _calls(units, shares[0], courses, users)


def _course(store: CanvasStore, texts: Texts, course: int, students: list[int], units: int) -> None:
    """Its material: for each unit some pages, work with what was handed in, talk and dates."""
    _material(store, texts, course, units)
    work = store.assignments.add_assignments(
        [
            {
                "course_id": course,
                "name": texts.title(),
                "description": texts.text(),
                "due_at": stamp(n / units / 2 * 1.1),
                "points_possible": 10,
            }
            for n in range(2 * units)
        ]
    )
    texts.facts(120 * len(work))
    handed_in = [(task, student) for n, task in enumerate(work) for student in _some(students, n)]
    store.submissions.add_submissions(
        [
            {
                "assignment_id": task,
                "user_id": student,
                "body": texts.text(),
                "submitted_at": stamp(0.9),
                **({"grade": 7, "graded_at": stamp(0.95), "grader_id": TEACHER} if student % 2 else {}),
            }
            for task, student in handed_in
        ]
    )
    answers: list[dict[str, Any]] = [
        {"answer_text": "yes", "answer_weight": 100},
        {"answer_text": "no", "answer_weight": 0},
    ]
    questions: list[dict[str, Any]] = [
        {"question_text": texts.title(), "answers": answers} for _ in range(5 * units)
    ]
    texts.facts(60 * len(questions))
    store.quizzes.add_quizzes(
        [
            {"course_id": course, "title": texts.title(), "questions": questions[5 * n : 5 * n + 5]}
            for n in range(units)
        ]
    )
    _talk(store, texts, course, students, units)
    store.calendar.add_calendar_events(
        [
            {"course_id": course, "title": texts.title(), "start_at": stamp(n / units + 0.1)}
            for n in range(2 * units)
        ]
    )


def _some(students: list[int], number: int) -> Iterator[int]:
    """Yield the students who hand in: the first always, and three others in turn."""
    yield students[0]
    yield from {students[1 + (number + step) % (len(students) - 1)]: None for step in range(3)}


def _material(store: CanvasStore, texts: Texts, course: int, units: int) -> None:
    store.pages.add_pages([{"course_id": course, "title": "Overview", "body": texts.text()}])
    page_ids = store.pages.add_pages(
        [
            {"course_id": course, "title": f"{texts.title()} {n}", "body": texts.text()}
            for n in range(4 * units)
        ]
    )
    store.files.add_files(
        [{"course_id": course, "display_name": f"file {n}.pdf", "size": 100 + n} for n in range(3 * units)]
    )
    modules = store.modules.add_modules([{"course_id": course, "name": texts.title()} for _ in range(units)])
    store.modules.add_module_items(
        [
            {"module_id": modules[n // 4], "title": "Read", "type": "Page", "content_id": page}
            for n, page in enumerate(page_ids)
        ]
    )
    store.assignments.add_rubrics(
        [{"course_id": course, "title": texts.title(), "criteria": []} for _ in range(units)]
    )
    texts.facts(160 * units)


def _talk(store: CanvasStore, texts: Texts, course: int, students: list[int], units: int) -> None:
    posts: list[Any] = [
        {
            "course_id": course,
            "user_id": TEACHER,
            "title": texts.title(),
            "message": texts.text(),
            "posted_at": stamp(n / units / 2),
        }
        for n in range(2 * units)
    ]
    store.discussions.add_announcements(posts[::2])
    topics = store.discussions.add_discussions(posts[1::2])
    store.discussions.add_discussion_entries(
        [
            {
                # Half of the posts are in one discussion.
                "topic_id": topics[n // 4 if n % 2 else 0],
                "user_id": students[n % len(students)],
                "message": texts.text(),
                "created_at": stamp(0.99),
            }
            for n in range(4 * units)
        ]
    )


def _conversations(store: CanvasStore, texts: Texts, users: int, units: int) -> None:
    store.conversations.add_conversations(
        [
            {
                "subject": texts.title(),
                "participants": [TEACHER, STUDENT, 4 + n % (users - 4)],
                "messages": [
                    {"author_id": TEACHER, "body": texts.text(), "created_at": stamp(n / units / 2)}
                    for _ in range(2)
                ],
            }
            for n in range(2 * units)
        ]
    )


def _login(user: int) -> str:
    return f"user{user}@uni.edu"


def _sign_in(user: int) -> Call:
    return ("canvas_login", {"login_id": _login(user), "password": "secret"})


def _calls(units: int, share: int, courses: int, users: int) -> list[Call]:
    """The same reads by the student and the teacher; then what is the administrator's."""
    calls: list[Call] = []
    for user in (STUDENT, TEACHER):
        calls += [_sign_in(user), *_personal(units)]
        for course, size in ((1, share), (2, 1)):
            calls += _of_course(course, size)
    # Still the teacher: students may not see these, or see less.
    calls += _of_work(share)
    calls += [_sign_in(ADMIN)]
    for order in ("username", "email", "sis_id", "last_login"):
        calls += pages("canvas_list_account_users", users // 10, account_id=1, sort=order)
    for order in ("course_name", "sis_course_id", "teacher", "account_name"):
        calls += pages("canvas_list_account_courses", courses // 10, account_id=1, sort=order)
    return [
        *calls,
        ("canvas_list_account_users", {"account_id": 1, "search_term": "son 4"}),
        ("canvas_list_account_courses", {"account_id": 1, "search_term": "the", "with_enrollments": True}),
        ("canvas_get_account", {"account_id": 1}),
        ("canvas_list_sub_accounts", {"account_id": 1}),
        ("canvas_get_account_reports", {"account_id": 1}),
        *pages("canvas_list_users", users // 10),
        ("canvas_list_courses", {}),
    ]


def _personal(units: int) -> list[Call]:
    return [
        ("canvas_health_check", {}),
        ("canvas_get_current_user", {}),
        ("canvas_get_user_profile", {}),
        ("canvas_list_courses", {}),
        ("canvas_list_courses", {"include_ended": True}),
        ("canvas_get_user_grades", {}),
        ("canvas_list_calendar_events", {}),
        ("canvas_list_calendar_events", {"start_date": "2023-01-01", "end_date": "2026-01-01"}),
        ("canvas_get_upcoming_assignments", {}),
        ("canvas_get_upcoming_assignments", {"limit": 50}),
        ("canvas_get_dashboard", {}),
        ("canvas_get_dashboard_cards", {}),
        *pages("canvas_list_notifications", units // 10),
        *pages("canvas_list_conversations", units // 10),
        ("canvas_get_conversation", {"conversation_id": units}),
    ]


_LISTS = {"assignments": 2, "announcements": 1, "discussion_topics": 1, "modules": 1, "pages": 4}
_LISTS |= {"files": 3, "folders": 0, "quizzes": 1}


def _of_course(course: int, units: int) -> list[Call]:
    calls: list[Call] = []
    for name, per_unit in _LISTS.items():
        calls += pages(f"canvas_list_{name}", per_unit * units // 10, course_id=course)
        calls += [(f"canvas_list_{name}", {"course_id": course, "per_page": 100})]
    return [
        *calls,
        ("canvas_get_course", {"course_id": course}),
        ("canvas_get_syllabus", {"course_id": course}),
        *pages("canvas_get_course_grades", units // 10, course_id=course),
        *pages("canvas_list_users", units // 10, course_id=course),
    ]


def _of_work(units: int) -> list[Call]:
    """Things of the first course, seen by its teacher."""
    one = {"course_id": 1}
    return [
        *pages("canvas_list_rubrics", units // 10, course_id=1),
        # Announcements, of which each unit has one, have the numbers before it.
        *pages("canvas_get_discussion_topic", 2 * units // 10, course_id=1, topic_id=units + 1),
        ("canvas_get_page", {**one, "page_url": "overview"}),
        ("canvas_get_assignment", {**one, "assignment_id": 1}),
        ("canvas_get_submission", {**one, "assignment_id": 1, "user_id": STUDENT}),
        ("canvas_get_rubric", {**one, "rubric_id": 1}),
        ("canvas_get_module", {**one, "module_id": 1}),
        ("canvas_list_module_items", {**one, "module_id": 1}),
        ("canvas_get_module_item", {**one, "module_id": 1, "item_id": 1}),
        ("canvas_get_file", {"file_id": 1}),
        ("canvas_get_quiz", {**one, "quiz_id": 1}),
        ("canvas_get_quiz_questions", {**one, "quiz_id": 1}),
    ]
