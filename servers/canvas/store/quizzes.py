"""Quizzes, their questions and the attempts at them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, exists, func, or_, select

from mesocosm.errors import Conflict, Denied, Invalid
from mesocosm.servers.canvas.models import Assignment, Quiz, QuizQuestion, QuizSubmission, usual
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import STUDENT, CourseAccess, CourseRows, Lister, StorePart, denied
from mesocosm.servers.canvas.store.assignments import QUIZ_TYPE
from mesocosm.services.service import Page, Paging, Row
from mesocosm.services.values import Checks, checked

QUESTION_TYPES = (
    "calculated_question",
    "essay_question",
    "file_upload_question",
    "fill_in_multiple_blanks_question",
    "matching_question",
    "multiple_answers_question",
    "multiple_choice_question",
    "multiple_dropdowns_question",
    "numerical_question",
    "short_answer_question",
    "text_only_question",
    "true_false_question",
)
MAX_ANSWERS = 100


NEW_QUESTION: dict[str, Any] = {
    "question_name": "Question",
    "points_possible": 1.0,
    "answers": [],
}


def _checked_answer(number: int, answer: Row) -> dict[str, Any]:
    """An answer in Canvas's form; it is given as ``answer_text`` and so on, or as ``text`` and so on."""
    known: dict[str, Any] = {"id": number, "answer_text": "", "answer_weight": 0}
    for name, value in answer.items():
        field = name if name.startswith("answer_") else f"answer_{name}"
        if field == "answer_text":
            known[field] = _text_of(field, value)
        elif field == "answer_weight":
            known[field] = _weight_of(value)
        elif field == "answer_comments":
            known[field] = _text_of(field, value)
        elif name != "id":
            raise Invalid(
                f"Unknown field {name[:40]!r} of an answer: use answer_text, answer_weight, answer_comments."
            )
    if not known["answer_text"].strip():
        raise Invalid("answer_text can't be blank")
    return known


def _text_of(field: str, value: Any) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return values.text(str(value), field, limit=16_384)
    raise Invalid(f"{field} must be text")


