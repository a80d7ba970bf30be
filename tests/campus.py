"""A small campus that tests fill worlds with: one of everything, so that every tool has something to show."""

from __future__ import annotations

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.services.world import World

PEOPLE = {"admin": 1, "teacher": 2, "ta": 3, "student": 4, "classmate": 5, "outsider": 6, "observer": 7}
BIOLOGY, CHEMISTRY, DRAFT, ENDED = 1, 2, 3, 4


def fill_campus(world: World) -> None:
    """Build the campus; the clock stands at 2025-01-15T09:00:00Z."""
    store = world.store(CanvasStore)
    _people(store)
    _courses(store)
    _work(store)
    _material(store)
    _talk(store)
    store.sign_in(PEOPLE["student"])


def _people(store: CanvasStore) -> None:
    root = store.accounts.root_account_id
    store.accounts.add_accounts([{"name": "Sciences", "parent_account_id": root}])
    store.users.add_users(
        [
            {"name": f"{name.title()} Person", "login_id": f"{name}@uni.edu", "password": f"{name}-secret"}
            for name in PEOPLE
        ]
    )
    store.accounts.add_account_admins([(PEOPLE["admin"], root)])


def _courses(store: CanvasStore) -> None:
    store.courses.add_courses(
        [
            {"name": "Biology", "course_code": "BIO-1", "syllabus_body": "<p>Cells.</p>"},
            {"name": "Chemistry", "course_code": "CHEM-1", "account_id": 2},
            {"name": "Draft", "course_code": "DRAFT-1", "workflow_state": "unpublished"},
            {"name": "Ended", "course_code": "END-1", "end_at": "2024-12-20T00:00:00Z"},
        ]
    )
    roles = {"teacher": "TeacherEnrollment", "ta": "TaEnrollment", "observer": "ObserverEnrollment"}
    store.courses.add_enrollments(
        [
            {"course_id": c, "user_id": PEOPLE[who], "type": kind}
            for c in (1, 3, 4)
            for who, kind in roles.items()
        ]
    )
    store.courses.enroll_students([(c, PEOPLE["student"]) for c in (1, 2, 3, 4)] + [(1, PEOPLE["classmate"])])


def _work(store: CanvasStore) -> None:
    store.assignments.add_assignments(
        [
            {"course_id": 1, "name": "Essay", "due_at": "2025-01-20T23:59:59Z", "points_possible": 50},
            {"course_id": 1, "name": "Late work", "due_at": "2025-01-10T23:59:59Z", "points_possible": 10},
            {"course_id": 1, "name": "Secret", "published": False},
            {"course_id": 1, "name": "Closed", "lock_at": "2025-01-14T00:00:00Z"},
            {"course_id": 1, "name": "Upload", "submission_types": ["online_upload", "online_url"]},
        ]
    )
    answers = [{"answer_text": "yes", "answer_weight": 100}, {"answer_text": "no", "answer_weight": 0}]
    questions = [{"question_text": f"Is it {n}?", "points_possible": 5, "answers": answers} for n in (1, 2)]
    store.quizzes.add_quizzes(
        [
            {
                "course_id": 1,
                "title": "Quiz",
                "time_limit": 30,
                "due_at": "2025-01-18T12:00:00Z",
                "questions": questions,
            },
            {"course_id": 1, "title": "Draft quiz", "published": False, "questions": questions},
            {"course_id": 1, "title": "Coded", "quiz_type": "practice_quiz", "access_code": "sesame"},
        ]
    )
    store.assignments.add_rubrics([{"course_id": 1, "title": "Writing", "criteria": []}])


def _material(store: CanvasStore) -> None:
    teacher = PEOPLE["teacher"]
    store.pages.add_pages(
        [
            {"course_id": 1, "title": "Course Overview", "body": "<p>Welcome</p>", "last_edited_by": teacher},
            {"course_id": 1, "title": "Hidden notes", "body": "<p>Key</p>", "published": False},
        ]
    )
    store.files.add_folders([{"course_id": 1, "path": "slides"}])
    store.files.add_files(
        [
            {"course_id": 1, "display_name": "plan.pdf", "size": 100},
            {"course_id": 1, "folder_id": 2, "display_name": "week 1.pdf", "size": 200},
            {"course_id": 1, "display_name": "exam.pdf", "size": 300, "hidden": True},
            {"user_id": PEOPLE["student"], "display_name": "mine.doc", "size": 10},
        ]
    )
    store.modules.add_modules(
        [
            {"course_id": 1, "name": "Week 1", "require_sequential_progress": True},
            {"course_id": 1, "name": "Week 2", "prerequisite_module_ids": [1]},
            {"course_id": 1, "name": "Hidden week", "published": False},
        ]
    )
    store.modules.add_module_items(
        [
            {"module_id": 1, "title": "Read", "type": "Page", "content_id": 1},
            {"module_id": 1, "title": "Write", "type": "Assignment", "content_id": 1},
            {"module_id": 2, "title": "Look", "type": "ExternalUrl", "external_url": "https://example.org"},
        ]
    )


def _talk(store: CanvasStore) -> None:
    teacher, student = PEOPLE["teacher"], PEOPLE["student"]
    store.discussions.add_announcements(
        [
            {"course_id": 1, "user_id": teacher, "title": title, "message": title, "posted_at": posted_at}
            for title, posted_at in [
                ("Final exam", "2025-01-13T08:00:00Z"),
                ("Welcome", "2025-01-02T08:00:00Z"),
                ("Tomorrow", "2025-01-16T08:00:00Z"),
            ]
        ]
    )
    store.discussions.add_discussions(
        [
            {"course_id": 1, "user_id": teacher, "title": "Cells", "message": "Discuss."},
            {
                "course_id": 1,
                "user_id": teacher,
                "title": "First",
                "message": "Go.",
                "require_initial_post": True,
            },
            {"course_id": 1, "user_id": teacher, "title": "Shut", "message": "No.", "locked": True},
        ]
    )
    store.discussions.add_discussion_entries(
        [
            {
                "topic_id": topic,
                "user_id": PEOPLE["classmate"],
                "message": "Hm",
                "created_at": "2025-01-15T08:00:00Z",
            }
            for topic in (4, 5)
        ]
    )
    message = {"author_id": teacher, "body": "See me.", "created_at": "2025-01-14T08:00:00Z"}
    store.conversations.add_conversations(
        [{"subject": "Hello", "participants": [teacher, student], "messages": [message]}]
    )
    store.calendar.add_calendar_events(
        [
            {
                "course_id": 1,
                "title": "Lab",
                "start_at": "2025-01-17T10:00:00Z",
                "end_at": "2025-01-17T12:00:00Z",
            },
            {"course_id": 2, "title": "Visit", "start_at": "2025-02-01T10:00:00Z"},
            {"user_id": PEOPLE["outsider"], "title": "Private", "start_at": "2025-01-17T10:00:00Z"},
        ]
    )
