"""Quizzes, their questions, and attempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Required, TypedDict, Unpack

from mesocosm.servers.canvas.store import CanvasStore, CourseAccess
from mesocosm.servers.canvas.store.access import address
from mesocosm.servers.canvas.store.quizzes import kept_score
from mesocosm.servers.canvas.tools.assignments import locked, number
from mesocosm.servers.canvas.tools.service import Editing, QuestionId, QuizId, Reading, Row, server
from mesocosm.services.schema import Json, Number
from mesocosm.services.service import Page, Paging, paged, same


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


_UNLISTED = (
    "calculated_question",
    "essay_question",
    "fill_in_multiple_blanks_question",
    "matching_question",
    "numerical_question",
    "short_answer_question",
)


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


class QuizDetails(TypedDict, total=False):
    """What may be said of a quiz, new or not."""

    description: str
    quiz_type: str
    time_limit: Number
    due_at: str
    published: bool


class QuizChanges(QuizDetails, total=False):
    """What may be said of one that is there."""

    title: str
    shuffle_answers: bool
    allowed_attempts: Number
    scoring_policy: str
    access_code: str


class AnswerDetails(TypedDict, total=False):
    """An answer that a question offers; a weight of 100 is right, 0 wrong."""

    answer_text: str
    answer_weight: float
    answer_comments: str


class QuestionDetails(TypedDict, total=False):
    """What may be said of a question, new or not."""

    question_name: str
    points_possible: float
    answers: list[AnswerDetails]


class NewQuestion(QuestionDetails, total=False):
    """What may be said of a new one."""

    question_text: Required[str]
    question_type: str


class QuestionChanges(QuestionDetails, total=False):
    """What may be said of one that is there."""

    question_text: str


@server.reads
def canvas_list_quizzes(
    store: CanvasStore, access: Reading, paging: Annotated[Paging, paged("Quizzes")]
) -> Page:
    """List the quizzes of a course, with the number of questions and the points of each."""
    return store.quizzes.listed(access, paging).of(lambda quiz: quiz_json(quiz, access))


@server.reads
def canvas_get_quiz(store: CanvasStore, access: Reading, quiz_id: QuizId) -> dict[str, Any]:
    """Read one quiz, without its questions (see canvas_get_quiz_questions)."""
    return quiz_json(store.quizzes.quiz(access, quiz_id), access)


@server.writes
def canvas_create_quiz(
    store: CanvasStore, access: Editing, title: str, **details: Unpack[QuizDetails]
) -> dict[str, Any]:
    """Create a quiz without questions, unpublished unless told otherwise. For the course's staff.

    Args:
        title: Title of the quiz.
        description: Instructions, as HTML.
        quiz_type: assignment (graded, the default), practice_quiz, graded_survey or survey.
        time_limit: Minutes for an attempt; no limit if left out.
        due_at: When it is due (ISO 8601); a date without a time means the end of that day, UTC.
        published: Whether students see it.
    """
    return quiz_json(store.quizzes.create_quiz(access, {"title": title, **details}), access)


@server.writes(destructive=True, idempotent=True)
def canvas_update_quiz(
    store: CanvasStore, access: Editing, quiz_id: QuizId, **changes: Unpack[QuizChanges]
) -> dict[str, Any]:
    """Change a quiz; what you leave out stays as it is. For the course's staff.

    Args:
        title: New title.
        description: New instructions, as HTML.
        quiz_type: assignment (graded), practice_quiz, graded_survey or survey.
        time_limit: Minutes for an attempt.
        due_at: When it is due (ISO 8601); a date without a time means the end of that day, empty means never.
        published: Whether students see it; refused for false when somebody has begun it.
        shuffle_answers: Whether every student gets the answers in another order.
        allowed_attempts: How often a student may take it; -1 for any number.
        scoring_policy: Which attempt counts: keep_highest, keep_latest or keep_average.
        access_code: Code that students need to begin; empty for none.
    """
    return quiz_json(store.quizzes.update_quiz(access, quiz_id, changes), access)


@server.writes(idempotent=True)
def canvas_publish_quiz(store: CanvasStore, access: Editing, quiz_id: QuizId) -> dict[str, Any]:
    """Publish a quiz, so that students see it. For the course's staff."""
    return quiz_json(store.quizzes.update_quiz(access, quiz_id, {"published": True}), access)


@server.writes(destructive=True)
def canvas_delete_quiz(store: CanvasStore, access: Editing, quiz_id: QuizId) -> str:
    """Delete a quiz with its questions, attempts and grades. For the course's staff."""
    store.quizzes.delete_quiz(access, quiz_id)
    return f"Quiz {quiz_id} deleted successfully"


@server.writes
def canvas_start_quiz_attempt(
    store: CanvasStore, access: Reading, quiz_id: QuizId, access_code: str | None = None
) -> dict[str, Any]:
    """Begin an attempt at a quiz as a student; its time starts to run.

    Args:
        access_code: The code, for a quiz that needs one.
    """
    attempt = store.quizzes.start_attempt(access, quiz_id, access_code)
    attempts = store.quizzes.attempts(quiz_id, access.user_id)
    return quiz_submission_json(attempt, attempts, store.quizzes.quiz(access, quiz_id))


# -- questions --------------------------------------------------------------------------------------------


@server.reads
def canvas_get_quiz_questions(
    store: CanvasStore, access: Reading, quiz_id: QuizId, paging: Annotated[Paging, paged("Questions")]
) -> Page:
    """List the questions of a quiz. Students need to have begun an attempt, and are not shown the key."""
    listing = store.quizzes.questions(access, quiz_id, paging)
    return listing.of(lambda question: question_json(question, staff=access.staff))


@server.writes
def canvas_add_quiz_question(
    store: CanvasStore, access: Editing, quiz_id: QuizId, **question: Unpack[NewQuestion]
) -> dict[str, Any]:
    """Add a question at the end of a quiz. For the course's staff.

    Args:
        question_text: The question, as HTML.
        question_name: A short name for it.
        question_type: For example multiple_choice_question (the default with answers), true_false_question,
            multiple_answers_question, short_answer_question, numerical_question, essay_question,
            text_only_question (the default without answers).
        points_possible: Points for the right answer; 1 if left out.
        answers: The answers to choose from, each with answer_text and answer_weight (100 right, 0 wrong).
    """
    return question_json(store.quizzes.add_question(access, quiz_id, question), staff=True)


@server.writes(destructive=True, idempotent=True)
def canvas_update_quiz_question(
    store: CanvasStore,
    access: Editing,
    quiz_id: QuizId,
    question_id: QuestionId,
    **changes: Unpack[QuestionChanges],
) -> dict[str, Any]:
    """Change a question of a quiz; what you leave out stays as it is. For the course's staff.

    Args:
        question_name: New short name.
        question_text: New text, as HTML.
        points_possible: Points for the right answer.
        answers: All answers anew, each with answer_text and answer_weight (100 right, 0 wrong).
    """
    return question_json(store.quizzes.update_question(access, quiz_id, question_id, changes), staff=True)


@server.writes(destructive=True)
def canvas_delete_quiz_question(
    store: CanvasStore, access: Editing, quiz_id: QuizId, question_id: QuestionId
) -> str:
    """Delete a question of a quiz. For the course's staff."""
    store.quizzes.delete_question(access, quiz_id, question_id)
    return f"Question {question_id} deleted successfully"
