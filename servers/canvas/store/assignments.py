"""Assignments and rubrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Text, and_, bindparam, delete, exists, func, or_, select, type_coerce, update

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.models import Assignment, Course, Enrollment, Rubric, Submission, usual
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import (
    CourseAccess,
    CourseRows,
    Lister,
    StorePart,
    check_page,
    denied,
    matching,
)
from mesocosm.servers.canvas.store.courses import CURRENT
from mesocosm.services.service import Page, Paging, Row
from mesocosm.services.values import Checks, checked

GRADING_TYPES = ("points", "percent", "letter_grade", "gpa_scale", "pass_fail", "not_graded")
ONLINE_TYPES = ("online_text_entry", "online_url", "online_upload")
SUBMISSION_TYPES = (
    *ONLINE_TYPES,
    "none",
    "on_paper",
    "discussion_topic",
    "external_tool",
    "media_recording",
    "student_annotation",
)
QUIZ_TYPE = "online_quiz"

BUCKETS = ("past", "overdue", "undated", "ungraded", "unsubmitted", "upcoming", "future")
ASSIGNMENT_ORDERS: dict[str, Any] = {
    "position": (Assignment.position,),
    "name": (Assignment.name,),
    "due_at": (Assignment.due_at.is_(None), Assignment.due_at),
}

OWN_SUBMISSION = and_(Submission.assignment_id == Assignment.id, Submission.user_id == bindparam("user"))
OWN_WORK = exists().where(OWN_SUBMISSION, Submission.submitted_at.is_not(None))
TO_GRADE = exists().where(Submission.assignment_id == Assignment.id, Submission.workflow_state == "submitted")
_TYPES = type_coerce(Assignment.submission_types, Text)
EXPECTED = or_(*(_TYPES.like(f'%"{kind}"%') for kind in (*ONLINE_TYPES, QUIZ_TYPE)))
_ASSIGNMENTS = CourseRows(
    "assignment",
    Assignment,
    Assignment.position,
    shown=Assignment.published,
    search=(Assignment.name,),
)
_LAST_POSITION = select(func.coalesce(func.max(Assignment.position), 0).label("last")).where(
    Assignment.course_id == bindparam("course")
)
_LAST_POSITIONS = (
    select(Assignment.course_id, func.max(Assignment.position).label("last"))
    .where(Assignment.course_id.in_(bindparam("courses", expanding=True)))
    .group_by(Assignment.course_id)
)
_HANDED_IN = select(
    exists()
    .where(Submission.assignment_id == bindparam("assignment"), Submission.submitted_at.is_not(None))
    .label("found")
)
_UPCOMING = (
    select(
        *Assignment.__table__.c,
        Course.name.label("course_name"),
        Course.course_code,
        Course.time_zone,
    )
    .join(Course, Course.id == Assignment.course_id)
    .where(
        Course.id.in_(
            select(Enrollment.course_id)
            .join(Course, Course.id == Enrollment.course_id)
            .where(Enrollment.user_id == bindparam("user"), Course.workflow_state == "available", *CURRENT)
        ),
        Assignment.due_at > bindparam("now"),
        Assignment.published,
    )
    .order_by(Assignment.due_at, Assignment.id)
    .limit(bindparam("limit"))
)
_RUBRIC_FIELDS = ("title", "description", "free_form_criterion_comments", "hide_score_total", "criteria")
_RUBRICS = Lister(
    select(*Rubric.__table__.c).where(Rubric.course_id == bindparam("course")).order_by(Rubric.id)
)
_RUBRIC = select(*Rubric.__table__.c).where(
    Rubric.id == bindparam("rubric"), Rubric.course_id == bindparam("course")
)


class Assignments(StorePart):
    """Assignments, and the schemes by which they are graded."""

    def listed(
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
        conditions: list[Any] = [] if assignment_ids is None else [Assignment.id.in_(list(assignment_ids))]
        if search_term is not None:
            conditions.append(matching(search_term, Assignment.name))
        if bucket is not None:
            conditions += _bucket(values.choice(bucket, "bucket", BUCKETS), self.stamp)
        order = ()
        if order_by != "position":
            order = ASSIGNMENT_ORDERS[values.choice(order_by, "order_by", ASSIGNMENT_ORDERS)]
        return self.rows(_ASSIGNMENTS, access, paging, *conditions, order=order)

    def assignment(self, access: CourseAccess, assignment_id: int) -> Row:
        """An assignment that the user may see."""
        return self.row(_ASSIGNMENTS, access, assignment_id)

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

    def upcoming(self, limit: int) -> Sequence[Row]:
        """The published assignments of the user's courses that are due from now on, the next one first."""
        check_page(1, limit)
        return self.fetch(_UPCOMING, user=self.user_id, now=self.stamp, limit=limit)

    def create_assignment(self, access: CourseAccess, fields: Mapping[str, Any]) -> Row:
        """Create an assignment at the end of the course's; unpublished unless told otherwise."""
        course_id = access.course["id"]
        new: dict[str, Any] = {
            **usual(Assignment),
            "submission_types": ["none"],
            "published": False,
            **checked(fields, _CHECKS),
            "course_id": course_id,
            "position": self.fetch(_LAST_POSITION, course=course_id)[0]["last"] + 1,
            "created_at": self.stamp,
            "updated_at": self.stamp,
        }
        return self.assignment(access, self.insert(Assignment(**new)).id)

    def update_assignment(self, access: CourseAccess, assignment_id: int, fields: Mapping[str, Any]) -> Row:
        """Change an assignment."""
        assignment = self.assignment(access, assignment_id)
        if assignment["quiz_id"] is not None:
            raise Invalid("This assignment belongs to a quiz: change it with canvas_update_quiz.")
        changes = checked(fields, _CHECKS)
        if changes.get("published") is False:
            self.refuse_if_handed_in(assignment_id)
        self.change(Assignment, assignment_id, changes | {"updated_at": self.stamp})
        return self.assignment(access, assignment_id)

    def delete_assignment(self, access: CourseAccess, assignment_id: int) -> Row:
        """Delete an assignment with its submissions and the module items that point to it; a quiz's is
        deleted with its quiz."""
        assignment = self.assignment(access, assignment_id)
        if assignment["quiz_id"] is not None:
            self.store.quizzes.delete_quiz(access, assignment["quiz_id"])
            return assignment
        self.store.modules.remove_items("Assignment", assignment_id)
        self.remove(Assignment, assignment_id)
        return assignment

    def refuse_if_handed_in(self, assignment_id: int) -> None:
        """Refuse to unpublish what students have handed something in for."""
        if self.fetch(_HANDED_IN, assignment=assignment_id)[0]["found"]:
            message = "Can't unpublish if there are student submissions"
            raise Invalid(message, code="published.invalid")

    # -- rubrics ----------------------------------------------------------------------------------------

    def rubrics(self, course_id: int, paging: Paging) -> Page:
        """The rubrics of a course; for its staff."""
        self._rubric_access(course_id)
        return self.listing(_RUBRICS, paging, course=course_id)

    def rubric(self, course_id: int, rubric_id: int) -> Row:
        """A rubric; for the staff of its course."""
        self._rubric_access(course_id)
        return self.one(_RUBRIC, "rubric", rubric_id, rubric=rubric_id, course=course_id)

    def create_rubric(self, course_id: int, rubric: dict[str, Any]) -> Row:
        """Create a rubric; its points are the sum of its criteria's."""
        self.editing(course_id)
        self._check_rubric(rubric)
        rubric["course_id"] = course_id
        return self.rubric(course_id, self.add_rubrics([rubric])[0])

    def change_rubric(self, course_id: int, rubric_id: int, rubric: dict[str, Any]) -> Row:
        """Update the given parts of a rubric."""
        self.editing(course_id)
        there = self.rubric(course_id, rubric_id)
        kept = {name: there[name] for name in _RUBRIC_FIELDS}
        changed: dict[str, Any] = {**kept, **rubric}
        self._check_rubric(changed)
        row = {name: changed[name] for name in _RUBRIC_FIELDS}
        self.session.execute(update(Rubric).where(Rubric.id == rubric_id).values(**row))
        return self.rubric(course_id, rubric_id)

    def delete_rubric(self, course_id: int, rubric_id: int) -> Row:
        """Delete a rubric; returns what it was."""
        self.editing(course_id)
        there = self.rubric(course_id, rubric_id)
        self.session.execute(delete(Rubric).where(Rubric.id == rubric_id))
        return there

    @staticmethod
    def _check_rubric(rubric: dict[str, Any]) -> None:
        rubric["title"] = values.title(rubric["title"], "title")
        rubric["description"] = values.text(rubric.get("description") or "", "description") or None
        rubric["criteria"] = [_criterion(c) for c in rubric.get("criteria", [])]

    def _rubric_access(self, course_id: int) -> None:
        if not self.access(course_id).staff:
            raise denied()

    # -- filling ----------------------------------------------------------------------------------------

    def add_assignments(self, assignments: Sequence[Row]) -> list[int]:
        """Add assignments after those that their courses have; returns their ids.

        ``course_id`` and ``name`` are required; ``quiz_id`` is for the store's own use.
        """
        courses = sorted({assignment["course_id"] for assignment in assignments})
        last = {row["course_id"]: row["last"] for row in self.fetch(_LAST_POSITIONS, courses=courses)}
        rows = []
        for assignment in assignments:
            row: dict[str, Any] = {**usual(Assignment), "created_at": self.stamp, **assignment}
            position = last[row["course_id"]] = last.get(row["course_id"], 0) + 1
            values.choice(row["grading_type"], "grading_type", GRADING_TYPES)
            if "quiz_id" not in assignment:
                _types(row["submission_types"], "submission_types")
            for name in ("due_at", "unlock_at", "lock_at", "created_at"):
                row[name] = values.stored_time(row[name])
            rows.append({**row, "position": position, "updated_at": row["created_at"]})
        return self.fill(Assignment, rows)

    def add_rubrics(self, rubrics: Sequence[Row]) -> list[int]:
        """Add rubrics; ``course_id`` and ``title`` are required. Returns their ids.

        Each of ``criteria`` has description, long_description, points, criterion_use_range and ratings
        (description, long_description, points).
        """
        return self.fill(Rubric, [{**usual(Rubric), **rubric} for rubric in rubrics])


