"""The rules of the email service: accounts, folders, messages, delivery."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.email.models import Base
from mesocosm.servers.email.store.archive import Archive
from mesocosm.servers.email.store.bulk import NewEmail, answering, checked_files, email_row
from mesocosm.servers.email.store.drafts import Drafts
from mesocosm.servers.email.store.filing import CHANGEABLE, FLAGS, STATUSES, Filing, FolderState, Mirroring
from mesocosm.servers.email.store.limits import moment, timestamp
from mesocosm.servers.email.store.mailbox import DEFAULT_FOLDERS, File, Mailbox, NewAccount
from mesocosm.servers.email.store.search import Searching
from mesocosm.servers.email.store.sending import Letter, Sending
from mesocosm.services.service import Store, Topic

__all__ = [
    "CHANGEABLE",
    "DEFAULT_FOLDERS",
    "FLAGS",
    "STATUSES",
    "EmailStore",
    "File",
    "FolderState",
    "Letter",
    "NewAccount",
    "NewEmail",
    "moment",
    "timestamp",
]


class EmailStore(Mailbox, Store):
    """Mailboxes of the accounts of one server, seen by the account that is signed in."""

    metadata = Base.metadata

    archive = Topic(Archive)
    drafting = Topic(Drafts)
    filing = Topic(Filing)
    mirroring = Topic(Mirroring)
    searching = Topic(Searching)
    sending = Topic(Sending)

    def add_emails(self, account: str, folder: str, emails: Iterable[NewEmail]) -> list[int]:
        """Put many messages into a folder at once, as they would lie there after delivery; returns their ids.

        Ids are given in the order of ``emails``. ``Invalid`` says which of them no server would accept.
        """
        account = account.lower()
        folder_id = self.folder_id(folder, account)
        name = self.folder_names(account)[folder_id]
        first = self.next_email_id()
        rows: list[dict[str, Any]] = []
        files: dict[int, Sequence[File]] = {}
        threads: dict[str, dict[str, Any]] = {}
        for index, email in enumerate(emails):
            try:
                row = email_row(first + index, email, in_drafts=name == "Drafts")
                if attached := email.get("attachments"):
                    files[row["id"]] = checked_files(attached)
            except Invalid as problem:
                raise Invalid(f"emails[{index}]: {problem.message}") from None
            row["folder_id"] = folder_id
            if "is_read" not in email and name in ("Sent", "Drafts"):
                row["is_read"] = True
            if (thread := email.get("thread")) is not None:
                if previous := threads.get(thread):
                    row.update(answering(previous["message_id"], previous["references"]))
                threads[thread] = row
            rows.append(row)
        self.insert_emails(rows, files)
        return list(range(first, first + len(rows)))
