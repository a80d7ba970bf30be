"""Tools for accounts and signing in."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.email.tools.records import paged
from mesocosm.servers.email.tools.service import server
from mesocosm.services.shapes import same


@server.writes(idempotent=True)
def login(store: EmailStore, email: str, password: str) -> dict[str, Any]:
    """Sign in to an account; all mailbox tools then act on its mailbox.

    Args:
        email: Address of the account.
        password: Password of the account.
    """
    account = store.login(email, password)
    return {
        "email": account["email"],
        "name": account["name"],
        "logged_in": True,
        "message": f"Logged in as {account['email']}",
    }


@server.writes(idempotent=True)
def logout(store: EmailStore) -> dict[str, Any]:
    """Sign out of the current account; the mailbox tools refuse until the next login."""
    somebody = store.sign_out()
    return {"logged_in": False, "message": "Logged out" if somebody else "Nobody was logged in"}


@server.reads
def get_current_user(store: EmailStore) -> dict[str, Any]:
    """Tell which account is signed in, if any."""
    account = store.signed_in()
    return {
        "email": account["email"] if account else None,
        "name": account["name"] if account else None,
        "logged_in": account is not None,
    }


@server.reads
def list_users(store: EmailStore, page: int = 1, page_size: int = 100) -> dict[str, Any]:
    """List the accounts of this mail server, in the order of their addresses.

    Args:
        page: Page number, from 1.
        page_size: Accounts per page, 1 to 100.
    """
    accounts, total = store.accounts(page, page_size)
    users = [{"email": account["email"], "name": account["name"]} for account in accounts]
    return {**paged("users", users, total, page, page_size), "count": len(users)}


@server.writes
def create_user(store: EmailStore, email: str, name: str, password: str) -> dict[str, Any]:
    """Create an account with an empty mailbox on this mail server. It does not sign in to it.

    Args:
        email: Address of the new account, such as ann@example.com.
        name: Name that recipients of its mail will see.
        password: Password for signing in.
    """
    account = store.create_account(email, name, password)
    return {
        **same(account, "email", "name", "created_at"),
        "message": f"User {account['email']} created",
    }


@server.reads
def check_connection(store: EmailStore) -> str:
    """Check whether mail can be received (IMAP) and sent (SMTP) with the signed-in account."""
    if store.signed_in() is None:
        states = "IMAP: ✗ Not logged in\nSMTP: ✗ Not logged in\n\nError: call login first"
    else:
        states = "IMAP: ✓ Connected\nSMTP: ✓ Connected\n\nAll connections are working properly"
    return f"Connection Status:\n{states}"
