"""Courses, enrollments, grades of courses."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required, TypedDict, Unpack

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.access import CourseId, address
from mesocosm.servers.canvas.store.submissions import Scores
from mesocosm.servers.canvas.tools.assignments import number
from mesocosm.servers.canvas.tools.objects import courses_json
from mesocosm.servers.canvas.tools.service import Reading, Row, server
from mesocosm.services.schema import Json, Number
from mesocosm.services.service import Page, Paging, paged, same

ROLE_IDS = {
    "StudentEnrollment": 3,
    "TeacherEnrollment": 4,
    "TaEnrollment": 5,
    "DesignerEnrollment": 6,
    "ObserverEnrollment": 7,
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


class CourseDetails(TypedDict, total=False):
    """What may be said of a course, new or not."""

    course_code: str
    start_at: str
    end_at: str
    syllabus_body: str


class NewCourse(CourseDetails, total=False):
    """What may be said of a new one."""

    name: Required[str]
    is_public: bool
    time_zone: str


class CourseChanges(CourseDetails, total=False):
    """What may be said of one that is there."""

    name: str


@server.reads
def canvas_list_courses(
    store: CanvasStore, include_ended: bool | None = None, *, paging: Annotated[Paging, paged("Courses")]
) -> Page:
    """List your courses with their teachers (name and e-mail), without the syllabus.

    Args:
        include_ended: Also courses that are concluded or past their end date, and completed enrollments.
    """
    listing = store.courses.my_courses(paging, include_ended=bool(include_ended))
    return listing.holding(courses_json(store, listing.items))


@server.reads
def canvas_get_course(store: CanvasStore, access: Reading) -> dict[str, Any]:
    """Read one course with its teachers (name and e-mail) and its syllabus."""
    return _course(store, access.course)


@server.writes
def canvas_create_course(
    store: CanvasStore, account_id: Number, offer: bool = False, **fields: Unpack[NewCourse]
) -> dict[str, Any]:
    """Create a course in an account. It is unpublished unless offered; only administrators may.

    Args:
        account_id: The account that the course belongs to.
        name: Name of the course.
        course_code: Short code; by default the beginning of the name.
        start_at: When it starts (ISO 8601, e.g. 2025-01-15T09:00:00Z).
        end_at: When it ends.
        syllabus_body: Syllabus, as HTML.
        is_public: Whether everybody may read it.
        time_zone: IANA name of the course's time zone.
        offer: Publish it at once.
    """
    return _course(store, store.courses.create_course(account_id, fields, offer=offer))


@server.writes(destructive=True, idempotent=True)
def canvas_update_course(
    store: CanvasStore,
    course_id: Number,
    event: Literal["claim", "offer", "conclude"] | None = None,
    **changes: Unpack[CourseChanges],
) -> dict[str, Any]:
    """Change a course; what you leave out stays as it is. For its teachers and administrators.

    Args:
        course_id: The course.
        name: New name.
        course_code: New short code.
        start_at: When it starts (ISO 8601); empty for no date.
        end_at: When it ends (ISO 8601); empty for no date.
        syllabus_body: New syllabus, as HTML.
        event: offer publishes the course, claim takes that back, conclude ends it.
    """
    return _course(store, store.courses.update_course(course_id, changes, event))


def _course(store: CanvasStore, course: Row) -> Json:
    [shown] = courses_json(store, [course])
    return shown | {"syllabus_body": course["syllabus_body"]}


@server.reads
def canvas_get_syllabus(store: CanvasStore, access: Reading) -> dict[str, Any]:
    """Read the syllabus of a course."""
    course = access.course
    return {"course_id": course["id"], "syllabus_body": course["syllabus_body"]}


@server.writes(idempotent=True)
def canvas_enroll_user(
    store: CanvasStore,
    course_id: CourseId,
    user_id: Number,
    role: str | None = None,
    enrollment_state: str | None = None,
) -> dict[str, Any]:
    """Enroll a user in a course; one who is enrolled that way already gets the given state.

    Args:
        user_id: The user.
        role: StudentEnrollment (the default), TeacherEnrollment, TaEnrollment, ObserverEnrollment or
            DesignerEnrollment.
        enrollment_state: active (the default), invited or inactive.
    """
    kind = "StudentEnrollment" if role is None else role
    state = "active" if enrollment_state is None else enrollment_state
    return enrollment_json(store.courses.enroll(course_id, user_id, kind, state))


@server.reads
def canvas_get_course_grades(
    store: CanvasStore, course_id: CourseId, paging: Annotated[Paging, paged("Enrollments")]
) -> Page:
    """List the student enrollments of a course with their grades; students see their own only.

    current_score counts what has been graded; final_score counts everything else as zero (both in per cent).
    """
    listing = store.submissions.course_grades(course_id, paging)
    scores = store.submissions.scores(listing.items)
    return listing.holding(_student(row, scores[row["course_id"], row["user_id"]]) for row in listing.items)


def _student(enrollment: Row, scores: Scores) -> Json:
    user_id = enrollment["user_id"]
    user = {"id": user_id} | {name: enrollment[name] for name in ("name", "sortable_name", "short_name")}
    return enrollment_json(enrollment) | {"user": user, "grades": _grades(enrollment, scores)}


@server.reads
def canvas_get_user_grades(store: CanvasStore, paging: Annotated[Paging, paged("Courses")]) -> Page:
    """List your own grades: one entry for each current course in which you are a student.

    current_score counts what has been graded; final_score counts everything else as zero (both in per cent).
    """
    listing = store.submissions.my_grades(paging)
    scores = store.submissions.scores(listing.items)
    return listing.holding(
        {
            **same(row, "course_id", "course_name", "course_code"),
            "enrollment_id": row["id"],
            "grades": _grades(row, scores[row["course_id"], row["user_id"]]),
        }
        for row in listing.items
    )


def _grades(enrollment: Row, scores: Scores) -> Json:
    return {
        "html_url": f"{address()}/courses/{enrollment['course_id']}/grades/{enrollment['user_id']}",
        "current_score": number(scores.current),
        "current_grade": None,
        "final_score": number(scores.final),
        "final_grade": None,
    }
