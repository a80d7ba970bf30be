"""Submissions: handing in, grading, remarking; and the history of grades."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypedDict

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid
from mesocosm.servers.canvas.rest.api import Paged, Reading, UserId, api, course_key, reading, user_key
from mesocosm.servers.canvas.rest.assignments import assignment_view, submission_view
from mesocosm.servers.canvas.rest.files import file_view
from mesocosm.servers.canvas.store import CanvasStore, CourseAccess
from mesocosm.servers.canvas.store.access import denied
from mesocosm.servers.canvas.store.grading import is_excused
from mesocosm.servers.canvas.tools.assignments import attempt_json, comment_json
from mesocosm.servers.canvas.tools.objects import user_json
from mesocosm.servers.canvas.tools.service import Row
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Paging, same


class WorkFields(TypedDict, total=False):
    """Submitted work."""

    submission_type: str
    body: str
    url: str
    file_ids: list[int]


class CommentFields(TypedDict, total=False):
    """A remark on a submission."""

    text_comment: str


class GradeFields(TypedDict, total=False):
    """Grade from a grader."""

    posted_grade: str | float
    excuse: bool
    late_policy_status: str
    seconds_late_override: str | float


def submissions_view(
    store: CanvasStore,
    request: Request,
    access: CourseAccess,
    submissions: Sequence[Row],
    include: Collection[str] = (),
) -> list[Json]:
    """Submissions as the REST API gives them, with what ``include[]`` asks for."""
    assignments = {
        key: store.assignments.assignment(access, key) for key in {s["assignment_id"] for s in submissions}
    }
    shown = []
    for submission in submissions:
        view = _submission(store, access, submission, assignments[submission["assignment_id"]], include)
        if submission["file_ids"]:
            view["attachments"] = [
                file_view(request, file) for file in store.submissions.attached_files(submission)
            ]
        shown.append(view)
    return shown


def _submission(
    store: CanvasStore, access: CourseAccess, submission: Row, assignment: Row, include: Collection[str]
) -> Json:
    shown = submission_view(submission, assignment, access)
    if "submission_comments" in include:
        shown["submission_comments"] = _comments(store, submission)
    if "submission_history" in include:
        earlier = store.submissions.earlier_attempts(submission) if submission["id"] is not None else ()
        history = [attempt_json(attempt, assignment) | {"id": submission["id"]} for attempt in earlier]
        shown["submission_history"] = [*history, submission_view(submission, assignment, access)]
    if "assignment" in include:
        shown["assignment"] = assignment_view(assignment, access)
    if "course" in include:
        shown["course"] = {"id": access.course["id"], "name": access.course["name"]}
    if "user" in include:
        user = user_json(store.users.user(submission["user_id"]))
        shown["user"] = {name: user[name] for name in ("id", "name", "sortable_name", "short_name")}
    return shown


def _comments(store: CanvasStore, submission: Row) -> list[Json]:
    if submission["id"] is None:
        return []
    return [
        comment_json(comment)
        | {"edited_at": None, "author": {"id": comment["author_id"], "display_name": comment["author_name"]}}
        for comment in store.submissions.comments(submission)
    ]


@api.get("/courses/{course_id}/assignments/{assignment_id:int}/submissions")
def list_submissions(
    store: CanvasStore,
    request: Request,
    access: Reading,
    paging: Paged,
    assignment_id: int,
    include: list[str] | None = None,
) -> Page:
    """Every student's submission for an assignment."""
    store.assignments.assignment(access, assignment_id)
    listing = store.submissions.listed(access, paging, assignment_ids=[assignment_id])
    return listing.holding(submissions_view(store, request, access, listing.items, include or ()))


@api.get("/courses/{course_id}/students/submissions")
def list_multiple_submissions(
    store: CanvasStore,
    request: Request,
    access: Reading,
    paging: Paged,
    student_ids: list[str] | None = None,
    assignment_ids: list[int] | None = None,
    workflow_state: str | None = None,
    submitted_since: str | None = None,
    graded_since: str | None = None,
    grouped: bool = False,
    include: list[str] | None = None,
) -> Page:
    """Submissions of several students for several assignments; one's own if no students are named."""
    asked = student_ids or ["self"]
    users = None if "all" in asked else [user_key(store, key) for key in asked]
    listing = store.submissions.listed(
        access,
        paging,
        assignment_ids=assignment_ids,
        user_ids=users,
        workflow_state=workflow_state,
        submitted_since=submitted_since,
        graded_since=graded_since,
        by_user=True,
    )
    shown = submissions_view(store, request, access, listing.items, include or ())
    return listing.holding(_grouped(access, shown) if grouped else shown)


api.get("/sections/{course_id}/students/submissions")(list_multiple_submissions)


def _grouped(access: CourseAccess, submissions: list[Json]) -> list[Json]:
    groups: dict[int, list[Json]] = {}
    for submission in submissions:
        groups.setdefault(submission["user_id"], []).append(submission)
    section = access.course["id"]
    return [{"user_id": key, "section_id": section, "submissions": found} for key, found in groups.items()]


