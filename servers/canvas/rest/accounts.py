"""Accounts, their reports and users, and the profiles of users."""

from __future__ import annotations

from typing import Any, TypedDict

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.rest.api import AccountId, Paged, UserId, account_key, api
from mesocosm.servers.canvas.rest.courses import courses_view
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.access import ADDRESS, denied
from mesocosm.servers.canvas.store.reports import REPORTS
from mesocosm.servers.canvas.tools.accounts import PseudonymFields, account_json, report_json
from mesocosm.servers.canvas.tools.objects import profile_json, user_json
from mesocosm.servers.canvas.tools.service import Row, unguessable
from mesocosm.services.schema import Json
from mesocosm.services.service import Page


@api.get("/accounts")
def list_accounts(store: CanvasStore, paging: Paged) -> Page:
    """The accounts that one administers."""
    return store.accounts.my_accounts(paging).of(lambda row: account_json(row, manage=True))


@api.get("/accounts/{account_id}")
def get_account(store: CanvasStore, account_id: AccountId) -> dict[str, Any]:
    account = store.accounts.account(account_id)
    return account_json(account, manage=store.administers(account["id"]))


@api.get("/accounts/{account_id}/sub_accounts")
def list_sub_accounts(
    store: CanvasStore, paging: Paged, account_id: AccountId, recursive: bool = False
) -> Page:
    """The accounts below one."""
    listed = store.accounts.all_sub_accounts if recursive else store.accounts.sub_accounts
    return listed(account_id, paging).of(lambda row: account_json(row, manage=True))


@api.get("/accounts/{account_id}/courses")
def list_account_courses(
    store: CanvasStore,
    paging: Paged,
    account_id: AccountId,
    with_enrollments: bool | None = None,
    published: bool | None = None,
    completed: bool | None = None,
    search_term: str | None = None,
    sort: str | None = None,
    order: str = "asc",
    include: list[str] | None = None,
) -> Page:
    listing = store.accounts.account_courses(
        account_id,
        paging,
        with_enrollments=with_enrollments,
        published=published,
        completed=completed,
        sort=sort if sort in ("course_name", "sis_course_id", "teacher", "account_name") else None,
        order=order,
        search_term=search_term,
    )
    return listing.holding(courses_view(store, listing.items, include or ()))


# -- reports ----------------------------------------------------------------------------------------------


@api.get("/accounts/{account_id}/reports")
def list_reports(store: CanvasStore, account_id: AccountId) -> list[dict[str, Any]]:
    """The reports that can be made."""
    last = store.reports.last_reports(account_id)
    return [
        {
            "report": name,
            "title": title,
            "parameters": None,
            "last_run": report_json(last[name]) if name in last else None,
        }
        for name, (title, _) in REPORTS.items()
    ]


@api.post("/accounts/{account_id}/reports/{report}")
def create_report(
    store: CanvasStore, account_id: str, report: str, parameters: dict[str, Any] | None = None
) -> dict[str, Any]:
    wanted = {name: _said(name, value) for name, value in (parameters or {}).items()}
    return report_json(store.reports.create_report(account_key(store, account_id), report, wanted))


def _said(name: str, value: Any) -> bool:
    """Parse a boolean parameter of a report, from JSON or a form."""
    text = str(value).lower()
    if isinstance(value, dict | list) or text not in {"true", "1", "false", "0"}:
        raise Invalid(f"parameters[{name[:40]}] must be true or false")
    return text in {"true", "1"}


@api.get("/accounts/{account_id}/reports/{report}")
def list_report_runs(store: CanvasStore, paging: Paged, account_id: AccountId, report: str) -> Page:
    """The reports of a kind that were made."""
    return store.reports.report_runs(account_id, report, paging).of(report_json)


@api.get("/accounts/{account_id}/reports/{report}/{report_id:int}")
def get_report(store: CanvasStore, account_id: AccountId, report: str, report_id: int) -> dict[str, Any]:
    """One report that was made."""
    return report_json(store.reports.report_run(account_id, report, report_id))


# -- users and their profiles ---------------------------------------------------------------------------


_AVATAR = f"{ADDRESS}/images/messages/avatar-50.png"


class UserFields(TypedDict, total=False):
    """Fields of a user from a client."""

    name: str
    short_name: str
    sortable_name: str
    time_zone: str
    bio: str
    title: str


def user_view(user: Row, *, full: bool) -> Json:
    """A user; logins, addresses and SIS ids are shown to oneself and to administrators."""
    shown = user_json(user)
    if not full:
        return {name: shown[name] for name in ("id", "name", "created_at", "sortable_name", "short_name")}
    return shown | {
        "integration_id": None,
        "avatar_url": _AVATAR,
        "locale": None,
        "effective_locale": "en",
        "bio": user["bio"],
        "title": user["title"],
    }


def _seen(store: CanvasStore, user: Row) -> Json:
    full = user["id"] == store.user_id or store.administers(user["account_id"])
    shown = user_view(user, full=full)
    if user["id"] == store.user_id:
        shown["permissions"] = {
            "can_update_name": True,
            "can_update_avatar": False,
            "limit_parent_app_web_access": False,
        }
    return shown


@api.get("/users/{user_id}")
def get_user(store: CanvasStore, user_id: UserId) -> dict[str, Any]:
    """A user: oneself, or somebody of a shared course."""
    return _seen(store, store.roster.acquaintance(user_id))


@api.get("/users/{user_id}/profile")
def get_profile(store: CanvasStore, user_id: UserId) -> dict[str, Any]:
    """A user's profile."""
    user = store.roster.acquaintance(user_id)
    return profile_view(user, full="login_id" in _seen(store, user))


def profile_view(user: Row, *, full: bool) -> Json:
    """A profile; what concerns signing in is shown to oneself and to administrators."""
    shown = profile_json(user)
    hidden = () if full else ("login_id", "primary_email", "created_at", "updated_at")
    profile = {name: value for name, value in shown.items() if name not in hidden}
    profile |= {"avatar_url": _AVATAR, "pronouns": None}
    if full:
        feed = unguessable("feed of user", user["id"])
        profile["calendar"] = {"ics": f"{ADDRESS}/feeds/calendars/user_{feed}.ics"}
        profile["lti_user_id"] = unguessable("lti of user", user["id"])
        profile["sis_user_id"] = user["sis_user_id"]
    return profile


@api.put("/users/{user_id}")
def update_user(store: CanvasStore, user_id: UserId, user: UserFields) -> dict[str, Any]:
    """Change oneself; an administrator's changes to others are not kept here, so they are refused."""
    if user_id != store.user_id:
        raise denied()
    fields: dict[str, str] = {name: str(value) for name, value in user.items()}
    return _seen(store, store.users.update_profile(fields))


@api.get("/accounts/{account_id}/users")
def list_account_users(
    store: CanvasStore,
    paging: Paged,
    account_id: AccountId,
    search_term: str | None = None,
    sort: str | None = None,
    order: str = "asc",
) -> Page:
    listing = store.accounts.account_users(
        account_id,
        paging,
        sort=sort if sort in ("username", "email", "sis_id", "last_login") else None,
        order=order,
        search_term=search_term,
    )
    return listing.of(lambda user: user_view(user, full=True))


@api.post("/accounts/{account_id}/users")
def create_user(
    store: CanvasStore, account_id: AccountId, pseudonym: PseudonymFields, user: UserFields | None = None
) -> dict[str, Any]:
    """Create a user with a login; without a name, the login is it."""
    fields = {"name": pseudonym["unique_id"], **(user or {})}
    made = store.users.create_user(account_id, fields, dict(pseudonym))
    return user_view(made, full=True)
