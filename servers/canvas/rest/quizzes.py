"""Quizzes, their questions, and attempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import orjson

from mesocosm.doors.request import Request
from mesocosm.doors.rest import link_header
from mesocosm.servers.canvas.rest.api import Editing, Paged, Reading, api
from mesocosm.servers.canvas.store import CanvasStore, CourseAccess
from mesocosm.servers.canvas.tools.quizzes import question_json, quiz_json, quiz_submission_json
from mesocosm.servers.canvas.tools.service import Row, unguessable
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Paging, Reply


class QuizFields(TypedDict, total=False):
    """Fields of a quiz from a client."""

    title: str
    description: str
    quiz_type: str
    time_limit: int
    due_at: str
    unlock_at: str
    lock_at: str
    shuffle_answers: bool
    show_correct_answers: bool
    allowed_attempts: int
    scoring_policy: str
    access_code: str
    published: bool


class AnswerFields(TypedDict, total=False):
    """An answer of a question."""

    answer_text: str
    answer_weight: float
    answer_comments: str
    text: str
    weight: float
    comments: str


class QuestionFields(TypedDict, total=False):
    """Fields of a question from a client."""

    question_name: str
    question_text: str
    question_type: str
    points_possible: float
    answers: list[AnswerFields]


def _quiz(quiz: Row, access: CourseAccess) -> Json:
    shown = quiz_json(quiz, access)
    return shown | {
        "mobile_url": shown["html_url"],
        "one_question_at_a_time": False,
        "cant_go_back": False,
        "assignment_group_id": quiz["course_id"],
        "unpublishable": access.staff,
        "version_number": 1,
        "question_types": [],
        "permissions": {"read": True, "submit": access.studies, "manage": access.edits},
    }


def _question(question: Row, *, staff: bool) -> Json:
    shown = question_json(question, staff=staff)
    # Canvas takes answers as answer_text and gives them as text.
    answers = [
        {name.removeprefix("answer_"): value for name, value in answer.items()} for answer in shown["answers"]
    ]
    return shown | {"answers": answers}


@api.get("/courses/{course_id}/quizzes")
def list_quizzes(store: CanvasStore, access: Reading, paging: Paged, search_term: str | None = None) -> Page:
    listing = store.quizzes.listed(access, paging, search_term=search_term)
    return listing.of(lambda quiz: _quiz(quiz, access))


@api.get("/courses/{course_id}/quizzes/{quiz_id:int}")
def get_quiz(store: CanvasStore, access: Reading, quiz_id: int) -> dict[str, Any]:
    return _quiz(store.quizzes.quiz(access, quiz_id), access)


@api.post("/courses/{course_id}/quizzes")
def create_quiz(store: CanvasStore, access: Editing, quiz: QuizFields) -> dict[str, Any]:
    return _quiz(store.quizzes.create_quiz(access, {"title": "", **quiz}), access)


@api.put("/courses/{course_id}/quizzes/{quiz_id:int}")
def update_quiz(store: CanvasStore, access: Editing, quiz_id: int, quiz: QuizFields) -> dict[str, Any]:
    """Change a quiz."""
    return _quiz(store.quizzes.update_quiz(access, quiz_id, dict(quiz)), access)


@api.delete("/courses/{course_id}/quizzes/{quiz_id:int}")
def delete_quiz(store: CanvasStore, access: Editing, quiz_id: int) -> dict[str, Any]:
    shown = _quiz(store.quizzes.quiz(access, quiz_id), access)
    store.quizzes.delete_quiz(access, quiz_id)
    return shown


# -- questions --------------------------------------------------------------------------------------------


@api.get("/courses/{course_id}/quizzes/{quiz_id:int}/questions")
def list_questions(store: CanvasStore, access: Reading, paging: Paged, quiz_id: int) -> Page:
    listing = store.quizzes.questions(access, quiz_id, paging)
    return listing.of(lambda question: _question(question, staff=access.staff))


@api.get("/courses/{course_id}/quizzes/{quiz_id:int}/questions/{question_id:int}")
def get_question(store: CanvasStore, access: Reading, quiz_id: int, question_id: int) -> dict[str, Any]:
    store.quizzes.questions(access, quiz_id, Paging(1, 1))  # refuses who may not see them
    return _question(store.quizzes.question(access, quiz_id, question_id), staff=access.staff)


@api.post("/courses/{course_id}/quizzes/{quiz_id:int}/questions")
def create_question(
    store: CanvasStore, access: Editing, quiz_id: int, question: QuestionFields
) -> dict[str, Any]:
    """Add a question to a quiz."""
    return _question(
        store.quizzes.add_question(access, quiz_id, {"question_text": "", **question}), staff=True
    )


@api.put("/courses/{course_id}/quizzes/{quiz_id:int}/questions/{question_id:int}")
def update_question(
    store: CanvasStore, access: Editing, quiz_id: int, question_id: int, question: QuestionFields
) -> dict[str, Any]:
    """Change a question."""
    return _question(store.quizzes.update_question(access, quiz_id, question_id, dict(question)), staff=True)


@api.delete("/courses/{course_id}/quizzes/{quiz_id:int}/questions/{question_id:int}")
def delete_question(store: CanvasStore, access: Editing, quiz_id: int, question_id: int) -> None:
    store.quizzes.delete_question(access, quiz_id, question_id)


# -- attempts ---------------------------------------------------------------------------------------------


def _attempts(store: CanvasStore, quiz: Row, attempts: Sequence[Row]) -> dict[str, Any]:
    return {"quiz_submissions": [_attempt(store, quiz, attempt) for attempt in attempts]}


def _attempt(store: CanvasStore, quiz: Row, attempt: Row) -> Json:
    shown = quiz_submission_json(attempt, store.quizzes.attempts(quiz["id"], attempt["user_id"]), quiz)
    shown |= {"submission_id": None, "extra_time": None, "extra_attempts": None, "fudge_points": None}
    if attempt["workflow_state"] == "untaken" and attempt["user_id"] == store.user_id:
        shown["validation_token"] = unguessable("quiz submission", attempt["id"])
    return shown


@api.get("/courses/{course_id}/quizzes/{quiz_id:int}/submissions")
def list_attempts(
    store: CanvasStore, request: Request, access: Reading, paging: Paged, quiz_id: int
) -> Reply:
    """The attempts at a quiz that count: the last of every student, or one's own."""
    quiz = store.quizzes.quiz(access, quiz_id)
    listing = store.quizzes.last_attempts(access, quiz_id, paging)
    shown = listing.holding([])
    links = link_header(shown, request, ("current", "next", "prev", "first", "last"))
    return Reply(orjson.dumps(_attempts(store, quiz, listing.items)), headers={"Link": links})


