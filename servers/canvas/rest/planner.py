"""The planner, groups and permissions: what clients ask for before they show a student's page."""

from __future__ import annotations

from typing import Any, Literal

from mesocosm.doors.request import Request
from mesocosm.servers.canvas.rest.api import (
    AccountId,
    Paged,
    Reading,
    api,
    context_courses,
    context_users,
    reading,
)
from mesocosm.servers.canvas.store import CanvasStore, CourseAccess, values
from mesocosm.servers.canvas.tools.service import Row
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Paging

_MOST_COURSES = 100
_OF_ACCOUNTS = ("manage_courses_add", "manage_user_logins", "read_course_list", "read_reports", "read_roster")
_PATHS = {
    "assignment": "/assignments/",
    "quiz": "/quizzes/",
    "announcement": "/discussion_topics/",
    "calendar_event": "/calendar?event_id=",
}


@api.get("/planner/items")
@api.get("/users/self/planner/items")
def list_planner_items(
    store: CanvasStore,
    paging: Paged,
    start_date: str | None = None,
    end_date: str | None = None,
    context_codes: list[str] | None = None,
    order: Literal["asc"] = "asc",
) -> Page:
    """List the planner of one's current courses and calendar, from today on unless dates are given."""
    since = values.moment(start_date, "start_date") or store.stamp[:10]
    until = values.moment(end_date, "end_date", end_of_day=True) or "9"
    own = not context_codes or store.user_id in context_users(context_codes)
    mine = context_courses(context_codes)
    if not context_codes:
        mine = [course["id"] for course in store.courses.my_courses(Paging(1, _MOST_COURSES)).items]
    accesses = {key: store.reading(key) for key in mine}
    listing, found = store.calendar.planned(list(accesses.values()), since, until, paging, own=own)
    return listing.of(
        lambda row: _item(store, accesses.get(row["course_id"]), row, found[row["kind"], row["key"]])
    )


def _item(store: CanvasStore, access: CourseAccess | None, planned: Row, row: Row) -> Json:
    kind, key, handed_in = planned["kind"], row["id"], None
    if kind == "assignment":
        assert access
        submission = store.submissions.submission(access, key, access.user_id) if access.studies else None
        handed_in = None if submission is None else _handed_in(submission)
        if row["quiz_id"] is not None:
            kind, key = "quiz", row["quiz_id"]
    shown = {"id": key, "title": row["name"] if planned["kind"] == "assignment" else row["title"]}
    names = ("points_possible", "due_at", "start_at", "end_at", "location_name", "description", "all_day")
    columns = names[:2] if kind in ("assignment", "quiz") else names[2:] if kind == "calendar_event" else ()
    shown |= {name: row[name] for name in (*columns, "created_at", "updated_at") if name in row}
    where = {"context_type": "User", "user_id": store.user_id}
    if access is not None:
        where = {
            "context_type": "Course",
            "course_id": access.course["id"],
            "context_name": access.course["name"],
        }
    path = f"{_PATHS[kind]}{key}"
    return where | {
        "plannable_id": key,
        "plannable_type": kind,
        "plannable_date": planned["at"],
        "planner_override": None,
        "new_activity": False,
        "plannable": shown,
        "html_url": path if kind == "calendar_event" else f"/courses/{row['course_id']}{path}",
        "submissions": handed_in or False,
    }


def _handed_in(submission: Row) -> dict[str, bool]:
    graded = submission["graded_at"] is not None
    submitted = submission["submitted_at"] is not None
    return {"submitted": submitted, "graded": graded, "needs_grading": submitted and not graded}


@api.get("/planner_notes")
@api.get("/planner/overrides")
def list_notes(store: CanvasStore, paging: Paged) -> Page:
    """List planner notes and overrides: always empty."""
    _ = store.user_id
    return Page([], *paging, 0)


@api.get("/users/self/groups")
@api.get("/courses/{course_id}/groups")
@api.get("/courses/{course_id}/group_categories")
def list_groups(store: CanvasStore, paging: Paged, course_id: str | None = None) -> Page:
    """The groups of a course, or one's own: there are none."""
    _ = reading(store, course_id) if course_id else store.user_id
    return Page([], *paging, 0)


@api.get("/courses/{course_id}/permissions")
def get_permissions(
    store: CanvasStore, request: Request, access: Reading, permissions: list[str] | None = None
) -> dict[str, Any]:
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
    return _asked(known, permissions)


@api.get("/accounts/{account_id}/permissions")
def get_account_permissions(
    store: CanvasStore, account_id: AccountId, permissions: list[str] | None = None
) -> dict[str, Any]:
    """Return the requested permissions in an account."""
    account = store.accounts.account(account_id)
    return _asked(dict.fromkeys(_OF_ACCOUNTS, store.administers(account["id"])), permissions)


def _asked(known: dict[str, bool], permissions: list[str] | None) -> dict[str, bool]:
    return {name: known.get(name, False) for name in permissions} if permissions else known
