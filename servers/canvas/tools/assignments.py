"""Assignments, submissions and rubrics."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Required, TypedDict, Unpack

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.access import Clock, CourseId, address
from mesocosm.servers.canvas.store.assignments import ONLINE_TYPES, QUIZ_TYPE
from mesocosm.servers.canvas.tools.service import AssignmentId, Editing, Grading, Reading, Row, server
from mesocosm.services.schema import Json, Number
from mesocosm.services.service import Page, Paging, paged, same


def number(value: float | None) -> float | int | None:
    """A whole number without its ``.0``; one that no float holds exactly stays a float, as JSON has it."""
    return int(value) if value is not None and abs(value) < 2**53 and value == int(value) else value


def assignment_json(assignment: Row, *, staff: bool, clock: Clock) -> Json:
    """An assignment; students do not see the description of one that is not open yet."""
    course_id, key = assignment["course_id"], assignment["id"]
    unopened = not staff and assignment["unlock_at"] is not None and clock() < assignment["unlock_at"]
    is_quiz = assignment["quiz_id"] is not None
    shown: Json = {
        "id": key,
        "course_id": course_id,
        "name": assignment["name"],
        "description": None if unopened else assignment["description"],
        **same(assignment, "due_at", "unlock_at", "lock_at"),
        "points_possible": number(assignment["points_possible"]),
        "grading_type": assignment["grading_type"],
        "assignment_group_id": course_id,
        "grading_standard_id": None,
        "created_at": assignment["created_at"],
        "updated_at": assignment["updated_at"],
        "peer_reviews": False,
        "automatic_peer_reviews": False,
        "position": assignment["position"],
        "grade_group_students_individually": False,
        "anonymous_peer_reviews": False,
        "group_category_id": None,
        "post_to_sis": False,
        "moderated_grading": False,
        **same(assignment, "omit_from_final_grade", "submission_types", "allowed_attempts"),
        "is_quiz_assignment": is_quiz,
        "published": assignment["published"],
        "workflow_state": "published" if assignment["published"] else "unpublished",
        "locked_for_user": not staff and locked(assignment, clock),
        "html_url": _address(assignment),
    }
    if is_quiz:
        shown["quiz_id"] = assignment["quiz_id"]
    return shown


def _address(assignment: Row) -> str:
    return f"{address()}/courses/{assignment['course_id']}/assignments/{assignment['id']}"


def locked(work: Row, clock: Clock) -> bool:
    """True if work is not open yet, or closed already."""
    opens, closes = work["unlock_at"], work["lock_at"]
    return (opens is not None and opens > clock()) or (closes is not None and closes <= clock())


def submission_json(store: CanvasStore, submission: Row, assignment: Row) -> Json:
    """A submission with its comments and what was handed in before."""
    shown = bare_submission_json(submission, assignment, lambda: store.stamp)
    if submission["id"] is not None:
        if submission["file_ids"]:
            shown["attachments"] = [
                _attachment(file) for file in store.submissions.attached_files(submission)
            ]
        shown["submission_comments"] = [
            comment_json(comment) for comment in store.submissions.comments(submission)
        ]
        if earlier := store.submissions.earlier_attempts(submission):
            shown["submission_history"] = [attempt_json(attempt, assignment) for attempt in earlier]
    return shown


def bare_submission_json(submission: Row, assignment: Row, clock: Clock) -> Json:
    """A submission alone; whether it is late or missing follows from the due date."""
    owner = submission["user_id"]
    return {
        "id": submission["id"],
        "assignment_id": submission["assignment_id"],
        "user_id": owner,
        **attempt_json(submission, assignment),
        **same(submission, "graded_at", "grader_id", "workflow_state"),
        "grade_matches_current_submission": submission["graded_at"] is None
        or submission["graded_attempt"] == submission["attempt"],
        "published_grade": submission["grade"],
        "published_score": number(submission["score"]),
        "entered_grade": submission["grade"],
        "entered_score": number(submission["score"]),
        "grading_period_id": None,
        "missing": _missing(submission, assignment, clock),
        "preview_url": f"{_address(assignment)}/submissions/{owner}?preview=1",
    }


def attempt_json(attempt: Row, assignment: Row) -> Json:
    """Work that was handed in at one time, and the grade for it."""
    due_at, submitted_at = assignment["due_at"], attempt["submitted_at"]
    late = bool(due_at and submitted_at and submitted_at > due_at)
    return {
        **same(attempt, "attempt", "submission_type", "body", "url"),
        "submitted_at": submitted_at,
        "grade": attempt["grade"],
        "score": number(attempt["score"]),
        "late": late,
        "seconds_late": _seconds_between(due_at, submitted_at) if late else 0,
    }


def _missing(submission: Row, assignment: Row, clock: Clock) -> bool:
    expected = any(kind in (*ONLINE_TYPES, QUIZ_TYPE) for kind in assignment["submission_types"])
    handed_in = submission["submitted_at"] is not None or submission["graded_at"] is not None
    return (
        expected
        and not handed_in
        and assignment["due_at"] is not None
        and bool(assignment["due_at"] < clock())
    )


def _seconds_between(start: str, end: str) -> int:
    return int((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())


def _attachment(file: Row) -> Json:
    return {
        "id": file["id"],
        "display_name": file["display_name"],
        "content-type": file["content_type"],
        "size": file["size"],
    }


def comment_json(comment: Row) -> Json:
    """A remark on a submission."""
    return same(comment, "id", "author_id", "author_name", "comment", "created_at")


def rubric_json(rubric: Row) -> Json:
    """A rubric; the ids of its criteria and ratings follow from their order."""
    criteria = [
        {
            "id": f"_{rubric['id']}_{n}",
            **criterion,
            "points": number(criterion["points"]),
            "ratings": [
                {"id": f"_{rubric['id']}_{n}_{m}", **rating, "points": number(rating["points"])}
                for m, rating in enumerate(criterion["ratings"], 1)
            ],
        }
        for n, criterion in enumerate(rubric["criteria"], 1)
    ]
    return {
        "id": rubric["id"],
        "context_id": rubric["course_id"],
        "context_type": "Course",
        "title": rubric["title"],
        "description": rubric["description"],
        "points_possible": number(sum(criterion["points"] for criterion in rubric["criteria"])),
        "free_form_criterion_comments": rubric["free_form_criterion_comments"],
        "hide_score_total": rubric["hide_score_total"],
        "criteria": criteria,
    }


class AssignmentDetails(TypedDict, total=False):
    """What may be said of an assignment, new or not."""

    description: str
    points_possible: float
    due_at: str
    published: bool


class NewAssignment(AssignmentDetails, total=False):
    """What may be said of a new one."""

    name: Required[str]
    submission_types: list[str]


class AssignmentChanges(AssignmentDetails, total=False):
    """What may be said of one that is there."""

    name: str


@server.reads
def canvas_list_assignments(
    store: CanvasStore, access: Reading, paging: Annotated[Paging, paged("Assignments")]
) -> Page:
    """List the assignments of a course. Published graded quizzes are among them (is_quiz_assignment)."""
    listing = store.assignments.listed(access, paging)
    return listing.of(lambda row: assignment_json(row, staff=access.staff, clock=access.clock))


@server.reads
def canvas_get_assignment(store: CanvasStore, access: Reading, assignment_id: AssignmentId) -> dict[str, Any]:
    """Read one assignment."""
    return assignment_json(
        store.assignments.assignment(access, assignment_id), staff=access.staff, clock=access.clock
    )


@server.writes
def canvas_create_assignment(
    store: CanvasStore, access: Editing, **fields: Unpack[NewAssignment]
) -> dict[str, Any]:
    """Create an assignment, unpublished unless told otherwise. For the course's staff.

    Args:
        name: Name of the assignment.
        description: What is to be done, as HTML.
        points_possible: The most points that can be earned; 0 if left out.
        due_at: When it is due (ISO 8601); a date without a time means the end of that day, UTC.
        submission_types: online_text_entry, online_url, online_upload, on_paper, discussion_topic,
            external_tool, media_recording, student_annotation; or none, which is the default.
        published: Whether students see it.
    """
    return assignment_json(
        store.assignments.create_assignment(access, fields), staff=True, clock=access.clock
    )


@server.writes(destructive=True, idempotent=True)
def canvas_update_assignment(
    store: CanvasStore, access: Editing, assignment_id: AssignmentId, **changes: Unpack[AssignmentChanges]
) -> dict[str, Any]:
    """Change an assignment; what you leave out stays as it is. For the course's staff.

    Args:
        name: New name.
        description: New description, as HTML.
        points_possible: The most points that can be earned.
        due_at: When it is due (ISO 8601); a date without a time means the end of that day, empty means never.
        published: Whether students see it; refused for false when something was handed in.
    """
    assignment = store.assignments.update_assignment(access, assignment_id, changes)
    return assignment_json(assignment, staff=True, clock=access.clock)


# -- submissions ------------------------------------------------------------------------------------------


@server.reads
def canvas_get_submission(
    store: CanvasStore, access: Reading, assignment_id: AssignmentId, user_id: Number | None = None
) -> dict[str, Any]:
    """Read what a student handed in for an assignment, with its grade and comments.

    Nothing handed in yet shows as workflow_state unsubmitted, without an id.

    Args:
        user_id: The student, by default yourself; only graders and observers may see another's.
    """
    submission = store.submissions.submission(access, assignment_id, user_id)
    return submission_json(store, submission, store.assignments.assignment(access, assignment_id))


@server.writes
def canvas_submit_assignment(
    store: CanvasStore,
    access: Reading,
    assignment_id: AssignmentId,
    submission_type: Literal["online_text_entry", "online_url", "online_upload"],
    body: str | None = None,
    url: str | None = None,
    file_ids: list[Number] | None = None,
) -> dict[str, Any]:
    """Hand in your work for an assignment. Handing in again is a new attempt that replaces the last.

    Args:
        submission_type: What is handed in; the assignment must accept it.
        body: The text, for online_text_entry.
        url: The address, for online_url.
        file_ids: Ids of files that you have uploaded, for online_upload.
    """
    submission = store.submissions.submit(access, assignment_id, submission_type, body, url, file_ids)
    return submission_json(store, submission, store.assignments.assignment(access, assignment_id))


@server.writes(destructive=True)
def canvas_submit_grade(
    store: CanvasStore,
    access: Grading,
    assignment_id: AssignmentId,
    user_id: Number,
    grade: float | str,
    comment: str | None = None,
) -> dict[str, Any]:
    """Grade a student's work for an assignment, handed in or not. For teachers and assistants.

    Args:
        user_id: The student.
        grade: Points (13.5), a percentage ("87%"), a letter ("A-"), or complete/incomplete; empty to remove
            the grade.
        comment: A comment for the student.
    """
    submission = store.submissions.grade(access, assignment_id, user_id, grade, comment)
    return submission_json(store, submission, store.assignments.assignment(access, assignment_id))


# -- rubrics ----------------------------------------------------------------------------------------------


class Rating(TypedDict, total=False):
    """A level at which a criterion can be met."""

    description: str
    long_description: str
    points: float


class Criterion(TypedDict, total=False):
    """One thing that a rubric judges."""

    description: str
    long_description: str
    points: float
    criterion_use_range: bool
    ratings: list[Rating]


@server.reads
def canvas_list_rubrics(
    store: CanvasStore, course_id: CourseId, paging: Annotated[Paging, paged("Rubrics")]
) -> Page:
    """List the rubrics of a course. For its staff."""
    return store.assignments.rubrics(course_id, paging).of(rubric_json)


@server.reads
def canvas_get_rubric(store: CanvasStore, course_id: CourseId, rubric_id: Number) -> dict[str, Any]:
    """Read one rubric with its criteria and ratings. For the course's staff.

    Args:
        rubric_id: The rubric.
    """
    return rubric_json(store.assignments.rubric(course_id, rubric_id))


@server.writes
def canvas_create_rubric(
    store: CanvasStore,
    course_id: CourseId,
    title: str,
    description: str | None = None,
    free_form_criterion_comments: bool | None = None,
    hide_score_total: bool | None = None,
    criteria: list[Criterion] | None = None,
) -> dict[str, Any]:
    """Create a rubric in a course. For its staff.

    Args:
        title: Title of the rubric.
        description: What it is for.
        free_form_criterion_comments: Comments instead of ratings.
        hide_score_total: Do not show the total of the points.
        criteria: What is judged, each with description, points and ratings; without points a criterion is
            worth its best rating.
    """
    rubric: dict[str, Any] = {
        "title": title,
        "description": description,
        "free_form_criterion_comments": bool(free_form_criterion_comments),
        "hide_score_total": bool(hide_score_total),
        "criteria": [dict(criterion) for criterion in criteria or []],
    }
    return rubric_json(store.assignments.create_rubric(course_id, rubric))
