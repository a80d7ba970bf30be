"""Enrollments, with the grades of students."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from mesocosm.servers.canvas.rest.api import CourseId, Paged, Reading, UserId, api, course_key, user_key
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.access import ADDRESS, STUDENT
from mesocosm.servers.canvas.store.submissions import Scores
from mesocosm.servers.canvas.tools.assignments import number
from mesocosm.servers.canvas.tools.courses import enrollment_json
from mesocosm.servers.canvas.tools.service import Row
from mesocosm.services.schema import Json
from mesocosm.services.service import Page


class EnrollmentFields(TypedDict, total=False):
    """Fields of an enrollment from a client."""

    user_id: str | int
    type: str
    role: str
    enrollment_state: str


def enrollments_view(store: CanvasStore, enrollments: Sequence[Row]) -> list[Json]:
    """Enrollments with their users; students' with grades, where the viewer may see them."""
    studies = [row for row in enrollments if row["type"] == STUDENT]
    scores = store.submissions.scores(studies) if studies else {}
    accesses = {key: store.access(key) for key in {row["course_id"] for row in enrollments}}
    shown = []
    for row in enrollments:
        enrollment = _enrollment(row)
        if row["type"] == STUDENT and accesses[row["course_id"]].may_see_work_of(row["user_id"]):
            enrollment["grades"] = grades_view(row, scores[row["course_id"], row["user_id"]])
        shown.append(enrollment)
    return shown


def _enrollment(row: Row) -> Json:
    course_id, user_id = row["course_id"], row["user_id"]
    shown = enrollment_json(row) | {
        "associated_user_id": row["associated_user_id"],
        "course_section_id": course_id,
        "limit_privileges_to_course_section": False,
        "start_at": None,
        "end_at": None,
        "last_activity_at": None,
        "total_activity_time": 0,
        "html_url": f"{ADDRESS}/courses/{course_id}/users/{user_id}",
    }
    if "sortable_name" in row:
        names = {name: row[name] for name in ("name", "sortable_name", "short_name")}
        shown["user"] = {"id": user_id, **names}
    return shown


def grades_view(enrollment: Row, scores: Scores) -> Json:
    """A student's standing, in per cent."""
    return {
        "html_url": f"{ADDRESS}/courses/{enrollment['course_id']}/grades/{enrollment['user_id']}",
        "current_score": number(scores.current),
        "current_grade": None,
        "final_score": number(scores.final),
        "final_grade": None,
        "unposted_current_score": number(scores.current),
        "unposted_final_score": number(scores.final),
    }


@api.get("/courses/{course_id}/enrollments")
def list_course_enrollments(
    store: CanvasStore,
    access: Reading,
    paging: Paged,
    type: list[str] | None = None,
    role: list[str] | None = None,
    state: list[str] | None = None,
    user_id: str | None = None,
) -> Page:
    user = user_key(store, user_id) if user_id else None
    listing = store.roster.course_enrollments(access, paging, types=type or role, states=state, user_id=user)
    return listing.holding(enrollments_view(store, listing.items))


api.get("/sections/{course_id}/enrollments")(list_course_enrollments)


@api.get("/users/{user_id}/enrollments")
def list_user_enrollments(
    store: CanvasStore,
    paging: Paged,
    user_id: UserId,
    type: list[str] | None = None,
    role: list[str] | None = None,
    state: list[str] | None = None,
) -> Page:
    listing = store.roster.user_enrollments(user_id, paging, types=type or role, states=state)
    return listing.holding(enrollments_view(store, listing.items))


@api.get("/accounts/{account_id}/enrollments/{enrollment_id:int}")
def get_enrollment(store: CanvasStore, enrollment_id: int) -> dict[str, Any]:
    return enrollments_view(store, [store.roster.enrollment(enrollment_id)])[0]


@api.post("/courses/{course_id}/enrollments")
def enroll_user(store: CanvasStore, course_id: str, enrollment: EnrollmentFields) -> dict[str, Any]:
    """Enroll a user; invited, unless ``enrollment_state`` says ``active``, as Canvas does it."""
    user = user_key(store, str(enrollment.get("user_id", "")))
    kind = enrollment.get("type") or enrollment.get("role") or STUDENT
    state = enrollment.get("enrollment_state", "invited")
    made = store.courses.enroll(course_key(store, course_id), user, kind, state)
    access = store.access(made["course_id"])
    return enrollments_view(store, [store.roster.course_enrollment(access, made["id"])])[0]


api.post("/sections/{course_id}/enrollments")(enroll_user)


@api.delete("/courses/{course_id}/enrollments/{enrollment_id:int}")
def end_enrollment(
    store: CanvasStore, access: Reading, enrollment_id: int, task: str = "conclude"
) -> dict[str, Any]:
    """Conclude, deactivate or delete an enrollment."""
    return enrollments_view(store, [store.roster.end_enrollment(access, enrollment_id, task)])[0]


@api.put("/courses/{course_id}/enrollments/{enrollment_id:int}/reactivate")
def reactivate_enrollment(store: CanvasStore, access: Reading, enrollment_id: int) -> dict[str, Any]:
    """Let an enrollment be active again."""
    return enrollments_view(store, [store.roster.reactivate_enrollment(access, enrollment_id)])[0]


@api.post("/courses/{course_id}/enrollments/{enrollment_id:int}/accept")
def accept_enrollment(store: CanvasStore, course_id: CourseId, enrollment_id: int) -> dict[str, Any]:
    """Accept an invitation."""
    store.roster.answer_invitation(store.access(course_id), enrollment_id, accept=True)
    return {"success": True}


@api.post("/courses/{course_id}/enrollments/{enrollment_id:int}/reject")
def reject_enrollment(store: CanvasStore, course_id: CourseId, enrollment_id: int) -> dict[str, Any]:
    """Reject an invitation."""
    store.roster.answer_invitation(store.access(course_id), enrollment_id, accept=False)
    return {"success": True}
