"""Assignments, submissions and rubrics."""

from __future__ import annotations

from typing import Any, Literal, Required, TypedDict, Unpack

from mesocosm.servers.canvas.store import CanvasStore, NewRubric
from mesocosm.servers.canvas.tools.objects import assignment_json, rubric_json, submission_json
from mesocosm.servers.canvas.tools.service import AssignmentId, CourseId, PageNumber, page_of, server
from mesocosm.services.schema import Number
from mesocosm.services.service import Page


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
    store: CanvasStore, course_id: CourseId, page: PageNumber = 1, per_page: int = 10
) -> Page:
    """List the assignments of a course. Published graded quizzes are among them (is_quiz_assignment).

    Args:
        per_page: Assignments per page, 1 to 100.
    """
    access = store.reading(course_id)
    listing = store.assignments.listed(access, page, per_page)
    return page_of(listing, lambda row: assignment_json(row, staff=access.staff, clock=access.clock))


@server.reads
def canvas_get_assignment(
    store: CanvasStore, course_id: CourseId, assignment_id: AssignmentId
) -> dict[str, Any]:
    """Read one assignment."""
    access = store.reading(course_id)
    return assignment_json(
        store.assignments.assignment(access, assignment_id), staff=access.staff, clock=access.clock
    )


@server.writes
def canvas_create_assignment(
    store: CanvasStore, course_id: Number, **fields: Unpack[NewAssignment]
) -> dict[str, Any]:
    """Create an assignment, unpublished unless told otherwise. For the course's staff.

    Args:
        course_id: The course.
        name: Name of the assignment.
        description: What is to be done, as HTML.
        points_possible: The most points that can be earned; 0 if left out.
        due_at: When it is due (ISO 8601); a date without a time means the end of that day, UTC.
        submission_types: online_text_entry, online_url, online_upload, on_paper, discussion_topic,
            external_tool, media_recording, student_annotation; or none, which is the default.
        published: Whether students see it.
    """
    access = store.editing(course_id)
    return assignment_json(
        store.assignments.create_assignment(access, fields), staff=True, clock=access.clock
    )


@server.writes(destructive=True, idempotent=True)
def canvas_update_assignment(
    store: CanvasStore, course_id: Number, assignment_id: Number, **changes: Unpack[AssignmentChanges]
) -> dict[str, Any]:
    """Change an assignment; what you leave out stays as it is. For the course's staff.

    Args:
        course_id: The course.
        assignment_id: The assignment.
        name: New name.
        description: New description, as HTML.
        points_possible: The most points that can be earned.
        due_at: When it is due (ISO 8601); a date without a time means the end of that day, empty means never.
        published: Whether students see it; refused for false when something was handed in.
    """
    access = store.editing(course_id)
    assignment = store.assignments.update_assignment(access, assignment_id, changes)
    return assignment_json(assignment, staff=True, clock=access.clock)


# -- submissions ------------------------------------------------------------------------------------------


@server.reads
def canvas_get_submission(
    store: CanvasStore, course_id: CourseId, assignment_id: AssignmentId, user_id: Number | None = None
) -> dict[str, Any]:
    """Read what a student handed in for an assignment, with its grade and comments.

    Nothing handed in yet shows as workflow_state unsubmitted, without an id.

    Args:
        user_id: The student, by default yourself; only graders and observers may see another's.
    """
    access = store.reading(course_id)
    submission = store.submissions.submission(access, assignment_id, user_id)
    return submission_json(store, submission, store.assignments.assignment(access, assignment_id))


@server.writes
def canvas_submit_assignment(
    store: CanvasStore,
    course_id: CourseId,
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
    access = store.reading(course_id)
    submission = store.submissions.submit(access, assignment_id, submission_type, body, url, file_ids)
    return submission_json(store, submission, store.assignments.assignment(access, assignment_id))


@server.writes(destructive=True)
def canvas_submit_grade(
    store: CanvasStore,
    course_id: CourseId,
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
    access = store.grading(course_id)
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
    store: CanvasStore, course_id: CourseId, page: PageNumber = 1, per_page: int = 10
) -> Page:
    """List the rubrics of a course. For its staff.

    Args:
        per_page: Rubrics per page, 1 to 100.
    """
    return page_of(store.assignments.rubrics(course_id, page, per_page), rubric_json)


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
    rubric: NewRubric = {
        "title": title,
        "description": description,
        "free_form_criterion_comments": bool(free_form_criterion_comments),
        "hide_score_total": bool(hide_score_total),
        "criteria": [dict(criterion) for criterion in criteria or []],
    }
    return rubric_json(store.assignments.create_rubric(course_id, rubric))
