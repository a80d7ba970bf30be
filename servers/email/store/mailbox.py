"""Mailboxes, as every topic of the email store needs them: accounts, who is signed in, folders, messages."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from sqlalchemy import bindparam, case, delete, exists, func, insert, select, text, update

from mesocosm.errors import Conflict, Denied, Invalid, NotFound
from mesocosm.servers.email.models import Account, Attachment, Delivery, Email, Folder, SignIn
from mesocosm.servers.email.store import limits
from mesocosm.servers.email.store.addresses import Address, is_address
from mesocosm.services.service import Row, Rules

if TYPE_CHECKING:
    from mesocosm.servers.email.store import EmailStore

DEFAULT_FOLDERS = ("INBOX", "Sent", "Drafts", "Trash", "Spam", "Archive")
"""The folders of every mailbox; they cannot be deleted."""

# Statements of hot reads select columns and are built once, at import.
_SIGNED_IN = select(Account.email, Account.name).join(SignIn, SignIn.email == Account.email)
_ACCOUNT = select(Account.email, Account.name, Account.created_at).where(Account.email == bindparam("email"))
_PASSWORD = select(Account.password).where(Account.email == bindparam("email"))
_ACCOUNTS = select(Account.email, Account.name).order_by(Account.email)
_ACCOUNTS_TOTAL = select(func.count().label("total")).select_from(Account)
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


HAS_ATTACHMENTS = exists(select(Attachment.id).where(Attachment.email_id == Email.id))
SUMMARY = (
    Email.id,
    Email.subject,
    Email.sender,
    Email.to,
    Email.cc,
    Email.date,
    Email.is_read,
    Email.is_important,
    Email.is_draft,
    Folder.name.label("folder"),
    HAS_ATTACHMENTS.label("has_attachments"),
)
"""The columns of a message in a list."""
NEWEST_FIRST = (Email.date.desc(), Email.id.desc())

_TOTAL = select(func.count().label("total")).where(Email.folder_id == bindparam("folder"))
_PAGE = (
    select(*SUMMARY)
    .join(Folder, Folder.id == Email.folder_id)
    .where(Email.folder_id == bindparam("folder"))
    .order_by(*NEWEST_FIRST)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_OWN = (
    select(*SUMMARY)
    .join(Folder, Folder.id == Email.folder_id)
    .where(Email.id.in_(bindparam("ids", expanding=True)), Folder.account == bindparam("account"))
)
_EMAIL = (
    select(*Email.__table__.c, Folder.name.label("folder"), Folder.account)
    .join(Folder, Folder.id == Email.folder_id)
    .where(Email.id == bindparam("id"), Folder.account == bindparam("account"))
)
_ATTACHMENTS = (
    select(Attachment.id, Attachment.filename, Attachment.size, Attachment.content_type)
    .where(Attachment.email_id == bindparam("email"))
    .order_by(Attachment.id)
)
_LAST_ID = text("SELECT seq FROM sqlite_sequence WHERE name = 'emails'")

_DEFAULTS: Mapping[str, Any] = {
    "is_read": False,
    "is_important": False,
    "is_answered": False,
    "is_deleted": False,
    "is_draft": False,
    "in_reply_to": None,
    "references": None,
    "to": "",
    "cc": None,
    "bcc": None,
    "drafted_at": None,
    "html_body": None,
}


class File(TypedDict):
    """An attachment to be stored with a message."""

    filename: str
    data: bytes
    content_type: NotRequired[str]


_CONTENT_TYPES = {
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "eml": "message/rfc822",
    "gif": "image/gif",
    "html": "text/html",
    "ics": "text/calendar",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "json": "application/json",
    "md": "text/markdown",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "pdf": "application/pdf",
    "png": "image/png",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "txt": "text/plain",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml",
    "zip": "application/zip",
}


class Mailbox(Rules):
    """The accounts of one mail server, who is signed in, and the folders and messages of that account.

    The store and all its parts are one: this is what each of them needs.
    """

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
        rows = self.fetch(_ACCOUNTS.limit(page_size).offset((page - 1) * page_size))
        return rows, int(self.fetch(_ACCOUNTS_TOTAL)[0]["total"])

    def create_account(self, email: str, name: str, password: str) -> Row:
        """A new account with the default folders."""
        self.create_accounts([{"email": email, "name": name, "password": password}])
        return self.find_account(email)

    def create_accounts(self, accounts: Iterable[NewAccount]) -> None:
        """Many new accounts at once, each with the default folders."""
        created_at = limits.timestamp(self.now)
        rows = [{**_checked_account(account), "created_at": created_at} for account in accounts]
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

    # -- folders: how many messages they hold is always counted, never noted down --------------------------

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

    # -- messages ---------------------------------------------------------------------------------------

    def page(self, folder: str, page: int, page_size: int) -> tuple[Sequence[Row], int]:
        """One page of a folder, newest first and without bodies, and the folder's total."""
        limits.check_page(page, page_size)
        folder_id = self.folder_id(folder)
        rows = self.fetch(_PAGE, folder=folder_id, limit=page_size, offset=(page - 1) * page_size)
        return rows, int(self.fetch(_TOTAL, folder=folder_id)[0]["total"])

    def email(self, email_id: str) -> Row:
        """A message of the signed-in account, whole, with the name of its folder."""
        account = self.account
        key = limits.email_key(email_id)
        rows = self.fetch(_EMAIL, id=key, account=account) if key else []
        if not rows:
            raise NotFound(f"Email not found: {email_id}")
        return rows[0]

    def attachments(self, email: int) -> Sequence[Row]:
        """List the attachments of a message, without their contents."""
        return self.fetch(_ATTACHMENTS, email=email)

    def media_type(self, email: Row) -> str:
        """The content type of a message as it was transmitted."""
        if self.attachments(email["id"]):
            return "multipart/mixed"
        return "multipart/alternative" if email["html_body"] else "text/plain; charset=utf-8"

    def emails(self, email_ids: Sequence[str]) -> list[Row]:
        """Messages of the signed-in account without their bodies, in the order asked for, each once.

        ``NotFound`` names every id that is not a message of this account.
        """
        account = self.account
        if not email_ids:
            raise Invalid("email_ids must name at least one email.")
        if len(email_ids) > limits.MAX_BATCH:
            raise Invalid(f"At most {limits.MAX_BATCH} emails at a time, got {len(email_ids)}.")
        keys = {email_id: limits.email_key(email_id) for email_id in email_ids}
        rows = self.fetch(_OWN, ids=[key for key in keys.values() if key], account=account)
        found = {row["id"]: row for row in rows}
        unknown = [email_id for email_id, key in keys.items() if key not in found]
        if unknown:
            more = f" and {len(unknown) - 20} more" if len(unknown) > 20 else ""
            raise NotFound(f"Email not found: {', '.join(unknown[:20])}{more}. No email was changed.")
        return [found[key] for key in keys.values() if key]

    # -- putting in -------------------------------------------------------------------------------------

    def next_email_id(self) -> int:
        """The id that the next new message will get."""
        rows = self.fetch(_LAST_ID)
        return int(rows[0]["seq"]) + 1 if rows else 1

    def insert_emails(self, rows: Sequence[Mapping[str, Any]], files: Mapping[int, Iterable[File]]) -> None:
        """Store messages whose ids (from ``next_email_id`` on) and contents are settled."""
        if rows:
            # Past the mapper, which takes as long again.
            self.session.connection().execute(insert(Email), [{**_DEFAULTS, **row} for row in rows])
        attachments = [_attachment(key, file) for key, several in files.items() for file in several]
        if attachments:
            self.session.connection().execute(insert(Attachment), attachments)

    def log_delivery(self, email_id: int, sender: str, recipients: Sequence[str]) -> None:
        """Write down that a message left; ``email_id`` is the sender's copy."""
        logged = {"email_id": email_id, "sender": sender, "recipients": ", ".join(recipients)}
        self.session.connection().execute(insert(Delivery), [logged])