def _types(submission_types: list[str], name: str) -> list[str]:
    if not submission_types:
        raise Invalid("submission_types must name at least one type")
    for kind in submission_types:
        values.choice(kind, name, SUBMISSION_TYPES)
    if "none" in submission_types and len(submission_types) > 1:
        raise Invalid("submission_types 'none' cannot be combined with others")
    return submission_types


_CHECKS: Checks = {
    "name": values.title,
    "description": values.text,
    "points_possible": values.number,
    "due_at": values.deadline,
    "unlock_at": values.moment,
    "lock_at": values.moment,
    "grading_type": values.one_of(GRADING_TYPES),
    "allowed_attempts": values.attempts,
    "submission_types": _types,
}


def _criterion(criterion: Row) -> dict[str, Any]:
    ratings = [_rating(rating) for rating in criterion.get("ratings", [])]
    best = max((rating["points"] for rating in ratings), default=0.0)
    return {
        "description": values.title(criterion.get("description", "No description"), "criteria description"),
        "long_description": values.text(criterion.get("long_description", ""), "long_description"),
        "points": values.number(criterion.get("points", best), "criteria points"),
        "criterion_use_range": criterion.get("criterion_use_range", False),
        "ratings": sorted(ratings, key=lambda rating: -rating["points"]),
    }


def _rating(rating: Row) -> dict[str, Any]:
    return {
        "description": values.title(rating.get("description", "No description"), "ratings description"),
        "long_description": values.text(rating.get("long_description", ""), "long_description"),
        "points": values.number(rating.get("points", 0), "ratings points"),
    }


def _bucket(bucket: str, now: str) -> tuple[Any, ...]:
    due_at = Assignment.due_at
    conditions: dict[str, tuple[Any, ...]] = {
        "past": (due_at < now,),
        "overdue": (due_at < now, EXPECTED, ~OWN_WORK),
        "undated": (due_at.is_(None),),
        "ungraded": (TO_GRADE,),
        "unsubmitted": (EXPECTED, ~OWN_WORK),
        "upcoming": (due_at >= now,),
        "future": (or_(due_at.is_(None), due_at >= now),),
    }
    return conditions[bucket]
