"""Coursework: assignments, submissions, and what is missing or needs grading."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, Text, and_, bindparam, exists, func, or_, select, type_coerce
from sqlalchemy.orm import aliased

from mesocosm.servers.canvas.models import (
    Assignment,
    Course,
    Enrollment,
    ModuleItem,
    Quiz,
    QuizSubmission,
    Submission,
    SubmissionComment,
    User,
)
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import (
    GRADERS,
    STUDENT,
    CourseAccess,
    Lister,
    Paging,
    StorePart,
    denied,
)
from mesocosm.servers.canvas.store.accounts import matching
from mesocosm.servers.canvas.store.assignments import ONLINE_TYPES, QUIZ_TYPE
from mesocosm.servers.canvas.store.courses import CURRENT
from mesocosm.servers.canvas.store.grading import is_excused
from mesocosm.servers.canvas.store.quizzes import QUIZ_COLUMNS
from mesocosm.services.service import Page, Row

BUCKETS = ("past", "overdue", "undated", "ungraded", "unsubmitted", "upcoming", "future")
ASSIGNMENT_ORDERS: dict[str, Any] = {
    "position": (Assignment.position,),
    "name": (Assignment.name,),
    "due_at": (Assignment.due_at.is_(None), Assignment.due_at),
}
SUBMISSION_STATES = ("unsubmitted", "submitted", "graded", "pending_review")

_MINE = and_(Submission.assignment_id == Assignment.id, Submission.user_id == bindparam("viewer"))
_HANDED_IN = exists().where(_MINE, Submission.submitted_at.is_not(None))
_TO_GRADE = exists().where(
    Submission.assignment_id == Assignment.id, Submission.workflow_state == "submitted"
)
_TYPES = type_coerce(Assignment.submission_types, Text)
_EXPECTED = or_(*(_TYPES.like(f'%"{kind}"%') for kind in (*ONLINE_TYPES, QUIZ_TYPE)))
_ITEMS = select(ModuleItem.id).where(
    ModuleItem.type == "Assignment", ModuleItem.content_id == bindparam("assignment")
)
_SUBMISSION_COLUMNS = [c for c in Submission.__table__.c if c.name not in ("assignment_id", "user_id")]
_ATTEMPT = select(*QuizSubmission.__table__.c).where(
    QuizSubmission.quiz_id == bindparam("quiz"), QuizSubmission.id == bindparam("attempt")
)
_LATER = QuizSubmission.__table__.alias("later")
_LAST_ATTEMPTS = Lister(
    select(*QuizSubmission.__table__.c)
    .where(
        QuizSubmission.quiz_id == bindparam("quiz"),
        or_(QuizSubmission.user_id == bindparam("viewer"), bindparam("everybody")),
        ~exists().where(
            _LATER.c.quiz_id == QuizSubmission.quiz_id,
            _LATER.c.user_id == QuizSubmission.user_id,
            _LATER.c.attempt > QuizSubmission.attempt,
        ),
    )
    .order_by(QuizSubmission.id)
)
_STUDIED: Select[Any] = (
    select(Assignment.course_id)
    .join(Course, Course.id == Assignment.course_id)
    .join(Enrollment, Enrollment.course_id == Course.id)
    .where(
        Enrollment.user_id == bindparam("viewer"), Course.workflow_state == "available", Assignment.published
    )
    .where(*CURRENT)
)
_MISSING = Lister(
    _STUDIED.with_only_columns(*Assignment.__table__.c)
    .where(
        Enrollment.type == STUDENT,
        Assignment.due_at < bindparam("now"),
        _EXPECTED,
        ~exists().where(_MINE, or_(Submission.submitted_at.is_not(None), Submission.graded_at.is_not(None))),
    )
    .order_by(Assignment.due_at, Assignment.id)
)
_WAITING = (
    select(func.count())
    .where(Submission.assignment_id == Assignment.id, Submission.workflow_state == "submitted")
    .scalar_subquery()
)
_TO_DO = Lister(
    _STUDIED.with_only_columns(
        *Assignment.__table__.c, Enrollment.type.label("role"), _WAITING.label("waiting")
    )
    .where(
        or_(
            and_(Enrollment.type.in_(GRADERS), _TO_GRADE),
            and_(Enrollment.type == STUDENT, Assignment.due_at >= bindparam("now"), _EXPECTED, ~_HANDED_IN),
        )
    )
    .where(or_(bindparam("course").is_(None), Assignment.course_id == bindparam("course")))
    .order_by(Assignment.due_at.is_(None), Assignment.due_at, Assignment.id)
)


class Gradebook(StorePart):
    """Assignments and submissions in lists."""

    def find_assignments(
        self,
        access: CourseAccess,
        paging: Paging,
        *,
        search_term: str | None = None,
        bucket: str | None = None,
        assignment_ids: Sequence[int] | None = None,
        order_by: str = "position",
    ) -> Page:
        """The assignments of a course that match, in their order unless told otherwise."""
        if search_term is None and bucket is None and assignment_ids is None and order_by == "position":
            return self.store.assignments.listed(access, paging)
        statement = select(*Assignment.__table__.c).where(Assignment.course_id == access.course["id"])
        if not access.staff:
            statement = statement.where(Assignment.published)
        if search_term is not None:
            statement = statement.where(matching(search_term, Assignment.name))
        if assignment_ids is not None:
            statement = statement.where(Assignment.id.in_(list(assignment_ids)))
        if bucket is not None:
            statement = statement.where(*_bucket(values.choice(bucket, "bucket", BUCKETS), self.stamp))
        keys = ASSIGNMENT_ORDERS[values.choice(order_by, "order_by", ASSIGNMENT_ORDERS)]
        ordered = Lister(statement.order_by(*keys, Assignment.id))
        parameters = {"viewer": access.user_id} if bucket in _OWN_BUCKETS else {}
        return self.listing(ordered, paging, **parameters)

    def assignments_due(
        self, accesses: Sequence[CourseAccess], since: str, until: str, paging: Paging
    ) -> Page:
        """The assignments of several courses that are due in a span of time, the first one first."""
        staffed = [access.course["id"] for access in accesses if access.staff]
        statement = (
            select(*Assignment.__table__.c)
            .where(
                Assignment.course_id.in_([access.course["id"] for access in accesses]),
                or_(Assignment.published, Assignment.course_id.in_(staffed)),
                Assignment.due_at >= since,
                Assignment.due_at <= until,
            )
            .order_by(Assignment.due_at, Assignment.id)
        )
        return self.listing(Lister(statement), paging)

    def delete_assignment(self, access: CourseAccess, assignment_id: int) -> Row:
        """Delete an assignment with its submissions and the module items that point to it; a quiz's is
        deleted with its quiz."""
        assignment = self.store.assignments.assignment(access, assignment_id)
        if assignment["quiz_id"] is not None:
            self.store.quizzes.delete_quiz(access, assignment["quiz_id"])
            return assignment
        for row in self.fetch(_ITEMS, assignment=assignment_id):
            self.session.delete(self.session.get_one(ModuleItem, row["id"]))
        self.session.delete(self.session.get_one(Assignment, assignment_id))
        self.session.flush()
        return assignment

    def submissions(
        self,
        access: CourseAccess,
        paging: Paging,
        *,
        assignment_ids: Sequence[int] | None = None,
        user_ids: Sequence[int] | None = None,
        workflow_state: str | None = None,
        submitted_since: str | None = None,
        graded_since: str | None = None,
        by_user: bool = False,
    ) -> Page:
        """List submissions of a course's students for its published assignments, including empty ones.

        By default by assignment, then student. ``user_ids`` of ``None`` means every student, which is for
        graders.
        """
        if user_ids is None:
            if not access.sees_grades:
                raise denied()
        elif not all(access.may_see_work_of(key) for key in user_ids):
            raise denied()
        statement = _pairs(access.course["id"], assignment_ids, user_ids)
        if workflow_state is not None:
            values.choice(workflow_state, "workflow_state", SUBMISSION_STATES)
            state = func.coalesce(Submission.workflow_state, "unsubmitted")
            statement = statement.where(state == workflow_state)
        if submitted_since is not None:
            since = values.moment(submitted_since, "submitted_since") or ""
            statement = statement.where(Submission.submitted_at > since)
        if graded_since is not None:
            since = values.moment(graded_since, "graded_since") or ""
            statement = statement.where(Submission.graded_at > since)
        order = (Enrollment.user_id, Assignment.position, Assignment.id)
        keys = order if by_user else (Assignment.position, Assignment.id, Enrollment.user_id)
        listing = self.listing(Lister(statement.order_by(*keys)), paging)
        rows = [{**row, "workflow_state": row["workflow_state"] or "unsubmitted"} for row in listing.items]
        return Page([row | {"file_ids": row["file_ids"] or []} for row in rows], *paging, listing.total)

    def comment_on_submission(self, access: CourseAccess, assignment_id: int, user_id: int, text: str) -> Row:
        """Remark on a submission, as its student or a grader; without a submission an empty one is made."""
        before = self.store.submissions.submission(access, assignment_id, user_id)
        if not (access.grades or (user_id == access.user_id and access.studies)):
            raise denied()
        if before["id"] is None:
            self.insert(Submission(**before))
        after = self.store.submissions.submission(access, assignment_id, user_id)
        self.insert(
            SubmissionComment(
                submission_id=after["id"],
                author_id=access.user_id,
                attempt=after["attempt"],
                comment=values.filled(text, "text_comment"),
                created_at=self.stamp,
            )
        )
        return after

    def excuse(self, access: CourseAccess, assignment_id: int, user_id: int, *, excused: bool) -> Row:
        """Excuse a student from an assignment, which then counts neither way, or take that back.

        A grade that was given is lost.
        """
        before = self.store.submissions.submission(access, assignment_id, user_id)
        if excused == is_excused(before):
            return before
        after = self.store.submissions.grade(access, assignment_id, user_id, "")
        if excused:
            settled = {
                "graded_at": self.stamp,
                "graded_attempt": after["attempt"],
                "grader_id": access.user_id,
                "workflow_state": "graded",
            }
            self.change(Submission, after["id"], settled)
        return self.store.submissions.submission(access, assignment_id, user_id)

    # -- quizzes ----------------------------------------------------------------------------------------

    def find_quizzes(self, access: CourseAccess, paging: Paging, *, search_term: str | None = None) -> Page:
        """The quizzes of a course whose titles match."""
        if search_term is None:
            return self.store.quizzes.listed(access, paging)
        statement = QUIZ_COLUMNS.where(
            Quiz.course_id == access.course["id"], matching(search_term, Quiz.title)
        )
        if not access.staff:
            statement = statement.where(Quiz.published)
        return self.listing(Lister(statement.order_by(Quiz.id)), paging)

    def last_attempts(self, access: CourseAccess, quiz_id: int, paging: Paging) -> Page:
        """The last attempt of every student at a quiz; students see their own only."""
        self.store.quizzes.quiz(access, quiz_id)
        everybody = access.sees_grades
        listing = self.listing(
            _LAST_ATTEMPTS, paging, quiz=quiz_id, viewer=access.user_id, everybody=everybody
        )
        return Page([self._current(row) for row in listing.items], *paging, listing.total)

    def attempt(self, access: CourseAccess, quiz_id: int, attempt_id: int) -> Row:
        """An attempt at a quiz that the user may see."""
        self.store.quizzes.quiz(access, quiz_id)
        row = self.one(_ATTEMPT, "quiz submission", attempt_id, quiz=quiz_id, attempt=attempt_id)
        if not access.may_see_work_of(row["user_id"]):
            raise denied()
        return self._current(row)

    def _current(self, attempt: Row) -> Row:
        """An attempt as it counts now: the store knows when its time is up."""
        own = self.store.quizzes.attempts(attempt["quiz_id"], attempt["user_id"])
        return next(row for row in own if row["id"] == attempt["id"])

    def seconds_left(self, attempt: Row) -> int | None:
        """Return the seconds left in an attempt; ``None`` without a limit."""
        if attempt["end_at"] is None:
            return None
        return max(0, int((datetime.fromisoformat(attempt["end_at"]) - self.now).total_seconds()))

    # -- what is to be done -----------------------------------------------------------------------------

    def missing_assignments(self, paging: Paging) -> Page:
        """List the signed-in student's overdue assignments without a submission."""
        return self.listing(_MISSING, paging, viewer=self.user_id, now=self.stamp)

    def to_do(self, paging: Paging, course_id: int | None = None) -> Page:
        """Assignments that wait for the signed-in user: to be handed in, or (``waiting``) to be graded."""
        return self.listing(_TO_DO, paging, viewer=self.user_id, now=self.stamp, course=course_id)

    def graded_versions(
        self,
        access: CourseAccess,
        paging: Paging,
        *,
        assignment_id: int | None = None,
        user_id: int | None = None,
    ) -> Page:
        """The grades that were given in a course, the newest first; for its graders."""
        if not access.sees_grades:
            raise denied()
        graders = aliased(User)
        statement = (
            select(
                *Submission.__table__.c,
                Assignment.name.label("assignment_name"),
                Assignment.due_at,
                User.name.label("user_name"),
                graders.name.label("grader_name"),
            )
            .join(Assignment, Assignment.id == Submission.assignment_id)
            .join(User, User.id == Submission.user_id)
            .outerjoin(graders, graders.id == Submission.grader_id)
            .where(Assignment.course_id == access.course["id"], Submission.graded_at.is_not(None))
        )
        if assignment_id is not None:
            statement = statement.where(Assignment.id == assignment_id)
        if user_id is not None:
            statement = statement.where(Submission.user_id == user_id)
        ordered = statement.order_by(Submission.graded_at.desc(), Submission.id.desc())
        return self.listing(Lister(ordered), paging)


