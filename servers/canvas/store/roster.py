"""Enrollments of a course: their members, start and end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, and_, bindparam, func, or_, select

from mesocosm.errors import Conflict
from mesocosm.servers.canvas.models import Course, Enrollment, User
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import (
    ENROLLMENT_TYPES,
    STAFF,
    CourseAccess,
    Lister,
    StorePart,
    denied,
    matching,
    missing,
)
from mesocosm.servers.canvas.store.courses import ENROLLMENT_STATES, may_enroll
from mesocosm.services.service import Page, Paging, Row

CURRENT_STATES = ("active", "invited")
"""Enrollments that lists show unless they are asked for others."""
ENDINGS = {"conclude": "completed", "inactivate": "inactive", "deactivate": "inactive", "delete": "deleted"}

_ENROLLMENTS = select(
    *Enrollment.__table__.c, User.name, User.sortable_name, User.short_name, User.login_id
).join(User, User.id == Enrollment.user_id)
_ENROLLMENT = _ENROLLMENTS.where(
    Enrollment.id == bindparam("enrollment"), Enrollment.course_id == bindparam("course")
)
_BY_ID = _ENROLLMENTS.where(Enrollment.id == bindparam("enrollment"))
_OF_USERS = (
    select(*Enrollment.__table__.c)
    .where(
        Enrollment.course_id == bindparam("course"),
        Enrollment.user_id.in_(bindparam("users", expanding=True)),
        Enrollment.enrollment_state.in_(("active", "invited", "completed")),
    )
    .order_by(Enrollment.id)
)
_SHARED = select(Enrollment.course_id).where(
    Enrollment.user_id == bindparam("other"), Enrollment.enrollment_state.in_(("active", "completed"))
)
_SIS_KEYS: dict[str, Select[Any]] = {
    "sis_course_id": select(Course.id).where(Course.sis_course_id == bindparam("sis")),
    "sis_user_id": select(User.id).where(User.sis_user_id == bindparam("sis")),
    "sis_login_id": select(User.id).where(User.login_id == bindparam("sis")),
}


class Roster(StorePart):
    """The people of courses, and their enrollments."""

    def by_sis_id(self, kind: str, key: str) -> int:
        """The id of what is known elsewhere by another key: ``sis_course_id``, ``sis_user_id``, a login."""
        if kind not in _SIS_KEYS:
            raise missing(kind, key)
        return int(self.one(_SIS_KEYS[kind], kind, key, sis=values.text(key, kind))["id"])

    def my_courses_of(
        self,
        paging: Paging,
        *,
        kind: str | None = None,
        enrollment_state: str | None = None,
        states: Sequence[str] | None = None,
    ) -> Page:
        """The signed-in user's courses by the kind and state of the enrollment and the course's own state.

        Without a state of the course, students see available ones and the staff all.
        """
        conditions: list[Any] = [Enrollment.user_id == self.user_id, Course.workflow_state != "deleted"]
        if kind is not None:
            values.choice(kind, "enrollment_type", ENROLLMENT_TYPES)
            conditions.append(Enrollment.type == kind)
        ended = or_(Course.workflow_state == "completed", func.coalesce(Course.end_at, "9") <= self.stamp)
        active = Enrollment.enrollment_state == "active"
        completed = Enrollment.enrollment_state == "completed"
        by_state: dict[str | None, Any] = {
            None: or_(active, completed),
            "active": and_(active, ~ended),
            "completed": or_(completed, and_(active, ended)),
            "invited_or_pending": Enrollment.enrollment_state == "invited",
        }
        if enrollment_state is not None:
            values.choice(enrollment_state, "enrollment_state", [name for name in by_state if name])
        conditions.append(by_state[enrollment_state])
        if states:
            conditions.append(Course.workflow_state.in_(list(states)))
        if enrollment_state is None and not states:
            conditions.append(or_(Course.workflow_state == "available", Enrollment.type.in_(STAFF)))
        else:
            conditions.append(or_(Course.workflow_state != "unpublished", Enrollment.type.in_(STAFF)))
        mine = select(Enrollment.course_id).join(Course, Course.id == Enrollment.course_id).where(*conditions)
        statement = select(*Course.__table__.c).where(Course.id.in_(mine)).order_by(Course.name, Course.id)
        return self.listing(Lister(statement), paging)

    def course_users(
        self,
        access: CourseAccess,
        paging: Paging,
        *,
        types: Sequence[str] | None = None,
        states: Sequence[str] | None = None,
        search_term: str | None = None,
        user_ids: Sequence[int] | None = None,
        sort: str | None = None,
        order: str = "asc",
    ) -> Page:
        """The users enrolled in a course, by family name unless ``sort`` says otherwise."""
        kinds, wanted = tuple(types or ()), tuple(states or CURRENT_STATES)
        lister = _members(kinds, wanted, sort if sort in USER_SORTS else "username", order == "desc")
        if search_term is not None or user_ids is not None:
            statement = lister.statement
            if user_ids is not None:
                statement = statement.where(User.id.in_(list(user_ids)))
            if search_term is not None:
                columns = (User.name, User.login_id, User.primary_email)
                statement = statement.where(matching(search_term, *columns))
            lister = Lister(statement)
        return self.listing(lister, paging, course=access.course["id"])

    def course_user(self, access: CourseAccess, user_id: int) -> Row:
        """A user who is, or was, enrolled in a course."""
        if not self.fetch(_OF_USERS, course=access.course["id"], users=[user_id]):
            raise missing("user", user_id)
        return self.store.users.user(user_id)

    def enrollments_of(self, access: CourseAccess, user_ids: Sequence[int]) -> dict[int, list[Row]]:
        """The enrollments of users in a course."""
        groups: dict[int, list[Row]] = {key: [] for key in user_ids}
        for row in self.fetch(_OF_USERS, course=access.course["id"], users=list(user_ids)):
            groups[row["user_id"]].append(row)
        return groups

    def acquaintance(self, user_id: int) -> Row:
        """Return a user that the signed-in user may see: themselves, somebody in a shared course, or anybody
        for administrators.
        """
        user, me = self.store.users.user(user_id), self.user_id
        if user_id == me or self.administers(user["account_id"]):
            return user
        mine = {row["course_id"] for row in self.fetch(_SHARED, other=me)}
        if mine.isdisjoint(row["course_id"] for row in self.fetch(_SHARED, other=user_id)):
            raise denied()
        return user

    # -- enrollments ------------------------------------------------------------------------------------

    def course_enrollments(
        self,
        access: CourseAccess,
        paging: Paging,
        *,
        types: Sequence[str] | None = None,
        states: Sequence[str] | None = None,
        user_id: int | None = None,
    ) -> Page:
        """The enrollments in a course, oldest first."""
        statement = _ENROLLMENTS.where(Enrollment.course_id == access.course["id"], *_filters(types, states))
        if user_id is not None:
            statement = statement.where(Enrollment.user_id == user_id)
        return self.listing(Lister(statement.order_by(Enrollment.id)), paging)

    def user_enrollments(
        self,
        user_id: int,
        paging: Paging,
        *,
        types: Sequence[str] | None = None,
        states: Sequence[str] | None = None,
    ) -> Page:
        """The enrollments of a user: one's own, or anybody's for administrators."""
        user = self.store.users.user(user_id)
        if user_id != self.user_id and not self.administers(user["account_id"]):
            raise denied()
        statement = (
            _ENROLLMENTS.join(Course, Course.id == Enrollment.course_id)
            .where(Course.workflow_state != "deleted")
            .where(Enrollment.user_id == user_id, *_filters(types, states))
        )
        return self.listing(Lister(statement.order_by(Enrollment.id)), paging)

    def enrollment(self, enrollment_id: int) -> Row:
        """An enrollment; one's own, or any for administrators."""
        found = self.one(_BY_ID, "enrollment", enrollment_id, enrollment=enrollment_id)
        if found["user_id"] != self.user_id and not self.access(found["course_id"]).admin:
            raise denied()
        return found

    def end_enrollment(self, access: CourseAccess, enrollment_id: int, task: str) -> Row:
        """Conclude, deactivate or delete an enrollment; returns it as it is then."""
        values.choice(task, "task", ENDINGS)
        found = self._managed(access, enrollment_id)
        if task == "delete":
            self.remove(Enrollment, enrollment_id)
            return {**found, "enrollment_state": "deleted", "updated_at": self.stamp}
        return self._set_state(access, enrollment_id, ENDINGS[task])

    def reactivate_enrollment(self, access: CourseAccess, enrollment_id: int) -> Row:
        """Let an inactive or concluded enrollment be active again."""
        self._managed(access, enrollment_id)
        return self._set_state(access, enrollment_id, "active")

    def answer_invitation(self, access: CourseAccess, enrollment_id: int, *, accept: bool) -> None:
        """Accept or reject one's own invitation to a course."""
        found = self.course_enrollment(access, enrollment_id)
        if found["user_id"] != access.user_id:
            raise denied()
        if found["enrollment_state"] != "invited":
            raise Conflict("self enroll failed: there is no pending invitation")
        if accept:
            self._set_state(access, enrollment_id, "active")
        else:
            self.remove(Enrollment, enrollment_id)

    def _managed(self, access: CourseAccess, enrollment_id: int) -> Row:
        found = self.course_enrollment(access, enrollment_id)
        if access.closed and not access.admin:
            raise denied()
        if not may_enroll(access, found["type"]):
            raise denied()
        return found

    def course_enrollment(self, access: CourseAccess, enrollment_id: int) -> Row:
        course = access.course["id"]
        return self.one(_ENROLLMENT, "enrollment", enrollment_id, enrollment=enrollment_id, course=course)

    def _set_state(self, access: CourseAccess, enrollment_id: int, state: str) -> Row:
        self.change(Enrollment, enrollment_id, {"enrollment_state": state, "updated_at": self.stamp})
        return self.course_enrollment(access, enrollment_id)


