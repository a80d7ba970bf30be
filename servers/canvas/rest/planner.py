"""The planner, groups and permissions: what clients ask for before they show a student's page."""

from __future__ import annotations

from typing import Any, Literal

from mesocosm.doors.request import Request
from mesocosm.servers.canvas.rest.api import api, context_courses, reading, stretch
from mesocosm.servers.canvas.rest.assignments import assignment_view
from mesocosm.servers.canvas.store import CanvasStore, CourseAccess, values
from mesocosm.servers.canvas.tools.objects import Object, Row
from mesocosm.servers.canvas.tools.service import page_of
from mesocosm.services.service import Page

_MOST_COURSES = 100


@api.get("/planner/items")
@api.get("/users/self/planner/items")
def list_planner_items(
    store: CanvasStore,
    request: Request,
    start_date: str | None = None,
    end_date: str | None = None,
    context_codes: list[str] | None = None,
    order: Literal["asc"] = "asc",
) -> Page:
    """The assignments of one's current courses by their deadlines, from today on unless dates are given."""
    since = values.moment("start_date", start_date) or store.stamp[:10]
    until = values.moment("end_date", end_date, end_of_day=True) or "9"
    wanted = context_courses(context_codes)
    mine = wanted or [course["id"] for course in store.my_courses(1, _MOST_COURSES).rows]
    accesses = {key: store.reading(key) for key in mine}
    listing = store.assignments_due(list(accesses.values()), since, until, *stretch(request))
    return page_of(listing, lambda row: _item(store, accesses[row["course_id"]], row))


def _item(store: CanvasStore, access: CourseAccess, row: Row) -> Object:
    assignment = assignment_view(row, access)
    submission = store.submission(access, row["id"], access.user_id) if access.studies else None
    return {
        "context_type": "Course",
        "course_id": row["course_id"],
        "context_name": access.course["name"],
        "plannable_id": row["id"],
        "plannable_type": "assignment",
        "plannable_date": assignment["due_at"],
        "planner_override": None,
        "new_activity": False,
        "plannable": {name: assignment[name] for name in ("id", "points_possible", "due_at")}
        | {"title": assignment["name"]},
        "html_url": f"/courses/{row['course_id']}/assignments/{row['id']}",
        "submissions": False if submission is None else _handed_in(submission),
    }


def _handed_in(submission: Row) -> dict[str, bool]:
    graded = submission["graded_at"] is not None
    submitted = submission["submitted_at"] is not None
    return {"submitted": submitted, "graded": graded, "needs_grading": submitted and not graded}


@api.get("/users/self/groups")
@api.get("/courses/{course_id}/groups")
def list_groups(store: CanvasStore, request: Request, course_id: str | None = None) -> Page:
    """The groups of a course, or one's own: there are none."""
    _ = reading(store, course_id) if course_id else store.user_id
    return Page([], *stretch(request), 0)


@api.get("/courses/{course_id}/permissions")
def get_permissions(
    store: CanvasStore, request: Request, course_id: str, permissions: list[str] | None = None
) -> dict[str, Any]:
    """What one may do in a course, of what is asked for."""
    access = reading(store, course_id)
    known = {
        "read": True,
        "read_course_content": True,
        "read_roster": True,
        "send_messages": True,
        "participate_as_student": access.studies,
        "submit_assignment": access.studies,
        "post_to_forum": access.studies or access.edits,
        "create_announcement": access.edits,
        "manage_content": access.edits,
        "manage_assignments": access.edits,
        "manage_files_add": access.edits,
        "manage_grades": access.grades,
        "view_all_grades": access.sees_grades,
        "manage": access.manages,
        "update": access.manages,
        "delete": access.manages,
    }
    return {name: known.get(name, False) for name in permissions} if permissions else known
