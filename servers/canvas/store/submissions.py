"""Submissions, their grades, and the grades of courses that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, and_, bindparam, case, exists, func, or_, select
from sqlalchemy.orm import aliased

from mesocosm.errors import Conflict, Denied, Invalid, NotFound
from mesocosm.servers.canvas.models import (
    Assignment,
    Course,
    EarlierAttempt,
    Enrollment,
    File,
    Submission,
    SubmissionComment,
    User,
)
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import GRADERS, STUDENT, CourseAccess, Lister, StorePart, denied
from mesocosm.servers.canvas.store.assignments import (
    EXPECTED,
    ONLINE_TYPES,
    OWN_SUBMISSION,
    OWN_WORK,
    TO_GRADE,
)
from mesocosm.servers.canvas.store.courses import CURRENT
from mesocosm.servers.canvas.store.grading import graded, is_excused
from mesocosm.services.service import Page, Paging, Row

SUBMISSION_STATES = ("unsubmitted", "submitted", "graded", "pending_review")

_SUBMISSION = select(*Submission.__table__.c).where(
    Submission.assignment_id == bindparam("assignment"), Submission.user_id == bindparam("user")
)
_EARLIER = (
    select(*EarlierAttempt.__table__.c)
    .where(EarlierAttempt.submission_id == bindparam("submission"))
    .order_by(EarlierAttempt.attempt)
)
_COMMENTS = (
    select(*SubmissionComment.__table__.c, User.name.label("author_name"))
    .join(User, User.id == SubmissionComment.author_id)
    .where(SubmissionComment.submission_id == bindparam("submission"))
    .order_by(SubmissionComment.id)
)
_OWN_FILES = select(File.id).where(
    File.id.in_(bindparam("files", expanding=True)),
    File.user_id == bindparam("user"),
    File.course_id.is_(None),
)
_FILES = select(File.id, File.display_name, File.content_type, File.size).where(
    File.id.in_(bindparam("files", expanding=True))
)
_IS_STUDENT = select(Enrollment.id).where(
    Enrollment.course_id == bindparam("course"),
    Enrollment.user_id == bindparam("user"),
    Enrollment.type == STUDENT,
    Enrollment.enrollment_state.in_(("active", "completed")),
)
_STUDENT_ENROLLMENTS = (
    select(*Enrollment.__table__.c, User.name, User.sortable_name, User.short_name)
    .join(User, User.id == Enrollment.user_id)
    .where(
        Enrollment.course_id == bindparam("course"),
        Enrollment.type == STUDENT,
        Enrollment.enrollment_state.in_(("active", "completed")),
    )
    .order_by(User.sortable_name, Enrollment.id)
)
_ALL_STUDENTS = Lister(_STUDENT_ENROLLMENTS)
_SOME_STUDENTS = Lister(
    _STUDENT_ENROLLMENTS.where(Enrollment.user_id.in_(bindparam("users", expanding=True)))
)
_MY_STUDIES = Lister(
    select(*Enrollment.__table__.c, Course.name.label("course_name"), Course.course_code)
    .join(Course, Course.id == Enrollment.course_id)
    .where(
        Enrollment.user_id == bindparam("user"),
        Enrollment.type == STUDENT,
        Course.workflow_state == "available",
        *CURRENT,
    )
    .order_by(Enrollment.course_id)
)
COUNTING = (
    Assignment.published,
    Assignment.omit_from_final_grade.is_(False),
    Assignment.grading_type != "not_graded",
)
"""Which assignments count towards the grade of a course."""
_COUNTS = (Assignment.course_id.in_(bindparam("courses", expanding=True)), *COUNTING)
_POSSIBLE = (
    select(Assignment.course_id, func.sum(Assignment.points_possible).label("points"))
    .where(*_COUNTS)
    .group_by(Assignment.course_id)
)
_SCORED = Submission.score.is_not(None)
_EARNED = (
    select(
        Assignment.course_id,
        Submission.user_id,
        func.sum(Submission.score).label("score"),
        func.sum(case((_SCORED, Assignment.points_possible))).label("points"),
        func.sum(case((_SCORED, 0.0), else_=Assignment.points_possible)).label("excused"),
    )
    .join(Assignment, Assignment.id == Submission.assignment_id)
    .where(
        *_COUNTS,
        or_(_SCORED, Submission.graded_at.is_not(None)),
        Submission.user_id.in_(bindparam("users", expanding=True)),
    )
    .group_by(Assignment.course_id, Submission.user_id)
)
_GRADED_ASSIGNMENTS = select(*Assignment.__table__.c).where(
    Assignment.id.in_(bindparam("assignments", expanding=True))
)


_SUBMISSION_COLUMNS = [c for c in Submission.__table__.c if c.name not in ("assignment_id", "user_id")]
_STUDIED: Select[Any] = (
    select(Assignment.course_id)
    .join(Course, Course.id == Assignment.course_id)
    .join(Enrollment, Enrollment.course_id == Course.id)
    .where(
        Enrollment.user_id == bindparam("user"), Course.workflow_state == "available", Assignment.published
    )
    .where(*CURRENT)
)
_MISSING = Lister(
    _STUDIED.with_only_columns(*Assignment.__table__.c)
    .where(
        Enrollment.type == STUDENT,
        Assignment.due_at < bindparam("now"),
        EXPECTED,
        ~exists().where(
            OWN_SUBMISSION, or_(Submission.submitted_at.is_not(None), Submission.graded_at.is_not(None))
        ),
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
            and_(Enrollment.type.in_(GRADERS), TO_GRADE),
            and_(Enrollment.type == STUDENT, Assignment.due_at >= bindparam("now"), EXPECTED, ~OWN_WORK),
        )
    )
    .where(or_(bindparam("course").is_(None), Assignment.course_id == bindparam("course")))
    .order_by(Assignment.due_at.is_(None), Assignment.due_at, Assignment.id)
)


@dataclass(frozen=True)
class Scores:
    """A student's standing in a course, in per cent."""

    current: float | None
    """Of what was graded."""
    final: float | None
    """Of everything one is not excused from, what was not graded counting as zero."""