def _weight_of(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100:
        return value
    raise Invalid("answer_weight must be a number from 0 (wrong) to 100 (right)")


def _answers(answers: list[Row], name: str) -> list[Row]:
    if len(answers) > MAX_ANSWERS:
        raise Invalid(f"{name} must be at most {MAX_ANSWERS}")
    return [_checked_answer(number, answer) for number, answer in enumerate(answers, 1)]


QUESTION: Checks = {
    "question_text": values.filled,
    "question_name": values.title,
    "question_type": values.one_of(QUESTION_TYPES),
    "points_possible": values.number,
    "answers": _answers,
}
"""Checks of a question's fields."""


def filled_question(question: Row) -> dict[str, Any]:
    """A generator's question as the tables keep it."""
    row: dict[str, Any] = {**NEW_QUESTION, "question_type": "multiple_choice_question", **question}
    values.choice(row["question_type"], "question_type", QUESTION_TYPES)
    row["answers"] = [_checked_answer(n, answer) for n, answer in enumerate(row["answers"], 1)]
    return row


QUIZ_TYPES = ("practice_quiz", "assignment", "graded_survey", "survey")
GRADED_TYPES = ("assignment", "graded_survey")
SCORING_POLICIES = ("keep_highest", "keep_latest", "keep_average")


_COUNT = (
    select(func.count())
    .where(QuizQuestion.quiz_id == Quiz.id, QuizQuestion.question_type != "text_only_question")
    .scalar_subquery()
    .label("question_count")
)
_POINTS = (
    select(func.coalesce(func.sum(QuizQuestion.points_possible), 0.0))
    .where(QuizQuestion.quiz_id == Quiz.id)
    .scalar_subquery()
    .label("points_possible")
)
_ASSIGNMENT_ID = (
    select(Assignment.id).where(Assignment.quiz_id == Quiz.id).scalar_subquery().label("assignment_id")
)
_QUIZ_COLUMNS = select(*Quiz.__table__.c, _COUNT, _POINTS, _ASSIGNMENT_ID)
_QUIZZES = CourseRows("quiz", Quiz, shown=Quiz.published, search=(Quiz.title,), columns=_QUIZ_COLUMNS)
_QUESTIONS = CourseRows("quiz question", QuizQuestion, QuizQuestion.position, inside=QuizQuestion.quiz_id)
_LAST_POSITION = select(func.coalesce(func.max(QuizQuestion.position), 0).label("last")).where(
    QuizQuestion.quiz_id == bindparam("quiz")
)
_ATTEMPTS = (
    select(*QuizSubmission.__table__.c)
    .where(QuizSubmission.quiz_id == bindparam("quiz"), QuizSubmission.user_id == bindparam("user"))
    .order_by(QuizSubmission.attempt)
)
_ATTEMPT = select(*QuizSubmission.__table__.c).where(
    QuizSubmission.quiz_id == bindparam("quiz"), QuizSubmission.id == bindparam("attempt")
)
_LATER = QuizSubmission.__table__.alias("later")
_LAST_ATTEMPTS = Lister(
    select(*QuizSubmission.__table__.c)
    .where(
        QuizSubmission.quiz_id == bindparam("quiz"),
        or_(QuizSubmission.user_id == bindparam("user"), bindparam("everybody")),
        ~exists().where(
            _LATER.c.quiz_id == QuizSubmission.quiz_id,
            _LATER.c.user_id == QuizSubmission.user_id,
            _LATER.c.attempt > QuizSubmission.attempt,
        ),
    )
    .order_by(QuizSubmission.id)
)
_ATTEMPTED = select(exists().where(QuizSubmission.quiz_id == bindparam("quiz")).label("found"))
_BY_ID = _QUIZ_COLUMNS.where(Quiz.id.in_(bindparam("quizzes", expanding=True)))


class Quizzes(StorePart):
    """Quizzes. A graded quiz has an assignment from its first publication on, which carries its grades."""

    # -- reading ----------------------------------------------------------------------------------------

    def listed(self, access: CourseAccess, paging: Paging, *, search_term: str | None = None) -> Page:
        """The quizzes of a course that the user may see and that match."""
        return self.rows(_QUIZZES, access, paging, search_term=search_term)

    def quiz(self, access: CourseAccess, quiz_id: int) -> Row:
        """A quiz that the user may see."""
        return self.row(_QUIZZES, access, quiz_id)

    def questions(self, access: CourseAccess, quiz_id: int, paging: Paging) -> Page:
        """The questions of a quiz: for the course's staff, and for students who have begun an attempt."""
        self.quiz(access, quiz_id)
        if not access.staff and not self.fetch(_ATTEMPTS, quiz=quiz_id, user=access.user_id):
            raise denied()
        return self.rows(_QUESTIONS, access, paging, inside=quiz_id)

    def question(self, access: CourseAccess, quiz_id: int, question_id: int) -> Row:
        return self.row(_QUESTIONS, access, question_id, quiz_id)

    # -- writing ----------------------------------------------------------------------------------------

    def create_quiz(self, access: CourseAccess, fields: Mapping[str, Any]) -> Row:
        """Create a quiz without questions; unpublished unless told otherwise."""
        new = {
            **usual(Quiz),
            "published": False,
            **checked(fields, _CHECKS),
            "course_id": access.course["id"],
        }
        quiz = self.insert(Quiz(**{**new, "created_at": self.stamp, "updated_at": self.stamp}))
        self._follow(access, quiz.id)
        return self.quiz(access, quiz.id)

    def update_quiz(self, access: CourseAccess, quiz_id: int, fields: Mapping[str, Any]) -> Row:
        """Change a quiz, and the assignment that belongs to it."""
        quiz = self.quiz(access, quiz_id)
        changes = checked(fields, _CHECKS)
        if changes.get("published") is False and quiz["published"] and self._attempted(quiz_id):
            message = "Can't unpublish if there are student submissions"
            raise Invalid(message, code="published.invalid")
        self.change(Quiz, quiz_id, changes | {"updated_at": self.stamp})
        self._follow(access, quiz_id)
        return self.quiz(access, quiz_id)

    def delete_quiz(self, access: CourseAccess, quiz_id: int) -> None:
        """Delete a quiz with its questions, attempts, assignment and the module items that point to it."""
        self.quiz(access, quiz_id)
        self.store.modules.remove_items("Quiz", quiz_id)
        self.remove(Quiz, quiz_id)

    def add_question(self, access: CourseAccess, quiz_id: int, fields: Mapping[str, Any]) -> Row:
        """Add a question at the end of a quiz."""
        self.quiz(access, quiz_id)
        position = self.fetch(_LAST_POSITION, quiz=quiz_id)[0]["last"] + 1
        default_type = "multiple_choice_question" if fields.get("answers") else "text_only_question"
        new = {**NEW_QUESTION, "question_type": default_type, **checked(fields, QUESTION)}
        question = self.insert(QuizQuestion(quiz_id=quiz_id, position=position, **new))
        self._touch(access, quiz_id)
        return self.question(access, quiz_id, question.id)

    def update_question(
        self, access: CourseAccess, quiz_id: int, question_id: int, fields: Mapping[str, Any]
    ) -> Row:
        """Change a question."""
        self.quiz(access, quiz_id)
        self.question(access, quiz_id, question_id)
        self.change(QuizQuestion, question_id, checked(fields, QUESTION))
        self._touch(access, quiz_id)
        return self.question(access, quiz_id, question_id)

    def delete_question(self, access: CourseAccess, quiz_id: int, question_id: int) -> None:
        self.quiz(access, quiz_id)
        self.question(access, quiz_id, question_id)
        self.remove(QuizQuestion, question_id)
        self._touch(access, quiz_id)

    def _touch(self, access: CourseAccess, quiz_id: int) -> None:
        self.change(Quiz, quiz_id, {"updated_at": self.stamp})
        self._follow(access, quiz_id)

    def _attempted(self, quiz_id: int) -> bool:
        return bool(self.fetch(_ATTEMPTED, quiz=quiz_id)[0]["found"])

    def _follow(self, access: CourseAccess, quiz_id: int) -> None:
        """Let the assignment of a quiz follow the quiz."""
        quiz = self.quiz(access, quiz_id)
        graded = quiz["quiz_type"] in GRADED_TYPES
        if quiz["assignment_id"] is None:
            if graded and quiz["published"]:
                self.store.assignments.add_assignments([_assignment_of(quiz)])
        else:
            followed = dict(_assignment_of(quiz), published=bool(quiz["published"] and graded))
            del followed["created_at"], followed["course_id"], followed["submission_types"]
            self.change(Assignment, quiz["assignment_id"], {**followed, "updated_at": self.stamp})

    # -- attempts ---------------------------------------------------------------------------------------

    def start_attempt(self, access: CourseAccess, quiz_id: int, access_code: str | None = None) -> Row:
        """Begin an attempt at a quiz as the signed-in student."""
        quiz = self.quiz(access, quiz_id)
        if not access.studies:
            raise denied()
        if quiz["unlock_at"] and access.now < quiz["unlock_at"]:
            raise Denied(f"This quiz is locked until {quiz['unlock_at']}.")
        if quiz["lock_at"] and access.now >= quiz["lock_at"]:
            raise Denied(f"This quiz was locked at {quiz['lock_at']}.")
        if quiz["access_code"] and access_code != quiz["access_code"]:
            raise Denied("invalid access code" if access_code else "access code required")
        attempts = self.attempts(quiz_id, access.user_id)
        if attempts and attempts[-1]["workflow_state"] == "untaken":
            raise Conflict("a quiz submission already exists")
        if 0 < quiz["allowed_attempts"] <= len(attempts):
            raise Conflict("a quiz submission already exists: no attempts are left")
        self._settle(quiz_id, access.user_id)
        self.insert(
            QuizSubmission(
                quiz_id=quiz_id,
                user_id=access.user_id,
                attempt=len(attempts) + 1,
                started_at=self.stamp,
                end_at=self._end_of(quiz),
                finished_at=None,
                workflow_state="untaken",
                score=None,
            )
        )
        return self.attempts(quiz_id, access.user_id)[-1]

    def attempts(self, quiz_id: int, user_id: int) -> list[dict[str, Any]]:
        """List a student's attempts. An expired one counts as complete and unanswered."""
        attempts = [dict(row) for row in self.fetch(_ATTEMPTS, quiz=quiz_id, user=user_id)]
        now = self.stamp
        for attempt in attempts:
            if attempt["workflow_state"] == "untaken" and (attempt["end_at"] or "9") <= now:
                attempt |= {"workflow_state": "complete", "finished_at": attempt["end_at"], "score": 0.0}
        return attempts

    def last_attempts(self, access: CourseAccess, quiz_id: int, paging: Paging) -> Page:
        """The last attempt of every student at a quiz; students see their own only."""
        self.quiz(access, quiz_id)
        everybody = access.sees_grades
        listing = self.listing(_LAST_ATTEMPTS, paging, quiz=quiz_id, user=access.user_id, everybody=everybody)
        return Page([self._current(row) for row in listing.items], *paging, listing.total)

    def attempt(self, access: CourseAccess, quiz_id: int, attempt_id: int) -> Row:
        """An attempt at a quiz that the user may see."""
        self.quiz(access, quiz_id)
        row = self.one(_ATTEMPT, "quiz submission", attempt_id, quiz=quiz_id, attempt=attempt_id)
        if not access.may_see_work_of(row["user_id"]):
            raise denied()
        return self._current(row)

    def _current(self, attempt: Row) -> Row:
        """An attempt as it counts now: the store knows when its time is up."""
        own = self.attempts(attempt["quiz_id"], attempt["user_id"])
        return next(row for row in own if row["id"] == attempt["id"])

    def seconds_left(self, attempt: Row) -> int | None:
        """Return the seconds left in an attempt; ``None`` without a limit."""
        if attempt["end_at"] is None:
            return None
        return max(0, int((datetime.fromisoformat(attempt["end_at"]) - self.now).total_seconds()))

    def _settle(self, quiz_id: int, user_id: int) -> None:
        """Store the final state of expired attempts, as ``attempts`` shows it."""
        for attempt in self.attempts(quiz_id, user_id):
            self.change(QuizSubmission, attempt["id"], {k: attempt[k] for k in _OUTCOME})

    def _end_of(self, quiz: Row) -> str | None:
        ends = [quiz["lock_at"]] if quiz["lock_at"] else []
        if quiz["time_limit"]:
            ends.append(values.timestamp(self.now + timedelta(minutes=quiz["time_limit"])))
        return min(ends, default=None)

    # -- filling ----------------------------------------------------------------------------------------

    def add_quizzes(self, quizzes: Sequence[Row]) -> list[int]:
        """Add quizzes with their questions, and the assignments of published graded ones; returns ids.

        ``course_id`` and ``title`` are required. Of ``questions``, each has ``question_text``; its
        ``answers`` are mappings with ``answer_text`` and ``answer_weight`` (100: right, 0: wrong).
        """
        rows, points = [], []
        for quiz in quizzes:
            row = checked({**usual(Quiz), "created_at": self.stamp, **quiz}, _WORDS)
            row.pop("questions", None)
            for name in ("due_at", "unlock_at", "lock_at", "created_at"):
                row[name] = values.stored_time(row[name])
            rows.append({**row, "updated_at": row["created_at"]})
        ids = self.fill(Quiz, rows)
        questions = []
        for quiz_id, quiz in zip(ids, quizzes, strict=True):
            own = [filled_question(q) for q in quiz.get("questions", [])]
            questions += [{"quiz_id": quiz_id, "position": n, **q} for n, q in enumerate(own, 1)]
            points.append(sum(q["points_possible"] for q in own))
        self.fill(QuizQuestion, questions)
        self.store.assignments.add_assignments(
            [
                _assignment_of({**row, "id": quiz_id, "points_possible": total})
                for row, quiz_id, total in zip(rows, ids, points, strict=True)
                if row["published"] and row["quiz_type"] in GRADED_TYPES
            ]
        )
        return ids

    def add_quiz_submissions(self, submissions: Sequence[Row]) -> list[int]:
        """Add finished attempts; each student's kept score becomes the grade of the quiz's assignment.

        Quiz, user, score and times are required.
        """
        keys = sorted({submission["quiz_id"] for submission in submissions})
        quizzes = {row["id"]: row for row in self.fetch(_BY_ID, quizzes=keys)}
        students = self.store.courses.members({row["course_id"] for row in quizzes.values()}, (STUDENT,))
        attempts: dict[tuple[int, int], list[Row]] = defaultdict(list)
        rows = []
        for submission in submissions:
            quiz, user_id = quizzes[submission["quiz_id"]], submission["user_id"]
            if (quiz["course_id"], user_id) not in students:
                raise Invalid(f"user {user_id} does not study in the quiz's course")
            earlier = attempts[quiz["id"], user_id]
            earlier.append(submission)
            rows.append(_finished(submission, len(earlier)))
        ids = self.fill(QuizSubmission, rows)
        self.store.submissions.add_submissions(
            [
                _graded(quizzes[quiz_id], user_id, own)
                for (quiz_id, user_id), own in attempts.items()
                if quizzes[quiz_id]["assignment_id"] is not None
            ]
        )
        return ids


_OUTCOME = ("workflow_state", "finished_at", "score")


def kept_score(policy: str, scores: Sequence[float]) -> float | None:
    """The score that counts of several attempts'."""
    if not scores:
        return None
    if policy == "keep_latest":
        return scores[-1]
    return max(scores) if policy == "keep_highest" else round(sum(scores) / len(scores), 2)


_WORDS: Checks = {
    "quiz_type": values.one_of(QUIZ_TYPES),
    "scoring_policy": values.one_of(SCORING_POLICIES),
    "allowed_attempts": values.attempts,
    "time_limit": values.some(lambda minutes, name: values.whole(minutes, name, 1, 100_000)),
}
_CHECKS: Checks = {
    "title": values.title,
    "description": values.text,
    "due_at": values.deadline,
    "unlock_at": values.moment,
    "lock_at": values.moment,
    "access_code": lambda code, name: values.text(code, name, limit=values.MAX_TITLE) or None,
    **_WORDS,
}


def _assignment_of(quiz: Row) -> dict[str, Any]:
    assignment: dict[str, Any] = {
        "course_id": quiz["course_id"],
        "name": quiz["title"],
        "description": quiz["description"],
        "due_at": quiz["due_at"],
        "unlock_at": quiz["unlock_at"],
        "lock_at": quiz["lock_at"],
        "points_possible": quiz["points_possible"],
        "submission_types": [QUIZ_TYPE],
        "allowed_attempts": quiz["allowed_attempts"],
        "created_at": quiz["created_at"],
        "quiz_id": quiz["id"],
    }
    return assignment


def _finished(submission: Row, attempt: int) -> dict[str, Any]:
    finished_at = values.stored_time(submission["finished_at"])
    return {
        "quiz_id": submission["quiz_id"],
        "user_id": submission["user_id"],
        "attempt": attempt,
        "started_at": values.stored_time(submission["started_at"]),
        "end_at": finished_at,
        "finished_at": finished_at,
        "workflow_state": "complete",
        "score": submission["score"],
    }


def _graded(quiz: Row, user_id: int, attempts: list[Row]) -> dict[str, Any]:
    finished_at = attempts[-1]["finished_at"]
    return {
        "assignment_id": quiz["assignment_id"],
        "user_id": user_id,
        "submission_type": QUIZ_TYPE,
        "attempt": len(attempts),
        "submitted_at": finished_at,
        "grade": kept_score(quiz["scoring_policy"], [attempt["score"] for attempt in attempts]),
        "graded_at": finished_at,
    }