@api.get("/courses/{course_id}/quizzes/{quiz_id:int}/submission")
def get_own_attempt(store: CanvasStore, access: Reading, quiz_id: int) -> dict[str, Any]:
    """One's own last attempt."""
    quiz = store.quizzes.quiz(access, quiz_id)
    return _attempts(store, quiz, store.quizzes.attempts(quiz_id, access.user_id)[-1:])


@api.get("/courses/{course_id}/quizzes/{quiz_id:int}/submissions/{attempt_id:int}")
def get_attempt(store: CanvasStore, access: Reading, quiz_id: int, attempt_id: int) -> dict[str, Any]:
    quiz = store.quizzes.quiz(access, quiz_id)
    return _attempts(store, quiz, [store.quizzes.attempt(access, quiz_id, attempt_id)])


@api.post("/courses/{course_id}/quizzes/{quiz_id:int}/submissions")
def start_attempt(
    store: CanvasStore, access: Reading, quiz_id: int, access_code: str | None = None
) -> dict[str, Any]:
    """Begin an attempt."""
    attempt = store.quizzes.start_attempt(access, quiz_id, access_code)
    return _attempts(store, store.quizzes.quiz(access, quiz_id), [attempt])


@api.get("/courses/{course_id}/quizzes/{quiz_id:int}/submissions/{attempt_id:int}/time")
def get_times(store: CanvasStore, access: Reading, quiz_id: int, attempt_id: int) -> dict[str, Any]:
    """Return the time left for an attempt, in seconds."""
    attempt = store.quizzes.attempt(access, quiz_id, attempt_id)
    return {"end_at": attempt["end_at"], "time_left": store.quizzes.seconds_left(attempt)}
