"""Courses and enrollments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, bindparam, func, insert, or_, select

from mesocosm.errors import Denied, Invalid
from mesocosm.servers.canvas.models import Course, Enrollment, User, usual
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import (
    ENROLLMENT_TYPES,
    GRADERS,
    OBSERVER,
    STAFF,
    STUDENT,
    TEACHER,
    CourseAccess,
    Lister,
    StorePart,
    denied,
    table_of,
)
from mesocosm.services.service import Page, Paging, Row
from mesocosm.services.values import Checks, checked

ENROLLMENT_STATES = ("active", "invited", "inactive", "completed")
COURSE_STATES = ("unpublished", "available", "completed")
COURSE_EVENTS = {
    "claim": "unpublished",
    "offer": "available",
    "conclude": "completed",
    "delete": "deleted",
}
_EXPANDED: BindParameter[Any] = bindparam("courses", expanding=True)

_COURSE_COLUMNS = [column for column in Course.__table__.c if column.name != "syllabus_body"]
_MINE = (
    select(*_COURSE_COLUMNS)
    .join(Enrollment, Enrollment.course_id == Course.id)
    .where(
        Enrollment.user_id == bindparam("user"),
        Enrollment.enrollment_state.in_(("active", "completed")),
        or_(Course.workflow_state != "unpublished", Enrollment.type.in_(STAFF)),
        Course.workflow_state != "deleted",
    )
    .group_by(Course.id)
    .order_by(Course.id)
)
_ALL_MINE = Lister(_MINE)
CURRENT = (
    Enrollment.enrollment_state == "active",
    Course.workflow_state != "completed",
    or_(Course.end_at.is_(None), Course.end_at > bindparam("now")),
)
_MY_CURRENT = Lister(_MINE.where(*CURRENT))
_MY_ENROLLMENTS = (
    select(*Enrollment.__table__.c)
    .where(
        Enrollment.user_id == bindparam("user"),
        Enrollment.course_id.in_(_EXPANDED),
        Enrollment.enrollment_state.in_(("active", "completed")),
    )
    .order_by(Enrollment.id)
)
_TEACHERS = (
    select(Enrollment.course_id, User.id, User.short_name, User.primary_email)
    .join(User, User.id == Enrollment.user_id)
    .where(
        Enrollment.course_id.in_(_EXPANDED),
        Enrollment.type == TEACHER,
        Enrollment.enrollment_state.in_(("active", "completed")),
    )
    .order_by(Enrollment.id)
)
_STUDENTS = (
    select(Enrollment.course_id, func.count().label("students"))
    .where(
        Enrollment.course_id.in_(_EXPANDED),
        Enrollment.type == STUDENT,
        Enrollment.enrollment_state == "active",
    )
    .group_by(Enrollment.course_id)
)
_ENROLLMENT = select(*Enrollment.__table__.c).where(
    Enrollment.course_id == bindparam("course"),
    Enrollment.user_id == bindparam("user"),
    Enrollment.type == bindparam("type"),
)
_MEMBERS = select(Enrollment.course_id, Enrollment.user_id, Enrollment.type).where(
    Enrollment.course_id.in_(_EXPANDED)
)


class Courses(StorePart):
    """Courses, and who takes part in them."""

    def my_courses(self, paging: Paging, *, include_ended: bool = False) -> Page:
        """The signed-in user's courses, without their syllabus.

        With ``include_ended`` also those that were concluded or have ended, and those of completed
        enrollments.
        """
        if include_ended:
            return self.listing(_ALL_MINE, paging, user=self.user_id)
        return self.listing(_MY_CURRENT, paging, user=self.user_id, now=self.stamp)

    def teachers_of(self, course_ids: Sequence[int]) -> dict[int, list[Row]]:
        """The teachers of each course."""
        return _grouped(self.fetch(_TEACHERS, courses=course_ids))

    def my_enrollments_in(self, course_ids: Sequence[int]) -> dict[int, list[Row]]:
        """The signed-in user's enrollments in each course."""
        return _grouped(self.fetch(_MY_ENROLLMENTS, courses=course_ids, user=self.user_id))

    def student_counts(self, course_ids: Sequence[int]) -> dict[int, int]:
        return {row["course_id"]: row["students"] for row in self.fetch(_STUDENTS, courses=course_ids)}

    def create_course(self, account_id: int, fields: Mapping[str, Any], *, offer: bool = False) -> Row:
        """Create a course, unpublished unless it is offered; for administrators of the account."""
        self.store.accounts.administered(account_id)
        course = self.insert(
            Course(
                **{
                    **usual(Course),
                    "course_code": fields["name"][:20].strip(),
                    **checked(fields, _CHECKS),
                    "account_id": account_id,
                    "workflow_state": "available" if offer else "unpublished",
                    "created_at": self.stamp,
                    "updated_at": self.stamp,
                }
            )
        )
        _check_term(course.start_at, course.end_at)
        return self.access(course.id).course

    def update_course(self, course_id: int, fields: Mapping[str, Any], event: str | None = None) -> Row:
        """Change a course; for its teachers and administrators."""
        access = self.access(course_id)
        # Whoever concluded a course may take that back, though it is closed to changes meanwhile.
        reopening = event in ("offer", "claim") and TEACHER in access.active and not fields
        if not (access.manages or reopening):
            raise denied()
        changes = checked(fields, _CHECKS)
        if event is not None:
            changes["workflow_state"] = COURSE_EVENTS[event]
        if event == "delete" and not (access.admin or access.course["workflow_state"] == "unpublished"):
            raise denied()
        course = access.course
        _check_term(changes.get("start_at", course["start_at"]), changes.get("end_at", course["end_at"]))
        self.change(Course, course_id, changes | {"updated_at": self.stamp})
        return {**course, **changes, "updated_at": self.stamp}

    def enroll(self, course_id: int, user_id: int, kind: str, state: str) -> Row:
        """Enroll a user; an existing enrollment gets the new state."""
        access = self.access(course_id)
        values.choice(kind, "role", ENROLLMENT_TYPES)
        values.choice(state, "enrollment_state", ENROLLMENT_STATES[:3])
        if not may_enroll(access, kind):
            raise denied()
        if access.closed:
            raise Denied("Can't add an enrollment to a concluded course.")
        self.store.users.user(user_id)
        found = self.fetch(_ENROLLMENT, course=course_id, user=user_id, type=kind)
        if found:
            key = int(found[0]["id"])
            self.change(Enrollment, key, {"enrollment_state": state, "updated_at": self.stamp})
        else:
            self.insert(
                Enrollment(
                    course_id=course_id,
                    user_id=user_id,
                    type=kind,
                    enrollment_state=state,
                    associated_user_id=None,
                    created_at=self.stamp,
                    updated_at=self.stamp,
                )
            )
        return self.fetch(_ENROLLMENT, course=course_id, user=user_id, type=kind)[0]

    def members(self, course_ids: set[int], types: Sequence[str] = ENROLLMENT_TYPES) -> set[tuple[int, int]]:
        """Pairs of course and user for everybody enrolled in these courses in one of these ways."""
        rows = self.fetch(_MEMBERS, courses=sorted(course_ids))
        return {(row["course_id"], row["user_id"]) for row in rows if row["type"] in types}

    # -- filling ----------------------------------------------------------------------------------------

    def add_courses(self, courses: Sequence[Row]) -> list[int]:
        """Add courses, to the first root account unless they say otherwise; returns their ids.

        ``name`` and ``course_code`` are required.
        """
        defaults = {
            "account_id": self.store.accounts.root_account_id,
            "created_at": self.stamp,
        }
        rows = []
        for course in courses:
            row: dict[str, Any] = {**usual(Course), **defaults, **course}
            values.choice(row["workflow_state"], "workflow_state", COURSE_STATES)
            for name in ("start_at", "end_at", "created_at"):
                row[name] = values.stored_time(row[name])
            _check_term(row["start_at"], row["end_at"])
            rows.append({**row, "updated_at": row["created_at"]})
        return self.fill(Course, rows)

    def add_enrollments(self, enrollments: Sequence[Row]) -> list[int]:
        """Add enrollments, of active students unless they say otherwise; returns their ids.

        ``course_id`` and ``user_id`` are required.
        """
        rows = []
        for enrollment in enrollments:
            row: dict[str, Any] = {**usual(Enrollment), "created_at": self.stamp, **enrollment}
            values.choice(row["type"], "type", ENROLLMENT_TYPES)
            values.choice(row["enrollment_state"], "enrollment_state", ENROLLMENT_STATES)
            row["created_at"] = values.stored_time(row["created_at"])
            rows.append({**row, "updated_at": row["created_at"]})
        return self.fill(Enrollment, rows)

    def enroll_students(self, pairs: list[tuple[int, int]]) -> None:
        """Enroll many students at once: pairs of course id and user id."""
        common = {**usual(Enrollment), "created_at": self.stamp, "updated_at": self.stamp}
        rows = [{**common, "course_id": course, "user_id": user} for course, user in pairs]
        if rows:
            self.session.execute(insert(table_of(Enrollment)), rows)


_CHECKS: Checks = {
    "name": values.title,
    "course_code": values.title,
    "syllabus_body": values.text,
    "time_zone": values.time_zone,
    "start_at": values.moment,
    "end_at": values.moment,
}


def _check_term(start_at: str | None, end_at: str | None) -> None:
    if start_at and end_at and end_at < start_at:
        raise Invalid("End date can't be before the start date")


def may_enroll(access: CourseAccess, kind: str) -> bool:
    """True if the user may add or end enrollments of this kind."""
    if kind in (STUDENT, OBSERVER):
        return access.admin or not access.active.isdisjoint(GRADERS)
    return access.admin or TEACHER in access.active


def _grouped(rows: Sequence[Row]) -> dict[int, list[Row]]:
    groups: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["course_id"]].append(row)
    return groups
