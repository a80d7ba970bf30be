"""The rules of the email service: mailboxes, folders, delivery."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, bindparam, func, insert, select

from mesocosm.errors import Denied, Invalid, NotFound
from mesocosm.servers.email.models import Account, Base, Email, Folder, SignIn
from mesocosm.service import Store

DEFAULT_FOLDERS = ("INBOX", "Sent", "Drafts", "Trash", "Spam", "Archive")
MAX_PAGE_SIZE = 100

# Statements of hot reads select columns and are built once, at import.
_ACCOUNT = select(SignIn.email)
_FOLDER_ID = select(Folder.id).where(Folder.account == bindparam("account"), Folder.name == bindparam("name"))
_TOTAL = select(func.count().label("total")).where(Email.folder_id == bindparam("folder"))
_PAGE = (
    select(Email.id, Email.subject, Email.sender, Email.to, Email.date, Email.is_read, Email.is_important)
    .where(Email.folder_id == bindparam("folder"))
    .order_by(Email.date.desc(), Email.id.desc())
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_EMAIL = (
    select(*Email.__table__.c, Folder.name.label("folder"))
    .join(Folder, Folder.id == Email.folder_id)
    .where(Email.id == bindparam("id"), Folder.account == bindparam("account"))
)


def timestamp(moment: datetime) -> str:
    """A moment as the tables keep it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class EmailStore(Store):
    """Mailboxes of the accounts of one server, seen by the account that is signed in."""

    metadata = Base.metadata

    # -- accounts ---------------------------------------------------------------------------------------

    @property
    def account(self) -> str:
        """Address of the account that is signed in; ``Denied`` if nobody is."""
        rows = self.fetch(_ACCOUNT)
        if not rows:
            raise Denied("Not logged in. Call login first.")
        return str(rows[0]["email"])

    def create_account(self, email: str, name: str, password: str) -> Account:
        """A new account with the default folders."""
        if self.session.get(Account, email):
            raise Invalid(f"The account {email} already exists.")
        account = Account(email=email, name=name, password=password, created_at=timestamp(self.now))
        self.session.add(account)
        self.session.flush()
        self.session.add_all(Folder(account=email, name=name) for name in DEFAULT_FOLDERS)
        self.session.flush()
        return account

    def sign_in(self, email: str) -> None:
        """Make this the account that the tools act for."""
        self.session.merge(SignIn(id=1, email=email))
        self.session.flush()

    # -- reading ----------------------------------------------------------------------------------------

    def folder_id(self, name: str, account: str | None = None) -> int:
        """A folder by name, of the signed-in account unless another is given."""
        rows = self.fetch(_FOLDER_ID, account=account or self.account, name=name)
        if not rows:
            raise NotFound(f"Folder not found: {name}")
        return int(rows[0]["id"])

    def page(self, folder: str, page: int, page_size: int) -> tuple[Sequence[RowMapping], int]:
        """One page of a folder, newest first and without bodies, and the folder's total."""
        if page < 1:
            raise Invalid(f"page must be 1 or more, got {page}.")
        if not 1 <= page_size <= MAX_PAGE_SIZE:
            raise Invalid(f"page_size must be between 1 and {MAX_PAGE_SIZE}, got {page_size}.")
        folder_id = self.folder_id(folder)
        rows = self.fetch(_PAGE, folder=folder_id, limit=page_size, offset=(page - 1) * page_size)
        return rows, int(self.fetch(_TOTAL, folder=folder_id)[0]["total"])

    def email(self, email_id: str) -> RowMapping:
        """A message of the signed-in account, with the name of its folder."""
        rows = self.fetch(_EMAIL, id=int(email_id), account=self.account) if email_id.isdecimal() else []
        if not rows:
            raise NotFound(f"Email not found: {email_id}")
        return rows[0]

    # -- filling ----------------------------------------------------------------------------------------

    def add_emails(self, account: str, folder: str, emails: Iterable[Mapping[str, Any]]) -> None:
        """Put many messages into a folder at once, as they would lie there after delivery.

        Each needs ``sender``, ``to``, ``subject``, ``body`` and ``date``; the other columns are optional.
        """
        folder_id = self.folder_id(folder, account)
        rows = [{"folder_id": folder_id, **_DEFAULTS, **email} for email in emails]
        if rows:
            self.session.execute(insert(Email), rows)


_DEFAULTS: Mapping[str, Any] = {
    "message_id": "",
    "in_reply_to": None,
    "references": None,
    "cc": None,
    "bcc": None,
    "html_body": None,
    "is_read": False,
    "is_important": False,
}
