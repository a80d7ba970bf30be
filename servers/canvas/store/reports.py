"""Reports on accounts, made from what the tables hold."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import bindparam, func, select

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.models import AccountReport, Assignment, Course, Enrollment, Submission, User
from mesocosm.servers.canvas.store.access import STUDENT, Lister, StorePart
from mesocosm.servers.canvas.store.accounts import below
from mesocosm.servers.canvas.store.submissions import COUNTING
from mesocosm.services.service import Page, Paging, Row

MAX_LINES = 100_000
PROVISIONED = ("users", "courses", "enrollments")

_REPORT = select(*AccountReport.__table__.c).where(AccountReport.id == bindparam("report"))
_LAST_RUNS = (
    select(AccountReport.report, func.max(AccountReport.id).label("last"))
    .where(AccountReport.account_id == bindparam("account"))
    .group_by(AccountReport.report)
)
_OF_KIND = select(*AccountReport.__table__.c).where(
    AccountReport.account_id == bindparam("account"), AccountReport.report == bindparam("report")
)
_RUNS = Lister(_OF_KIND.order_by(AccountReport.id.desc()))
_RUN = _OF_KIND.where(AccountReport.id == bindparam("made"))
_STATUS = func.iif(Course.workflow_state == "available", "active", Course.workflow_state).label("status")


def _courses(account_id: int) -> Any:
    return (
        select(
            Course.id.label("course id"),
            Course.sis_course_id.label("sis course id"),
            Course.course_code.label("short name"),
            Course.name.label("long name"),
            Course.start_at.label("start date"),
            Course.end_at.label("end date"),
            _STATUS,
        )
        .where(Course.account_id.in_(below(account_id)), Course.workflow_state != "deleted")
        .order_by(Course.id)
    )


def _unpublished(account_id: int) -> Any:
    return _courses(account_id).where(Course.workflow_state == "unpublished")


def _public(account_id: int) -> Any:
    return _courses(account_id).where(Course.is_public)


def _unused(account_id: int) -> Any:
    return _courses(account_id).where(
        ~select(Enrollment.id).where(Enrollment.course_id == Course.id).exists()
    )


def _users(account_id: int) -> Any:
    return (
        select(
            User.id.label("canvas_user_id"),
            User.sis_user_id.label("user_id"),
            User.login_id,
            User.name.label("full_name"),
            User.sortable_name,
            User.short_name,
            User.primary_email.label("email"),
        )
        .where(User.account_id == account_id)
        .order_by(User.id)
    )


def _enrollments(account_id: int) -> Any:
    return (
        select(
            Enrollment.course_id.label("canvas_course_id"),
            Enrollment.user_id.label("canvas_user_id"),
            Enrollment.type.label("role"),
            Enrollment.enrollment_state.label("status"),
        )
        .join(Course, Course.id == Enrollment.course_id)
        .where(Course.account_id.in_(below(account_id)))
        .order_by(Enrollment.id)
    )


def _last_access(account_id: int) -> Any:
    return (
        select(
            User.id.label("user id"), User.name.label("user name"), User.last_login.label("last access at")
        )
        .where(User.account_id == account_id)
        .order_by(User.id)
    )


def _grades(account_id: int) -> Any:
    percentage = 100 * func.sum(Submission.score) / func.nullif(func.sum(Assignment.points_possible), 0)
    current = (
        select(func.round(percentage, 2))
        .join(Assignment, Assignment.id == Submission.assignment_id)
        .where(
            Submission.user_id == Enrollment.user_id,
            Submission.score.is_not(None),
            Assignment.course_id == Enrollment.course_id,
            *COUNTING,
        )
        .correlate(Enrollment)
        .scalar_subquery()
    )
    return (
        select(
            User.name.label("student name"),
            User.id.label("student id"),
            Course.name.label("course"),
            Course.id.label("course id"),
            current.label("current score"),
        )
        .select_from(Enrollment)
        .join(User, User.id == Enrollment.user_id)
        .join(Course, Course.id == Enrollment.course_id)
        .where(Course.account_id.in_(below(account_id)), Enrollment.type == STUDENT)
        .order_by(Enrollment.id)
    )


_PROVISIONING = {"users": _users, "courses": _courses, "enrollments": _enrollments}
REPORTS: dict[str, tuple[str, Callable[[int], Any] | None]] = {
    "grade_export_csv": ("Grade Export", _grades),
    "last_user_access_csv": ("Last User Access", _last_access),
    "provisioning_csv": ("Provisioning", None),
    "public_courses_csv": ("Public Courses", _public),
    "unpublished_courses_csv": ("Unpublished Courses", _unpublished),
    "unused_courses_csv": ("Unused Courses", _unused),
}
"""The reports that an account offers: title, and the statement of its lines."""


class Reports(StorePart):
    """Reports, which are complete as soon as they are asked for."""

    def last_reports(self, account_id: int) -> dict[str, Row]:
        """The newest report of each kind that was made for an account."""
        self.store.accounts.administered(account_id)
        runs = self.fetch(_LAST_RUNS, account=account_id)
        return {row["report"]: self.fetch(_REPORT, report=row["last"])[0] for row in runs}

    def report_runs(self, account_id: int, report: str, paging: Paging) -> Page:
        """The reports of a kind that were made for an account, newest first."""
        self.store.accounts.administered(account_id)
        return self.listing(_RUNS, paging, account=account_id, report=report)

    def report_run(self, account_id: int, report: str, report_id: int) -> Row:
        """One report that was made for an account."""
        self.store.accounts.administered(account_id)
        return self.one(_RUN, "report", report_id, account=account_id, report=report, made=report_id)

    def create_report(self, account_id: int, report: str, parameters: dict[str, Any]) -> Row:
        self.store.accounts.administered(account_id)
        if report not in REPORTS:
            raise Invalid(f"invalid report name {report[:40]!r}: there are {', '.join(REPORTS)}")
        make = REPORTS[report][1]
        if make and parameters:
            raise Invalid(f"{report} takes no parameters, but {next(iter(parameters))[:40]!r} is given")
        make = make or _PROVISIONING[_provisioned(parameters)]
        rows = self.fetch(make(account_id).limit(MAX_LINES))
        made = self.insert(
            AccountReport(
                account_id=account_id,
                user_id=self.user_id,
                report=report,
                parameters=parameters,
                status="complete",
                progress=100,
                content=_csv(rows),
                lines=len(rows),
                created_at=self.stamp,
                ended_at=self.stamp,
            )
        )
        return self.fetch(_REPORT, report=made.id)[0]


def _provisioned(parameters: dict[str, Any]) -> str:
    """Return the requested file of the provisioning report."""
    unknown = [name for name in parameters if name not in PROVISIONED]
    chosen = [name for name in PROVISIONED if parameters.get(name)]
    if unknown or len(chosen) != 1:
        raise Invalid(f"provisioning_csv takes one of the parameters {', '.join(PROVISIONED)} set to true")
    return chosen[0]


def _csv(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows[0].keys())
    writer.writerows(row.values() for row in rows)
    return out.getvalue()
