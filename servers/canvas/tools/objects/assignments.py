"""Assignments, submissions and rubrics."""

from __future__ import annotations

from datetime import datetime

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.access import Clock
from mesocosm.servers.canvas.store.assignments import ONLINE_TYPES, QUIZ_TYPE
from mesocosm.servers.canvas.tools.objects.values import Row, address, number
from mesocosm.services.schema import Json
from mesocosm.services.shapes import same


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
    """Whether work is not open yet, or closed already."""
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
    """What was handed in at one time, and the grade for it."""
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