class MailboxPart(Mailbox):
    """One topic of the store; the others are reached through ``store``."""

    def __init__(self, store: EmailStore) -> None:
        super().__init__(store.world, store.session)
        self.store = store


def _checked_account(account: NewAccount) -> NewAccount:
    email = limits.text("email", account["email"])
    if not is_address(email):
        raise Invalid(f"Invalid email address: {email[:100]!r}")
    password = limits.line("password", account["password"])
    if not password:
        raise Invalid("password cannot be empty.")
    return {"email": email.lower(), "name": limits.name("name", account["name"]), "password": password}


def _new_name(name: str, existing: Iterable[str]) -> str:
    """A name that a folder can be given beside those that exist."""
    name = limits.name("Folder name", name)
    if found := _FORBIDDEN.search(name):
        raise Invalid(f"Folder name contains invalid character: {found[0]}")
    # Two folders that differ in capitals alone could not be told apart.
    if name.lower() in (other.lower() for other in existing):
        raise Conflict(f"[ALREADYEXISTS] Folder already exists: {name}")
    return name


def new_message_id(email_id: int, sender: str, date: str) -> str:
    """A Message-ID that no other message has, and that is the same in every run."""
    digest = hashlib.sha256(f"{email_id}:{sender}:{date}".encode()).hexdigest()[:24]
    return f"<{digest}@{sender.rpartition('@')[2]}>"


def _attachment(email_id: int, file: File) -> dict[str, Any]:
    data = file["data"]
    return {
        "email_id": email_id,
        "filename": file["filename"],
        "content_type": file.get("content_type") or content_type(file["filename"]),
        "size": len(data),
        "data": data,
    }


def content_type(filename: str) -> str:
    """The media type by a file's name; Python's own table would depend on the machine."""
    return _CONTENT_TYPES.get(filename.rpartition(".")[2].lower(), "application/octet-stream")
