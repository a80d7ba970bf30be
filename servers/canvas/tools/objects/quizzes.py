"""Quizzes, questions and attempts."""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.servers.canvas.store import CourseAccess
from mesocosm.servers.canvas.store.quizzes import kept_score
from mesocosm.servers.canvas.tools.objects.assignments import locked
from mesocosm.servers.canvas.tools.objects.values import Row, address, number
from mesocosm.services.schema import Json
from mesocosm.services.shapes import same


def _page(quiz: Row) -> str:
    return f"{address()}/courses/{quiz['course_id']}/quizzes/{quiz['id']}"


def quiz_json(quiz: Row, access: CourseAccess) -> Json:
    """A quiz without its questions; the access code is for the course's staff."""
    shown: Json = {
        **same(quiz, "id", "course_id", "title", "description", "quiz_type", "time_limit", "due_at"),
        **same(quiz, "unlock_at", "lock_at", "published", "question_count"),
        "points_possible": number(quiz["points_possible"]),
        **same(quiz, "allowed_attempts", "scoring_policy", "shuffle_answers", "show_correct_answers"),
        "assignment_id": quiz["assignment_id"],
        "has_access_code": quiz["access_code"] is not None,
        "locked_for_user": not access.staff and locked(quiz, access.clock),
        "html_url": _page(quiz),
    }
    return shown | ({"access_code": quiz["access_code"]} if access.staff else {})


def question_json(question: Row, *, staff: bool) -> Json:
    """A question; which answers are right is for the course's staff."""
    hidden = () if staff else ("answer_weight", "answer_comments")
    answers = [{k: v for k, v in answer.items() if k not in hidden} for answer in question["answers"]]
    return {
        **same(question, "id", "quiz_id", "position", "question_name", "question_text", "question_type"),
        "points_possible": number(question["points_possible"]),
        # The answers of these are the key itself, not a choice.
        "answers": answers if staff or question["question_type"] not in _UNLISTED else [],
    }


_UNLISTED = (
    "calculated_question",
    "essay_question",
    "fill_in_multiple_blanks_question",
    "matching_question",
    "numerical_question",
    "short_answer_question",
)


def quiz_submission_json(attempt: Row, attempts: Sequence[Row], quiz: Row) -> Json:
    """An attempt at a quiz."""
    scores = [other["score"] for other in attempts if other["score"] is not None]
    allowed = quiz["allowed_attempts"]
    return {
        **same(attempt, "id", "quiz_id", "user_id", "attempt", "started_at", "end_at", "finished_at"),
        "workflow_state": attempt["workflow_state"],
        "score": number(attempt["score"]),
        "kept_score": number(kept_score(quiz["scoring_policy"], scores)),
        "quiz_points_possible": number(quiz["points_possible"]),
        "attempts_left": -1 if allowed < 0 else allowed - len(attempts),
        "html_url": f"{_page(quiz)}/submissions/{attempt['id']}",
    }
