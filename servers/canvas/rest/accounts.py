"""Accounts and their reports."""

from __future__ import annotations

from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.rest.api import AccountId, Paged, account_key, api
from mesocosm.servers.canvas.rest.courses import courses_view
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.reports import REPORTS
from mesocosm.servers.canvas.tools.accounts import account_json, report_json
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
