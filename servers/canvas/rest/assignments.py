"""Assignments, the one group that they are in, and rubrics."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypedDict

from mesocosm.servers.canvas.rest.api import Editing, Paged, Reading, api, reading, user_key
from mesocosm.servers.canvas.rest.courses import members_view
from mesocosm.servers.canvas.store import CanvasStore, CourseAccess
from mesocosm.servers.canvas.store.access import denied, missing
from mesocosm.servers.canvas.store.grading import is_excused
from mesocosm.servers.canvas.tools.assignments import assignment_json, bare_submission_json, rubric_json
from mesocosm.servers.canvas.tools.service import Row
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Paging

_EMPTY = 10**15
"""First id of submissions that are still empty, above those of the tables."""


class AssignmentFields(TypedDict, total=False):
    """Fields of an assignment from a client."""

    name: str
    description: str
    points_possible: float
    due_at: str
    unlock_at: str
    lock_at: str
    grading_type: str
    submission_types: list[str]
    allowed_attempts: int
    omit_from_final_grade: bool
    published: bool


def assignment_view(assignment: Row, access: CourseAccess) -> Json:
    """An assignment as the REST API gives it."""
    shown = assignment_json(assignment, staff=access.staff, clock=access.clock)
    shown["has_overrides"] = shown["muted"] = False
    shown["intra_group_peer_reviews"] = shown["only_visible_to_overrides"] = False
    return shown


def submission_view(submission: Row, assignment: Row, access: CourseAccess) -> Json:
    """A submission as the REST API gives it."""
    shown = bare_submission_json(submission, assignment, access.clock)
    if submission["id"] is None:
        shown["id"] = _EMPTY + assignment["id"] * 10**7 + submission["user_id"]
    excused = is_excused(submission)
    if excused:
        shown |= {"late": False, "seconds_late": 0}
    return shown | {
        "course_id": access.course["id"],
        "excused": excused,
        "late_policy_status": None,
        "points_deducted": None,
        "extra_attempts": None,
        "posted_at": submission["graded_at"],
    }


def _assignments(
    store: CanvasStore, access: CourseAccess, rows: Sequence[Row], include: Collection[str]
) -> list[Json]:
    shown = [assignment_view(row, access) for row in rows]
    if "submission" in include:
        for row, assignment in zip(rows, shown, strict=True):
            submission = store.submissions.submission(access, row["id"], access.user_id)
            assignment["submission"] = submission_view(submission, row, access)
    return shown


@api.get("/courses/{course_id}/assignments")
def list_assignments(
    store: CanvasStore,
    access: Reading,
    paging: Paged,
    search_term: str | None = None,
    bucket: str | None = None,
    assignment_ids: list[int] | None = None,
    order_by: str = "position",
    include: list[str] | None = None,
) -> Page:
    listing = store.assignments.listed(
        access,
        paging,
        search_term=search_term,
        bucket=bucket,
        assignment_ids=assignment_ids,
        order_by=order_by,
    )
    return listing.holding(_assignments(store, access, listing.items, include or ()))


@api.get("/users/{user_id}/courses/{course_id}/assignments")
def list_user_assignments(store: CanvasStore, paging: Paged, user_id: str, access: Reading) -> Page:
    """The assignments that a user sees in a course; for the user and for graders."""
    if not access.may_see_work_of(user_key(store, user_id)):
        raise denied()
    return store.assignments.listed(access, paging).of(lambda row: assignment_view(row, access))


@api.get("/courses/{course_id}/assignments/{assignment_id:int}")
def get_assignment(
    store: CanvasStore, access: Reading, assignment_id: int, include: list[str] | None = None
) -> dict[str, Any]:
    return _assignments(store, access, [store.assignments.assignment(access, assignment_id)], include or ())[
        0
    ]


@api.post("/courses/{course_id}/assignments", status=201)
def create_assignment(store: CanvasStore, access: Editing, assignment: AssignmentFields) -> dict[str, Any]:
    fields = {"name": "", **assignment}
    return assignment_view(store.assignments.create_assignment(access, fields), access)


@api.put("/courses/{course_id}/assignments/{assignment_id:int}")
def update_assignment(
    store: CanvasStore, access: Editing, assignment_id: int, assignment: AssignmentFields
) -> dict[str, Any]:
    """Change an assignment."""
    return assignment_view(
        store.assignments.update_assignment(access, assignment_id, dict(assignment)), access
    )


@api.delete("/courses/{course_id}/assignments/{assignment_id:int}")
def delete_assignment(store: CanvasStore, access: Editing, assignment_id: int) -> dict[str, Any]:
    return assignment_view(store.assignments.delete_assignment(access, assignment_id), access)


@api.get("/courses/{course_id}/assignments/{assignment_id:int}/gradeable_students")
def list_gradeable_students(store: CanvasStore, access: Reading, paging: Paged, assignment_id: int) -> Page:
    """The students whose work can be graded."""
    store.assignments.assignment(access, assignment_id)
    if not access.sees_grades:
        raise denied()
    listing = store.roster.course_users(access, paging, types=["StudentEnrollment"])
    return listing.holding(members_view(store, access, listing.items))


# -- groups: all assignments of a course are in one -------------------------------------------------------


def _group(store: CanvasStore, access: CourseAccess, include: Collection[str], page: int = 1) -> Json:
    shown: Json = {
        "id": access.course["id"],
        "name": "Assignments",
        "position": 1,
        "group_weight": 0,
        "sis_source_id": None,
        "integration_data": {},
        "rules": {},
    }
    if "assignments" in include:
        shown["assignments"] = []
        while True:
            listing = store.assignments.listed(access, Paging(page, 100))
            shown["assignments"] += [assignment_view(row, access) for row in listing.items]
            if listing.page * listing.per_page >= listing.total:
                break
            page += 1
    return shown


@api.get("/courses/{course_id}/assignment_groups")
def list_assignment_groups(
    store: CanvasStore, access: Reading, include: list[str] | None = None
) -> list[dict[str, Any]]:
    return [_group(store, access, include or ())]


def _of_group(store: CanvasStore, course_id: str, group_id: int) -> CourseAccess:
    access = reading(store, course_id)
    if group_id != access.course["id"]:
        raise missing("assignment group", group_id)
    return access


@api.get("/courses/{course_id}/assignment_groups/{group_id:int}")
def get_assignment_group(
    store: CanvasStore, course_id: str, group_id: int, include: list[str] | None = None
) -> dict[str, Any]:
    return _group(store, _of_group(store, course_id, group_id), include or ())


@api.get("/courses/{course_id}/assignment_groups/{group_id:int}/assignments")
def list_group_assignments(store: CanvasStore, paging: Paged, course_id: str, group_id: int) -> Page:
    access = _of_group(store, course_id, group_id)
    return store.assignments.listed(access, paging).of(lambda row: assignment_view(row, access))


# -- rubrics ----------------------------------------------------------------------------------------------


class RatingFields(TypedDict, total=False):
    """A level at which a criterion can be met."""

    description: str
    long_description: str
    points: float


class CriterionFields(TypedDict, total=False):
    """One thing that a rubric judges."""

    description: str
    long_description: str
    points: float
    criterion_use_range: bool
    ratings: list[RatingFields]


class RubricFields(TypedDict, total=False):
    """Fields of a rubric from a client."""

    title: str
    description: str
    free_form_criterion_comments: bool
    hide_score_total: bool
    criteria: list[CriterionFields]


@api.get("/courses/{course_id}/rubrics")
def list_rubrics(store: CanvasStore, access: Reading, paging: Paged) -> Page:
    return store.assignments.rubrics(access.course["id"], paging).of(rubric_view)


@api.get("/courses/{course_id}/rubrics/{rubric_id:int}")
def get_rubric(store: CanvasStore, access: Reading, rubric_id: int) -> dict[str, Any]:
    return rubric_view(store.assignments.rubric(access.course["id"], rubric_id))


@api.post("/courses/{course_id}/rubrics")
def create_rubric(store: CanvasStore, access: Editing, rubric: RubricFields) -> dict[str, Any]:
    """Create a rubric; it is not tied to an assignment."""
    new: dict[str, Any] = {
        "title": rubric.get("title", ""),
        "description": rubric.get("description"),
        "free_form_criterion_comments": rubric.get("free_form_criterion_comments", False),
        "hide_score_total": rubric.get("hide_score_total", False),
        "criteria": [dict(criterion) for criterion in rubric.get("criteria", [])],
    }
    made = store.assignments.create_rubric(access.course["id"], new)
    return {"rubric": rubric_view(made)}


@api.put("/courses/{course_id}/rubrics/{rubric_id:int}")
def update_rubric(
    store: CanvasStore, access: Editing, rubric_id: int, rubric: RubricFields
) -> dict[str, Any]:
    """Update the given parts of a rubric."""
    given: Any = dict(rubric)
    if "criteria" in given:
        given["criteria"] = [dict(criterion) for criterion in given["criteria"]]
    return {"rubric": rubric_view(store.assignments.change_rubric(access.course["id"], rubric_id, given))}


@api.delete("/courses/{course_id}/rubrics/{rubric_id:int}")
def delete_rubric(store: CanvasStore, access: Editing, rubric_id: int) -> dict[str, Any]:
    return rubric_view(store.assignments.delete_rubric(access.course["id"], rubric_id))


def rubric_view(rubric: Row) -> Json:
    """A rubric; REST clients know its criteria as ``data``, too."""
    shown = rubric_json(rubric)
    return shown | {"data": shown["criteria"], "reusable": False, "read_only": False}