class Submissions(StorePart):
    """Submissions and their grades."""

    # -- reading ----------------------------------------------------------------------------------------

    def submission(self, access: CourseAccess, assignment_id: int, user_id: int | None) -> Row:
        """Return a student's submission; without one, an empty one without an id."""
        assignment = self.store.assignments.assignment(access, assignment_id)
        owner = access.user_id if user_id is None else user_id
        if not access.may_see_work_of(owner):
            raise denied()
        if not self._is_student(access, owner):
            raise NotFound(f"The specified resource does not exist: submission of user {owner}")
        return self._submission(assignment["id"], owner)

    def listed(
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

    def comments(self, submission: Row) -> Sequence[Row]:
        """The remarks on a submission, oldest first."""
        return self.fetch(_COMMENTS, submission=submission["id"])

    def earlier_attempts(self, submission: Row) -> Sequence[Row]:
        """List earlier submissions, oldest first."""
        return self.fetch(_EARLIER, submission=submission["id"])

    def attached_files(self, submission: Row) -> list[Row]:
        """The files that were handed in, in the order in which they were named."""
        if not submission["file_ids"]:
            return []
        found = {row["id"]: row for row in self.fetch(_FILES, files=submission["file_ids"])}
        return [found[key] for key in submission["file_ids"] if key in found]

    def _submission(self, assignment_id: int, user_id: int) -> Row:
        rows = self.fetch(_SUBMISSION, assignment=assignment_id, user=user_id)
        return dict(rows[0]) if rows else {**_UNSUBMITTED, "assignment_id": assignment_id, "user_id": user_id}

    def _is_student(self, access: CourseAccess, user_id: int) -> bool:
        if not 0 < user_id < 2**63:
            return False
        return bool(self.fetch(_IS_STUDENT, course=access.course["id"], user=user_id))

    # -- handing in -------------------------------------------------------------------------------------

    def submit(
        self,
        access: CourseAccess,
        assignment_id: int,
        kind: str,
        body: str | None,
        url: str | None,
        file_ids: list[int] | None,
    ) -> Row:
        """Hand in work for an assignment as the signed-in student; handing in again is a new attempt."""
        assignment = self.store.assignments.assignment(access, assignment_id)
        if not access.studies:
            raise denied()
        self._check_open(access, assignment, kind)
        content = self._content(kind, body, url, file_ids or [])
        before = self._submission(assignment_id, access.user_id)
        attempt = (before["attempt"] or 0) + 1
        if 0 < assignment["allowed_attempts"] < attempt:
            raise Denied("you have exceeded the maximum number of attempts for this assignment")
        handed_in = {
            **content,
            "attempt": attempt,
            "submission_type": kind,
            "submitted_at": self.stamp,
            "workflow_state": "graded" if is_excused(before) else "submitted",
        }
        if before["id"] is None:
            self.insert(Submission(**{**before, **handed_in}))
        else:
            self._keep(before)
            self.change(Submission, before["id"], handed_in)
        return self._submission(assignment_id, access.user_id)

    def _check_open(self, access: CourseAccess, assignment: Row, kind: str) -> None:
        if kind not in assignment["submission_types"]:
            accepted = ", ".join(assignment["submission_types"])
            raise Invalid(f"Invalid submission_type {kind!r}: this assignment accepts {accepted}.")
        if assignment["unlock_at"] and access.now < assignment["unlock_at"]:
            raise Denied(f"This assignment is locked until {assignment['unlock_at']}.")
        if assignment["lock_at"] and access.now >= assignment["lock_at"]:
            raise Denied(f"This assignment was locked at {assignment['lock_at']}.")

    def _content(self, kind: str, body: str | None, url: str | None, file_ids: list[int]) -> dict[str, Any]:
        content: dict[str, Any] = {"body": None, "url": None, "file_ids": []}
        if kind == "online_text_entry":
            content["body"] = values.filled(body or "", "body")
        elif kind == "online_url":
            content["url"] = values.web_address(url or "", "url")
        else:
            content["file_ids"] = self._checked_files(file_ids)
        return content

    def _checked_files(self, file_ids: list[int]) -> list[int]:
        if not file_ids:
            raise Invalid("file_ids must name at least one file for an online_upload")
        wanted = list(dict.fromkeys(file_ids))
        usable = [key for key in wanted if 0 < key < 2**63]
        own = {row["id"] for row in self.fetch(_OWN_FILES, files=usable, user=self.user_id)}
        for key in wanted:
            if key not in own:
                raise Invalid(f"No attachment with id {key} among your own files")
        return wanted

    def _keep(self, submission: Row) -> None:
        if submission["attempt"] is None:
            return
        columns = EarlierAttempt.__table__.c.keys()
        row = {name: submission[name] for name in columns if name != "submission_id"}
        self.session.add(EarlierAttempt(submission_id=submission["id"], **row))

    # -- grading ----------------------------------------------------------------------------------------

    def grade(
        self,
        access: CourseAccess,
        assignment_id: int,
        user_id: int,
        posted: str | float,
        comment: str | None = None,
    ) -> Row:
        """Grade a student's work, handed in or not; an empty grade takes the grade back."""
        assignment = self.store.assignments.assignment(access, assignment_id)
        if not self._is_student(access, user_id):
            raise NotFound(f"The specified resource does not exist: student {user_id} in this course")
        if not assignment["published"]:
            raise Conflict("Can't grade an assignment that is not published")
        if isinstance(posted, str):
            values.text(posted, "grade", limit=values.MAX_TITLE)
        before = self._submission(assignment_id, user_id)
        result = self._grade_columns(assignment, posted, before)
        if before["id"] is None:
            self.insert(Submission(**{**before, **result}))
        else:
            self.change(Submission, before["id"], result)
        after = self._submission(assignment_id, user_id)
        if comment is not None and comment.strip():
            self._remark(access, after, values.text(comment, "comment"))
        return after

    def comment_on(self, access: CourseAccess, assignment_id: int, user_id: int, text: str) -> Row:
        """Remark on a submission, as its student or a grader; without a submission an empty one is made."""
        before = self.submission(access, assignment_id, user_id)
        if not (access.grades or (user_id == access.user_id and access.studies)):
            raise denied()
        if before["id"] is None:
            self.insert(Submission(**before))
        after = self.submission(access, assignment_id, user_id)
        self._remark(access, after, values.filled(text, "text_comment"))
        return after

    def _remark(self, access: CourseAccess, submission: Row, text: str) -> None:
        self.insert(
            SubmissionComment(
                submission_id=submission["id"],
                author_id=access.user_id,
                attempt=submission["attempt"],
                comment=text,
                created_at=self.stamp,
            )
        )

    def excuse(self, access: CourseAccess, assignment_id: int, user_id: int, *, excused: bool) -> Row:
        """Excuse a student from an assignment, which then counts neither way, or take that back.

        A grade that was given is lost.
        """
        before = self.submission(access, assignment_id, user_id)
        if excused == is_excused(before):
            return before
        after = self.grade(access, assignment_id, user_id, "")
        if excused:
            settled = {
                "graded_at": self.stamp,
                "graded_attempt": after["attempt"],
                "grader_id": access.user_id,
                "workflow_state": "graded",
            }
            self.change(Submission, after["id"], settled)
        return self.submission(access, assignment_id, user_id)

    def _grade_columns(self, assignment: Row, posted: str | float, before: Row) -> dict[str, Any]:
        if isinstance(posted, str) and not posted.strip():
            state = "submitted" if before["submitted_at"] else "unsubmitted"
            return {**_UNGRADED, "workflow_state": state}
        grade, score = graded(assignment, posted)
        return {
            "grade": grade,
            "score": score,
            "graded_at": self.stamp,
            "graded_attempt": before["attempt"],
            "grader_id": self.user_id,
            "workflow_state": "graded",
        }

    # -- what is to be done -----------------------------------------------------------------------------

    def missing_assignments(self, paging: Paging) -> Page:
        """List the signed-in student's overdue assignments without a submission."""
        return self.listing(_MISSING, paging, user=self.user_id, now=self.stamp)

    def to_do(self, paging: Paging, course_id: int | None = None) -> Page:
        """Assignments that wait for the signed-in user: to be handed in, or (``waiting``) to be graded."""
        return self.listing(_TO_DO, paging, user=self.user_id, now=self.stamp, course=course_id)

    # -- grades of courses ------------------------------------------------------------------------------

    def course_grades(self, course_id: int, paging: Paging) -> Page:
        """The student enrollments of a course whose grades the user may see."""
        access = self.reading(course_id)
        if access.sees_grades:
            return self.listing(_ALL_STUDENTS, paging, course=course_id)
        users = sorted({access.user_id, *access.observed})
        return self.listing(_SOME_STUDENTS, paging, course=course_id, users=users)

    def my_grades(self, paging: Paging) -> Page:
        """The signed-in user's student enrollments in current courses."""
        return self.listing(_MY_STUDIES, paging, user=self.user_id, now=self.stamp)

    def scores(self, enrollments: Sequence[Row]) -> dict[tuple[int, int], Scores]:
        """Current and final score, in per cent, by course and user."""
        courses = sorted({row["course_id"] for row in enrollments})
        users = sorted({row["user_id"] for row in enrollments})
        possible = {r["course_id"]: r["points"] or 0.0 for r in self.fetch(_POSSIBLE, courses=courses)}
        scores = {
            (row["course_id"], row["user_id"]): Scores(
                _percentage(row["score"], row["points"]),
                _percentage(row["score"] or 0.0, possible[row["course_id"]] - row["excused"]),
            )
            for row in self.fetch(_EARNED, courses=courses, users=users)
        }
        for row in enrollments:
            key = row["course_id"], row["user_id"]
            scores.setdefault(key, Scores(None, _percentage(0.0, possible.get(key[0], 0.0))))
        return scores

    # -- filling ----------------------------------------------------------------------------------------

    def add_submissions(self, submissions: Sequence[Row]) -> list[int]:
        """Add submissions of students of the assignments' courses; returns their ids.

        ``assignment_id`` and ``user_id`` are required. With ``submitted_at`` it was handed in then
        (``attempt`` times, 1 by default); with ``grade`` (whatever ``canvas_submit_grade`` takes) it was
        graded at ``graded_at`` by ``grader_id``.
        """
        keys = sorted({submission["assignment_id"] for submission in submissions})
        assignments = {row["id"]: row for row in self._assignments(keys)}
        students = self.store.courses.members({row["course_id"] for row in assignments.values()}, (STUDENT,))
        rows = []
        for submission in submissions:
            assignment = assignments[submission["assignment_id"]]
            if (assignment["course_id"], submission["user_id"]) not in students:
                raise Invalid(f"user {submission['user_id']} does not study in the assignment's course")
            rows.append(self._filled(assignment, submission))
        return self.fill(Submission, rows)

    def _assignments(self, keys: list[int]) -> list[Row]:
        chunks = [keys[start : start + 10_000] for start in range(0, len(keys), 10_000)]
        return [row for chunk in chunks for row in self.fetch(_GRADED_ASSIGNMENTS, assignments=chunk)]

    def _filled(self, assignment: Row, submission: Row) -> dict[str, Any]:
        row: dict[str, Any] = {**_UNSUBMITTED, **submission, "grade": None}
        row["submitted_at"] = values.stored_time(row["submitted_at"])
        if row["submitted_at"] is not None:
            row["attempt"] = row["attempt"] or 1
            types = [t for t in assignment["submission_types"] if t in (*ONLINE_TYPES, "online_quiz")]
            row["submission_type"] = row["submission_type"] or (types[0] if types else None)
            values.choice(row["submission_type"] or "none", "submission_type", types)
            row["workflow_state"] = "submitted"
        posted = submission.get("grade")
        if posted is not None:
            row["grade"], row["score"] = graded(assignment, posted)
            row["graded_at"] = values.stored_time(row["graded_at"]) or self.stamp
            row |= {"workflow_state": "graded", "graded_attempt": row["attempt"]}
        return row


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


def _percentage(score: float, points: float | None) -> float | None:
    return round(100 * score / points, 2) if points else None


_UNGRADED: dict[str, Any] = {
    "grade": None,
    "score": None,
    "graded_at": None,
    "graded_attempt": None,
    "grader_id": None,
}
_UNSUBMITTED: dict[str, Any] = {
    **_UNGRADED,
    "id": None,
    "attempt": None,
    "submission_type": None,
    "body": None,
    "url": None,
    "file_ids": [],
    "submitted_at": None,
    "workflow_state": "unsubmitted",
}
