"""Courses and enrollments."""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.tools.objects.values import STORAGE_MB, Row, unguessable
from mesocosm.services.schema import Json
from mesocosm.services.shapes import same

ROLE_IDS = {
    "StudentEnrollment": 3,
    "TeacherEnrollment": 4,
    "TaEnrollment": 5,
    "DesignerEnrollment": 6,
    "ObserverEnrollment": 7,
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


def enrollment_json(enrollment: Row) -> Json:
    """A user's enrollment in a course."""
    shown: Json = {
        **same(enrollment, "id", "user_id", "course_id", "type", "enrollment_state"),
        "role": enrollment["type"],
        "role_id": ROLE_IDS[enrollment["type"]],
        "created_at": enrollment["created_at"],
        "updated_at": enrollment["updated_at"],
    }
    if enrollment["associated_user_id"] is not None:
        shown["associated_user_id"] = enrollment["associated_user_id"]
    return shown