USER_SORTS: dict[str | None, Any] = {
    "username": User.sortable_name,
    "email": User.primary_email,
    "sis_id": User.sis_user_id,
    "last_login": User.last_login,
}


@lru_cache(maxsize=128)
def _members(types: tuple[str, ...], states: tuple[str, ...], sort: str | None, descending: bool) -> Lister:
    """The users of a course; built once for each way to ask, because building takes longer than asking."""
    enrolled = select(Enrollment.user_id).where(
        Enrollment.course_id == bindparam("course"), *_filters(types, states)
    )
    key = USER_SORTS[sort]
    return Lister(
        select(*User.__table__.c)
        .where(User.id.in_(enrolled))
        .order_by(key.desc() if descending else key.asc(), User.id)
    )


def _filters(types: Sequence[str] | None, states: Sequence[str] | None) -> list[Any]:
    for kind in types or ():
        values.choice(kind, "type", ENROLLMENT_TYPES)
    for state in states or ():
        values.choice(state, "state", (*ENROLLMENT_STATES, "current_and_invited"))
    wanted = [s for state in states or CURRENT_STATES for s in _SEVERAL.get(state, (state,))]
    filters: list[Any] = [Enrollment.enrollment_state.in_(wanted)]
    return [*filters, Enrollment.type.in_(list(types))] if types else filters


_SEVERAL = {"current_and_invited": CURRENT_STATES}
