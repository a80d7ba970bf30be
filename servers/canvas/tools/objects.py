"""Objects that tools of several topics give: users, and courses with their teachers."""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.tools.service import STORAGE_MB, Row, unguessable
from mesocosm.services.schema import Json
from mesocosm.services.service import same


def user_json(user: Row) -> Json:
    """A user as an administrator sees one."""
    return {
        **same(user, "id", "name", "created_at", "sortable_name", "short_name", "sis_user_id", "login_id"),
        "email": user["primary_email"],
        "last_login": user["last_login"],
        "time_zone": user["time_zone"],
    }


def profile_json(user: Row) -> Json:
    """A user's own profile."""
    return {
        **same(user, "id", "name", "short_name", "sortable_name", "login_id", "primary_email", "title"),
        "bio": user["bio"],
        "time_zone": user["time_zone"],
        "locale": None,
        "created_at": user["created_at"],
        "updated_at": user["updated_at"],
    }


def courses_json(store: CanvasStore, courses: Sequence[Row]) -> list[Json]:
    """Courses with their teachers and the signed-in user's enrollments."""
    ids = [course["id"] for course in courses]
    teachers, counts = store.courses.teachers_of(ids), store.courses.student_counts(ids)
    mine, root = store.courses.my_enrollments_in(ids), store.accounts.root_account_id
    return [
        course_json(course, root)
        | {
            "teachers": [teacher_json(teacher) for teacher in teachers.get(course["id"], ())],
            "total_students": counts.get(course["id"], 0),
            "enrollments": [_own_enrollment(enrollment) for enrollment in mine.get(course["id"], ())],
        }
        for course in courses
    ]


def course_json(course: Row, root_account_id: int) -> Json:
    """A course."""
    return {
        "id": course["id"],
        "account_id": course["account_id"],
        "uuid": unguessable("course", course["id"]),
        **same(course, "name", "course_code", "workflow_state", "start_at", "end_at", "created_at"),
        "time_zone": course["time_zone"],
        "sis_course_id": course["sis_course_id"],
        "root_account_id": root_account_id,
        "enrollment_term_id": 1,
        "grading_standard_id": None,
        "default_view": "modules",
        "license": "private",
        "is_public": course["is_public"],
        "public_syllabus": False,
        "public_syllabus_to_auth": False,
        "open_enrollment": False,
        "self_enrollment": False,
        "allow_wiki_comments": False,
        "allow_student_forum_attachments": True,
        "restrict_enrollments_to_course_dates": False,
        "apply_assignment_group_weights": False,
        "hide_final_grades": False,
        "storage_quota_mb": STORAGE_MB,
    }


def teacher_json(teacher: Row) -> Json:
    """A teacher, with the address at which students can write."""
    return {
        "id": teacher["id"],
        "display_name": teacher["short_name"],
        "email": teacher["primary_email"],
    }


def _own_enrollment(enrollment: Row) -> Json:
    return {
        "type": enrollment["type"].removesuffix("Enrollment").lower(),
        "role": enrollment["type"],
        "enrollment_state": enrollment["enrollment_state"],
    }
