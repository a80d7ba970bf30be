"""Accounts, and who is signed in."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from typing import TypedDict

from sqlalchemy import bindparam, delete, func, insert, select

from mesocosm.errors import Conflict, Denied, Invalid, NotFound
from mesocosm.servers.email.models import Account, Base, Folder, SignIn
from mesocosm.servers.email.store import limits
from mesocosm.servers.email.store.addresses import Address, is_address
from mesocosm.services.service import Row, Store

DEFAULT_FOLDERS = ("INBOX", "Sent", "Drafts", "Trash", "Spam", "Archive")
"""The folders of every mailbox; they cannot be deleted."""

# Statements of hot reads select columns and are built once, at import.
_SIGNED_IN = select(Account.email, Account.name).join(SignIn, SignIn.email == Account.email)
_ACCOUNT = select(Account.email, Account.name, Account.created_at).where(Account.email == bindparam("email"))
_PASSWORD = select(Account.password).where(Account.email == bindparam("email"))
_PAGE = select(Account.email, Account.name).order_by(Account.email)
_TOTAL = select(func.count().label("total")).select_from(Account)
_DOMAIN = (
    select(Account.email)
    .where(func.substr(Account.email, func.instr(Account.email, "@") + 1) == bindparam("domain"))
    .limit(1)
)


class NewAccount(TypedDict):
    """An account to be created."""

    email: str
    name: str
    password: str


class Accounts(Store):
    """The accounts of one mail server."""

    metadata = Base.metadata

    # -- who acts ---------------------------------------------------------------------------------------

    @property
    def account(self) -> str:
        """Address of the account that is signed in; ``Denied`` if nobody is."""
        return str(self._signed_in()["email"])

    @property
    def owner(self) -> Address:
        """The signed-in account as the sender of mail."""
        row = self._signed_in()
        return Address(row["email"], row["name"])

    def signed_in(self) -> Row | None:
        """The account that is signed in, if there is one."""
        rows = self.fetch(_SIGNED_IN)
        return rows[0] if rows else None

    def _signed_in(self) -> Row:
        row = self.signed_in()
        if row is None:
            raise Denied("Not logged in. Call login first.")
        return row

    def login(self, email: str, password: str) -> Row:
        """Sign in with a password."""
        rows = self.fetch(_PASSWORD, email=email.lower())
        # Unknown accounts and wrong passwords are told alike, as mail servers do.
        if not rows or not hmac.compare_digest(rows[0]["password"].encode(), password.encode()):
            raise Denied("Login failed: [AUTHENTICATIONFAILED] Invalid email or password.")
        self.sign_in(email)
        return self._signed_in()

    def sign_in(self, email: str) -> None:
        """Make this the account that the tools act for."""
        email = str(self.find_account(email)["email"])
        row = self.signed_in()
        if row is None or row["email"] != email:
            self.sign_out()
            self.session.execute(insert(SignIn), {"id": 1, "email": email})

    def sign_out(self) -> bool:
        """Sign out; true if somebody was signed in."""
        somebody = self.signed_in() is not None
        if somebody:
            self.session.execute(delete(SignIn))
        return somebody

    # -- accounts ---------------------------------------------------------------------------------------

    def find_account(self, email: str) -> Row:
        """The account with this address."""
        rows = self.fetch(_ACCOUNT, email=email.lower())
        if not rows:
            raise NotFound(f"User not found: {email}")
        return rows[0]

    def is_local(self, domain: str) -> bool:
        """True if this server hosts the mailboxes of a domain."""
        return bool(self.fetch(_DOMAIN, domain=domain))

    def accounts(self, page: int, page_size: int) -> tuple[Sequence[Row], int]:
        """One page of the directory, by address, and how many accounts there are."""
        limits.check_page(page, page_size)
        rows = self.fetch(_PAGE.limit(page_size).offset((page - 1) * page_size))
        return rows, int(self.fetch(_TOTAL)[0]["total"])

    def create_account(self, email: str, name: str, password: str) -> Row:
        """A new account with the default folders."""
        self.create_accounts([{"email": email, "name": name, "password": password}])
        return self.find_account(email)

    def create_accounts(self, accounts: Iterable[NewAccount]) -> None:
        """Many new accounts at once, each with the default folders."""
        created_at = limits.timestamp(self.now)
        rows = [{**_checked(account), "created_at": created_at} for account in accounts]
        if not rows:
            return
        known = {row["email"] for row in self.fetch(select(Account.email))}
        for row in rows:
            if row["email"] in known:
                raise Conflict(f"User already exists: {row['email']}")
            known.add(row["email"])
        self.session.execute(insert(Account), rows)
        folders = [{"account": row["email"], "name": name} for row in rows for name in DEFAULT_FOLDERS]
        self.session.execute(insert(Folder), folders)


def _checked(account: NewAccount) -> NewAccount:
    email = limits.text("email", account["email"])
    if not is_address(email):
        raise Invalid(f"Invalid email address: {email[:100]!r}")
    password = limits.line("password", account["password"])
    if not password:
        raise Invalid("password cannot be empty.")
    return {"email": email.lower(), "name": limits.name("name", account["name"]), "password": password}
