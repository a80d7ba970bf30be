"""Accounts: the institution, its parts and its administrators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, bindparam, exists, func, insert, or_, select

from mesocosm.servers.canvas.models import Account, AccountAdmin, Course, Enrollment, User, usual
from mesocosm.servers.canvas.store.access import TEACHER, Lister, StorePart, denied, matching, table_of
from mesocosm.services.service import Page, Paging, Row

DEFAULT_ACCOUNT = "Brookfield University"

_ACCOUNT = select(*Account.__table__.c).where(Account.id == bindparam("account"))
_ROOT = select(Account.id).where(Account.parent_account_id.is_(None)).order_by(Account.id).limit(1)
_SUB_ACCOUNTS = Lister(
    select(*Account.__table__.c)
    .where(Account.parent_account_id == bindparam("account"))
    .order_by(Account.name, Account.id)
)


_MINE = Lister(
    select(*Account.__table__.c)
    .join(AccountAdmin, AccountAdmin.account_id == Account.id)
    .where(AccountAdmin.user_id == bindparam("user"))
    .order_by(Account.id)
)


class Accounts(StorePart):
    """Accounts and what their administrators see."""

    def account(self, account_id: int) -> Row:
        """An account; every signed-in user may know of it."""
        _ = self.user_id
        return self.one(_ACCOUNT, "account", account_id, account=account_id)

    def administered(self, account_id: int) -> Row:
        """An account that the signed-in user administers; ``Denied`` to others."""
        account = self.account(account_id)
        if not self.administers(account_id):
            raise denied()
        return account

    def sub_accounts(self, account_id: int, paging: Paging) -> Page:
        """The accounts directly below one, by name."""
        self.administered(account_id)
        return self.listing(_SUB_ACCOUNTS, paging, account=account_id)

    def all_sub_accounts(self, account_id: int, paging: Paging) -> Page:
        """The accounts below one at any depth, by name."""
        self.administered(account_id)
        statement = select(*Account.__table__.c).where(
            Account.id.in_(below(account_id)), Account.id != account_id
        )
        return self.listing(Lister(statement.order_by(Account.name, Account.id)), paging)

    def my_accounts(self, paging: Paging) -> Page:
        """The accounts that the signed-in user was made an administrator of."""
        return self.listing(_MINE, paging, user=self.user_id)

    def account_courses(
        self,
        account_id: int,
        paging: Paging,
        *,
        with_enrollments: bool | None = None,
        published: bool | None = None,
        completed: bool | None = None,
        sort: str | None = None,
        order: str = "asc",
        search_term: str | None = None,
    ) -> Page:
        """The courses of an account and of all below it; filters that are ``None`` do not filter."""
        self.administered(account_id)
        statement = select(*Course.__table__.c).where(
            Course.account_id.in_(below(account_id)), Course.workflow_state != "deleted"
        )
        if with_enrollments is not None:
            enrolled = exists().where(Enrollment.course_id == Course.id)
            statement = statement.where(enrolled if with_enrollments else ~enrolled)
        if published is not None:
            unpublished = Course.workflow_state == "unpublished"
            statement = statement.where(~unpublished if published else unpublished)
        if completed is not None:
            ended = or_(Course.workflow_state == "completed", func.coalesce(Course.end_at, "9") <= self.stamp)
            statement = statement.where(ended if completed else ~ended)
        if search_term is not None:
            columns = (Course.name, Course.course_code, Course.sis_course_id)
            statement = statement.where(matching(search_term, *columns))
        keys = {
            None: Course.id,
            "course_name": Course.name,
            "sis_course_id": Course.sis_course_id,
            "account_name": select(Account.name).where(Account.id == Course.account_id).scalar_subquery(),
            "teacher": _first_teacher(),
        }
        return self.listing(Lister(_sorted(statement, keys[sort], order, Course.id)), paging)

    def account_users(
        self,
        account_id: int,
        paging: Paging,
        *,
        sort: str | None = None,
        order: str = "asc",
        search_term: str | None = None,
    ) -> Page:
        """The users of an account: all of a root account, of others those enrolled in its courses."""
        account = self.administered(account_id)
        statement = select(*User.__table__.c)
        if account["parent_account_id"] is None:
            statement = statement.where(User.account_id == account_id)
        else:
            courses = select(Course.id).where(Course.account_id.in_(below(account_id)))
            enrolled = select(Enrollment.user_id).where(Enrollment.course_id.in_(courses))
            statement = statement.where(User.id.in_(enrolled))
        if search_term is not None:
            columns = (User.name, User.login_id, User.primary_email, User.sis_user_id)
            statement = statement.where(matching(search_term, *columns))
        keys = {
            None: User.sortable_name,
            "username": User.sortable_name,
            "email": User.primary_email,
            "sis_id": User.sis_user_id,
            "last_login": User.last_login,
        }
        return self.listing(Lister(_sorted(statement, keys[sort], order, User.id)), paging)

    # -- filling ----------------------------------------------------------------------------------------

    @property
    def root_account_id(self) -> int:
        """The (first) root account; a store that has none gets one."""
        rows = self.fetch(_ROOT)
        return int(rows[0]["id"]) if rows else self.add_accounts([{"name": DEFAULT_ACCOUNT}])[0]

    def add_accounts(self, accounts: Sequence[Row]) -> list[int]:
        """Add accounts; ``name`` is required, and without a parent it is a root account. Returns the ids.

        Parents must exist already.
        """
        ids = self.fill(Account, [{**usual(Account), **account} for account in accounts])
        for account_id, account in zip(ids, accounts, strict=True):
            parent = account.get("parent_account_id")
            if parent is not None:
                above = self.one(_ACCOUNT, "account", parent, account=parent)
                root = above["root_account_id"] or parent
                self.change(Account, account_id, {"root_account_id": root})
        return ids

    def add_account_admins(self, admins: list[tuple[int, int]]) -> None:
        """Make users administrators: pairs of user id and account id."""
        rows = [{"user_id": user, "account_id": account} for user, account in admins]
        if rows:
            self.session.execute(insert(table_of(AccountAdmin)), rows)


def below(account_id: int) -> Select[Any]:
    """The ids of an account and of all accounts below it."""
    tree = select(Account.id).where(Account.id == account_id).cte("tree", recursive=True)
    tree = tree.union_all(select(Account.id).join(tree, Account.parent_account_id == tree.c.id))
    return select(tree.c.id)


def _first_teacher() -> Any:
    return (
        select(func.min(User.sortable_name))
        .join(Enrollment, Enrollment.user_id == User.id)
        .where(Enrollment.course_id == Course.id, Enrollment.type == TEACHER)
        .scalar_subquery()
    )


def _sorted(statement: Select[Any], key: Any, order: str, tie_break: Any) -> Select[Any]:
    return statement.order_by(key.desc() if order == "desc" else key.asc(), tie_break)