_OWN_BUCKETS = ("overdue", "unsubmitted")


def _bucket(bucket: str, now: str) -> tuple[Any, ...]:
    due_at = Assignment.due_at
    conditions: dict[str, tuple[Any, ...]] = {
        "past": (due_at < now,),
        "overdue": (due_at < now, _EXPECTED, ~_HANDED_IN),
        "undated": (due_at.is_(None),),
        "ungraded": (_TO_GRADE,),
        "unsubmitted": (_EXPECTED, ~_HANDED_IN),
        "upcoming": (due_at >= now,),
        "future": (or_(due_at.is_(None), due_at >= now),),
    }
    return conditions[bucket]


def _pairs(course_id: int, assignment_ids: Sequence[int] | None, user_ids: Sequence[int] | None) -> Any:
    """Every student of a course with every published assignment, and what was handed in."""
    statement = (
        select(
            Assignment.id.label("assignment_id"), Enrollment.user_id.label("user_id"), *_SUBMISSION_COLUMNS
        )
        .select_from(Enrollment)
        .join(Assignment, Assignment.course_id == Enrollment.course_id)
        .outerjoin(
            Submission,
            and_(Submission.assignment_id == Assignment.id, Submission.user_id == Enrollment.user_id),
        )
        .where(
            Enrollment.course_id == course_id,
            Enrollment.type == STUDENT,
            Enrollment.enrollment_state.in_(("active", "completed")),
            Assignment.published,
        )
    )
    if assignment_ids is not None:
        statement = statement.where(Assignment.id.in_(list(assignment_ids)))
    return statement if user_ids is None else statement.where(Enrollment.user_id.in_(list(user_ids)))
