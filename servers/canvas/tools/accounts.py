"""Accounts: for administrators, mostly."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.access import address
from mesocosm.servers.canvas.store.reports import REPORTS
from mesocosm.servers.canvas.tools.objects import courses_json, user_json
from mesocosm.servers.canvas.tools.service import STORAGE_MB, AccountId, Row, server, unguessable
from mesocosm.services.schema import Json, Words
from mesocosm.services.service import Page, Paging, paged, same


def account_json(account: Row, *, manage: bool) -> Json:
    """An account; quotas and SIS data only for those who manage it."""
    shown: Json = {
        "id": account["id"],
        "name": account["name"],
        "uuid": unguessable("account", account["id"]),
        **same(account, "parent_account_id", "root_account_id", "default_time_zone", "workflow_state"),
    }
    if manage:
        shown |= {
            "default_storage_quota_mb": STORAGE_MB,
            "default_user_storage_quota_mb": 50,
            "default_group_storage_quota_mb": 50,
            "sis_account_id": account["sis_account_id"],
            "integration_id": None,
            "sis_import_id": None,
            "lti_guid": unguessable("lti", account["id"]),
        }
    return shown


PREVIEW_LINES = 20


class UserFields(TypedDict):
    """Who a new user is."""

    name: str
    short_name: NotRequired[str]
    sortable_name: NotRequired[str]
    time_zone: NotRequired[str]


class PseudonymFields(TypedDict):
    """How a new user signs in."""

    unique_id: str
    password: NotRequired[str]
    sis_user_id: NotRequired[str]
    send_confirmation: NotRequired[bool]


@server.reads
def canvas_get_account(store: CanvasStore, account_id: AccountId) -> dict[str, Any]:
    """Read one account; its quotas and SIS data are shown to its administrators."""
    return account_json(store.accounts.account(account_id), manage=store.administers(account_id))


@server.reads
def canvas_list_sub_accounts(
    store: CanvasStore, account_id: AccountId, paging: Annotated[Paging, paged("Accounts")]
) -> Page:
    """List the accounts directly below an account, by name. For administrators."""
    listing = store.accounts.sub_accounts(account_id, paging)
    return listing.of(lambda account: account_json(account, manage=True))


@server.reads
def canvas_list_account_courses(
    store: CanvasStore,
    account_id: AccountId,
    with_enrollments: bool | None = None,
    published: bool | None = None,
    completed: bool | None = None,
    sort: Literal["course_name", "sis_course_id", "teacher", "account_name"] | None = None,
    order: Literal["asc", "desc"] | None = None,
    search_term: Words | None = None,
    *,
    paging: Annotated[Paging, paged("Courses")],
) -> Page:
    """List the courses of an account and of the accounts below it. For administrators.

    Args:
        with_enrollments: Only courses with enrollments, or (false) only those without.
        published: Only published courses, or (false) only unpublished ones.
        completed: Only courses that are concluded or have ended, or (false) only others.
        sort: What to sort by; by id if left out.
        order: asc (the default) or desc.
        search_term: Part of a name, course code or SIS id; at least 2 characters.
    """
    listing = store.accounts.account_courses(
        account_id,
        paging,
        with_enrollments=with_enrollments,
        published=published,
        completed=completed,
        sort=sort,
        order=order or "asc",
        search_term=search_term,
    )
    return listing.holding(courses_json(store, listing.items))


@server.reads
def canvas_list_account_users(
    store: CanvasStore,
    account_id: AccountId,
    sort: Literal["username", "email", "sis_id", "last_login"] | None = None,
    order: Literal["asc", "desc"] | None = None,
    search_term: Words | None = None,
    *,
    paging: Annotated[Paging, paged("Users")],
) -> Page:
    """List the users of an account. For administrators.

    Args:
        sort: What to sort by; by family name (username) if left out.
        order: asc (the default) or desc.
        search_term: Part of a name, login, e-mail address or SIS id; at least 2 characters.
    """
    listing = store.accounts.account_users(
        account_id, paging, sort=sort, order=order or "asc", search_term=search_term
    )
    return listing.of(user_json)


@server.writes
def canvas_create_user(
    store: CanvasStore, account_id: AccountId, user: UserFields, pseudonym: PseudonymFields
) -> dict[str, Any]:
    """Create a user with a login. For administrators of the account.

    Args:
        user: Who it is: name, and if wished short_name, sortable_name ("Kelly, Ronald") and time_zone.
        pseudonym: How the user signs in: unique_id (the login, usually an e-mail address), password (at least
            8 characters) and sis_user_id.
    """
    return user_json(store.users.create_user(account_id, dict(user), dict(pseudonym)))


class Provisioned(TypedDict, total=False):
    """Which file a provisioning report makes."""

    users: bool
    courses: bool
    enrollments: bool


@server.reads
def canvas_get_account_reports(store: CanvasStore, account_id: AccountId) -> list[dict[str, Any]]:
    """List the reports that can be made on an account, each with its last run. For administrators."""
    last = store.reports.last_reports(account_id)
    return [
        {
            "report": name,
            "title": title,
            "last_run": report_json(last[name]) if name in last else None,
        }
        for name, (title, _) in REPORTS.items()
    ]


@server.writes
def canvas_create_account_report(
    store: CanvasStore, account_id: AccountId, report: str, parameters: Provisioned | None = None
) -> dict[str, Any]:
    """Make a report on an account, as CSV; the first lines are in preview. For administrators.

    Args:
        report: Name of the report, as canvas_get_account_reports lists them.
        parameters: For provisioning_csv which file to make: {"users": true}, {"courses": true} or
            {"enrollments": true}.
    """
    made = store.reports.create_report(account_id, report, dict(parameters or {}))
    lines = made["content"].splitlines()[: PREVIEW_LINES + 1]
    return report_json(made) | {"preview": "\n".join(lines)}


def report_json(report: Row) -> Json:
    """A report that was made."""
    return {
        **same(report, "id", "report", "status", "progress", "parameters"),
        "current_line": report["lines"],
        "file_url": f"{address()}/accounts/{report['account_id']}/reports/{report['id']}/download",
        "created_at": report["created_at"],
        "started_at": report["created_at"],
        "ended_at": report["ended_at"],
    }