@api.get("/courses/{course_id}/assignments/{assignment_id:int}/submissions/{user_id}")
def get_submission(
    store: CanvasStore,
    request: Request,
    access: Reading,
    assignment_id: int,
    user_id: UserId,
    include: list[str] | None = None,
) -> dict[str, Any]:
    """One student's submission for an assignment."""
    submission = store.submissions.submission(access, assignment_id, user_id)
    return submissions_view(store, request, access, [submission], include or ())[0]


@api.post("/courses/{course_id}/assignments/{assignment_id:int}/submissions", status=201)
def submit(
    store: CanvasStore,
    request: Request,
    access: Reading,
    assignment_id: int,
    submission: WorkFields,
    comment: CommentFields | None = None,
) -> dict[str, Any]:
    """Hand in work."""
    made = store.submissions.submit(
        access,
        assignment_id,
        submission.get("submission_type", ""),
        submission.get("body"),
        submission.get("url"),
        submission.get("file_ids"),
    )
    if text := (comment or {}).get("text_comment"):
        made = store.submissions.comment_on(access, assignment_id, access.user_id, text)
    return submissions_view(store, request, access, [made], ("submission_comments",))[0]


@api.put("/courses/{course_id}/assignments/{assignment_id:int}/submissions/{user_id}")
def update_submission(
    store: CanvasStore,
    request: Request,
    course_id: str,
    assignment_id: int,
    user_id: str,
    submission: GradeFields | None = None,
    comment: CommentFields | None = None,
    rubric_assessment: dict[str, Any] | None = None,
    include: list[str] | None = None,
) -> dict[str, Any]:
    """Grade a submission or excuse from it, or remark on it, or both."""
    student, given = user_key(store, user_id), submission or {}
    text = (comment or {}).get("text_comment")
    access = store.access(course_key(store, course_id))
    if given or rubric_assessment:
        access = store.grading(access.course["id"])
        _refuse_unkept(given, rubric_assessment)
    if "excuse" in given:
        store.submissions.excuse(access, assignment_id, student, excused=given["excuse"])
    # As with Canvas, who is excused gets no grade.
    if "posted_grade" in given and not given.get("excuse"):
        made = store.submissions.grade(access, assignment_id, student, given["posted_grade"], text)
    else:
        access = reading(store, course_id)
        made = store.submissions.submission(access, assignment_id, student)
        if text is not None:
            made = store.submissions.comment_on(access, assignment_id, student, text)
    return submissions_view(store, request, access, [made], ("submission_comments", *(include or ())))[0]


def _refuse_unkept(given: GradeFields, rubric_assessment: dict[str, Any] | None) -> None:
    """Refuse lateness, which follows from times, and filled-in rubrics, which are not kept."""
    if given.get("late_policy_status") not in (None, "", "none"):
        raise Invalid("late_policy_status cannot be set here.", code="late_policy_status.invalid")
    if "seconds_late_override" in given:
        raise Invalid("seconds_late_override cannot be set here.", code="seconds_late_override.invalid")
    if rubric_assessment:
        raise Invalid("Rubric assessments are not kept here.", code="rubric_assessment.invalid")


@api.get("/users/{user_id}/missing_submissions")
def list_missing_submissions(store: CanvasStore, paging: Paged, user_id: UserId) -> Page:
    """The assignments that one has not handed in though they are due."""
    if user_id != store.user_id:
        raise denied()
    listing = store.submissions.missing_assignments(paging)
    accesses = {key: store.access(key) for key in {row["course_id"] for row in listing.items}}
    return listing.of(lambda row: assignment_view(row, accesses[row["course_id"]]))


@api.get("/courses/{course_id}/gradebook_history/feed")
def list_graded_versions(
    store: CanvasStore,
    access: Reading,
    paging: Paged,
    assignment_id: int | None = None,
    user_id: int | None = None,
) -> Page:
    """The grades that were given in a course."""
    listing = store.submissions.graded_versions(access, paging, assignment_id=assignment_id, user_id=user_id)
    return listing.of(lambda row: _version(row, access))


def _version(row: Row, access: CourseAccess) -> Json:
    assignment = {**row, "id": row["assignment_id"], "course_id": access.course["id"]}
    return attempt_json(row, assignment) | {
        **same(row, "id", "assignment_id", "assignment_name", "user_id", "user_name", "grader_id"),
        "grader": row["grader_name"],
        "graded_at": row["graded_at"],
        "current_grade": row["grade"],
        "new_grade": row["grade"],
        "previous_grade": None,
        "excused": is_excused(row),
        "workflow_state": row["workflow_state"],
    }


@api.get("/courses/{course_id}/assignments/{assignment_id:int}/submission_summary")
def get_submission_summary(store: CanvasStore, access: Reading, assignment_id: int) -> dict[str, Any]:
    """Count submitted and graded work."""
    counts = {
        state: store.submissions.listed(
            access, Paging(1, 1), assignment_ids=[assignment_id], workflow_state=state
        ).total
        for state in ("graded", "submitted", "unsubmitted")
    }
    waiting, rest = counts["submitted"], counts["unsubmitted"]
    return {"graded": counts["graded"], "ungraded": waiting, "not_submitted": rest}
