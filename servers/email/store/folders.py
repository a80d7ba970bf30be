"""Folders of the signed-in account's mailbox."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlalchemy import bindparam, case, delete, func, insert, select, update

from mesocosm.errors import Conflict, Denied, Invalid, NotFound
from mesocosm.servers.email.models import Email, Folder
from mesocosm.servers.email.store import limits
from mesocosm.servers.email.store.accounts import DEFAULT_FOLDERS, Accounts

MAX_FOLDERS = 200

_FOLDERS = select(Folder.id, Folder.name).where(Folder.account == bindparam("account")).order_by(Folder.id)
_FOLDER_ID = select(Folder.id).where(Folder.account == bindparam("account"), Folder.name == bindparam("name"))
_UNREAD = func.sum(case((Email.is_read.is_(False), 1), else_=0))
_COUNTS = (
    select(Folder.name, func.count(Email.id).label("total"), func.coalesce(_UNREAD, 0).label("unread"))
    .outerjoin(Email, Email.folder_id == Folder.id)
    .where(Folder.account == bindparam("account"))
    .group_by(Folder.id)
    .order_by(Folder.id)
)
# What IMAP would take for a pattern, a hierarchy or a path.
_FORBIDDEN = re.compile(r'[/\\<>:"|?*%]|\.\.')


class Folders(Accounts):
    """The folders of a mailbox; how many messages they hold is always counted, never noted down."""

    def folder_id(self, name: str, account: str | None = None) -> int:
        """A folder by name, of the signed-in account unless another is given."""
        name = "INBOX" if name.upper() == "INBOX" else name
        rows = self.fetch(_FOLDER_ID, account=account or self.account, name=name)
        if not rows:
            raise NotFound(f"Folder not found: {name}")
        return int(rows[0]["id"])

    def folder_names(self, account: str | None = None) -> dict[int, str]:
        """All folders by id, in the order in which they were made."""
        return {row["id"]: row["name"] for row in self.fetch(_FOLDERS, account=account or self.account)}

    def folder_counts(self, name: str | None = None) -> dict[str, tuple[int, int]]:
        """Messages and unread messages of every folder, or of one."""
        account = self.account
        rows = self.fetch(_COUNTS, account=account)
        counts = {row["name"]: (int(row["total"]), int(row["unread"])) for row in rows}
        if name is None:
            return counts
        known = "INBOX" if name.upper() == "INBOX" else name
        if known not in counts:
            raise NotFound(f"Folder not found: {known}")
        return {known: counts[known]}

    def create_folder(self, name: str, account: str | None = None) -> int:
        """A new folder; returns its id."""
        account = account or self.account
        existing = self.folder_names(account)
        name = _new_name(name, existing.values())
        if len(existing) >= MAX_FOLDERS:
            raise Conflict(f"[LIMIT] A mailbox can have at most {MAX_FOLDERS} folders.")
        self.session.execute(insert(Folder), {"account": account, "name": name})
        return self.folder_id(name, account)

    def rename_folder(self, name: str, new_name: str) -> None:
        """Give a folder another name; what lies in it stays there."""
        folder_id = self.folder_id(name)
        names = self.folder_names()
        if names.pop(folder_id) in DEFAULT_FOLDERS:
            raise Denied(f"Cannot rename system folder: {name}")
        new_name = _new_name(new_name, names.values())
        self.session.execute(update(Folder).where(Folder.id == folder_id).values(name=new_name))

    def delete_folder(self, name: str) -> None:
        """Remove a folder and, as IMAP's DELETE does, the messages in it."""
        folder_id = self.folder_id(name)
        if self.folder_names()[folder_id] in DEFAULT_FOLDERS:
            raise Denied(f"Cannot delete system folder: {name}")
        self.session.execute(delete(Email).where(Email.folder_id == folder_id))
        self.session.execute(delete(Folder).where(Folder.id == folder_id))


def _new_name(name: str, existing: Iterable[str]) -> str:
    """A name that a folder can be given beside those that exist."""
    name = limits.name("Folder name", name)
    if found := _FORBIDDEN.search(name):
        raise Invalid(f"Folder name contains invalid character: {found[0]}")
    # Two folders that differ in capitals alone could not be told apart.
    if name.lower() in (other.lower() for other in existing):
        raise Conflict(f"[ALREADYEXISTS] Folder already exists: {name}")
    return name
